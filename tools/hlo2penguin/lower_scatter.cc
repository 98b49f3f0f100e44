// scatter by one-hot selectors; see lower_index.cc.
#include <algorithm>
#include <limits>
#include <numeric>

#include "tools/hlo2penguin/lower.h"

namespace ncc::hlo2penguin {

using penguin::AxisRole;
using penguin::Comparison;
using F = penguin::ScalarFunction;

namespace {

/// Elements of a selection that is a select and a fold.
constexpr int64_t kMaxSelected = int64_t{1} << 28;
/// Updates are numbered in f32, exact up to here.
constexpr int64_t kMaxNumbered = int64_t{1} << 24;

/// The value that a fold of `dtype` ignores.
uint64_t neutral(F function, Dtype dtype) {
  uint64_t bits = 0;
  const double infinity = std::numeric_limits<double>::infinity();
  if (function == F::Multiply) store_from_double(dtype, &bits, 1.0);
  if (function == F::And) store_from_int64(dtype, &bits, -1);
  if (function != F::Maximum && function != F::Minimum) return bits;
  if (is_float(dtype)) {
    store_from_double(dtype, &bits, function == F::Maximum ? -infinity : infinity);
  } else {
    store_from_double(dtype, &bits, function == F::Maximum ? -1e30 : 1e30);  // saturates
  }
  return bits;
}

/// The body returns its second parameter.
bool replaces(const hlo::Computation& body) {
  return body.root()->is(hlo::Opcode::Parameter) && body.root()->index == 1;
}

}  // namespace

Lowering::ScatterPlan Lowering::plan_scatter(const Instruction& inst) {
  const hlo::ScatterDims& dims = inst.attrs().scatter;
  const View& operand = view(inst, 0);
  const View& indices = view(inst, 1);
  const View& updates = view(inst, 2);
  const Emission like = emission(inst);
  ScatterPlan plan;
  // Update dimensions: points (in the order of the indices), windows (in the order of the operand).
  for (int64_t d = 0; d < updates.rank(); ++d)
    if (!contains(dims.update_window_dims, d)) {
      plan.update_perm.push_back(d);
      plan.selection.points.push_back(updates.shape()[static_cast<size_t>(d)]);
    }
  plan.update_perm.insert(plan.update_perm.end(), dims.update_window_dims.begin(),
                          dims.update_window_dims.end());
  plan.point_of_dim.assign(static_cast<size_t>(operand.rank()), -1);
  for (size_t i = 0; i < dims.input_batching_dims.size(); ++i) {
    const int64_t at = dims.scatter_indices_batching_dims[i];
    plan.point_of_dim[static_cast<size_t>(dims.input_batching_dims[i])] =
        at > dims.index_vector_dim ? at - 1 : at;
  }
  size_t next_window = 0;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const size_t i = static_cast<size_t>(d);
    const int64_t size = operand.shape()[i];
    if (plan.point_of_dim[i] >= 0) {
      plan.windows.push_back(1);
      continue;
    }
    const bool inserted = contains(dims.inserted_window_dims, d);
    const int64_t window =
        inserted ? 1 : updates.shape()[static_cast<size_t>(dims.update_window_dims[next_window++])];
    plan.windows.push_back(window);
    const auto at =
        std::find(dims.scatter_dims_to_operand_dims.begin(), dims.scatter_dims_to_operand_dims.end(), d);
    View start = integer_constant(Dtype::S32, 0, plan.selection.points);
    if (at != dims.scatter_dims_to_operand_dims.end()) {
      start = compute(
          like, F::Convert,
          {start_index(inst, indices, dims.index_vector_dim, at - dims.scatter_dims_to_operand_dims.begin())},
          Dtype::S32);
      // A window that is not wholly inside is skipped.
      const View low =
          compute(like, F::Compare, {start, integer_constant(Dtype::S32, 0, plan.selection.points)},
                  Dtype::Pred, Comparison::Ge);
      const View high = compute(like, F::Compare,
                                {start, integer_constant(Dtype::S32, size - window, plan.selection.points)},
                                Dtype::Pred, Comparison::Le);
      const View inside = compute(like, F::And, {low, high}, Dtype::Pred);
      plan.selection.valid =
          plan.selection.valid ? compute(like, F::And, {*plan.selection.valid, inside}, Dtype::Pred) : inside;
    } else if (window == size) {
      continue;
    }
    plan.selection.dims.push_back({d, size, window, start});
  }
  // Domain: points, windows of indexed dimensions, operand dimensions (batching ones are points).
  const size_t points = plan.selection.points.size();
  plan.sizes = plan.selection.points;
  std::vector<int64_t> window_at(static_cast<size_t>(operand.rank()), -1);
  for (const IndexedDim& dim : plan.selection.dims) {
    window_at[static_cast<size_t>(dim.dim)] = static_cast<int64_t>(plan.sizes.size());
    plan.sizes.push_back(dim.window);
  }
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const size_t i = static_cast<size_t>(d);
    plan.operand_map.push_back(plan.point_of_dim[i] >= 0 ? plan.point_of_dim[i]
                                                         : static_cast<int64_t>(plan.sizes.size()));
    if (plan.point_of_dim[i] < 0) plan.sizes.push_back(operand.shape()[i]);
  }
  for (size_t p = 0; p < points; ++p) {
    plan.selector_map.push_back(static_cast<int64_t>(p));
    plan.update_map.push_back(static_cast<int64_t>(p));
  }
  for (const IndexedDim& dim : plan.selection.dims)
    plan.selector_map.push_back(window_at[static_cast<size_t>(dim.dim)]);
  for (const IndexedDim& dim : plan.selection.dims)
    plan.selector_map.push_back(plan.operand_map[static_cast<size_t>(dim.dim)]);
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const size_t i = static_cast<size_t>(d);
    if (plan.point_of_dim[i] >= 0 || contains(dims.inserted_window_dims, d)) continue;
    plan.update_map.push_back(window_at[i] >= 0 ? window_at[i] : plan.operand_map[i]);
  }
  return plan;
}

