#include "tools/hlo-opt/passes/expand_math/rules.h"

#include "common/diag/status.h"

namespace ncc::hlo_opt::math_expansion {
namespace {

struct RuleRow {
  penguin::ScalarFunction function;
  Rule on_float, on_integer, on_pred;
};

constexpr RuleRow kRules[] = {
#define RULE(function, on_float, on_integer, on_pred) \
  {penguin::ScalarFunction::function, on_float, on_integer, on_pred},
#include "tools/hlo-opt/passes/expand_math/rules.def"
};

}  // namespace

Value undefined(const Request&) { NCC_CHECK(false, "an op that HLO does not define on this type"); }

Rule find_rule(penguin::ScalarFunction function, Dtype type) {
  for (const RuleRow& row : kRules) {
    if (row.function != function) continue;
    const Rule rule = is_float(type) ? row.on_float : (is_integer(type) ? row.on_integer : row.on_pred);
    return rule == undefined ? nullptr : rule;
  }
  return nullptr;
}

}  // namespace ncc::hlo_opt::math_expansion
