// A program with complex values as one without: arithmetic is done on real and imaginary parts (pass
// lower-complex), and a complex array that the host gives or gets is two planes on the device, f32[2, ...]:
// all real parts, then all imaginary ones.
#pragma once
#include "common/diag/status.h"
#include "ir-formats/hlo/module.h"
#include "ir-formats/penguin/module.h"
#include "tools/hlo2penguin/word_pairs.h"

namespace ncc::hlo2penguin {

bool holds_complex(const hlo::Module& module);

/// Rewrites the module. What does not come apart (the state of loops, tuples as parameters) stays complex,
/// and is refused by the lowering.
Status split_complex(hlo::Module& module);

/// Gives the lowered module's bindings the complex types that the host sees.
void declare_complex(const Interface& declared, penguin::Module& lowered);

}  // namespace ncc::hlo2penguin
