// The pass registry of hlo-opt and the state that its passes share.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/arch/arch.h"
#include "common/diag/status.h"
#include "common/files/files.h"
#include "ir-formats/bir/module.h"
#include "ir-formats/penguin/module.h"
#include "tools/hlo-opt/plan.h"

namespace ncc::hlo_opt {

/// What is being compiled, at the level it has reached: `module` is at tensor level until `tile` has run,
/// then at tile level.
struct Compilation {
  const ArchModel* arch = nullptr;
  bool precise_transpose = false;  // no identity products for transposes
  std::unique_ptr<penguin::Module> module;
  std::shared_ptr<const MappedFile> constants;  // constants.bin beside the input; null when there is none
  Plan plan;                                    // filled by layout and cluster
  bool is_tiled = false;
  std::unique_ptr<bir::Module> bir;  // filled by emit_bir
};

struct PassInfo {
  std::string_view name;
  Status (*run)(Compilation&);
  std::string_view summary;
};
/// In table order, which is the default order.
const std::vector<PassInfo>& all_passes();
const PassInfo* find_pass(std::string_view name);

}  // namespace ncc::hlo_opt
