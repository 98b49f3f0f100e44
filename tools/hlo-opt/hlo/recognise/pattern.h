// Tags: what an instruction, together with those before it, computes. A tag is the frontend attribute
// `pattern` of the last instruction of the pattern; values stay as they are, every op keeps its general
// lowering, and a later pass may trust a tag as far as it checks what it needs.
//
//   pattern="softmax axis=1"   pattern="layer-norm axis=2,3"   pattern="gelu-tanh"   pattern="attention"
// Axes are dimensions of the reduced value, in increasing order; the list of tags is in the README.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "tools/hlo-opt/hlo/editor.h"

namespace ncc::hlo_passes {

/// The tag of a value, "" when it has none.
std::string_view pattern_of(const Instruction* value);
bool has_pattern(const Instruction* value, std::string_view name);

/// Calls `find` on every instruction; what it returns becomes the instruction's tag, unless it has one.
Status tag_each(hlo::Module& module, int64_t& changes,
                std::optional<std::string> (*find)(const Instruction* inst));

/// The value behind reshape, broadcast, transpose, convert, copy and bitcast: ops that compute nothing.
const Instruction* source_of(const Instruction* value);

/// The number a real constant holds everywhere, behind such ops.
std::optional<double> number_of(const Instruction* value);
/// Within a few places of bf16, in which models keep their constants.
bool is_about(const Instruction* value, double wanted);

/// A reduction with this body of one value along some dimensions, behind ops that compute nothing.
struct Reduction {
  const Instruction* reduce;
  const Instruction* of;
  Dims axes;     // increasing
  int64_t size;  // elements that become one
};
std::optional<Reduction> reduction_of(const Instruction* value, Opcode body);
/// A tag with its axes: "softmax axis=1", "layer-norm axis=2,3".
std::string tag_along(std::string_view name, const Dims& axes);
/// A sum divided by (or times the inverse of) the number of its elements.
std::optional<Reduction> mean_of(const Instruction* value);
/// x * x or x^2.
const Instruction* squared(const Instruction* value);

/// The factors of a product of products, ops between them that compute nothing skipped; `whole` is not taken
/// apart.
std::vector<const Instruction*> factors_of(const Instruction* product, const Instruction* whole = nullptr);

}  // namespace ncc::hlo_passes
