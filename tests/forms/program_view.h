// One program with everything looked through that its producer may spell in another way (the list stands in
// equivalence.h). Values are found from any place of the program; nothing is compared here.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

using Path = std::vector<int64_t>;

/// A value, or the element of a tuple value at a path.
struct Ref {
  Instruction* inst = nullptr;
  Path path;
  auto operator<=>(const Ref&) const = default;
};

const Shape& shape_of(const Ref& ref);
/// Element `i` of a tuple value.
Ref element(const Ref& ref, int64_t i);
/// The sizes above 1.
Path sizes_above_one(const Path& dims);

class ProgramView {
 public:
  /// The module is cloned; calls are inlined in the clone.
  explicit ProgramView(const Module& module);
  Computation* entry() const { return module_->entry(); }

  /// The loop or branch whose region has this parameter; nullptr for the entry and for applied bodies.
  Instruction* region_user(const Instruction& parameter, size_t* region = nullptr) const;

  Ref look_through(Ref ref);

  /// The scalar that every element of the value equals.
  std::optional<Literal> splat(const Ref& ref);

  /// What a concatenation joins, concatenations along the same dimension taken apart, empty parts left out.
  void parts(const Instruction& inst, std::vector<Ref>* list);

  /// The parts of a concatenation along `dimension` that a slice takes; false when it takes a part of one.
  bool whole_parts(const Instruction& slice, int64_t dimension, std::vector<Ref>* list);

  /// Whether a value depends on no parameter. What is made of CHLO ops is fixed, but their expansions may be
  /// rounded differently.
  enum class Constancy : uint8_t { Varies, Fixed, Known };
  Constancy constancy(Instruction* inst);

  /// The value of a graph without parameters and effects; nothing when it has some, or is large.
  std::optional<Literal> constant(const Ref& ref);

  /// What the value is below a chain of broadcasts, transposes and reshapes that only add or drop dimensions
  /// of size 1.
  struct Chain {
    Ref base;
    Path sizes;   // of the value's dimensions above 1
    Path source;  // for each of them the base's dimension, counted among those above 1; -1 = repeated
    bool operator==(const Chain&) const = default;
  };
  Chain chain(const Ref& ref);

  /// What is below a chain of reshapes, and of transposes and broadcasts that are no more than that.
  Ref below_reshapes(Ref ref);

  /// A comparison, or the disjunction of two comparisons of the same values, as what it holds for: bits
  /// kLess, kEqual, kGreater.
  enum Order : int { kLess = 1, kEqual = 2, kGreater = 4 };
  struct Comparison {
    Instruction* inst = nullptr;  // one comparison; its operands are what is compared
    int holds = 0;
  };
  std::optional<Comparison> comparison(const Ref& ref);

 private:
  Instruction* copy_graph(Instruction* inst, Computation* to,
                          std::unordered_map<const Instruction*, Instruction*>* copies);
  std::optional<Literal> find_splat(const Ref& ref);
  std::optional<Literal> plain_splat(const Ref& ref);
  bool step(Ref* ref);
  bool are_one(Instruction* a, Instruction* b);
  bool step_slice(Instruction* inst, Ref* ref);
  bool absorb(Instruction* inst, int64_t absorbing, Ref* ref);
  bool drop_neutral(Instruction* inst, int64_t neutral, Ref* ref);
  bool is_empty_reduction(const Instruction& inst);
  bool is_truth_of_operand(const Instruction& inst);
  bool is_invariant(Instruction* loop, const Path& path);

  std::unique_ptr<Module> module_;
  std::unordered_map<const Computation*, std::pair<Instruction*, size_t>> users_;
  std::map<std::pair<Instruction*, Path>, bool> invariant_;
  std::unordered_map<const Instruction*, Constancy> constancy_;
  std::unordered_map<const Instruction*, std::optional<Literal>> constants_;
  std::unordered_map<const Instruction*, std::optional<Literal>> splats_;
  std::unordered_map<const Instruction*, Instruction*> narrowed_;  // slices of one part of a concatenation
  int analyses_ = 0;  // of loop states, at work: what is found meanwhile is provisional
  std::vector<std::pair<Instruction*, Path>> doubtful_;  // keys of invariant_
  std::vector<const Instruction*> provisional_;          // keys of splats_ and constancy_
};

}  // namespace ncc::hlo
