// The opcodes of HLO, StableHLO and CHLO: an enum and its table, both derived from opcodes.def.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ncc::hlo {

enum class Opcode : uint8_t {
#define OP(id, ...) id,
#include "ir-formats/hlo/opcodes.def"
};

/// Where an op exists: in XLA's opcode list, or only in StableHLO or CHLO text.
enum class OpOrigin : uint8_t { Hlo, Stablehlo, Chlo };

enum class OpKind : uint8_t {
  Unary,
  Binary,
  Elementwise,
  Source,
  Shape,
  Index,
  Reduce,
  Window,
  Contract,
  Linalg,
  Rng,
  Control,
  Tuple,
  Token,
  Collective,
  Async,
  Quantize,
  Dynamic,
};

/// One row of opcodes.def; the columns are described there.
struct OpInfo {
  Opcode opcode;
  std::string_view hlo;
  std::string_view mlir;
  OpOrigin origin;
  OpKind kind;
  int min_operands, max_operands;  // -1 = any
  int called_computations;         // -1 = any
  bool elementwise, commutative, has_effect;
  std::string_view operand_classes;  // "" = anything
};

const OpInfo& info(Opcode opcode);
std::span<const OpInfo> all_opcodes();
/// The name used in HLO text and in diagnostics ("dot", "count-leading-zeros", "erf-inv").
inline std::string_view name(Opcode opcode) { return info(opcode).hlo; }
std::string_view name(OpKind kind);

/// By HLO opcode string; rows that have no HLO opcode are not found here.
std::optional<Opcode> opcode_from_hlo(std::string_view name);
/// By StableHLO/CHLO op name with dialect prefix ("stablehlo.add", "chlo.erfc").
std::optional<Opcode> opcode_from_mlir(std::string_view name);

}  // namespace ncc::hlo
