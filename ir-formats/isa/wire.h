// Between MachineInst and its 64 bytes: encode, decode, check, print. Sources: spec/isa.md §1-§5, §9.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "common/diag/status.h"
#include "ir-formats/isa/machine_inst.h"

namespace ncc::isa {

inline constexpr int kBundleBytes = 64;
inline constexpr int kFirstGeneration = 2, kLastGeneration = 4;

/// What a bundle does not say about itself. Converts from a generation.
struct WireContext {
  WireContext(int generation) : generation(generation) {}
  WireContext(int generation, const std::vector<DmaQueue>* queues, bool e4m3fn)
      : generation(generation), e4m3fn(e4m3fn), queues(queues) {}
  int generation;
  /// Wire tag 0x0E stands for two types; true: F8E4M3FN, false: F8E4M3. One program uses one of them.
  bool e4m3fn = false;
  /// Names for DmaTrigger; without them queue i is called "q<i>".
  const std::vector<DmaQueue>* queues = nullptr;
};

/// Packs one instruction (its canonical form). EISA002 names the field and the value that the wire cannot
/// hold: rank, step (int16), count (1..65535), partitions, alignment, address range, dtype tags, semaphores.
Status encode(const MachineInst& inst, const WireContext& context, std::span<std::byte, kBundleBytes> bundle);

/// Unpacks one bundle of `engine`'s stream. Bytes without a row become Opcode::Opaque; EISA001 for an opcode
/// that the engine or generation does not have, non-zero reserved bytes, and field values without meaning.
/// `source` is left 0.
Result<MachineInst> decode(std::span<const std::byte, kBundleBytes> bundle, Engine engine,
                           const WireContext& context);

/// The same in place, for long streams.
Status decode(std::span<const std::byte, kBundleBytes> bundle, Engine engine, const WireContext& context,
              MachineInst& inst);

/// Rules of an instruction that are not a matter of packing (spec/isa.md §9): memories an engine reaches,
/// equal element counts, address ranges, dtypes of integer operations. EISA001.
Status check(const MachineInst& inst, int generation);

/// As decode, and the bundle must be the one the encoder would write.
Status check_bundle(std::span<const std::byte, kBundleBytes> bundle, Engine engine,
                    const WireContext& context);

/// One line: mnemonic, waits, operands, attributes, update.
std::string disassemble(const MachineInst& inst, const WireContext& context,
                        const std::vector<Variable>* variables = nullptr);
/// "sbuf[32:64]+0x100 bf16 <16:64,32:1>": partitions start:count, byte offset, count:step outermost first.
std::string to_string(const Access& access, const std::vector<Variable>* variables = nullptr);

enum class OperandRole : uint8_t { In0, In1, Out, Pattern };
/// How many free dims (counts above 1) the wire form of an operand can hold; 0 when the opcode has no such
/// operand.
int max_free_dims(Opcode opcode, OperandRole operand);

/// Wire byte of an opcode on a generation (TensorTensorInt32 moves from 0x8A to 0x41).
uint8_t wire_byte(Opcode opcode, int generation);
/// Wire tag of a dtype (spec/isa.md §3.1); 0 when it has none of its own.
uint8_t wire_tag(Dtype dtype, const WireContext& context);

}  // namespace ncc::isa
