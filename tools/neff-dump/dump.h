// What a NEFF holds, as text for people or JSON for tools.
#pragma once
#include <string>

#include "common/diag/status.h"
#include "ir-formats/neff/neff_file.h"

namespace ncc::neff_dump {

struct DumpOptions {
  std::string path;
  bool disassemble = false;  // every bundle and descriptor, with the user's op
  bool json = false;
};

/// The whole answer. ENEF001, EISA001.
Result<std::string> dump(const DumpOptions& options);

}  // namespace ncc::neff_dump
