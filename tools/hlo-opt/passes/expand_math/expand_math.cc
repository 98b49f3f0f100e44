#include "tools/hlo-opt/passes/expand_math/expand_math.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "tools/hlo-opt/passes/expand_math/contract.h"
#include "tools/hlo-opt/passes/expand_math/emit.h"
#include "tools/hlo-opt/passes/expand_math/range.h"
#include "tools/hlo-opt/passes/expand_math/reduce.h"
#include "tools/hlo-opt/passes/expand_math/rules.h"

namespace ncc::hlo_opt {
namespace {

using namespace math_expansion;
using penguin::FunctionLevel;
using penguin::Inst;
using penguin::Operand;
using penguin::ScalarFunction;
using penguin::Stmt;

// What is known of tensors: the hull of all that is written to them, once every writer in the function has
// been seen.
class TensorRanges {
 public:
  explicit TensorRanges(const penguin::Function& function) : function_(function) { expect(function.body); }

  /// Counts the writers in statements that will be visited.
  void expect(const std::vector<Stmt>& body) {
    for (const Stmt& stmt : body) {
      if (stmt.inst) ++tensors_[root(stmt.inst->result)].writers;
      expect(stmt.body);
      expect(stmt.else_body);
    }
  }

  Range of(const Operand& operand) const {
    if (operand.kind == Operand::Kind::Scalar) {
      const double value = load_as_double(operand.dtype, &operand.scalar);
      return std::isnan(value) ? full_range(operand.dtype) : Range{value, value};
    }
    if (operand.kind == Operand::Kind::Index) {
      const affine::Interval interval =
          affine::bounds(operand.value, [&](affine::AxisId axis) { return function_.axes[axis].extent; });
      return {static_cast<double>(interval.low), static_cast<double>(interval.high)};
    }
    const auto it = tensors_.find(root(operand));
    const bool is_known = it != tensors_.end() && it->second.writers == 0 && it->second.range.has_value() &&
                          function_.tensors[root(operand)].role != penguin::Role::Input;
    return is_known ? *it->second.range : full_range(operand.dtype);
  }

  /// One writer has been visited.
  void wrote(const Operand& result, Range range) {
    Entry& entry = tensors_[root(result)];
    --entry.writers;
    entry.range = entry.range
                      ? Range{std::min(entry.range->low, range.low), std::max(entry.range->high, range.high)}
                      : range;
  }
  /// One writer has been replaced by other statements.
  void replaced(const Operand& result) { --tensors_[root(result)].writers; }

 private:
  struct Entry {
    int writers = 0;  // not yet visited
    std::optional<Range> range;
  };

  // A view shares its elements with another tensor.
  penguin::TensorId root(const Operand& operand) const {
    const penguin::TensorId alias = function_.tensors[operand.tensor].alias_of;
    return alias == penguin::kNone ? operand.tensor : alias;
  }

  const penguin::Function& function_;
  std::unordered_map<penguin::TensorId, Entry> tensors_;
};

class Expander {
 public:
  Expander(penguin::Module& module, penguin::Function& function, const ArchModel& arch)
      : module_(module), function_(function), arch_(arch), names_(function), ranges_(function) {}

  Status run() { return expand_body(function_.body); }

 private:
  Status expand_body(std::vector<Stmt>& body) {
    std::vector<Stmt> out;
    out.reserve(body.size());
    for (Stmt& stmt : body) {
      if (stmt.kind == Stmt::Kind::Inst) {
        NCC_CHECK(!stmt.inst->tile, "{}: expand_math runs before tiling", stmt.inst->name);
        NCC_TRY(expand_inst(std::move(stmt), out));
        continue;
      }
      NCC_TRY(expand_body(stmt.body));
      NCC_TRY(expand_body(stmt.else_body));
      out.push_back(std::move(stmt));
    }
    body = std::move(out);
    return Status::ok();
  }

