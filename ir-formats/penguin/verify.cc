// Rules common to both levels, and the tensor level's:
//   penguin_t1  every index of every access lies inside its tensor
//   penguin_t2  a result's access is injective over the iteration axes that are not folded
//   penguin_t3  the writers of a tensor are disjoint and cover it; inputs, constants and views are never
//   written penguin_t4  axis roles fit the op, and each axis occurs in the operands its role allows
//   penguin_t5  operand counts and element types fit the function
//   penguin_t6  a tensor is written before it is read
#include "ir-formats/penguin/verify.h"

#include <unordered_map>
#include <unordered_set>

#include "ir-formats/penguin/access.h"
#include "ir-formats/penguin/names.h"
#include "ir-formats/penguin/structure.h"
#include "ir-formats/penguin/walk.h"

namespace ncc::penguin {
namespace {

bool occurs(AxisId axis, const Operand& operand) {
  if (operand.kind == Operand::Kind::Index) return operand.value->coef(axis) != 0;
  for (const Ref e : operand.index)
    if (e->coef(axis) != 0) return true;
  return false;
}

class TensorLevel {
 public:
  explicit TensorLevel(const Function& function)
      : function_(function),
        extent_([this](AxisId axis) { return function_.axes[axis].extent; }),
        writers_(function.tensors.size()) {}

  Status run() {
    NCC_TRY(check_tensors());
    for (const Stmt& stmt : function_.body) {
      if (stmt.kind != Stmt::Kind::Inst) return fail("control flow is not supported at tensor level");
      inst_ = stmt.inst.get();
      if (Status status = check(*inst_); !status.is_ok()) return status.with_loc(inst_->loc);
    }
    inst_ = nullptr;
    return check_writers();
  }

 private:
  Status fail(const std::string& text) const {
    return error(Code::EPEN001, inst_ == nullptr ? fmt::format("function '{}': {}", function_.name, text)
                                                 : fmt::format("'{}': {}", inst_->name, text));
  }

  Status check_tensors() const {
    std::unordered_set<std::string> names;
    for (const Tensor& tensor : function_.tensors) {
      if (!names.insert(tensor.name).second)
        return fail(fmt::format("two tensors are named '{}'", tensor.name));
      if (tensor.role == Role::Const && tensor.const_offset < 0)
        return fail(fmt::format("constant '{}' has no offset", tensor.name));
      if (tensor.alias_of == kNone) continue;
      const Tensor& root = function_.tensors[tensor.alias_of];
      if (root.alias_of != kNone || root.dtype != tensor.dtype ||
          root.num_elements() != tensor.num_elements() || tensor.role != Role::Internal)
        return fail(fmt::format("view '{}' does not fit '{}'", tensor.name, root.name));
    }
    return Status::ok();
  }

  Status check_bounds(const Operand& operand) const {  // penguin_t1
    if (operand.kind != Operand::Kind::Tensor) return Status::ok();
    const Tensor& tensor = function_.tensors[operand.tensor];
    if (operand.dtype != tensor.dtype)
      return fail(fmt::format("access to '{}' has the wrong element type", tensor.name));
    for (size_t d = 0; d < operand.index.size(); ++d) {
      const affine::Interval range = affine::bounds(operand.index[d], extent_);
      if (range.low < 0 || range.high >= tensor.shape[d])
        return fail(fmt::format("index {} of '{}' runs over [{}, {}], its size is {}", d, tensor.name,
                                range.low, range.high, tensor.shape[d]));
    }
    return Status::ok();
  }

  Status check_axes(const Inst& inst) const {  // penguin_t4
    std::unordered_set<AxisId> listed;
    for (const IterationAxis& entry : inst.axes) {
      if (!listed.insert(entry.axis).second)
        return fail(fmt::format("axis '{}' is listed twice", function_.axes[entry.axis].name));
      if (extent_(entry.axis) < 1)
        return fail(fmt::format("axis '{}' is empty", function_.axes[entry.axis].name));
      NCC_TRY(check_role(inst, entry));
    }
    const auto check_listed = [&](Ref e) {
      for (const affine::Term& term : e->terms)
        if (listed.count(term.axis) == 0)
          return fail(fmt::format("axis '{}' is used and not listed", function_.axes[term.axis].name));
      return Status::ok();
    };
    for (const Ref e : inst.result.index) NCC_TRY(check_listed(e));
    for (const Operand& operand : inst.operands) {
      if (operand.kind == Operand::Kind::Index) NCC_TRY(check_listed(operand.value));
      for (const Ref e : operand.index) NCC_TRY(check_listed(e));
    }
    return Status::ok();
  }

