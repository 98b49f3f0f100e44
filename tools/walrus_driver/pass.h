// What a backend pass is, and what passes share besides the module. One file per pass, one row in passes.def.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/arch/arch.h"
#include "common/diag/status.h"
#include "ir-formats/bir/module.h"
#include "ir-formats/isa/machine_inst.h"

namespace ncc::walrus {

struct PassContext {
  const ArchModel& arch;
  int64_t max_instructions = 25'000'000;  // unroll stops above (spec/walrus.md §6, full_unroll)
  isa::Program program;                   // codegen's result
  std::map<std::string, int64_t> metrics;
  /// What passes did, for --verbose and metrics.json; summed when a pass runs twice.
  void count(const std::string& name, int64_t value) { metrics[name] += value; }
};

class Pass {
 public:
  virtual ~Pass() = default;
  virtual Status run(bir::Module& module, PassContext& ctx) = 0;
};

struct PassInfo {
  std::string_view name, summary;
  std::unique_ptr<Pass> (*make)();
};
/// The rows of passes.def, in default order.
const std::vector<PassInfo>& all_passes();
/// nullptr when unknown.
const PassInfo* find_pass(std::string_view name);

/// The user's op of an instruction, for diagnostics.
SourceLoc location_of(const bir::Module& module, const bir::Instruction& inst);

}  // namespace ncc::walrus
