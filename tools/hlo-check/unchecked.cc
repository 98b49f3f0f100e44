#include "tools/hlo-check/unchecked.h"

#include "ir-formats/hlo/compare.h"
#include "ir-formats/hlo/interpreter/interpret.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/write.h"
#include "tools/hlo-check/levels.h"

namespace ncc::check {
namespace {

Outcome mismatch(std::string_view form, const std::string& why) {
  Outcome outcome;
  outcome.verdict = Verdict::Mismatch;
  outcome.diagnostic = fmt::format("read back from {} it is another module: {}", form, why);
  return outcome;
}

}  // namespace

Outcome run_unchecked(const Program& program) {
  const hlo::Module& module = *program.module;
  std::string difference;
  const Result<std::string> bytes = hlo::write_hlo_proto(module);
  if (!bytes.is_ok()) return outcome_of(bytes.status());
  const auto from_proto = hlo::read_hlo_proto(bytes.value(), "its proto");
  if (!from_proto.is_ok()) return mismatch("proto", from_proto.status().diagnostic().cause);
  if (!hlo::same_module(module, *from_proto.value(), &difference)) return mismatch("proto", difference);
  const auto from_text = hlo::read_hlo_text(hlo::print_hlo(module), "its text");
  if (!from_text.is_ok()) return mismatch("text", from_text.status().diagnostic().cause);
  if (!hlo::same_module(module, *from_text.value(), &difference)) return mismatch("text", difference);
  Outcome outcome;
  outcome.diagnostic = "no check: reads back from proto and text";
  if (!module.entry()->parameters().empty()) return outcome;
  const Result<hlo::Literal> value = hlo::interpret(module, {});
  if (!value.is_ok()) return outcome_of(value.status());
  outcome.diagnostic += ", evaluates";
  return outcome;
}

}  // namespace ncc::check
