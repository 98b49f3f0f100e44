// What the host sees of a program, kept while the program itself is brought to types of the device.
#pragma once
#include <vector>

#include "ir-formats/hlo/module.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo2penguin {

/// Leaves of parameters and results, in order.
struct Interface {
  std::vector<hlo::Shape> parameters, results;
};
Interface interface_of(const hlo::Module& module);

/// Gives the lowered module's bindings the host's types where the device holds others: complex arrays as
/// planes (complex_interface.h) and, with `has_word_pairs`, 64-bit integers as pairs of words (word_pairs.h).
void declare_interface(const Interface& declared, bool has_word_pairs, penguin::Module& lowered);

}  // namespace ncc::hlo2penguin
