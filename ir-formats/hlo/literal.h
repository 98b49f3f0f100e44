// Values of constants: shared, immutable bytes. Elements are always row-major in memory, whatever layout the
// shape declares; the bytes may lie in a mapped file, at any address. Source: spec/hlo-proto.md §9.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir-formats/hlo/shape.h"

namespace ncc::hlo {

class Literal {
 public:
  Literal() = default;  // the value of Shape f32[0]-less "nothing": is_valid() is false

  /// Zero-filled, own storage. `shape` is an array; its layout is dropped.
  static Literal zeros(const Shape& shape);
  /// Refers to `bytes` (row-major, shape.size_bytes() long), kept alive by `owner`.
  static Literal view(const Shape& shape, std::span<const std::byte> bytes,
                      std::shared_ptr<const void> owner);
  /// Copies `bytes`.
  static Literal copy(const Shape& shape, std::span<const std::byte> bytes);
  static Literal make_tuple(std::vector<Literal> elements);
  /// One element of the given type, converted as XLA converts (`store_from_double`).
  static Literal scalar(Dtype dtype, double value);
  static Literal scalar_int(Dtype dtype, int64_t value);

  bool is_valid() const { return valid_; }
  const Shape& shape() const { return shape_; }
  bool is_tuple() const { return shape_.is_tuple(); }
  const std::vector<Literal>& elements() const { return elements_; }
  int64_t num_elements() const { return shape_.num_elements(); }
  std::span<const std::byte> bytes() const { return bytes_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }

  /// Element at a row-major position; T must have the width of the element type.
  template <class T>
  T at(int64_t index) const {
    T value;
    std::memcpy(&value, bytes_.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
    return value;
  }
  /// Real element as double (real part of complex); integers above 2^53 round.
  double as_double(int64_t index) const;
  /// Pred or integer element (u64 reinterpreted); floats truncate.
  int64_t as_int64(int64_t index) const;
  /// True when every element has the same bits (also for one element; false for none).
  bool is_splat() const;

  /// Only right after `zeros`, before the literal is shared.
  std::byte* mutable_data() { return const_cast<std::byte*>(bytes_.data()); }

  /// Same element type, dims and bits.
  bool operator==(const Literal& other) const;

 private:
  bool valid_ = false;
  Shape shape_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  std::vector<Literal> elements_;
};

}  // namespace ncc::hlo
