#include "tools/hlo-opt/passes/expand_math/tensor_ranges.h"

#include <algorithm>
#include <cmath>

#include "tools/hlo-opt/passes/expand_math/range.h"

namespace ncc::hlo_opt::math_expansion {

using penguin::Operand;
using penguin::Stmt;
using penguin::TensorId;

namespace {

// Larger constants are weights; reading them all would cost more than it can save.
constexpr int64_t kMaxScannedElements = int64_t{1} << 20;

}  // namespace

TensorRanges::TensorRanges(const penguin::Function& function, std::span<const std::byte> constants)
    : function_(function), constants_(constants) {
  expect(function.body);
}

Range TensorRanges::of(const Operand& operand) const {
  if (operand.kind == Operand::Kind::Scalar) {
    const double value = load_as_double(operand.dtype, &operand.scalar);
    return std::isnan(value) ? full_range(operand.dtype) : Range{value, value};
  }
  if (operand.kind == Operand::Kind::Index) {
    const affine::Interval interval =
        affine::bounds(operand.value, [&](affine::AxisId axis) { return function_.axes[axis].extent; });
    return {static_cast<double>(interval.low), static_cast<double>(interval.high)};
  }
  const TensorId id = root(operand);
  std::optional<Range> known;
  if (function_.tensors[id].role == penguin::Role::Const) {
    known = of_constant(id);
  } else if (const auto it = tensors_.find(id); it != tensors_.end() && it->second.writers == 0 &&
                                                function_.tensors[id].role != penguin::Role::Input) {
    known = it->second.range;
  }
  return known ? *known : full_range(operand.dtype);
}

void TensorRanges::expect(const std::vector<Stmt>& body) {
  for (const Stmt& stmt : body) {
    if (stmt.inst) ++tensors_[root(stmt.inst->result)].writers;
    expect(stmt.body);
    expect(stmt.else_body);
  }
}

void TensorRanges::wrote(const Operand& result, Range range) {
  Entry& entry = tensors_[root(result)];
  --entry.writers;
  entry.range = entry.range
                    ? Range{std::min(entry.range->low, range.low), std::max(entry.range->high, range.high)}
                    : range;
}

void TensorRanges::replaced(const Operand& result) { --tensors_[root(result)].writers; }

TensorId TensorRanges::root(const Operand& operand) const {
  const TensorId alias = function_.tensors[operand.tensor].alias_of;
  return alias == penguin::kNone ? operand.tensor : alias;
}

std::optional<Range> TensorRanges::of_constant(TensorId id) const {
  const auto [it, is_new] = constant_ranges_.try_emplace(id);
  if (!is_new) return it->second;
  const penguin::Tensor& tensor = function_.tensors[id];
  const int64_t count = tensor.num_elements(), width = size_bytes(tensor.dtype);
  const auto size = static_cast<int64_t>(constants_.size());
  if (count == 0 || count > kMaxScannedElements || tensor.const_offset < 0 ||
      tensor.const_offset + count * width > size)
    return std::nullopt;
  std::optional<Range> range;
  for (int64_t i = 0; i < count; ++i) {
    const double value = load_as_double(tensor.dtype, constants_.data() + tensor.const_offset + i * width);
    if (std::isnan(value)) continue;
    range = range ? Range{std::min(range->low, value), std::max(range->high, value)} : Range{value, value};
  }
  return it->second = range;
}

}  // namespace ncc::hlo_opt::math_expansion
