#include "ir-formats/penguin/interpret/functions.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "common/diag/status.h"
#include "ir-formats/penguin/interpret/machine_functions.h"
#include "ir-formats/penguin/interpret/special.h"

namespace ncc::penguin {
namespace {

using F = ScalarFunction;
using Operands = std::span<const Lanes>;

/// Elements of one operand type, read through as_real for mixed classes.
template <class Compute>
void unary_real(Operands in, Lanes& out, int64_t count, Compute&& compute) {
  const double* x = in[0].real.data();
  double* y = out.real.data();
  for (int64_t i = 0; i < count; ++i) y[i] = compute(x[i]);
}
template <class Compute>
void binary_real(Operands in, Lanes& out, int64_t count, Compute&& compute) {
  const double *a = in[0].real.data(), *b = in[1].real.data();
  double* y = out.real.data();
  for (int64_t i = 0; i < count; ++i) y[i] = compute(a[i], b[i]);
}
template <class Compute>
void unary_integer(Operands in, Lanes& out, int64_t count, Compute&& compute) {
  const int64_t* x = in[0].integer.data();
  int64_t* y = out.integer.data();
  for (int64_t i = 0; i < count; ++i) y[i] = compute(x[i]);
}
template <class Compute>
void binary_integer(Operands in, Lanes& out, int64_t count, Compute&& compute) {
  const int64_t *a = in[0].integer.data(), *b = in[1].integer.data();
  int64_t* y = out.integer.data();
  for (int64_t i = 0; i < count; ++i) y[i] = compute(a[i], b[i]);
}

double max_real(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
double min_real(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
double sign_real(double x) { return std::isnan(x) || x == 0 ? x : x > 0 ? 1.0 : -1.0; }

/// Rounds to `mantissa` explicit bits and the range of `exponent` bits; what is too small becomes a signed
/// zero.
double reduce_precision(double x, int exponent, int mantissa) {
  if (!std::isfinite(x) || x == 0) return x;
  const int bias = (1 << (exponent - 1)) - 1;
  int scale = 0;
  const double fraction = std::frexp(x, &scale);  // [0.5, 1)
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(fraction, mantissa + 1)), scale - mantissa - 1);
  const int power = std::ilogb(rounded);
  if (power > bias) return std::copysign(std::numeric_limits<double>::infinity(), x);
  return power < 1 - bias ? std::copysign(0.0, x) : rounded;
}

/// Sign-magnitude order of floats: -NaN < -inf < … < -0 < +0 < … < +inf < +NaN.
int64_t total_order_key(double x) {
  const int64_t bits = std::bit_cast<int64_t>(x);
  return bits < 0 ? std::numeric_limits<int64_t>::min() - bits : bits;
}

template <class T>
bool holds(Comparison comparison, T a, T b) {
  switch (comparison) {
    case Comparison::Eq:
      return a == b;
    case Comparison::Ne:
      return a != b;
    case Comparison::Ge:
      return a >= b;
    case Comparison::Gt:
      return a > b;
    case Comparison::Le:
      return a <= b;
    case Comparison::Lt:
      return a < b;
  }
  return false;
}

void compare(const TensorAttributes& attributes, Operands in, Lanes& out, int64_t count) {
  int64_t* y = out.integer.data();
  for (int64_t i = 0; i < count; ++i) {
    if (!in[0].is_real()) {
      if (in[0].dtype == Dtype::U64)
        y[i] = holds(attributes.comparison, static_cast<uint64_t>(in[0].integer[i]),
                     static_cast<uint64_t>(in[1].integer[i]));
      else
        y[i] = holds(attributes.comparison, in[0].integer[i], in[1].integer[i]);
    } else if (attributes.total_order) {
      y[i] = holds(attributes.comparison, total_order_key(in[0].real[i]), total_order_key(in[1].real[i]));
    } else {
      y[i] = holds(attributes.comparison, in[0].real[i], in[1].real[i]);
    }
  }
}

void select(Operands in, Lanes& out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const Lanes& chosen = in[0].as_real(i) != 0 ? in[1] : in[2];
    if (out.is_real())
      out.real[i] = chosen.as_real(i);
    else
      out.integer[i] = chosen.integer[i];
  }
}

/// Any class to any class without rounding; `store` rounds.
void convert(Operands in, Lanes& out, int64_t count) {
  if (out.is_real() == in[0].is_real()) {
    out.real = in[0].real;
    out.integer = in[0].integer;
    return;
  }
  if (out.is_real()) {
    for (int64_t i = 0; i < count; ++i)
      out.real[i] = in[0].dtype == Dtype::U64 ? static_cast<double>(static_cast<uint64_t>(in[0].integer[i]))
                                              : static_cast<double>(in[0].integer[i]);
    return;
  }
  // Float to integer: truncation and saturation to the result type happen here, while the value is still a
  // real number.
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    store_from_double(out.dtype, &bits, in[0].real[i]);
    out.integer[i] = load_as_int64(out.dtype, &bits);
  }
}

