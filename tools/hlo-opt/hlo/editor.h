// Editing one computation: builders that derive shapes, use lists that stay right while the computation
// changes, and a worklist driver. Every operation costs what it touches, so that a pass is linear as long as
// it looks at a bounded neighbourhood of each instruction. Storage order is repaired once, at `finish`.
//
//   ComputationEditor edit(computation);
//   edit.visit_all([&](hlo::Instruction* inst) -> Status {
//     if (inst->is(hlo::Opcode::Negate) && inst->operand(0)->is(hlo::Opcode::Negate))
//       edit.replace(inst, inst->operand(0)->operand(0));
//     return Status::ok();
//   });
//   context.changes += edit.changes();
//   return edit.finish();
#pragma once
#include <functional>
#include <vector>

#include "ir-formats/hlo/module.h"

namespace ncc::hlo_passes {

using hlo::Computation;
using hlo::Instruction;
using hlo::Literal;
using hlo::Opcode;
using hlo::Shape;
using Dims = std::vector<int64_t>;

class ComputationEditor {
 public:
  explicit ComputationEditor(Computation* computation);

  Computation* computation() const { return computation_; }

  // --- builders: the result shape is derived; a shape that cannot be is an internal error ---

  /// New instructions take this location (visit_all sets it to the visited instruction's).
  void set_location(const SourceLoc& loc) { loc_ = loc; }
  /// Any op with a stated result shape.
  Instruction* add(Opcode opcode, Shape shape, std::vector<Instruction*> operands);
  /// Ops whose shape follows from operands alone: elementwise (not compare, convert, map), tuple, ….
  Instruction* apply(Opcode opcode, std::vector<Instruction*> operands);
  /// The same op with other operands; the shape is kept.
  Instruction* clone(const Instruction* inst, std::vector<Instruction*> operands);
  Instruction* compare(hlo::CompareDirection direction, Instruction* a, Instruction* b,
                       hlo::CompareType type = hlo::CompareType::Default);
  Instruction* convert(Instruction* value, Dtype dtype);
  Instruction* constant(Literal value);
  Instruction* scalar(Dtype dtype, double value);
  /// `value` everywhere: a scalar constant, broadcast to the dimensions of `shape` in its element type.
  Instruction* splat(const Shape& shape, double value);
  /// dimensions[i] is the result dimension of operand dimension i, increasing.
  Instruction* broadcast(Instruction* value, Dims sizes, Dims dimensions);
  /// A scalar to these sizes.
  Instruction* broadcast_scalar(Instruction* value, Dims sizes) { return broadcast(value, sizes, {}); }
  Instruction* iota(Dtype dtype, Dims sizes, int64_t dimension);
  /// `value` itself when the sizes are the same already.
  Instruction* reshape(Instruction* value, Dims sizes);
  /// `value` itself when the permutation is the identity. Result dimension i is operand dimension
  /// permutation[i].
  Instruction* transpose(Instruction* value, Dims permutation);
  /// Empty strides = all 1.
  Instruction* slice(Instruction* value, Dims starts, Dims limits, Dims strides = {});
  Instruction* concatenate(std::vector<Instruction*> values, int64_t dimension);
  Instruction* pad(Instruction* value, Instruction* padding_value, std::vector<hlo::PaddingDim> padding);
  Instruction* reverse(Instruction* value, Dims dimensions);
  /// Scalar indices, one per dimension.
  Instruction* dynamic_slice(Instruction* value, std::vector<Instruction*> starts, Dims sizes);
  Instruction* dynamic_update_slice(Instruction* value, Instruction* update,
                                    std::vector<Instruction*> starts);
  /// Reduces with a binary op; `scalar_body` makes the computation.
  Instruction* reduce(Instruction* value, Instruction* initial, Dims dimensions, Opcode op);
  /// Several operands with a body of 2n parameters.
  Instruction* reduce(std::vector<Instruction*> values, std::vector<Instruction*> initials, Dims dimensions,
                      Computation* body);
  Instruction* dot(Instruction* lhs, Instruction* rhs, hlo::DotDims dims);
  Instruction* tuple(std::vector<Instruction*> elements);
  /// Element of a tuple value; of a tuple instruction its operand, without a get-tuple-element.
  Instruction* element(Instruction* tuple, int64_t index);
  /// Clones the instructions of another computation with `arguments` for its parameters; returns the value of
  /// its root. What it calls is shared, not cloned.
  Instruction* inline_computation(const Computation& body, const std::vector<Instruction*>& arguments);

