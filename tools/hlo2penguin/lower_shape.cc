// Shape ops: as access functions where possible; pad, concatenate and updates write disjoint pieces of one
// tensor.
#include <algorithm>
#include <numeric>

#include "tools/hlo2penguin/lower.h"

namespace ncc::hlo2penguin {

Result<Value> Lowering::lower_identity(const Instruction& inst) { return operand(inst, 0); }

Result<Value> Lowering::lower_broadcast(const Instruction& inst) {
  if (inst.shape.num_elements() == 0) return Value(empty(inst));
  return Value(view(inst, 0).broadcast(inst.dimensions, inst.shape.dims));
}

Result<Value> Lowering::lower_reshape(const Instruction& inst) {
  if (inst.shape.dtype != inst.operand_shape(0).dtype)
    return unsupported(inst, "it changes the element type");
  return Value(builder_.reshape(view(inst, 0), inst.shape.dims, inst.name, inst.loc));
}

Result<Value> Lowering::lower_transpose(const Instruction& inst) {
  return Value(view(inst, 0).transpose(inst.dimensions));
}

Result<Value> Lowering::lower_slice(const Instruction& inst) {
  if (inst.shape.num_elements() == 0) return Value(empty(inst));
  View out = view(inst, 0);
  const hlo::Attributes& attrs = inst.attrs();
  for (int64_t d = 0; d < inst.shape.rank(); ++d) {
    const size_t i = static_cast<size_t>(d);
    const int64_t stride = attrs.slice_strides.empty() ? 1 : attrs.slice_strides[i];
    out = builder_.slice(out, d, attrs.slice_starts[i], stride, inst.shape.dims[i], inst.name, inst.loc);
  }
  return Value(out);
}

Result<Value> Lowering::lower_reverse(const Instruction& inst) {
  View out = view(inst, 0);
  for (int64_t dim : inst.dimensions) out = out.reverse(dim);
  return Value(out);
}

Result<Value> Lowering::lower_concatenate(const Instruction& inst) {
  if (inst.shape.num_elements() == 0) return Value(empty(inst));
  const int64_t dim = inst.dimensions.front();
  std::vector<View> pieces;
  for (const View& piece : views(inst))
    if (piece.num_elements() > 0) pieces.push_back(piece);
  if (pieces.size() == 1) return Value(pieces.front());
  const bool same_scalar = std::all_of(pieces.begin(), pieces.end(), [&](const View& piece) {
    return piece.is_scalar() && piece.scalar_bits() == pieces.front().scalar_bits();
  });
  if (same_scalar)
    return Value(
        View::scalar(builder_.affine(), inst.shape.dtype, pieces.front().scalar_bits(), inst.shape.dims));
  const View whole =
      builder_.whole(builder_.add_tensor(inst.name, inst.shape.dtype, inst.shape.dims, inst.loc));
  int64_t start = 0;
  for (const View& piece : pieces) {
    const int64_t size = piece.shape()[static_cast<size_t>(dim)];
    Emission copy = emission(inst);
    copy.operands = {piece};
    builder_.emit(std::move(copy), *whole.slice(dim, start, 1, size));
    start += size;
  }
  return Value(whole);
}

void Lowering::fill_outside(const View& target, const std::vector<int64_t>& starts,
                            const std::vector<int64_t>& sizes, const View& source, const Emission& like) {
  // Dimension by dimension: the slabs before and after the box, inside the box in the dimensions already
  // done.
  View rest = target, from = source;
  for (int64_t d = 0; d < target.rank(); ++d) {
    const size_t i = static_cast<size_t>(d);
    const int64_t end = starts[i] + sizes[i], extent = target.shape()[i];
    for (const auto& [start, count] : {std::pair{int64_t{0}, starts[i]}, std::pair{end, extent - end}}) {
      if (count == 0) continue;
      Emission copy = like;
      copy.operands = {builder_.slice(from, d, start, 1, count, like.name, like.loc)};
      builder_.emit(std::move(copy), *rest.slice(d, start, 1, count));
    }
    rest = *rest.slice(d, starts[i], 1, sizes[i]);
    from = builder_.slice(from, d, starts[i], 1, sizes[i], like.name, like.loc);
  }
}

View Lowering::pad(const View& data, const View& value, const std::vector<hlo::PaddingDim>& padding,
                   const Emission& like) {
  const size_t rank = padding.size();
  std::vector<int64_t> shape(rank), starts(rank), sizes(rank), strides(rank);
  View kept = data;
  bool any_data = data.num_elements() > 0, is_padded = false;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t size = data.shape()[d], step = padding[d].interior + 1;
    const int64_t inner = size == 0 ? 0 : (size - 1) * step + 1;
    shape[d] = padding[d].low + inner + padding[d].high;
    is_padded |= padding[d] != hlo::PaddingDim{};
    // Elements that stay: position low + k * step inside [0, shape).
    const int64_t first = padding[d].low >= 0 ? 0 : (-padding[d].low + step - 1) / step;
    const int64_t reach = shape[d] - 1 - padding[d].low;
    const int64_t last = std::min(size - 1, reach < 0 ? -1 : reach / step);
    any_data &= shape[d] > 0 && last >= first;
    if (!any_data) continue;
    starts[d] = padding[d].low + first * step;
    strides[d] = step;
    sizes[d] = (last - first) * step + 1;
    kept = builder_.slice(kept, static_cast<int64_t>(d), first, 1, last - first + 1, like.name, like.loc);
  }
  for (int64_t& size : shape) size = std::max<int64_t>(size, 0);
  const View fill = value.broadcast({}, shape);
  if (!is_padded) return data;
  if (!any_data || std::find(shape.begin(), shape.end(), 0) != shape.end()) return fill;
  const View whole = builder_.whole(builder_.add_tensor(like.name, data.dtype(), shape, like.loc));
  // The box from the first to the last kept element; the fill around it, between its elements, then the
  // elements.
  fill_outside(whole, starts, sizes, fill, like);
  View box = whole;
  for (size_t d = 0; d < rank; ++d) box = *box.slice(static_cast<int64_t>(d), starts[d], 1, sizes[d]);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t count = (sizes[d] - 1) / strides[d] + 1;
    for (int64_t gap = 1; gap < strides[d] && count > 1; ++gap) {
      const View between = *box.slice(static_cast<int64_t>(d), gap, strides[d], count - 1);
      Emission copy = like;
      copy.operands = {value.broadcast({}, between.shape())};
      builder_.emit(std::move(copy), between);
    }
    box = *box.slice(static_cast<int64_t>(d), 0, strides[d], count);
  }
  Emission copy = like;
  copy.operands = {kept};
  builder_.emit(std::move(copy), box);
  return whole;
}

