// Slice, pad, concatenate, and the dynamic forms with known positions.
#include <algorithm>

#include "tools/hlo-opt/hlo/passes/algsimp.h"

namespace ncc::hlo_passes::algsimp_rules {
namespace {

size_t at(int64_t i) { return static_cast<size_t>(i); }

struct Range {
  Dims starts, limits, strides;
};

Range range_of(const Instruction& slice) {
  return {slice.attrs().slice_starts, slice.attrs().slice_limits, slice.attrs().slice_strides};
}

bool is_empty(const Shape& shape) { return shape.num_elements() == 0; }

// The slice of a value that every dimension's broadcast leaves: mapped dimensions are sliced in the operand.
Instruction* slice_of_broadcast(ComputationEditor& edit, const Instruction& inst, const Instruction& x) {
  const Range range = range_of(inst);
  Range own;
  bool is_whole = true;
  for (size_t i = 0; i < x.dimensions.size(); ++i) {
    const size_t d = at(x.dimensions[i]);
    own.starts.push_back(range.starts[d]);
    own.limits.push_back(range.limits[d]);
    own.strides.push_back(range.strides[d]);
    is_whole &= range.starts[d] == 0 && range.limits[d] == x.shape.dims[d] && range.strides[d] == 1;
  }
  Instruction* source = x.operand(0);
  if (!is_whole) source = edit.slice(source, own.starts, own.limits, own.strides);
  return edit.broadcast(source, inst.shape.dims, x.dimensions);
}

// Of a pad: entirely inside the operand, without interior padding -> the operand's own slice.
Instruction* slice_of_pad(ComputationEditor& edit, const Instruction& inst, const Instruction& x) {
  Range range = range_of(inst);
  for (size_t d = 0; d < range.starts.size(); ++d) {
    const hlo::PaddingDim& padding = x.attrs().padding[d];
    const int64_t size = x.operand_shape(0).dims[d];
    range.starts[d] -= padding.low;
    range.limits[d] -= padding.low;
    if (padding.interior != 0 || range.starts[d] < 0 || range.limits[d] > size ||
        range.starts[d] > range.limits[d])
      return nullptr;
  }
  return edit.slice(x.operand(0), range.starts, range.limits, range.strides);
}

// Of a reverse: the mirrored slice, reversed, when strides are 1.
Instruction* slice_of_reverse(ComputationEditor& edit, const Instruction& inst, const Instruction& x) {
  Range range = range_of(inst);
  for (int64_t d : x.dimensions) {
    const int64_t size = x.shape.dims[at(d)];
    if (range.strides[at(d)] != 1) return nullptr;
    const int64_t start = size - range.limits[at(d)];
    range.limits[at(d)] = size - range.starts[at(d)];
    range.starts[at(d)] = start;
  }
  return edit.reverse(edit.slice(x.operand(0), range.starts, range.limits, range.strides), x.dimensions);
}

// Operands of a concatenate that are neighbouring slices of one value: first and last+1 positions.
Instruction* joined_slices(ComputationEditor& edit, const Instruction& inst) {
  const size_t dim = at(inst.dimensions[0]);
  const Instruction* first = inst.operand(0);
  if (!first->is(Opcode::Slice)) return nullptr;
  Range joined = range_of(*first);
  if (joined.strides[dim] != 1) return nullptr;
  for (int64_t i = 1; i < inst.num_operands(); ++i) {
    const Instruction* next = inst.operand(i);
    if (!next->is(Opcode::Slice) || next->operand(0) != first->operand(0)) return nullptr;
    const Range range = range_of(*next);
    for (size_t d = 0; d < range.starts.size(); ++d) {
      const bool same = d == dim ? range.starts[d] == joined.limits[d]
                                 : range.starts[d] == joined.starts[d] && range.limits[d] == joined.limits[d];
      if (!same || range.strides[d] != joined.strides[d]) return nullptr;
    }
    joined.limits[dim] = range.limits[dim];
  }
  return edit.slice(first->operand(0), joined.starts, joined.limits, joined.strides);
}

// All operands the same splat of one scalar.
Instruction* joined_splats(ComputationEditor& edit, const Instruction& inst) {
  const auto scalar_of = [](const Instruction* value) -> Instruction* {
    return value->is(Opcode::Broadcast) && value->operand(0)->shape.is_scalar() ? value->operand(0) : nullptr;
  };
  Instruction* scalar = scalar_of(inst.operand(0));
  if (!scalar) return nullptr;
  for (const Instruction* operand : inst.operands)
    if (scalar_of(operand) != scalar) return nullptr;
  return edit.broadcast_scalar(scalar, inst.shape.dims);
}

// Clamped constant starts of a dynamic-slice or dynamic-update-slice.
std::optional<Dims> constant_starts(const Instruction& inst, int64_t first, const Dims& sizes) {
  Dims starts;
  const Shape& operand = inst.operand_shape(0);
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const int64_t room = operand.dims[at(d)] - sizes[at(d)];
    if (room == 0) {
      starts.push_back(0);
      continue;
    }
    const Instruction* index = inst.operand(first + d);
    const auto start = integer_of(index);
    if (!start) return std::nullopt;
    const bool is_huge = is_unsigned_int(index->shape.dtype) && *start < 0;  // u64 above the signed range
    starts.push_back(is_huge ? room : std::clamp<int64_t>(*start, 0, room));
  }
  return starts;
}

Dims sum(const Dims& a, const Dims& b) {
  Dims result;
  for (size_t i = 0; i < a.size(); ++i) result.push_back(a[i] + b[i]);
  return result;
}

}  // namespace

