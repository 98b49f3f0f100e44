// One custom call to a linear algebra library: batches of matrices in column-major buffers in, results out.
// Operands and results are checked against the routine's signature before any of its code runs.
#pragma once
#include <algorithm>
#include <complex>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ir-formats/hlo/interpreter/evaluator.h"

namespace ncc::hlo {

/// An attribute of a custom call's config: `key = 76 : ui8`, `key = true`, `"key": 3` or `"key": "3"`.
std::optional<int64_t> config_value(std::string_view config, std::string_view key);

class SolverCall {
 public:
  /// Signature of the operands, one letter each: m matrix, v vector, of one element type; p a vector of s32.
  /// Operands behind those are the sizes of results whose type leaves them open
  /// (`indices_of_shape_operands`).
  SolverCall(const Instruction& inst, const Operands& operands, std::string_view signature, bool square);

  const Status& status() const { return status_; }
  Dtype type() const { return operands_[0].shape().dtype; }
  int64_t batches() const { return batches_; }
  /// Last two sizes of an operand, or of a result; 1 where it has fewer dimensions.
  int rows(size_t operand) const { return trailing(operands_[operand].shape(), 2); }
  int cols(size_t operand) const { return trailing(operands_[operand].shape(), 1); }
  int result_rows(size_t result) const { return trailing(results_[result].shape(), 2); }
  int result_cols(size_t result) const { return trailing(results_[result].shape(), 1); }
  size_t num_results() const { return results_.size(); }
  size_t num_operands() const { return operands_.size(); }

  /// Attribute `key` of the config, or `fallback`.
  int64_t option(std::string_view key, int64_t fallback) const;
  bool has_option(std::string_view key) const { return option(key, -1) != -1; }
  /// The triangle that counts: `uplo` of LAPACK or `lower` of the libraries for other machines.
  char uplo() const;

  template <class T>
  std::vector<T> matrix(size_t operand, int64_t batch) const;
  template <class T>
  std::vector<T> vector(size_t operand, int64_t batch) const;
  /// Results beyond those of the call are dropped: older exports have fewer. A buffer of another size or type
  /// than its result sets status().
  template <class T>
  void put_matrix(size_t result, int64_t batch, const std::vector<T>& values);
  template <class T>
  void put_vector(size_t result, int64_t batch, const std::vector<T>& values);
  void put_info(size_t result, int64_t batch, int info) { put_vector(result, batch, std::vector<int>{info}); }

  Result<Literal> take();

 private:
  static int trailing(const Shape& shape, size_t from_end);
  void check_operands(std::string_view signature, bool square);
  std::vector<int64_t> integers_of_operand(int64_t number) const;
  void fail(const std::string& what);
  template <class T>
  T* result_piece(size_t result, int64_t batch, size_t count);

  const Instruction& inst_;
  const Operands& operands_;
  std::vector<Literal> results_;
  int64_t batches_ = 1;
  Status status_;
};

template <class T>
constexpr Dtype dtype_of() {
  if constexpr (std::is_same_v<T, float>) return Dtype::F32;
  if constexpr (std::is_same_v<T, double>) return Dtype::F64;
  if constexpr (std::is_same_v<T, std::complex<float>>) return Dtype::C64;
  if constexpr (std::is_same_v<T, std::complex<double>>) return Dtype::C128;
  return Dtype::S32;
}

template <class T>
std::vector<T> SolverCall::vector(size_t operand, int64_t batch) const {
  const int64_t count = batches_ == 0 ? 0 : operands_[operand].num_elements() / batches_;
  const T* from = reinterpret_cast<const T*>(operands_[operand].bytes().data()) + batch * count;
  return std::vector<T>(from, from + count);
}

template <class T>
std::vector<T> SolverCall::matrix(size_t operand, int64_t batch) const {
  const std::vector<T> by_rows = vector<T>(operand, batch);
  const size_t m = static_cast<size_t>(rows(operand)), n = static_cast<size_t>(cols(operand));
  std::vector<T> by_columns(by_rows.size());
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) by_columns[j * m + i] = by_rows[i * n + j];
  return by_columns;
}

template <class T>
T* SolverCall::result_piece(size_t result, int64_t batch, size_t count) {
  if (result >= results_.size() || !status_.is_ok()) return nullptr;
  Literal& to = results_[result];
  if (to.is_tuple() || to.shape().dtype != dtype_of<T>() ||
      to.num_elements() != batches_ * static_cast<int64_t>(count)) {
    fail(fmt::format("result {} has shape {}", result, to_string(to.shape())));
    return nullptr;
  }
  return reinterpret_cast<T*>(to.mutable_data()) + batch * static_cast<int64_t>(count);
}

template <class T>
void SolverCall::put_vector(size_t result, int64_t batch, const std::vector<T>& values) {
  if (T* to = result_piece<T>(result, batch, values.size())) std::copy(values.begin(), values.end(), to);
}

template <class T>
void SolverCall::put_matrix(size_t result, int64_t batch, const std::vector<T>& values) {
  T* to = result_piece<T>(result, batch, values.size());
  if (!to) return;
  const size_t m = static_cast<size_t>(result_rows(result)), n = static_cast<size_t>(result_cols(result));
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) to[i * n + j] = values[j * m + i];
}

}  // namespace ncc::hlo
