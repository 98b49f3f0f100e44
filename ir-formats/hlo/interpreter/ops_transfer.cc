// Values that enter and leave a process: infeed, outfeed, send, recv, and the process grid that
// `interpreter.run_parallel` starts. Source: spec/stablehlo-text.md §2.8, §2.10, §3.10.
#include <charconv>

#include "ir-formats/hlo/interpreter/ops.h"

namespace ncc::hlo {
namespace {

Result<ProcessGrid*> host_of(Evaluator& evaluator, const Instruction& inst) {
  if (ProcessGrid* grid = evaluator.process().grid) return grid;
  return unsupported(inst, "it needs a host or another process");
}

void append_leaves(const Literal& value, std::vector<Literal>& leaves) {
  if (!value.is_tuple()) {
    if (!value.shape().is_token()) leaves.push_back(value);
    return;
  }
  for (const Literal& element : value.elements()) append_leaves(element, leaves);
}

// A value of `shape` whose arrays are the next leaves; tokens and what is beyond the leaves are zero.
Literal filled(const Shape& shape, const std::vector<Literal>& leaves, size_t& next) {
  if (shape.is_tuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements) elements.push_back(filled(element, leaves, next));
    return Literal::make_tuple(std::move(elements));
  }
  const bool fits = next < leaves.size() && leaves[next].shape().dtype == shape.dtype &&
                    leaves[next].shape().dims == shape.dims;
  return fits ? leaves[next++] : Literal::zeros(shape);
}

Result<Literal> delivered(const Instruction& inst, const Literal& value) {
  std::vector<Literal> leaves;
  append_leaves(value, leaves);
  size_t next = 0;
  Literal result = filled(inst.shape, leaves, next);
  if (next == leaves.size()) return result;
  return error(Code::ERUN003, inst.loc,
               fmt::format("{}: a value of {} arrives for {}", describe(inst), to_string(value.shape()),
                           to_string(inst.shape)));
}

}  // namespace

Result<Literal> eval_infeed(Evaluator& evaluator, const Instruction& inst, Operands&) {
  NCC_ASSIGN(ProcessGrid * grid, host_of(evaluator, inst));
  const Computation* function = grid->next_infeed();
  if (!function)
    return error(Code::ERUN003, inst.loc, fmt::format("{}: no more infeed values", describe(inst)));
  NCC_ASSIGN(const Literal value, evaluator.run(*function, {}));
  return delivered(inst, value);
}

Result<Literal> eval_outfeed(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  NCC_ASSIGN(ProcessGrid * grid, host_of(evaluator, inst));
  grid->outfeed(operands[0]);
  return Literal::zeros(Shape::token());
}

Result<Literal> eval_send(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  NCC_ASSIGN(ProcessGrid * grid, host_of(evaluator, inst));
  grid->send(inst.attrs().channel_id, operands[0]);
  size_t next = 0;
  return filled(inst.shape, {}, next);
}

Result<Literal> eval_recv(Evaluator& evaluator, const Instruction& inst, Operands&) {
  NCC_ASSIGN(ProcessGrid * grid, host_of(evaluator, inst));
  NCC_ASSIGN(const Literal value, grid->receive(inst.attrs().channel_id));
  return delivered(inst, value);
}

// send-done gives a token, recv-done (value, token).
Result<Literal> eval_transfer_done(Evaluator&, const Instruction& inst, Operands& operands) {
  if (!inst.shape.is_tuple()) return Literal::zeros(inst.shape);
  if (!operands[0].is_tuple() || operands[0].elements().empty())
    return unsupported(inst, "its operand is no start tuple");
  return delivered(inst, operands[0].elements()[0]);
}

// Operands: the arguments of all programs in order; called: the programs, then infeed functions; the raw
// attribute "grid" is "replicas x partitions". Results of all programs in order, as one tuple.
Result<Literal> run_parallel(const Instruction& inst, Operands& operands) {
  const std::string grid_text(inst.attrs().find("grid").value_or(""));
  int64_t replicas = 0, partitions = 0;
  const size_t cross = grid_text.find('x');
  if (cross != std::string::npos) {
    std::from_chars(grid_text.data(), grid_text.data() + cross, replicas);
    std::from_chars(grid_text.data() + cross + 1, grid_text.data() + grid_text.size(), partitions);
  }
  const int64_t count = replicas * partitions;
  if (count < 1 || count > static_cast<int64_t>(inst.called.size()))
    return error(Code::EVRF003, inst.loc, fmt::format("{}: no grid of programs", describe(inst)));
  ProcessGrid grid(replicas, partitions);
  const std::vector<const Computation*> functions(inst.called.begin(), inst.called.end());
  grid.set_infeed({functions.begin() + count, functions.end()});
  std::vector<std::vector<Literal>> args;
  size_t next = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<Literal>& own = args.emplace_back();
    for (size_t p = 0; p < functions[static_cast<size_t>(i)]->parameters().size() && next < operands.size();
         ++p)
      own.push_back(operands[next++]);
    if (own.size() != functions[static_cast<size_t>(i)]->parameters().size())
      return error(Code::EVRF003, inst.loc,
                   fmt::format("{}: too few operands for its programs", describe(inst)));
  }
  NCC_ASSIGN(const std::vector<Literal> values,
             run_processes(grid, std::span(functions).first(static_cast<size_t>(count)), std::move(args)));
  std::vector<Literal> results;
  for (const Literal& value : values) {
    if (!value.is_tuple()) results.push_back(value);
    for (const Literal& element : value.elements()) results.push_back(element);
  }
  if (!inst.shape.is_tuple() && results.size() == 1) return results[0];
  return Literal::make_tuple(std::move(results));
}

}  // namespace ncc::hlo
