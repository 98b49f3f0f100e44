#include "ir-formats/hlo/read.h"
#include "tests/fuzz/target.h"

void ncc::hlo::run_input(std::string_view input) {
  for (const std::string& piece : split_mlir(input)) check_writers(read_stablehlo(piece, "input.mlir"));
}