Instruction* simplify_slice(ComputationEditor& edit, Instruction* inst) {
  Instruction* x = inst->operand(0);
  if (x->shape.dims == inst->shape.dims && !is_empty(x->shape)) return x;
  switch (x->opcode) {
    case Opcode::Slice: {
      const Range outer = range_of(*inst), inner = range_of(*x);
      Range both;
      for (size_t d = 0; d < outer.starts.size(); ++d) {
        const int64_t start = inner.starts[d] + outer.starts[d] * inner.strides[d];
        const int64_t stride = inner.strides[d] * outer.strides[d];
        both.starts.push_back(start);
        both.strides.push_back(stride);
        const int64_t count = inst->shape.dims[d];
        both.limits.push_back(count == 0 ? start : start + (count - 1) * stride + 1);
      }
      if (is_empty(inst->shape)) return nullptr;
      return edit.slice(x->operand(0), both.starts, both.limits, both.strides);
    }
    case Opcode::Broadcast:
      return slice_of_broadcast(edit, *inst, *x);
    case Opcode::Pad:
      return slice_of_pad(edit, *inst, *x);
    case Opcode::Reverse:
      return is_empty(inst->shape) ? nullptr : slice_of_reverse(edit, *inst, *x);
    default:
      return nullptr;
  }
}

Instruction* simplify_pad(ComputationEditor& edit, Instruction* inst) {
  Instruction *x = inst->operand(0), *value = inst->operand(1);
  if (is_empty(x->shape)) return edit.broadcast_scalar(value, inst->shape.dims);
  const std::vector<hlo::PaddingDim>& padding = inst->attrs().padding;
  const auto is_nothing = [](const hlo::PaddingDim& dim) { return dim == hlo::PaddingDim(); };
  if (std::all_of(padding.begin(), padding.end(), is_nothing)) return x;
  const bool has_interior =
      std::any_of(padding.begin(), padding.end(), [](auto& d) { return d.interior != 0; });
  const bool has_negative =
      std::any_of(padding.begin(), padding.end(), [](auto& d) { return d.low < 0 || d.high < 0; });
  if (has_negative && !has_interior && !is_empty(inst->shape)) {
    // First what grows, then the cut: an edge may be cut by more than the operand's size.
    std::vector<hlo::PaddingDim> growth = padding;
    Dims starts, limits;
    for (size_t d = 0; d < padding.size(); ++d) {
      growth[d] = {std::max<int64_t>(padding[d].low, 0), std::max<int64_t>(padding[d].high, 0), 0};
      const int64_t start = std::max<int64_t>(-padding[d].low, 0);
      starts.push_back(start);
      limits.push_back(start + inst->shape.dims[d]);
    }
    Instruction* grown = x;
    if (!std::all_of(growth.begin(), growth.end(), is_nothing)) grown = edit.pad(x, value, growth);
    return edit.slice(grown, starts, limits);
  }
  if (x->is(Opcode::Pad) && !has_interior && !has_negative) {
    const std::vector<hlo::PaddingDim>& inner = x->attrs().padding;
    const bool is_simple = std::all_of(inner.begin(), inner.end(),
                                       [](auto& d) { return d.interior == 0 && d.low >= 0 && d.high >= 0; });
    if (!is_simple || x->operand(1) != value) return nullptr;
    std::vector<hlo::PaddingDim> both = padding;
    for (size_t d = 0; d < both.size(); ++d) {
      both[d].low += inner[d].low;
      both[d].high += inner[d].high;
    }
    return edit.pad(x->operand(0), value, both);
  }
  return nullptr;
}

Instruction* simplify_concatenate(ComputationEditor& edit, Instruction* inst) {
  if (inst->num_operands() == 1) return inst->operand(0);
  // Empty operands go, concatenates along the same dimension dissolve.
  std::vector<Instruction*> parts;
  for (Instruction* operand : inst->operands) {
    if (is_empty(operand->shape) && !is_empty(inst->shape)) continue;
    if (operand->is(Opcode::Concatenate) && operand->dimensions == inst->dimensions &&
        edit.has_one_use(operand)) {
      parts.insert(parts.end(), operand->operands.begin(), operand->operands.end());
    } else {
      parts.push_back(operand);
    }
  }
  if (parts != inst->operands) return edit.concatenate(std::move(parts), inst->dimensions[0]);
  if (Instruction* joined = joined_slices(edit, *inst)) return joined;
  return joined_splats(edit, *inst);
}

Instruction* simplify_dynamic_slice(ComputationEditor& edit, Instruction* inst) {
  Instruction* x = inst->operand(0);
  if (x->shape.dims == inst->shape.dims) return x;
  if (x->is(Opcode::Broadcast) && x->operand(0)->shape.is_scalar())
    return edit.broadcast_scalar(x->operand(0), inst->shape.dims);
  const auto starts = constant_starts(*inst, 1, inst->shape.dims);
  if (!starts) return nullptr;
  return edit.slice(x, *starts, sum(*starts, inst->shape.dims));
}

Instruction* simplify_dynamic_update_slice(ComputationEditor&, Instruction* inst) {
  Instruction *x = inst->operand(0), *update = inst->operand(1);
  if (x->shape.dims == update->shape.dims) return update;
  if (is_empty(update->shape)) return x;
  // What was read there is written back.
  if (update->is(Opcode::DynamicSlice) && update->operand(0) == x &&
      std::equal(update->operands.begin() + 1, update->operands.end(), inst->operands.begin() + 2,
                 inst->operands.end()))
    return x;
  return nullptr;
}

}  // namespace ncc::hlo_passes::algsimp_rules
