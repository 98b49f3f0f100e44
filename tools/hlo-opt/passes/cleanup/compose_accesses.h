// compose_accesses: readers of a copy read what was copied, through the composed access function.
#pragma once
#include "common/diag/status.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo_opt {

/// For `t[r(a)] = copy(s[x(a)])` with one writer and no change of type, a read t[e] becomes s[x(r^-1(e))].
/// Each index of t must be a mixed-radix number of axes; e is divided digit by digit, which is exact when
/// every digit stays in its range, else the read is left alone. Contractions read tensors only, so copies of
/// scalars and indices stay for them. The copies themselves are left to dead_code_elim.
Status compose_accesses(penguin::Module& module);

}  // namespace ncc::hlo_opt
