#include "ir-formats/penguin/structure.h"

#include <cmath>

namespace ncc::penguin {
namespace {

constexpr double kMaxBytes = 0x1p46;

class Checker {
 public:
  explicit Checker(const Function& function) : function_(function) {}

  Status run() {
    for (const Axis& axis : function_.axes)
      if (axis.extent < 0) return fail(fmt::format("axis '{}' has extent {}", axis.name, axis.extent));
    for (const Tensor& tensor : function_.tensors) NCC_TRY(check(tensor));
    for (TensorId id : function_.inputs) NCC_TRY(check_tensor(id, "the input list"));
    for (TensorId id : function_.outputs) NCC_TRY(check_tensor(id, "the output list"));
    return check(function_.body);
  }

 private:
  Status fail(const std::string& text) const {
    return error(Code::EPEN001, fmt::format("function '{}': {}", function_.name, text));
  }
  Status check_tensor(TensorId id, const std::string& where) const {
    return id < function_.tensors.size()
               ? Status::ok()
               : fail(fmt::format("{} names tensor {} of {}", where, id, function_.tensors.size()));
  }
  Status check_axis(AxisId id, const std::string& where) const {
    return id < function_.axes.size()
               ? Status::ok()
               : fail(fmt::format("{} names axis {} of {}", where, id, function_.axes.size()));
  }
  Status check(Ref expr, const std::string& where) const {
    if (expr == nullptr) return fail(where + " lacks an index expression");
    for (const affine::Term& term : expr->terms) NCC_TRY(check_axis(term.axis, where));
    return Status::ok();
  }

  Status check(const Tensor& tensor) const {
    double bytes = static_cast<double>(ncc::size_bytes(tensor.dtype));
    for (int64_t dim : tensor.shape) {
      if (dim < 0) return fail(fmt::format("tensor '{}' has a negative size", tensor.name));
      bytes *= static_cast<double>(std::max<int64_t>(dim, 1));
    }
    if (bytes > kMaxBytes) return fail(fmt::format("tensor '{}' is too large", tensor.name));
    if (tensor.scope != kNone) NCC_TRY(check_axis(tensor.scope, "scope of tensor " + tensor.name));
    if (tensor.alias_of != kNone) NCC_TRY(check_tensor(tensor.alias_of, "tensor " + tensor.name));
    return Status::ok();
  }

  Status check(const Operand& operand, const std::string& where) const {
    if (operand.kind == Operand::Kind::Index) return check(operand.value, where);
    if (operand.kind != Operand::Kind::Tensor) return Status::ok();
    NCC_TRY(check_tensor(operand.tensor, where));
    const Tensor& tensor = function_.tensors[operand.tensor];
    if (operand.index.size() != tensor.shape.size())
      return fail(fmt::format("{} indexes tensor '{}' of rank {} with {} expressions", where, tensor.name,
                              tensor.shape.size(), operand.index.size()));
    for (Ref expr : operand.index) NCC_TRY(check(expr, where));
    return Status::ok();
  }

  Status check(const bir::Operand& operand, const std::string& where) const {
    if (operand.kind == bir::OperandKind::Immediate) return Status::ok();
    if (operand.kind != bir::OperandKind::SymbolicAp)
      return fail(where + " has an operand that is not symbolic");
    NCC_TRY(check_tensor(operand.set, where));
    NCC_TRY(check(operand.partition_expr, where));
    return check(operand.offset_expr, where);
  }

  Status check(const Inst& inst) const {
    if (inst.tile) {
      for (const bir::Operand& operand : inst.tile->ins) NCC_TRY(check(operand, inst.name));
      for (const bir::Operand& operand : inst.tile->outs) NCC_TRY(check(operand, inst.name));
      for (AxisId axis : inst.tile->attributes.k_axes) NCC_TRY(check_axis(axis, inst.name));
      return Status::ok();
    }
    for (const IterationAxis& entry : inst.axes) NCC_TRY(check_axis(entry.axis, inst.name));
    for (const Operand& operand : inst.operands) NCC_TRY(check(operand, inst.name));
    if (inst.result.kind != Operand::Kind::Tensor) return fail(inst.name + " has no result tensor");
    return check(inst.result, inst.name);
  }

  Status check(const std::vector<Stmt>& body) const {
    for (const Stmt& stmt : body) {
      if ((stmt.kind == Stmt::Kind::Inst) != (stmt.inst != nullptr))
        return fail("a statement's kind and parts disagree");
      if (stmt.kind == Stmt::Kind::Loop) NCC_TRY(check_axis(stmt.axis, "a loop"));
      if (stmt.inst) NCC_TRY(check(*stmt.inst));
      NCC_TRY(check(stmt.body));
      NCC_TRY(check(stmt.else_body));
    }
    return Status::ok();
  }

  const Function& function_;
};

}  // namespace

Status check_structure(const Module& module) {
  if (module.functions.empty()) return error(Code::EPEN001, "the module has no function");
  for (const Function& function : module.functions) NCC_TRY(Checker(function).run());
  const Function& main = module.main();
  for (const std::vector<IoBinding>* list : {&module.inputs, &module.outputs})
    for (const IoBinding& binding : *list)
      if (binding.tensor >= main.tensors.size())
        return error(Code::EPEN001, fmt::format("'{}' is bound to tensor {} of {}", binding.name,
                                                binding.tensor, main.tensors.size()));
  return Status::ok();
}

}  // namespace ncc::penguin
