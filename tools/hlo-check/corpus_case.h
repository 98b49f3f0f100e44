// A corpus case: a folder with model, inputs, expected outputs and meta.json.
#pragma once
#include "tools/hlo-check/case.h"

namespace ncc::check {

/// Loads the case, a program for each form of the model that `form` asks for: pb, txt, mlir, all of those
/// that are there, or "" for the first. Inputs that are not stored are made by the corpus's own script into
/// `scratch_dir`. A case without expected outputs (`timing_only`) has no checks.
Result<std::vector<Program>> load_corpus_case(const std::string& dir, const std::string& scratch_dir,
                                              const std::string& form);

}  // namespace ncc::check
