// Trigonometric and hyperbolic functions by sin, cos, atan2, exp and log:
//   tan(x)   -> sin(x) / cos(x)
//   asin(x)  -> 2 atan2(x, 1 + sqrt((1-x)(1+x)))
//   acos(x)  -> 2 atan2(sqrt((1-x)(1+x)), 1 + x), and pi at -1
//   atan(x)  -> atan2(x, 1)
//   sinh(x)  -> (e + e/(e+1)) / 2, e = expm1(x), for |x| < 1; else exp(x - ln 2) - exp(-x - ln 2)
//   cosh(x)  -> exp(x - ln 2) + exp(-x - ln 2): finite wherever cosh(x) is
//   asinh(x) -> sign(x) log1p(a + a^2 / (1 + sqrt(a^2 + 1))), a = |x|; log(a) + ln 2 where a^2 would overflow
//   acosh(x) -> log1p(t + sqrt(t) sqrt(x + 1)), t = x - 1; log(x) + ln 2 for large x
//   atanh(x) -> (log1p(x) - log1p(-x)) / 2
// Source: spec/stablehlo-text.md §2 (CHLO), §3.2.
#include <numbers>
#include <optional>

#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr double kLn2 = std::numbers::ln2;
// Above this the square overflows no type of at least 32 bits and 1 is below the last place of it.
constexpr double kLarge = 0x1p+60;

Value complement_root(Value x) { return sqrt((1 - x) * (1 + x)); }

Value tan(Value x) { return sin(x) / cos(x); }
Value asin(Value x) { return 2 * atan2(x, 1 + complement_root(x)); }
Value acos(Value x) {
  return select(equal(x, -1), x.like(std::numbers::pi), 2 * atan2(complement_root(x), 1 + x));
}
Value atan(Value x) { return atan2(x, x.like(1)); }
Value sinh(Value x) {
  const Value e = expm1(x);
  return select(less(abs(x), 1), 0.5 * (e + e / (e + 1)), exp(x + -kLn2) - exp(-kLn2 - x));
}
Value cosh(Value x) { return exp(x + -kLn2) + exp(-kLn2 - x); }
Value asinh(Value x) {
  const Value a = abs(x);
  const Value squared = a * a;
  const Value result =
      select(greater(a, kLarge), log(a) + kLn2, log1p(a + squared / (1 + sqrt(squared + 1))));
  return select(equal(x, 0), x, sign(x) * result);
}
Value acosh(Value x) {
  const Value t = x - 1;
  return select(greater(x, kLarge), log(x) + kLn2, log1p(t + sqrt(t) * sqrt(x + 1)));
}
Value atanh(Value x) {
  // Below the last place of 1 the difference of the logarithms is x itself, -0 included.
  return select(less(abs(x), 0x1p-30), x, 0.5 * (log1p(x) - log1p(-x)));
}

std::optional<Value (*)(Value)> formula_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::Tan:
      return tan;
    case Opcode::Asin:
      return asin;
    case Opcode::Acos:
      return acos;
    case Opcode::Atan:
      return atan;
    case Opcode::Sinh:
      return sinh;
    case Opcode::Cosh:
      return cosh;
    case Opcode::Asinh:
      return asinh;
    case Opcode::Acosh:
      return acosh;
    case Opcode::Atanh:
      return atanh;
    default:
      return std::nullopt;
  }
}

}  // namespace

Status trigonometric_expander(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    if (const auto formula = formula_of(inst->opcode)) replace_by(edit, inst, UnaryFormula(*formula));
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
