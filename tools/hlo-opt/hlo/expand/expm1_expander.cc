// expm1(x) -> exp(x) - 1 for |x| > 1/2, else tanh(x/2) (exp(x) + 1): no cancellation, keeps -0.
// Source: spec/hlo-front-half.md §4.5, §5.2, §8.
#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status expm1_expander(hlo::Module& module, PassContext& context) {
  return expand_each(module, context.changes, Opcode::Expm1, [](Value x) {
    return select(greater(abs(x), 0.5), exp(x) - 1, tanh(x * 0.5) * (exp(x) + 1));
  });
}

}  // namespace ncc::hlo_passes
