// What is known of the elements of whole tensors: the hull of all that is written to them, and the values of
// constants.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir-formats/penguin/module.h"
#include "tools/hlo-opt/passes/expand_math/graph.h"

namespace ncc::hlo_opt::math_expansion {

class TensorRanges {
 public:
  /// `constants`: the content of constants.bin, or empty.
  TensorRanges(const penguin::Function& function, std::span<const std::byte> constants);

  /// Of an operand as it is read at this point of the program: known once every writer of its tensor has been
  /// visited.
  Range of(const penguin::Operand& operand) const;

  /// Counts the writers in statements that will be visited.
  void expect(const std::vector<penguin::Stmt>& body);
  /// One writer has been visited.
  void wrote(const penguin::Operand& result, Range range);
  /// One writer has been replaced by other statements.
  void replaced(const penguin::Operand& result);

 private:
  struct Entry {
    int writers = 0;  // not yet visited
    std::optional<Range> range;
  };

  // A view shares its elements with another tensor.
  penguin::TensorId root(const penguin::Operand& operand) const;
  std::optional<Range> of_constant(penguin::TensorId id) const;

  const penguin::Function& function_;
  std::span<const std::byte> constants_;
  std::unordered_map<penguin::TensorId, Entry> tensors_;
  mutable std::unordered_map<penguin::TensorId, std::optional<Range>> constant_ranges_;
};

}  // namespace ncc::hlo_opt::math_expansion
