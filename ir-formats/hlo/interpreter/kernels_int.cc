// Integer and predicate kernels: arithmetic modulo 2^n, XLA's conventions for division by zero.
// Source: spec/stablehlo-text.md §3.1.
#include <bit>
#include <type_traits>

#include "ir-formats/hlo/interpreter/kernel_loops.h"

namespace ncc::hlo {
namespace {

// Arithmetic in unsigned types of at least 32 bits: no overflow in the C++ sense, no promotion surprises.
template <class T>
using Wide = std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>;
template <class T>
using Unsigned = std::make_unsigned_t<T>;

// The low `bits` bits of x, for 2- and 4-bit types held sign-extended in a byte.
template <class T>
Unsigned<T> low_bits(T x, int bits) {
  const Unsigned<T> all = static_cast<Unsigned<T>>(~Unsigned<T>{0});
  const int spare = static_cast<int>(sizeof(T) * 8) - bits;
  return static_cast<Unsigned<T>>(static_cast<Unsigned<T>>(x) & static_cast<Unsigned<T>>(all >> spare));
}

struct Abs {
  template <class T>
  static T apply(T x) {
    if constexpr (std::is_unsigned_v<T>) return x;
    return x < 0 ? static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(x)) : x;
  }
};
struct Negate {
  template <class T>
  static T apply(T x) {
    return static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(x));
  }
};
struct Not {
  template <class T>
  static T apply(T x) {
    return static_cast<T>(~x);
  }
};
struct Sign {
  template <class T>
  static T apply(T x) {
    if constexpr (std::is_unsigned_v<T>) return x != 0;
    return static_cast<T>((x > 0) - (x < 0));
  }
};
struct Square {
  template <class T>
  static T apply(T x) {
    return static_cast<T>(static_cast<Wide<T>>(x) * static_cast<Wide<T>>(x));
  }
};
struct Popcnt {
  template <class T>
  static T apply(T x, int bits) {
    return static_cast<T>(std::popcount(low_bits(x, bits)));
  }
};
struct Clz {
  template <class T>
  static T apply(T x, int bits) {
    return static_cast<T>(std::countl_zero(low_bits(x, bits)) - (static_cast<int>(sizeof(T) * 8) - bits));
  }
};

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
  }
};
struct Subtract {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wide<T>>(a) - static_cast<Wide<T>>(b));
  }
};
struct Multiply {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
  }
};
struct Divide {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return Negate::apply(a);
    }
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
};
struct Maximum {
  template <class T>
  static T apply(T a, T b) {
    return a > b ? a : b;
  }
};
struct Minimum {
  template <class T>
  static T apply(T a, T b) {
    return a < b ? a : b;
  }
};
struct And {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Power {
  template <class T>
  static T apply(T base, T exponent) {
    if constexpr (std::is_signed_v<T>) {
      if (exponent < 0) {
        if (base == 1) return 1;
        if (base == -1) return (exponent & 1) ? static_cast<T>(-1) : static_cast<T>(1);
        return 0;
      }
    }
    Wide<T> result = 1, factor = static_cast<Wide<T>>(base);
    for (auto e = static_cast<Unsigned<T>>(exponent); e != 0; e = static_cast<Unsigned<T>>(e >> 1)) {
      if (e & 1) result *= factor;
      factor *= factor;
    }
    return static_cast<T>(result);
  }
};

// Shift amounts are unsigned; `bits` is the width of the storage type.
struct ShiftLeft {
  template <class T>
  static T apply(T a, T amount, int bits) {
    const auto by = low_bits(amount, bits);
    if (by >= static_cast<Unsigned<T>>(bits)) return 0;
    return static_cast<T>(static_cast<Wide<T>>(a) << by);
  }
};
struct ShiftRightLogical {
  template <class T>
  static T apply(T a, T amount, int bits) {
    const auto by = low_bits(amount, bits);
    if (by >= static_cast<Unsigned<T>>(bits)) return 0;
    return static_cast<T>(low_bits(a, bits) >> by);
  }
};
// Replicates the top bit, of unsigned types as well.
struct ShiftRightArithmetic {
  template <class T>
  static T apply(T a, T amount, int bits) {
    const auto by = low_bits(amount, bits);
    const int shift = by >= static_cast<Unsigned<T>>(bits) ? bits - 1 : static_cast<int>(by);
    const int spare = static_cast<int>(sizeof(T) * 8) - bits;
    using S = std::make_signed_t<T>;
    const S extended = static_cast<S>(static_cast<S>(static_cast<Wide<T>>(a) << spare) >> spare);
    return static_cast<T>(extended >> shift);
  }
};
struct MulHi {
  template <class T>
  static T apply(T a, T b, int bits) {
    using Product = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<Product>(a) * static_cast<Product>(b)) >> bits);
  }
};

