// The engine under `interpret`: frames, last uses, cached lane programs, and the table from opcode to
// function.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir-formats/hlo/interpreter/interpret.h"
#include "ir-formats/hlo/interpreter/lane_program.h"
#include "ir-formats/hlo/interpreter/process_grid.h"

namespace ncc::hlo {

class Evaluator;

/// The operands of one instruction, by value: an op may reuse the storage of one nobody else holds.
using Operands = std::vector<Literal>;
using EvalFunction = Result<Literal> (*)(Evaluator& evaluator, const Instruction& inst, Operands& operands);

class Evaluator {
 public:
  /// `process` says which process of a grid this is; without a grid there is one device.
  explicit Evaluator(const InterpretOptions& options, Process process = {})
      : options_(options), process_(process) {}

  /// Evaluates a computation on its arguments.
  Result<Literal> run(const Computation& computation, std::vector<Literal> args);
  /// The body as a lane program; null when it is more than scalar elementwise work.
  const LaneProgram* lane_program(const Computation& computation);

  const Process& process() const { return process_; }
  /// What `interpreter.probe` has seen, by probe id, in order.
  std::map<std::string, std::vector<Literal>, std::less<>>& probes() { return probes_; }
  /// State of rng-get-and-update-state, low half first.
  std::array<uint64_t, 2>& rng_state() { return rng_state_; }

 private:
  // What to do for one instruction of a frame. Slots number the instructions of the plan.
  struct Node {
    const Instruction* inst;
    EvalFunction function;
    std::vector<int> operands;   // slots
    std::vector<bool> last_use;  // per operand: the frame's value dies here
    bool sizes_at_run_time;      // its result or an operand has a dynamic dimension
  };
  struct Plan {
    std::vector<Node> nodes;
    int root = 0;
  };

  const Plan& plan(const Computation& computation);

  Result<Literal> evaluate(const Node& node, Operands& operands);

  const InterpretOptions& options_;
  Process process_;
  std::map<std::string, std::vector<Literal>, std::less<>> probes_;
  std::array<uint64_t, 2> rng_state_ = {0x7012395, 0};  // XLA's initial state
  std::unordered_map<const Computation*, std::unique_ptr<Plan>> plans_;
  std::unordered_map<const Computation*, std::optional<LaneProgram>> programs_;
};

/// The implementation of an op; null when there is none.
EvalFunction eval_function(Opcode opcode);

/// EVRF001 for an instruction, with the reason.
Status unsupported(const Instruction& inst, const std::string& reason);

/// True when the literal's storage may be overwritten: nobody else holds it and it is heap memory of our own.
bool is_exclusive(const Literal& literal);

/// The same bytes under another shape of equal size.
Literal reshaped(const Literal& literal, const Shape& shape);
/// Converted element by element to another element type.
Literal converted(const Literal& literal, Dtype type);

}  // namespace ncc::hlo
