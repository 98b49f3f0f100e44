// Encoding against annotated bytes of spec/isa.md §12 and §5, and round trips of every opcode.
#include "ir-formats/isa/wire.h"

#include <catch2/catch.hpp>

#include "tests/unit/ir-formats/isa/sample_inst.h"

namespace ncc::isa {
namespace {

using Bundle = std::array<std::byte, kBundleBytes>;

std::string hex(const Bundle& bundle, int first, int count) {
  std::string text;
  for (int i = first; i < first + count; ++i)
    text += fmt::format("{}{:02X}", i == first ? "" : " ", static_cast<int>(bundle[i]));
  return text;
}

Bundle encoded(const MachineInst& inst, int generation) {
  Bundle bundle;
  const Status status = encode(inst, generation, bundle);
  INFO((status.is_ok() ? "" : status.diagnostic().cause));
  REQUIRE(status.is_ok());
  return bundle;
}

std::string refusal(const MachineInst& inst, int generation = 3) {
  Bundle bundle;
  const Status status = encode(inst, generation, bundle);
  return status.is_ok() ? "" : status.diagnostic().cause;
}

Access sbuf(int partition, int partitions, int64_t offset, Dtype dtype, std::vector<Dim> dims) {
  Access a{Space::Sbuf,
           dtype,
           static_cast<uint8_t>(partition),
           static_cast<uint8_t>(partitions),
           static_cast<uint8_t>(dims.size()),
           -1,
           offset,
           {}};
  std::copy(dims.begin(), dims.end(), a.dims.begin());
  return a;
}

MachineInst copy_inst() {
  MachineInst inst;
  inst.opcode = Opcode::Copy;
  inst.engine = Engine::DVE;
  inst.in0 = inst.out = sbuf(0, 128, 0, Dtype::F32, {{1, 512}});
  return inst;
}

TEST_CASE("every opcode survives encoding and decoding on both generations", "[isa]") {
  for (int generation : {2, 3}) {
    for (int op = 0; op < static_cast<int>(Opcode::Opaque); ++op) {
      for (uint32_t seed = 0; seed < 50; ++seed) {
        const MachineInst inst = SampleInst(static_cast<Opcode>(op), generation, seed).make();
        INFO(disassemble(inst, generation) << " seed " << seed << " generation " << generation);
        const Bundle bundle = encoded(inst, generation);
        const Result<MachineInst> back = decode(bundle, inst.engine, generation);
        INFO((back.is_ok() ? disassemble(back.value(), generation) : back.status().diagnostic().cause));
        REQUIRE(back.is_ok());
        CHECK(back.value() == inst);
        CHECK(encoded(back.value(), generation) == bundle);
      }
    }
  }
}

TEST_CASE("a two-dimensional pattern stores the inner dimension first", "[isa]") {
  MachineInst inst;
  inst.opcode = Opcode::ScalarTensorTensorArith;
  inst.engine = Engine::DVE;
  inst.op1 = AluOp::Add;
  inst.in0 = inst.in1 = inst.out = sbuf(32, 64, 0x100, Dtype::F32, {{64, 16}, {1, 32}});
  const Bundle bundle = encoded(inst, 3);
  CHECK(hex(bundle, 0x0C, 12) == "00 01 80 00 01 00 40 00 20 00 10 00");
}

TEST_CASE("one wait and one increment share a Nop's events band", "[isa]") {
  MachineInst inst;
  inst.opcode = Opcode::Nop;
  inst.num_waits = 1;
  inst.waits[0] = {WaitMode::SemGeImm, 7, 3};
  inst.has_update = true;
  inst.update = {UpdateMode::SemInc, 9, 1};
  CHECK(hex(encoded(inst, 3), 0, 12) == "A4 10 00 00 05 07 13 09 03 00 00 00");
}

TEST_CASE("an unconditional branch names its bundle", "[isa]") {
  MachineInst inst;
  inst.opcode = Opcode::CompareBranch;
  inst.branch_always = true;
  inst.target = 40;
  const Bundle bundle = encoded(inst, 3);
  CHECK(hex(bundle, 0x00, 4) == "A9 10 00 00");
  CHECK(hex(bundle, 0x0C, 3) == "00 00 03");
  CHECK(hex(bundle, 0x30, 8) == "28 00 00 00 00 00 00 00");
}

TEST_CASE("an fp32 matmul is one bundle with mode byte 3", "[isa]") {
  MachineInst inst;
  inst.opcode = Opcode::Matmul;
  inst.engine = Engine::PE;
  inst.in0 = sbuf(0, 128, 0, Dtype::F32, {{1, 512}});
  inst.out = sbuf(64, 64, 3 * 2048, Dtype::F32, {{1, 512}});
  inst.out.space = Space::Psum;
  inst.accumulate_flags = 3;
  const Bundle bundle = encoded(inst, 2);
  CHECK(hex(bundle, 0x20, 4) == "0A 03 00 00");        // fp32, mode, reserved, perf mode
  CHECK(hex(bundle, 0x26, 6) == "80 40 0A 00 00 03");  // rows, columns, PSUM dtype, …, start|stop
  CHECK(hex(bundle, 0x2C, 4) == "0F 0C 10 00");        // row group, column group, bus, zero region
  CHECK(hex(bundle, 0x30, 4) == "00 18 20 02");        // PSUM partition 64, bank 3
  CHECK(hex(encoded(inst, 3), 0x2C, 4) == "0F 0C 00 00");
}

TEST_CASE("integer arithmetic on Pool changes its opcode with the generation", "[isa]") {
  MachineInst inst;
  inst.opcode = Opcode::TensorTensorInt32;
  inst.engine = Engine::Pool;
  inst.op0 = AluOp::Add;
  inst.in0 = inst.in1 = inst.out = sbuf(0, 128, 0, Dtype::S32, {{1, 8}});
  CHECK(hex(encoded(inst, 2), 0, 1) == "8A");
  CHECK(hex(encoded(inst, 3), 0, 1) == "41");
  CHECK(hex(encoded(inst, 3), 0x0E, 1) == "C4");
  inst.op0 = AluOp::Divide;
  CHECK(refusal(inst, 2) == "cannot encode TensorTensorInt32.Op0: 'divide' has no wire code");
  CHECK(refusal(inst, 3).empty());
}

TEST_CASE("what the wire cannot hold is refused with field and value", "[isa]") {
  MachineInst inst = copy_inst();
  inst.in0.dims[0].step = 40000;
  CHECK(refusal(inst) == "cannot encode Copy.In0: step 40000 of dimension 0 does not fit 16 bits");
  inst = copy_inst();
  inst.out.dims[0].count = 70000;
  CHECK(refusal(inst) == "cannot encode Copy.Out: count 70000 of dimension 0 is not in 1..65535");
  inst = copy_inst();
  inst.in0.start_partition = 32;
  CHECK(refusal(inst) == "cannot encode Copy.In0: partitions 32..159 are not in 0..127");
  inst = copy_inst();
  inst.in0.offset = 6;
  CHECK(refusal(inst) == "cannot encode Copy.In0: byte offset 6 is not aligned to the 4 bytes of float32");
  inst = copy_inst();
  inst.in0.num_partitions = 64;
  CHECK(refusal(inst) == "cannot encode Copy.Lanes: operands have 128 and 64 partitions");
  inst = copy_inst();
  inst.num_waits = 2;
  CHECK(refusal(inst) == "cannot encode Copy.Events: 2 waits, a bundle carries one");
  inst = copy_inst();
  inst.engine = Engine::PE;
  CHECK(refusal(inst) == "cannot encode Copy: engine PE of generation 3 has no such instruction");
  inst = copy_inst();
  inst.opcode = Opcode::TensorScalarArith;
  inst.op0 = AluOp::Add;
  CHECK(refusal(inst) == "cannot encode TensorScalarArith.Source0: scalar 0 is missing");
  inst.op0 = AluOp::Bypass;
  inst.in0 = inst.out = sbuf(0, 1, 0, Dtype::F32, {{64, 2}, {16, 2}, {4, 2}, {1, 2}});
  CHECK(refusal(inst) == "cannot encode TensorScalarArith.In0: 4 free dimensions, the wire holds 3");
}

TEST_CASE("dims of count one vanish, except where a reduction counts axes", "[isa]") {
  Access a = sbuf(0, 4, 0, Dtype::F32, {{7, 1}, {8, 4}, {3, 1}});
  canonicalize(a);
  CHECK(a == sbuf(0, 4, 0, Dtype::F32, {{8, 4}}));
  MachineInst inst;
  inst.opcode = Opcode::TensorReduceArith;
  inst.engine = Engine::DVE;
  inst.op0 = AluOp::Add;
  inst.in0 = sbuf(0, 4, 0, Dtype::F32, {{8, 1}, {8, 4}, {1, 1}});
  inst.out = sbuf(0, 4, 0, Dtype::F32, {{1, 4}});
  const Result<MachineInst> back = decode(encoded(inst, 3), Engine::DVE, 3);
  REQUIRE(back.is_ok());
  CHECK(back->in0 == sbuf(0, 4, 0, Dtype::F32, {{8, 4}, {1, 1}}));
}

TEST_CASE("an affine select splits pattern and destination into common dims", "[isa]") {
  MachineInst inst;
  inst.opcode = Opcode::TensorScalarAffineSelect;
  inst.engine = Engine::Pool;
  inst.in0 = inst.out = sbuf(0, 128, 0, Dtype::F32, {{1, 1024}});
  inst.pattern_rank = 2;
  inst.pattern = {Dim{0, 32}, Dim{-1, 32}};
  inst.channel_multiplier = 1;
  inst.scalar0 = Scalar::immediate(-1e30F);
  const Result<MachineInst> back = decode(encoded(inst, 3), Engine::Pool, 3);
  REQUIRE(back.is_ok());
  CHECK(back->out == sbuf(0, 128, 0, Dtype::F32, {{32, 32}, {1, 32}}));
  CHECK(back->pattern == inst.pattern);
  inst.pattern = {Dim{0, 8}, Dim{-1, 96}};
  CHECK(refusal(inst) ==
        "cannot encode TensorScalarAffineSelect.Pattern: 768 elements, the destination has 1024");
}

TEST_CASE("ranks of operands can be asked before code is generated", "[isa]") {
  CHECK(max_free_dims(Opcode::ScalarTensorTensorArith, OperandRole::In0) == 2);
  CHECK(max_free_dims(Opcode::Matmul, OperandRole::Out) == 3);
  CHECK(max_free_dims(Opcode::Copy, OperandRole::In0) == 4);
  CHECK(max_free_dims(Opcode::Iota, OperandRole::Pattern) == 4);
  CHECK(max_free_dims(Opcode::Copy, OperandRole::In1) == 0);
}

TEST_CASE("both e4m3 types have a tag, one per program", "[isa]") {
  MachineInst inst = copy_inst();
  inst.in0.dtype = Dtype::F8E4M3FN;
  CHECK(refusal(inst) == "cannot encode Copy.DtIn0: element type f8e4m3fn has no wire tag in this program");
  const WireContext fn(3, nullptr, true);
  Bundle bundle;
  REQUIRE(encode(inst, fn, bundle).is_ok());
  CHECK(decode(bundle, Engine::DVE, fn)->in0.dtype == Dtype::F8E4M3FN);
  CHECK(decode(bundle, Engine::DVE, 3)->in0.dtype == Dtype::F8E4M3);
}

TEST_CASE("a stray bit in a bundle is reported with its byte", "[isa]") {
  Bundle bundle = encoded(copy_inst(), 3);
  bundle[0x27] = std::byte{4};
  CHECK(decode(bundle, Engine::DVE, 3).status().diagnostic().cause ==
        "invalid instruction stream: Copy: reserved byte 0x27 is 0x04, expected 0");
  bundle = encoded(copy_inst(), 3);
  bundle[0x20] = std::byte{0};
  CHECK(decode(bundle, Engine::DVE, 3).status().diagnostic().cause ==
        "invalid instruction stream: Copy.DtIn0 at byte 0x20: 0x00 is no element type");
}

TEST_CASE("no random bundle crashes the decoder", "[isa]") {
  std::mt19937 rng(7);
  int decoded = 0;
  for (int round = 0; round < 20000; ++round) {
    const auto opcode = static_cast<Opcode>(rng() % static_cast<uint32_t>(Opcode::Opaque));
    const MachineInst inst = SampleInst(opcode, 3, rng()).make();
    Bundle bundle = encoded(inst, 3);
    for (uint32_t flips = rng() % 3 + 1; flips > 0; --flips) {
      const uint32_t bit = rng() % 512;
      bundle[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    }
    const Result<MachineInst> back = decode(bundle, inst.engine, 3);
    decoded += back.is_ok();
    if (back.is_ok()) CHECK_FALSE(disassemble(back.value(), 3).empty());
    (void)check_bundle(bundle, inst.engine, 3);
  }
  CHECK(decoded > 0);
}

TEST_CASE("disassembly names operands, attributes and semaphores", "[isa]") {
  MachineInst inst = copy_inst();
  inst.opcode = Opcode::TensorScalarArith;
  inst.op0 = AluOp::Mult;
  inst.op1 = AluOp::Add;
  inst.scalar0 = Scalar::immediate(0.5F);
  inst.scalar1.kind = Scalar::Kind::Pointer;
  inst.scalar1.pointer = sbuf(0, 128, 64, Dtype::F32, {{1, 1}});
  inst.num_waits = 1;
  inst.waits[0] = {WaitMode::SemGeImm, 7, 3};
  inst.has_update = true;
  inst.update = {UpdateMode::SemInc, 9, 1};
  CHECK(
      disassemble(inst, 3) ==
      "TensorScalarArith wait(s7>=3) out=sbuf[0:128]+0x0 f32 <512:1> in0=sbuf[0:128]+0x0 f32 <512:1> s0=0.5 "
      "s1=sbuf[0:128]+0x40 f32 <1:1> op0=mult op1=add add(s9,1)");
}

}  // namespace
}  // namespace ncc::isa
