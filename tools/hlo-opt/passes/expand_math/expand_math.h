// expand_math: rewrites every elementwise function of HLO into single machine operations.
#pragma once
#include <cstddef>
#include <span>

#include "common/arch/arch.h"
#include "common/diag/status.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo_opt {

/// Afterwards every tensor-level Map has a Machine-level function, every Reduce is one that the engines fold
/// exactly, and every Contract is exact on the PE. Intermediates are new Internal tensors over the Map's own
/// axes; results keep their access functions. EVRF001 or EVRF002, with the op's location, for a function or
/// element type that has no lowering.
Status expand_math(penguin::Module& module, const ArchModel& arch, std::span<const std::byte> constants = {});

}  // namespace ncc::hlo_opt
