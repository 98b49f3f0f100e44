// log1p(x) -> log(u) (x / (u - 1)), u = 1 + x: the rounding error of u cancels (Kahan); x where u = 1.
// Source: spec/hlo-front-half.md §4.5, §5.2, §8.
#include <limits>

#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

Status log1p_expander(hlo::Module& module, PassContext& context) {
  return expand_each(module, context.changes, Opcode::Log1p, [](Value x) {
    const Value u = x + 1;
    const Value corrected = select(equal(u, kInfinity), u, log(u) * (x / (u - 1)));
    return select(equal(u, 1), x, corrected);
  });
}

}  // namespace ncc::hlo_passes
