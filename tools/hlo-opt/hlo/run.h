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

/// Brings a module into the form that passes start on: no unreachable computations, storage in topological
/// order, dense ids.
Status tidy(hlo::Module& module);

/// Errors: those of the passes; EINT901 naming the pass whose result does not verify; ERUN002 naming the pass
/// that changed what the module computes.
Status run_passes(hlo::Module& module, const RunOptions& options);

/// How one run of check_each_pass ended.
enum class Outcome : uint8_t {
  Unchanged,  // the module computes the same by construction: only names, order, tags or aliases changed
  Equal,      // interpreted, and the results are the same
  Wrong,      // other results, no valid module, or a change that the pass does not report
  Untested,   // the pass changed the module after the time was over
};

struct EachOptions {
  RunOptions run;      // run.passes: the passes to check; empty = every pass and the default order
  double seconds = 0;  // no interpretation starts later than this after the first; 0 = no limit
};

/// Runs passes alone on copies of the module, and then the default order, and interprets each result.
/// `report` is called for each ("default" for the order); its status says what went wrong. The module is
/// interpreted once before, and once for each pass that changes what is computed; the default order once at
/// its end, and after each pass only when that failed, to name the guilty one. Errors: the module does not
/// run as it is.
Status check_each_pass(const hlo::Module& module, const std::vector<hlo::Literal>& args,
                       const EachOptions& options,
                       const std::function<void(std::string_view pass, Outcome, const Status&)>& report);

}  // namespace ncc::hlo_passes
