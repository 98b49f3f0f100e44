#include "ir-formats/isa/machine/alu_support.h"

namespace ncc::machine {

using isa::AluOp;
using isa::Engine;

namespace {

// Ops that Pool has on 32-bit integers, from the given generation on (spec/isa.md §3.2, integer band).
struct Int32Row {
  AluOp op;
  int first_generation;
};
constexpr Int32Row kInt32[] = {{AluOp::Add, 2},    {AluOp::Mult, 2}, {AluOp::Subtract, 3},
                               {AluOp::Divide, 3}, {AluOp::Mod, 3},  {AluOp::ModInt, 3}};

bool has_int32(AluOp op, int generation) {
  for (const Int32Row& row : kInt32)
    if (row.op == op) return generation >= row.first_generation;
  return false;
}

}  // namespace

AluSupport alu_support(AluOp op, Dtype dtype, Engine engine, int generation) {
  const bool vector = engine == Engine::DVE || engine == Engine::Pool;
  const isa::AluInfo& row = isa::info(op);
  const bool word = dtype == Dtype::S32 || dtype == Dtype::U32;
  if (word && engine == Engine::Pool && has_int32(op, generation)) return AluSupport::Exact;
  if (op == AluOp::ModInt) return AluSupport::Absent;
  if (row.domain == isa::AluDomain::Bits) return vector ? AluSupport::Exact : AluSupport::Absent;
  if (op == AluOp::Average || op == AluOp::ElemwiseMul) return AluSupport::Absent;  // no encoding
  const bool later = op == AluOp::AbsMax || op == AluOp::AbsMin;                    // gen4
  if (later && generation < 4) return AluSupport::Absent;
  return vector || engine == Engine::Activation ? AluSupport::Fp32 : AluSupport::Absent;
}

}  // namespace ncc::machine
