#include "ir-formats/hlo/interpreter/lane_program.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "ir-formats/hlo/interpreter/quantize.h"

namespace ncc::hlo {

// Translates instructions to steps. A value is a list of registers: one, or one per tuple element.
class LaneProgram::Builder {
 public:
  explicit Builder(LaneProgram& program) : program_(program) {}
  using Value = std::vector<int>;

  int add_input(Dtype type) {
    program_.input_types_.push_back(type);
    return add_register({type, static_cast<int>(program_.input_types_.size()) - 1, {}});
  }

  // False when the computation holds an op that is not scalar elementwise.
  bool inline_computation(const Computation& computation, const std::vector<Value>& arguments,
                          Value& result) {
    std::unordered_map<const Instruction*, Value> values;
    for (const auto& owned : computation.instructions()) {
      const Instruction& inst = *owned;
      std::vector<Value> operands;
      for (const Instruction* operand : inst.operands) {
        const auto found = values.find(operand);
        if (found == values.end()) return false;
        operands.push_back(found->second);
      }
      Value value;
      if (inst.is(Opcode::Parameter)) {
        if (inst.index >= static_cast<int64_t>(arguments.size())) return false;
        value = arguments[static_cast<size_t>(inst.index)];
      } else if (!add_instruction(inst, operands, value)) {
        return false;
      }
      values[&inst] = std::move(value);
    }
    result = values[computation.root()];
    return true;
  }

  bool add_elementwise(const Instruction& inst, const std::vector<Value>& operands, Value& result) {
    if (computes_dequantized(inst)) return false;
    const Binding binding = bind_kernel(inst);
    if (!binding.kernel || binding.arity != static_cast<int>(operands.size())) return false;
    Step step{binding.kernel, {-1, -1, -1}, -1, binding.p0, binding.p1};
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].size() != 1) return false;
      step.in[i] = converted(operands[i][0], binding.in[i]);
      if (step.in[i] < 0) return false;
    }
    step.out = add_register({binding.out, -1, {}});
    program_.steps_.push_back(step);
    const int stored = converted(step.out, inst.shape.dtype);
    result = {stored};
    return stored >= 0;
  }

 private:
  int add_register(Register reg) {
    program_.registers_.push_back(std::move(reg));
    return static_cast<int>(program_.registers_.size()) - 1;
  }

  bool add_instruction(const Instruction& inst, std::vector<Value>& operands, Value& result) {
    switch (inst.opcode) {
      case Opcode::Constant: {
        if (!inst.shape.is_scalar()) return false;
        const auto bytes = inst.literal.bytes();
        result = {add_register({inst.shape.dtype, -1, {bytes.begin(), bytes.end()}})};
        return true;
      }
      case Opcode::Tuple:
        for (const Value& operand : operands) {
          if (operand.size() != 1) return false;
          result.push_back(operand[0]);
        }
        return true;
      case Opcode::GetTupleElement:
        result = {operands[0][static_cast<size_t>(inst.index)]};
        return true;
      case Opcode::Call:
      case Opcode::Map:
        if (inst.is(Opcode::Map) && !inst.shape.is_scalar()) return false;
        return inline_computation(*inst.body(), operands, result);
      case Opcode::Reshape:
      case Opcode::Broadcast:
      case Opcode::OptBarrier:
      case Opcode::Bitcast:
        if (!inst.shape.is_scalar() || !inst.operand_shape(0).is_scalar() ||
            inst.shape.dtype != inst.operand_shape(0).dtype)
          return false;
        result = operands[0];
        return true;
      default:
        return inst.shape.is_scalar() && add_elementwise(inst, operands, result);
    }
  }

  // The register's value in another type of its storage/compute pair.
  int converted(int reg, Dtype type) {
    const Dtype from = program_.registers_[static_cast<size_t>(reg)].type;
    if (from == type) return reg;
    const Kernel kernel = compute_type(from) == type ? widen_kernel(from) : convert_kernel(from, type);
    if (!kernel) return -1;
    const int out = add_register({type, -1, {}});
    program_.steps_.push_back({kernel, {reg, -1, -1}, out, 0, 0});
    return out;
  }

  LaneProgram& program_;
};

namespace {

// The opcode of `root(p0, p1)` or, for commutative ops, `root(p1, p0)`.
std::optional<Opcode> as_binary_op(const Computation& computation) {
  const Instruction* root = computation.root();
  if (root->info().kind != OpKind::Binary || computation.parameters().size() != 2) return std::nullopt;
  const Instruction *a = root->operand(0), *b = root->operand(1);
  if (!a->is(Opcode::Parameter) || !b->is(Opcode::Parameter) || a == b) return std::nullopt;
  if (a->index == 1 && !root->info().commutative) return std::nullopt;
  return root->opcode;
}

}  // namespace

