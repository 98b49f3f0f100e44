// compare, select, clamp and plain copies. Source: spec/stablehlo-text.md §3.2, §3.3.
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

#include "ir-formats/hlo/interpreter/kernel_loops.h"

namespace ncc::hlo {
namespace {

template <class T>
bool less(T a, T b) {
  if constexpr (requires { a.real(); }) {
    return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
  } else {
    return a < b;
  }
}
template <class T>
bool less_equal(T a, T b) {
  if constexpr (requires { a.real(); }) {
    return a.real() < b.real() || (a.real() == b.real() && a.imag() <= b.imag());
  } else {
    return a <= b;
  }
}

struct Eq {
  template <class T>
  static uint8_t apply(T a, T b) {
    return a == b;
  }
};
struct Ne {
  template <class T>
  static uint8_t apply(T a, T b) {
    return a != b;
  }
};
struct Lt {
  template <class T>
  static uint8_t apply(T a, T b) {
    return less(a, b);
  }
};
struct Le {
  template <class T>
  static uint8_t apply(T a, T b) {
    return less_equal(a, b);
  }
};
struct Gt {
  template <class T>
  static uint8_t apply(T a, T b) {
    return less(b, a);
  }
};
struct Ge {
  template <class T>
  static uint8_t apply(T a, T b) {
    return less_equal(b, a);
  }
};

// -NaN < -inf < … < -0 < +0 < … < +inf < +NaN, as an order of integers.
inline int32_t total_key(float x) {
  const int32_t bits = std::bit_cast<int32_t>(x);
  return bits ^ ((bits >> 31) & 0x7FFFFFFF);
}
inline int64_t total_key(double x) {
  const int64_t bits = std::bit_cast<int64_t>(x);
  return bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF);
}

template <class Op>
struct Total {
  template <class T>
  static uint8_t apply(T a, T b) {
    return Op::apply(total_key(a), total_key(b));
  }
};

template <class T, template <class> class Wrap>
Kernel compare_of(CompareDirection direction) {
  switch (direction) {
    case CompareDirection::EQ:
      return binary_lanes<T, Wrap<Eq>>;
    case CompareDirection::NE:
      return binary_lanes<T, Wrap<Ne>>;
    case CompareDirection::GE:
      return binary_lanes<T, Wrap<Ge>>;
    case CompareDirection::GT:
      return binary_lanes<T, Wrap<Gt>>;
    case CompareDirection::LE:
      return binary_lanes<T, Wrap<Le>>;
    case CompareDirection::LT:
      return binary_lanes<T, Wrap<Lt>>;
  }
  return nullptr;
}
template <class Op>
using Plain = Op;

template <class T>
void select_lanes(const Lanes& a) {
  const uint8_t* pred = static_cast<const uint8_t*>(a.in[0]);
  const T* on_true = static_cast<const T*>(a.in[1]);
  const T* on_false = static_cast<const T*>(a.in[2]);
  T* out = static_cast<T*>(a.out);
#pragma GCC ivdep
  for (int64_t i = 0; i < a.n; ++i) out[i] = pred[i] ? on_true[i] : on_false[i];
}

struct Bits128 {
  uint64_t low, high;
};

// minimum(maximum(x, low), high): low > high gives high; a NaN anywhere propagates; -0 is below +0.
template <class T>
T maximum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a != a ? a : b != b ? b : a > b ? a : b > a ? b : std::signbit(a) ? b : a;
  return less(a, b) ? b : a;
}
template <class T>
T minimum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a != a ? a : b != b ? b : a < b ? a : b < a ? b : std::signbit(a) ? a : b;
  return less(b, a) ? b : a;
}

template <class T>
void clamp_lanes(const Lanes& a) {
  const T* low = static_cast<const T*>(a.in[0]);
  const T* x = static_cast<const T*>(a.in[1]);
  const T* high = static_cast<const T*>(a.in[2]);
  T* out = static_cast<T*>(a.out);
#pragma GCC ivdep
  for (int64_t i = 0; i < a.n; ++i) out[i] = minimum(maximum(x[i], low[i]), high[i]);
}

template <int64_t kWidth>
void copy_lanes(const Lanes& a) {
  if (a.n > 0) std::memmove(a.out, a.in[0], static_cast<size_t>(a.n * kWidth));
}

}  // namespace

Kernel compare_kernel(CompareDirection direction, bool total_order, Dtype type) {
  switch (type) {
    case Dtype::Pred:
      return compare_of<uint8_t, Plain>(direction);
    case Dtype::F32:
      return total_order ? compare_of<float, Total>(direction) : compare_of<float, Plain>(direction);
    case Dtype::F64:
      return total_order ? compare_of<double, Total>(direction) : compare_of<double, Plain>(direction);
    case Dtype::C64:
      return compare_of<std::complex<float>, Plain>(direction);
    case Dtype::C128:
      return compare_of<std::complex<double>, Plain>(direction);
    default:
      return with_int_type(type, [=]<class T>() { return compare_of<T, Plain>(direction); });
  }
}

Kernel select_kernel(int64_t width_bytes) {
  switch (width_bytes) {
    case 1:
      return select_lanes<uint8_t>;
    case 2:
      return select_lanes<uint16_t>;
    case 4:
      return select_lanes<uint32_t>;
    case 8:
      return select_lanes<uint64_t>;
    case 16:
      return select_lanes<Bits128>;
    default:
      return nullptr;
  }
}

Kernel clamp_kernel(Dtype type) {
  switch (type) {
    case Dtype::Pred:
      return clamp_lanes<uint8_t>;
    case Dtype::F32:
      return clamp_lanes<float>;
    case Dtype::F64:
      return clamp_lanes<double>;
    case Dtype::C64:
      return clamp_lanes<std::complex<float>>;
    case Dtype::C128:
      return clamp_lanes<std::complex<double>>;
    default:
      return with_int_type(type, []<class T>() -> Kernel { return clamp_lanes<T>; });
  }
}

Kernel copy_kernel(int64_t width_bytes) {
  switch (width_bytes) {
    case 1:
      return copy_lanes<1>;
    case 2:
      return copy_lanes<2>;
    case 4:
      return copy_lanes<4>;
    case 8:
      return copy_lanes<8>;
    case 16:
      return copy_lanes<16>;
    default:
      return nullptr;
  }
}

}  // namespace ncc::hlo
