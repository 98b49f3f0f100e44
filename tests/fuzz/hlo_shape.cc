// A shape of HLO text, and a type of StableHLO text.
#include "ir-formats/hlo/read.h"
#include "tests/fuzz/target.h"

void ncc::hlo::run_input(std::string_view input) {
  const std::string shape(input);
  check_writers(read_hlo_text("ENTRY e { ROOT x = " + shape + " parameter(0) }", "input.hlo"));
  check_writers(read_stablehlo(
      "func.func @f(%x: " + shape + ") -> " + shape + " { return %x : " + shape + " }", "input.mlir"));
}
