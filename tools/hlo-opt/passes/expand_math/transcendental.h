// Formulas that other rules are made of; all give fp32.
#pragma once
#include "tools/hlo-opt/passes/expand_math/graph.h"

namespace ncc::hlo_opt::math_expansion {

Value exp(Value x);
Value tanh(Value x);
/// For x >= 0; the square root of -0 is +0.
Value sqrt(Value x);
/// Any x: -inf at 0, NaN below.
Value log(Value x);
Value expm1(Value x);
Value log1p(Value x);
Value sin(Value x);
Value cos(Value x);
/// For x >= 0.
Value arctan_of_magnitude(Value magnitude);

}  // namespace ncc::hlo_opt::math_expansion
