// Sparse matrices as JAX's CPU kernels take them: rows in compressed form times a dense array, and
// tridiagonal systems that may be singular. Extended precision, rounded once.
#include <cmath>
#include <limits>

#include "ir-formats/hlo/interpreter/custom_call.h"
#include "ir-formats/hlo/interpreter/matrix_values.h"
#include "ir-formats/hlo/interpreter/solver_call.h"

namespace ncc::hlo {
namespace {

// Elements of row r are those from row_starts[r] to row_starts[r + 1].
Status check_compressed_rows(const Instruction& inst, const Operands& operands) {
  if (operands.size() != 4) return unsupported(inst, "4 operands expected");
  for (const Literal& operand : operands)
    if (!operand.is_valid() || operand.is_tuple()) return unsupported(inst, "an operand is not an array");
  const Shape &values = operands[0].shape(), &starts = operands[1].shape(), &columns = operands[2].shape(),
              &dense = operands[3].shape(), &result = inst.shape;
  if (!result.is_array() || values.dims.size() != 1 || starts.dims.size() != 1 ||
      columns.dims != values.dims || dense.dims.empty() || dense.dims.size() > 2 ||
      result.dims.size() != dense.dims.size() ||
      !std::equal(dense.dims.begin() + 1, dense.dims.end(), result.dims.begin() + 1) ||
      starts.dims[0] != result.dims[0] + 1 || !is_integer(starts.dtype) || !is_integer(columns.dtype) ||
      dense.dtype != values.dtype || result.dtype != values.dtype)
    return unsupported(inst, "sizes of values, row starts, columns and dense operand do not fit");
  for (int64_t i = 0; i < starts.dims[0]; ++i) {
    const int64_t start = operands[1].as_int64(i);
    if (start < (i == 0 ? 0 : operands[1].as_int64(i - 1)) || start > values.dims[0])
      return error(Code::ERUN003, inst.loc,
                   fmt::format("{}: row start {} is out of order", describe(inst), i));
  }
  // Elements of no row are padding.
  for (int64_t i = operands[1].as_int64(0); i < operands[1].as_int64(starts.dims[0] - 1); ++i) {
    const int64_t column = operands[2].as_int64(i);
    if (column < 0 || column >= dense.dims[0])
      return error(Code::ERUN003, inst.loc,
                   fmt::format("{}: column {} does not exist", describe(inst), column));
  }
  return Status::ok();
}

// A tridiagonal system of one batch element, factored with partial pivoting. Below the diagonal is eliminated
// at once, in the right sides too.
struct Tridiagonal {
  std::vector<Complex> lower, diagonal, upper, second_upper;
  std::vector<Complex> right;  // n x columns
  int64_t columns = 0;

