#include "ir-formats/hlo/opcode.h"

#include <unordered_map>

namespace ncc::hlo {
namespace {

constexpr OpInfo kRows[] = {
#define OP(id, hlo, mlir, origin, kind, min, max, calls, ew, comm, effect, classes) \
  {Opcode::id, hlo,   mlir,    OpOrigin::origin, OpKind::kind, min,                 \
   max,        calls, ew != 0, comm != 0,        effect != 0,  classes},
#include "ir-formats/hlo/opcodes.def"
};

constexpr std::string_view kKindNames[] = {
    "unary",  "binary", "elementwise", "source", "shape", "index",      "reduce", "window",   "contract",
    "linalg", "rng",    "control",     "tuple",  "token", "collective", "async",  "quantize", "dynamic"};

constexpr bool rows_match_enum() {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (static_cast<size_t>(kRows[i].opcode) != i) return false;
  }
  return true;
}
static_assert(rows_match_enum());
static_assert(std::size(kKindNames) == static_cast<size_t>(OpKind::Dynamic) + 1);

}  // namespace

const OpInfo& info(Opcode opcode) { return kRows[static_cast<size_t>(opcode)]; }
std::span<const OpInfo> all_opcodes() { return kRows; }
std::string_view name(OpKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

std::optional<Opcode> opcode_from_hlo(std::string_view name) {
  static const auto* index = [] {
    auto* map = new std::unordered_map<std::string_view, Opcode>();
    for (const OpInfo& row : kRows) {
      if (row.origin == OpOrigin::Hlo) map->emplace(row.hlo, row.opcode);
    }
    return map;
  }();
  const auto found = index->find(name);
  return found == index->end() ? std::nullopt : std::optional(found->second);
}

std::optional<Opcode> opcode_from_mlir(std::string_view name) {
  static const auto* index = [] {
    auto* map = new std::unordered_map<std::string_view, Opcode>();
    for (const OpInfo& row : kRows) {
      if (!row.mlir.empty()) map->emplace(row.mlir, row.opcode);
    }
    // Moved to StableHLO since; older texts have it here.
    map->emplace("chlo.tan", Opcode::Tan);
    return map;
  }();
  const auto found = index->find(name);
  return found == index->end() ? std::nullopt : std::optional(found->second);
}

}  // namespace ncc::hlo
