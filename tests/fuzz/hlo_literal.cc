// A shape on the first line, its literal behind it, in HLO text and as StableHLO's dense elements.
#include "ir-formats/hlo/read.h"
#include "tests/fuzz/target.h"

void ncc::hlo::run_input(std::string_view input) {
  const size_t line = input.find('\n');
  if (line == std::string_view::npos) return;
  const std::string shape(input.substr(0, line)), literal(input.substr(line + 1));
  check_writers(read_hlo_text("ENTRY e { ROOT c = " + shape + " constant(" + literal + ") }", "input.hlo"));
  check_writers(read_stablehlo(
      "func.func @f() { %c = stablehlo.constant dense<" + literal + "> : " + shape + "\n return }",
      "input.mlir"));
}
