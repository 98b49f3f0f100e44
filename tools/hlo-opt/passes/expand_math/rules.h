// The rewriting rules, by function and by kind of the operand type.
#pragma once
#include <vector>

#include "tools/hlo-opt/passes/expand_math/graph.h"

namespace ncc::hlo_opt::math_expansion {

/// One instruction to rewrite: its operands in HLO order.
struct Request {
  Graph& graph;
  std::vector<Value> x;
  const penguin::TensorAttributes& attributes;
  Dtype result;

  Value a() const { return x[0]; }
  Value b() const { return x[1]; }
};

/// Gives the result: of type `result`, or in fp32 when `result` is a float type (the caller rounds it, once).
using Rule = Value (*)(const Request&);

/// The rule for a function on operands of `type`; nullptr where HLO does not define it. For select and clamp
/// `type` is that of the values, not of the predicate.
Rule find_rule(penguin::ScalarFunction function, Dtype type);

Value undefined(const Request& r);
#define RULE(function, on_float, on_integer, on_pred) \
  Value on_float(const Request& r);                   \
  Value on_integer(const Request& r);                 \
  Value on_pred(const Request& r);
#include "tools/hlo-opt/passes/expand_math/rules.def"

}  // namespace ncc::hlo_opt::math_expansion
