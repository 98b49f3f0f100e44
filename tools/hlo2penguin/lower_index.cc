// Data-dependent indexing. The machine reads and writes by affine patterns, so a position that depends on
// data becomes a one-hot selector: sel[n, o, v] = (start[n] + o == v), and
//   gather, dynamic-slice    out[n, o, …] = the operand[v, …] with sel[n, o, v]
//   scatter add              out[v, …] = operand[v, …] + sum over n, o of sel * update[n, o, …]
//   scatter (replace)        the last n that hits v wins; then the update of the winner, and a select
//   scatter max, min, mul    a reduction of select(sel, update, neutral)
// "The x with sel" is a contraction of sel with each byte of x (`select_bytes`): one product of a sum is not
// zero and a byte is exact in every type of the PE, so any bit pattern arrives as it was and nothing else is
// touched, NaN and infinity included. Several indexed dimensions share one selector: the index becomes one
// mixed-radix number whose radix leaves room for the window, so that equal numbers mean equal positions.
#include <algorithm>
#include <limits>
#include <numeric>

#include "tools/hlo2penguin/lower.h"

namespace ncc::hlo2penguin {

using penguin::AxisRole;
using penguin::Comparison;
using F = penguin::ScalarFunction;

namespace {

/// Up to here a selection of floats is a select and a fold, which is cheaper than contractions.
constexpr int64_t kMaxFolded = int64_t{1} << 20;
/// Bound of the mixed-radix number, so that no term leaves s32.
constexpr int64_t kMaxIndex = int64_t{1} << 30;

uint64_t integer_bits(Dtype dtype, int64_t value) {
  uint64_t bits = 0;
  store_from_int64(dtype, &bits, value);
  return bits;
}

}  // namespace

View Lowering::compute(const Emission& like, F function, std::vector<View> operands, Dtype dtype,
                       Comparison comparison) {
  Emission out = like;
  out.function = function;
  out.attributes.comparison = comparison;
  out.operands = std::move(operands);
  if (function == F::Convert && out.operands[0].dtype() == dtype) return out.operands[0];
  return emit_elementwise(std::move(out), dtype);
}

View Lowering::integer_constant(Dtype dtype, int64_t value, const std::vector<int64_t>& shape) {
  return View::scalar(builder_.affine(), dtype, integer_bits(dtype, value), shape);
}

Status Lowering::check_selection(const Instruction& inst, const Selection& s) const {
  int64_t radix = 1;
  for (const IndexedDim& dim : s.dims) {
    radix *= dim.size + dim.window - 1;
    if (radix > kMaxIndex)
      return unsupported(inst, fmt::format("its indexed dimensions have more than {} positions", kMaxIndex));
  }
  return {};
}

View Lowering::selector(const Selection& s, Dtype dtype, const Emission& like) {
  // Dimensions: points, windows of the indexed dimensions, positions in the indexed dimensions.
  std::vector<int64_t> shape = s.points;
  for (const IndexedDim& dim : s.dims) shape.push_back(dim.window);
  for (const IndexedDim& dim : s.dims) shape.push_back(dim.size);
  const size_t points = s.points.size(), count = s.dims.size();
  std::vector<int64_t> point_dims(points);
  std::iota(point_dims.begin(), point_dims.end(), 0);
  View start = integer_constant(Dtype::S32, 0, s.points), position = integer_constant(Dtype::S32, 0, shape);
  int64_t radix = 1;
  for (size_t k = count; k-- > 0;) {
    const IndexedDim& dim = s.dims[k];
    const View term =
        compute(like, F::Multiply, {dim.start, integer_constant(Dtype::S32, radix, s.points)}, Dtype::S32);
    start = k + 1 == count ? dim.start : compute(like, F::Add, {start, term}, Dtype::S32);
    radix *= dim.size + dim.window - 1;
  }
  if (s.valid)
    start = compute(like, F::SelectModel,
                    {*s.valid, start, integer_constant(Dtype::S32, -radix - 1, s.points)}, Dtype::S32);
  std::vector<std::pair<int64_t, int64_t>> terms;
  radix = 1;
  for (size_t k = count; k-- > 0;) {
    terms.emplace_back(static_cast<int64_t>(points + k), -radix);
    terms.emplace_back(static_cast<int64_t>(points + count + k), radix);
    radix *= s.dims[k].size + s.dims[k].window - 1;
  }
  position = View::index(builder_.affine(), Dtype::S32, shape, terms);
  const View hit =
      compute(like, F::Compare, {start.broadcast(point_dims, shape), position}, Dtype::Pred, Comparison::Eq);
  return dtype == Dtype::Pred ? hit : compute(like, F::Convert, {hit}, dtype);
}

View Lowering::contract(const Emission& like, const View& lhs, const View& rhs,
                        const std::vector<int64_t>& lhs_map, const std::vector<int64_t>& rhs_map,
                        const std::vector<int64_t>& result_map, const std::vector<int64_t>& sizes,
                        Dtype dtype) {
  Emission out = like;
  out.op = penguin::TensorOp::Contract;
  std::vector<int64_t> shape;
  for (int64_t d : result_map) shape.push_back(sizes[static_cast<size_t>(d)]);
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
    const bool in_lhs = contains(lhs_map, d), in_rhs = contains(rhs_map, d);
    out.roles.push_back(!contains(result_map, d) ? AxisRole::Contract
                        : in_lhs && in_rhs       ? AxisRole::Batch
                        : in_lhs                 ? AxisRole::LhsFree
                                                 : AxisRole::RhsFree);
  }
  for (const auto& [operand, map] : {std::pair{&lhs, &lhs_map}, std::pair{&rhs, &rhs_map}}) {
    const View stored = operand->is_tensor() ? *operand : builder_.materialise(*operand, like.name, like.loc);
    out.operands.push_back(stored.broadcast(*map, sizes));
  }
  const View result = builder_.whole(builder_.add_tensor(like.name, dtype, shape, like.loc));
  builder_.emit(std::move(out), result.broadcast(result_map, sizes));
  return result;
}

