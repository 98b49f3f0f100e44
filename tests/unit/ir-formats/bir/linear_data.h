// Inputs and the expected result of linear_layer(), computed plainly. Small integers, so every sum is exact
// in fp32.
#pragma once
#include <algorithm>
#include <cstring>

#include "ir-formats/bir/interpret.h"
#include "tests/unit/ir-formats/bir/kernel_builder.h"

namespace ncc::bir::testing {

inline std::vector<std::byte> as_bytes(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
inline std::vector<float> as_floats(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

struct LinearData {
  explicit LinearData(int64_t tiles) {
    const int64_t k = 128 * tiles, m = 32, n = 64;
    std::vector<float> x(k * n), w(k * m), b(m);
    for (int64_t i = 0; i < k * n; ++i) x[i] = static_cast<float>((i * 7 + i / 64) % 11 - 5);
    for (int64_t i = 0; i < k * m; ++i) w[i] = static_cast<float>((i * 5 + i / 32) % 7 - 3);
    for (int64_t i = 0; i < m; ++i) b[i] = static_cast<float>(i - 16);
    expected.resize(m * n);
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = 0; column < n; ++column) {
        float sum = b[row];
        for (int64_t i = 0; i < k; ++i) sum += w[i * m + row] * x[i * n + column];
        expected[row * n + column] = std::max(sum, 0.0f);
      }
    inputs = {{"x", as_bytes(x)}, {"w", as_bytes(w)}, {"b", as_bytes(b)}};
  }
  Tensors inputs;
  std::vector<float> expected;
};

}  // namespace ncc::bir::testing
