#include "tools/hlo-opt/hlo/run.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "common/diag/pass_failure.h"
#include "ir-formats/hlo/verify.h"
#include "tools/hlo-opt/hlo/draws.h"

namespace ncc::hlo_passes {
namespace {

class Runner {
 public:
  Runner(hlo::Module& module, const RunOptions& options) : module_(module), options_(options) {}

  Status run_list() {
    for (const PassInfo* pass : options_.passes) NCC_TRY(run(*pass));
    return Status::ok();
  }

  Status run_default() {
    NCC_TRY(run_stage(Stage::Flatten));
    NCC_TRY(simplify());
    const int64_t before = changes_;
    NCC_TRY(run_stage(Stage::Expand));
    if (changes_ != before) NCC_TRY(simplify());
    NCC_TRY(run_stage(Stage::Recognise));
    return run_stage(Stage::Final);
  }

 private:
  Status simplify() {
    for (int64_t round = 0; round < options_.max_rounds; ++round) {
      const int64_t before = changes_;
      NCC_TRY(run_stage(Stage::Simplify));
      if (changes_ == before) break;
    }
    return Status::ok();
  }

  Status run_stage(Stage stage) {
    for (const PassInfo& pass : all_passes()) {
      if (pass.stage == stage) NCC_TRY(run(pass));
    }
    return Status::ok();
  }

  Status run(const PassInfo& pass) {
    if (std::find(options_.skip.begin(), options_.skip.end(), &pass) != options_.skip.end())
      return Status::ok();
    PassContext context;
    context.options = options_.limits;
    const auto begin = std::chrono::steady_clock::now();
    try {
      NCC_TRY(pass.run(module_, context));
      if (context.changes != 0) NCC_TRY(settle(pass));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& failure) {
      return pass_failure(pass.name, failure);
    }
    const auto wall = std::chrono::steady_clock::now() - begin;
    changes_ += context.changes;
    NCC_TRY(check(pass, context.changes));
    if (options_.after)
      options_.after(pass, module_, context.changes,
                     std::chrono::duration_cast<std::chrono::microseconds>(wall).count());
    return Status::ok();
  }

  // Compares when something has changed since the last comparison, by this pass or by passes that were not
  // selected.
  Status check(const PassInfo& pass, int64_t changes) {
    is_unchecked_ |= changes != 0;
    if (changes != 0) rounding_ = std::max(rounding_, pass.rounding);
    if (!options_.check || !is_unchecked_ || !options_.is_checked(pass)) return Status::ok();
    PassInfo compared = pass;
    compared.rounding = std::exchange(rounding_, Rounding::Exact);
    is_unchecked_ = false;
    NCC_TRY(options_.check->compare(module_, compared));
    return options_.check->tell_apart_draws(module_);
  }

  Status settle(const PassInfo& pass) {
    NCC_TRY(tidy(module_));
    const Status verified = hlo::verify(module_);
    if (verified.is_ok()) return verified;
    return error(Code::EINT901, verified.diagnostic().loc, fmt::format("pass {}", pass.name),
                 verified.diagnostic().cause);
  }

  hlo::Module& module_;
  const RunOptions& options_;
  int64_t changes_ = 0;
  bool is_unchecked_ = false;            // since the last comparison
  Rounding rounding_ = Rounding::Exact;  // the freest of the passes since then
};

}  // namespace

Status tidy(hlo::Module& module) {
  module.remove_unreachable();
  for (const auto& computation : module.computations()) NCC_TRY(computation->sort());
  module.renumber();
  return Status::ok();
}

Status run_passes(hlo::Module& module, const RunOptions& options) {
  Runner runner(module, options);
  NCC_TRY(tidy(module));
  NCC_TRY(options.passes.empty() ? runner.run_default() : runner.run_list());
  if (options.check) unmark_draws(module);
  return Status::ok();
}

}  // namespace ncc::hlo_passes
