// Executes a Penguin module at tensor level: every op as it is written, one rounding per result element,
// contractions accumulated in double (floats) or modulo 2^64 (integers). Plain code that shares nothing with
// lowering.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/diag/status.h"
#include "common/npy/npy.h"
#include "ir-formats/penguin/module.h"

namespace ncc::penguin {

struct InterpretOptions {
  /// Called when a tensor is complete (inputs and constants excluded), in program order. A failure stops the
  /// run.
  std::function<Status(TensorId, const Tensor&, const Array&)> on_tensor;
};

/// Outputs in result order. `constants` is the content of constants.bin. Internal tensors are freed after
/// their last use. ERUN001: an input's shape or type differs from the parameter's; EPEN001: a constant lies
/// outside `constants`; ERUN003: the module is not at tensor level.
Result<std::vector<Array>> interpret(const Module& module, std::span<const std::byte> constants,
                                     const std::vector<Array>& inputs, const InterpretOptions& options = {});

/// Reads and verifies `path`, maps `constants.bin` beside it (when the module has constants) and interprets
/// it. Inputs whose type numpy cannot name may come as raw bits of the same width.
Result<std::vector<Array>> run_file(const std::string& path, const std::vector<Array>& inputs,
                                    const InterpretOptions& options = {});

}  // namespace ncc::penguin
