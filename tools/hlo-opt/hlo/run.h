// Running HLO passes: a list, or the default order. Every pass is verified; with a check, also interpreted.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tools/hlo-opt/hlo/equivalence.h"
#include "tools/hlo-opt/hlo/pass.h"

namespace ncc::hlo_passes {

struct RunOptions {
  std::vector<const PassInfo*> passes;  // to run in this order; empty = the default order
  std::vector<const PassInfo*> skip;    // not to run
  PassOptions limits;
  int64_t max_rounds = 4;  // of the Simplify stage
  /// Interprets after the passes it selects; not owned, may be null.
  EquivalenceCheck* check = nullptr;
  std::function<bool(const PassInfo&)> is_checked;
  /// Called after each pass that ran.
  std::function<void(const PassInfo&, const hlo::Module&, int64_t changes, int64_t wall_us)> after;
};

/// Errors: those of the passes; EINT901 naming the pass whose result does not verify; ERUN002 naming the pass
/// that changed what the module computes.
Status run_passes(hlo::Module& module, const RunOptions& options);

/// Runs every pass alone on copies of the module, and then the default order, each pass checked. `report` is
/// called for each ("default" for the order) with what went wrong, or ok. Errors: the module does not run as
/// it is.
Status check_each_pass(const hlo::Module& module, const std::vector<hlo::Literal>& args,
                       const RunOptions& options,
                       const std::function<void(std::string_view pass, const Status&)>& report);

}  // namespace ncc::hlo_passes