View Lowering::select_bytes(const Emission& like, const View& chosen, const View& values,
                            const std::vector<int64_t>& chosen_map, const std::vector<int64_t>& values_map,
                            const std::vector<int64_t>& result_map, const std::vector<int64_t>& sizes) {
  const View factor = compute(like, F::Convert, {chosen}, Dtype::BF16);
  const auto selected = [&](const View& byte) {
    return contract(like, factor, byte, chosen_map, values_map, result_map, sizes, Dtype::F32);
  };
  const Dtype dtype = values.dtype();
  const int64_t bytes = size_bytes(dtype);
  if (bytes == 1 && !is_float(dtype))  // -128 … 255 is exact as it is
    return compute(like, F::Convert, {selected(compute(like, F::Convert, {values}, Dtype::BF16))}, dtype);
  const Dtype raw = bytes == 1 ? Dtype::U8 : bytes == 2 ? Dtype::U16 : Dtype::U32;
  const auto reinterpret = [&](const View& view, Dtype as) {
    return view.dtype() == as ? view : compute(like, F::BitcastConvert, {view}, as);
  };
  const auto constant = [&](const View& of, int64_t value) {
    return integer_constant(Dtype::U32, value, of.shape());
  };
  const View word = compute(like, F::Convert, {reinterpret(values, raw)}, Dtype::U32);
  std::optional<View> result;
  for (int64_t b = 0; b < bytes; ++b) {
    View byte =
        b == 0 ? word : compute(like, F::ShiftRightLogical, {word, constant(word, 8 * b)}, Dtype::U32);
    if (b + 1 < bytes) byte = compute(like, F::And, {byte, constant(byte, 255)}, Dtype::U32);
    View part =
        compute(like, F::Convert, {selected(compute(like, F::Convert, {byte}, Dtype::BF16))}, Dtype::U32);
    if (b > 0) part = compute(like, F::ShiftLeft, {part, constant(part, 8 * b)}, Dtype::U32);
    result = result ? compute(like, F::Or, {*result, part}, Dtype::U32) : part;
  }
  return reinterpret(compute(like, F::Convert, {*result}, raw), dtype);
}

