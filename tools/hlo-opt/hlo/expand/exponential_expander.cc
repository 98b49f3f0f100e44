// Functions around exp and log whose naive form loses digits:
//   expm1(x)    -> exp(x) - 1 for |x| > 1/2, else tanh(x/2) (exp(x) + 1): no cancellation, keeps -0
//   log1p(x)    -> log(u) (x / (u - 1)), u = 1 + x: the rounding error of u cancels (Kahan); x where u = 1
//   logistic(x) -> 1 / (1 + exp(-x))
//   cbrt(x)     -> sign(x) y, y = |x|^(1/3) and one Newton step; x itself where it is 0, infinite or NaN
// Source: spec/hlo-front-half.md §4.5, §5.2, §8.
#include <limits>

#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Status expand(hlo::Module& module, PassContext& context, Opcode opcode, const UnaryFormula& formula) {
  return edit_each(module, context.changes, [&](ComputationEditor& edit, Instruction* inst) {
    if (inst->is(opcode)) replace_by(edit, inst, formula);
    return Status::ok();
  });
}

}  // namespace

Status expm1_expander(hlo::Module& module, PassContext& context) {
  return expand(module, context, Opcode::Expm1, [](Value x) {
    return select(greater(abs(x), 0.5), exp(x) - 1, tanh(x * 0.5) * (exp(x) + 1));
  });
}

Status log1p_expander(hlo::Module& module, PassContext& context) {
  return expand(module, context, Opcode::Log1p, [](Value x) {
    const Value u = x + 1;
    const Value corrected = select(equal(u, kInfinity), u, log(u) * (x / (u - 1)));
    return select(equal(u, 1), x, corrected);
  });
}

Status logistic_expander(hlo::Module& module, PassContext& context) {
  return expand(module, context, Opcode::Logistic, [](Value x) { return 1 / (1 + exp(-x)); });
}

Status cbrt_expander(hlo::Module& module, PassContext& context) {
  return expand(module, context, Opcode::Cbrt, [](Value x) {
    const Value size = abs(x);
    const Value root = pow(size, 1.0 / 3);
    const Value better = root - (root - size / (root * root)) / 3;
    return select(greater(size, 0) & less(size, kInfinity), sign(x) * better, x);
  });
}

}  // namespace ncc::hlo_passes
