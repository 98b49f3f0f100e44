// The pass manager of walrus_driver: builds the list, runs it, times it, dumps and checks between passes.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tools/walrus_driver/pass.h"

namespace ncc::walrus {

/// All passes in default order.
std::vector<std::string> default_passes();

/// From a comma-separated list; empty = the default. EARG003 naming an unknown pass and the nearest known
/// one.
Result<std::vector<const PassInfo*>> build_pipeline(const std::string& list);

struct PassRecord {
  std::string name;
  int64_t wall_us = 0;
  int64_t instructions = 0;  // of main's block, afterwards
};

/// Runs the passes in order; `before` hears of each one, `after` sees the module after it (both may be
/// empty). A broken invariant becomes EINT901 with the pass's name.
Status run_pipeline(const std::vector<const PassInfo*>& pipeline, bir::Module& module, PassContext& ctx,
                    std::vector<PassRecord>& records,
                    const std::function<Status(const PassInfo&, const bir::Module&)>& after = {},
                    const std::function<void(const PassInfo&)>& before = {});

}  // namespace ncc::walrus
