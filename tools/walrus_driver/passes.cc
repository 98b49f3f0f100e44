#include <algorithm>

#include "tools/walrus_driver/pass.h"

namespace ncc::walrus {

#define PASS(name, make, summary) std::unique_ptr<Pass> make();
#include "tools/walrus_driver/passes.def"

const std::vector<PassInfo>& all_passes() {
  static const std::vector<PassInfo> rows = {
#define PASS(name, make, summary) {#name, summary, make},
#include "tools/walrus_driver/passes.def"
  };
  return rows;
}

const PassInfo* find_pass(std::string_view name) {
  for (const PassInfo& row : all_passes())
    if (row.name == name) return &row;
  return nullptr;
}

SourceLoc location_of(const bir::Module& module, const bir::Instruction& inst) {
  if (inst.source >= module.sources.size()) return {};
  const isa::SourceInst& source = module.sources[inst.source];
  return {source.op_name, source.file, source.line};
}

}  // namespace ncc::walrus
