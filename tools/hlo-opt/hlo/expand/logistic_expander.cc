// logistic(x) -> 1 / (1 + exp(-x)).
// Source: spec/hlo-front-half.md §4.5, §5.2, §8.
#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status logistic_expander(hlo::Module& module, PassContext& context) {
  return expand_each(module, context.changes, Opcode::Logistic, [](Value x) { return 1 / (1 + exp(-x)); });
}

}  // namespace ncc::hlo_passes
