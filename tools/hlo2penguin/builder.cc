#include "tools/hlo2penguin/builder.h"

#include "common/diag/status.h"

namespace ncc::hlo2penguin {

using penguin::AxisRole;
using penguin::TensorId;

namespace {

/// First letter of an axis's name, by role.
char letter(AxisRole role) {
  switch (role) {
    case AxisRole::Parallel:
      return 'i';
    case AxisRole::Reduce:
      return 'r';
    case AxisRole::Contract:
      return 'k';
    case AxisRole::LhsFree:
      return 'm';
    case AxisRole::RhsFree:
      return 'n';
    case AxisRole::Batch:
      return 'b';
  }
  return 'i';
}

bool is_folded(AxisRole role) { return role == AxisRole::Reduce || role == AxisRole::Contract; }

}  // namespace

std::string Builder::unique_name(const std::string& wanted) {
  const std::string base = wanted.empty() ? "t" : wanted;
  if (names_.insert(base).second) return base;
  int64_t& suffix = next_suffix_[base];
  while (true) {
    std::string name = fmt::format("{}.{}", base, ++suffix);
    if (names_.insert(name).second) return name;
  }
}

TensorId Builder::add_tensor(const std::string& name, Dtype dtype, const std::vector<int64_t>& shape,
                             const SourceLoc& loc) {
  penguin::Tensor& tensor = function_.tensors.emplace_back();
  tensor.name = unique_name(name);
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.loc = loc;
  return static_cast<TensorId>(function_.tensors.size() - 1);
}

View Builder::whole(TensorId id) {
  const penguin::Tensor& tensor = function_.tensors[id];
  return View::tensor(affine(), id, tensor.dtype, tensor.shape);
}

std::vector<int64_t> Builder::common_radices(Emission& emission, const View& result, int64_t dim) {
  std::vector<std::vector<int64_t>> all{radices(result.dims()[static_cast<size_t>(dim)])};
  for (View& operand : emission.operands) {
    all.push_back(radices(operand.dims()[static_cast<size_t>(dim)]));
    if (refine(all)) continue;
    operand = materialise(operand, emission.name, emission.loc);
    all.back() = radices(operand.dims()[static_cast<size_t>(dim)]);
  }
  return *refine(all);
}

void Builder::emit(Emission emission, const View& target) {
  if (target.num_elements() == 0) return;
  View result = target.normalised();
  for (View& operand : emission.operands) operand = operand.normalised();
  // Materialising an operand changes its digits in every dimension, so radices are settled for all dimensions
  // first.
  for (int64_t d = 0; d < result.rank(); ++d) common_radices(emission, result, d);
  auto inst = std::make_unique<penguin::Inst>();
  inst->op = emission.op;
  inst->function = emission.function;
  inst->attributes = emission.attributes;
  inst->name = emission.name;
  inst->loc = emission.loc;
  std::vector<std::vector<affine::AxisId>> axes_of_dim;
  for (int64_t d = 0; d < result.rank(); ++d) {
    const std::vector<int64_t> extents = common_radices(emission, result, d);
    const AxisRole role =
        emission.roles.empty() ? AxisRole::Parallel : emission.roles[static_cast<size_t>(d)];
    std::vector<affine::AxisId>& ids = axes_of_dim.emplace_back();
    for (int64_t extent : extents) {
      const affine::AxisId id = static_cast<affine::AxisId>(function_.axes.size());
      function_.axes.push_back({fmt::format("{}{}", letter(role), id), extent});
      inst->axes.push_back({id, role});
      ids.push_back(id);
    }
    result = result.split(d, extents);
    for (View& operand : emission.operands) operand = operand.split(d, extents);
  }
  const auto over_axes = [&](const View& view) {
    std::vector<affine::AxisId> axis_of_digit(view.digit_limit(), 0);
    for (size_t d = 0; d < axes_of_dim.size(); ++d)
      for (size_t i = 0; i < axes_of_dim[d].size(); ++i)
        axis_of_digit[view.dims()[d][i].id] = axes_of_dim[d][i];
    return view.operand(axis_of_digit);
  };
  for (const View& operand : emission.operands) inst->operands.push_back(over_axes(operand));
  inst->result = over_axes(result);
  penguin::Stmt stmt;
  stmt.inst = std::move(inst);
  function_.body.push_back(std::move(stmt));
}

View Builder::emit_new(Emission emission, Dtype dtype) {
  const std::vector<int64_t>& domain = emission.operands.front().shape();
  std::vector<int64_t> shape, kept;
  for (size_t d = 0; d < domain.size(); ++d) {
    if (!emission.roles.empty() && is_folded(emission.roles[d])) continue;
    shape.push_back(domain[d]);
    kept.push_back(static_cast<int64_t>(d));
  }
  const View result = whole(add_tensor(emission.name, dtype, shape, emission.loc));
  emit(std::move(emission), result.broadcast(kept, domain));
  return result;
}

View Builder::materialise(const View& value, const std::string& name, const SourceLoc& loc) {
  if (value.is_tensor()) {
    const penguin::Tensor& tensor = function_.tensors[value.tensor_id()];
    if (tensor.shape == value.shape() && value.is_dense(tensor.shape)) return whole(value.tensor_id());
  }
  Emission copy;
  copy.operands = {value};
  copy.name = name;
  copy.loc = loc;
  return emit_new(std::move(copy), value.dtype());
}

View Builder::reshape(const View& value, const std::vector<int64_t>& shape, const std::string& name,
                      const SourceLoc& loc) {
  if (value.num_elements() == 0) return View::scalar(affine(), value.dtype(), 0, shape);
  if (std::optional<View> access = value.reshape(shape)) return *access;
  View stored = value;
  if (!value.is_tensor() || !value.is_dense(function_.tensors[value.tensor_id()].shape))
    stored = materialise(value, name, loc);
  const TensorId viewed = function_.tensors[stored.tensor_id()].alias_of;
  const TensorId id = add_tensor(name, value.dtype(), shape, loc);
  function_.tensors[id].alias_of = viewed == penguin::kNone ? stored.tensor_id() : viewed;
  return whole(id);
}

View Builder::window(const View& value, int64_t dim, int64_t count, int64_t stride, int64_t taps,
                     int64_t dilation, const std::string& name, const SourceLoc& loc) {
  if (std::optional<View> access = value.window(dim, count, stride, taps, dilation)) return *access;
  return *materialise(value, name, loc).window(dim, count, stride, taps, dilation);
}

View Builder::slice(const View& value, int64_t dim, int64_t start, int64_t stride, int64_t count,
                    const std::string& name, const SourceLoc& loc) {
  if (std::optional<View> access = value.slice(dim, start, stride, count)) return *access;
  return *materialise(value, name, loc).slice(dim, start, stride, count);
}

}  // namespace ncc::hlo2penguin
