#include "ir-formats/hlo/interpreter/evaluator.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "ir-formats/hlo/device_part.h"
#include "ir-formats/hlo/interpreter/concrete.h"
#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/ops_elementwise.h"
#include "ir-formats/hlo/interpreter/quantize.h"

namespace ncc::hlo {
namespace {

// Instructions that the root or an effect needs, in storage order (topological).
std::vector<const Instruction*> live_instructions(const Computation& computation, bool all) {
  std::unordered_set<const Instruction*> live;
  std::vector<const Instruction*> work;
  const auto mark = [&](const Instruction* inst) {
    if (live.insert(inst).second) work.push_back(inst);
  };
  mark(computation.root());
  for (const auto& inst : computation.instructions()) {
    if (all || inst->has_side_effect()) mark(inst.get());
  }
  while (!work.empty()) {
    const Instruction* inst = work.back();
    work.pop_back();
    for (const Instruction* operand : inst->operands) mark(operand);
  }
  std::vector<const Instruction*> order;
  for (const auto& inst : computation.instructions()) {
    if (live.count(inst.get())) order.push_back(inst.get());
  }
  return order;
}

// XLA's pred is any non-zero byte on the way in; inside it is 0 or 1.
Literal normalised_pred(const Literal& literal) {
  const auto bytes = literal.bytes();
  if (literal.shape().dtype != Dtype::Pred ||
      std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return std::to_integer<int>(b) <= 1; }))
    return literal;
  Literal out = Literal::zeros(literal.shape());
  std::transform(bytes.begin(), bytes.end(), out.mutable_data(),
                 [](std::byte b) { return std::byte{std::to_integer<int>(b) != 0}; });
  return out;
}

// Static sizes must be equal; a bounded dynamic size is at most its bound.
bool fits(const Shape& given, const Shape& expected) {
  if (given.rank() != expected.rank()) return false;
  for (int64_t d = 0; d < given.rank(); ++d) {
    const int64_t size = given.dims[static_cast<size_t>(d)], wanted = expected.dims[static_cast<size_t>(d)];
    const bool free = expected.is_dynamic_dim(d) && (wanted == kUnbounded || size <= wanted);
    if (size != wanted && !free) return false;
  }
  return true;
}

Result<Literal> checked_argument(const Literal& literal, const Shape& expected, int64_t number) {
  if (!literal.is_valid()) return error(Code::ERUN001, number, std::string("no value given"));
  if (literal.is_tuple() && expected.is_tuple() && literal.elements().size() == expected.elements.size()) {
    std::vector<Literal> elements;
    for (size_t i = 0; i < expected.elements.size(); ++i) {
      NCC_ASSIGN(Literal element, checked_argument(literal.elements()[i], expected.elements[i], number));
      elements.push_back(std::move(element));
    }
    return Literal::make_tuple(std::move(elements));
  }
  if (literal.shape().dtype != expected.dtype || literal.is_tuple() || expected.is_tuple() ||
      !fits(literal.shape(), expected))
    return error(Code::ERUN001, number,
                 fmt::format("found {}, expected {}", to_string(literal.shape()), to_string(expected)));
  return normalised_pred(literal);
}

}  // namespace

EvalFunction eval_function(Opcode opcode) {
  struct Row {
    Opcode opcode;
    EvalFunction function;
  };
  static constexpr Row kRows[] = {
#define EVAL(opcode, function) {Opcode::opcode, function},
#include "ir-formats/hlo/interpreter/eval_table.def"
  };
  static const auto kTable = [] {
    std::array<EvalFunction, 256> table{};
    for (const OpInfo& row : all_opcodes()) {
      if (row.elementwise) table[static_cast<size_t>(row.opcode)] = eval_elementwise;
    }
    for (const Row& row : kRows) table[static_cast<size_t>(row.opcode)] = row.function;
    return table;
  }();
  return kTable[static_cast<size_t>(opcode)];
}

Status unsupported(const Instruction& inst, const std::string& reason) {
  std::string op(name(inst.opcode));
  if (inst.is(Opcode::CustomCall)) op += " " + inst.attrs().custom_call_target;
  return error(Code::EVRF001, inst.loc, op, reason);
}

bool is_exclusive(const Literal& literal) {
  return literal.is_valid() && !literal.is_tuple() && literal.owner().use_count() == 1;
}

Literal reshaped(const Literal& literal, const Shape& shape) {
  return Literal::view(shape, literal.bytes(), literal.owner());
}

