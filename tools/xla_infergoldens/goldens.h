// Goldens: the results of the reference interpreter as .npy files with a manifest.
#pragma once
#include <string>
#include <vector>

#include "ir-formats/hlo/interpreter/interpret.h"

namespace ncc::goldens {

struct Options {
  std::string hlo_module;  // HLO proto, HLO text or StableHLO text
  std::string inputs;      // folder of NNN.npy; "" = inputs are made up and written to OUTPUT_DIR/inputs
  std::string output_dir;
  bool all_values = false;  // also one file per instruction of the entry computation, in OUTPUT_DIR/values
};

/// (The manifest has the form of common/npy/array_folder.h, and a list `values` with --all-values.)
/// Runs the module and writes OUTPUT_DIR/NNN.npy, one per leaf of the result, and OUTPUT_DIR/manifest.json
/// last, so that a manifest stands for a complete set.
Status make_goldens(const Options& options);

/// A value for a parameter that nobody gave: floats normal, signed integers in [-10, 10], unsigned in [0,
/// 10], both truth values; the same in every run for the same number. Open dimensions get 4 elements.
hlo::Literal made_up_input(const hlo::Shape& shape, int64_t number);
/// One value per parameter, numbered by leaf. Scalars that state the open sizes of a program state those 4.
std::vector<hlo::Literal> made_up_arguments(const std::vector<hlo::Shape>& parameters);

}  // namespace ncc::goldens
