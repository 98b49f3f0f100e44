// cholesky and batch normalisation. Cholesky runs in extended precision, batch normalisation in double;
// results are rounded once. Source: spec/stablehlo-text.md §3.8.
#include <cmath>

#include "ir-formats/hlo/interpreter/matrix_values.h"
#include "ir-formats/hlo/interpreter/ops.h"

namespace ncc::hlo {
namespace {

// The lower factor of the n x n matrix whose given triangle is read; NaN when it is not positive definite.
std::vector<Complex> lower_factor(std::vector<Complex> a, int64_t n, bool lower) {
  const auto at = [n](int64_t i, int64_t j) { return static_cast<size_t>(i * n + j); };
  std::vector<Complex> factor(a.size(), 0);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j; i < n; ++i) {
      Complex sum = lower ? a[at(i, j)] : std::conj(a[at(j, i)]);
      for (int64_t k = 0; k < j; ++k) sum -= factor[at(i, k)] * std::conj(factor[at(j, k)]);
      factor[at(i, j)] = i == j ? Complex(std::sqrt(sum.real())) : sum / factor[at(j, j)].real();
    }
  }
  return factor;
}

// The per-feature view of a batch-norm operand: element i belongs to feature (i / inner) % features.
struct Features {
  int64_t count, inner, per_feature;
  Features(const Shape& shape, int64_t dim) : count(shape.dims[static_cast<size_t>(dim)]), inner(1) {
    for (size_t d = static_cast<size_t>(dim) + 1; d < shape.dims.size(); ++d) inner *= shape.dims[d];
    per_feature = count == 0 ? 0 : shape.num_elements() / count;
  }
  size_t of(int64_t i) const { return static_cast<size_t>(i / inner % count); }
};

std::vector<double> doubles(const Literal& literal) {
  std::vector<double> values;
  for (int64_t i = 0; i < literal.num_elements(); ++i) values.push_back(literal.as_double(i));
  return values;
}

Literal from_doubles(const std::vector<double>& values, const Shape& shape, Dtype type) {
  Literal out = Literal::zeros(Shape::array(type, shape.dims));
  for (size_t i = 0; i < values.size(); ++i)
    store_from_double(type, out.mutable_data() + static_cast<int64_t>(i) * size_bytes(type), values[i]);
  return out;
}

}  // namespace

Result<Literal> eval_cholesky(Evaluator&, const Instruction& inst, Operands& operands) {
  Literal out = Literal::zeros(operands[0].shape());
  const int64_t n = inst.shape.dims.back();
  for (int64_t first = 0; first < out.num_elements(); first += n * n) {
    std::vector<Complex> factor = lower_factor(read_matrix(operands[0], first, n * n), n, inst.attrs().lower);
    if (!inst.attrs().lower) {  // the upper factor is the conjugate transpose
      std::vector<Complex> upper(factor.size());
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
          upper[static_cast<size_t>(j * n + i)] = std::conj(factor[static_cast<size_t>(i * n + j)]);
      factor = std::move(upper);
    }
    write_matrix(out, first, factor);
  }
  return out;
}

Result<Literal> eval_batch_norm_inference(Evaluator&, const Instruction& inst, Operands& operands) {
  const Features features(operands[0].shape(), inst.attrs().feature_index);
  std::vector<double> x = doubles(operands[0]);
  const auto scale = doubles(operands[1]), offset = doubles(operands[2]), mean = doubles(operands[3]),
             variance = doubles(operands[4]);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t f = features.of(static_cast<int64_t>(i));
    x[i] = scale[f] * (x[i] - mean[f]) / std::sqrt(variance[f] + inst.attrs().epsilon) + offset[f];
  }
  return from_doubles(x, operands[0].shape(), operands[0].shape().dtype);
}

// Mean and biased variance over everything but the feature dimension; result (output, mean, variance).
Result<Literal> eval_batch_norm_training(Evaluator&, const Instruction& inst, Operands& operands) {
  const Features features(operands[0].shape(), inst.attrs().feature_index);
  std::vector<double> x = doubles(operands[0]);
  const auto scale = doubles(operands[1]), offset = doubles(operands[2]);
  std::vector<double> mean(scale.size(), 0), variance(scale.size(), 0);
  const double count = static_cast<double>(features.per_feature);
  for (size_t i = 0; i < x.size(); ++i) mean[features.of(static_cast<int64_t>(i))] += x[i] / count;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t f = features.of(static_cast<int64_t>(i));
    variance[f] += (x[i] - mean[f]) * (x[i] - mean[f]) / count;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t f = features.of(static_cast<int64_t>(i));
    x[i] = scale[f] * (x[i] - mean[f]) / std::sqrt(variance[f] + inst.attrs().epsilon) + offset[f];
  }
  const Dtype type = operands[0].shape().dtype;
  const Shape& per_feature = operands[1].shape();
  return Literal::make_tuple({from_doubles(x, operands[0].shape(), type),
                              from_doubles(mean, per_feature, type),
                              from_doubles(variance, per_feature, type)});
}

// Operands (x, scale, mean, variance, grad_output); result (grad_x, grad_scale, grad_offset).
Result<Literal> eval_batch_norm_grad(Evaluator&, const Instruction& inst, Operands& operands) {
  const Features features(operands[0].shape(), inst.attrs().feature_index);
  const auto x = doubles(operands[0]), scale = doubles(operands[1]), mean = doubles(operands[2]),
             variance = doubles(operands[3]), g = doubles(operands[4]);
  std::vector<double> sum_g(scale.size(), 0), sum_gc(scale.size(), 0), grad_scale(scale.size()),
      grad_x(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t f = features.of(static_cast<int64_t>(i));
    sum_g[f] += g[i];
    sum_gc[f] += g[i] * (x[i] - mean[f]);
  }
  const double count = static_cast<double>(features.per_feature);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t f = features.of(static_cast<int64_t>(i));
    const double v = variance[f] + inst.attrs().epsilon;
    grad_x[i] =
        scale[f] / std::sqrt(v) / count * (count * g[i] - sum_g[f] - (x[i] - mean[f]) * sum_gc[f] / v);
  }
  for (size_t f = 0; f < scale.size(); ++f)
    grad_scale[f] = sum_gc[f] / std::sqrt(variance[f] + inst.attrs().epsilon);
  const Dtype type = operands[0].shape().dtype;
  const Shape& per_feature = operands[1].shape();
  return Literal::make_tuple({from_doubles(grad_x, operands[0].shape(), type),
                              from_doubles(grad_scale, per_feature, type),
                              from_doubles(sum_g, per_feature, type)});
}

}  // namespace ncc::hlo
