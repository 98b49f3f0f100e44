// Translation validation by execution: interprets a module before and after a pass on the same inputs and
// compares. Results are the root of the entry computation and the operands of its effectful custom-calls
// (`check.*`), leaf by leaf. A module for several devices runs on a grid of that many processes, each on
// inputs of its own; the results are the roots of all. An rng stands for a pattern of its own (draws.h).
#pragma once
#include <string>
#include <vector>

#include "ir-formats/hlo/interpreter/interpret.h"
#include "tools/hlo-opt/hlo/pass.h"

namespace ncc::hlo_passes {

struct CheckOptions {
  std::string inputs;  // folder of NNN.npy; "" = inputs are generated
  uint64_t seed = 1;   // of generated inputs
  // generated floats include NaN, infinities, -0, the smallest and the largest numbers; integers the extremes
  bool specials = false;
};

class EquivalenceCheck {
 public:
  /// Marks the draws of `module` and interprets it. Errors of the interpreter (an op without an
  /// implementation, …).
  static Result<EquivalenceCheck> prepare(hlo::Module& module, const CheckOptions& options);
  static Result<EquivalenceCheck> prepare(hlo::Module& module, std::vector<hlo::Literal> args);

  /// Interprets again. ERUN002 names the pass, the result, the element and both values. Floats keep their
  /// bits (NaNs are equal) unless the pass may round; then they agree to a few last places of the largest
  /// value. The new results are what the next pass is compared with.
  Status compare(const hlo::Module& module, const PassInfo& pass);

  /// Copies of one rng become draws of their own, for the next comparison; interprets again when there are
  /// any.
  Status tell_apart_draws(hlo::Module& module);

 private:
  Result<std::vector<hlo::Literal>> results(const hlo::Module& module) const;
  Result<std::vector<hlo::Literal>> grid_results(const hlo::Module& module) const;

  std::vector<hlo::Literal> args_;
  std::vector<hlo::Literal> before_;
  std::vector<bool> drawn_;  // per result of a process: it may depend on random numbers
};

/// The arguments that `prepare` makes or reads.
Result<std::vector<hlo::Literal>> check_arguments(const hlo::Module& module, const CheckOptions& options);

/// Array constants of the entry computation (calls are inlined first) become parameters, so that a program
/// without inputs, as tests are, has some. Their values are appended to `args`. Returns how many.
Result<int64_t> constants_to_parameters(hlo::Module& module, std::vector<hlo::Literal>& args);

/// Generated arguments for these parameters: floats in [-2, 2), integers small, equal for equal seeds; with
/// `specials` one in eight is one of the type's extremes. Open dimensions have four elements.
hlo::Literal generated_input(const hlo::Shape& shape, uint64_t seed, bool specials);

}  // namespace ncc::hlo_passes
