// Custom calls that choose or order: top-k in its exact and approximate forms, arg-max, and the forms of
// static ops whose sizes are operands. Source: spec/stablehlo-text.md §2.12, spec/hlo-front-half.md §4.2,
// §4.3.
#include <algorithm>
#include <charconv>

#include "ir-formats/hlo/interpreter/custom_call.h"
#include "ir-formats/hlo/interpreter/index_values.h"
#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/solver_call.h"

namespace ncc::hlo {
namespace {

// A copy of the call as another op with another result.
Instruction twin(const Instruction& inst, Opcode opcode, Shape shape) {
  Instruction made;
  made.opcode = opcode;
  made.name = inst.name;
  made.loc = inst.loc;
  made.parent = inst.parent;
  made.called = inst.called;
  made.shape = std::move(shape);
  return made;
}

Shape shapes_of(const Operands& values, size_t count) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < count; ++i) shapes.push_back(values[i].shape());
  return count == 1 ? shapes[0] : Shape::make_tuple(std::move(shapes));
}

std::vector<int64_t> integers(const Literal& literal) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < literal.num_elements(); ++i) values.push_back(literal.as_int64(i));
  return values;
}

// The first `size` elements along a dimension.
Result<Literal> leading_part(Evaluator& evaluator, const Instruction& inst, const Literal& value, size_t dim,
                             int64_t size) {
  std::vector<int64_t> dims = value.shape().dims;
  Instruction slice = twin(inst, Opcode::Slice, {});
  Attributes& a = slice.mutable_attrs();
  a.slice_starts.assign(dims.size(), 0);
  a.slice_strides.assign(dims.size(), 1);
  dims[dim] = size;
  a.slice_limits = dims;
  slice.shape = Shape::array(value.shape().dtype, dims);
  Operands operands = {value};
  return eval_slice(evaluator, slice, operands);
}

// Exact selection: all inputs sorted together by the called comparator, the first `size` of each taken.
Result<Literal> select_first(Evaluator& evaluator, const Instruction& inst, Operands inputs, int64_t dim,
                             int64_t size) {
  const Shape& shape = inputs[0].shape();
  if (inst.called.empty()) return unsupported(inst, "its comparator is missing");
  if (dim < 0 || dim >= shape.rank())
    return unsupported(inst, "reduction_dim is no dimension of its operand");
  const size_t d = static_cast<size_t>(dim);
  for (const Literal& input : inputs)
    if (input.is_tuple() || input.shape().dims != shape.dims)
      return unsupported(inst, "its inputs differ in shape");
  if (inst.called[0]->parameters().size() != 2 * inputs.size())
    return unsupported(inst, "its comparator takes another number of values");
  size = std::min(size, shape.dims[d]);
  Instruction sort = twin(inst, Opcode::Sort, shapes_of(inputs, inputs.size()));
  sort.dimensions = {dim};
  sort.mutable_attrs().is_stable = true;
  const size_t count = inputs.size();
  NCC_ASSIGN(const Literal sorted, eval_sort(evaluator, sort, inputs));
  std::vector<Literal> results;
  for (size_t i = 0; i < count; ++i) {
    NCC_ASSIGN(Literal part,
               leading_part(evaluator, inst, sorted.is_tuple() ? sorted.elements()[i] : sorted, d, size));
    results.push_back(std::move(part));
  }
  return inst.shape.is_tuple() ? Literal::make_tuple(std::move(results)) : results[0];
}

int64_t reduction_dim(const Instruction& inst, const Literal& input) {
  return config_value(inst.attrs().backend_config, "reduction_dim").value_or(input.shape().rank() - 1);
}

const Shape& first_result(const Shape& shape) { return shape.is_tuple() ? shape.elements[0] : shape; }

// Operands: n inputs, then n scalars that stand for nothing.
Result<Operands> approx_inputs(const Instruction& inst, const Operands& operands, size_t count) {
  if (count < 2 || count % 2 != 0 || operands.size() < count || operands[0].is_tuple() ||
      (inst.shape.is_tuple() && inst.shape.elements.size() != count / 2))
    return unsupported(inst, "inputs and initial values in pairs expected, one result each");
  return Operands(operands.begin(), operands.begin() + static_cast<int64_t>(count / 2));
}

}  // namespace

// The result says how many are wanted; without aggregation more of them come back, still the best ones.
Result<Literal> call_approx_top_k(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  NCC_ASSIGN(Operands inputs, approx_inputs(inst, operands, operands.size()));
  const int64_t dim = reduction_dim(inst, inputs[0]);
  const Shape& result = first_result(inst.shape);
  if (dim < 0 || dim >= result.rank())
    return unsupported(inst, "reduction_dim is no dimension of its result");
  return select_first(evaluator, inst, std::move(inputs), dim, result.dims[static_cast<size_t>(dim)]);
}

