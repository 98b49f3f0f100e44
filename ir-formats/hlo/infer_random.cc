// Shapes of random number ops.
#include "ir-formats/hlo/infer.h"

namespace ncc::hlo {
namespace {

Result<Shape> infer_rng(const Instruction& inst) {
  const Shape &a = inst.operand_shape(0), &b = inst.operand_shape(1);
  if (!a.is_scalar()) return mismatch(inst, "rng_i1", "operand 0", to_string(a), "a scalar");
  if (!b.is_scalar()) return mismatch(inst, "rng_i2", "operand 1", to_string(b), "a scalar");
  if (a.dtype != b.dtype || inst.shape.dtype != a.dtype)
    return mismatch(
        inst, "rng_c1", "element types",
        fmt::format("{}, {} and {}", info(a.dtype).hlo, info(b.dtype).hlo, info(inst.shape.dtype).hlo),
        "equal ones");
  if (inst.attrs().rng_distribution == RngDistribution::Normal && !is_float(a.dtype))
    return mismatch(inst, "rng_c2", "element type of a normal distribution", info(a.dtype).hlo, "a float");
  return inst.shape;
}

// (new state, bits), or the bits alone. States have two words, Philox may have three.
Result<Shape> infer_rng_bit_generator(const Instruction& inst) {
  const Shape& state = inst.operand_shape(0);
  const RngAlgorithm algorithm = inst.attrs().rng_algorithm;
  const int64_t words = state.num_elements() * size_bytes(state.dtype) / 8;
  const bool fits = algorithm == RngAlgorithm::ThreeFry ? words == 2
                    : algorithm == RngAlgorithm::Philox ? words == 2 || words == 3
                                                        : true;
  if (!fits)
    return mismatch(inst, "rng_bit_generator_c2", "initial state", to_string(state),
                    algorithm == RngAlgorithm::ThreeFry ? "16 bytes" : "16 or 24 bytes");
  if (!inst.shape.is_tuple()) return inst.shape;
  if (inst.shape.elements.size() != 2 || !inst.shape.elements[1].is_array())
    return mismatch(inst, "rng_bit_generator_c1", "result", to_string(inst.shape),
                    "the new state and an array");
  return Shape::make_tuple({state, inst.shape.elements[1]});
}

}  // namespace

Result<Shape> infer_random(const Instruction& inst) {
  if (inst.is(Opcode::Rng)) return infer_rng(inst);
  return inst.is(Opcode::RngBitGenerator) ? infer_rng_bit_generator(inst) : inst.shape;
}

}  // namespace ncc::hlo
