// The debug files (debug_info.proto): which source instruction, op, file and line each bundle and descriptor
// comes from.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/diag/status.h"
#include "ir-formats/isa/machine_inst.h"

namespace ncc::isa {

/// Names and locations of the sources whose indices `used` marks, strings stored once. The id on the wire is
/// index + 1.
std::string write_backend_debug(const Program& program, const std::vector<bool>& used, Engine engine);
/// One record per bundle of the engine's stream.
std::string write_asm_debug(const Program& program, Engine engine);

/// Adds the sources of one backend file; ids above `max_sources` are refused (the files of a program together
/// name every source, so their total size is a bound). EISA001 (`what` names the file).
Status read_backend_debug(std::string_view bytes, const std::string& what, size_t max_sources,
                          std::vector<SourceInst>& sources);
/// Sets `source` of the engine's bundles; they must be as many as the records. EISA001.
Status read_asm_debug(std::string_view bytes, const std::string& what, std::vector<MachineInst>& stream);

}  // namespace ncc::isa
