// f32 and f64 kernels. Arithmetic is done in the type itself, transcendentals in double (f32 results are then
// rounded once). Source: spec/stablehlo-text.md §3.2, §3.5; DESIGN §14 N2.
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "ir-formats/hlo/interpreter/kernel_loops.h"
#include "ir-formats/hlo/interpreter/special_functions.h"
#include "ir-formats/hlo/interpreter/xla_float.h"

namespace ncc::hlo {
namespace {

#define NCC_REAL_UNARY(Name, expression) \
  struct Name {                          \
    template <class T>                   \
    static auto apply(T x) {             \
      return expression;                 \
    }                                    \
  };
NCC_REAL_UNARY(Abs, std::fabs(x))
NCC_REAL_UNARY(Negate, -x)
NCC_REAL_UNARY(Ceil, std::ceil(x))
NCC_REAL_UNARY(Floor, std::floor(x))
NCC_REAL_UNARY(RoundAfz, std::round(x))
NCC_REAL_UNARY(RoundEven, std::nearbyint(x))
NCC_REAL_UNARY(Sqrt, std::sqrt(x))
NCC_REAL_UNARY(Square, x* x)
NCC_REAL_UNARY(Same, x)
NCC_REAL_UNARY(Sign, x == 0 || x != x ? x : std::copysign(T{1}, x))
NCC_REAL_UNARY(IsFinite, static_cast<uint8_t>(std::fabs(x) <= std::numeric_limits<T>::max()))
NCC_REAL_UNARY(IsInf, static_cast<uint8_t>(std::fabs(x) == std::numeric_limits<T>::infinity()))
NCC_REAL_UNARY(IsNegInf, static_cast<uint8_t>(x == -std::numeric_limits<T>::infinity()))
NCC_REAL_UNARY(IsPosInf, static_cast<uint8_t>(x == std::numeric_limits<T>::infinity()))
#undef NCC_REAL_UNARY
// The imaginary part of a real number.
struct Zero {
  template <class T>
  static T apply(T) {
    return 0;
  }
};

#define NCC_DOUBLE_UNARY(Name, expression) \
  struct Name {                            \
    template <class T>                     \
    static T apply(T element) {            \
      const double x = element;            \
      return static_cast<T>(expression);   \
    }                                      \
  };
NCC_DOUBLE_UNARY(Acos, std::acos(x))
NCC_DOUBLE_UNARY(Acosh, std::acosh(x))
NCC_DOUBLE_UNARY(Asin, std::asin(x))
NCC_DOUBLE_UNARY(Asinh, std::asinh(x))
NCC_DOUBLE_UNARY(Atan, std::atan(x))
NCC_DOUBLE_UNARY(Atanh, std::atanh(x))
NCC_DOUBLE_UNARY(Cbrt, std::cbrt(x))
NCC_DOUBLE_UNARY(Cos, std::cos(x))
NCC_DOUBLE_UNARY(Erf, std::erf(x))
NCC_DOUBLE_UNARY(Erfc, std::erfc(x))
NCC_DOUBLE_UNARY(ErfInv, erf_inv(x))
NCC_DOUBLE_UNARY(Exp, std::exp(x))
NCC_DOUBLE_UNARY(Log, std::log(x))
NCC_DOUBLE_UNARY(Log1p, std::log1p(x))
NCC_DOUBLE_UNARY(Logistic, 1 / (1 + std::exp(-x)))
NCC_DOUBLE_UNARY(Rsqrt, 1 / std::sqrt(x))
NCC_DOUBLE_UNARY(Sin, std::sin(x))
NCC_DOUBLE_UNARY(Tan, std::tan(x))
NCC_DOUBLE_UNARY(Tanh, std::tanh(x))
NCC_DOUBLE_UNARY(BesselI1e, bessel_i1e(x))
NCC_DOUBLE_UNARY(Digamma, digamma(x))
NCC_DOUBLE_UNARY(Lgamma, log_gamma(x))
#undef NCC_DOUBLE_UNARY

// Beyond 1/2 XLA's f32 result is that of its exponential less one.
struct Expm1 {
  static double apply(double x) { return std::expm1(x); }
  static float apply(float x) {
    return std::fabs(x) > 0.5F ? xla_exp(x) - 1 : static_cast<float>(std::expm1(static_cast<double>(x)));
  }
};

// cosh and sinh by CHLO's decomposition in the type itself, whose rounding of x + log(1/2) costs several ulps
// for large x: published values contain that error, and it keeps cosh finite where exp(x) alone would
// overflow.
template <class T>
T exp_of(T x) {
  return static_cast<T>(std::exp(static_cast<double>(x)));
}
struct Cosh {
  template <class T>
  static T apply(T x) {
    const T log_half = static_cast<T>(-std::numbers::ln2);
    return exp_of(x + log_half) + exp_of(log_half - x);
  }
};
struct Sinh {
  template <class T>
  static T apply(T x) {
    if (std::fabs(x) < 1) return static_cast<T>(std::sinh(static_cast<double>(x)));
    const T log_half = static_cast<T>(-std::numbers::ln2);
    return exp_of(x + log_half) - exp_of(log_half - x);
  }
};

#define NCC_REAL_BINARY(Name, expression) \
  struct Name {                           \
    template <class T>                    \
    static T apply(T a, T b) {            \
      return expression;                  \
    }                                     \
  };
NCC_REAL_BINARY(Add, a + b)
NCC_REAL_BINARY(Subtract, a - b)
NCC_REAL_BINARY(Multiply, a* b)
NCC_REAL_BINARY(Divide, a / b)
NCC_REAL_BINARY(Remainder, std::fmod(a, b))
// NaN from either side; -0 is below +0.
NCC_REAL_BINARY(Maximum, a != a ? a : b != b ? b : a > b ? a : b > a ? b : std::signbit(a) ? b : a)
NCC_REAL_BINARY(Minimum, a != a ? a : b != b ? b : a < b ? a : b < a ? b : std::signbit(a) ? a : b)
NCC_REAL_BINARY(Atan2, static_cast<T>(std::atan2(static_cast<double>(a), static_cast<double>(b))))
NCC_REAL_BINARY(Power, static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(b))))
NCC_REAL_BINARY(Polygamma, static_cast<T>(polygamma(a, b)))
NCC_REAL_BINARY(Zeta, static_cast<T>(zeta(a, b)))
#undef NCC_REAL_BINARY

