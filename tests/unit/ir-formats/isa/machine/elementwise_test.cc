// TensorTensor, TensorScalar, ScalarTensorTensor, scans and Pool's int32 arithmetic: one case per dtype class
// the code treats apart. Expected values are worked out by hand or by the host's IEEE arithmetic.
#include <cmath>
#include <limits>

#include "ir-formats/isa/machine/alu_support.h"
#include "tests/unit/ir-formats/isa/machine/core_fixture.h"

namespace ncc::machine {
namespace {

constexpr float kInf = INFINITY;

std::vector<float> tensor_tensor(Core& core, AluOp op, std::vector<float> a, std::vector<float> b) {
  const auto n = static_cast<int64_t>(a.size());
  core.put(sbuf(Dtype::F32, 1, n, 0), a);
  core.put(sbuf(Dtype::F32, 1, n, 4096), b);
  MachineInst inst = make(Opcode::TensorTensorArith, Engine::DVE, sbuf(Dtype::F32, 1, n, 8192),
                          sbuf(Dtype::F32, 1, n, 0), sbuf(Dtype::F32, 1, n, 4096));
  inst.op0 = op;
  core.run(inst);
  return core.get<float>(inst.out);
}

TEST_CASE("fp32 arithmetic is one IEEE operation per element", "[machine]") {
  Core core;
  CHECK(tensor_tensor(core, AluOp::Add, {1, 0.1f}, {2, 0.2f}) == std::vector<float>{3, 0.1f + 0.2f});
  CHECK(tensor_tensor(core, AluOp::Divide, {1, -1}, {3, 0}) == std::vector<float>{1.0f / 3, -kInf});
  CHECK(tensor_tensor(core, AluOp::Pow, {2, 9}, {10, 0.5f}) == std::vector<float>{1024, 3});
  CHECK(tensor_tensor(core, AluOp::Mod, {5, -5, 5}, {3, 3, -3}) == std::vector<float>{2, 1, -1});
}

TEST_CASE("max and min propagate NaN and order -0 below +0 (N2)", "[machine]") {
  Core core;
  const std::vector<float> max =
      tensor_tensor(core, AluOp::Max, {NAN, 1, -0.0f, 0.0f, 2}, {1, NAN, 0.0f, -0.0f, 3});
  CHECK((std::isnan(max[0]) && std::isnan(max[1]) && max[4] == 3));
  CHECK_FALSE((std::signbit(max[2]) || std::signbit(max[3])));
  const std::vector<float> min =
      tensor_tensor(core, AluOp::Min, {NAN, 1, -0.0f, 0.0f, 2}, {1, NAN, 0.0f, -0.0f, 3});
  CHECK((std::isnan(min[0]) && std::isnan(min[1]) && min[4] == 2));
  CHECK((std::signbit(min[2]) && std::signbit(min[3])));
}

TEST_CASE("compares give 1 or 0, and on NaN only not-equal holds", "[machine]") {
  Core core;
  CHECK(tensor_tensor(core, AluOp::IsGt, {2, 1, NAN}, {1, 1, 1}) == std::vector<float>{1, 0, 0});
  CHECK(tensor_tensor(core, AluOp::IsLe, {2, 1, NAN}, {1, 1, 1}) == std::vector<float>{0, 1, 0});
  CHECK(tensor_tensor(core, AluOp::IsEqual, {0.0f, NAN}, {-0.0f, NAN}) == std::vector<float>{1, 0});
  CHECK(tensor_tensor(core, AluOp::NotEqual, {0.0f, NAN}, {-0.0f, NAN}) == std::vector<float>{0, 1});
  CHECK(tensor_tensor(core, AluOp::LogicalXor, {0, 2, 0}, {3, 1, 0}) == std::vector<float>{1, 0, 0});
}

TEST_CASE("bf16 operands compute in fp32 and round once to nearest even", "[machine]") {
  Core core;
  core.put<uint16_t>(sbuf(Dtype::BF16, 1, 2, 0), {bf16_from_f32(1.0f), bf16_from_f32(256.0f)});
  core.put<uint16_t>(sbuf(Dtype::BF16, 1, 2, 64), {bf16_from_f32(0.00390625f), bf16_from_f32(1.0f)});
  MachineInst inst = make(Opcode::TensorTensorArith, Engine::DVE, sbuf(Dtype::BF16, 1, 2, 128),
                          sbuf(Dtype::BF16, 1, 2, 0), sbuf(Dtype::BF16, 1, 2, 64));
  inst.op0 = AluOp::Add;
  core.run(inst);
  // 1 + 2^-8 and 256 + 1 both lie midway between two bf16 values; the even one is below.
  CHECK(core.get<uint16_t>(inst.out) == std::vector<uint16_t>{bf16_from_f32(1.0f), bf16_from_f32(256.0f)});
}

TEST_CASE("integer operands of arithmetic go through fp32; the result rounds to nearest even and saturates",
          "[machine]") {
  Core core;
  core.put<int32_t>(sbuf(Dtype::S32, 1, 3, 0), {16777217, 5, -7});
  MachineInst inst =
      make(Opcode::TensorScalarArith, Engine::DVE, sbuf(Dtype::S32, 1, 3, 64), sbuf(Dtype::S32, 1, 3, 0));
  inst.op0 = AluOp::Mult;
  inst.scalar0 = Scalar::immediate(0.5f);
  core.run(inst);
  CHECK(core.get<int32_t>(inst.out) == std::vector<int32_t>{8388608, 2, -4});  // 2.5 -> 2, -3.5 -> -4
  inst.out = sbuf(Dtype::S8, 1, 3, 64);
  inst.scalar0 = Scalar::immediate(100.0f);
  core.run(inst);
  CHECK(core.get<int8_t>(inst.out) == std::vector<int8_t>{127, 127, -128});
}

TEST_CASE("TensorScalar applies two stages, reversed operands and per-partition scalars", "[machine]") {
  Core core;
  core.put<float>(sbuf(Dtype::F32, 2, 2, 0), {1, 2, 3, 4});
  core.put<float>(sbuf(Dtype::F32, 2, 1, 64), {10, 100});
  MachineInst inst =
      make(Opcode::TensorScalarArith, Engine::DVE, sbuf(Dtype::F32, 2, 2, 128), sbuf(Dtype::F32, 2, 2, 0));
  inst.op0 = AluOp::Subtract;
  inst.scalar0 = pointer(sbuf(Dtype::F32, 2, 1, 64));
  inst.reverse = 1;  // s - x
  inst.op1 = AluOp::Mult;
  inst.scalar1 = Scalar::immediate(2);
  core.run(inst);
  CHECK(core.get<float>(inst.out) == std::vector<float>{18, 16, 194, 192});
}

TEST_CASE("ScalarTensorTensor is op1(op0(in0, scalar), in1), in place too", "[machine]") {
  Core core;
  core.put<float>(sbuf(Dtype::F32, 1, 3, 0), {1, 2, 3});
  core.put<float>(sbuf(Dtype::F32, 1, 3, 64), {10, 20, 30});
  MachineInst inst = make(Opcode::ScalarTensorTensorArith, Engine::DVE, sbuf(Dtype::F32, 1, 3, 64),
                          sbuf(Dtype::F32, 1, 3, 0), sbuf(Dtype::F32, 1, 3, 64));
  inst.op0 = AluOp::Mult;
  inst.scalar0 = Scalar::immediate(2);
  inst.op1 = AluOp::Add;
  core.run(inst);
  CHECK(core.get<float>(inst.out) == std::vector<float>{12, 24, 36});
}

TEST_CASE("a result shifted over its own input reads the whole row first", "[machine]") {
  Core core;
  core.put<float>(sbuf(Dtype::F32, 1, 5, 0), {1, 2, 3, 4, 5});
  MachineInst inst =
      make(Opcode::TensorScalarArith, Engine::DVE, sbuf(Dtype::F32, 1, 4, 4), sbuf(Dtype::F32, 1, 4, 0));
  inst.op0 = AluOp::Add;
  inst.scalar0 = Scalar::immediate(10);
  core.run(inst);
  CHECK(core.get<float>(sbuf(Dtype::F32, 1, 5, 0)) == std::vector<float>{1, 11, 12, 13, 14});
}

TEST_CASE("bit operations work on raw bits of every width", "[machine]") {
  Core core;
  core.put<int32_t>(sbuf(Dtype::S32, 1, 2, 0), {-8, 0x40000001});
  MachineInst inst =
      make(Opcode::TensorScalarBitvec, Engine::DVE, sbuf(Dtype::S32, 1, 2, 64), sbuf(Dtype::S32, 1, 2, 0));
  auto shift = [&](AluOp op, uint32_t count) {
    inst.op0 = op;
    inst.scalar0 = Scalar::immediate_bits(count);
    core.run(inst);
    return core.get<int32_t>(inst.out);
  };
  CHECK(shift(AluOp::ArithShiftRight, 1) == std::vector<int32_t>{-4, 0x20000000});
  CHECK(shift(AluOp::LogicalShiftRight, 1) == std::vector<int32_t>{0x7FFFFFFC, 0x20000000});
  CHECK(shift(AluOp::LogicalShiftLeft, 2) == std::vector<int32_t>{-32, 4});
  CHECK(shift(AluOp::LogicalShiftLeft, 32) == std::vector<int32_t>{0, 0});
  CHECK(shift(AluOp::ArithShiftRight, 40) == std::vector<int32_t>{-1, 0});

  core.put<int16_t>(sbuf(Dtype::S16, 1, 2, 0), {-2, 5});
  inst.in0 = sbuf(Dtype::S16, 1, 2, 0);
  inst.out = sbuf(Dtype::S16, 1, 2, 64);
  inst.op0 = AluOp::ArithShiftRight;
  inst.scalar0 = Scalar::immediate_bits(1);
  core.run(inst);
  CHECK(core.get<int16_t>(inst.out) == std::vector<int16_t>{-1, 2});
  inst.op0 = AluOp::LogicalShiftRight;
  core.run(inst);
  CHECK(core.get<int16_t>(inst.out) == std::vector<int16_t>{0x7FFF, 2});

  // Left then right in one instruction: the narrowing idiom of C5.
  core.put<int32_t>(sbuf(Dtype::S32, 1, 2, 0), {0x1FF, 0x7F});
  inst.in0 = sbuf(Dtype::S32, 1, 2, 0);
  inst.out = sbuf(Dtype::S32, 1, 2, 64);
  inst.op0 = AluOp::LogicalShiftLeft;
  inst.scalar0 = Scalar::immediate_bits(24);
  inst.op1 = AluOp::ArithShiftRight;
  inst.scalar1 = Scalar::immediate_bits(24);
  core.run(inst);
  CHECK(core.get<int32_t>(inst.out) == std::vector<int32_t>{-1, 127});

  // fp32 data as bits: clearing the sign.
  core.put<float>(sbuf(Dtype::F32, 1, 2, 0), {-1.5f, NAN});
  inst.in0 = sbuf(Dtype::F32, 1, 2, 0);
  inst.out = sbuf(Dtype::F32, 1, 2, 64);
  inst.op0 = AluOp::BitwiseAnd;
  inst.scalar0 = Scalar::immediate_bits(0x7FFFFFFF);
  inst.op1 = AluOp::Bypass;
  core.run(inst);
  CHECK(core.get<float>(inst.out)[0] == 1.5f);
}

std::vector<int32_t> int32_op(Core& core, AluOp op, std::vector<int32_t> a, std::vector<int32_t> b) {
  const auto n = static_cast<int64_t>(a.size());
  core.put(sbuf(Dtype::S32, 1, n, 0), a);
  core.put(sbuf(Dtype::S32, 1, n, 4096), b);
  MachineInst inst = make(Opcode::TensorTensorInt32, Engine::Pool, sbuf(Dtype::S32, 1, n, 8192),
                          sbuf(Dtype::S32, 1, n, 0), sbuf(Dtype::S32, 1, n, 4096));
  inst.op0 = op;
  core.run(inst);
  return core.get<int32_t>(inst.out);
}

TEST_CASE("Pool's int32 arithmetic is exact modulo 2^32 (C5)", "[machine]") {
  Core core;
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min(), kMax = std::numeric_limits<int32_t>::max();
  CHECK(int32_op(core, AluOp::Add, {kMax, 16777217}, {1, 1}) == std::vector<int32_t>{kMin, 16777218});
  CHECK(int32_op(core, AluOp::Mult, {123456789, -7}, {987654321, 3}) == std::vector<int32_t>{-67153019, -21});
  CHECK(int32_op(core, AluOp::Divide, {-7, 7, kMin, 5}, {2, -2, -1, 0}) ==
        std::vector<int32_t>{-3, -3, kMin, -1});
  CHECK(int32_op(core, AluOp::ModInt, {-7, 7, kMin, 5}, {3, -3, -1, 0}) == std::vector<int32_t>{2, -2, 0, 5});
}

TEST_CASE("trn1 has no int32 subtract, and no engine but Pool has any int32 arithmetic", "[machine]") {
  Core core("trn1");
  const Access a = sbuf(Dtype::S32, 1, 1, 0);
  core.put<int32_t>(a, {1});
  MachineInst inst = make(Opcode::TensorTensorInt32, Engine::Pool, a, a, a);
  inst.op0 = AluOp::Subtract;
  CHECK(core.fails(inst).find("ESIM001") != std::string::npos);
  inst.op0 = AluOp::Add;
  core.run(inst);
  inst.engine = Engine::DVE;
  CHECK(core.fails(inst).find("on engine DVE") != std::string::npos);
}

TEST_CASE("the ALU table says what is exact where (C5)", "[machine]") {
  CHECK(alu_support(AluOp::Add, Dtype::S32, Engine::Pool, 2) == AluSupport::Exact);
  CHECK(alu_support(AluOp::Subtract, Dtype::S32, Engine::Pool, 2) == AluSupport::Fp32);
  CHECK(alu_support(AluOp::Subtract, Dtype::S32, Engine::Pool, 3) == AluSupport::Exact);
  CHECK(alu_support(AluOp::Add, Dtype::S32, Engine::DVE, 3) == AluSupport::Fp32);
  CHECK(alu_support(AluOp::Add, Dtype::S16, Engine::Pool, 3) == AluSupport::Fp32);
  CHECK(alu_support(AluOp::BitwiseXor, Dtype::S32, Engine::DVE, 2) == AluSupport::Exact);
  CHECK(alu_support(AluOp::BitwiseXor, Dtype::S32, Engine::Activation, 3) == AluSupport::Absent);
  CHECK(alu_support(AluOp::AbsMax, Dtype::F32, Engine::DVE, 3) == AluSupport::Absent);
}

TEST_CASE("a scan carries its state along the free axis", "[machine]") {
  Core core;
  core.put<float>(sbuf(Dtype::F32, 1, 4, 0), {1, 2, 3, 4});
  core.put<float>(sbuf(Dtype::F32, 1, 4, 64), {1, 1, 1, 1});
  MachineInst inst = make(Opcode::TensorTensorScan, Engine::DVE, sbuf(Dtype::F32, 1, 4, 128),
                          sbuf(Dtype::F32, 1, 4, 0), sbuf(Dtype::F32, 1, 4, 64));
  inst.op0 = AluOp::Mult;
  inst.op1 = AluOp::Add;
  inst.scalar0 = Scalar::immediate(2);
  core.run(inst);
  CHECK(core.get<float>(inst.out) == std::vector<float>{3, 7, 22, 89});
  inst.op0 = AluOp::Max;
  inst.op1 = AluOp::Max;
  core.run(inst);
  CHECK(core.get<float>(inst.out) == std::vector<float>{2, 2, 3, 4});
}

TEST_CASE("the DVE accumulator folds results and is read out", "[machine]") {
  Core core;
  core.put<float>(sbuf(Dtype::F32, 2, 3, 0), {1, 2, 3, 4, 5, 6});
  MachineInst inst = make(Opcode::TensorScalarCacheReduce, Engine::DVE, sbuf(Dtype::F32, 2, 3, 64),
                          sbuf(Dtype::F32, 2, 3, 0));
  inst.op0 = AluOp::Mult;
  inst.scalar0 = Scalar::immediate(2);
  inst.op1 = AluOp::Add;
  inst.accumulate = isa::AccumulateCommand::ZeroAccumulate;
  core.run(inst);
  inst.accumulate = isa::AccumulateCommand::AddAccumulate;
  core.run(inst);
  core.run(make(Opcode::DveReadAccumulator, Engine::DVE, sbuf(Dtype::F32, 2, 1, 128)));
  CHECK(core.get<float>(sbuf(Dtype::F32, 2, 1, 128)) == std::vector<float>{24, 60});
  inst.op1 = AluOp::Max;
  inst.accumulate = isa::AccumulateCommand::LoadAccumulate;
  inst.scalar1 = Scalar::immediate(7);
  core.run(inst);
  core.run(make(Opcode::DveReadAccumulator, Engine::DVE, sbuf(Dtype::F32, 2, 1, 128)));
  CHECK(core.get<float>(sbuf(Dtype::F32, 2, 1, 128)) == std::vector<float>{7, 12});
}

TEST_CASE("operands that do not fit are refused by name", "[machine]") {
  Core core;
  core.put<float>(sbuf(Dtype::F32, 64, 4, 0), std::vector<float>(256, 1));
  MachineInst inst =
      make(Opcode::Reciprocal, Engine::DVE, sbuf(Dtype::F32, 64, 3, 64), sbuf(Dtype::F32, 64, 4, 0));
  CHECK(core.fails(inst).find("64 partitions x 4 elements") != std::string::npos);
  inst.out = sbuf(Dtype::F32, 64, 4, 64, 32);
  CHECK(core.fails(inst).find("may not start at partition 32") != std::string::npos);
  inst.out = sbuf(Dtype::F32, 64, 4, 229376 - 8);
  CHECK(core.fails(inst).find("229376") != std::string::npos);
  inst.out = sbuf(Dtype::F32, 64, 4, 64);
  inst.in0 = sbuf(Dtype::F32, 64, 4, 8);
  CHECK(core.fails(inst).find("ESIM003") != std::string::npos);
  inst.in0 = psum(64, 4, 0);
  inst.engine = Engine::Pool;
  CHECK(core.fails(inst).find("Pool does not reach PSUM") != std::string::npos);
}

}  // namespace
}  // namespace ncc::machine
