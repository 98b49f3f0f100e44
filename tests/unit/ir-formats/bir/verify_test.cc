#include <catch2/catch.hpp>

#include "ir-formats/bir/verify.h"
#include "tests/unit/ir-formats/bir/kernel_builder.h"

namespace ncc::bir {
namespace {

using testing::Builder;

std::string verdict(const Module& module) {
  const Status structure = verify_structure(module);
  if (!structure.is_ok()) return structure.diagnostic().cause;
  const Status status = verify(module, *find_arch(module.arch));
  return status.is_ok() ? "" : status.diagnostic().cause;
}

TEST_CASE("a legal kernel passes the verifier", "[bir]") {
  CHECK(verdict(testing::linear_layer(2)) == "");
  CHECK(verdict(testing::linear_layer(3, "sunda")) == "");
}

TEST_CASE("bir_400: an engine outside the opcode's set is refused", "[bir]") {
  Module module = testing::linear_layer(2);
  module.main().block.instructions[2].engine = Engine::DVE;
  CHECK(verdict(module) == "illegal instruction 'act' (Activation): [400] engine DVE cannot run it");
}

TEST_CASE("bir_310: a matmul result outside PSUM is refused", "[bir]") {
  Builder b;
  const uint32_t a = b.set("a", Memory::Sbuf, Dtype::BF16, {128, 32});
  const uint32_t c = b.set("c", Memory::Sbuf, Dtype::F32, {32, 32});
  b.add("mm", Opcode::Matmult, Engine::PE, {b.all(a), b.all(a)}, {b.all(c)});
  CHECK(verdict(b.take()) == "illegal instruction 'mm' (Matmult): [310] the result must be in PSUM");
}

TEST_CASE("bir_310: Pool cannot reach PSUM", "[bir]") {
  Builder b;
  const uint32_t a = b.set("a", Memory::Psum, Dtype::F32, {128, 32});
  const uint32_t c = b.set("c", Memory::Sbuf, Dtype::F32, {128, 32});
  b.add("copy", Opcode::TensorCopy, Engine::Pool, {b.all(a)}, {b.all(c)});
  CHECK(verdict(b.take()) == "illegal instruction 'copy' (TensorCopy): [310] Pool cannot reach PSUM");
}

TEST_CASE("more than 32 partitions cannot start at 32", "[bir]") {
  Builder b;
  const uint32_t a = b.set("a", Memory::Sbuf, Dtype::F32, {128, 4});
  b.add("clear", Opcode::Memset, Engine::DVE, {},
        {b.ap(a, {{1, 48}, {1, 4}}, nullptr, b.affine().constant(32))});
  CHECK(verdict(b.take()) == "illegal instruction 'clear' (Memset): 48 partitions starting at partition 32");
}

TEST_CASE("an access beyond its set is refused over the whole loop", "[bir]") {
  Builder b;
  const affine::AxisId i = b.axis("i", 4);
  const uint32_t a = b.set("a", Memory::Sbuf, Dtype::F32, {128, 10});
  b.begin_loop(i);
  b.add("clear", Opcode::Memset, Engine::DVE, {}, {b.ap(a, {{1, 128}, {1, 4}}, b.affine().axis(i, 2, 1))});
  b.end_loop();
  CHECK(verdict(b.take()) ==
        "illegal instruction 'clear' (Memset): elements 1..10 of 'a', which has 40 bytes per partition");
}

TEST_CASE("a moving operand wider than the limit is refused", "[bir]") {
  Builder b;
  const uint32_t a = b.set("a", Memory::Sbuf, Dtype::BF16, {128, 600});
  const uint32_t w = b.set("w", Memory::Sbuf, Dtype::BF16, {128, 32});
  const uint32_t c = b.set("c", Memory::Psum, Dtype::F32, {32, 600});
  b.add("mm", Opcode::Matmult, Engine::PE, {b.all(a), b.all(w)}, {b.all(c)});
  CHECK(verdict(b.take()) == "illegal instruction 'mm' (Matmult): 600 moving columns");
}

TEST_CASE("a set of an element type that the machine lacks is refused", "[bir]") {
  Builder b;
  b.set("a", Memory::Sbuf, Dtype::F64, {128, 4});
  CHECK(verdict(b.take()) ==
        "invalid BIR: function 'main': set 'a' has the element type f64, which the machine lacks");
}

}  // namespace
}  // namespace ncc::bir