  // --- use lists ---

  /// Operand slots that hold the value, plus one when it is the root.
  int64_t use_count(const Instruction* value) const { return node(value).uses; }
  bool has_one_use(const Instruction* value) const { return use_count(value) == 1; }
  /// Users, one entry per operand slot, in no particular order; the root's own use is not among them.
  std::vector<Instruction*> users(const Instruction* value);
  /// True for instructions that an edit must not remove or merge: parameters, effects, control edges.
  bool is_pinned(const Instruction* inst) const;
  bool has_control_edge(const Instruction* inst) const { return node(inst).has_control_edge; }
  /// Removed by an edit (still in storage until `finish`).
  bool is_dead(const Instruction* inst) const { return node(inst).dead; }

  // --- edits ---

  /// Users of `old_value` (and the root) use `new_value` from now on; `old_value` and what only it needed are
  /// dead, unless pinned. A new instruction inherits location, frontend attributes and sharding where it has
  /// none. False, and no edit, when `old_value` has control edges. Shapes must agree but for layouts.
  bool replace(Instruction* old_value, Instruction* new_value);
  /// One operand of one instruction, whose own shape stays right.
  void set_operand(Instruction* inst, int64_t slot, Instruction* value);
  void set_root(Instruction* value);
  /// Removes an instruction without uses although it has an effect, because other instructions have it now.
  void erase(Instruction* inst);
  /// Edits so far (replace, set_operand, set_root; note_change for edits of other fields).
  int64_t changes() const { return changes_; }
  void note_change(Instruction* inst);

  // --- driving ---

  /// Visits every instruction, operands first, and then again whatever an edit touched: new instructions and
  /// users of replaced values. Stops when nothing is left, at the latest after 32 visits per instruction.
  Status visit_all(const std::function<Status(Instruction*)>& visit);
  /// Removes dead instructions and sorts storage. Nothing may be called afterwards.
  Status finish();

 private:
  struct Use {
    Instruction* user;
    int64_t slot;
  };
  struct Node {
    std::vector<Use> users;  // may hold stale entries
    int64_t uses = 0;
    bool dead = false, has_control_edge = false, has_effect = false, queued = false;
  };
  Node& node(const Instruction* inst);
  const Node& node(const Instruction* inst) const;
  void add_uses(Instruction* user);
  void drop_use(Instruction* value);
  void remove_if_unused(Instruction* value);
  void enqueue(Instruction* inst);
  Instruction* finish_new(Instruction* inst);
  Instruction* derive_shape(Instruction* inst);

  Computation* computation_;
  int64_t first_id_, new_base_;
  std::vector<Node> old_nodes_, new_nodes_;
  SourceLoc loc_;
  int64_t changes_ = 0;
  bool driving_ = false;
  std::vector<Instruction*> queue_;
};

/// Calls `rewrite` on every computation of the module, callees first, with an editor of its own; adds up
/// changes.
Status edit_each(hlo::Module& module, int64_t& changes,
                 const std::function<Status(ComputationEditor&, Instruction*)>& rewrite);

/// A computation (a, b) -> op(a, b) on scalars; an equal one of the module made before is found again.
Computation* scalar_body(hlo::Module& module, Opcode op, Dtype dtype);

}  // namespace ncc::hlo_passes
