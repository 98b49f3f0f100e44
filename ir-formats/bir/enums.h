// Wire spellings of the enumerations that only BIR has. Source: spec/bir.md §3.8, §3.9, §4.1.
#pragma once
#include <optional>
#include <string_view>

#include "ir-formats/bir/module.h"

namespace ncc::bir {

std::string_view name(Memory v);  // "SB", "PSUM", "DRAM": for people; the wire carries the number
std::string_view name(TensorKind v);
std::string_view name(EdgeKind v);
std::string_view name(OperandKind v);
inline std::string_view name(Opcode v) { return info(v).name; }

std::optional<Memory> memory_from_wire(int64_t number);
std::optional<TensorKind> kind_from_wire(int64_t number);
std::optional<TensorKind> kind_from_name(std::string_view name);
std::optional<EdgeKind> edge_from_name(std::string_view name);
std::optional<OperandKind> operand_kind_from_name(std::string_view name);
inline constexpr int kNumEdgeKinds = 5;
inline constexpr int kNumOperandKinds = 4;
/// Number of rows of opcodes.def.
int num_opcodes();

}  // namespace ncc::bir