Result<View> Lowering::indexed_read(const Instruction& inst, const View& operand, const Selection& s,
                                    const std::vector<int64_t>& point_of_dim) {
  // Domain: points, then per operand dimension its window (indexed) or itself, then the positions of the
  // indexed dimensions.
  NCC_TRY(check_selection(inst, s));
  const Emission like = emission(inst);
  std::vector<int64_t> sizes = s.points, operand_map(static_cast<size_t>(operand.rank())),
                       result_map(s.points.size());
  std::iota(result_map.begin(), result_map.end(), 0);
  std::vector<int64_t> selector_map = result_map, windows, positions;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const size_t i = static_cast<size_t>(d);
    if (point_of_dim[i] >= 0) {
      operand_map[i] = point_of_dim[i];
      continue;
    }
    const auto indexed =
        std::find_if(s.dims.begin(), s.dims.end(), [&](const IndexedDim& dim) { return dim.dim == d; });
    operand_map[i] = static_cast<int64_t>(sizes.size());
    result_map.push_back(operand_map[i]);
    if (indexed != s.dims.end()) windows.push_back(operand_map[i]);
    sizes.push_back(indexed == s.dims.end() ? operand.shape()[i] : indexed->window);
  }
  for (const IndexedDim& dim : s.dims) {
    operand_map[static_cast<size_t>(dim.dim)] = static_cast<int64_t>(sizes.size());
    positions.push_back(static_cast<int64_t>(sizes.size()));
    sizes.push_back(dim.size);
  }
  selector_map.insert(selector_map.end(), windows.begin(), windows.end());
  selector_map.insert(selector_map.end(), positions.begin(), positions.end());
  const View sel = selector(s, Dtype::Pred, like);
  if (!is_float(operand.dtype()) || product(sizes) > kMaxFolded)
    return select_bytes(like, sel, operand, selector_map, operand_map, result_map, sizes);
  // -0 is the neutral element of a sum.
  const Dtype type = operand.dtype();
  uint64_t zero = 0;
  store_from_double(type, &zero, -0.0);
  const View neutral = View::scalar(builder_.affine(), type, zero, sizes);
  const View chosen =
      compute(like, F::SelectModel,
              {sel.broadcast(selector_map, sizes), operand.broadcast(operand_map, sizes), neutral}, type);
  Emission fold = like;
  fold.op = penguin::TensorOp::Reduce;
  fold.function = F::Add;
  fold.roles.assign(sizes.size(), AxisRole::Parallel);
  for (int64_t d : positions) fold.roles[static_cast<size_t>(d)] = AxisRole::Reduce;
  fold.operands = {chosen, neutral};
  return builder_.emit_new(std::move(fold), type);
}

/// One start index of each point, as s32 over the points.
View Lowering::start_index(const Instruction& inst, const View& indices, int64_t vector_dim, int64_t k) {
  View out = indices;
  if (vector_dim < indices.rank()) {
    out = builder_.slice(indices, vector_dim, k, 1, 1, inst.name, inst.loc);
    std::vector<int64_t> shape = out.shape();
    shape.erase(shape.begin() + vector_dim);
    out = *out.reshape(shape);
  }
  return out;
}

View Lowering::clamp_index(const Emission& like, const View& index, int64_t limit) {
  // Unsigned indices beyond the range of s32 are clamped before they change type.
  const Dtype type = index.dtype();
  const View clamped = compute(
      like, F::Clamp,
      {integer_constant(type, 0, index.shape()), index, integer_constant(type, limit, index.shape())}, type);
  return compute(like, F::Convert, {clamped}, Dtype::S32);
}

Result<Value> Lowering::lower_gather(const Instruction& inst) {
  if (inst.shape.num_elements() == 0) return Value(empty(inst));
  const hlo::Attributes& attrs = inst.attrs();
  const hlo::GatherDims& dims = attrs.gather;
  View operand = view(inst, 0);
  const View& indices = view(inst, 1);
  const Emission like = emission(inst);
  Selection s;
  for (int64_t d = 0; d < indices.rank(); ++d)
    if (d != dims.index_vector_dim) s.points.push_back(indices.shape()[static_cast<size_t>(d)]);
  std::vector<int64_t> point_of_dim(static_cast<size_t>(operand.rank()), -1);
  for (size_t i = 0; i < dims.operand_batching_dims.size(); ++i) {
    const int64_t at = dims.start_indices_batching_dims[i];
    point_of_dim[static_cast<size_t>(dims.operand_batching_dims[i])] =
        at > dims.index_vector_dim ? at - 1 : at;
  }
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const size_t i = static_cast<size_t>(d);
    const int64_t size = operand.shape()[i], window = attrs.slice_sizes[i];
    if (point_of_dim[i] >= 0 || window == size) continue;
    const auto at = std::find(dims.start_index_map.begin(), dims.start_index_map.end(), d);
    View start = integer_constant(Dtype::S32, 0, s.points);
    if (at != dims.start_index_map.end())
      start = clamp_index(
          like, start_index(inst, indices, dims.index_vector_dim, at - dims.start_index_map.begin()),
          size - window);
    if (start.is_scalar())
      operand = builder_.slice(operand, d, *known_scalar(start), 1, window, inst.name, inst.loc);
    else
      s.dims.push_back({d, size, window, start});
  }
  View read = operand;
  if (s.dims.empty()) {  // every start is known: an access
    std::vector<int64_t> shape = s.points, map;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      const int64_t point = point_of_dim[static_cast<size_t>(d)];
      map.push_back(point >= 0 ? point : static_cast<int64_t>(shape.size()));
      if (point < 0) shape.push_back(operand.shape()[static_cast<size_t>(d)]);
    }
    read = operand.broadcast(map, shape);
  } else {
    NCC_ASSIGN(read, indexed_read(inst, operand, s, point_of_dim));
  }
  // [points..., windows...] without the collapsed dimensions, then in the order of the result.
  std::vector<int64_t> shape = s.points, perm;
  for (int64_t d = 0; d < operand.rank(); ++d)
    if (point_of_dim[static_cast<size_t>(d)] < 0 && !contains(dims.collapsed_slice_dims, d))
      shape.push_back(attrs.slice_sizes[static_cast<size_t>(d)]);
  read = builder_.reshape(read, shape, inst.name, inst.loc);
  int64_t next_point = 0, next_window = static_cast<int64_t>(s.points.size());
  for (int64_t d = 0; d < inst.shape.rank(); ++d)
    perm.push_back(contains(dims.offset_dims, d) ? next_window++ : next_point++);
  return Value(read.transpose(perm));
}

