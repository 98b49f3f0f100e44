// --native-int64: a program with exact 64-bit integers as one without them. Arithmetic is done on pairs of
// 32-bit words (pass lower-64-bit); what is left are values that travel: parameters, results, tuples, the
// state of loops. They become u32 arrays with a last dimension of two, word 0 the lower one, which are the
// same bytes as the host's.
#pragma once
#include <vector>

#include "common/diag/status.h"
#include "ir-formats/hlo/module.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo2penguin {

/// What the host sees of a program: leaves of parameters and results, in order.
struct Interface {
  std::vector<hlo::Shape> parameters, results;
};
Interface interface_of(const hlo::Module& module);

/// Rewrites the module. EVRF002 at the first op whose 64-bit integers do not come apart (division, sums,
/// conversions to floats, ...).
Status pair_words(hlo::Module& module);

/// Gives the lowered module's bindings the types that the host sees.
void declare_interface(const Interface& declared, penguin::Module& lowered);

}  // namespace ncc::hlo2penguin
