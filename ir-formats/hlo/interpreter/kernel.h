// Kernels: loops over contiguous lanes, one per elementwise op and compute type.
//
// An op on a storage type is computed in that type's *compute type*: itself for 8- to 64-bit integers, f32,
// f64 and complex; f32 for all narrower floats; the 8-bit integer for 2- and 4-bit ones. The lane program
// (lane_program.h) converts around the kernel, so that each op rounds once to its own result type. f32
// transcendentals are evaluated in double. Numeric rules: spec/stablehlo-text.md §3.1-§3.5.
#pragma once
#include <cstdint>

#include "common/dtype/dtype.h"
#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

/// Arguments of one kernel call: `n` elements of each array; `out` may be the same array as an input of equal
/// width.
struct Lanes {
  const void* in[3] = {nullptr, nullptr, nullptr};
  void* out = nullptr;
  int64_t n = 0;
  int64_t p0 = 0, p1 = 0;  // parameters of the op; their meaning is the kernel's
};
using Kernel = void (*)(const Lanes&);

/// A kernel with the types it reads and writes. `kernel` is null when the op is not defined for the types.
struct Binding {
  Kernel kernel = nullptr;
  int arity = 0;
  Dtype in[3] = {Dtype::F32, Dtype::F32, Dtype::F32};
  Dtype out = Dtype::F32;
  int64_t p0 = 0, p1 = 0;
};

Dtype compute_type(Dtype storage);

/// The kernel of an elementwise instruction (scalars or arrays alike); null kernel for map and undefined
/// combinations.
Binding bind_kernel(const Instruction& inst);

// The families, by compute type; null when undefined.
Kernel int_unary_kernel(Opcode op, Dtype type);   // p0 = bits of the storage type
Kernel int_binary_kernel(Opcode op, Dtype type);  // p0 = bits of the storage type; Pred included
Kernel real_unary_kernel(Opcode op,
                         Dtype type);  // F32, F64; reduce-precision: p0 = exponent, p1 = mantissa bits
Kernel real_binary_kernel(Opcode op, Dtype type);
Kernel complex_unary_kernel(Opcode op, Dtype type);  // abs, real, imag write the real type
Kernel complex_binary_kernel(Opcode op, Dtype type);
Kernel compare_kernel(CompareDirection direction, bool total_order, Dtype type);  // writes Pred
Kernel select_kernel(int64_t width_bytes);                                        // in[0] is Pred
Kernel clamp_kernel(Dtype type);                                                  // low, operand, high
Kernel copy_kernel(int64_t width_bytes);
/// Next representable value of the storage type itself.
Kernel next_after_kernel(Dtype storage);
/// From a compute type to any type, with XLA's conversion.
Kernel convert_kernel(Dtype from, Dtype to);
/// Exact: from a storage type to its compute type; null when they are the same.
Kernel widen_kernel(Dtype storage);

}  // namespace ncc::hlo
