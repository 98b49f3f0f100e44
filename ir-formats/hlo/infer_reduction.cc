#include <algorithm>

#include "ir-formats/hlo/infer.h"

namespace ncc::hlo {
namespace {

// Constraint labels that reduce and reduce_window number differently.
struct ReduceLabels {
  std::string_view same_dims, init, count, body;
};

// n inputs of equal dimensions, then n scalar inits.
Status check_inputs_and_inits(const Instruction& inst, const ReduceLabels& labels) {
  if (inst.num_operands() % 2 != 0 || inst.num_operands() == 0)
    return mismatch(inst, labels.count, "number of operands", inst.num_operands(), "as many inits as inputs");
  const int64_t n = inst.num_operands() / 2;
  for (int64_t i = 0; i < n; ++i) {
    if (!same_dims(inst.operand_shape(i), inst.operand_shape(0)))
      return mismatch(inst, labels.same_dims, fmt::format("input {}", i), to_string(inst.operand_shape(i)),
                      dims_text(inst.operand_shape(0).dims));
    const Shape& init = inst.operand_shape(n + i);
    if (!init.is_scalar() || init.dtype != inst.operand_shape(i).dtype)
      return mismatch(inst, labels.init, fmt::format("init {}", i), to_string(init),
                      fmt::format("{}[]", info(inst.operand_shape(i).dtype).hlo));
  }
  return check_scalar_body(inst, *inst.body(), 2 * n, n, labels.body);
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
  NCC_TRY(check_inputs_and_inits(inst, {"reduce_c1", "reduce_c2", "reduce_c3", "reduce_c6"}));
  const Shape& input = inst.operand_shape(0);
  NCC_TRY(check_dims(inst, inst.dimensions, input.rank(), "reduce_c4", "reduce_c5", "dimensions"));
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < input.rank(); ++d) {
    if (!contains(inst.dimensions, d)) dims.push_back(input.dims[static_cast<size_t>(d)]);
  }
  return body_results(inst, inst.num_operands() / 2, dims);
}

Result<Shape> infer_reduce_window(const Instruction& inst) {
  NCC_TRY(check_inputs_and_inits(
      inst, {"reduce_window_c2", "reduce_window_c3", "reduce_window_c1", "reduce_window_c13"}));
  const Shape& input = inst.operand_shape(0);
  NCC_TRY(check_window(inst, input.rank(),
                       {"reduce_window_c4", "reduce_window_c5", "reduce_window_c7", "reduce_window_c9",
                        "reduce_window_c11", "reduce_window_c12"}));
  std::vector<int64_t> dims;
  for (size_t d = 0; d < input.dims.size(); ++d)
    dims.push_back(windowed_size(input.dims[d], inst.attrs().window[d]));
  return body_results(inst, inst.num_operands() / 2, dims);
}

Result<Shape> infer_select_and_scatter(const Instruction& inst) {
  const Shape& operand = inst.operand_shape(0);
  NCC_TRY(check_window(inst, operand.rank(),
                       {"select_and_scatter_c4", "select_and_scatter_c5", "select_and_scatter_c7",
                        "select_and_scatter", "select_and_scatter", "select_and_scatter_c8"}));
  std::vector<int64_t> dims;
  for (size_t d = 0; d < operand.dims.size(); ++d)
    dims.push_back(windowed_size(operand.dims[d], inst.attrs().window[d]));
  if (inst.operand_shape(1).dims != dims)
    return mismatch(inst, "select_and_scatter_c2", "source", to_string(inst.operand_shape(1)),
                    dims_text(dims));
  if (inst.operand_shape(1).dtype != operand.dtype)
    return mismatch(inst, "select_and_scatter_c1", "element type of the source",
                    info(inst.operand_shape(1).dtype).hlo, info(operand.dtype).hlo);
  if (!inst.operand_shape(2).is_scalar() || inst.operand_shape(2).dtype != operand.dtype)
    return mismatch(inst, "select_and_scatter_c3", "init", to_string(inst.operand_shape(2)),
                    fmt::format("{}[]", info(operand.dtype).hlo));
  NCC_TRY(check_scalar_body(inst, *inst.called[0], 2, 1, "select_and_scatter_c9"));
  if (inst.called[0]->root()->shape.dtype != Dtype::Pred)
    return mismatch(inst, "select_and_scatter_c9", "result of the selection",
                    to_string(inst.called[0]->root()->shape), "pred[]");
  NCC_TRY(check_scalar_body(inst, *inst.called[1], 2, 1, "select_and_scatter_c10"));
  return Shape::array(inst.called[1]->root()->shape.dtype, operand.dims);
}

Result<Shape> infer_sort(const Instruction& inst) {
  if (inst.num_operands() == 0) return mismatch(inst, "sort_c1", "number of operands", 0, "at least 1");
  const Shape& first = inst.operand_shape(0);
  if (inst.dimensions.size() != 1)
    return mismatch(inst, "sort_c4", "number of dimensions", inst.dimensions.size(), 1);
  if (first.rank() > 0)
    NCC_TRY(check_dims(inst, inst.dimensions, first.rank(), "sort_c4", "sort_c4", "dimension"));
  std::vector<Shape> shapes;
  for (int64_t i = 0; i < inst.num_operands(); ++i) {
    if (!same_dims(inst.operand_shape(i), first))
      return mismatch(inst, "sort_c3", fmt::format("operand {}", i), to_string(inst.operand_shape(i)),
                      dims_text(first.dims));
    shapes.push_back(Shape::array(inst.operand_shape(i).dtype, first.dims));
  }
  NCC_TRY(check_scalar_body(inst, *inst.body(), 2 * inst.num_operands(), 1, "sort_c5"));
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

Status check_window(const Instruction& inst, int64_t rank, const WindowLabels& labels) {
  const Window& window = inst.attrs().window;
  if (static_cast<int64_t>(window.size()) != rank)
    return mismatch(inst, labels.rank, "window dimensions", window.size(), rank);
  constexpr int64_t kLimit = int64_t{1} << 40;
  const auto within = [&](std::string_view label, std::string_view what, size_t d, int64_t value,
                          int64_t least) {
    if (value >= least && value < kLimit) return Status::ok();
    return mismatch(inst, label, fmt::format("{} of window dimension {}", what, d), value,
                    least == 1 ? "at least 1 and below 2^40" : "between -2^40 and 2^40");
  };
  for (size_t d = 0; d < window.size(); ++d) {
    const WindowDim& w = window[d];
    // A kernel of size 0 makes a convolution empty, so only other windows need a size.
    NCC_TRY(within(labels.size, "size", d, w.size, inst.is(Opcode::Convolution) ? 0 : 1));
    NCC_TRY(within(labels.stride, "stride", d, w.stride, 1));
    NCC_TRY(within(labels.base_dilation, "base dilation", d, w.base_dilation, 1));
    NCC_TRY(within(labels.window_dilation, "window dilation", d, w.window_dilation, 1));
    NCC_TRY(within(labels.padding, "low padding", d, w.padding_low, -kLimit));
    NCC_TRY(within(labels.padding, "high padding", d, w.padding_high, -kLimit));
  }
  return Status::ok();
}

Status check_dims(const Instruction& inst, const std::vector<int64_t>& dims, int64_t rank,
                  std::string_view in_range, std::string_view unique, std::string_view what) {
  uint64_t seen = 0;
  for (int64_t d : dims) {
    if (d < 0 || d >= rank)
      return mismatch(inst, in_range, what, dims_text(dims),
                      rank == 0 ? std::string("none") : fmt::format("dimensions of 0 to {}", rank - 1));
    if ((seen >> d) & 1) return mismatch(inst, unique, what, dims_text(dims), "distinct dimensions");
    seen |= uint64_t{1} << d;
  }
  return Status::ok();
}

Status check_sorted(const Instruction& inst, const std::vector<int64_t>& dims, std::string_view label,
                    std::string_view what) {
  if (std::is_sorted(dims.begin(), dims.end())) return Status::ok();
  return mismatch(inst, label, what, dims_text(dims), "ascending ones");
}

Status check_scalar_body(const Instruction& inst, const Computation& body, int64_t count, int64_t results,
                         std::string_view label) {
  const std::vector<Instruction*> parameters = body.parameters();
  if (static_cast<int64_t>(parameters.size()) != count)
    return mismatch(inst, label, fmt::format("parameters of {}", body.name()), parameters.size(), count);
  for (const Instruction* parameter : parameters) {
    if (!parameter->shape.is_scalar())
      return mismatch(inst, label, fmt::format("parameter {} of {}", parameter->index, body.name()),
                      to_string(parameter->shape), "a scalar");
  }
  if (results == 0) return Status::ok();
  const Shape& root = body.root()->shape;
  const bool one = results == 1 && root.is_scalar();
  bool all = root.is_tuple() && static_cast<int64_t>(root.elements.size()) == results;
  for (size_t i = 0; all && i < root.elements.size(); ++i) all = root.elements[i].is_scalar();
  if (one || all) return Status::ok();
  return mismatch(inst, label, fmt::format("result of {}", body.name()), to_string(root),
                  results == 1 ? std::string("a scalar") : fmt::format("a tuple of {} scalars", results));
}

bool contains(const std::vector<int64_t>& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::vector<int64_t> joined(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

Shape as_results(std::vector<Shape> shapes) {
  return shapes.size() == 1 ? std::move(shapes[0]) : Shape::make_tuple(std::move(shapes));
}

std::vector<Shape> operand_shapes(const Instruction& inst) {
  std::vector<Shape> shapes;
  for (const Instruction* operand : inst.operands) shapes.push_back(operand->shape);
  return shapes;
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