Result<Value> Lowering::dynamic_slice(const Instruction& inst) {
  View operand = view(inst, 0);
  const Emission like = emission(inst);
  Selection s;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const int64_t size = operand.shape()[static_cast<size_t>(d)],
                  window = inst.shape.dims[static_cast<size_t>(d)];
    if (window == size) continue;
    const View start = clamp_index(like, view(inst, d + 1), size - window);
    if (start.is_scalar())
      operand = builder_.slice(operand, d, *known_scalar(start), 1, window, inst.name, inst.loc);
    else
      s.dims.push_back({d, size, window, start});
  }
  if (s.dims.empty()) return Value(operand);
  NCC_ASSIGN(const View read,
             indexed_read(inst, operand, s, std::vector<int64_t>(static_cast<size_t>(operand.rank()), -1)));
  return Value(read);
}

Result<Value> Lowering::dynamic_update_slice(const Instruction& inst) {
  const View& base = view(inst, 0);
  View update = view(inst, 1);
  const Emission like = emission(inst);
  const size_t rank = base.shape().size();
  // Which positions are replaced: over the indexed dimensions only, the others broadcast.
  Selection s;
  std::vector<int64_t> indexed, shape;
  bool moves = false;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t window = update.shape()[d];
    if (window == base.shape()[d]) continue;
    s.dims.push_back({static_cast<int64_t>(d), base.shape()[d], window,
                      clamp_index(like, view(inst, static_cast<int64_t>(d) + 2), base.shape()[d] - window)});
    indexed.push_back(static_cast<int64_t>(d));
    shape.push_back(base.shape()[d]);
    moves |= window > 1;
  }
  std::optional<View> hit;
  for (size_t k = 0; k < s.dims.size(); ++k) {
    const IndexedDim& dim = s.dims[k];
    const View position = View::iota(builder_.affine(), Dtype::S32, shape, static_cast<int64_t>(k)),
               start = dim.start.broadcast({}, shape);
    View inside = compute(like, F::Compare, {position, start}, Dtype::Pred,
                          dim.window == 1 ? Comparison::Eq : Comparison::Ge);
    if (dim.window > 1) {
      const View end =
          compute(like, F::Add, {dim.start, integer_constant(Dtype::S32, dim.window, {})}, Dtype::S32)
              .broadcast({}, shape);
      inside = compute(like, F::And,
                       {inside, compute(like, F::Compare, {position, end}, Dtype::Pred, Comparison::Lt)},
                       Dtype::Pred);
    }
    hit = hit ? compute(like, F::And, {*hit, inside}, Dtype::Pred) : inside;
  }
  if (moves) {
    // The update in place.
    NCC_TRY(check_selection(inst, s));
    std::vector<int64_t> sizes, selector_map, update_map, result_map;
    for (const IndexedDim& dim : s.dims) {
      selector_map.push_back(static_cast<int64_t>(sizes.size()));
      sizes.push_back(dim.window);
    }
    size_t k = 0;
    for (size_t d = 0; d < rank; ++d) {
      result_map.push_back(static_cast<int64_t>(sizes.size()));
      const bool is_indexed = contains(indexed, static_cast<int64_t>(d));
      update_map.push_back(is_indexed ? static_cast<int64_t>(k++) : result_map.back());
      if (is_indexed) selector_map.push_back(result_map.back());
      sizes.push_back(base.shape()[d]);
    }
    update = select_bytes(like, selector(s, Dtype::Pred, like), update, selector_map, update_map, result_map,
                          sizes);
  } else {
    std::vector<int64_t> kept, kept_shape;
    for (size_t d = 0; d < rank; ++d) {
      if (contains(indexed, static_cast<int64_t>(d))) continue;
      kept.push_back(static_cast<int64_t>(d));
      kept_shape.push_back(base.shape()[d]);
    }
    update = update.reshape(kept_shape)->broadcast(kept, base.shape());
  }
  return Value(
      compute(like, F::SelectModel, {hit->broadcast(indexed, base.shape()), update, base}, base.dtype()));
}

}  // namespace ncc::hlo2penguin