std::optional<LaneProgram> LaneProgram::from_computation(const Computation& computation) {
  LaneProgram program;
  Builder builder(program);
  std::vector<Builder::Value> inputs;
  for (const Instruction* parameter : computation.parameters()) {
    if (!parameter || !parameter->shape.is_scalar()) return std::nullopt;
    inputs.push_back({builder.add_input(parameter->shape.dtype)});
  }
  if (!builder.inline_computation(computation, inputs, program.outputs_)) return std::nullopt;
  for (int output : program.outputs_)
    program.output_types_.push_back(program.registers_[static_cast<size_t>(output)].type);
  program.direct_output_ = program.outputs_.size() == 1 && !program.steps_.empty() &&
                           program.steps_.back().out == program.outputs_[0];
  program.binary_op_ = as_binary_op(computation);
  return program;
}

std::optional<LaneProgram> LaneProgram::from_instruction(const Instruction& inst) {
  LaneProgram program;
  Builder builder(program);
  std::vector<Builder::Value> inputs;
  for (const Instruction* operand : inst.operands)
    inputs.push_back({builder.add_input(operand->shape.dtype)});
  if (!builder.add_elementwise(inst, inputs, program.outputs_)) return std::nullopt;
  program.output_types_ = {inst.shape.dtype};
  program.direct_output_ = true;
  return program;
}

namespace {

void fill_lanes(std::byte* out, std::span<const std::byte> element, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(out + static_cast<size_t>(i) * element.size(), element.data(), element.size());
}

}  // namespace

LaneProgram::Scratch::Scratch(const LaneProgram& program)
    : registers_(program.registers_.size(), nullptr), values_(program.registers_.size(), nullptr) {
  constexpr size_t kAlign = 64;
  size_t total = kAlign;
  const auto bytes_of = [](const Register& reg) {
    return (static_cast<size_t>(size_bytes(reg.type) * kChunk) + kAlign - 1) / kAlign * kAlign;
  };
  // Inputs get a register as well: shared elements are spread out in it.
  for (const Register& reg : program.registers_) total += bytes_of(reg);
  storage_.reset(new std::byte[total]);
  size_t offset = (kAlign - reinterpret_cast<uintptr_t>(storage_.get()) % kAlign) % kAlign;
  for (size_t r = 0; r < registers_.size(); ++r) {
    registers_[r] = storage_.get() + offset;
    offset += bytes_of(program.registers_[r]);
    if (!program.registers_[r].constant.empty())
      fill_lanes(registers_[r], program.registers_[r].constant, kChunk);
  }
}

void LaneProgram::run(std::span<const void* const> in, std::span<void* const> out, int64_t n,
                      Scratch& scratch, uint64_t splat) const {
  std::vector<const std::byte*>& values = scratch.values_;
  for (size_t r = 0; r < registers_.size(); ++r) {
    const Register& reg = registers_[r];
    values[r] = scratch.registers_[r];
    if (reg.input < 0 || !((splat >> reg.input) & 1)) continue;
    const size_t width = static_cast<size_t>(size_bytes(reg.type));
    fill_lanes(scratch.registers_[r],
               {static_cast<const std::byte*>(in[static_cast<size_t>(reg.input)]), width},
               std::min(n, kChunk));
  }
  for (int64_t offset = 0; offset < n; offset += kChunk) {
    for (size_t r = 0; r < registers_.size(); ++r) {
      const Register& reg = registers_[r];
      if (reg.input >= 0 && !((splat >> reg.input) & 1))
        values[r] =
            static_cast<const std::byte*>(in[static_cast<size_t>(reg.input)]) + offset * size_bytes(reg.type);
    }
    run_chunk(scratch, out, offset, std::min(kChunk, n - offset));
  }
}

void LaneProgram::run_chunk(Scratch& scratch, std::span<void* const> out, int64_t offset, int64_t n) const {
  std::vector<const std::byte*>& values = scratch.values_;
  for (size_t s = 0; s < steps_.size(); ++s) {
    const Step& step = steps_[s];
    Lanes lanes;
    for (int i = 0; i < 3 && step.in[i] >= 0; ++i) lanes.in[i] = values[static_cast<size_t>(step.in[i])];
    lanes.out = scratch.registers_[static_cast<size_t>(step.out)];
    if (direct_output_ && s + 1 == steps_.size())
      lanes.out = static_cast<std::byte*>(out[0]) + offset * size_bytes(output_types_[0]);
    lanes.n = n;
    lanes.p0 = step.p0;
    lanes.p1 = step.p1;
    step.kernel(lanes);
  }
  if (direct_output_) return;
  // A pass-through output may overwrite the input array that a later output still reads: save those first.
  std::vector<std::vector<std::byte>> saved(outputs_.size());
  for (size_t o = 0; o < outputs_.size(); ++o) {
    const size_t bytes = static_cast<size_t>(n * size_bytes(output_types_[o]));
    const std::byte* from = values[static_cast<size_t>(outputs_[o])];
    if (outputs_.size() > 1 && registers_[static_cast<size_t>(outputs_[o])].input >= 0)
      saved[o].assign(from, from + bytes);
  }
  for (size_t o = 0; o < outputs_.size(); ++o) {
    const size_t bytes = static_cast<size_t>(n * size_bytes(output_types_[o]));
    const std::byte* from = saved[o].empty() ? values[static_cast<size_t>(outputs_[o])] : saved[o].data();
    std::memmove(static_cast<std::byte*>(out[o]) + offset * size_bytes(output_types_[o]), from, bytes);
  }
}

}  // namespace ncc::hlo
