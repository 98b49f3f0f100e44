// sort (always stable) and top-k. Source: spec/stablehlo-text.md §2.9, §3.7.
#include <algorithm>
#include <bit>
#include <numeric>

#include "ir-formats/hlo/interpreter/combiner.h"
#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/strided_copy.h"

namespace ncc::hlo {
namespace {

// Lines of a tensor along one dimension.
struct Lines {
  int64_t size, stride, outer, inner;
  Lines(const std::vector<int64_t>& dims, size_t dim) : size(dims[dim]), stride(1), outer(1), inner(1) {
    for (size_t d = 0; d < dim; ++d) outer *= dims[d];
    for (size_t d = dim + 1; d < dims.size(); ++d) inner *= dims[d];
    stride = inner;
  }
  int64_t count() const { return outer * inner; }
  int64_t start(int64_t line) const { return line / inner * size * inner + line % inner; }
};

// Keys that order like TOTALORDER (floats) or like the integers.
int64_t sort_key(Dtype type, const std::byte* element) {
  if (is_float(type)) {
    const int64_t bits = std::bit_cast<int64_t>(load_as_double(type, element));
    return bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF);
  }
  const int64_t value = load_as_int64(type, element);
  return type == Dtype::U64 ? value ^ std::numeric_limits<int64_t>::min() : value;
}

}  // namespace

Result<Literal> eval_sort(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  const std::vector<int64_t>& dims = operands[0].shape().dims;
  int64_t dim = inst.dimensions.empty() ? static_cast<int64_t>(dims.size()) - 1 : inst.dimensions[0];
  if (dim < 0) dim += static_cast<int64_t>(dims.size());
  std::vector<Literal> results;
  for (const Literal& operand : operands) results.push_back(Literal::zeros(operand.shape()));
  Combiner comparator(evaluator, *inst.body());
  Status failure;
  const Lines lines = dims.empty() ? Lines({1}, 0) : Lines(dims, static_cast<size_t>(dim));
  std::vector<int64_t> order(static_cast<size_t>(lines.size));
  std::vector<const void*> in(2 * operands.size());
  for (int64_t line = 0; line < lines.count() && lines.size > 0; ++line) {
    const int64_t start = lines.start(line);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      for (size_t i = 0; i < operands.size(); ++i) {
        const int64_t width = size_bytes(operands[i].shape().dtype);
        in[2 * i] = operands[i].bytes().data() + (start + a * lines.stride) * width;
        in[2 * i + 1] = operands[i].bytes().data() + (start + b * lines.stride) * width;
      }
      uint8_t before = 0;
      void* out = &before;
      if (const Status status = comparator.apply(in, {&out, 1}, 1); !status.is_ok()) failure = status;
      return before != 0;
    });
    NCC_TRY(failure);
    for (size_t i = 0; i < operands.size(); ++i) {
      const int64_t width = size_bytes(operands[i].shape().dtype);
      for (int64_t k = 0; k < lines.size; ++k)
        std::memcpy(
            results[i].mutable_data() + (start + k * lines.stride) * width,
            operands[i].bytes().data() + (start + order[static_cast<size_t>(k)] * lines.stride) * width,
            static_cast<size_t>(width));
    }
  }
  return inst.shape.is_tuple() ? Literal::make_tuple(std::move(results)) : results[0];
}

// Largest (or smallest) k along the last dimension in TOTALORDER; ties go to the lower index.
Result<Literal> eval_top_k(Evaluator&, const Instruction& inst, Operands& operands) {
  const Shape& from = operands[0].shape();
  if (!inst.shape.is_tuple() || inst.shape.elements.size() != 2 || from.dims.empty())
    return unsupported(inst, "its result is not a pair of values and indices");
  const Lines lines(from.dims, from.dims.size() - 1);
  std::vector<int64_t> out_dims = from.dims;
  const int64_t k = inst.shape.elements[0].dims.back();
  out_dims.back() = k;
  const Dtype index_type = inst.shape.elements[1].dtype;
  Literal values = Literal::zeros(Shape::array(from.dtype, out_dims));
  Literal indices = Literal::zeros(Shape::array(index_type, out_dims));
  const int64_t width = size_bytes(from.dtype);
  std::vector<int64_t> keys(static_cast<size_t>(lines.size)), order(static_cast<size_t>(lines.size));
  for (int64_t line = 0; line < lines.count(); ++line) {
    const std::byte* row = operands[0].bytes().data() + line * lines.size * width;
    for (int64_t i = 0; i < lines.size; ++i) {
      keys[static_cast<size_t>(i)] = sort_key(from.dtype, row + i * width);
      if (!inst.attrs().largest) keys[static_cast<size_t>(i)] = ~keys[static_cast<size_t>(i)];
    }
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
      const int64_t x = keys[static_cast<size_t>(a)], y = keys[static_cast<size_t>(b)];
      return x != y ? x > y : a < b;
    });
    for (int64_t i = 0; i < k; ++i) {
      const int64_t chosen = order[static_cast<size_t>(i)], at = line * k + i;
      std::memcpy(values.mutable_data() + at * width, row + chosen * width, static_cast<size_t>(width));
      store_from_int64(index_type, indices.mutable_data() + at * size_bytes(index_type), chosen);
    }
  }
  return Literal::make_tuple({std::move(values), std::move(indices)});
}

}  // namespace ncc::hlo
