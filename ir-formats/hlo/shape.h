// Shapes of HLO values: arrays, tuples, tokens and opaque values, with the layout that the producer promised.
// A shape is a plain value; equality of `==` includes layouts, `compatible` ignores them.
// Source: spec/hlo-proto.md §7, spec/hlo-text.md §5, spec/stablehlo-text.md §1.5.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/diag/status.h"
#include "common/dtype/dtype.h"

namespace ncc::hlo {

/// Size of a dynamic dimension without a bound (`?`).
constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::min();
/// Entry of a tile that merges the dimension into the next more minor one (`*`).
constexpr int64_t kTileCombine = std::numeric_limits<int64_t>::min();
/// Largest rank any reader accepts.
constexpr int64_t kMaxRank = 64;

/// The parts of a layout that only say how a backend stores bytes. They never change values.
struct LayoutExtras {
  std::vector<std::vector<int64_t>> tiles;  // outermost tiling first
  int64_t tail_padding_alignment = 0;       // elements; 0 = none
  int64_t element_size_in_bits = 0;         // 0 = natural size
  int64_t memory_space = 0;                 // 0 = default
  int64_t dynamic_metadata_bytes = 0;       // header before the data of a dynamic array
  std::vector<std::pair<int64_t, std::vector<int64_t>>> split_configs;  // (dimension, split points)
  bool operator==(const LayoutExtras&) const = default;
};

/// Parameters of a `!quant.uniform` element type: real = (stored - zero_point) * scale.
struct Quantization {
  Dtype expressed = Dtype::F32;
  int64_t storage_min = 0, storage_max = 0;
  int64_t axis = -1;  // -1 = per tensor (one scale), else one scale per index of that dimension
  std::vector<double> scales;
  std::vector<int64_t> zero_points;  // as many as scales
  bool operator==(const Quantization&) const = default;
};

struct Shape {
  bool tuple = false;
  Dtype dtype =
      Dtype::F32;  // element type; Token and Opaque have no dims. For quantized types: the storage type
  std::vector<int64_t> dims;    // sizes; a bounded dynamic dimension holds its bound, else kUnbounded
  uint64_t dynamic_mask = 0;    // bit d: dimension d is dynamic
  std::vector<Shape> elements;  // of a tuple
  std::vector<int64_t>
      minor_to_major;  // fastest-varying first; empty = the default, rank-1 … 0 (always so stored)
  std::shared_ptr<const LayoutExtras> layout_extras;
  std::shared_ptr<const Quantization> quantization;

  static Shape array(Dtype dtype, std::vector<int64_t> dims = {});
  static Shape make_tuple(std::vector<Shape> elements);
  static Shape token() { return array(Dtype::Token); }

  bool is_tuple() const { return tuple; }
  bool is_token() const { return !tuple && dtype == Dtype::Token; }
  bool is_opaque() const { return !tuple && dtype == Dtype::Opaque; }
  bool is_array() const { return !tuple && dtype != Dtype::Token && dtype != Dtype::Opaque; }
  bool is_scalar() const { return is_array() && dims.empty(); }
  bool is_dynamic() const;  // any dynamic dimension, in any tuple leaf
  bool is_dynamic_dim(int64_t d) const { return (dynamic_mask >> d) & 1; }
  void set_dynamic_dim(int64_t d, int64_t bound_or_unbounded);
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  /// Elements of an array (bounds count as sizes; unbounded dimensions as 0); 1 for a scalar.
  int64_t num_elements() const;
  /// Bytes of a dense array in memory (sub-byte types take a byte each); a tuple: the sum of its leaves.
  int64_t size_bytes() const;
  bool has_default_layout() const { return minor_to_major.empty(); }
  /// The complete permutation, fastest-varying dimension first.
  std::vector<int64_t> full_minor_to_major() const;
  /// Stores a permutation in the canonical form (empty when it is the default).
  void set_minor_to_major(std::vector<int64_t> order);

  bool operator==(const Shape& other) const;
};

/// Equal but for layouts.
bool compatible(const Shape& a, const Shape& b);
/// Equal but for layouts and element types.
bool same_dims(const Shape& a, const Shape& b);
/// "f32[2,3]", "(f32[], s32[4])", "token[]"; with_layout adds "{1,0}" and its parts to arrays of rank > 0.
std::string to_string(const Shape& shape, bool with_layout = false);
/// Number of leaves (arrays, tokens, opaque values) of a shape.
int64_t leaf_count(const Shape& shape);
/// Negative sizes, ranks above kMaxRank, bad layouts and byte sizes above 2^46 give EVRF003 naming `what`.
Status check_shape(const Shape& shape, std::string_view what);

}  // namespace ncc::hlo
