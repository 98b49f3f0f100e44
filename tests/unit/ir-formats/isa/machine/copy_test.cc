// Copies and casts, fills, predicated copies, iota and affine select, reductions, lane movement.
#include <cmath>

#include "tests/unit/ir-formats/isa/machine/core_fixture.h"

namespace ncc::machine {
namespace {

template <class To, class From>
std::vector<To> cast(Dtype from, Dtype to, std::vector<From> values) {
  Core core;
  const auto n = static_cast<int64_t>(values.size());
  const int64_t out_offset = (n * 4 + 1023) / 1024 * 1024;
  core.put(sbuf(from, 1, n, 0), values);
  MachineInst inst = make(from == to ? Opcode::Copy : Opcode::Cast, Engine::DVE, sbuf(to, 1, n, out_offset),
                          sbuf(from, 1, n, 0));
  core.run(inst);
  return core.get<To>(inst.out);
}

TEST_CASE("casts to integers round to nearest even and saturate; NaN goes to the limit of its sign",
          "[machine]") {
  const std::vector<float> x = {2.5f,       3.5f, -2.5f, 1e20f, -1e20f, NAN, std::copysign(NAN, -1.0f),
                                0.49999997f};
  CHECK(cast<int32_t>(Dtype::F32, Dtype::S32, x) ==
        std::vector<int32_t>{2, 4, -2, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 0});
  CHECK(cast<int8_t>(Dtype::F32, Dtype::S8, x) == std::vector<int8_t>{2, 4, -2, 127, -128, 127, -128, 0});
  CHECK(cast<int16_t>(Dtype::F32, Dtype::S16, x) ==
        std::vector<int16_t>{2, 4, -2, 32767, -32768, 32767, -32768, 0});
  CHECK(cast<uint8_t>(Dtype::F32, Dtype::U8, x) == std::vector<uint8_t>{2, 4, 0, 255, 0, 255, 0, 0});
  CHECK(cast<uint16_t>(Dtype::F32, Dtype::U16, x) == std::vector<uint16_t>{2, 4, 0, 65535, 0, 65535, 0, 0});
  CHECK(cast<uint32_t>(Dtype::F32, Dtype::U32, x) ==
        std::vector<uint32_t>{2, 4, 0, UINT32_MAX, 0, UINT32_MAX, 0, 0});
  CHECK(cast<uint32_t, float>(Dtype::F32, Dtype::U32, {3e9f, 4294967040.0f}) ==
        std::vector<uint32_t>{3000000000u, 4294967040u});
  CHECK(cast<int32_t, float>(Dtype::F32, Dtype::S32, {2147483520.0f, 2147483648.0f, -2147483648.0f}) ==
        std::vector<int32_t>{2147483520, INT32_MAX, INT32_MIN});
}

TEST_CASE("int32 to fp32 rounds to nearest even; narrow integers go through fp32", "[machine]") {
  CHECK(cast<float, int32_t>(Dtype::S32, Dtype::F32, {16777217, 16777219, -1}) ==
        std::vector<float>{16777216, 16777220, -1});
  CHECK(cast<float, uint32_t>(Dtype::U32, Dtype::F32, {4294967295u, 1}) ==
        std::vector<float>{4294967296.0f, 1});
  CHECK(cast<int8_t, int32_t>(Dtype::S32, Dtype::S8, {-300, 5, 300}) == std::vector<int8_t>{-128, 5, 127});
}

TEST_CASE("float casts round to nearest even and keep special values", "[machine]") {
  const std::vector<float> x = {1.00390625f, 1.01171875f, INFINITY, -0.0f,
                                3.4e38f,     70000.0f,    65519.0f, 6e-8f};
  std::vector<uint16_t> bf16, f16;
  for (float v : x) bf16.push_back(bf16_from_f32(v)), f16.push_back(f16_from_f32(v));
  CHECK(cast<uint16_t>(Dtype::F32, Dtype::BF16, x) == bf16);
  CHECK(cast<uint16_t>(Dtype::F32, Dtype::F16, x) == f16);
  CHECK(std::isnan(
      cast<float>(Dtype::BF16, Dtype::F32, cast<uint16_t, float>(Dtype::F32, Dtype::BF16, {NAN}))[0]));
  for (Dtype fp8 : {Dtype::F8E4M3FN, Dtype::F8E5M2, Dtype::F8E4M3, Dtype::F8E3M4})
    for (float v : {0.0f, 1.0f, -1.0625f, 0.3f, 17.0f, 1e-3f, 1e9f, -INFINITY}) {
      uint8_t want;
      store_from_double(fp8, &want, v);
      INFO(info(fp8).hlo << " of " << v);
      CHECK(cast<uint8_t, float>(Dtype::F32, fp8, {v}) == std::vector<uint8_t>{want});
    }
}

TEST_CASE("8-bit float casts equal the exact conversion on dense samples", "[machine]") {
  std::vector<float> x;
  for (uint32_t bits = 0; bits < 0x7F900000; bits += 99991) {
    x.push_back(std::bit_cast<float>(bits));
    x.push_back(-x.back());
  }
  for (Dtype fp8 : {Dtype::F8E4M3FN, Dtype::F8E5M2, Dtype::F8E4M3, Dtype::F8E3M4}) {
    for (int i = 0; i < 256; ++i) {  // the values themselves, and midpoints between neighbours
      const auto a = static_cast<uint8_t>(i), b = static_cast<uint8_t>(i + 1);
      const double low = load_as_double(fp8, &a), high = load_as_double(fp8, &b);
      x.push_back(static_cast<float>(low));
      x.push_back(static_cast<float>((low + high) / 2));
    }
    const std::vector<uint8_t> got = cast<uint8_t>(Dtype::F32, fp8, x);
    for (size_t i = 0; i < x.size(); ++i) {
      uint8_t want;
      store_from_double(fp8, &want, x[i]);
      const bool both_nan =
          std::isnan(load_as_double(fp8, &want)) && std::isnan(load_as_double(fp8, &got[i]));
      INFO(info(fp8).hlo << " of " << x[i]);
      REQUIRE((got[i] == want || both_nan));
    }
  }
}

TEST_CASE("every 16-bit float converts to fp32 and back unchanged, on the vector path and on the scalar one",
          "[machine]") {
  for (Dtype dtype : {Dtype::BF16, Dtype::F16}) {
    std::vector<uint16_t> all;
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      const uint32_t exponent = dtype == Dtype::BF16 ? bits & 0x7F80 : bits & 0x7C00;
      const uint32_t all_ones = dtype == Dtype::BF16 ? 0x7F80 : 0x7C00;
      const uint32_t mantissa = dtype == Dtype::BF16 ? bits & 0x7F : bits & 0x3FF;
      if (exponent != all_ones || mantissa == 0) all.push_back(static_cast<uint16_t>(bits));
    }
    Core core;
    const auto n = static_cast<int64_t>(all.size());
    const int64_t part = 4096 + 3;
    for (int64_t first = 0; first < n; first += part) {
      const int64_t count = std::min(part, n - first);
      const std::vector<uint16_t> some(all.begin() + first, all.begin() + first + count);
      core.put(sbuf(dtype, 1, count, 0), some);
      core.run(make(Opcode::Cast, Engine::DVE, sbuf(Dtype::F32, 1, count, 16384), sbuf(dtype, 1, count, 0)));
      core.run(
          make(Opcode::Cast, Engine::DVE, sbuf(dtype, 1, count, 49152), sbuf(Dtype::F32, 1, count, 16384)));
      REQUIRE(core.get<uint16_t>(sbuf(dtype, 1, count, 49152)) == some);
      const std::vector<float> wide = core.get<float>(sbuf(Dtype::F32, 1, count, 16384));
      for (size_t i = 0; i < wide.size(); ++i)
        REQUIRE(wide[i] == (dtype == Dtype::BF16 ? f32_from_bf16(some[i]) : f32_from_f16(some[i])));
    }
  }
}

TEST_CASE("a copy of equal types moves raw bits through any pattern", "[machine]") {
  Core core;
  core.put<int32_t>(sbuf(Dtype::S32, 1, 6, 0), {16777217, 2, 3, 4, 5, 0x7FA12345});
  Access transposed = sbuf(Dtype::S32, 1, 6, 0);
  transposed.rank = 2;
  transposed.dims[0] = {1, 3};
  transposed.dims[1] = {3, 2};
  core.run(make(Opcode::Copy, Engine::Pool, sbuf(Dtype::S32, 1, 6, 64), transposed));
  CHECK(core.get<int32_t>(sbuf(Dtype::S32, 1, 6, 64)) ==
        std::vector<int32_t>{16777217, 4, 2, 5, 3, 0x7FA12345});
  Access broadcast = sbuf(Dtype::S32, 1, 6, 4);
  broadcast.dims[0] = {0, 6};
  Access reversed = sbuf(Dtype::S32, 1, 6, 128 + 20);
  reversed.dims[0] = {-1, 6};
  core.run(make(Opcode::Copy, Engine::DVE, reversed, sbuf(Dtype::S32, 1, 6, 64)));
  CHECK(core.get<int32_t>(sbuf(Dtype::S32, 1, 6, 128)) ==
        std::vector<int32_t>{0x7FA12345, 3, 5, 2, 4, 16777217});
  core.run(make(Opcode::Copy, Engine::DVE, sbuf(Dtype::S32, 1, 6, 128), broadcast));
  CHECK(core.get<int32_t>(sbuf(Dtype::S32, 1, 6, 128)) == std::vector<int32_t>(6, 2));
}

TEST_CASE("Memset fills with raw bits of the element type", "[machine]") {
  Core core;
  MachineInst inst = make(Opcode::Memset, Engine::Pool, sbuf(Dtype::BF16, 2, 3, 0));
  inst.scalar0 = Scalar::immediate_bits(0x3F80);
  core.run(inst);
  CHECK(core.get<uint16_t>(inst.out) == std::vector<uint16_t>(6, 0x3F80));
}

TEST_CASE("CopyPredicated keeps the destination where the mask is zero, for any mask type", "[machine]") {
  Core core;
  core.put<float>(sbuf(Dtype::F32, 1, 4, 0), {1, 2, 3, 4});
  const Access out = sbuf(Dtype::F32, 1, 4, 64);
  core.put<uint8_t>(sbuf(Dtype::U8, 1, 4, 128), {0, 1, 0, 7});
  core.put<float>(sbuf(Dtype::F32, 1, 4, 192), {0.0f, -0.0f, NAN, 1});
  core.put<float>(out, {9, 9, 9, 9});
  core.run(
      make(Opcode::CopyPredicated, Engine::DVE, out, sbuf(Dtype::F32, 1, 4, 0), sbuf(Dtype::U8, 1, 4, 128)));
  CHECK(core.get<float>(out) == std::vector<float>{9, 2, 9, 4});
  core.run(
      make(Opcode::CopyPredicated, Engine::DVE, out, sbuf(Dtype::F32, 1, 4, 0), sbuf(Dtype::F32, 1, 4, 192)));
  CHECK(core.get<float>(out) == std::vector<float>{9, 2, 3, 4});
  MachineInst fill = make(Opcode::CopyPredicatedScalar, Engine::DVE, out, {}, sbuf(Dtype::U8, 1, 4, 128));
  fill.scalar0 = Scalar::immediate(-1);
  core.run(fill);
  CHECK(core.get<float>(out) == std::vector<float>{9, -1, 3, -1});
  const Access narrow = sbuf(Dtype::BF16, 1, 4, 256);
  core.put<uint16_t>(narrow, {0, 0, 0, 0});
  core.run(make(Opcode::CastPredicated, Engine::DVE, narrow, out, sbuf(Dtype::U8, 1, 4, 128)));
  CHECK(core.get<uint16_t>(narrow) == std::vector<uint16_t>{0, bf16_from_f32(-1), 0, bf16_from_f32(-1)});
}

TEST_CASE("iota counts over its pattern and partitions", "[machine]") {
  Core core;
  MachineInst inst = make(Opcode::Iota, Engine::Pool, sbuf(Dtype::S32, 2, 6, 0, 32));
  inst.base = 100;
  inst.channel_multiplier = 1000;
  inst.pattern_rank = 2;
  inst.pattern[0] = {10, 2};
  inst.pattern[1] = {1, 3};
  core.run(inst);
  CHECK(core.get<int32_t>(inst.out) ==
        std::vector<int32_t>{100, 101, 102, 110, 111, 112, 1100, 1101, 1102, 1110, 1111, 1112});
  inst.out.dtype = Dtype::BF16;
  core.run(inst);
  CHECK(core.get<uint16_t>(inst.out)[6] == bf16_from_f32(1100));
}

TEST_CASE("affine select keeps the lower triangle and fills the rest", "[machine]") {
  Core core;
  core.put<float>(sbuf(Dtype::F32, 3, 3, 0), {1, 2, 3, 4, 5, 6, 7, 8, 9});
  MachineInst inst = make(Opcode::TensorScalarAffineSelect, Engine::Pool, sbuf(Dtype::F32, 3, 3, 64),
                          sbuf(Dtype::F32, 3, 3, 0));
  inst.channel_multiplier = 1;  // partition - column >= 0
  inst.pattern_rank = 1;
  inst.pattern[0] = {-1, 3};
  inst.compare_op = AluOp::IsGe;
  inst.scalar0 = Scalar::immediate(-INFINITY);
  core.run(inst);
  const float f = -INFINITY;
  CHECK(core.get<float>(inst.out) == std::vector<float>{1, f, f, 4, 5, f, 7, 8, 9});
}

TEST_CASE("a reduction folds the innermost dims the axis names, from the left", "[machine]") {
  Core core;
  std::vector<float> x(2 * 24);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) + 0.1f;
  core.put(sbuf(Dtype::F32, 2, 24, 0), x);
  Access in = sbuf(Dtype::F32, 2, 24, 0);
  in.rank = 3;
  in.dims = {isa::Dim{12, 2}, isa::Dim{4, 3}, isa::Dim{1, 4}};
  MachineInst inst = make(Opcode::TensorReduceArith, Engine::DVE, sbuf(Dtype::F32, 2, 6, 256), in);
  inst.op0 = AluOp::Add;
  inst.axis = isa::Axis::X;
  core.run(inst);
  std::vector<float> got = core.get<float>(inst.out);
  for (size_t g = 0; g < got.size(); ++g)
    CHECK(got[g] == x[g * 4] + x[g * 4 + 1] + x[g * 4 + 2] + x[g * 4 + 3]);
  inst.axis = isa::Axis::XY;
  inst.out = sbuf(Dtype::F32, 2, 2, 256);
  inst.negate = true;
  inst.op0 = AluOp::Max;
  core.run(inst);
  CHECK(core.get<float>(inst.out) == std::vector<float>(4, -6.1f));
  inst.negate = false;
  inst.op0 = AluOp::Min;
  x[30] = NAN;
  core.put(sbuf(Dtype::F32, 2, 24, 0), x);
  core.run(inst);
  got = core.get<float>(inst.out);
  CHECK((got[0] == 0.1f && std::isnan(got[2])));
}