/// nullptr for functions that are not a plain real function of one argument.
double (*unary_real_function(F function))(double) {
  switch (function) {
    case F::Abs:
      return [](double x) { return std::fabs(x); };
    case F::Cbrt:
      return [](double x) { return std::cbrt(x); };
    case F::Ceil:
      return [](double x) { return std::ceil(x); };
    case F::Cosine:
      return [](double x) { return std::cos(x); };
    case F::Erf:
      return [](double x) { return std::erf(x); };
    case F::Exponential:
      return [](double x) { return std::exp(x); };
    case F::ExponentialMinusOne:
      return [](double x) { return std::expm1(x); };
    case F::Floor:
      return [](double x) { return std::floor(x); };
    case F::Log:
      return [](double x) { return std::log(x); };
    case F::LogPlusOne:
      return [](double x) { return std::log1p(x); };
    case F::Logistic:
      return [](double x) { return 1.0 / (1.0 + std::exp(-x)); };
    case F::Negate:
      return [](double x) { return -x; };
    case F::RoundNearestAfz:
      return [](double x) { return std::round(x); };
    case F::RoundNearestEven:
      return [](double x) { return std::nearbyint(x); };
    case F::Rsqrt:
      return [](double x) { return 1.0 / std::sqrt(x); };
    case F::Sign:
      return sign_real;
    case F::Sine:
      return [](double x) { return std::sin(x); };
    case F::Sqrt:
      return [](double x) { return std::sqrt(x); };
    case F::Tan:
      return [](double x) { return std::tan(x); };
    case F::Tanh:
      return [](double x) { return std::tanh(x); };
    case F::Acos:
      return [](double x) { return std::acos(x); };
    case F::Acosh:
      return [](double x) { return std::acosh(x); };
    case F::Asin:
      return [](double x) { return std::asin(x); };
    case F::Asinh:
      return [](double x) { return std::asinh(x); };
    case F::Atan:
      return [](double x) { return std::atan(x); };
    case F::Atanh:
      return [](double x) { return std::atanh(x); };
    case F::Cosh:
      return [](double x) { return std::cosh(x); };
    case F::Erfc:
      return [](double x) { return std::erfc(x); };
    case F::Sinh:
      return [](double x) { return std::sinh(x); };
    case F::Square:
      return [](double x) { return x * x; };
    case F::BesselI1e:
      return special::bessel_i1e;
    case F::Digamma:
      return special::digamma;
    case F::ErfInv:
      return special::erf_inv;
    case F::Lgamma:
      return special::lgamma;
    default:
      return nullptr;
  }
}

void real_binary(F function, Operands in, Lanes& out, int64_t count) {
  switch (function) {
    case F::Add:
      return binary_real(in, out, count, [](double a, double b) { return a + b; });
    case F::Subtract:
      return binary_real(in, out, count, [](double a, double b) { return a - b; });
    case F::Multiply:
      return binary_real(in, out, count, [](double a, double b) { return a * b; });
    case F::Divide:
      return binary_real(in, out, count, [](double a, double b) { return a / b; });
    case F::Maximum:
      return binary_real(in, out, count, max_real);
    case F::Minimum:
      return binary_real(in, out, count, min_real);
    case F::Remainder:
      return binary_real(in, out, count, [](double a, double b) { return std::fmod(a, b); });
    case F::Power:
      return binary_real(in, out, count, [](double a, double b) { return std::pow(a, b); });
    case F::Atan2:
      return binary_real(in, out, count, [](double a, double b) { return std::atan2(a, b); });
    case F::Polygamma:
      return binary_real(in, out, count, special::polygamma);
    case F::Zeta:
      return binary_real(in, out, count, special::hurwitz_zeta);
    case F::NextAfter: {
      const Dtype dtype = out.dtype;
      return binary_real(in, out, count,
                         [dtype](double a, double b) { return special::next_after(dtype, a, b); });
    }
    default:
      NCC_CHECK(false, "no real semantics of '{}'", info(function).name);
  }
}

