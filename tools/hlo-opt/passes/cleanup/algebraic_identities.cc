#include "tools/hlo-opt/passes/cleanup/algebraic_identities.h"

#include <cmath>
#include <limits>
#include <optional>

#include "ir-formats/penguin/walk.h"
#include "tools/hlo-opt/passes/cleanup/writers.h"

namespace ncc::hlo_opt {

using namespace penguin;
using F = ScalarFunction;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_real(const Operand& operand, double value) {
  if (operand.kind != Operand::Kind::Scalar || !is_float(operand.dtype)) return false;
  const double x = load_as_double(operand.dtype, &operand.scalar);
  return x == value && std::signbit(x) == std::signbit(value);
}
bool is_integer(const Operand& operand, int64_t value) {
  if (operand.kind != Operand::Kind::Scalar || is_float(operand.dtype)) return false;
  return load_as_int64(operand.dtype, &operand.scalar) == value;
}
bool is_all_ones(const Operand& operand) {
  if (operand.dtype == Dtype::Pred) return is_integer(operand, 1);
  uint64_t ones = 0;
  store_from_int64(operand.dtype, &ones, -1);
  return operand.kind == Operand::Kind::Scalar && !is_float(operand.dtype) && operand.scalar == ones;
}
bool same(const Operand& a, const Operand& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.tensor == b.tensor && a.index == b.index &&
         a.scalar == b.scalar && a.value == b.value;
}

/// Whether f(x, e) = x for the scalar e standing at `position` (0: f(e, x)).
bool is_neutral(F function, const Operand& e, int position) {
  const bool right = position == 1;
  switch (function) {
    case F::Add:
      return is_real(e, -0.0) || is_integer(e, 0);
    case F::Subtract:
      return right && (is_real(e, 0.0) || is_integer(e, 0));
    case F::Multiply:
      return is_real(e, 1.0) || is_integer(e, 1);
    case F::Divide:
      return right && (is_real(e, 1.0) || is_integer(e, 1));
    case F::Maximum:
      return is_real(e, -kInfinity);
    case F::Minimum:
      return is_real(e, kInfinity);
    case F::Power:
      return right && is_real(e, 1.0);
    case F::And:
      return is_all_ones(e);
    case F::Or:
    case F::Xor:
      return is_integer(e, 0);
    case F::ShiftLeft:
    case F::ShiftRightLogical:
    case F::ShiftRightArithmetic:
      return right && is_integer(e, 0);
    default:
      return false;
  }
}

/// 1 / value when that is exact and both are normal numbers of the type.
std::optional<uint64_t> exact_reciprocal(const Operand& e) {
  if (e.kind != Operand::Kind::Scalar || (e.dtype != Dtype::F32 && e.dtype != Dtype::BF16))
    return std::nullopt;
  const double value = load_as_double(e.dtype, &e.scalar);
  int exponent = 0;
  if (!std::isfinite(value) || value == 0 || std::fabs(std::frexp(value, &exponent)) != 0.5 ||
      std::abs(exponent) > 100)
    return std::nullopt;
  uint64_t bits = 0;
  store_from_double(e.dtype, &bits, 1.0 / value);
  return bits;
}

void simplify_binary(Inst& inst) {
  const Operand a = inst.operands[0], b = inst.operands[1];
  if (a.dtype == inst.result.dtype && is_neutral(inst.function, b, 1)) return make_copy(inst, a);
  if (b.dtype == inst.result.dtype && is_neutral(inst.function, a, 0)) return make_copy(inst, b);
  if (inst.function == F::Power && is_real(b, 2.0)) {
    inst.function = F::Multiply;
    inst.operands[1] = a;
  } else if (inst.function == F::Divide) {
    if (const std::optional<uint64_t> reciprocal = exact_reciprocal(b)) {
      inst.function = F::Multiply;
      inst.operands[1].scalar = *reciprocal;
    }
  }
}

}  // namespace

Status algebraic_identities(Module& module) {
  Function& function = module.main();
  walk(function.body, [&](Inst& inst) {
    if (inst.op != TensorOp::Map) return;
    if (inst.operands.size() == 2) return simplify_binary(inst);
    if (inst.function == F::Convert && inst.operands[0].dtype == inst.result.dtype)
      return make_copy(inst, Operand(inst.operands[0]));
    if (inst.function == F::SelectModel && same(inst.operands[1], inst.operands[2]))
      return make_copy(inst, Operand(inst.operands[1]));
    if (inst.function == F::Clamp && is_real(inst.operands[0], -kInfinity) &&
        is_real(inst.operands[2], kInfinity))
      return make_copy(inst, Operand(inst.operands[1]));
  });
  return Status::ok();
}

}  // namespace ncc::hlo_opt