template <class T>
void complex_from_parts(const Lanes& a) {
  const T* re = static_cast<const T*>(a.in[0]);
  const T* im = static_cast<const T*>(a.in[1]);
  T* out = static_cast<T*>(a.out);
  for (int64_t i = 0; i < a.n; ++i) {
    out[2 * i] = re[i];
    out[2 * i + 1] = im[i];
  }
}

// Bits of one value rounded to a format of fewer exponent (p0) and mantissa (p1) bits: mantissa first
// (nearest even, the carry may raise the exponent), then the exponent range, without subnormals of the
// target.
template <class T, class Bits, int kExponentBits, int kMantissaBits>
void reduce_precision(const Lanes& a) {
  constexpr Bits kSign = Bits{1} << (kExponentBits + kMantissaBits);
  constexpr Bits kExponentMask = ((Bits{1} << kExponentBits) - 1) << kMantissaBits;
  constexpr int64_t kBias = (int64_t{1} << (kExponentBits - 1)) - 1;
  const T* x = static_cast<const T*>(a.in[0]);
  T* out = static_cast<T*>(a.out);
  for (int64_t i = 0; i < a.n; ++i) {
    Bits bits = std::bit_cast<Bits>(x[i]);
    if (x[i] != x[i]) {
      out[i] = a.p1 > 0 ? x[i] : std::numeric_limits<T>::infinity();
      continue;
    }
    if (a.p1 < kMantissaBits) {
      const int drop = kMantissaBits - static_cast<int>(a.p1);
      const Bits last = (bits >> drop) & 1;
      bits += (Bits{1} << (drop - 1)) - 1 + last;
      bits &= ~((Bits{1} << drop) - 1);
    }
    if (a.p0 < kExponentBits) {
      const int64_t reduced_bias = (int64_t{1} << (a.p0 - 1)) - 1;
      const int64_t exponent = static_cast<int64_t>((bits & kExponentMask) >> kMantissaBits);
      if (exponent > kBias + reduced_bias) bits = (bits & kSign) | kExponentMask;
      if (exponent <= kBias - reduced_bias) bits &= kSign;
    }
    out[i] = std::bit_cast<T>(bits);
  }
}

// Sign-magnitude neighbours: works for every format whose patterns are ordered by magnitude.
template <class Bits, Dtype kType>
void next_after(const Lanes& a) {
  const Bits* from = static_cast<const Bits*>(a.in[0]);
  const Bits* to = static_cast<const Bits*>(a.in[1]);
  Bits* out = static_cast<Bits*>(a.out);
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
  for (int64_t i = 0; i < a.n; ++i) {
    const double x = load_as_double(kType, &from[i]), y = load_as_double(kType, &to[i]);
    if (x != x || y != y) {
      store_from_double(kType, &out[i], std::numeric_limits<double>::quiet_NaN());
    } else if (x == y) {
      out[i] = to[i];
    } else if (x == 0) {
      out[i] = static_cast<Bits>((to[i] & kSign) | 1);
    } else {
      const bool grows = (x < y) == (x > 0);
      out[i] = static_cast<Bits>(grows ? from[i] + 1 : from[i] - 1);
    }
  }
}

