// Complex arrays that the host gives or gets are two planes on the device, f32[2, ...]: all real parts, then
// all imaginary ones. Inside, complex arithmetic is done on the parts (pass lower-complex, expansions.def).
#pragma once
#include "common/diag/status.h"
#include "ir-formats/hlo/module.h"

namespace ncc::hlo2penguin {

bool holds_complex(const hlo::Module& module);

/// Complex parameters become planes whose parts are joined at once, complex results are taken apart. Tuples
/// as parameters stay as they are, and are refused by the lowering.
Status split_interface(hlo::Module& module);

}  // namespace ncc::hlo2penguin
