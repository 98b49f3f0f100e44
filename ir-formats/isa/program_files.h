// One core's program as the files of a subgraph folder sgNN/, and back:
//   <Engine>.bin                       64-byte bundles in program order (spec/isa.md §6.1); empty streams
//   have empty files <Engine>.json                      descriptors of the queues this engine triggers
//   (spec/neff.md §7, descriptor_json.h) def.json                           variables and queues
//   (spec/neff.md §6, def_json.h) debug_info_{backend,asm}.<tok>.dbg source names and locations (spec/isa.md
//   §7, debug_info.h)
// Equal programs give equal bytes.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/diag/status.h"
#include "ir-formats/isa/machine_inst.h"

namespace ncc::isa {

struct NamedBytes {
  std::string name;
  std::string bytes;
};

/// The names of all files of a program, "def.json" first.
std::vector<std::string> program_file_names();

/// The files of a program, in a fixed order. EISA002 when something does not fit its format.
Result<std::vector<NamedBytes>> serialize_program(const Program& program);
/// Writes them into an existing folder.
Status write_program(const Program& program, const std::string& folder);

/// The bytes of a file by name; an error when there is none. The view stays valid while the program is read.
using FileSource = std::function<Result<std::string_view>(const std::string& name)>;
/// Decodes and verifies a program (see verify_program). EISA001.
Result<Program> read_program(const FileSource& source);
Result<Program> read_program(const std::string& folder);

/// What holds between the parts of a program: every instruction passes check(), branch targets lie in their
/// stream, triggers name existing blocks of queues their engine owns, accesses stay inside their variables.
/// EISA001 with engine and bundle index.
Status verify_program(const Program& program);

}  // namespace ncc::isa
