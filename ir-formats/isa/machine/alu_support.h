// What an engine does with an ALU op on a class of element types: the one table behind instruction selection,
// verifiers and the machine. Source: DESIGN section 14, C5.
#pragma once
#include "common/dtype/dtype.h"
#include "ir-formats/isa/enums.h"

namespace ncc::machine {

enum class AluSupport : uint8_t {
  Absent,
  Fp32,   // operands widen to fp32, the result narrows: exact for integers below 2^24 only
  Exact,  // on the integer itself, modulo 2^width
};

/// For an instruction whose tensors all have element type `dtype`. Integer arithmetic is exact only as
/// TensorTensor on Pool, for 32-bit integers (TensorTensorInt32); bit operations are exact everywhere they
/// exist.
AluSupport alu_support(isa::AluOp op, Dtype dtype, isa::Engine engine, int generation);

}  // namespace ncc::machine
