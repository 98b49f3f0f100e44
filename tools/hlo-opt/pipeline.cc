#include "tools/hlo-opt/pipeline.h"

#include "tools/hlo-opt/emit_bir.h"
#include "tools/hlo-opt/passes/cleanup/algebraic_identities.h"
#include "tools/hlo-opt/passes/cleanup/common_subexpression_elim.h"
#include "tools/hlo-opt/passes/cleanup/compose_accesses.h"
#include "tools/hlo-opt/passes/cleanup/dead_code_elim.h"
#include "tools/hlo-opt/passes/cleanup/fold.h"
#include "tools/hlo-opt/passes/cluster.h"
#include "tools/hlo-opt/passes/expand_math/expand_math.h"
#include "tools/hlo-opt/passes/factor_axes.h"
#include "tools/hlo-opt/passes/fuse_stages.h"
#include "tools/hlo-opt/passes/layout.h"
#include "tools/hlo-opt/passes/legalize_ops.h"
#include "tools/hlo-opt/passes/recognise_activations.h"
#include "tools/hlo-opt/passes/residency.h"
#include "tools/hlo-opt/tile/lowering.h"

namespace ncc::hlo_opt {
namespace {

Status run_fold(Compilation& c) { return fold(*c.module); }
Status run_algebraic_identities(Compilation& c) { return algebraic_identities(*c.module); }
Status run_compose_accesses(Compilation& c) { return compose_accesses(*c.module); }
Status run_common_subexpression_elim(Compilation& c) { return common_subexpression_elim(*c.module); }
Status run_dead_code_elim(Compilation& c) { return dead_code_elim(*c.module); }
Status run_recognise_activations(Compilation& c) { return recognise_activations(*c.module); }
Status run_expand_math(Compilation& c) {
  return expand_math(*c.module, *c.arch, c.constants ? c.constants->bytes() : std::span<const std::byte>{});
}
Status run_legalize_ops(Compilation& c) { return legalize_ops(*c.module); }
Status run_factor_axes(Compilation& c) { return factor_axes(*c.module); }
Status run_layout(Compilation& c) { return choose_layout(*c.module, *c.arch, c.plan); }
Status run_cluster(Compilation& c) { return form_clusters(*c.module, c.plan); }
Status run_residency(Compilation& c) { return assign_residency(*c.module, *c.arch, c.plan); }
Status run_fuse_stages(Compilation& c) { return fuse_stages(*c.module, *c.arch, c.plan); }

Status run_tile(Compilation& c) {
  NCC_ASSIGN(c.module, TileLowering(*c.module, c.plan, *c.arch, c.precise_transpose).run());
  c.is_tiled = true;
  return Status::ok();
}

Status run_emit_bir(Compilation& c) {
  NCC_ASSIGN(bir::Module module, emit_bir(*c.module, *c.arch));
  c.bir = std::make_unique<bir::Module>(std::move(module));
  return Status::ok();
}

}  // namespace

const std::vector<PassInfo>& all_passes() {
  static const std::vector<PassInfo> rows = {
#define PASS(name, function, summary) {#name, function, summary},
#include "tools/hlo-opt/passes.def"
  };
  return rows;
}

const PassInfo* find_pass(std::string_view name) {
  for (const PassInfo& row : all_passes())
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace ncc::hlo_opt