// Predicates are bytes 0 and 1.
struct NotPred {
  static uint8_t apply(uint8_t x) { return x == 0; }
};

Kernel pred_binary_kernel(Opcode op) {
  switch (op) {
    case Opcode::Add:
    case Opcode::Maximum:
    case Opcode::Or:
      return binary_lanes<uint8_t, Or>;
    case Opcode::Multiply:
    case Opcode::Minimum:
    case Opcode::And:
      return binary_lanes<uint8_t, And>;
    case Opcode::Xor:
      return binary_lanes<uint8_t, Xor>;
    default:
      return nullptr;
  }
}

}  // namespace

Kernel int_unary_kernel(Opcode op, Dtype type) {
  if (type == Dtype::Pred) return op == Opcode::Not ? unary_lanes<uint8_t, NotPred> : nullptr;
  return with_int_type(type, [op]<class T>() -> Kernel {
    switch (op) {
      case Opcode::Abs:
        return unary_lanes<T, Abs>;
      case Opcode::Negate:
        return unary_lanes<T, Negate>;
      case Opcode::Not:
        return unary_lanes<T, Not>;
      case Opcode::Sign:
        return unary_lanes<T, Sign>;
      case Opcode::Square:
        return unary_lanes<T, Square>;
      case Opcode::Popcnt:
        return unary_lanes_with_bits<T, Popcnt>;
      case Opcode::Clz:
        return unary_lanes_with_bits<T, Clz>;
      default:
        return nullptr;
    }
  });
}

Kernel int_binary_kernel(Opcode op, Dtype type) {
  if (type == Dtype::Pred) return pred_binary_kernel(op);
  return with_int_type(type, [op]<class T>() -> Kernel {
    switch (op) {
      case Opcode::Add:
        return binary_lanes<T, Add>;
      case Opcode::Subtract:
        return binary_lanes<T, Subtract>;
      case Opcode::Multiply:
        return binary_lanes<T, Multiply>;
      case Opcode::Divide:
        return binary_lanes<T, Divide>;
      case Opcode::Remainder:
        return binary_lanes<T, Remainder>;
      case Opcode::Maximum:
        return binary_lanes<T, Maximum>;
      case Opcode::Minimum:
        return binary_lanes<T, Minimum>;
      case Opcode::And:
        return binary_lanes<T, And>;
      case Opcode::Or:
        return binary_lanes<T, Or>;
      case Opcode::Xor:
        return binary_lanes<T, Xor>;
      case Opcode::Power:
        return binary_lanes<T, Power>;
      case Opcode::ShiftLeft:
        return binary_lanes_with_bits<T, ShiftLeft>;
      case Opcode::ShiftRightLogical:
        return binary_lanes_with_bits<T, ShiftRightLogical>;
      case Opcode::ShiftRightArithmetic:
        return binary_lanes_with_bits<T, ShiftRightArithmetic>;
      case Opcode::MulHi:
        return binary_lanes_with_bits<T, MulHi>;
      default:
        return nullptr;
    }
  });
}

}  // namespace ncc::hlo
