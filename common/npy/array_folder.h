// Folders of arrays: DIR/000.npy, 001.npy, … in order, with an optional manifest that gives names and the
// real types of raw bits:
//   manifest.json: {"arrays":[{"file":"000.npy","name":"x","dtype":"bf16","shape":[128,64]}]}
// Inputs, outputs and goldens have this form (DESIGN section 14 H5).
#pragma once
#include <string>
#include <vector>

#include "common/npy/npy.h"

namespace ncc {

struct NamedArray {
  std::string name;  // empty when the folder has no manifest
  Array array;
};

/// "007.npy"
std::string numbered_npy(size_t number);
/// EFIL001, EFIL003: a file that the manifest names is missing, or has another shape or width than it says. A
/// folder without arrays is empty.
Result<std::vector<NamedArray>> read_array_folder(const std::string& folder);
/// Writes arrays and manifest into an existing folder.
Status write_array_folder(const std::string& folder, const std::vector<NamedArray>& arrays);

}  // namespace ncc
