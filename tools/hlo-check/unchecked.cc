#include "tools/hlo-check/unchecked.h"

#include <algorithm>

#include "ir-formats/hlo/compare.h"
#include "ir-formats/hlo/interpreter/interpret.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/write.h"
#include "tools/hlo-check/levels.h"
#include "tools/xla_infergoldens/goldens.h"

namespace ncc::check {
namespace {

Outcome mismatch(std::string_view form, const std::string& why) {
  Outcome outcome;
  outcome.verdict = Verdict::Mismatch;
  outcome.diagnostic = fmt::format("read back from {} it is another module: {}", form, why);
  return outcome;
}

bool has_open_sizes(const std::vector<hlo::Shape>& parameters) {
  return std::any_of(parameters.begin(), parameters.end(), [](const hlo::Shape& shape) {
    return std::find(shape.dims.begin(), shape.dims.end(), hlo::kUnbounded) != shape.dims.end();
  });
}

// Evaluates a program whose sizes are known at run time on made-up inputs. Only an op that cannot be
// evaluated counts: made-up sizes need not go together.
void evaluate_made_up(const hlo::Module& module, const std::vector<hlo::Shape>& parameters,
                      Outcome& outcome) {
  const Result<hlo::Literal> value = hlo::interpret(module, goldens::made_up_arguments(parameters));
  if (value.is_ok()) {
    outcome.diagnostic += ", evaluates on made-up inputs";
    return;
  }
  const Outcome failure = outcome_of(value.status());
  if (failure.verdict == Verdict::Unsupported)
    outcome = failure;
  else
    outcome.diagnostic += ", made-up inputs do not fit: " + failure.diagnostic;
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
  std::vector<hlo::Shape> parameters;
  for (const hlo::Instruction* parameter : module.entry()->parameters())
    parameters.push_back(parameter->shape);
  if (has_open_sizes(parameters)) evaluate_made_up(module, parameters, outcome);
  if (!parameters.empty()) return outcome;
  const Result<hlo::Literal> value = hlo::interpret(module, {});
  if (!value.is_ok()) return outcome_of(value.status());
  outcome.diagnostic += ", evaluates";
  return outcome;
}

}  // namespace ncc::check
