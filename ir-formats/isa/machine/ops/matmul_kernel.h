// The matrix product of one Matmul: fp32 FMA chains in a fixed order (DESIGN section 14, M2).
#pragma once
#include <cstdint>

namespace ncc::machine {

struct MatmulOperands {
  const float* weights;  // [k][m], row pitch weight_pitch
  int64_t weight_pitch;
  const float* moving;  // [k][n], row pitch moving_pitch
  int64_t moving_pitch;
  int64_t k, n;
};

/// For rows m in [begin, end): sum_k weights[k][m] * moving[k][n], as one FMA chain from 0 with k ascending,
/// into out[m - begin][n] with row pitch `out_pitch`.
void matmul_rows(const MatmulOperands& operands, int64_t begin, int64_t end, float* out, int64_t out_pitch);

}  // namespace ncc::machine
