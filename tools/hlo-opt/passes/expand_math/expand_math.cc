#include "tools/hlo-opt/passes/expand_math/expand_math.h"

#include <unordered_map>

#include "tools/hlo-opt/passes/expand_math/emit.h"
#include "tools/hlo-opt/passes/expand_math/range.h"
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
  explicit TensorRanges(const penguin::Function& function) { count_writers(function.body); }

  Range of(const penguin::Function& function, const Operand& operand) const {
    if (operand.kind == Operand::Kind::Index) {
      const affine::Interval interval =
          affine::bounds(operand.value, [&](affine::AxisId axis) { return function.axes[axis].extent; });
      return {static_cast<double>(interval.low), static_cast<double>(interval.high)};
    }
    const auto it = tensors_.find(operand.tensor);
    const bool is_known = it != tensors_.end() && it->second.writers == 0 && it->second.is_traced &&
                          function.tensors[operand.tensor].role != penguin::Role::Input;
    return is_known ? it->second.range : full_range(operand.dtype);
  }

  void wrote(const Operand& result, std::optional<Range> range) {
    Entry& entry = tensors_[result.tensor];
    --entry.writers;
    if (!range) {
      entry.is_traced = false;
    } else {
      entry.range = entry.has_range ? Range{std::min(entry.range.low, range->low),
                                            std::max(entry.range.high, range->high)}
                                    : *range;
      entry.has_range = true;
    }
  }

 private:
  struct Entry {
    int writers = 0;
    bool is_traced = true, has_range = false;
    Range range{};
  };

  void count_writers(const std::vector<Stmt>& body) {
    for (const Stmt& stmt : body) {
      if (stmt.inst) ++tensors_[stmt.inst->result.tensor].writers;
      count_writers(stmt.body);
      count_writers(stmt.else_body);
    }
  }

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
      if (stmt.kind != Stmt::Kind::Inst) {
        NCC_TRY(expand_body(stmt.body));
        NCC_TRY(expand_body(stmt.else_body));
        out.push_back(std::move(stmt));
      } else {
        NCC_CHECK(!stmt.inst->tile, "{}: expand_math runs before tiling", stmt.inst->name);
        NCC_TRY(expand_inst(std::move(stmt), out));
      }
    }
    body = std::move(out);
    return Status::ok();
  }

  Status expand_inst(Stmt stmt, std::vector<Stmt>& out) {
    Inst& inst = *stmt.inst;
    if (inst.op != penguin::TensorOp::Map || penguin::info(inst.function).level == FunctionLevel::Machine) {
      ranges_.wrote(inst.result, std::nullopt);
      out.push_back(std::move(stmt));
      return Status::ok();
    }
    return expand_map(inst, out);
  }

  Status expand_map(const Inst& inst, std::vector<Stmt>& out) {
    NCC_TRY(check_types(inst));
    Graph graph(arch_);
    Request request{graph, {}, inst.attributes, inst.result.dtype};
    for (const Operand& operand : inst.operands)
      request.x.push_back(graph.operand(operand, ranges_.of(function_, operand)));

    // The type that chooses the rule: that of the values, not of a predicate.
    const bool selects =
        inst.function == ScalarFunction::SelectModel || inst.function == ScalarFunction::Clamp;
    const Dtype type = inst.operands[selects ? 1 : 0].dtype;
    const Rule rule = find_rule(inst.function, type);
    if (!rule)
      return error(Code::EVRF002, inst.loc, info(type).hlo,
                   fmt::format("operation {}", penguin::info(inst.function).name));
    Value value = rule(request);
    if (is_float(inst.result.dtype)) value = graph.round_to(value, inst.result.dtype);
    NCC_CHECK(value.dtype() == inst.result.dtype, "{}: {} gives {} instead of {}", inst.name,
              penguin::info(inst.function).name, info(value.dtype()).hlo, info(inst.result.dtype).hlo);
    ranges_.wrote(inst.result, value.range());
    emit(graph, value, inst, module_, function_, names_, out);
    return Status::ok();
  }

  Status check_types(const Inst& inst) const {
    auto check = [&](const Operand& operand) -> Status {
      const DtypeInfo& type = info(operand.dtype);
      const bool is_supported = !type.machine.empty() && type.bits <= 32 && type.kind != DtypeKind::Complex;
      if (is_supported) return Status::ok();
      return error(Code::EVRF002, inst.loc, type.hlo,
                   fmt::format("operation {}", penguin::info(inst.function).name));
    };
    for (const Operand& operand : inst.operands) NCC_TRY(check(operand));
    NCC_TRY(check(inst.result));
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
