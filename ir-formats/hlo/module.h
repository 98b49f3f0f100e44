// The in-memory HLO module: what every reader produces and every tool transforms.
//
//   Module -> Computation -> Instruction, all owned (unique_ptr), linked by plain pointers.
//
// Conventions, whatever the input was (HLO proto, HLO text, StableHLO text):
//   - multiple results are one tuple result, taken apart by get-tuple-element;
//   - `while` has one operand; called = {body, condition};
//   - `conditional` has the index or predicate, then one operand per branch; called = branches (predicate:
//   true, false);
//   - `select-and-scatter`: called = {select, scatter}; reduce, scatter, sort, map: one body on scalars,
//   reduce and scatter
//     bodies take all accumulators, then all elements; sort takes lhs0, rhs0, lhs1, rhs1, …;
//   - `broadcast.dimensions[i]` is the result dimension of operand dimension i; sizes are equal (no size-1
//   stretching);
//   - dynamic-slice indices are separate scalar operands;
//   - `check.*` ops and `custom_call @check.*` are custom-calls with that target (a `_const` check has its
//   value as a
//     second operand, a constant), their tolerances are raw attributes;
//   - an op without an HLO opcode (origin Chlo, Stablehlo) is an instruction of its own opcode.
// Instructions of a computation stand in a topological order after reading. Ids are dense in the module, so
// that side tables can be vectors of size `id_limit()`; removal leaves holes until `renumber`. Source:
// spec/hlo-proto.md §3-§6, §14.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/diag/source_loc.h"
#include "common/diag/status.h"
#include "ir-formats/hlo/attributes.h"
#include "ir-formats/hlo/literal.h"
#include "ir-formats/hlo/location.h"
#include "ir-formats/hlo/opcode.h"
#include "ir-formats/hlo/shape.h"

namespace ncc::hlo {

class Computation;
class Module;

/// One value. Fields are open: passes edit them in place and keep `operands` within one computation.
struct Instruction {
  int64_t id = 0;
  Opcode opcode = Opcode::Parameter;
  CompareDirection direction = CompareDirection::EQ;  // compare
  CompareType compare_type = CompareType::Default;    // compare
  std::string name;                                   // unique in its computation
  Shape shape;                                        // of the result
  std::vector<Instruction*> operands;
  std::vector<Computation*> called;
  std::vector<Instruction*> control_predecessors;
  std::vector<int64_t>
      dimensions;  // see spec/hlo-proto.md §14: broadcast, reduce, transpose, concatenate, iota (one), …
  int64_t index = 0;  // parameter number, get-tuple-element index
  Literal literal;    // constant (never elided after reading); custom-call may have one
  SourceLoc loc;
  std::shared_ptr<const LocationDetails> loc_details;  // mostly null
  Computation* parent = nullptr;

  /// The other attributes; defaults when none were set.
  const Attributes& attrs() const;
  /// Creates them when there are none.
  Attributes& mutable_attrs();
  bool has_attrs() const { return attrs_ != nullptr; }

  const OpInfo& info() const { return hlo::info(opcode); }
  Instruction* operand(int64_t i) const { return operands[static_cast<size_t>(i)]; }
  const Shape& operand_shape(int64_t i) const { return operand(i)->shape; }
  int64_t num_operands() const { return static_cast<int64_t>(operands.size()); }
  bool is(Opcode op) const { return opcode == op; }
  /// True when removing it would change what the program does: ops with effect, custom-calls that say so, and
  /// callers of computations that hold one.
  bool has_side_effect() const;
  /// The computation applied by reduce, map, sort, call, fusion…: called[0].
  Computation* body() const { return called.front(); }
  /// while only.
  Computation* while_body() const { return called[0]; }
  Computation* while_condition() const { return called[1]; }

 private:
  std::unique_ptr<Attributes> attrs_;
};

class Computation {
 public:
  Computation(Module* module, std::string name) : module_(module), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  Module* module() const { return module_; }
  Instruction* root() const { return root_; }
  void set_root(Instruction* root) { root_ = root; }
  bool is_entry() const;
  std::string execution_thread;  // "" = main
  bool is_fusion = false;        // called by a fusion

  /// All instructions, in storage order (a topological order after reading and after `sort`).
  const std::vector<std::unique_ptr<Instruction>>& instructions() const { return instructions_; }
  int64_t size() const { return static_cast<int64_t>(instructions_.size()); }
  /// Parameters by number. Rebuilt on each call.
  std::vector<Instruction*> parameters() const;
  /// Every instruction, operands and control predecessors before users, also those not reachable from the
  /// root. Deterministic: storage order wherever that is topological already.
  std::vector<Instruction*> post_order() const;

  /// Appends a new instruction; an empty name becomes "<opcode>.<id>", a taken one gets a suffix.
  Instruction* add(Opcode opcode, Shape shape, std::vector<Instruction*> operands = {},
                   std::string name = "");
  Instruction* add_parameter(int64_t number, Shape shape, std::string name = "");
  Instruction* add_constant(Literal value, std::string name = "");
  /// get-tuple-element of `tuple`.
  Instruction* add_get(Instruction* tuple, int64_t index);
  /// A tuple of `elements`.
  Instruction* add_tuple(std::vector<Instruction*> elements, std::string name = "");
  /// Copies opcode, shape, attributes, literal, called computations and location; operands are the given
  /// ones.
  Instruction* add_clone(const Instruction& other, std::vector<Instruction*> operands);

