#include "tools/hlo-opt/passes/expand_math/expand_math.h"

#include "tools/hlo-opt/passes/expand_math/contract.h"
#include "tools/hlo-opt/passes/expand_math/emit.h"
#include "tools/hlo-opt/passes/expand_math/range.h"
#include "tools/hlo-opt/passes/expand_math/reduce.h"
#include "tools/hlo-opt/passes/expand_math/rules.h"
#include "tools/hlo-opt/passes/expand_math/tensor_ranges.h"

namespace ncc::hlo_opt {
namespace {

using namespace math_expansion;
using penguin::FunctionLevel;
using penguin::Inst;
using penguin::Operand;
using penguin::ScalarFunction;
using penguin::Stmt;

class Expander {
 public:
  Expander(penguin::Module& module, penguin::Function& function, const ArchModel& arch,
           std::span<const std::byte> constants)
      : module_(module), function_(function), arch_(arch), names_(function), ranges_(function, constants) {}

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
      request.x.push_back(for_rule(inst, graph.operand(operand, ranges_.of(operand))));

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

  // Rules compute on fp32, bf16 and f16; 8-bit floats only move and convert as they are.
  static Value for_rule(const Inst& inst, Value operand) {
    const bool moves =
        inst.function == ScalarFunction::SelectModel || inst.function == ScalarFunction::BitcastConvert;
    const bool is_8bit_float = is_float(operand.dtype()) && info(operand.dtype()).bits == 8;
    return is_8bit_float && !moves ? operand.graph->copy(operand, Dtype::F32) : operand;
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

Status expand_math(penguin::Module& module, const ArchModel& arch, std::span<const std::byte> constants) {
  for (penguin::Function& function : module.functions)
    NCC_TRY(Expander(module, function, arch, constants).run());
  return Status::ok();
}

}  // namespace ncc::hlo_opt
