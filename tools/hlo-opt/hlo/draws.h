// Random numbers in the comparison of a module before and after passes. No program may rely on the numbers of
// rng, and they depend on its place in the program, which passes change; so the comparison puts a fixed
// pattern of the op's two bounds in its place. Different rng instructions have different patterns, or a pass
// that merges two draws into one would not be noticed. Which instruction is which over passes is told by a
// mark: a copy of an instruction keeps it (inlined calls, unrolled loops), and no pass compares it, as it
// stands in the location's details. Marks follow the instruction and not the order of execution, because
// passes may reorder independent draws. Draws that one instruction makes one after the other, in a loop, are
// alike.
#pragma once
#include <vector>

#include "ir-formats/hlo/module.h"

namespace ncc::hlo_passes {

/// Gives every rng a mark of its own.
void mark_draws(hlo::Module& module);
/// Takes the marks off.
void unmark_draws(hlo::Module& module);
/// Two rng instructions with one mark: copies of one instruction.
bool has_repeated_draws(const hlo::Module& module);
bool has_draws(const hlo::Module& module);

/// Whether these values of the entry computation may depend on random numbers of rng or on the state of
/// rng-get-and-update-state; a value of an op that calls something that draws may.
std::vector<bool> depend_on_draws(const hlo::Module& module,
                                  const std::vector<const hlo::Instruction*>& values);

/// Each rng becomes the pattern of its mark: values from its lower to its upper bound, in the bounds' own
/// type.
Status fix_draws(hlo::Module& module);

}  // namespace ncc::hlo_passes