View Lowering::scatter_replace(const ScatterPlan& plan, const View& base, const View& updates,
                               const Emission& like) {
  // Over points, windows and the indexed dimensions: the number of the last point that hits a position, 0 for
  // none.
  const Selection& s = plan.selection;
  const View hit = selector(s, Dtype::Pred, like);
  std::vector<std::pair<int64_t, int64_t>> terms;
  int64_t stride = 1;
  for (size_t p = s.points.size(); p-- > 0;) {
    terms.emplace_back(static_cast<int64_t>(p), stride);
    stride *= s.points[p];
  }
  const View number = View::index(builder_.affine(), Dtype::F32, hit.shape(), terms, 1);
  const View numbered =
      compute(like, F::SelectModel, {hit, number, integer_constant(Dtype::F32, 0, hit.shape())}, Dtype::F32);
  // Folded: everything but batching points and the positions.
  Emission fold = like;
  fold.op = penguin::TensorOp::Reduce;
  fold.function = F::Maximum;
  std::vector<int64_t> kept, base_dims;
  for (size_t d = 0; d < hit.shape().size(); ++d) {
    const int64_t domain_dim = plan.selector_map[d];
    const auto at = std::find(plan.operand_map.begin(), plan.operand_map.end(), domain_dim);
    const bool keeps = at != plan.operand_map.end();
    fold.roles.push_back(keeps ? AxisRole::Parallel : AxisRole::Reduce);
    if (!keeps) continue;
    kept.push_back(static_cast<int64_t>(d));
    base_dims.push_back(at - plan.operand_map.begin());
  }
  fold.operands = {numbered, integer_constant(Dtype::F32, 0, hit.shape())};
  const View winner = builder_.emit_new(std::move(fold), Dtype::F32);
  const View wins =
      compute(like, F::Compare, {numbered, winner.broadcast(kept, hit.shape())}, Dtype::Pred, Comparison::Eq);
  const View chosen = compute(like, F::And, {hit, wins}, Dtype::Pred);
  const View update =
      select_bytes(like, chosen, updates, plan.selector_map, plan.update_map, plan.operand_map, plan.sizes);
  const View any = compute(like, F::Compare, {winner, integer_constant(Dtype::F32, 0, winner.shape())},
                           Dtype::Pred, Comparison::Gt);
  return compute(like, F::SelectModel, {any.broadcast(base_dims, base.shape()), update, base}, base.dtype());
}

