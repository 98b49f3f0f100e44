#include <algorithm>

#include "ir-formats/hlo/infer.h"

namespace ncc::hlo {
namespace {

bool has(const std::vector<int64_t>& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// n inputs of equal dimensions, then n scalar inits.
Status check_inputs_and_inits(const Instruction& inst, std::string_view op) {
  if (inst.num_operands() % 2 != 0)
    return mismatch(inst, fmt::format("{}_c3", op), "number of operands", inst.num_operands(), "an even one");
  const int64_t n = inst.num_operands() / 2;
  for (int64_t i = 0; i < n; ++i) {
    if (!same_dims(inst.operand_shape(i), inst.operand_shape(0)))
      return mismatch(inst, fmt::format("{}_c1", op), fmt::format("input {}", i),
                      to_string(inst.operand_shape(i)), dims_text(inst.operand_shape(0).dims));
    if (!inst.operand_shape(n + i).is_scalar())
      return mismatch(inst, fmt::format("{}_c2", op), fmt::format("init {}", i),
                      to_string(inst.operand_shape(n + i)), "a scalar");
  }
  return check_scalar_body(inst, *inst.body(), 2 * n, fmt::format("{}_c6", op));
}

// One array per input with the element types that the body returns.
Result<Shape> body_results(const Instruction& inst, int64_t n, const std::vector<int64_t>& dims) {
  const Shape& root = inst.body()->root()->shape;
  const auto result = [&](const Shape& scalar) {
    Shape shape = Shape::array(scalar.dtype, dims);
    shape.quantization = scalar.quantization;
    return shape;
  };
  if (n == 1 && !root.is_tuple()) return result(root);
  if (!root.is_tuple() || static_cast<int64_t>(root.elements.size()) != n)
    return mismatch(inst, "body", "result of the body", to_string(root),
                    fmt::format("a tuple of {} scalars", n));
  std::vector<Shape> shapes;
  for (const Shape& element : root.elements) shapes.push_back(result(element));
  return n == 1 ? shapes[0] : Shape::make_tuple(std::move(shapes));
}

Result<Shape> infer_reduce(const Instruction& inst) {
  NCC_TRY(check_inputs_and_inits(inst, "reduce"));
  const Shape& input = inst.operand_shape(0);
  NCC_TRY(check_dims(inst, inst.dimensions, input.rank(), "reduce_c4", "dimensions"));
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < input.rank(); ++d) {
    if (!has(inst.dimensions, d)) dims.push_back(input.dims[static_cast<size_t>(d)]);
  }
  return body_results(inst, inst.num_operands() / 2, dims);
}

Result<Shape> infer_reduce_window(const Instruction& inst) {
  NCC_TRY(check_inputs_and_inits(inst, "reduce_window"));
  const Shape& input = inst.operand_shape(0);
  NCC_TRY(check_window(inst, input.rank(), "reduce_window_c4"));
  std::vector<int64_t> dims;
  for (size_t d = 0; d < input.dims.size(); ++d)
    dims.push_back(windowed_size(input.dims[d], inst.attrs().window[d]));
  return body_results(inst, inst.num_operands() / 2, dims);
}

Result<Shape> infer_select_and_scatter(const Instruction& inst) {
  const Shape& operand = inst.operand_shape(0);
  NCC_TRY(check_window(inst, operand.rank(), "select_and_scatter_c4"));
  std::vector<int64_t> dims;
  for (size_t d = 0; d < operand.dims.size(); ++d)
    dims.push_back(windowed_size(operand.dims[d], inst.attrs().window[d]));
  if (inst.operand_shape(1).dims != dims)
    return mismatch(inst, "select_and_scatter_c2", "source", to_string(inst.operand_shape(1)),
                    dims_text(dims));
  if (!inst.operand_shape(2).is_scalar())
    return mismatch(inst, "select_and_scatter_c3", "init", to_string(inst.operand_shape(2)), "a scalar");
  NCC_TRY(check_scalar_body(inst, *inst.called[0], 2, "select_and_scatter_c9"));
  NCC_TRY(check_scalar_body(inst, *inst.called[1], 2, "select_and_scatter_c10"));
  return Shape::array(inst.called[1]->root()->shape.dtype, operand.dims);
}

Result<Shape> infer_sort(const Instruction& inst) {
  const Shape& first = inst.operand_shape(0);
  if (inst.dimensions.size() != 1)
    return mismatch(inst, "sort_c4", "number of dimensions", inst.dimensions.size(), 1);
  if (first.rank() > 0) NCC_TRY(check_dims(inst, inst.dimensions, first.rank(), "sort_c4", "dimension"));
  std::vector<Shape> shapes;
  for (int64_t i = 0; i < inst.num_operands(); ++i) {
    if (!same_dims(inst.operand_shape(i), first))
      return mismatch(inst, "sort_c3", fmt::format("operand {}", i), to_string(inst.operand_shape(i)),
                      dims_text(first.dims));
    shapes.push_back(Shape::array(inst.operand_shape(i).dtype, first.dims));
  }
  NCC_TRY(check_scalar_body(inst, *inst.body(), 2 * inst.num_operands(), "sort_c5"));
  if (!compatible(inst.body()->root()->shape, Shape::array(Dtype::Pred)))
    return mismatch(inst, "sort_c5", "result of the comparator", to_string(inst.body()->root()->shape),
                    "pred[]");
  return shapes.size() == 1 ? shapes[0] : Shape::make_tuple(std::move(shapes));
}

Result<Shape> infer_top_k(const Instruction& inst) {
  const Shape& operand = inst.operand_shape(0);
  const int64_t k = inst.attrs().k;
  if (operand.rank() == 0 || k < 0 || k > operand.dims.back())
    return mismatch(inst, "top_k", "k", k,
                    fmt::format("0 to the size of the last dimension of {}", to_string(operand)));
  std::vector<int64_t> dims = operand.dims;
  dims.back() = k;
  return Shape::make_tuple({Shape::array(operand.dtype, dims), Shape::array(Dtype::S32, dims)});
}

}  // namespace

int64_t windowed_size(int64_t size, const WindowDim& window) {
  // Wide, since sizes and dilations are only bounded one by one.
  using Wide = __int128;
  const Wide dilated = size <= 0 ? 0 : Wide(size - 1) * window.base_dilation + 1;
  const Wide padded = window.padding_low + dilated + window.padding_high;
  const Wide reach = window.size <= 0 ? 0 : Wide(window.size - 1) * window.window_dilation + 1;
  if (padded < reach || reach == 0) return 0;
  return static_cast<int64_t>(std::min<Wide>((padded - reach) / window.stride + 1, kMaxDerivedSize));
}

Status check_window(const Instruction& inst, int64_t rank, std::string_view label) {
  const Window& window = inst.attrs().window;
  if (static_cast<int64_t>(window.size()) != rank)
    return mismatch(inst, label, "window dimensions", window.size(), rank);
  constexpr int64_t kLimit = int64_t{1} << 40;
  for (const WindowDim& d : window) {
    const bool small = d.size < kLimit && d.stride < kLimit && d.window_dilation < kLimit &&
                       d.base_dilation < kLimit && std::abs(d.padding_low) < kLimit &&
                       std::abs(d.padding_high) < kLimit;
    if (d.size < 0 || d.stride < 1 || d.window_dilation < 1 || d.base_dilation < 1 || !small)
      return mismatch(inst, label, "window",
                      fmt::format("size {} stride {} dilations {} {} padding {}_{}", d.size, d.stride,
                                  d.window_dilation, d.base_dilation, d.padding_low, d.padding_high),
                      "positive sizes, strides and dilations");
  }
  return Status::ok();
}

Status check_dims(const Instruction& inst, const std::vector<int64_t>& dims, int64_t rank,
                  std::string_view label, std::string_view what) {
  uint64_t seen = 0;
  for (int64_t d : dims) {
    if (d < 0 || d >= rank || (seen >> d) & 1)
      return mismatch(inst, label, what, dims_text(dims),
                      fmt::format("distinct dimensions of 0 to {}", rank - 1));
    seen |= uint64_t{1} << d;
  }
  return Status::ok();
}

Status check_scalar_body(const Instruction& inst, const Computation& body, int64_t count,
                         std::string_view label) {
  const std::vector<Instruction*> parameters = body.parameters();
  if (static_cast<int64_t>(parameters.size()) != count)
    return mismatch(inst, label, fmt::format("parameters of {}", body.name()), parameters.size(), count);
  for (const Instruction* parameter : parameters) {
    if (!parameter->shape.is_scalar())
      return mismatch(inst, label, fmt::format("parameter {} of {}", parameter->index, body.name()),
                      to_string(parameter->shape), "a scalar");
  }
  return Status::ok();
}

std::string dims_text(const std::vector<int64_t>& dims) { return fmt::format("[{}]", fmt::join(dims, ",")); }

Result<Shape> infer_reduction(const Instruction& inst) {
  switch (inst.opcode) {
    case Opcode::Reduce:
      return infer_reduce(inst);
    case Opcode::ReduceWindow:
      return infer_reduce_window(inst);
    case Opcode::SelectAndScatter:
      return infer_select_and_scatter(inst);
    case Opcode::Sort:
      return infer_sort(inst);
    case Opcode::TopK:
      return infer_top_k(inst);
    default:
      return inst.shape;
  }
}

}  // namespace ncc::hlo