/// Integer arithmetic on sign- or zero-extended values; the store wraps to the type's width.
int64_t integer_divide(int64_t a, int64_t b, bool is_unsigned) {
  if (b == 0) return -1;
  if (is_unsigned) return static_cast<int64_t>(static_cast<uint64_t>(a) / static_cast<uint64_t>(b));
  return b == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a / b;
}
int64_t integer_remainder(int64_t a, int64_t b, bool is_unsigned) {
  if (b == 0) return a;
  if (is_unsigned) return static_cast<int64_t>(static_cast<uint64_t>(a) % static_cast<uint64_t>(b));
  return b == -1 ? 0 : a % b;
}
int64_t integer_power(int64_t base, int64_t exponent, bool is_unsigned) {
  if (exponent < 0 && !is_unsigned) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (uint64_t left = static_cast<uint64_t>(exponent); left != 0; left >>= 1) {
    if (left & 1) result *= factor;
    factor *= factor;
  }
  return static_cast<int64_t>(result);
}

void integer_shift(F function, Operands in, Lanes& out, int64_t count) {
  const int bits = info(out.dtype).bits;
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  binary_integer(in, out, count, [=](int64_t a, int64_t amount) -> int64_t {
    const bool overlong = static_cast<uint64_t>(amount) >= static_cast<uint64_t>(bits);
    if (function == F::ShiftRightArithmetic) {
      // Unsigned elements are shifted as the signed number of the same bits.
      const int64_t value =
          bits == 64 ? a : static_cast<int64_t>(static_cast<uint64_t>(a) << (64 - bits)) >> (64 - bits);
      return value >> (overlong ? 63 : amount);
    }
    if (overlong) return 0;
    const uint64_t value = static_cast<uint64_t>(a) & mask;
    return static_cast<int64_t>(function == F::ShiftLeft ? value << amount : value >> amount);
  });
}

void pred_binary(F function, Operands in, Lanes& out, int64_t count) {
  switch (function) {
    case F::Add:
    case F::Maximum:
    case F::Or:
      return binary_integer(in, out, count, [](int64_t a, int64_t b) { return a | b; });
    case F::Multiply:
    case F::Minimum:
    case F::And:
      return binary_integer(in, out, count, [](int64_t a, int64_t b) { return a & b; });
    case F::Xor:
      return binary_integer(in, out, count, [](int64_t a, int64_t b) { return a ^ b; });
    default:
      NCC_CHECK(false, "no pred semantics of '{}'", info(function).name);
  }
}

void integer_binary(F function, Operands in, Lanes& out, int64_t count) {
  const bool is_unsigned = is_unsigned_int(out.dtype);
  const auto wide = [](auto&& compute) {
    return [compute](int64_t a, int64_t b) {
      return static_cast<int64_t>(compute(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
    };
  };
  switch (function) {
    case F::Add:
      return binary_integer(in, out, count, wide([](uint64_t a, uint64_t b) { return a + b; }));
    case F::Subtract:
      return binary_integer(in, out, count, wide([](uint64_t a, uint64_t b) { return a - b; }));
    case F::Multiply:
      return binary_integer(in, out, count, wide([](uint64_t a, uint64_t b) { return a * b; }));
    case F::And:
      return binary_integer(in, out, count, wide([](uint64_t a, uint64_t b) { return a & b; }));
    case F::Or:
      return binary_integer(in, out, count, wide([](uint64_t a, uint64_t b) { return a | b; }));
    case F::Xor:
      return binary_integer(in, out, count, wide([](uint64_t a, uint64_t b) { return a ^ b; }));
    case F::Divide:
      return binary_integer(in, out, count,
                            [=](int64_t a, int64_t b) { return integer_divide(a, b, is_unsigned); });
    case F::Remainder:
      return binary_integer(in, out, count,
                            [=](int64_t a, int64_t b) { return integer_remainder(a, b, is_unsigned); });
    case F::Power:
      return binary_integer(in, out, count,
                            [=](int64_t a, int64_t b) { return integer_power(a, b, is_unsigned); });
    case F::Maximum:
      return binary_integer(in, out, count, [](int64_t a, int64_t b) { return a > b ? a : b; });
    case F::Minimum:
      return binary_integer(in, out, count, [](int64_t a, int64_t b) { return a < b ? a : b; });
    case F::ShiftLeft:
    case F::ShiftRightArithmetic:
    case F::ShiftRightLogical:
      return integer_shift(function, in, out, count);
    default:
      NCC_CHECK(false, "no integer semantics of '{}'", info(function).name);
  }
}

void integer_unary(F function, Operands in, Lanes& out, int64_t count) {
  const int bits = info(in[0].dtype).bits;
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  switch (function) {
    case F::Abs:
      return unary_integer(in, out, count, [](int64_t x) {
        return x < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x;
      });
    case F::Negate:
      return unary_integer(in, out, count,
                           [](int64_t x) { return static_cast<int64_t>(0 - static_cast<uint64_t>(x)); });
    case F::Not:
      if (out.dtype == Dtype::Pred)
        return unary_integer(in, out, count, [](int64_t x) { return int64_t{x == 0}; });
      return unary_integer(in, out, count, [](int64_t x) { return ~x; });
    case F::Sign:
      return unary_integer(in, out, count, [](int64_t x) { return int64_t{x > 0} - int64_t{x < 0}; });
    case F::Square:
      return unary_integer(in, out, count, [](int64_t x) {
        return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(x));
      });
    case F::PopulationCount:
      return unary_integer(
          in, out, count, [=](int64_t x) { return int64_t{std::popcount(static_cast<uint64_t>(x) & mask)}; });
    case F::CountLeadingZeros:
      return unary_integer(in, out, count, [=](int64_t x) {
        return int64_t{std::countl_zero(static_cast<uint64_t>(x) & mask) - (64 - bits)};
      });
    default:
      NCC_CHECK(false, "no integer semantics of '{}'", info(function).name);
  }
}

/// Predicates on reals.
void classify(F function, Operands in, Lanes& out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const double x = in[0].real[i];
    if (function == F::IsFinite)
      out.integer[i] = std::isfinite(x);
    else
      out.integer[i] =
          std::isinf(x) && (function == F::IsInf || (function == F::IsNegInf) == std::signbit(x));
  }
}

}  // namespace

