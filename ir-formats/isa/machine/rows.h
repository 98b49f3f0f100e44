// Moving one partition's elements between memory and dense scratch rows, with the machine's conversions:
// arithmetic sees fp32, bit operations see raw bits in 32-bit words. The element type is chosen once per row,
// never per element. Source: spec/simulator-numerics.md §5.1, §5.2; DESIGN section 14, C5.
#pragma once
#include <cstdint>

#include "ir-formats/isa/machine/state.h"

namespace ncc::machine {

/// Elements of at most 32 bits; what arithmetic and bit operations accept.
bool is_computable(Dtype dtype);

/// Widens to fp32 (int32 rounds to nearest even).
void load_row(const View& view, int partition, float* out);
/// Narrows from fp32: floats to nearest even; integers to nearest even and saturated, NaN to the limit of its
/// sign.
void store_row(const View& view, int partition, const float* in);
/// Raw bits; types below 32 bits are sign- or zero-extended by `sign_extend`.
void load_row_bits(const View& view, int partition, bool sign_extend, uint32_t* out);
/// Keeps the low bits.
void store_row_bits(const View& view, int partition, const uint32_t* in);
/// Per element: whether its value is not zero (NaN is not).
void load_row_nonzero(const View& view, int partition, uint8_t* out);

/// The same conversions on dense arrays.
void to_f32(Dtype dtype, const void* in, float* out, int64_t n);
void from_f32(Dtype dtype, const float* in, void* out, int64_t n);

/// The row itself when it is dense fp32, else its elements in `scratch`.
const float* row_as_f32(const View& view, int partition, float* scratch);

/// Per-thread scratch row, one per slot; valid until the slot is asked for again.
inline constexpr int kScratchSlots = 6;
float* scratch_row(int slot, int64_t elements);
inline uint32_t* scratch_bits(int slot, int64_t elements) {
  return reinterpret_cast<uint32_t*>(scratch_row(slot, elements));
}

}  // namespace ncc::machine
