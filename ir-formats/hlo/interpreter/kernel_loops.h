// The loop bodies shared by the kernel families. `Op::apply` is a static function of one element per operand.
// ivdep: lanes are independent, and an output array that is also an input is read at the same index only.
#pragma once
#include "ir-formats/hlo/interpreter/kernel.h"

namespace ncc::hlo {

template <class T, class Op>
void unary_lanes(const Lanes& a) {
  using R = decltype(Op::apply(T{}));
  const T* x = static_cast<const T*>(a.in[0]);
  R* out = static_cast<R*>(a.out);
#pragma GCC ivdep
  for (int64_t i = 0; i < a.n; ++i) out[i] = Op::apply(x[i]);
}

template <class T, class Op>
void unary_lanes_with_bits(const Lanes& a) {
  using R = decltype(Op::apply(T{}, 0));
  const T* x = static_cast<const T*>(a.in[0]);
  R* out = static_cast<R*>(a.out);
  const int bits = static_cast<int>(a.p0);
#pragma GCC ivdep
  for (int64_t i = 0; i < a.n; ++i) out[i] = Op::apply(x[i], bits);
}

template <class T, class Op>
void binary_lanes(const Lanes& a) {
  using R = decltype(Op::apply(T{}, T{}));
  const T* x = static_cast<const T*>(a.in[0]);
  const T* y = static_cast<const T*>(a.in[1]);
  R* out = static_cast<R*>(a.out);
#pragma GCC ivdep
  for (int64_t i = 0; i < a.n; ++i) out[i] = Op::apply(x[i], y[i]);
}

template <class T, class Op>
void binary_lanes_with_bits(const Lanes& a) {
  using R = decltype(Op::apply(T{}, T{}, 0));
  const T* x = static_cast<const T*>(a.in[0]);
  const T* y = static_cast<const T*>(a.in[1]);
  R* out = static_cast<R*>(a.out);
  const int bits = static_cast<int>(a.p0);
#pragma GCC ivdep
  for (int64_t i = 0; i < a.n; ++i) out[i] = Op::apply(x[i], y[i], bits);
}

/// Calls `f.template operator()<T>()` with the C++ type of an integer element type of 8 to 64 bits; null
/// otherwise.
template <class F>
Kernel with_int_type(Dtype type, F f) {
  switch (type) {
    case Dtype::S8:
      return f.template operator()<int8_t>();
    case Dtype::S16:
      return f.template operator()<int16_t>();
    case Dtype::S32:
      return f.template operator()<int32_t>();
    case Dtype::S64:
      return f.template operator()<int64_t>();
    case Dtype::U8:
      return f.template operator()<uint8_t>();
    case Dtype::U16:
      return f.template operator()<uint16_t>();
    case Dtype::U32:
      return f.template operator()<uint32_t>();
    case Dtype::U64:
      return f.template operator()<uint64_t>();
    default:
      return nullptr;
  }
}

}  // namespace ncc::hlo
