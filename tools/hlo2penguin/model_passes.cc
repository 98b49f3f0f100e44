#include "tools/hlo2penguin/model_passes.h"

#include <sstream>

#include "tools/hlo-opt/hlo/passes/auto_cast.h"
#include "tools/hlo-opt/hlo/run.h"

namespace ncc::hlo2penguin {
namespace {

Status add_passes(std::string_view names, hlo_passes::RunOptions& run) {
  std::istringstream words{std::string(names)};
  for (std::string name; words >> name;) {
    NCC_ASSIGN(const hlo_passes::PassInfo* pass, hlo_passes::require_pass(name));
    run.passes.push_back(pass);
  }
  return Status::ok();
}

}  // namespace

Status run_model_passes(hlo::Module& model, const ModelPassOptions& options) {
  NCC_TRY(hlo_passes::allow_fp32_cast(model, options.fp32_cast));
  hlo_passes::RunOptions run;
  for (const ModelPassRow& row : kModelPasses) {
    const bool is_cast = row.id == ModelPass::Fp32Cast;
    const bool wanted = is_cast ? options.fp32_cast != "none" : options.wanted[static_cast<size_t>(row.id)];
    if (wanted) NCC_TRY(add_passes(row.passes, run));
  }
  if (run.passes.empty()) return Status::ok();
  NCC_TRY(add_passes("cse dce", run));
  return hlo_passes::run_passes(model, run);
}

}  // namespace ncc::hlo2penguin
