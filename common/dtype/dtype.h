// The element types of every IR, and exact conversions between them and double/int64.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ncc {

enum class Dtype : uint8_t {
#define DTYPE(id, hlo, mlir, numpy, bits, kind, machine) id,
#include "common/dtype/dtype.def"
};
enum class DtypeKind : uint8_t { Pred, Signed, Unsigned, Float, Complex, Opaque };

struct DtypeInfo {
  Dtype dtype;
  std::string_view hlo, mlir, numpy;
  int bits;
  DtypeKind kind;
  std::string_view machine;  // BIR spelling; empty when the machine has no such type
};
const DtypeInfo& info(Dtype dtype);

std::optional<Dtype> dtype_from_hlo(std::string_view name);
std::optional<Dtype> dtype_from_mlir(std::string_view name);
/// By BIR name ("bfloat16"); "uint8" gives U8 (never Pred).
std::optional<Dtype> dtype_from_machine(std::string_view name);

/// Bytes of one element in memory and in .npy files (sub-byte types take one byte each).
inline int64_t size_bytes(Dtype dtype) { return (info(dtype).bits + 7) / 8; }
inline bool is_float(Dtype dtype) { return info(dtype).kind == DtypeKind::Float; }
inline bool is_signed_int(Dtype dtype) { return info(dtype).kind == DtypeKind::Signed; }
inline bool is_unsigned_int(Dtype dtype) { return info(dtype).kind == DtypeKind::Unsigned; }
inline bool is_integer(Dtype dtype) { return is_signed_int(dtype) || is_unsigned_int(dtype); }
inline bool is_complex(Dtype dtype) { return info(dtype).kind == DtypeKind::Complex; }

// Bit conversions. All narrowing rounds to nearest even; NaN stays NaN.
uint16_t bf16_from_f32(float value);
float f32_from_bf16(uint16_t bits);
uint16_t f16_from_f32(float value);
float f32_from_f16(uint16_t bits);
/// Correctly rounded from double (no double rounding through f32).
uint16_t bf16_from_f64(double value);
uint16_t f16_from_f64(double value);
/// Rounds to the float32r grid: 11 explicit mantissa bits.
float f32r_from_f32(float value);

/// Any real Float, Pred or integer element -> double (64-bit integers may round).
double load_as_double(Dtype dtype, const void* element);
/// double -> element with XLA's conversion: floats round to nearest even (8-bit kinds overflow as their
/// format defines); integers truncate toward zero and saturate, NaN gives 0; Pred is value != 0.
void store_from_double(Dtype dtype, void* element, double value);
/// Pred/integer element -> int64 (u64 reinterpreted); floats truncate.
int64_t load_as_int64(Dtype dtype, const void* element);
/// int64 -> integer element modulo 2^bits; Pred is value != 0; floats round to nearest even.
void store_from_int64(Dtype dtype, void* element, int64_t value);

}  // namespace ncc
