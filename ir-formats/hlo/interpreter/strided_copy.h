// The one data-movement primitive of the interpreter: every shape op is a copy between two strided views.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ncc::hlo {

/// Element strides of a dense row-major array.
std::vector<int64_t> row_major_strides(std::span<const int64_t> dims);

/// Copies an n-dimensional box element by element. Strides count elements and may be zero or negative on the
/// source side; destination elements must be distinct. `src` and `dst` point at the element of index 0….
void strided_copy(int64_t width_bytes, std::span<const int64_t> dims, const std::byte* src,
                  std::span<const int64_t> src_strides, std::byte* dst, std::span<const int64_t> dst_strides);

/// Writes one element n times.
void fill_elements(std::byte* dst, const std::byte* element, int64_t width_bytes, int64_t n);

/// Steps a row-major multi-index; false after the last one (which wraps to zeros).
bool next_index(std::vector<int64_t>& index, std::span<const int64_t> dims);

}  // namespace ncc::hlo
