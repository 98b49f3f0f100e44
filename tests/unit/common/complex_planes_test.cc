#include "common/npy/complex_planes.h"

#include <catch2/catch.hpp>
#include <cstring>

namespace ncc {
namespace {

TEST_CASE("planes hold all real parts, then all imaginary ones", "[npy]") {
  Array complex = Array::zeros(Dtype::C64, {3});
  const float parts[] = {1, -1, 2, -2, 3, -3};
  std::memcpy(complex.mutable_data(), parts, sizeof parts);
  const Array planes = planes_of(complex);
  CHECK(planes.dtype == Dtype::F32);
  CHECK(planes.shape == std::vector<int64_t>{2, 3});
  const float wanted[] = {1, 2, 3, -1, -2, -3};
  CHECK(std::memcmp(planes.bytes.data(), wanted, sizeof wanted) == 0);
  const Array back = complex_of(Dtype::C64, {3}, planes.bytes);
  CHECK(std::memcmp(back.bytes.data(), parts, sizeof parts) == 0);
}

TEST_CASE("complex128 is rounded to planes of f32", "[npy]") {
  Array complex = Array::zeros(Dtype::C128, {1});
  const double parts[] = {0.1, -0.2};
  std::memcpy(complex.mutable_data(), parts, sizeof parts);
  const Array back = complex_of(Dtype::C128, {1}, planes_of(complex).bytes);
  double found[2];
  std::memcpy(found, back.bytes.data(), sizeof found);
  CHECK(found[0] == static_cast<double>(0.1f));
  CHECK(found[1] == static_cast<double>(-0.2f));
}

}  // namespace
}  // namespace ncc
