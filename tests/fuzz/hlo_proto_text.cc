#include "ir-formats/hlo/read.h"
#include "tests/fuzz/target.h"

void ncc::hlo::run_input(std::string_view input) { check_writers(read_hlo_proto_text(input, "input")); }
