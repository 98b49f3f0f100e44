#include "tools/hlo-opt/passes/cleanup/dead_code_elim.h"

#include "ir-formats/penguin/edit.h"

namespace ncc::hlo_opt {

Status dead_code_elim(penguin::Module& module) {
  penguin::remove_dead(module);
  return Status::ok();
}

}  // namespace ncc::hlo_opt