// The count is the last operand before those that state result shapes.
Result<Literal> call_dynamic_approx_top_k(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  const size_t num_inputs = inst.shape.is_tuple() ? inst.shape.elements.size() : 1;
  if (operands.size() <= 2 * num_inputs || !operands[2 * num_inputs].shape().is_scalar())
    return unsupported(inst, "its count is missing");
  NCC_ASSIGN(Operands inputs, approx_inputs(inst, operands, 2 * num_inputs));
  const int64_t count = operands[2 * num_inputs].as_int64(0);
  if (count < 0) return error(Code::ERUN003, inst.loc, std::string("top-k of a negative count"));
  return select_first(evaluator, inst, std::move(inputs), reduction_dim(inst, operands[0]), count);
}

Result<Literal> call_top_k(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  if (operands.empty() || operands[0].is_tuple() || !inst.shape.is_tuple() ||
      inst.shape.elements.size() != 2 || inst.shape.elements[0].rank() != operands[0].shape().rank() ||
      operands[0].shape().rank() == 0 || inst.shape.elements[0].dims.back() > operands[0].shape().dims.back())
    return unsupported(inst, "its result is not a pair of values and indices");
  Instruction top = twin(inst, Opcode::TopK, inst.shape);
  top.mutable_attrs().largest = config_value(inst.attrs().backend_config, "largest").value_or(1) != 0;
  return eval_top_k(evaluator, top, operands);
}

Result<Literal> call_dynamic_top_k(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  if (operands.size() < 2 || operands[0].is_tuple() || operands[0].shape().rank() == 0 ||
      operands[1].is_tuple() || operands[1].num_elements() != 1)
    return unsupported(inst, "an array and a count expected");
  std::vector<int64_t> dims = operands[0].shape().dims;
  const int64_t count = operands[1].as_int64(0);
  if (count < 0 || count > dims.back())
    return error(Code::ERUN003, inst.loc, fmt::format("top-{} of {} elements", count, dims.back()));
  dims.back() = count;
  Instruction top = twin(
      inst, Opcode::TopK,
      Shape::make_tuple({Shape::array(operands[0].shape().dtype, dims), Shape::array(Dtype::S32, dims)}));
  top.mutable_attrs().largest = true;
  return eval_top_k(evaluator, top, operands);
}

// Config: the axis. The index of the first extreme along it; a tuple result has the extreme itself first.
static Result<Literal> extreme(const Instruction& inst, Operands& operands, bool largest) {
  if (operands.empty() || operands[0].is_tuple()) return unsupported(inst, "an array expected");
  const Shape& shape = operands[0].shape();
  const std::string& config = inst.attrs().backend_config;
  int64_t axis = -1;
  std::from_chars(config.data(), config.data() + config.size(), axis);
  if (axis < 0 || axis >= shape.rank() || is_complex(shape.dtype))
    return unsupported(inst, "its config is no axis of its operand");
  const size_t d = static_cast<size_t>(axis);
  std::vector<int64_t> dims = shape.dims;
  dims.erase(dims.begin() + axis);
  int64_t inner = 1;
  for (size_t i = d + 1; i < shape.dims.size(); ++i) inner *= shape.dims[i];
  const bool pair = inst.shape.is_tuple() && inst.shape.elements.size() == 2;
  const Shape& index_shape = pair ? inst.shape.elements[1] : first_result(inst.shape);
  Literal values = Literal::zeros(Shape::array(shape.dtype, dims));
  Literal indices = Literal::zeros(Shape::array(index_shape.dtype, dims));
  const int64_t width = size_bytes(shape.dtype);
  const auto better = [&](int64_t a, int64_t b) {
    if (is_integer(shape.dtype))
      return largest ? operands[0].as_int64(a) > operands[0].as_int64(b)
                     : operands[0].as_int64(a) < operands[0].as_int64(b);
    return largest ? operands[0].as_double(a) > operands[0].as_double(b)
                   : operands[0].as_double(a) < operands[0].as_double(b);
  };
  for (int64_t i = 0; i < values.num_elements() && shape.dims[d] > 0; ++i) {
    const int64_t first = i / inner * inner * shape.dims[d] + i % inner;
    int64_t best = 0;
    for (int64_t k = 1; k < shape.dims[d]; ++k)
      if (better(first + k * inner, first + best * inner)) best = k;
    std::copy_n(operands[0].bytes().data() + (first + best * inner) * width, width,
                values.mutable_data() + i * width);
    store_from_int64(index_shape.dtype, indices.mutable_data() + i * size_bytes(index_shape.dtype), best);
  }
  return pair                    ? Literal::make_tuple({std::move(values), std::move(indices)})
         : inst.shape.is_tuple() ? Literal::make_tuple({std::move(indices)})
                                 : std::move(indices);
}

