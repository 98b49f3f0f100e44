#include "tools/hlo2penguin/expansions.h"

#include <algorithm>
#include <vector>

#include "ir-formats/hlo/verify.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/run.h"
#include "tools/hlo2penguin/complex_interface.h"

namespace ncc::hlo2penguin {
namespace {

using hlo::Instruction;

// Windows of more positions are not written out: one elementwise step each.
constexpr int64_t kMaxWindow = 64;

/// Folds in another way than one binary op.
bool has_own_body(const Instruction& inst) {
  return inst.num_operands() > 2 || !hlo_passes::binary_body(*inst.body());
}

int64_t window_positions(const Instruction& inst) {
  int64_t positions = 1;
  for (const hlo::WindowDim& dim : inst.attrs().window)
    if (__builtin_mul_overflow(positions, dim.size, &positions)) return INT64_MAX;
  return positions;
}

struct Row {
  hlo::Opcode opcode;
  bool (*applies)(const Instruction& inst);
  bool always;  // the condition is none
  std::string_view pass;
};

constexpr Row kRows[] = {
#define EXPANSION(opcode, condition, pass)                                                          \
  {hlo::Opcode::opcode, [](const Instruction& inst [[maybe_unused]]) -> bool { return condition; }, \
   std::string_view(#condition) == "true", pass},
#include "tools/hlo2penguin/expansions.def"
};

/// In table order, each once.
std::vector<std::string_view> wanted_passes(const hlo::Module& module) {
  std::vector<bool> applies(std::size(kRows));
  for (const hlo::Computation* computation : module.post_order())
    for (const auto& inst : computation->instructions())
      for (size_t i = 0; i < std::size(kRows); ++i)
        if (inst->is(kRows[i].opcode) && kRows[i].applies(*inst)) applies[i] = true;
  std::vector<std::string_view> passes;
  for (size_t i = 0; i < std::size(kRows); ++i)
    if (applies[i] && std::find(passes.begin(), passes.end(), kRows[i].pass) == passes.end())
      passes.push_back(kRows[i].pass);
  return passes;
}

Status run_each(hlo::Module& module, const std::vector<std::string_view>& names) {
  hlo_passes::RunOptions run;
  for (const std::string_view name : names) {
    NCC_ASSIGN(const hlo_passes::PassInfo* pass, hlo_passes::require_pass(name));
    run.passes.push_back(pass);
  }
  return run.passes.empty() ? Status::ok() : hlo_passes::run_passes(module, run);
}

}  // namespace

bool needs_expansion(const hlo::Module& module) {
  return holds_complex(module) || !wanted_passes(module).empty();
}

bool is_expanded(hlo::Opcode opcode) {
  return std::any_of(std::begin(kRows), std::end(kRows),
                     [&](const Row& row) { return row.opcode == opcode && row.always; });
}

Status expand(hlo::Module& module) {
  if (holds_complex(module)) NCC_TRY(split_interface(module));
  NCC_TRY(run_each(module, {"call-inliner", "tuple-simplifier"}));
  NCC_TRY(run_each(module, wanted_passes(module)));
  // What an expansion left may be complex, too.
  if (holds_complex(module)) NCC_TRY(run_each(module, {"lower-complex"}));
  NCC_TRY(run_each(module, {"algsimp", "cse", "dce"}));
  return hlo::verify(module);
}

}  // namespace ncc::hlo2penguin