View Lowering::scatter_add(const ScatterPlan& plan, const View& base, const View& updates,
                           const Emission& like) {
  const bool floats = is_float(base.dtype());
  const Dtype type = floats ? Dtype::F32 : Dtype::S32, factor = floats ? base.dtype() : Dtype::S32;
  const View hit = selector(plan.selection, Dtype::Pred, like);
  const auto sum = [&](const View& values, Dtype factor_type) {
    return contract(like, compute(like, F::Convert, {hit}, factor_type), values, plan.selector_map,
                    plan.update_map, plan.operand_map, plan.sizes, type);
  };
  const View start = compute(like, F::Convert, {base}, type);
  if (!floats) {
    const View total =
        compute(like, F::Add, {start, sum(compute(like, F::Convert, {updates}, factor), factor)}, type);
    return compute(like, F::Convert, {total}, base.dtype());
  }
  const auto constant = [&](Dtype dtype, double value, const View& of) {
    uint64_t bits = 0;
    store_from_double(dtype, &bits, value);
    return View::scalar(builder_.affine(), dtype, bits, of.shape());
  };
  // 0 times infinity would reach positions that are not hit: the products see finite updates, and whether an
  // infinity of either sign (a NaN is both) arrives at a position is counted beside them.
  const View finite = compute(like, F::IsFinite, {updates}, Dtype::Pred);
  const View clean = compute(like, F::SelectModel, {finite, updates, constant(factor, 0, updates)}, factor);
  View total = compute(like, F::Add, {start, sum(clean, factor)}, type);
  for (const double infinity :
       {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    const View below = compute(like, F::Compare, {updates, constant(factor, infinity, updates)}, Dtype::Pred,
                               infinity > 0 ? Comparison::Lt : Comparison::Gt);
    const View mark =
        compute(like, F::SelectModel,
                {below, constant(Dtype::BF16, 0, updates), constant(Dtype::BF16, 1, updates)}, Dtype::BF16);
    const View count = sum(mark, Dtype::BF16);
    const View arrives =
        compute(like, F::Compare, {count, constant(type, 0, count)}, Dtype::Pred, Comparison::Gt);
    const View added = compute(like, F::SelectModel,
                               {arrives, constant(type, infinity, count), constant(type, 0, count)}, type);
    total = compute(like, F::Add, {total, added}, type);
  }
  return compute(like, F::Convert, {total}, base.dtype());
}

Result<Value> Lowering::lower_scatter(const Instruction& inst) {
  if (inst.num_operands() != 3) return unsupported(inst, "it updates several arrays at once");
  const View& base = view(inst, 0);
  if (base.num_elements() == 0 || view(inst, 2).num_elements() == 0) return Value(base);
  const bool is_replace = replaces(*inst.body());
  const std::optional<F> function = fold_of(*inst.body());
  if (!is_replace && !function)
    return unsupported(inst,
                       "its body is not one of add, multiply, maximum, minimum, and, or, xor, or the update");
  const Emission like = emission(inst);
  const ScatterPlan plan = plan_scatter(inst);
  const View updates = view(inst, 2).transpose(plan.update_perm);
  NCC_TRY(check_selection(inst, plan.selection));
  if (is_replace && product(plan.selection.points) > kMaxNumbered)
    return unsupported(inst, fmt::format("it has more than {} updates", kMaxNumbered));
  if (is_replace) return Value(scatter_replace(plan, base, updates, like));
  if (*function == F::Add && base.dtype() != Dtype::Pred) {
    return Value(scatter_add(plan, base, updates, like));
  }
  if (product(plan.sizes) > kMaxSelected)
    return unsupported(inst, fmt::format("it selects among {} elements", product(plan.sizes)));
  const View ignored =
      View::scalar(builder_.affine(), base.dtype(), neutral(*function, base.dtype()), plan.sizes);
  const View hit = selector(plan.selection, Dtype::Pred, like);
  const View chosen = compute(
      like, F::SelectModel,
      {hit.broadcast(plan.selector_map, plan.sizes), updates.broadcast(plan.update_map, plan.sizes), ignored},
      base.dtype());
  Emission fold = like;
  fold.op = penguin::TensorOp::Reduce;
  fold.function = *function;
  for (int64_t d = 0; d < static_cast<int64_t>(plan.sizes.size()); ++d)
    fold.roles.push_back(contains(plan.operand_map, d) ? AxisRole::Parallel : AxisRole::Reduce);
  fold.operands = {chosen, ignored};
  View folded = builder_.emit_new(std::move(fold), base.dtype());
  // The kept dimensions stand in domain order: batching points first.
  std::vector<int64_t> order = plan.operand_map, perm;
  std::sort(order.begin(), order.end());
  for (int64_t d : plan.operand_map) perm.push_back(std::find(order.begin(), order.end(), d) - order.begin());
  folded = folded.transpose(perm);
  return Value(compute(like, *function, {base, folded}, base.dtype()));
}

}  // namespace ncc::hlo2penguin