TEST_CASE("long reductions give the same bits whatever the number of rows", "[machine]") {
  Core core;
  std::vector<float> x(11 * 300);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  core.put(sbuf(Dtype::F32, 11, 300, 0), x);
  MachineInst inst = make(Opcode::TensorReduceArith, Engine::DVE, sbuf(Dtype::F32, 11, 1, 4096),
                          sbuf(Dtype::F32, 11, 300, 0));
  inst.op0 = AluOp::Add;
  core.run(inst);
  const std::vector<float> got = core.get<float>(inst.out);
  for (size_t p = 0; p < 11; ++p) {
    float sum = x[p * 300];
    for (size_t i = 1; i < 300; ++i) sum += x[p * 300 + i];
    CHECK(got[p] == sum);
  }
}

TEST_CASE("cross-lane reductions fold partitions on Pool", "[machine]") {
  Core core;
  core.put<float>(sbuf(Dtype::F32, 3, 2, 0), {1, 2, 3, 4, 5, 6});
  MachineInst inst =
      make(Opcode::CrossLaneReduceArith, Engine::Pool, sbuf(Dtype::F32, 1, 2, 64), sbuf(Dtype::F32, 3, 2, 0));
  inst.op0 = AluOp::Add;
  inst.axis = isa::Axis::C;
  core.run(inst);
  CHECK(core.get<float>(inst.out) == std::vector<float>{9, 12});
  inst.axis = isa::Axis::XYZWC;
  inst.op0 = AluOp::Max;
  inst.out = sbuf(Dtype::F32, 1, 1, 64);
  core.run(inst);
  CHECK(core.get<float>(inst.out) == std::vector<float>{6});
  core.put<int32_t>(sbuf(Dtype::S32, 3, 1, 0), {1, 2, 4});
  inst = make(Opcode::CrossLaneReduceBitvec, Engine::Pool, sbuf(Dtype::S32, 1, 1, 64),
              sbuf(Dtype::S32, 3, 1, 0));
  inst.op0 = AluOp::BitwiseOr;
  inst.axis = isa::Axis::C;
  core.run(inst);
  CHECK(core.get<int32_t>(inst.out) == std::vector<int32_t>{7});
}

