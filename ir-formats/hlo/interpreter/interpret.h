// The reference interpreter of HLO modules: plain, deterministic, independent of the compiler. It defines
// what a program means at every level below. One function per op, grouped by family in ops_<family>.cc;
// numeric rules: spec/stablehlo-text.md §3. Matrix products may use BLAS, so results agree across machines to
// rounding only.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "common/diag/status.h"
#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

struct InterpretOptions {
  /// Called with every value of the entry computation, parameters included, as soon as it is computed.
  std::function<void(const Instruction&, const Literal&)> observer;
};

/// Runs the entry computation. `args` holds one literal per parameter (tuples in, tuples out). A module with
/// manual computations for several devices runs on as many processes, all with these arguments; the observer
/// sees the first one. Errors: ERUN001 (a wrong argument), EVRF001 (an op without an implementation, named
/// with its location), ERUN003 (a failed run-time assertion of the program).
Result<Literal> interpret(const Module& module, std::span<const Literal> args,
                          const InterpretOptions& options = {});
/// Runs any computation of a module; argument errors are the caller's bugs.
Result<Literal> interpret(const Computation& computation, std::vector<Literal> args);

}  // namespace ncc::hlo
