// Runs passes on hand-made modules.
#pragma once
#include <catch2/catch.hpp>

#include "tests/unit/ir-formats/bir/linear_data.h"
#include "tools/walrus_driver/pipeline.h"

namespace ncc::walrus::testing {

using bir::testing::Builder;

/// Runs the comma-separated passes (empty = default) and gives the Status; `ctx` and `module` stay for
/// inspection.
struct Run {
  explicit Run(bir::Module m, const std::string& passes = "")
      : module(std::move(m)), ctx{*find_arch(module.arch), 5'000'000, {}, {}} {
    Result<std::vector<const PassInfo*>> pipeline = build_pipeline(passes);
    REQUIRE(pipeline.is_ok());
    status = run_pipeline(pipeline.value(), module, ctx, records);
  }
  std::string cause() const { return status.is_ok() ? "" : status.diagnostic().cause; }
  const std::vector<bir::Instruction>& block() const { return module.functions.front().block.instructions; }

  bir::Module module;
  PassContext ctx;
  std::vector<PassRecord> records;
  Status status;
};

/// The default list up to and including `last`.
inline std::string passes_until(const std::string& last) {
  std::string list;
  for (const std::string& name : default_passes()) {
    list += (list.empty() ? "" : ",") + name;
    if (name == last) break;
  }
  return list;
}

}  // namespace ncc::walrus::testing
