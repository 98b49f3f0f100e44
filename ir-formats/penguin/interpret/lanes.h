// A block of elements being computed: floats as doubles, everything else as int64 (unsigned types
// zero-extended). Loading is exact; storing rounds once, by XLA's conversion rules or the machine's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/dtype/dtype.h"

namespace ncc::penguin {

inline constexpr int64_t kBlock = 2048;  // elements computed at a time

struct Lanes {
  Dtype dtype = Dtype::F32;
  std::vector<double> real;
  std::vector<int64_t> integer;

  explicit Lanes(Dtype type = Dtype::F32, int64_t count = 0) { reset(type, count); }
  void reset(Dtype type, int64_t count);
  bool is_real() const { return is_float(dtype); }
  double as_real(int64_t i) const;
};

enum class Rounding : uint8_t {
  Model,    // float -> integer truncates and saturates, NaN gives 0; integers wrap
  Machine,  // to integers: nearest even, saturating; NaN by its sign
};

/// lanes[i] = the element at base + i * step (in elements of lanes.dtype).
void load(Lanes& lanes, const std::byte* base, int64_t step, int64_t count);
/// The element at base + i * step = lanes[i], of type `dtype`.
void store(const Lanes& lanes, Dtype dtype, Rounding rounding, std::byte* base, int64_t step, int64_t count);

}  // namespace ncc::penguin