Dtype load_type(ScalarFunction function, Dtype operand) {
  if (function != F::BitcastConvert && function != F::Bitcast) return operand;
  switch (ncc::size_bytes(operand)) {
    case 1:
      return operand == Dtype::Pred ? Dtype::Pred : Dtype::U8;
    case 2:
      return Dtype::U16;
    case 4:
      return Dtype::U32;
    default:
      return Dtype::U64;
  }
}

Rounding rounding_of(ScalarFunction function, const TensorAttributes& attributes) {
  const bool is_bits = function == F::Alu && isa::info(attributes.alu).domain == isa::AluDomain::Bits;
  if (is_bits) return Rounding::Model;
  const bool rounds =
      function == F::Alu || function == F::Activation || function == F::Copy || function == F::Select;
  return rounds ? Rounding::Machine : Rounding::Model;
}

void evaluate(ScalarFunction function, const TensorAttributes& attributes, Operands in, Lanes& out,
              int64_t count) {
  const bool real = !in.empty() && in[0].is_real();
  switch (function) {
    case F::Convert:
    case F::Copy:
      return function == F::Convert || out.is_real() ? convert(in, out, count) : copy_machine(in, out, count);
    case F::BitcastConvert:
    case F::Bitcast:
      out.integer = in[0].integer;
      return;
    case F::SelectModel:
    case F::Select:
      return select(in, out, count);
    case F::Compare:
      return compare(attributes, in, out, count);
    case F::IsFinite:
    case F::IsInf:
    case F::IsNegInf:
    case F::IsPosInf:
      return classify(function, in, out, count);
    case F::ReducePrecision:
      return unary_real(in, out, count, [&](double x) {
        return reduce_precision(x, attributes.exponent_bits, attributes.mantissa_bits);
      });
    case F::Alu:
    case F::Int32:
    case F::Activation:
      return evaluate_machine(function, attributes, in, out, count);
    case F::Clamp:
      for (int64_t i = 0; i < count; ++i) {
        if (real)
          out.real[i] = min_real(max_real(in[1].real[i], in[0].real[i]), in[2].real[i]);
        else
          out.integer[i] = std::min(std::max(in[1].integer[i], in[0].integer[i]), in[2].integer[i]);
      }
      return;
    default:
      break;
  }
  if (real) {
    if (const auto compute = unary_real_function(function)) return unary_real(in, out, count, compute);
    return real_binary(function, in, out, count);
  }
  if (info(function).arity == 1) return integer_unary(function, in, out, count);
  return in[0].dtype == Dtype::Pred ? pred_binary(function, in, out, count)
                                    : integer_binary(function, in, out, count);
}

uint64_t evaluate_scalar(ScalarFunction function, const TensorAttributes& attributes,
                         std::span<const Operand> scalars, Dtype result) {
  std::vector<Lanes> operands;
  for (const Operand& scalar : scalars) {
    operands.emplace_back(load_type(function, scalar.dtype), 1);
    load(operands.back(), reinterpret_cast<const std::byte*>(&scalar.scalar), 1, 1);
  }
  const Dtype stored = load_type(function, result);
  Lanes out(stored, 1);
  evaluate(function, attributes, operands, out, 1);
  uint64_t bits = 0;
  store(out, stored, rounding_of(function, attributes), reinterpret_cast<std::byte*>(&bits), 1, 1);
  return bits;
}

}  // namespace ncc::penguin
