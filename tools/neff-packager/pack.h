// From a work folder to a NEFF: what walrus_driver left in sg00/, the constants it uses, io.json's root
// members. Source: spec/neff.md §4, §9; DESIGN section 14 H2, H4.
#pragma once
#include <string>

#include "common/diag/status.h"

namespace ncc::packager {

struct PackOptions {
  std::string work_dir = ".";
  std::string output;
  std::string name = "file.neff";  // the header's graph name
  int64_t repetitions = 1;         // of the program in one run
  bool compress = true;            // constants above 16 MiB switch it off
};

/// Reads WORK_DIR/sg00/{def.json,io.json,<Engine>.bin,<Engine>.json,*.dbg}, WORK_DIR/constants.bin when a
/// variable needs it, and WORK_DIR/hlo_metrics.json when it is there.
Status pack(const PackOptions& options);

}  // namespace ncc::packager
