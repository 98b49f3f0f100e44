// Register-blocked product: 6 rows x 16 columns of accumulators stay in AVX registers over the whole k loop,
// so every output element is one FMA chain with k ascending, whatever the blocking.
#include "ir-formats/isa/machine/ops/matmul_kernel.h"

#include <immintrin.h>

#include <algorithm>
#include <cmath>

namespace ncc::machine {
namespace {

constexpr int kColumns = 16;

template <int kRows>
void block(const MatmulOperands& o, int64_t m, int64_t n, float* out, int64_t out_pitch) {
  __m256 low[kRows], high[kRows];
  for (int r = 0; r < kRows; ++r) low[r] = high[r] = _mm256_setzero_ps();
  const float* weights = o.weights + m;
  const float* moving = o.moving + n;
  for (int64_t k = 0; k < o.k; ++k, weights += o.weight_pitch, moving += o.moving_pitch) {
    const __m256 x0 = _mm256_loadu_ps(moving), x1 = _mm256_loadu_ps(moving + 8);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const __m256 w = _mm256_broadcast_ss(weights + r);
      low[r] = _mm256_fmadd_ps(w, x0, low[r]);
      high[r] = _mm256_fmadd_ps(w, x1, high[r]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    _mm256_storeu_ps(out + r * out_pitch + n, low[r]);
    _mm256_storeu_ps(out + r * out_pitch + n + 8, high[r]);
  }
}

void columns_left(const MatmulOperands& o, int64_t begin, int64_t end, int64_t first, float* out,
                  int64_t out_pitch) {
  for (int64_t m = begin; m < end; ++m)
    for (int64_t n = first; n < o.n; ++n) {
      float sum = 0;
      for (int64_t k = 0; k < o.k; ++k)
        sum = std::fma(o.weights[k * o.weight_pitch + m], o.moving[k * o.moving_pitch + n], sum);
      out[(m - begin) * out_pitch + n] = sum;
    }
}

}  // namespace

void matmul_rows(const MatmulOperands& o, int64_t begin, int64_t end, float* out, int64_t out_pitch) {
  const int64_t whole = o.n / kColumns * kColumns;
  for (int64_t n = 0; n < whole; n += kColumns) {
    int64_t m = begin;
    for (; m + 6 <= end; m += 6) block<6>(o, m, n, out + (m - begin) * out_pitch, out_pitch);
    float* rest = out + (m - begin) * out_pitch;
    switch (end - m) {
      case 5:
        block<5>(o, m, n, rest, out_pitch);
        break;
      case 4:
        block<4>(o, m, n, rest, out_pitch);
        break;
      case 3:
        block<3>(o, m, n, rest, out_pitch);
        break;
      case 2:
        block<2>(o, m, n, rest, out_pitch);
        break;
      case 1:
        block<1>(o, m, n, rest, out_pitch);
        break;
      default:
        break;
    }
  }
  columns_left(o, begin, end, whole, out, out_pitch);
}

}  // namespace ncc::machine
