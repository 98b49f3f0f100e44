// bir_sim: executes BIR in program order through the machine's own instruction semantics (DESIGN section 14,
// M1). Static loops are expanded on the fly. A location without an address has a private range in a virtual
// arena, so unallocated BIR runs; a location with one lies where it was placed, so a wrong allocation gives
// wrong results here.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/diag/status.h"
#include "ir-formats/bir/module.h"

namespace ncc::machine {
class FunctionalCore;
}

namespace ncc::bir {

/// Row-major bytes of a DRAM tensor by the name of its set, in the device's dtype and shape.
using Tensors = std::map<std::string, std::vector<std::byte>>;

/// What a hook sees after an instruction.
struct Executed {
  const Function& function;
  const Instruction& instruction;
  std::span<const int64_t> axis_values;  // by axis
  /// Reads an operand of the instruction: its elements in visit order, packed.
  std::function<Status(const Operand&, std::vector<std::byte>&)> read;
};

struct InterpretOptions {
  bool check = true;  // reads of unwritten memory, activation ranges
  int threads = 1;
  std::function<Status(const Executed&)> after_instruction;  // may be empty; a failed Status stops the run
};

/// Runs main. `constants`: the bytes of constants.bin. Gives the ExternalOutput sets. ERUN001 for a missing
/// input or one of the wrong size; EBIR002, ESIM001, ESIM003, ESIM005 with the user's op.
Result<Tensors> interpret(const Module& module, std::span<const std::byte> constants, const Tensors& inputs,
                          const InterpretOptions& options = {});

/// The same from files: `bir_path` as read_module takes it, `constants_path` may be empty.
Result<Tensors> interpret_file(const std::string& bir_path, const std::string& constants_path,
                               const Tensors& inputs, const InterpretOptions& options = {});

}  // namespace ncc::bir
