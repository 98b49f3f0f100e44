// How fast the reference interpreter runs its common ops: one line per op with milliseconds and giga-elements
// (or giga-multiplications) a second. Not a test: run it before and after a change.
#include <fmt/format.h>

#include <chrono>

#include "ir-formats/hlo/interpreter/interpret.h"

namespace {

using namespace ncc;
using namespace ncc::hlo;

// The best of three runs, in seconds; negative when the module does not run.
double best_seconds(const Module& module, const std::vector<Literal>& args) {
  double best = -1;
  for (int round = 0; round < 3; ++round) {
    const auto start = std::chrono::steady_clock::now();
    if (!interpret(module, args).is_ok()) return -1;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (best < 0 || seconds < best) best = seconds;
  }
  return best;
}

void measure(Opcode opcode, const Shape& result, const std::vector<Shape>& operands, double work,
             const std::function<void(Module&, Instruction&)>& finish = {}) {
  Module module("bench");
  Computation* entry = module.add_computation("main");
  std::vector<Instruction*> parameters;
  std::vector<Literal> args;
  for (size_t i = 0; i < operands.size(); ++i) {
    parameters.push_back(entry->add_parameter(static_cast<int64_t>(i), operands[i]));
    args.push_back(Literal::zeros(operands[i]));
  }
  Instruction* inst = entry->add(opcode, result, parameters);
  if (finish) finish(module, *inst);
  entry->set_root(inst);
  module.set_entry(entry);
  const double seconds = best_seconds(module, args);
  fmt::print("{:<12} {:<18} {:>9.2f} ms {:>8.2f} G/s\n", name(opcode), to_string(operands[0]), seconds * 1e3,
             work / seconds * 1e-9);
}

void add_body(Module& module, Instruction& inst, Opcode opcode) {
  const Shape scalar = Shape::array(inst.shape.dtype);
  Computation* body = module.add_computation("body");
  Instruction* a = body->add_parameter(0, scalar);
  Instruction* b = body->add_parameter(1, scalar);
  body->set_root(body->add(opcode, scalar, {a, b}));
  inst.called = {body};
}

}  // namespace

int main() {
  constexpr int64_t n = 2048;
  const double elements = static_cast<double>(n * n);
  for (const Dtype type : {Dtype::F32, Dtype::BF16, Dtype::S32}) {
    const Shape matrix = Shape::array(type, {n, n}), row = Shape::array(type, {n}),
                scalar = Shape::array(type);
    measure(Opcode::Add, matrix, {matrix, matrix}, elements);
    measure(Opcode::Transpose, matrix, {matrix}, elements, [](Module&, Instruction& inst) {
      inst.dimensions = {1, 0};
    });
    for (const int64_t dim : {0, 1}) {
      measure(Opcode::Reduce, row, {matrix, scalar}, elements, [dim](Module& module, Instruction& inst) {
        inst.dimensions = {dim};
        add_body(module, inst, Opcode::Maximum);
      });
    }
  }
  const Shape f32 = Shape::array(Dtype::F32, {n, n}), bf16 = Shape::array(Dtype::BF16, {n, n});
  for (const Opcode opcode : {Opcode::Exp, Opcode::Tanh, Opcode::Erf}) measure(opcode, f32, {f32}, elements);
  const auto contract = [](Module&, Instruction& inst) {
    inst.mutable_attrs().dot.lhs_contracting = {1};
    inst.mutable_attrs().dot.rhs_contracting = {0};
  };
  measure(Opcode::Dot, f32, {f32, f32}, elements * n, contract);
  measure(Opcode::Dot, bf16, {bf16, bf16}, elements * n, contract);
  return 0;
}
