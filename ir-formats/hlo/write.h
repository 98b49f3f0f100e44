// Writers: HloModuleProto bytes and HLO text. Both read back to the same module (`same_module`).
// Ops without an HLO opcode are written as custom-calls whose target is their StableHLO/CHLO name; the
// readers undo that.
#pragma once
#include <string>

#include "ir-formats/hlo/module.h"

namespace ncc::hlo {

struct WriteOptions {
  bool text_lines = false;  // also the lines of the text the module was read from, for ops without a location
};
/// Binary HloModuleProto. EVRF003 when it would not fit the 2 GiB of one protobuf message.
Result<std::string> write_hlo_proto(const Module& module, const WriteOptions& options = {});

struct PrintOptions {
  int64_t max_constant_elements =
      -1;  // larger constants print as {...} and do not read back; -1 = all are printed
  bool metadata = true;
  bool layouts = true;
  bool text_lines = false;  // as in WriteOptions
};
std::string print_hlo(const Module& module, const PrintOptions& options = {});
/// One line, as in the module text, without the leading indent.
std::string print_hlo(const Instruction& inst, const PrintOptions& options = {});

}  // namespace ncc::hlo
