#include <algorithm>

#include "ir-formats/hlo/infer.h"

namespace ncc::hlo {
namespace {

size_t at(int64_t i) { return static_cast<size_t>(i); }

Result<Shape> infer_dot(const Instruction& inst) {
  const int64_t rhs_operand = inst.is(Opcode::ScaledDot) ? scaled_dot_rhs_operand(inst) : 1;
  const Shape& lhs = inst.operand_shape(0);
  const Shape& rhs = inst.operand_shape(rhs_operand);
  const DotDims& dot = inst.attrs().dot;
  if (dot.lhs_batch.size() != dot.rhs_batch.size())
    return mismatch(inst, "dot_general_c1", "batching dimensions", dot.lhs_batch.size(),
                    dot.rhs_batch.size());
  if (dot.lhs_contracting.size() != dot.rhs_contracting.size())
    return mismatch(inst, "dot_general_c2", "contracting dimensions", dot.lhs_contracting.size(),
                    dot.rhs_contracting.size());
  NCC_TRY(check_dims(inst, dot.lhs_batch, lhs.rank(), "dot_general_c5", "dot_general_c3",
                     "left batching dimensions"));
  NCC_TRY(check_dims(inst, joined(dot.lhs_batch, dot.lhs_contracting), lhs.rank(), "dot_general_c6",
                     "dot_general_c3", "left dimensions"));
  NCC_TRY(check_dims(inst, dot.rhs_batch, rhs.rank(), "dot_general_c7", "dot_general_c4",
                     "right batching dimensions"));
  NCC_TRY(check_dims(inst, joined(dot.rhs_batch, dot.rhs_contracting), rhs.rank(), "dot_general_c8",
                     "dot_general_c4", "right dimensions"));
  if (!inst.attrs().precision.empty() && inst.attrs().precision.size() != 2)
    return mismatch(inst, "dot_general_c11", "number of precisions", inst.attrs().precision.size(), 2);
  std::vector<int64_t> dims;
  for (size_t i = 0; i < dot.lhs_batch.size(); ++i) {
    const int64_t left = lhs.dims[at(dot.lhs_batch[i])], right = rhs.dims[at(dot.rhs_batch[i])];
    if (left != right)
      return mismatch(inst, "dot_general_c9", fmt::format("sizes of batching pair {}", i),
                      fmt::format("{} and {}", left, right), "equal ones");
    dims.push_back(left);
  }
  for (size_t i = 0; i < dot.lhs_contracting.size(); ++i) {
    const int64_t left = lhs.dims[at(dot.lhs_contracting[i])], right = rhs.dims[at(dot.rhs_contracting[i])];
    if (left != right)
      return mismatch(inst, "dot_general_c10", fmt::format("sizes of contracting pair {}", i),
                      fmt::format("{} and {}", left, right), "equal ones");
  }
  for (int64_t d = 0; d < lhs.rank(); ++d) {
    if (!contains(dot.lhs_batch, d) && !contains(dot.lhs_contracting, d)) dims.push_back(lhs.dims[at(d)]);
  }
  for (int64_t d = 0; d < rhs.rank(); ++d) {
    if (!contains(dot.rhs_batch, d) && !contains(dot.rhs_contracting, d)) dims.push_back(rhs.dims[at(d)]);
  }
  // The accumulation type is free: the stated one.
  return Shape::array(inst.shape.dtype, dims);
}

// Rows of the ragged dimension belong to consecutive groups. It is a free, a contracting or a batching
// dimension of the left side; the right side's group dimension goes, and contracting raggedly gives one
// product a group.
Result<Shape> infer_ragged_dot(const Instruction& inst) {
  const Attributes& a = inst.attrs();
  const Shape &lhs = inst.operand_shape(0), &rhs = inst.operand_shape(1), &groups = inst.operand_shape(2);
  if (a.lhs_ragged_dims.size() != 1)
    return mismatch(inst, "ragged_dot", "number of ragged dimensions", a.lhs_ragged_dims.size(), 1);
  NCC_TRY(check_dims(inst, a.lhs_ragged_dims, lhs.rank(), "ragged_dot", "ragged_dot", "ragged dimension"));
  NCC_TRY(check_dims(inst, a.rhs_group_dims, rhs.rank(), "ragged_dot", "ragged_dot", "group dimensions"));
  NCC_TRY(check_dims(inst, joined(a.dot.lhs_batch, a.dot.lhs_contracting), lhs.rank(), "ragged_dot",
                     "ragged_dot", "left dimensions"));
  NCC_TRY(check_dims(inst, joined(joined(a.dot.rhs_batch, a.dot.rhs_contracting), a.rhs_group_dims),
                     rhs.rank(), "ragged_dot", "ragged_dot", "right dimensions"));
  if (a.dot.lhs_batch.size() != a.dot.rhs_batch.size() ||
      a.dot.lhs_contracting.size() != a.dot.rhs_contracting.size())
    return mismatch(inst, "ragged_dot", "paired dimensions",
                    fmt::format("{} and {}", dims_text(joined(a.dot.lhs_batch, a.dot.lhs_contracting)),
                                dims_text(joined(a.dot.rhs_batch, a.dot.rhs_contracting))),
                    "as many on both sides");
  if (!is_integer(groups.dtype) || groups.rank() < 1)
    return mismatch(inst, "ragged_dot", "group sizes", to_string(groups),
                    "an integer array of rank 1 or more");
  const int64_t ragged = a.lhs_ragged_dims[0];
  const bool free = !contains(a.dot.lhs_batch, ragged) && !contains(a.dot.lhs_contracting, ragged);
  if (free != (a.rhs_group_dims.size() == 1))
    return mismatch(inst, "ragged_dot", "number of group dimensions", a.rhs_group_dims.size(), free ? 1 : 0);
  std::vector<int64_t> dims;
  if (contains(a.dot.lhs_contracting, ragged)) dims.push_back(groups.dims.back());
  for (int64_t d : a.dot.lhs_batch) dims.push_back(lhs.dims[at(d)]);
  for (int64_t d = 0; d < lhs.rank(); ++d) {
    if (!contains(a.dot.lhs_batch, d) && !contains(a.dot.lhs_contracting, d)) dims.push_back(lhs.dims[at(d)]);
  }
  for (int64_t d = 0; d < rhs.rank(); ++d) {
    if (!contains(a.dot.rhs_batch, d) && !contains(a.dot.rhs_contracting, d) &&
        !contains(a.rhs_group_dims, d))
      dims.push_back(rhs.dims[at(d)]);
  }
  return Shape::array(inst.shape.dtype, dims);
}

Result<Shape> infer_convolution(const Instruction& inst) {
  const Attributes& a = inst.attrs();
  if (!a.conv) return mismatch(inst, "convolution_c13", "dimension numbers", "none", "some");
  const ConvDims& c = *a.conv;
  const Shape& lhs = inst.operand_shape(0);
  const Shape& rhs = inst.operand_shape(1);
  const int64_t spatial = static_cast<int64_t>(c.input_spatial.size());
  if (lhs.rank() != spatial + 2 || rhs.rank() != spatial + 2)
    return mismatch(inst, "convolution_c1", "ranks", fmt::format("{} and {}", lhs.rank(), rhs.rank()),
                    spatial + 2);
  if (static_cast<int64_t>(c.kernel_spatial.size()) != spatial)
    return mismatch(inst, "convolution_c17", "kernel spatial dimensions", c.kernel_spatial.size(), spatial);
  if (static_cast<int64_t>(c.output_spatial.size()) != spatial)
    return mismatch(inst, "convolution_c19", "output spatial dimensions", c.output_spatial.size(), spatial);
  NCC_TRY(check_window(inst, spatial,
                       {"convolution_c2", "convolution_c25", "convolution_c3", "convolution_c6",
                        "convolution_c8", "convolution_c4"}));
  const auto all = [](int64_t first, int64_t second, const std::vector<int64_t>& rest) {
    std::vector<int64_t> list = {first, second};
    list.insert(list.end(), rest.begin(), rest.end());
    return list;
  };
  NCC_TRY(check_dims(inst, all(c.input_batch, c.input_feature, c.input_spatial), spatial + 2,
                     "convolution_c13", "convolution_c13", "input dimensions"));
  NCC_TRY(check_dims(inst, all(c.kernel_input_feature, c.kernel_output_feature, c.kernel_spatial),
                     spatial + 2, "convolution_c18", "convolution_c18", "kernel dimensions"));
  NCC_TRY(check_dims(inst, all(c.output_batch, c.output_feature, c.output_spatial), spatial + 2,
                     "convolution_c20", "convolution_c20", "output dimensions"));
  const int64_t features = lhs.dims[at(c.input_feature)], batch = lhs.dims[at(c.input_batch)];
  const int64_t kernel_in = rhs.dims[at(c.kernel_input_feature)],
                kernel_out = rhs.dims[at(c.kernel_output_feature)];
  const int64_t groups = a.feature_group_count, batch_groups = a.batch_group_count;
  if (groups < 1) return mismatch(inst, "convolution_c21", "feature_group_count", groups, "at least 1");
  if (batch_groups < 1)
    return mismatch(inst, "convolution_c22", "batch_group_count", batch_groups, "at least 1");
  if (groups > 1 && batch_groups > 1)
    return mismatch(inst, "convolution_c23", "group counts", fmt::format("{} and {}", groups, batch_groups),
                    "one of them 1");
  if (batch % batch_groups != 0)
    return mismatch(inst, "convolution_c10", "batch", batch, fmt::format("a multiple of {}", batch_groups));
  if (features % groups != 0)
    return mismatch(inst, "convolution_c11", "input features", features,
                    fmt::format("a multiple of {}", groups));
  if (kernel_in != features / groups)
    return mismatch(inst, "convolution_c14", "kernel input features", kernel_in, features / groups);
  if (kernel_out % batch_groups != 0)
    return mismatch(inst, "convolution_c15", "kernel output features", kernel_out,
                    fmt::format("a multiple of {}", batch_groups));
  if (kernel_out % groups != 0)
    return mismatch(inst, "convolution_c16", "kernel output features", kernel_out,
                    fmt::format("a multiple of {}", groups));
  if (!a.precision.empty() && a.precision.size() != 2)
    return mismatch(inst, "convolution_c24", "number of precisions", a.precision.size(), 2);
  std::vector<int64_t> dims(at(spatial + 2));
  dims[at(c.output_batch)] = batch / batch_groups;
  dims[at(c.output_feature)] = kernel_out;
  for (size_t d = 0; d < c.output_spatial.size(); ++d) {
    const int64_t tap = rhs.dims[at(c.kernel_spatial[d])];
    if (a.window[d].size != tap)
      return mismatch(inst, "convolution_c25", fmt::format("window size {}", d), a.window[d].size, tap);
    dims[at(c.output_spatial[d])] = windowed_size(lhs.dims[at(c.input_spatial[d])], a.window[d]);
  }
  return Shape::array(inst.shape.dtype, dims);
}

Result<Shape> infer_fft(const Instruction& inst) {
  const Shape& operand = inst.operand_shape(0);
  const auto& length = inst.attrs().fft_length;
  const int64_t count = static_cast<int64_t>(length.size());
  if (count < 1 || count > 3) return mismatch(inst, "fft_c3", "fft dimensions", count, "1 to 3");
  if (count > operand.rank())
    return mismatch(inst, "fft_c1", "fft dimensions", count,
                    fmt::format("at most the rank {}", operand.rank()));
  std::vector<int64_t> dims = operand.dims;
  const FftType type = inst.attrs().fft_type;
  const bool real_in = type == FftType::Rfft, real_out = type == FftType::Irfft;
  if (is_complex(operand.dtype) == real_in)
    return mismatch(inst, "fft_c2", "element type", info(operand.dtype).hlo,
                    real_in ? "a float" : "a complex");
  for (int64_t i = 0; i < count; ++i) {
    int64_t& size = dims[at(operand.rank() - count + i)];
    const bool last = i + 1 == count;
    const int64_t wanted = last && real_out && length[at(i)] > 0 ? length[at(i)] / 2 + 1 : length[at(i)];
    if (size != wanted)
      return mismatch(inst, "fft_c4", fmt::format("size of fft dimension {}", i), size, wanted);
    if (last && real_in) size = size == 0 ? 0 : size / 2 + 1;
    if (last && real_out) size = length[at(i)];
  }
  const bool wide = operand.dtype == Dtype::F64 || operand.dtype == Dtype::C128;
  const Dtype dtype = real_out ? (wide ? Dtype::F64 : Dtype::F32) : (wide ? Dtype::C128 : Dtype::C64);
  return Shape::array(dtype, dims);
}

Result<Shape> infer_triangular_solve(const Instruction& inst) {
  const Shape& a = inst.operand_shape(0);
  const Shape& b = inst.operand_shape(1);
  if (a.dtype != b.dtype)
    return mismatch(inst, "triangular_solve_c1", "element types",
                    fmt::format("{} and {}", info(a.dtype).hlo, info(b.dtype).hlo), "equal ones");
  if (a.rank() < 2 || a.rank() != b.rank())
    return mismatch(inst, "triangular_solve_c2", "operands",
                    fmt::format("{} and {}", to_string(a), to_string(b)), "equal ranks of at least 2");
  const size_t rank = a.dims.size();
  const int64_t side = b.dims[inst.attrs().left_side ? rank - 2 : rank - 1];
  if (a.dims[rank - 1] != a.dims[rank - 2] || a.dims[rank - 1] != side)
    return mismatch(inst, "triangular_solve_c3", "matrix", to_string(a),
                    fmt::format("squares of size {}", side));
  if (!std::equal(a.dims.begin(), a.dims.end() - 2, b.dims.begin()))
    return mismatch(inst, "triangular_solve_c3", "batch dimensions", to_string(b), dims_text(a.dims));
  return Shape::array(b.dtype, b.dims);
}

Result<Shape> infer_batch_norm(const Instruction& inst) {
  const Shape& operand = inst.operand_shape(0);
  const int64_t feature = inst.attrs().feature_index;
  if (feature < 0 || feature >= operand.rank())
    return mismatch(inst, "batch_norm_c1", "feature_index", feature,
                    fmt::format("0 to {}", operand.rank() - 1));
  const Shape per_feature = Shape::array(operand.dtype, {operand.dims[at(feature)]});
  const int64_t vectors = inst.is(Opcode::BatchNormTraining) ? 2 : inst.is(Opcode::BatchNormGrad) ? 3 : 4;
  for (int64_t i = 1; i <= vectors; ++i) {
    if (inst.operand_shape(i).dtype != operand.dtype)
      return mismatch(inst, "batch_norm_c2", fmt::format("element type of operand {}", i),
                      info(inst.operand_shape(i).dtype).hlo, info(operand.dtype).hlo);
    if (!same_dims(inst.operand_shape(i), per_feature))
      return mismatch(inst, "batch_norm_c3", fmt::format("operand {}", i), to_string(inst.operand_shape(i)),
                      to_string(per_feature));
  }
  if (inst.is(Opcode::BatchNormGrad) && !same_dims(inst.operand_shape(4), operand))
    return mismatch(inst, "batch_norm_grad_c3", "gradient of the output", to_string(inst.operand_shape(4)),
                    dims_text(operand.dims));
  const Shape same = Shape::array(operand.dtype, operand.dims);
  return inst.is(Opcode::BatchNormInference) ? same : Shape::make_tuple({same, per_feature, per_feature});
}

}  // namespace

// Producers order the operands in two ways; only one of them has contracting sizes that agree.
int64_t scaled_dot_rhs_operand(const Instruction& inst) {
  const DotDims& dot = inst.attrs().dot;
  const Shape &lhs = inst.operand_shape(0), &second = inst.operand_shape(1), &third = inst.operand_shape(2);
  const auto agrees = [&](const Shape& rhs) {
    for (size_t i = 0; i < dot.lhs_contracting.size() && i < dot.rhs_contracting.size(); ++i) {
      const int64_t left = dot.lhs_contracting[i], right = dot.rhs_contracting[i];
      if (left < 0 || left >= lhs.rank() || right < 0 || right >= rhs.rank() ||
          lhs.dims[at(left)] != rhs.dims[at(right)])
        return false;
    }
    return true;
  };
  return !agrees(third) && agrees(second) ? 1 : 2;
}

Result<Shape> infer_contraction(const Instruction& inst) {
  switch (inst.opcode) {
    case Opcode::Dot:
    case Opcode::ScaledDot:
      return infer_dot(inst);
    case Opcode::Convolution:
      return infer_convolution(inst);
    case Opcode::RaggedDot:
      return infer_ragged_dot(inst);
    case Opcode::BatchNormGrad:
    case Opcode::BatchNormInference:
    case Opcode::BatchNormTraining:
      return infer_batch_norm(inst);
    case Opcode::Cholesky: {
      const Shape& a = inst.operand_shape(0);
      if (a.rank() < 2) return mismatch(inst, "cholesky_c2", "rank of the operand", a.rank(), "at least 2");
      if (a.dims[at(a.rank() - 1)] != a.dims[at(a.rank() - 2)])
        return mismatch(inst, "cholesky_c3", "operand", to_string(a), "square matrices");
      return Shape::array(a.dtype, a.dims);
    }
    case Opcode::Fft:
      return infer_fft(inst);
    case Opcode::TriangularSolve:
      return infer_triangular_solve(inst);
    default:
      return inst.shape;
  }
}

}  // namespace ncc::hlo