TEST_CASE("StreamTranspose transposes each 32x32 block in place", "[machine]") {
  Core core;
  std::vector<int32_t> x(64 * 64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int32_t>(i);
  core.put(sbuf(Dtype::S32, 64, 64, 0), x);
  core.run(
      make(Opcode::StreamTranspose, Engine::DVE, sbuf(Dtype::S32, 64, 64, 256), sbuf(Dtype::S32, 64, 64, 0)));
  const std::vector<int32_t> got = core.get<int32_t>(sbuf(Dtype::S32, 64, 64, 256));
  bool equal = true;
  for (int p = 0; p < 64; ++p)
    for (int e = 0; e < 64; ++e) {
      const int to_p = (p & ~31) | (e & 31), to_e = (e & ~31) | (p & 31);
      equal = equal && got[static_cast<size_t>(to_p * 64 + to_e)] == p * 64 + e;
    }
  CHECK(equal);
}

TEST_CASE("StreamShuffle picks lanes by the mask last loaded, 255 leaves a lane", "[machine]") {
  Core core;
  std::vector<uint16_t> x(64), old(64, 9999);
  for (size_t i = 0; i < 64; ++i) x[i] = static_cast<uint16_t>(i);
  core.put(sbuf(Dtype::U16, 64, 1, 0), x);
  core.put(sbuf(Dtype::U16, 64, 1, 64), old);
  const MachineInst shuffle =
      make(Opcode::StreamShuffle, Engine::DVE, sbuf(Dtype::U16, 64, 1, 64), sbuf(Dtype::U16, 64, 1, 0));
  CHECK(core.fails(shuffle).find("no lane mask") != std::string::npos);
  MachineInst mask = make(Opcode::LoadMaskSelect, Engine::DVE);
  for (size_t i = 0; i < 32; ++i) mask.mask[i] = static_cast<uint8_t>(31 - i);
  mask.mask[3] = 255;
  core.run(mask);
  core.run(shuffle);
  const std::vector<uint16_t> got = core.get<uint16_t>(shuffle.out);
  CHECK((got[0] == 31 && got[31] == 0 && got[32] == 63 && got[3] == 9999 && got[35] == 9999));
}

}  // namespace
}  // namespace ncc::machine
