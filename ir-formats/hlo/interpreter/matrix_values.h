// Matrices of the linear algebra ops in extended precision, whatever their element type.
#pragma once
#include <complex>
#include <vector>

#include "ir-formats/hlo/literal.h"

namespace ncc::hlo {

using Complex = std::complex<long double>;

/// `count` elements from element `first` on; real types have no imaginary part.
std::vector<Complex> read_matrix(const Literal& literal, int64_t first, int64_t count);
/// Rounds `values` into the elements from `first` on.
void write_matrix(Literal& out, int64_t first, const std::vector<Complex>& values);

}  // namespace ncc::hlo
