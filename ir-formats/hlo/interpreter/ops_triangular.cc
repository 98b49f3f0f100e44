// triangular-solve. f32 goes the way of XLA's expander: the triangle is inverted and multiplied with the
// right side, in f32. For ill-conditioned triangles that result is what the published values hold, and an
// exact solver is far from it. Other types, and triangles beyond the expander's block, are solved by
// substitution in extended precision and rounded once. Source: spec/stablehlo-text.md §3.8;
// docs/decisions.md.
#include <cmath>

#include "ir-formats/hlo/interpreter/matrix_values.h"
#include "ir-formats/hlo/interpreter/ops.h"

namespace ncc::hlo {
namespace {

// Larger triangles are split into blocks by the expander.
constexpr int64_t kExpanderBlock = 128;

bool is_transposed(const Attributes& attrs) {
  return attrs.transpose_a == TransposeKind::Transpose || attrs.transpose_a == TransposeKind::Adjoint;
}

// The inverse of one triangle of the n x n matrix `a`. Columns are divided by the diagonal first; row by row,
// the inverse of the unit triangle follows from the rows that are done; at last rows are divided by the
// diagonal.
std::vector<float> inverse_triangle(const float* a, int64_t n, bool lower) {
  const auto at = [n](int64_t i, int64_t j) { return static_cast<size_t>(i * n + j); };
  std::vector<float> inverse(static_cast<size_t>(n * n), 0);
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = lower ? step : n - 1 - step;
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < n; ++k) {
        const bool inside = lower ? k < i : k > i;
        if (inside) sum = std::fma(a[at(i, k)] / a[at(k, k)], inverse[at(k, j)], sum);
      }
      inverse[at(i, j)] = i == j ? 1 : -sum;
    }
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) inverse[at(i, j)] /= a[at(i, i)];
  return inverse;
}

// Sum over k of a(k) b(k): even and odd products are summed apart, as the matrix product under the published
// values does.
template <class A, class B>
float two_chain_dot(int64_t n, const A& a, const B& b) {
  float even = 0, odd = 0;
  for (int64_t k = 0; k < n; k += 2) even = std::fma(a(k), b(k), even);
  for (int64_t k = 1; k < n; k += 2) odd = std::fma(a(k), b(k), odd);
  return even + odd;
}

void solve_f32(const Attributes& attrs, const float* a, int64_t n, const float* b, int64_t rows,
               int64_t columns, float* x) {
  std::vector<float> triangle(a, a + n * n);
  if (attrs.unit_diagonal)
    for (int64_t i = 0; i < n; ++i) triangle[static_cast<size_t>(i * n + i)] = 1;
  const std::vector<float> inverse = inverse_triangle(triangle.data(), n, attrs.lower);
  const auto coefficient = [&](int64_t i, int64_t j) {
    if (is_transposed(attrs)) std::swap(i, j);
    return inverse[static_cast<size_t>(i * n + j)];
  };
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      x[r * columns + c] = attrs.left_side ? two_chain_dot(
                                                 n, [&](int64_t k) { return coefficient(r, k); },
                                                 [&](int64_t k) { return b[k * columns + c]; })
                                           : two_chain_dot(
                                                 n, [&](int64_t k) { return b[r * columns + k]; },
                                                 [&](int64_t k) { return coefficient(k, c); });
    }
  }
}

// x becomes the solution of op(a) x = b or x op(a) = b; it holds b before.
void substitute(const Attributes& attrs, const std::vector<Complex>& a, int64_t n, int64_t rows,
                int64_t columns, std::vector<Complex>& x) {
  const bool transposed = is_transposed(attrs);
  // Element (i, j) of the matrix that multiplies x from the left; x op(a) = b is op(a)^T x^T = b^T.
  const auto coefficient = [&](int64_t i, int64_t j) {
    if (transposed == attrs.left_side) std::swap(i, j);
    const Complex value = a[static_cast<size_t>(i * n + j)];
    return attrs.transpose_a == TransposeKind::Adjoint ? std::conj(value) : value;
  };
  const int64_t lines = attrs.left_side ? columns : rows;
  const auto element = [&](int64_t i, int64_t line) -> Complex& {
    return x[static_cast<size_t>(attrs.left_side ? i * columns + line : line * columns + i)];
  };
  const bool forward = attrs.lower == (transposed != attrs.left_side);
  for (int64_t line = 0; line < lines; ++line) {
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = forward ? step : n - 1 - step;
      Complex sum = element(i, line);
      for (int64_t done = 0; done < step; ++done) {
        const int64_t j = forward ? done : n - 1 - done;
        sum -= coefficient(i, j) * element(j, line);
      }
      element(i, line) = attrs.unit_diagonal ? sum : sum / coefficient(i, i);
    }
  }
}

}  // namespace

// For each matrix of the batch, reading one triangle of a.
Result<Literal> eval_triangular_solve(Evaluator&, const Instruction& inst, Operands& operands) {
  const Attributes& attrs = inst.attrs();
  const int64_t n = operands[0].shape().dims.back();
  const Shape& b_shape = operands[1].shape();
  const int64_t rows = b_shape.dims[b_shape.dims.size() - 2], columns = b_shape.dims.back();
  Literal out = Literal::zeros(b_shape);
  const int64_t size = rows * columns, batches = size == 0 ? 0 : out.num_elements() / size;
  for (int64_t batch = 0; batch < batches; ++batch) {
    if (b_shape.dtype == Dtype::F32 && n <= kExpanderBlock) {
      solve_f32(attrs, reinterpret_cast<const float*>(operands[0].bytes().data()) + batch * n * n, n,
                reinterpret_cast<const float*>(operands[1].bytes().data()) + batch * size, rows, columns,
                reinterpret_cast<float*>(out.mutable_data()) + batch * size);
      continue;
    }
    std::vector<Complex> x = read_matrix(operands[1], batch * size, size);
    substitute(attrs, read_matrix(operands[0], batch * n * n, n * n), n, rows, columns, x);
    write_matrix(out, batch * size, x);
  }
  return out;
}

}  // namespace ncc::hlo
