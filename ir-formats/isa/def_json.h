// def.json: variables, queues and the names of the other files (spec/neff.md §6). Own keys: "target" at the
// top, "ocp" of fp8_conversion_config (tag 0x0E is F8E4M3FN), "file_offset" of constants (a byte offset into
// the constants member). A queue's num_queues is its completion count; "queue_id" (own) numbers queues as
// var_id numbers variables.
#pragma once
#include <string>
#include <string_view>

#include "common/diag/status.h"
#include "ir-formats/isa/machine_inst.h"

namespace ncc::isa {

inline constexpr std::string_view kConstantsFile = "constants.bin";

/// What def.json says: the program without streams and descriptors, and how tag 0x0E is to be read.
struct Definition {
  Program program;
  bool e4m3fn = false;
};

/// EISA002: duplicate or empty names, counts out of range.
Result<std::string> write_def_json(const Program& program, bool e4m3fn);
/// EISA001.
Result<Definition> read_def_json(std::string_view text);

}  // namespace ncc::isa
