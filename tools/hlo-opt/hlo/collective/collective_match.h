// Questions about collectives and the processes they run on. Source: spec/hlo-front-half.md §4.19,
// spec/stablehlo-text.md §3.10.
#pragma once
#include <optional>
#include <span>

#include "tools/hlo-opt/hlo/editor.h"

namespace ncc::hlo_passes {

/// A synchronous collective of this kind with one array operand, which an edit may replace.
bool is_simple_collective(const ComputationEditor& edit, const Instruction* inst, Opcode opcode);

/// Any synchronous collective.
bool is_synchronous(const Instruction& inst);

/// Equal groups of equal processes, ids of channels aside.
bool same_groups(const Instruction& a, const Instruction& b);

/// The groups in which the processes of the module's grid meet, as numbers replica * partitions + partition,
/// in the group's order. Nothing when a process is in none or in two, or the grid is too large to list.
std::optional<std::vector<Dims>> process_groups(const Instruction& collective);

/// The members of each group, when all groups have as many.
std::optional<int64_t> group_size(const std::vector<Dims>& groups);

/// The value of a scalar integer on one process, when it follows from constants and the process's numbers.
std::optional<int64_t> value_on(const Instruction* value, const hlo::Module& module, int64_t process);

/// Every scalar has one value in each group.
bool are_uniform(std::span<Instruction* const> scalars, const hlo::Module& module,
                 const std::vector<Dims>& groups);

/// The same collective on another operand, with this result shape.
Instruction* collective_on(ComputationEditor& edit, const Instruction* collective, Instruction* operand,
                           Shape shape);

/// `user`, the only user of these collectives, becomes `value`, and they go.
void replace_user(ComputationEditor& edit, Instruction* user, Instruction* value,
                  std::span<Instruction* const> collectives);

/// The largest channel id of the module.
int64_t largest_channel(const hlo::Module& module);

}  // namespace ncc::hlo_passes