  /// Makes every user of `old_value` (and the root) use `new_value`; linear in the computation.
  void replace_uses(Instruction* old_value, Instruction* new_value);
  /// Replaces many values at once in one pass over the computation; chains are followed.
  void replace_uses(const std::unordered_map<Instruction*, Instruction*>& replacements);
  /// Removes what neither the root nor a side effect needs; parameters stay. Returns how many were removed.
  int64_t remove_dead();
  /// Brings storage into a topological order. EVRF003 when operands form a cycle.
  Status sort();
  /// Puts the listed instructions first in storage, in that order; the others keep theirs, behind.
  void set_order(const std::vector<Instruction*>& order);

 private:
  friend class Module;
  friend struct Instruction;
  Module* module_;
  std::string name_;
  Instruction* root_ = nullptr;
  std::vector<std::unique_ptr<Instruction>> instructions_;
  std::unordered_map<std::string, int64_t> names_;  // taken names -> next suffix to try
};

/// Users of each instruction of one computation, built on demand; stale after edits.
class UserMap {
 public:
  explicit UserMap(const Computation& computation);
  /// One entry per operand slot that uses it (a square's operand is listed twice).
  const std::vector<Instruction*>& of(const Instruction* value) const;
  bool has_one_use(const Instruction* value) const { return of(value).size() == 1; }

 private:
  std::unordered_map<const Instruction*, std::vector<Instruction*>> users_;
};

/// An output that may or must share memory with a parameter.
struct InputOutputAlias {
  std::vector<int64_t> output_index;
  int64_t parameter = 0;
  std::vector<int64_t> parameter_index;
  bool must_alias = false;
  bool operator==(const InputOutputAlias&) const = default;
};

struct BufferDonor {
  int64_t parameter = 0;
  std::vector<int64_t> parameter_index;
  bool operator==(const BufferDonor&) const = default;
};

class Module {
 public:
  /// Names become what HLO text can hold: letters, digits, '_', '.', '-'; others turn into '_'.
  explicit Module(std::string name) { set_name(std::move(name)); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::string& name() const { return name_; }
  void set_name(std::string name);

  const std::vector<std::unique_ptr<Computation>>& computations() const { return computations_; }
  Computation* entry() const { return entry_; }
  void set_entry(Computation* computation) { entry_ = computation; }
  /// nullptr when there is none of that name.
  Computation* find(std::string_view name) const;
  /// A taken name gets a suffix.
  Computation* add_computation(std::string name);
  /// Callees before callers, the entry's own callees included; unreachable computations come first in storage
  /// order. Call graphs are acyclic after reading.
  std::vector<Computation*> post_order() const;
  /// Removes computations that nothing reachable from the entry calls.
  int64_t remove_unreachable();

  /// Every id is below this.
  int64_t id_limit() const { return next_id_; }
  /// Gives dense ids in post order.
  void renumber();
  /// A deep copy (literals are shared).
  std::unique_ptr<Module> clone() const;

  // What the module says about itself beyond its computations.
  int64_t replica_count = 1, num_partitions = 1;
  bool is_scheduled = false;  // storage order of the computations is the producer's schedule
  bool is_dynamic = false;
  std::vector<InputOutputAlias> aliases;
  std::vector<BufferDonor> donors;
  std::vector<std::pair<std::string, std::string>> frontend_attributes;  // sorted by key
  // Layouts promised to the caller; when not given they are the entry's own shapes.
  std::vector<Shape> entry_parameter_shapes;
  Shape entry_result_shape;
  bool has_entry_layout = false;
  /// What files state: the promised layouts while they fit the entry (passes may have changed it), else the
  /// entry's own shapes.
  std::pair<std::vector<Shape>, Shape> program_shape() const;
  StackFrames stack_frames;
  // The text that the module was read from. Locations in this file with no op name are its own lines, made
  // up by the reader for ops that have no location.
  std::string text_file;
  bool is_text_line(const SourceLoc& loc) const {
    return loc.op_name.empty() && !loc.file.empty() && loc.file == text_file;
  }
  std::vector<std::string> result_names;  // jax.result_info per result leaf; empty when unknown
  std::string unknown_fields;             // unread fields of the module proto, as wire bytes

 private:
  friend class Computation;
  std::string name_;
  std::vector<std::unique_ptr<Computation>> computations_;
  std::unordered_map<std::string, int64_t> names_;
  Computation* entry_ = nullptr;
  int64_t next_id_ = 0;
};

/// What files say about an instruction's origin: without what its stack frame says already and, unless
/// `text_lines`, without the lines that a reader made up.
SourceLoc stated_location(const Instruction& inst, bool text_lines);

/// Names an instruction in diagnostics: "%add.3 = add".
std::string describe(const Instruction& inst);

}  // namespace ncc::hlo
