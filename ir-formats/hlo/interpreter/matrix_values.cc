#include "ir-formats/hlo/interpreter/matrix_values.h"

namespace ncc::hlo {

std::vector<Complex> read_matrix(const Literal& literal, int64_t first, int64_t count) {
  std::vector<Complex> values;
  const Dtype type = literal.shape().dtype;
  for (int64_t i = first; i < first + count; ++i) {
    if (type == Dtype::C64) {
      values.emplace_back(literal.at<float>(2 * i), literal.at<float>(2 * i + 1));
    } else if (type == Dtype::C128) {
      values.emplace_back(literal.at<double>(2 * i), literal.at<double>(2 * i + 1));
    } else {
      values.emplace_back(literal.as_double(i), 0);
    }
  }
  return values;
}

void write_matrix(Literal& out, int64_t first, const std::vector<Complex>& values) {
  const Dtype type = out.shape().dtype;
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t at = first + static_cast<int64_t>(i);
    if (type == Dtype::C64) {
      auto* z = reinterpret_cast<float*>(out.mutable_data());
      z[2 * at] = static_cast<float>(values[i].real());
      z[2 * at + 1] = static_cast<float>(values[i].imag());
    } else if (type == Dtype::C128) {
      auto* z = reinterpret_cast<double*>(out.mutable_data());
      z[2 * at] = static_cast<double>(values[i].real());
      z[2 * at + 1] = static_cast<double>(values[i].imag());
    } else {
      store_from_double(type, out.mutable_data() + at * size_bytes(type),
                        static_cast<double>(values[i].real()));
    }
  }
}

}  // namespace ncc::hlo
