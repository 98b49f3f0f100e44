#include "ir-formats/bir/enums.h"

#include <iterator>

namespace ncc::bir {
namespace {

struct MemoryRow {
  Memory value;
  std::string_view name;
};
constexpr MemoryRow kMemories[] = {{Memory::Dram, "DRAM"}, {Memory::Sbuf, "SB"}, {Memory::Psum, "PSUM"}};

struct KindRow {
  TensorKind value;
  std::string_view name;
};
constexpr KindRow kKinds[] = {{TensorKind::ExternalInput, "ExternalInput"},
                              {TensorKind::ExternalOutput, "ExternalOutput"},
                              {TensorKind::Const, "Const"},
                              {TensorKind::Internal, "Internal"}};

constexpr std::string_view kEdges[kNumEdgeKinds] = {"Invalid", "Ordered", "Anti", "Output", "Flow"};
constexpr std::string_view kOperands[kNumOperandKinds] = {"physical_ap", "symbolic_ap", "imm_value",
                                                          "register_access"};

constexpr int kOpcodeCount = 0
#define OPCODE(id, ordinal, engines, min_level, ins_min, ins_max, outs_min, outs_max) +1
#include "ir-formats/bir/opcodes.def"
    ;

}  // namespace

std::string_view name(Memory v) {
  for (const MemoryRow& row : kMemories)
    if (row.value == v) return row.name;
  return "?";
}

std::string_view name(TensorKind v) {
  for (const KindRow& row : kKinds)
    if (row.value == v) return row.name;
  return "?";
}

std::string_view name(EdgeKind v) { return kEdges[static_cast<size_t>(v)]; }
std::string_view name(OperandKind v) { return kOperands[static_cast<size_t>(v)]; }

std::optional<Memory> memory_from_wire(int64_t number) {
  for (const MemoryRow& row : kMemories)
    if (static_cast<int64_t>(row.value) == number) return row.value;
  return std::nullopt;
}

std::optional<TensorKind> kind_from_wire(int64_t number) {
  for (const KindRow& row : kKinds)
    if (static_cast<int64_t>(row.value) == number) return row.value;
  return std::nullopt;
}

std::optional<TensorKind> kind_from_name(std::string_view name) {
  for (const KindRow& row : kKinds)
    if (row.name == name) return row.value;
  return std::nullopt;
}

std::optional<EdgeKind> edge_from_name(std::string_view name) {
  for (int i = 0; i < kNumEdgeKinds; ++i)
    if (kEdges[i] == name) return static_cast<EdgeKind>(i);
  return std::nullopt;
}

std::optional<OperandKind> operand_kind_from_name(std::string_view name) {
  for (int i = 0; i < kNumOperandKinds; ++i)
    if (kOperands[i] == name) return static_cast<OperandKind>(i);
  return std::nullopt;
}

int num_opcodes() { return kOpcodeCount; }

}  // namespace ncc::bir