  Status check_role(const Inst& inst, const IterationAxis& entry) const {
    const AxisRole role = entry.role;
    bool legal = false;
    if (inst.op == TensorOp::Map) {
      legal = role == AxisRole::Parallel;
    } else if (inst.op == TensorOp::Reduce) {
      legal = role == AxisRole::Parallel || (role == AxisRole::Reduce && !occurs(entry.axis, inst.result) &&
                                             !occurs(entry.axis, inst.operands[1]));
    } else {
      const bool lhs = occurs(entry.axis, inst.operands[0]), rhs = occurs(entry.axis, inst.operands[1]),
                 result = occurs(entry.axis, inst.result);
      if (role == AxisRole::Contract) legal = !result;
      if (role == AxisRole::Batch) legal = result;
      if (role == AxisRole::LhsFree) legal = !rhs && result;
      if (role == AxisRole::RhsFree) legal = !lhs && result;
      legal = legal || (extent_(entry.axis) == 1 && role != AxisRole::Parallel && role != AxisRole::Reduce);
    }
    return legal ? Status::ok()
                 : fail(fmt::format("axis '{}' cannot be {} here", function_.axes[entry.axis].name,
                                    name(role)));
  }

  Status check_function(const Inst& inst) const {  // penguin_t5
    const size_t arity = inst.op == TensorOp::Map ? static_cast<size_t>(info(inst.function).arity) : 2;
    if (inst.operands.size() != arity)
      return fail(fmt::format("{} operands, {} expected", inst.operands.size(), arity));
    if (inst.op != TensorOp::Reduce) return Status::ok();
    switch (inst.function) {
      case ScalarFunction::Add:
      case ScalarFunction::Multiply:
      case ScalarFunction::Maximum:
      case ScalarFunction::Minimum:
      case ScalarFunction::And:
      case ScalarFunction::Or:
      case ScalarFunction::Xor:
        return Status::ok();
      default:
        return fail(fmt::format("'{}' is not a fold", name(inst.function)));
    }
  }

  Status check(const Inst& inst) {
    if (inst.tile) return fail("a tile-level instruction at tensor level");
    NCC_TRY(check_function(inst));
    NCC_TRY(check_axes(inst));
    for (const Operand& operand : inst.operands) {
      NCC_TRY(check_bounds(operand));
      if (operand.kind != Operand::Kind::Tensor) continue;
      const Tensor& tensor = function_.tensors[operand.tensor];
      const TensorId root = tensor.alias_of == kNone ? operand.tensor : tensor.alias_of;
      const Role role = function_.tensors[root].role;
      if (role != Role::Input && role != Role::Const && writers_[root].empty())  // penguin_t6
        return fail(fmt::format("'{}' is read before it is written", tensor.name));
    }
    NCC_TRY(check_bounds(inst.result));
    std::vector<IterationAxis> kept;
    for (const IterationAxis& entry : inst.axes)
      if (entry.role != AxisRole::Reduce && entry.role != AxisRole::Contract) kept.push_back(entry);
    if (!is_injective(inst.result.index, kept, extent_))
      return fail("the result's access is not injective");  // penguin_t2
    const Tensor& target = function_.tensors[inst.result.tensor];
    if (target.role == Role::Input || target.role == Role::Const || target.alias_of != kNone)
      return fail(fmt::format("'{}' may not be written", target.name));
    points_[inst.result.tensor] += num_points(kept, extent_);
    std::vector<const Inst*>& writers = writers_[inst.result.tensor];
    for (const Inst* other : writers)
      if (!are_disjoint(other->result.index, inst.result.index, extent_))
        return fail(fmt::format("overlaps '{}' in '{}'", other->name, target.name));
    writers.push_back(&inst);
    return Status::ok();
  }

  Status check_writers() const {  // penguin_t3
    for (TensorId id = 0; id < function_.tensors.size(); ++id) {
      const Tensor& tensor = function_.tensors[id];
      if (writers_[id].empty() && (tensor.role != Role::Output || tensor.num_elements() == 0)) continue;
      const auto found = points_.find(id);
      const int64_t written = found == points_.end() ? 0 : found->second;
      if (written != tensor.num_elements())
        return fail(fmt::format("{} of {} elements of '{}' are written", written, tensor.num_elements(),
                                tensor.name));
    }
    return Status::ok();
  }

  const Function& function_;
  const Extent extent_;
  const Inst* inst_ = nullptr;
  std::vector<std::vector<const Inst*>> writers_;
  std::unordered_map<TensorId, int64_t> points_;
};

}  // namespace

bool is_tile_level(const Function& function) {
  bool found = false;
  walk(function.body, [&](const Inst& inst) { found |= inst.tile != nullptr; });
  return found;
}

Status verify_tensor_level(const Module&, const Function& function) { return TensorLevel(function).run(); }

Status verify(const Module& module) {
  NCC_TRY(check_structure(module));
  for (const Function& function : module.functions)
    NCC_TRY(is_tile_level(function) ? verify_tile_level(module, function)
                                    : verify_tensor_level(module, function));
  return Status::ok();
}

}  // namespace ncc::penguin
