// An independent model of what the engines compute per element, and a runner for one-instruction modules:
// builds a Map over n elements, expands it, evaluates the machine Maps. Source: spec/simulator-numerics.md
// §3.3, §5.2, §6.1, DESIGN N2, N4.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/arch/arch.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo_opt::testing {

/// Raw element bits of one array.
struct Array {
  Dtype dtype;
  std::vector<uint64_t> bits;
  bool is_scalar = false;  // passed as a Scalar operand
};

Array floats(Dtype dtype, const std::vector<double>& values);
Array integers(Dtype dtype, const std::vector<int64_t>& values);
Array scalar(Dtype dtype, double value);
double as_double(Dtype dtype, uint64_t bits);
int64_t as_int64(Dtype dtype, uint64_t bits);

struct Call {
  penguin::ScalarFunction function;
  std::vector<Array> operands;
  Dtype result;
  penguin::TensorAttributes attributes;
};

struct Outcome {
  Array result;
  int instructions = 0;  // Maps other than Bitcast
};

/// The module of one Map.
penguin::Module build(const Call& call);
/// Runs every statement of the main function; `values` holds one array per tensor.
void evaluate(const penguin::Module& module, const ArchModel& arch, std::vector<Array>& values);
Outcome run(const Call& call, const ArchModel& arch);

/// Distance in units of the type's own grid; both NaN gives 0, one NaN or a wrong infinity a huge number.
int64_t ulp_distance(Dtype dtype, uint64_t a, uint64_t b);

}  // namespace ncc::hlo_opt::testing
