// Running one HLO pass on a module text, with the execution check on.
#pragma once
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/verify.h"
#include "tools/hlo-opt/hlo/run.h"

namespace ncc::hlo_passes {

inline std::unique_ptr<hlo::Module> parse(const std::string& text) {
  Result<std::unique_ptr<hlo::Module>> module = hlo::read_hlo_text(text, "test.hlo");
  INFO((module.is_ok() ? "" : module.status().diagnostic().to_string()));
  REQUIRE(module.is_ok());
  const Status verified = hlo::verify(*module.value());
  INFO((verified.is_ok() ? "" : verified.diagnostic().to_string()));
  REQUIRE(verified.is_ok());
  return module.take();
}

/// The module after one pass; the pass's effect on the results is checked on plain inputs or, with
/// `specials`, on inputs with NaN, infinities, -0 and subnormals.
inline std::unique_ptr<hlo::Module> after_on(bool specials, const std::string& pass, const std::string& text,
                                             const PassOptions& limits = {}) {
  std::unique_ptr<hlo::Module> result = parse(text);
  Result<EquivalenceCheck> check = EquivalenceCheck::prepare(*result, {"", 7, specials});
  INFO((check.is_ok() ? "" : check.status().diagnostic().to_string()));
  REQUIRE(check.is_ok());
  RunOptions options;
  REQUIRE(find_pass(pass));
  options.passes = {find_pass(pass)};
  options.limits = limits;
  options.check = &check.value();
  options.is_checked = [](const PassInfo&) { return true; };
  const Status status = run_passes(*result, options);
  INFO((status.is_ok() ? "" : status.diagnostic().to_string()));
  REQUIRE(status.is_ok());
  return result;
}

/// Checked on both kinds of inputs.
inline std::unique_ptr<hlo::Module> after(const std::string& pass, const std::string& text,
                                          const PassOptions& limits = {}) {
  after_on(false, pass, text, limits);
  return after_on(true, pass, text, limits);
}

/// For expansions whose intermediate values overflow before the result does: plain inputs only.
inline std::unique_ptr<hlo::Module> plain_after(const std::string& pass, const std::string& text,
                                                const PassOptions& limits = {}) {
  return after_on(false, pass, text, limits);
}

/// Instructions of an opcode in the whole module.
inline int64_t count(const hlo::Module& module, hlo::Opcode opcode) {
  int64_t number = 0;
  for (const auto& computation : module.computations())
    for (const auto& inst : computation->instructions()) number += inst->is(opcode);
  return number;
}

inline const hlo::Instruction& root(const hlo::Module& module) { return *module.entry()->root(); }

}  // namespace ncc::hlo_passes
