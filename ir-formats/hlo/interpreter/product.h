// Matrix products of the interpreter: shared by dot and convolution.
#pragma once
#include <cstdint>

#include "common/dtype/dtype.h"

namespace ncc::hlo {

/// c[m, n] = Σ_k a[m, k] b[k, n], all dense row-major in the product type.
struct Product {
  int64_t m, n, k;
  const void* a;
  const void* b;
  void* c;
};

/// The type to multiply and accumulate in: exact for integers (32 or 64 bits wide), F64 or F32 for floats by
/// the number of multiplications, C128 for complex.
Dtype product_type(Dtype lhs, Dtype rhs, Dtype result, double multiplications);

/// `type` is one that product_type returns.
void multiply(const Product& product, Dtype type);

}  // namespace ncc::hlo