Result<Literal> call_arg_max(Evaluator&, const Instruction& inst, Operands& operands) {
  return extreme(inst, operands, true);
}

Result<Literal> call_arg_min(Evaluator&, const Instruction& inst, Operands& operands) {
  return extreme(inst, operands, false);
}

// Operands: inputs, initial values, then window sizes, strides, base dilations, window dilations, paddings in
// pairs.
Result<Literal> call_dynamic_reduce_window(Evaluator& evaluator, const Instruction& inst,
                                           Operands& operands) {
  const size_t count = inst.shape.is_tuple() ? inst.shape.elements.size() : 1;
  if (inst.called.empty() || operands.size() < 2 * count + 5 || operands[0].is_tuple())
    return unsupported(inst, "inputs, initial values and five window operands expected");
  const std::vector<int64_t> sizes = integers(operands[2 * count]),
                             strides = integers(operands[2 * count + 1]),
                             base = integers(operands[2 * count + 2]),
                             dilation = integers(operands[2 * count + 3]),
                             padding = integers(operands[2 * count + 4]);
  const size_t rank = operands[0].shape().dims.size();
  if (sizes.size() != rank || strides.size() != rank || base.size() != rank || dilation.size() != rank ||
      padding.size() != 2 * rank)
    return unsupported(inst, "its window has another rank than its operand");
  Instruction window = twin(inst, Opcode::ReduceWindow, {});
  std::vector<int64_t> dims;
  for (size_t d = 0; d < rank; ++d) {
    if (sizes[d] < 1 || strides[d] < 1 || base[d] < 1 || dilation[d] < 1)
      return error(Code::ERUN003, inst.loc,
                   fmt::format("a window size, stride or dilation of dimension {} is not positive", d));
    window.mutable_attrs().window.push_back({.size = sizes[d],
                                             .stride = strides[d],
                                             .padding_low = padding[2 * d],
                                             .padding_high = padding[2 * d + 1],
                                             .window_dilation = dilation[d],
                                             .base_dilation = base[d]});
    const int64_t size = operands[0].shape().dims[d];
    const int64_t padded = padding[2 * d] + padding[2 * d + 1] + (size == 0 ? 0 : (size - 1) * base[d] + 1);
    const int64_t reach = (sizes[d] - 1) * dilation[d] + 1;
    dims.push_back(padded < reach ? 0 : (padded - reach) / strides[d] + 1);
  }
  std::vector<Shape> shapes;
  for (size_t i = 0; i < count; ++i) {
    const Shape& stated = inst.shape.is_tuple() ? inst.shape.elements[i] : inst.shape;
    shapes.push_back(Shape::array(stated.dtype, dims));
  }
  window.shape = inst.shape.is_tuple() ? Shape::make_tuple(shapes) : shapes[0];
  operands.resize(2 * count);
  return eval_reduce_window(evaluator, window, operands);
}

// Operands: state, shape of the bits.
Result<Literal> call_dynamic_rng_bit_generator(Evaluator& evaluator, const Instruction& inst,
                                               Operands& operands) {
  if (operands.size() < 2 || !inst.shape.is_tuple() || inst.shape.elements.size() != 2)
    return unsupported(inst, "a state and a shape expected");
  const std::vector<int64_t> dims = integers(operands[1]);
  if (std::any_of(dims.begin(), dims.end(), [](int64_t size) { return size < 0; }))
    return error(Code::ERUN003, inst.loc, std::string("random bits of a negative size"));
  Instruction bits =
      twin(inst, Opcode::RngBitGenerator,
           Shape::make_tuple({operands[0].shape(), Shape::array(inst.shape.elements[1].dtype, dims)}));
  const std::string algorithm(inst.attrs().find("rng_algorithm").value_or(""));
  bits.mutable_attrs().rng_algorithm =
      algorithm.find("THREE_FRY") != std::string::npos ? RngAlgorithm::ThreeFry
      : algorithm.find("PHILOX") != std::string::npos  ? RngAlgorithm::Philox
                                                       : RngAlgorithm::Default;
  operands.resize(1);
  return eval_rng_bit_generator(evaluator, bits, operands);
}

}  // namespace ncc::hlo
