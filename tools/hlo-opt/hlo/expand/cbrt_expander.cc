// cbrt(x) -> sign(x) y, y = |x|^(1/3) and one Newton step; x itself where it is 0, infinite or NaN.
// Source: spec/hlo-front-half.md §4.5, §5.2, §8.
#include <limits>

#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

Status cbrt_expander(hlo::Module& module, PassContext& context) {
  return expand_each(module, context.changes, Opcode::Cbrt, [](Value x) {
    const Value size = abs(x);
    const Value root = pow(size, 1.0 / 3);
    const Value better = root - (root - size / (root * root)) / 3;
    return select(greater(size, 0) & less(size, kInfinity), sign(x) * better, x);
  });
}

}  // namespace ncc::hlo_passes