  int64_t size() const { return static_cast<int64_t>(diagonal.size()); }
  Complex& at(int64_t row, int64_t column) { return right[static_cast<size_t>(row * columns + column)]; }
  void eliminate();
  long double largest() const;
  void substitute(long double perturbation, long double overflow);
};

void Tridiagonal::eliminate() {
  second_upper.assign(diagonal.size(), 0);
  for (size_t k = 0; k + 1 < diagonal.size(); ++k) {
    const int64_t row = static_cast<int64_t>(k);
    if (std::abs(diagonal[k]) < std::abs(lower[k + 1])) {  // rows k and k + 1 change places
      std::swap(diagonal[k], lower[k + 1]);
      std::swap(upper[k], diagonal[k + 1]);
      if (k + 2 < diagonal.size()) std::swap(second_upper[k], upper[k + 1]);
      for (int64_t c = 0; c < columns; ++c) std::swap(at(row, c), at(row + 1, c));
    }
    if (lower[k + 1] == Complex(0)) continue;
    const Complex factor = lower[k + 1] / diagonal[k];
    diagonal[k + 1] -= factor * upper[k];
    if (k + 2 < diagonal.size()) upper[k + 1] -= factor * second_upper[k];
    for (int64_t c = 0; c < columns; ++c) at(row + 1, c) -= factor * at(row, c);
  }
}

long double Tridiagonal::largest() const {
  long double found = 0;
  for (size_t k = 0; k < diagonal.size(); ++k) {
    found = std::max({found, std::abs(diagonal[k]), std::abs(second_upper[k])});
    if (k + 1 < diagonal.size()) found = std::max(found, std::abs(upper[k]));
  }
  return found;
}

// A pivot whose quotient would overflow grows by `perturbation`, doubled until it does not.
void Tridiagonal::substitute(long double perturbation, long double overflow) {
  for (int64_t k = size() - 1; k >= 0; --k) {
    const size_t i = static_cast<size_t>(k);
    for (int64_t c = 0; c < columns; ++c) {
      Complex sum = at(k, c);
      if (k + 1 < size()) sum -= upper[i] * at(k + 1, c);
      if (k + 2 < size()) sum -= second_upper[i] * at(k + 2, c);
      Complex pivot = diagonal[i];
      long double step = std::real(pivot) < 0 ? -perturbation : perturbation;
      for (; pivot == Complex(0) || std::abs(sum) > std::abs(pivot) * overflow; step *= 2) {
        if (!std::isfinite(step) || std::isnan(std::abs(sum))) break;
        pivot += step;
      }
      at(k, c) = sum / pivot;
    }
  }
}

}  // namespace

Result<Literal> call_compressed_rows_times_dense(Evaluator&, const Instruction& inst, Operands& operands) {
  NCC_TRY(check_compressed_rows(inst, operands));
  const int64_t columns = inst.shape.dims.size() == 2 ? inst.shape.dims[1] : 1;
  const bool integers = is_integer(inst.shape.dtype) || inst.shape.dtype == Dtype::Pred;
  Literal out = Literal::zeros(Shape::array(inst.shape.dtype, inst.shape.dims));
  for (int64_t row = 0; row < inst.shape.dims[0]; ++row) {
    std::vector<Complex> sums(static_cast<size_t>(columns), 0);
    std::vector<uint64_t> counts(static_cast<size_t>(columns), 0);
    for (int64_t i = operands[1].as_int64(row); i < operands[1].as_int64(row + 1); ++i) {
      const int64_t from = operands[2].as_int64(i) * columns;
      if (integers) {
        for (size_t c = 0; c < counts.size(); ++c)
          counts[c] += static_cast<uint64_t>(operands[0].as_int64(i)) *
                       static_cast<uint64_t>(operands[3].as_int64(from + static_cast<int64_t>(c)));
        continue;
      }
      const Complex value = read_matrix(operands[0], i, 1)[0];
      const std::vector<Complex> dense = read_matrix(operands[3], from, columns);
      for (size_t c = 0; c < sums.size(); ++c) sums[c] += value * dense[c];
    }
    if (!integers) write_matrix(out, row * columns, sums);
    for (size_t c = 0; integers && c < counts.size(); ++c)
      store_from_int64(
          inst.shape.dtype,
          out.mutable_data() + (row * columns + static_cast<int64_t>(c)) * size_bytes(inst.shape.dtype),
          static_cast<int64_t>(counts[c]));
  }
  return out;
}

// Pivots are perturbed by the rounding error of the largest element of the factor.
Result<Literal> call_tridiagonal_solve_perturbed(Evaluator&, const Instruction& inst, Operands& operands) {
  const SolverCall call(inst, operands, "vvvm", false);
  NCC_TRY(call.status());
  const int64_t n = call.rows(3), columns = call.cols(3);
  const bool fits = call.cols(0) == n && call.cols(1) == n && call.cols(2) == n;
  if (!fits || !inst.shape.is_array() || !compatible(inst.shape, operands[3].shape()))
    return unsupported(inst, "diagonals, right side and result differ in size");
  const bool wide = call.type() == Dtype::F64 || call.type() == Dtype::C128;
  const long double eps =
      wide ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  const long double overflow = wide ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  Literal out = Literal::zeros(operands[3].shape());
  for (int64_t batch = 0; batch < call.batches(); ++batch) {
    Tridiagonal system{read_matrix(operands[0], batch * n, n),
                       read_matrix(operands[1], batch * n, n),
                       read_matrix(operands[2], batch * n, n),
                       {},
                       read_matrix(operands[3], batch * n * columns, n * columns),
                       columns};
    system.eliminate();
    const long double largest = system.largest();
    system.substitute(largest > 0 ? eps * largest : eps, overflow);
    write_matrix(out, batch * n * columns, system.right);
  }
  return out;
}

}  // namespace ncc::hlo
