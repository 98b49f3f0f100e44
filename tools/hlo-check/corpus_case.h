// A corpus case: a folder with model, inputs, expected outputs and meta.json.
#pragma once
#include "tools/hlo-check/case.h"

namespace ncc::check {

/// Loads the case. Inputs that are not stored are made by the corpus's own script into `scratch_dir`. A case
/// without expected outputs (`timing_only`) has no checks.
Result<Program> load_corpus_case(const std::string& dir, const std::string& scratch_dir);

}  // namespace ncc::check
