// Complex kernels. Every function is evaluated one precision up (c64 in double, c128 in x87 extended) and
// rounded once per part; c64 power alone follows XLA:CPU (xla_float.h). Source: spec/stablehlo-text.md §3.2.
#include <cmath>
#include <complex>
#include <limits>

#include "ir-formats/hlo/interpreter/kernel_loops.h"
#include "ir-formats/hlo/interpreter/xla_float.h"

namespace ncc::hlo {
namespace {

template <class W>
using C = std::complex<W>;

// log(1 + z) without cancellation for small z.
template <class W>
C<W> log1p_of(C<W> z) {
  const W x = z.real(), y = z.imag();
  const W magnitude = std::hypot(x, y);
  const W re = magnitude < W{0.5} ? std::log1p(x * (2 + x) + y * y) / 2 : std::log(std::hypot(1 + x, y));
  return {re, std::atan2(y, 1 + x)};
}

template <class W>
C<W> expm1_of(C<W> z) {
  const W x = z.real(), y = z.imag();
  const W half_sine = std::sin(y / 2);
  const W im = y == 0 ? y : std::exp(x) * std::sin(y);
  return {std::expm1(x) * std::cos(y) - 2 * half_sine * half_sine, im};
}

template <class W>
C<W> sign_of(C<W> z) {
  if (z == C<W>{0}) return z;
  const W magnitude = std::hypot(z.real(), z.imag());
  return {z.real() / magnitude, z.imag() / magnitude};
}

template <class W>
C<W> cbrt_of(C<W> z) {
  return z == C<W>{0} ? z : std::polar(std::cbrt(std::abs(z)), std::arg(z) / 3);
}

template <class W>
C<W> power_of(C<W> base, C<W> exponent) {
  if (exponent == C<W>{0}) return {1, 0};
  if (base == C<W>{0}) {
    const W nan = std::numeric_limits<W>::quiet_NaN();
    if (exponent.real() > 0) return {0, 0};
    return exponent.imag() == 0 ? C<W>{std::numeric_limits<W>::infinity(), nan} : C<W>{nan, nan};
  }
  return std::pow(base, exponent);
}

template <class W>
C<W> tanh_of(C<W> z) {
  return std::tanh(z);
}

template <class W>
C<W> multiply_of(C<W> a, C<W> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class W>
bool before(C<W> a, C<W> b) {
  return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}

#define NCC_COMPLEX_UNARY(Name, expression) \
  struct Name {                             \
    template <class W>                      \
    static C<W> apply(C<W> z) {             \
      return expression;                    \
    }                                       \
  };
NCC_COMPLEX_UNARY(Acos, std::acos(z))
NCC_COMPLEX_UNARY(Acosh, std::acosh(z))
NCC_COMPLEX_UNARY(Asin, std::asin(z))
NCC_COMPLEX_UNARY(Asinh, std::asinh(z))
NCC_COMPLEX_UNARY(Atan, std::atan(z))
NCC_COMPLEX_UNARY(Atanh, std::atanh(z))
NCC_COMPLEX_UNARY(Cbrt, cbrt_of(z))
NCC_COMPLEX_UNARY(Conj, std::conj(z))
NCC_COMPLEX_UNARY(Cos, std::cos(z))
NCC_COMPLEX_UNARY(Cosh, std::cosh(z))
NCC_COMPLEX_UNARY(Exp, std::exp(z))
NCC_COMPLEX_UNARY(Expm1, expm1_of(z))
NCC_COMPLEX_UNARY(Log, std::log(z))
NCC_COMPLEX_UNARY(Log1p, log1p_of(z))
NCC_COMPLEX_UNARY(Logistic, C<W>{1} / (C<W>{1} + std::exp(-z)))
NCC_COMPLEX_UNARY(Negate, -z)
NCC_COMPLEX_UNARY(Rsqrt, C<W>{1} / std::sqrt(z))
NCC_COMPLEX_UNARY(Sign, sign_of(z))
NCC_COMPLEX_UNARY(Sin, std::sin(z))
NCC_COMPLEX_UNARY(Sinh, std::sinh(z))
NCC_COMPLEX_UNARY(Sqrt, std::sqrt(z))
NCC_COMPLEX_UNARY(Square, multiply_of(z, z))
NCC_COMPLEX_UNARY(Tan, std::tan(z))
NCC_COMPLEX_UNARY(Tanh, tanh_of(z))
#undef NCC_COMPLEX_UNARY

#define NCC_COMPLEX_BINARY(Name, expression) \
  struct Name {                              \
    template <class W>                       \
    static C<W> apply(C<W> a, C<W> b) {      \
      return expression;                     \
    }                                        \
  };
NCC_COMPLEX_BINARY(Add, a + b)
NCC_COMPLEX_BINARY(Subtract, a - b)
NCC_COMPLEX_BINARY(Multiply, multiply_of(a, b))
NCC_COMPLEX_BINARY(Divide, a / b)
NCC_COMPLEX_BINARY(Maximum, before(a, b) ? b : a)
NCC_COMPLEX_BINARY(Minimum, before(b, a) ? b : a)
// atan2(y, x) = -i log((x + iy) / sqrt(x^2 + y^2))
NCC_COMPLEX_BINARY(Atan2, (C<W>{0, -1} * std::log((b + C<W>{0, 1} * a) / std::sqrt(b * b + a * a))))
#undef NCC_COMPLEX_BINARY

// c64 values of XLA carry the rounding of an f32 chain.
struct Power {
  static C<double> apply(C<double> base, C<double> exponent) {
    return xla_power(C<float>(base), C<float>(exponent));
  }
  static C<long double> apply(C<long double> base, C<long double> exponent) {
    return power_of(base, exponent);
  }
};

template <class T, class W, class Op>
void complex_unary_lanes(const Lanes& a) {
  const T* x = static_cast<const T*>(a.in[0]);
  T* out = static_cast<T*>(a.out);
  for (int64_t i = 0; i < a.n; ++i) {
    const C<W> z = Op::apply(C<W>{x[2 * i], x[2 * i + 1]});
    out[2 * i] = static_cast<T>(z.real());
    out[2 * i + 1] = static_cast<T>(z.imag());
  }
}

template <class T, class W, class Op>
void complex_binary_lanes(const Lanes& a) {
  const T* x = static_cast<const T*>(a.in[0]);
  const T* y = static_cast<const T*>(a.in[1]);
  T* out = static_cast<T*>(a.out);
  for (int64_t i = 0; i < a.n; ++i) {
    const C<W> z = Op::apply(C<W>{x[2 * i], x[2 * i + 1]}, C<W>{y[2 * i], y[2 * i + 1]});
    out[2 * i] = static_cast<T>(z.real());
    out[2 * i + 1] = static_cast<T>(z.imag());
  }
}

template <class T, class W>
void complex_abs(const Lanes& a) {
  const T* x = static_cast<const T*>(a.in[0]);
  T* out = static_cast<T*>(a.out);
  for (int64_t i = 0; i < a.n; ++i)
    out[i] = static_cast<T>(std::hypot(static_cast<W>(x[2 * i]), static_cast<W>(x[2 * i + 1])));
}

template <class T, int kPart>
void complex_part(const Lanes& a) {
  const T* x = static_cast<const T*>(a.in[0]);
  T* out = static_cast<T*>(a.out);
  for (int64_t i = 0; i < a.n; ++i) out[i] = x[2 * i + kPart];
}

template <class T, class W>
Kernel unary_of(Opcode op) {
  switch (op) {
#define NCC_ROW(Id) \
  case Opcode::Id:  \
    return complex_unary_lanes<T, W, Id>;
    NCC_ROW(Acos)
    NCC_ROW(Acosh)
    NCC_ROW(Asin)
    NCC_ROW(Asinh)
    NCC_ROW(Atan)
    NCC_ROW(Atanh)
    NCC_ROW(Cbrt)
    NCC_ROW(Conj)
    NCC_ROW(Cos)
    NCC_ROW(Cosh)
    NCC_ROW(Exp)
    NCC_ROW(Expm1)
    NCC_ROW(Log)
    NCC_ROW(Log1p)
    NCC_ROW(Logistic)
    NCC_ROW(Negate)
    NCC_ROW(Rsqrt)
    NCC_ROW(Sign)
    NCC_ROW(Sin)
    NCC_ROW(Sinh)
    NCC_ROW(Sqrt)
    NCC_ROW(Square)
    NCC_ROW(Tan)
    NCC_ROW(Tanh)
#undef NCC_ROW
    case Opcode::Abs:
      return complex_abs<T, W>;
    case Opcode::Real:
      return complex_part<T, 0>;
    case Opcode::Imag:
      return complex_part<T, 1>;
    default:
      return nullptr;
  }
}

template <class T, class W>
Kernel binary_of(Opcode op) {
  switch (op) {
#define NCC_ROW(Id) \
  case Opcode::Id:  \
    return complex_binary_lanes<T, W, Id>;
    NCC_ROW(Add)
    NCC_ROW(Subtract)
    NCC_ROW(Multiply)
    NCC_ROW(Divide)
    NCC_ROW(Maximum)
    NCC_ROW(Minimum)
    NCC_ROW(Power)
    NCC_ROW(Atan2)
#undef NCC_ROW
    default:
      return nullptr;
  }
}

}  // namespace

Kernel complex_unary_kernel(Opcode op, Dtype type) {
  if (type == Dtype::C64) return unary_of<float, double>(op);
  return type == Dtype::C128 ? unary_of<double, long double>(op) : nullptr;
}

Kernel complex_binary_kernel(Opcode op, Dtype type) {
  if (type == Dtype::C64) return binary_of<float, double>(op);
  return type == Dtype::C128 ? binary_of<double, long double>(op) : nullptr;
}

}  // namespace ncc::hlo
