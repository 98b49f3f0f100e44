// Elementwise ops and map: a lane program run over the elements, in parallel ranges.
#include "ir-formats/hlo/interpreter/ops_elementwise.h"

#include "common/parallel/parallel.h"
#include "ir-formats/hlo/interpreter/ops.h"

namespace ncc::hlo {
namespace {

constexpr int64_t kGrain = 16 * LaneProgram::kChunk;

// Runs a program with one output over whole arrays; operands with one element are shared by all lanes.
void run_over_elements(const LaneProgram& program, const Operands& operands, Literal& out) {
  const int64_t n = out.num_elements();
  uint64_t splat = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].num_elements() != n) splat |= uint64_t{1} << i;
  }
  parallel_for(n, kGrain, [&](int64_t begin, int64_t end) {
    LaneProgram::Scratch scratch(program);
    std::vector<const void*> in;
    for (size_t i = 0; i < operands.size(); ++i) {
      const int64_t offset = (splat >> i) & 1 ? 0 : begin * size_bytes(operands[i].shape().dtype);
      in.push_back(operands[i].bytes().data() + offset);
    }
    void* target = out.mutable_data() + begin * size_bytes(out.shape().dtype);
    program.run(in, {&target, 1}, end - begin, scratch, splat);
  });
}

}  // namespace

Result<Literal> eval_elementwise(Evaluator&, const Instruction& inst, Operands& operands) {
  const auto program = LaneProgram::from_instruction(inst);
  if (!program)
    return error(Code::EVRF002, inst.loc,
                 to_string(inst.operands.empty() ? inst.shape : inst.operand_shape(0)),
                 std::string(name(inst.opcode)));
  // Select and clamp take scalars beside arrays: the result has the dims of the largest operand.
  size_t widest = 0;
  for (size_t i = 1; i < operands.size(); ++i) {
    if (operands[i].shape().rank() > operands[widest].shape().rank()) widest = i;
  }
  Literal out = Literal::zeros(Shape::array(inst.shape.dtype, operands[widest].shape().dims));
  run_over_elements(*program, operands, out);
  return out;
}

Result<Literal> eval_map(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  Literal out = Literal::zeros(Shape::array(inst.shape.dtype, operands[0].shape().dims));
  if (const LaneProgram* program = evaluator.lane_program(*inst.body())) {
    run_over_elements(*program, operands, out);
    return out;
  }
  const int64_t width = size_bytes(inst.shape.dtype);
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    std::vector<Literal> scalars;
    for (const Literal& operand : operands) {
      const int64_t w = size_bytes(operand.shape().dtype);
      scalars.push_back(
          Literal::copy(Shape::array(operand.shape().dtype),
                        operand.bytes().subspan(static_cast<size_t>(i * w), static_cast<size_t>(w))));
    }
    NCC_ASSIGN(Literal value, evaluator.run(*inst.body(), std::move(scalars)));
    std::memcpy(out.mutable_data() + i * width, value.bytes().data(), static_cast<size_t>(width));
  }
  return out;
}

Literal converted(const Literal& literal, Dtype type) {
  const Dtype from = literal.shape().dtype;
  if (from == type) return literal;
  Literal out = Literal::zeros(Shape::array(type, literal.shape().dims));
  const Kernel widen = widen_kernel(from);
  const Kernel narrow = compute_type(from) == type ? nullptr : convert_kernel(compute_type(from), type);
  parallel_for(literal.num_elements(), kGrain, [&](int64_t begin, int64_t end) {
    alignas(64) std::byte buffer[LaneProgram::kChunk * 4];  // widened elements have at most 4 bytes
    for (int64_t i = begin; i < end; i += LaneProgram::kChunk) {
      Lanes lanes;
      lanes.n = std::min(LaneProgram::kChunk, end - i);
      lanes.in[0] = literal.bytes().data() + i * size_bytes(from);
      void* target = out.mutable_data() + i * size_bytes(type);
      if (widen) {
        lanes.out = narrow ? buffer : target;
        widen(lanes);
        lanes.in[0] = lanes.out;
      }
      lanes.out = target;
      if (narrow) narrow(lanes);
    }
  });
  return out;
}

}  // namespace ncc::hlo
