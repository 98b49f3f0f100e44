// Compare. Floats are compared by the machine (false on NaN, except not-equal); a total order is that of the
// bits taken as an integer whose magnitude is mirrored for negative floats. Source: spec/stablehlo-text.md
// §3.3.
#include "common/diag/status.h"
#include "tools/hlo-opt/passes/expand_math/integer.h"
#include "tools/hlo-opt/passes/expand_math/rules.h"

namespace ncc::hlo_opt::math_expansion {
namespace {

using isa::AluOp;

AluOp comparison_op(penguin::Comparison comparison) {
  switch (comparison) {
    case penguin::Comparison::Eq:
      return AluOp::IsEqual;
    case penguin::Comparison::Ne:
      return AluOp::NotEqual;
    case penguin::Comparison::Ge:
      return AluOp::IsGe;
    case penguin::Comparison::Gt:
      return AluOp::IsGt;
    case penguin::Comparison::Le:
      return AluOp::IsLe;
    case penguin::Comparison::Lt:
      return AluOp::IsLt;
  }
  NCC_CHECK(false, "unknown comparison");
}

// A signed integer of the float's width, ordered like the total order of floats.
Value total_order_key(Value x) {
  Graph& graph = *x.graph;
  const Dtype type =
      info(x.dtype()).bits == 32 ? Dtype::S32 : (info(x.dtype()).bits == 16 ? Dtype::S16 : Dtype::S8);
  const Value bits = graph.bitcast(x, type);
  const int width = info(type).bits;
  const Value mirror = shift_right_logical(shift_right_arithmetic(bits, width - 1), 1);
  return graph.bits(AluOp::BitwiseXor, bits, mirror);
}

}  // namespace

Value compare(const Request& r) {
  const AluOp op = comparison_op(r.attributes.comparison);
  const Dtype type = r.a().dtype();
  if (is_integer(type)) return compare_integers(op, r.a(), r.b());
  if (is_float(type) && r.attributes.total_order)
    return compare_integers(op, total_order_key(r.a()), total_order_key(r.b()));
  return test(op, r.a(), r.b());
}

}  // namespace ncc::hlo_opt::math_expansion
