// dot and convolution: domain dimensions with roles (batch, lhs free, rhs free, contracted); each operand is
// its view broadcast into that domain. A convolution is a contraction whose lhs is indexed by output position
// and window tap together.
#include <algorithm>

#include "tools/hlo2penguin/lower.h"

namespace ncc::hlo2penguin {

using penguin::AxisRole;

namespace {

/// The dimensions of a rank that are in none of the lists, ascending.
std::vector<int64_t> others(int64_t rank, const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> out;
  for (int64_t d = 0; d < rank; ++d)
    if (std::find(a.begin(), a.end(), d) == a.end() && std::find(b.begin(), b.end(), d) == b.end())
      out.push_back(d);
  return out;
}

/// Domain dimensions as they are collected: sizes, roles, and where each operand's and the result's
/// dimensions go.
struct Domain {
  std::vector<int64_t> sizes;
  std::vector<AxisRole> roles;

  int64_t add(int64_t size, AxisRole role) {
    sizes.push_back(size);
    roles.push_back(role);
    return static_cast<int64_t>(sizes.size()) - 1;
  }
};

/// Rounds f32 to what PE's fp32r mode keeps of it.
bool rounds_to_f32r(const hlo::Instruction& inst) {
  return inst.is(hlo::Opcode::ReducePrecision) && inst.shape.dtype == Dtype::F32 &&
         inst.attrs().exponent_bits == 8 && inst.attrs().mantissa_bits == 11;
}

}  // namespace

// Two operands that are rounded to f32r anyway are multiplied as f32r: the same products, at the rate of
// 16-bit types.
std::pair<View, View> Lowering::factors(const Instruction& inst) {
  if (!rounds_to_f32r(*inst.operand(0)) || !rounds_to_f32r(*inst.operand(1)))
    return {view(inst, 0), view(inst, 1)};
  const auto as_f32r = [&](const Instruction& rounded) {
    Emission out = emission(rounded);
    out.function = penguin::ScalarFunction::Convert;
    out.operands = {view(rounded, 0)};
    return emit_elementwise(std::move(out), Dtype::F32R);
  };
  return {as_f32r(*inst.operand(0)), as_f32r(*inst.operand(1))};
}

Result<Value> Lowering::lower_dot(const Instruction& inst) {
  const hlo::DotDims& dims = inst.attrs().dot;
  const auto [lhs, rhs] = factors(inst);
  if (inst.shape.num_elements() == 0) return Value(empty(inst));
  if (lhs.num_elements() == 0)
    return Value(View::scalar(builder_.affine(), inst.shape.dtype, 0, inst.shape.dims));
  const std::vector<int64_t> lhs_free = others(lhs.rank(), dims.lhs_contracting, dims.lhs_batch);
  const std::vector<int64_t> rhs_free = others(rhs.rank(), dims.rhs_contracting, dims.rhs_batch);
  Domain domain;
  std::vector<int64_t> lhs_map(lhs.shape().size()), rhs_map(rhs.shape().size()), result_map;
  const auto size = [](const View& view, int64_t d) { return view.shape()[static_cast<size_t>(d)]; };
  for (size_t i = 0; i < dims.lhs_batch.size(); ++i) {
    const int64_t at = domain.add(size(lhs, dims.lhs_batch[i]), AxisRole::Batch);
    lhs_map[static_cast<size_t>(dims.lhs_batch[i])] = rhs_map[static_cast<size_t>(dims.rhs_batch[i])] = at;
    result_map.push_back(at);
  }
  for (int64_t d : lhs_free)
    result_map.push_back(lhs_map[static_cast<size_t>(d)] = domain.add(size(lhs, d), AxisRole::LhsFree));
  for (int64_t d : rhs_free)
    result_map.push_back(rhs_map[static_cast<size_t>(d)] = domain.add(size(rhs, d), AxisRole::RhsFree));
  for (size_t i = 0; i < dims.lhs_contracting.size(); ++i) {
    const int64_t at = domain.add(size(lhs, dims.lhs_contracting[i]), AxisRole::Contract);
    lhs_map[static_cast<size_t>(dims.lhs_contracting[i])] =
        rhs_map[static_cast<size_t>(dims.rhs_contracting[i])] = at;
  }
  Emission out = emission(inst);
  out.op = penguin::TensorOp::Contract;
  out.roles = domain.roles;
  // Both operands are tensors: an engine reads them from memory.
  for (const auto& [operand, map] : {std::pair{&lhs, &lhs_map}, std::pair{&rhs, &rhs_map}}) {
    const View stored = operand->is_tensor() ? *operand : builder_.materialise(*operand, inst.name, inst.loc);
    out.operands.push_back(stored.broadcast(*map, domain.sizes));
  }
  const View result =
      builder_.whole(builder_.add_tensor(inst.name, inst.shape.dtype, inst.shape.dims, inst.loc));
  builder_.emit(std::move(out), result.broadcast(result_map, domain.sizes));
  return Value(result);
}

Result<Value> Lowering::lower_convolution(const Instruction& inst) {
  const hlo::Attributes& attrs = inst.attrs();
  const hlo::ConvDims& dims = *attrs.conv;
  if (inst.shape.num_elements() == 0) return Value(empty(inst));
  if (attrs.batch_group_count != 1) return unsupported(inst, "batch groups");
  const size_t spatial = dims.input_spatial.size();
  // Input, padded and dilated as the window says, as [batch, group, feature in group, spatial...].
  std::vector<hlo::PaddingDim> padding(static_cast<size_t>(view(inst, 0).rank()));
  auto [data, kernel] = factors(inst);
  for (size_t k = 0; k < spatial; ++k) {
    const hlo::WindowDim& window = attrs.window[k];
    padding[static_cast<size_t>(dims.input_spatial[k])] = {window.padding_low, window.padding_high,
                                                           window.base_dilation - 1};
    if (window.reversal) kernel = kernel.reverse(dims.kernel_spatial[k]);
  }
  View input = pad(data, View::scalar(builder_.affine(), data.dtype(), 0, {}), padding, emission(inst));
  if (input.num_elements() == 0 || kernel.num_elements() == 0)
    return Value(View::scalar(builder_.affine(), inst.shape.dtype, 0, inst.shape.dims));
  if (!input.is_tensor()) input = builder_.materialise(input, inst.name, inst.loc);
  if (!kernel.is_tensor()) kernel = builder_.materialise(kernel, inst.name, inst.loc);
  const int64_t groups = attrs.feature_group_count;
  const auto size = [](const View& view, int64_t d) { return view.shape()[static_cast<size_t>(d)]; };
  const int64_t features = size(kernel, dims.kernel_input_feature),
                outputs = size(kernel, dims.kernel_output_feature) / groups;
  const int64_t batch = size(input, dims.input_batch);

  std::vector<int64_t> perm{dims.input_batch, dims.input_feature},
      kernel_perm{dims.kernel_output_feature, dims.kernel_input_feature};
  perm.insert(perm.end(), dims.input_spatial.begin(), dims.input_spatial.end());
  kernel_perm.insert(kernel_perm.end(), dims.kernel_spatial.begin(), dims.kernel_spatial.end());
  input = input.transpose(perm);
  kernel = kernel.transpose(kernel_perm);
  std::vector<int64_t> input_shape{batch, groups, features}, kernel_shape{groups, outputs, features};
  input_shape.insert(input_shape.end(), input.shape().begin() + 2, input.shape().end());
  kernel_shape.insert(kernel_shape.end(), kernel.shape().begin() + 2, kernel.shape().end());
  input = builder_.reshape(input, input_shape, inst.name, inst.loc);
  kernel = builder_.reshape(kernel, kernel_shape, inst.name, inst.loc);

  // Domain: batch, group, output feature, output positions, input feature, taps.
  Domain domain;
  const int64_t d_batch = domain.add(batch, AxisRole::LhsFree),
                d_group = domain.add(groups, groups > 1 ? AxisRole::Batch : AxisRole::LhsFree);
  const int64_t d_output = domain.add(outputs, AxisRole::RhsFree);
  std::vector<int64_t> positions, taps;
  for (size_t k = 0; k < spatial; ++k)
    positions.push_back(
        domain.add(inst.shape.dims[static_cast<size_t>(dims.output_spatial[k])], AxisRole::LhsFree));
  const int64_t d_feature = domain.add(features, AxisRole::Contract);
  for (size_t k = 0; k < spatial; ++k) taps.push_back(domain.add(attrs.window[k].size, AxisRole::Contract));

  std::vector<int64_t> input_map{d_batch, d_group, d_feature}, kernel_map{d_group, d_output, d_feature};
  for (size_t k = 0; k < spatial; ++k) {
    const hlo::WindowDim& window = attrs.window[k];
    const size_t at = 3 + 2 * k;
    input = builder_.window(input, static_cast<int64_t>(at), domain.sizes[static_cast<size_t>(positions[k])],
                            window.stride, window.size, window.window_dilation, inst.name, inst.loc);
    input_map.insert(input_map.end(), {positions[k], taps[k]});
    kernel_map.push_back(taps[k]);
  }
  Emission out = emission(inst);
  out.op = penguin::TensorOp::Contract;
  out.roles = domain.roles;
  out.operands = {input.broadcast(input_map, domain.sizes), kernel.broadcast(kernel_map, domain.sizes)};
  const View whole =
      builder_.whole(builder_.add_tensor(inst.name, inst.shape.dtype, inst.shape.dims, inst.loc));
  // The result as [batch, group, output feature in group, positions...].
  std::vector<int64_t> result_perm{dims.output_batch, dims.output_feature};
  result_perm.insert(result_perm.end(), dims.output_spatial.begin(), dims.output_spatial.end());
  std::vector<int64_t> result_shape{batch, groups, outputs}, result_map{d_batch, d_group, d_output};
  for (size_t k = 0; k < spatial; ++k)
    result_shape.push_back(inst.shape.dims[static_cast<size_t>(dims.output_spatial[k])]);
  result_map.insert(result_map.end(), positions.begin(), positions.end());
  const View result = *whole.transpose(result_perm).reshape(result_shape);
  builder_.emit(std::move(out), result.broadcast(result_map, domain.sizes));
  return Value(whole);
}

}  // namespace ncc::hlo2penguin
