// --native-int64: a program with exact 64-bit integers as one without them. Arithmetic is done on pairs of
// 32-bit words (pass lower-64-bit); what is left are values that travel: parameters, results, tuples, the
// state of loops. They become u32 arrays with a last dimension of two, word 0 the lower one, which are the
// same bytes as the host's.
#pragma once
#include "common/diag/status.h"
#include "ir-formats/hlo/module.h"

namespace ncc::hlo2penguin {

/// Rewrites the module. EVRF002 at the first op whose 64-bit integers do not come apart (division, sums,
/// conversions to floats, ...).
Status pair_words(hlo::Module& module);

}  // namespace ncc::hlo2penguin
