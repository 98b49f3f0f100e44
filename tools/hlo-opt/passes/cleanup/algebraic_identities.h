// algebraic_identities: rewrites that give the same bits (any NaN aside) with less work.
#pragma once
#include "common/diag/status.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo_opt {

/// x * 1, x / 1, x + (-0), x - 0, max(x, -inf), min(x, inf), x + 0 and x * 1 on integers, x & ~0, x | 0, x ^
/// 0, shifts by 0, convert to the same type, select of equal values, clamp between infinities -> copies;
/// pow(x, 2) -> x * x; pow(x, 1) -> x; x / 2^k -> x * 2^-k.
Status algebraic_identities(penguin::Module& module);

}  // namespace ncc::hlo_opt