const Evaluator::Plan& Evaluator::plan(const Computation& computation) {
  auto& cached = plans_[&computation];
  if (cached) return *cached;
  cached = std::make_unique<Plan>();
  const bool all = options_.observer && computation.is_entry();
  const auto order = live_instructions(computation, all);
  std::unordered_map<const Instruction*, int> slots;
  for (const Instruction* inst : order) {
    Node node{inst,
              computes_dequantized(*inst) ? eval_quantized : eval_function(inst->opcode),
              {},
              {},
              needs_concrete_sizes(*inst)};
    for (const Instruction* operand : inst->operands) node.operands.push_back(slots.at(operand));
    node.last_use.assign(node.operands.size(), false);
    slots[inst] = static_cast<int>(cached->nodes.size());
    cached->nodes.push_back(std::move(node));
  }
  cached->root = slots.at(computation.root());
  std::vector<bool> used(cached->nodes.size(), false);
  used[static_cast<size_t>(cached->root)] = true;
  for (size_t n = cached->nodes.size(); n-- > 0;) {
    Node& node = cached->nodes[n];
    for (size_t i = node.operands.size(); i-- > 0;) {
      const size_t slot = static_cast<size_t>(node.operands[i]);
      node.last_use[i] = !used[slot];
      used[slot] = true;
    }
  }
  return *cached;
}

const LaneProgram* Evaluator::lane_program(const Computation& computation) {
  auto found = programs_.find(&computation);
  if (found == programs_.end())
    found = programs_.emplace(&computation, LaneProgram::from_computation(computation)).first;
  return found->second ? &*found->second : nullptr;
}

Result<Literal> Evaluator::evaluate(const Node& node, Operands& operands) {
  if (!node.sizes_at_run_time) return node.function(*this, *node.inst, operands);
  Concrete concrete;
  NCC_TRY(make_concrete(*node.inst, operands, concrete));
  return node.function(*this, concrete.inst, operands);
}

Result<Literal> Evaluator::run(const Computation& computation, std::vector<Literal> args) {
  const Plan& plan = this->plan(computation);
  const bool observed = options_.observer && computation.is_entry();
  std::vector<Literal> values(plan.nodes.size());
  Operands operands;
  for (size_t n = 0; n < plan.nodes.size(); ++n) {
    const Node& node = plan.nodes[n];
    if (node.inst->is(Opcode::Parameter)) {
      const size_t number = static_cast<size_t>(node.inst->index);
      NCC_CHECK(number < args.size(), "parameter {} of {} without argument", number, computation.name());
      values[n] = std::move(args[number]);
    } else {
      if (!node.function) return unsupported(*node.inst, "the interpreter does not implement it");
      operands.clear();
      for (size_t i = 0; i < node.operands.size(); ++i) {
        Literal& value = values[static_cast<size_t>(node.operands[i])];
        if (node.last_use[i]) {
          operands.push_back(std::move(value));
          value = Literal();
        } else {
          operands.push_back(value);
        }
      }
      Result<Literal> result = evaluate(node, operands);
      if (!result.is_ok()) return result.status().with_loc(node.inst->loc);
      values[n] = result.take();
    }
    if (observed) options_.observer(*node.inst, values[n]);
  }
  return std::move(values[static_cast<size_t>(plan.root)]);
}

namespace {

// Every device computes with whole values, and between the calls that lead to its part and back with that;
// what the first one has at the end is the result.
Result<Literal> run_manual(const Module& module, std::vector<Literal> args, int64_t devices,
                           const InterpretOptions& options) {
  constexpr int64_t kMostDevices = 256;  // a thread each
  if (module.replica_count > 1 || devices > kMostDevices)
    return error(Code::EVRF001, SourceLoc{}, "manual computation",
                 fmt::format("written for {} replicas of {} devices; one replica of {} at most can be run",
                             module.replica_count, devices, kMostDevices));
  ProcessGrid grid(1, devices);
  const std::vector<const Computation*> programs(static_cast<size_t>(devices), module.entry());
  NCC_ASSIGN(std::vector<Literal> results,
             run_processes(grid, programs, std::vector(programs.size(), std::move(args)), options));
  return std::move(results[0]);
}

}  // namespace

Result<Literal> interpret(const Module& module, std::span<const Literal> args,
                          const InterpretOptions& options) {
  if (!module.entry() || !module.entry()->root())
    return error(Code::EVRF003, fmt::format("module '{}' has no entry computation", module.name()));
  const auto parameters = module.entry()->parameters();
  if (parameters.size() != args.size())
    return error(Code::ERUN001, args.size(), fmt::format("the program has {} parameters", parameters.size()));
  std::vector<Literal> checked;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!parameters[i]) return error(Code::EVRF003, fmt::format("parameter {} is missing", i));
    NCC_ASSIGN(Literal arg, checked_argument(args[i], parameters[i]->shape, static_cast<int64_t>(i)));
    checked.push_back(std::move(arg));
  }
  const int64_t devices = manual_devices(module);
  if (devices > 1) return run_manual(module, std::move(checked), devices, options);
  Evaluator evaluator(options);
  return evaluator.run(*module.entry(), std::move(checked));
}

Result<Literal> interpret(const Computation& computation, std::vector<Literal> args) {
  const InterpretOptions options;
  Evaluator evaluator(options);
  return evaluator.run(computation, std::move(args));
}

}  // namespace ncc::hlo
