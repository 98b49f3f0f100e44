// Complex arrays as the device holds them: two planes of f32, all real parts and then all imaginary ones.
#pragma once
#include "common/npy/npy.h"

namespace ncc {

/// f32[2, ...] of a complex array; the parts of complex128 are rounded.
Array planes_of(const Array& complex);
/// The complex array of a type and shape from the bytes of its planes, 8 for each element.
Array complex_of(Dtype dtype, const std::vector<int64_t>& shape, std::span<const std::byte> planes);

}  // namespace ncc
