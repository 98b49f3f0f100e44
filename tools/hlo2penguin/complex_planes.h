// Complex arrays that the host gives or gets are two planes on the device, f32[2, ...]: all real parts, then
// all imaginary ones. Inside, complex arithmetic is done on the parts (pass lower-complex, expansions.def).
#pragma once
#include "common/diag/status.h"
#include "ir-formats/hlo/module.h"
#include "ir-formats/penguin/module.h"
#include "tools/hlo2penguin/word_pairs.h"

namespace ncc::hlo2penguin {

bool holds_complex(const hlo::Module& module);

/// Complex parameters become planes whose parts are joined at once, complex results are taken apart. Tuples
/// as parameters stay as they are, and are refused by the lowering.
Status split_interface(hlo::Module& module);

/// Gives the lowered module's bindings the complex types that the host sees.
void declare_complex(const Interface& declared, penguin::Module& lowered);

}  // namespace ncc::hlo2penguin
