// BIR's verifier, in two layers.
#pragma once
#include "common/arch/arch.h"
#include "common/diag/status.h"
#include "ir-formats/bir/module.h"

namespace ncc::bir {

/// References only: every index is in range, ranks and counts are sane, loops have an axis and a body, names
/// are present. Holds for every module in memory; readers guarantee it. EBIR001.
Status verify_structure(const Module& module);

/// The machine's rules (spec/bir.md §7): engine, memory per operand, partitions, dtypes, matmul and PSUM
/// limits, DMA dims. Presumes verify_structure. EBIR002 with the rule number of the spec and the user's op.
Status verify(const Module& module, const ArchModel& arch);

/// One instruction of `function`; `fn_axes` bound symbolic starts.
Status verify(const Module& module, const Function& function, const Instruction& inst, const ArchModel& arch);

}  // namespace ncc::bir
