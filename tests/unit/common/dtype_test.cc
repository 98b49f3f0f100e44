#include "common/dtype/dtype.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

namespace ncc {
namespace {

TEST_CASE("every 8-bit float pattern survives decode and encode", "[dtype]") {
  for (Dtype dtype : {Dtype::F8E5M2, Dtype::F8E4M3, Dtype::F8E4M3FN, Dtype::F8E4M3B11FNUZ, Dtype::F8E5M2FNUZ,
                      Dtype::F8E4M3FNUZ, Dtype::F8E3M4, Dtype::F8E8M0FNU}) {
    for (int bits = 0; bits < 256; ++bits) {
      const uint8_t in = static_cast<uint8_t>(bits);
      const double value = load_as_double(dtype, &in);
      uint8_t out = 0;
      store_from_double(dtype, &out, value);
      INFO(info(dtype).hlo << " 0x" << std::hex << bits);
      if (std::isnan(value)) {
        CHECK(std::isnan(load_as_double(dtype, &out)));
      } else {
        CHECK(int{out} == bits);
      }
    }
  }
}

TEST_CASE("a power-of-two type rounds midpoints up and has neither zero nor sign", "[dtype]") {
  const auto stored = [](double value) {
    uint8_t bits = 0;
    store_from_double(Dtype::F8E8M0FNU, &bits, value);
    return load_as_double(Dtype::F8E8M0FNU, &bits);
  };
  CHECK(stored(1.5) == 2);
  CHECK(stored(3) == 4);
  CHECK(stored(1.49) == 1);
  CHECK(stored(5) == 4);
  CHECK(stored(1.5 * 0x1p-127) == 0x1p-126);
  CHECK(stored(1e-45) == 0x1p-127);
  for (double value : {0.0, -1.0, 1.5 * 0x1p127}) CHECK(std::isnan(stored(value)));
}

TEST_CASE("every half pattern survives decode and encode", "[dtype]") {
  for (int bits = 0; bits < 65536; ++bits) {
    const float half = f32_from_f16(static_cast<uint16_t>(bits));
    if (!std::isnan(half)) REQUIRE(f16_from_f32(half) == bits);
    const float bf = f32_from_bf16(static_cast<uint16_t>(bits));
    if (!std::isnan(bf)) REQUIRE(bf16_from_f32(bf) == bits);
  }
}

TEST_CASE("a double is rounded once on its way to sixteen bits", "[dtype]") {
  // Just above the midpoint of two bf16 values, by less than f32 can show.
  CHECK(bf16_from_f64(1.00390625 + 0x1p-40) == 0x3F81);
  CHECK(bf16_from_f64(1.00390625) == 0x3F80);
  CHECK(f16_from_f64(65519.999) == 0x7BFF);
  CHECK(f16_from_f64(65520.0) == 0x7C00);
}

TEST_CASE("float to integer truncates, saturates and maps NaN to zero", "[dtype]") {
  int32_t out = 7;
  store_from_double(Dtype::S32, &out, -3.9);
  CHECK(out == -3);
  store_from_double(Dtype::S32, &out, 1e20);
  CHECK(out == INT32_MAX);
  store_from_double(Dtype::S32, &out, NAN);
  CHECK(out == 0);
}

}  // namespace
}  // namespace ncc
