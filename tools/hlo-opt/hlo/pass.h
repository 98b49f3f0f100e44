// The HLO level of hlo-opt: what a pass is, and the registry. A pass is one function over a whole module in
// passes/<name>.cc and one row of passes.def. It leaves a module that `hlo::verify` accepts; the runner
// (run.h) removes unreachable computations, sorts storage and renumbers between passes, so that a pass always
// starts on dense ids and topological storage. Source: spec/hlo-front-half.md §2, §4.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/diag/status.h"
#include "ir-formats/hlo/module.h"

namespace ncc::hlo_passes {

/// Limits that passes respect; options of the tool set them.
struct PassOptions {
  int64_t max_folded_bytes = int64_t{1} << 20;  // constant_folding makes no larger constant
  int64_t max_folded_work = int64_t{1} << 24;   // nor runs more scalar operations for one
  int64_t max_unrolled_trips = 1000;            // while loops with more iterations stay rolled
  int64_t max_unrolled_size = 20000;            // trips times instructions of the body
};

struct PassContext {
  PassOptions options;
  int64_t changes = 0;  // rewrites done; 0 means that the module is as it was
};

/// What a pass may do to a result.
enum class Rounding : uint8_t {
  Exact,  // no bit changes (NaN payloads aside)
  May,    // sums may be associated or rounded in another way
  Draws,  // random numbers are drawn in another way: of what may depend on them only shapes are compared
  Other,  // other results are what the pass is for: only shapes can be compared
};

/// Where a pass stands in the default order. Stages run in this order, their passes in table order.
enum class Stage : uint8_t {
  Flatten,    // once: calls, tuples, what is dead
  Simplify,   // repeated until nothing changes
  Expand,     // once, and then Simplify again
  Recognise,  // once: tags, no rewrites
  Final,      // once
  OnDemand,   // only when --passes names it
};

struct PassInfo {
  std::string_view name;
  Status (*run)(hlo::Module&, PassContext&);
  Stage stage;
  Rounding rounding;
  std::string_view summary;
};

/// In table order.
std::span<const PassInfo> all_passes();
/// '-' and '_' are the same in names. nullptr when there is none.
const PassInfo* find_pass(std::string_view name);

/// A name of the specification that has no pass here.
struct KnownName {
  std::string_view name, reason;
};
const KnownName* find_known_name(std::string_view name);

/// find_pass, or: EARG003 for a known name, EARG001 with the closest name for an unknown one.
Result<const PassInfo*> require_pass(std::string_view name);

std::string_view name(Stage stage);
std::string_view name(Rounding rounding);

}  // namespace ncc::hlo_passes