  Status expand_inst(Stmt stmt, std::vector<Stmt>& out) {
    const Inst& inst = *stmt.inst;
    NCC_TRY(check_types(inst));
    const RangeOf range_of = [this](const Operand& operand) { return ranges_.of(operand); };
    Statements statements(module_, function_, names_, inst);
    switch (inst.op) {
      case penguin::TensorOp::Map:
        if (penguin::info(inst.function).level == FunctionLevel::Model) return expand_map(inst, out);
        ranges_.wrote(inst.result, machine_map_range(inst));
        out.push_back(std::move(stmt));
        return Status::ok();
      case penguin::TensorOp::Reduce:
        if (is_machine_reduce(inst, function_, range_of)) {
          ranges_.wrote(inst.result, machine_reduce_range(inst));
          out.push_back(std::move(stmt));
          return Status::ok();
        }
        expand_reduce(inst, range_of, statements);
        break;
      case penguin::TensorOp::Contract:
        if (is_machine_contract(inst)) {
          ranges_.wrote(inst.result, full_range(inst.result.dtype));
          out.push_back(std::move(stmt));
          return Status::ok();
        }
        expand_contract(inst, range_of, statements);
        break;
    }
    std::vector<Stmt> replacement = statements.take();
    ranges_.replaced(inst.result);
    ranges_.expect(replacement);
    for (Stmt& step : replacement) NCC_TRY(expand_inst(std::move(step), out));
    return Status::ok();
  }

  Range machine_map_range(const Inst& inst) const {
    return inst.function == ScalarFunction::Copy && inst.operands[0].dtype == inst.result.dtype
               ? ranges_.of(inst.operands[0])
               : full_range(inst.result.dtype);
  }

  Range machine_reduce_range(const Inst& inst) const {
    const bool is_extreme =
        inst.function == ScalarFunction::Maximum || inst.function == ScalarFunction::Minimum;
    return is_extreme ? ranges_.of(inst.operands[0]) : full_range(inst.result.dtype);
  }

  Status expand_map(const Inst& inst, std::vector<Stmt>& out) {
    Graph graph(arch_);
    Request request{graph, {}, inst.attributes, inst.result.dtype};
    for (const Operand& operand : inst.operands)
      request.x.push_back(graph.operand(operand, ranges_.of(operand)));

    // The type that chooses the rule: that of the values, not of a predicate.
    const bool selects =
        inst.function == ScalarFunction::SelectModel || inst.function == ScalarFunction::Clamp;
    const Dtype type = inst.operands[selects ? 1 : 0].dtype;
    const Rule rule = find_rule(inst.function, type);
    if (!rule) return unsupported_type(inst, type);
    Value value = rule(request);
    if (is_float(inst.result.dtype)) value = graph.round_to(value, inst.result.dtype);
    NCC_CHECK(value.dtype() == inst.result.dtype, "{}: {} gives {} instead of {}", inst.name,
              penguin::info(inst.function).name, info(value.dtype()).hlo, info(inst.result.dtype).hlo);
    ranges_.wrote(inst.result, value.range());
    emit(graph, value, inst, module_, function_, names_, out);
    return Status::ok();
  }

  static Status unsupported_type(const Inst& inst, Dtype type) {
    return error(Code::EVRF002, inst.loc, info(type).hlo,
                 fmt::format("operation {}", penguin::info(inst.function).name));
  }

  Status check_types(const Inst& inst) const {
    auto check = [&](const Operand& operand) -> Status {
      const DtypeInfo& type = info(operand.dtype);
      const bool is_supported = !type.machine.empty() && type.bits <= 32 && type.kind != DtypeKind::Complex;
      return is_supported ? Status::ok() : unsupported_type(inst, operand.dtype);
    };
    for (const Operand& operand : inst.operands) NCC_TRY(check(operand));
    NCC_TRY(check(inst.result));
    if (inst.op != penguin::TensorOp::Map) return Status::ok();
    const size_t arity = static_cast<size_t>(penguin::info(inst.function).arity);
    NCC_CHECK(inst.operands.size() == arity, "{}: {} has {} operands", inst.name,
              penguin::info(inst.function).name, inst.operands.size());
    if (inst.function == ScalarFunction::BitcastConvert &&
        info(inst.operands[0].dtype).bits != info(inst.result.dtype).bits)
      return error(Code::EVRF001, inst.loc, "bitcast_convert", "the widths of operand and result differ");
    return Status::ok();
  }

  penguin::Module& module_;
  penguin::Function& function_;
  const ArchModel& arch_;
  Names names_;
  TensorRanges ranges_;
};

}  // namespace

Status expand_math(penguin::Module& module, const ArchModel& arch) {
  for (penguin::Function& function : module.functions) NCC_TRY(Expander(module, function, arch).run());
  return Status::ok();
}

}  // namespace ncc::hlo_opt