Result<Value> Lowering::lower_pad(const Instruction& inst) {
  return Value(pad(view(inst, 0), view(inst, 1), inst.attrs().padding, emission(inst)));
}

Result<Value> Lowering::lower_get_dimension_size(const Instruction& inst) {
  const int64_t dim = inst.dimensions.empty() ? inst.index : inst.dimensions.front();
  uint64_t bits = 0;
  store_from_int64(inst.shape.dtype, &bits, inst.operand_shape(0).dims[static_cast<size_t>(dim)]);
  return Value(View::scalar(builder_.affine(), inst.shape.dtype, bits, {}));
}

std::optional<std::vector<int64_t>> Lowering::constant_starts(const Instruction& inst, int64_t first,
                                                              const std::vector<int64_t>& limits) const {
  std::vector<int64_t> starts;
  for (size_t d = 0; d < limits.size(); ++d) {
    const std::optional<int64_t> start = known_scalar(operand(inst, first + static_cast<int64_t>(d)));
    if (!start && limits[d] != 0) return std::nullopt;
    starts.push_back(std::clamp<int64_t>(start.value_or(0), 0, limits[d]));
  }
  return starts;
}

Result<Value> Lowering::lower_dynamic_slice(const Instruction& inst) {
  if (inst.shape.num_elements() == 0) return Value(empty(inst));
  return dynamic_slice(inst);
}

Result<Value> Lowering::lower_dynamic_update_slice(const Instruction& inst) {
  const View& base = view(inst, 0);
  const View& update = view(inst, 1);
  if (update.num_elements() == 0) return Value(base);
  if (update.shape() == base.shape()) return Value(update);
  std::vector<int64_t> limits;
  for (size_t d = 0; d < base.shape().size(); ++d) limits.push_back(base.shape()[d] - update.shape()[d]);
  const std::optional<std::vector<int64_t>> known = constant_starts(inst, 2, limits);
  if (!known) return dynamic_update_slice(inst);
  const std::vector<int64_t>& starts = *known;
  const View whole = builder_.whole(builder_.add_tensor(inst.name, base.dtype(), base.shape(), inst.loc));
  fill_outside(whole, starts, update.shape(), base, emission(inst));
  View box = whole;
  for (size_t d = 0; d < starts.size(); ++d)
    box = *box.slice(static_cast<int64_t>(d), starts[d], 1, update.shape()[d]);
  Emission copy = emission(inst);
  copy.operands = {update};
  builder_.emit(std::move(copy), box);
  return Value(whole);
}

}  // namespace ncc::hlo2penguin
