// wrapped_neff.hlo (job NeffWrapper): the model as one custom call of its NEFF, for frameworks that must
// transpose inputs on the host before they call it. Source: spec/driver.md §8.1.
#pragma once
#include <string>

#include "common/diag/status.h"

namespace ncc::packager {

struct WrapOptions {
  std::string hlo;            // the model
  std::string neff;           // its NEFF: becomes the custom call's backend_config
  std::string io_transposes;  // JSON array of {input_name, reshape, transpose}
  std::string output;         // an HloModuleProto
};

/// Writes nothing when no input needs a transpose and no parameter is empty: frameworks test for the file.
/// EFIL003 for bad transposes. `wrote` tells which.
Status wrap(const WrapOptions& options, bool& wrote);

}  // namespace ncc::packager
