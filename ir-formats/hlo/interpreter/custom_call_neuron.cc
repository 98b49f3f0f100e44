// Functions that frameworks for this machine hand over as one custom call, computed in double and rounded
// once. Source: spec/hlo-front-half.md §4.1, §4.4, §4.6.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "ir-formats/hlo/interpreter/custom_call.h"

namespace ncc::hlo {
namespace {

// Lines along the axis that the config names (a bare decimal).
struct Axis {
  int64_t size = 1, inner = 1, lines = 0;
  int64_t start(int64_t line) const { return line / inner * inner * size + line % inner; }
};

Result<Axis> axis_of(const Instruction& inst, const Operands& operands, size_t num_operands) {
  if (operands.size() < num_operands)
    return unsupported(inst, fmt::format("{} operands expected", num_operands));
  for (const Literal& operand : operands)
    if (operand.is_tuple() || !operand.is_valid()) return unsupported(inst, "an operand is not an array");
  const Shape& shape = operands[0].shape();
  const std::string& config = inst.attrs().backend_config;
  int64_t dim = shape.rank() - 1;
  if (!config.empty()) {
    const auto [end, failure] = std::from_chars(config.data(), config.data() + config.size(), dim);
    if (failure != std::errc() || end != config.data() + config.size()) dim = shape.rank();
    if (dim < 0) dim += shape.rank();
  }
  if (dim < 0 || dim >= shape.rank() || !is_float(shape.dtype))
    return unsupported(inst, "its config is no axis of a floating-point operand");
  Axis axis;
  axis.size = shape.dims[static_cast<size_t>(dim)];
  for (size_t d = static_cast<size_t>(dim) + 1; d < shape.dims.size(); ++d) axis.inner *= shape.dims[d];
  axis.lines = axis.size == 0 ? 0 : shape.num_elements() / axis.size;
  return axis;
}

void store(Literal& out, int64_t at, double value) {
  const Dtype type = out.shape().dtype;
  store_from_double(type, out.mutable_data() + at * size_bytes(type), value);
}

double applied(std::string_view target, double x) {
  if (target == "AwsNeuronErf") return std::erf(x);
  if (target == "AwsNeuronSilu") return x / (1 + std::exp(-x));
  if (target == "AwsNeuronGelu") return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

}  // namespace

Result<Literal> call_neuron_unary(Evaluator&, const Instruction& inst, Operands& operands) {
  if (operands.empty() || operands[0].is_tuple() || !is_float(operands[0].shape().dtype))
    return unsupported(inst, "a floating-point operand expected");
  Literal out = Literal::zeros(operands[0].shape());
  for (int64_t i = 0; i < out.num_elements(); ++i)
    store(out, i, applied(inst.attrs().custom_call_target, operands[0].as_double(i)));
  return out;
}

Result<Literal> call_neuron_softmax(Evaluator&, const Instruction& inst, Operands& operands) {
  NCC_ASSIGN(const Axis axis, axis_of(inst, operands, 1));
  Literal out = Literal::zeros(operands[0].shape());
  for (int64_t line = 0; line < axis.lines; ++line) {
    const auto at = [&](int64_t k) { return axis.start(line) + k * axis.inner; };
    double largest = operands[0].as_double(at(0)), sum = 0;
    for (int64_t k = 1; k < axis.size; ++k) largest = std::max(largest, operands[0].as_double(at(k)));
    for (int64_t k = 0; k < axis.size; ++k) sum += std::exp(operands[0].as_double(at(k)) - largest);
    for (int64_t k = 0; k < axis.size; ++k)
      store(out, at(k), std::exp(operands[0].as_double(at(k)) - largest) / sum);
  }
  return out;
}

// Operands: softmax result y and its gradient g; y * (g - sum(g * y)).
Result<Literal> call_neuron_softmax_backward(Evaluator&, const Instruction& inst, Operands& operands) {
  NCC_ASSIGN(const Axis axis, axis_of(inst, operands, 2));
  if (operands[1].shape().dims != operands[0].shape().dims)
    return unsupported(inst, "its operands differ in shape");
  Literal out = Literal::zeros(operands[0].shape());
  for (int64_t line = 0; line < axis.lines; ++line) {
    const auto at = [&](int64_t k) { return axis.start(line) + k * axis.inner; };
    double sum = 0;
    for (int64_t k = 0; k < axis.size; ++k)
      sum += operands[0].as_double(at(k)) * operands[1].as_double(at(k));
    for (int64_t k = 0; k < axis.size; ++k)
      store(out, at(k), operands[0].as_double(at(k)) * (operands[1].as_double(at(k)) - sum));
  }
  return out;
}

// Operands: x, the scale along the axis, epsilon.
Result<Literal> call_neuron_rms_norm(Evaluator&, const Instruction& inst, Operands& operands) {
  NCC_ASSIGN(const Axis axis, axis_of(inst, operands, 3));
  if (operands[1].num_elements() != axis.size || operands[2].num_elements() < 1)
    return unsupported(inst, "a scale along its axis and an epsilon expected");
  Literal out = Literal::zeros(operands[0].shape());
  for (int64_t line = 0; line < axis.lines; ++line) {
    const auto at = [&](int64_t k) { return axis.start(line) + k * axis.inner; };
    double squares = 0;
    for (int64_t k = 0; k < axis.size; ++k)
      squares += operands[0].as_double(at(k)) * operands[0].as_double(at(k));
    const double root = std::sqrt(squares / static_cast<double>(axis.size) + operands[2].as_double(0));
    for (int64_t k = 0; k < axis.size; ++k)
      store(out, at(k), operands[0].as_double(at(k)) / root * operands[1].as_double(k));
  }
  return out;
}

}  // namespace ncc::hlo