template <class T>
Kernel unary_of(Opcode op) {
  switch (op) {
#define NCC_ROW(Id, Functor) \
  case Opcode::Id:           \
    return unary_lanes<T, Functor>;
    NCC_ROW(Abs, Abs)
    NCC_ROW(Negate, Negate)
    NCC_ROW(Ceil, Ceil)
    NCC_ROW(Floor, Floor)
    NCC_ROW(RoundNearestAfz, RoundAfz)
    NCC_ROW(RoundNearestEven, RoundEven)
    NCC_ROW(Sqrt, Sqrt)
    NCC_ROW(Square, Square)
    NCC_ROW(Sign, Sign)
    NCC_ROW(Real, Same)
    NCC_ROW(Conj, Same)
    NCC_ROW(Imag, Zero)
    NCC_ROW(IsFinite, IsFinite)
    NCC_ROW(IsInf, IsInf)
    NCC_ROW(IsNegInf, IsNegInf)
    NCC_ROW(IsPosInf, IsPosInf)
    NCC_ROW(Acos, Acos)
    NCC_ROW(Acosh, Acosh)
    NCC_ROW(Asin, Asin)
    NCC_ROW(Asinh, Asinh)
    NCC_ROW(Atan, Atan)
    NCC_ROW(Atanh, Atanh)
    NCC_ROW(Cbrt, Cbrt)
    NCC_ROW(Cos, Cos)
    NCC_ROW(Cosh, Cosh)
    NCC_ROW(Erf, Erf)
    NCC_ROW(Erfc, Erfc)
    NCC_ROW(ErfInv, ErfInv)
    NCC_ROW(Exp, Exp)
    NCC_ROW(Expm1, Expm1)
    NCC_ROW(Log, Log)
    NCC_ROW(Log1p, Log1p)
    NCC_ROW(Logistic, Logistic)
    NCC_ROW(Rsqrt, Rsqrt)
    NCC_ROW(Sin, Sin)
    NCC_ROW(Sinh, Sinh)
    NCC_ROW(Tan, Tan)
    NCC_ROW(Tanh, Tanh)
    NCC_ROW(BesselI1e, BesselI1e)
    NCC_ROW(Digamma, Digamma)
    NCC_ROW(Lgamma, Lgamma)
#undef NCC_ROW
    default:
      return nullptr;
  }
}

template <class T>
Kernel binary_of(Opcode op) {
  switch (op) {
#define NCC_ROW(Id) \
  case Opcode::Id:  \
    return binary_lanes<T, Id>;
    NCC_ROW(Add)
    NCC_ROW(Subtract)
    NCC_ROW(Multiply)
    NCC_ROW(Divide)
    NCC_ROW(Remainder)
    NCC_ROW(Maximum)
    NCC_ROW(Minimum)
    NCC_ROW(Atan2)
    NCC_ROW(Power)
    NCC_ROW(Polygamma)
    NCC_ROW(Zeta)
#undef NCC_ROW
    case Opcode::Complex:
      return complex_from_parts<T>;
    default:
      return nullptr;
  }
}

}  // namespace

Kernel real_unary_kernel(Opcode op, Dtype type) {
  if (op == Opcode::ReducePrecision) {
    if (type == Dtype::F32) return reduce_precision<float, uint32_t, 8, 23>;
    return type == Dtype::F64 ? reduce_precision<double, uint64_t, 11, 52> : nullptr;
  }
  if (type == Dtype::F32) return unary_of<float>(op);
  return type == Dtype::F64 ? unary_of<double>(op) : nullptr;
}

Kernel real_binary_kernel(Opcode op, Dtype type) {
  if (type == Dtype::F32) return binary_of<float>(op);
  return type == Dtype::F64 ? binary_of<double>(op) : nullptr;
}

Kernel next_after_kernel(Dtype storage) {
  switch (storage) {
    case Dtype::F64:
      return next_after<uint64_t, Dtype::F64>;
    case Dtype::F32:
      return next_after<uint32_t, Dtype::F32>;
    case Dtype::BF16:
      return next_after<uint16_t, Dtype::BF16>;
    case Dtype::F16:
      return next_after<uint16_t, Dtype::F16>;
    case Dtype::F8E5M2:
      return next_after<uint8_t, Dtype::F8E5M2>;
    case Dtype::F8E4M3:
      return next_after<uint8_t, Dtype::F8E4M3>;
    case Dtype::F8E4M3FN:
      return next_after<uint8_t, Dtype::F8E4M3FN>;
    case Dtype::F8E3M4:
      return next_after<uint8_t, Dtype::F8E3M4>;
    default:
      return nullptr;
  }
}

}  // namespace ncc::hlo
