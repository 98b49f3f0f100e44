// Instruction semantics over one core's state, without time: executes what it is given, in the order given.
// The event loop (machine.h) and bir_sim (BIR before allocation or scheduling) share it, so both mean the
// same by an instruction.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "common/arch/arch.h"
#include "common/diag/status.h"
#include "ir-formats/isa/machine/machine.h"
#include "ir-formats/isa/machine_inst.h"

namespace ncc::machine {

class State;  // state.h

/// The status with the instruction's name and the user's op and location added; `what` is a mnemonic or
/// "DMA".
Status annotate(const Status& status, const isa::SourceInst& source, std::string_view what);
/// Whether a branch compares with a register (else with the immediate).
bool is_register_compare(isa::BranchCompare compare);

struct CoreOptions {
  /// Bytes per partition; 0 = the physical size. A virtual arena may be far larger (memory is committed on
  /// first use).
  int64_t sbuf_bytes_per_partition = 0;
  int64_t psum_bytes_per_partition = 0;
  bool check = true;   // unwritten reads (ESIM003), activation ranges (ESIM005)
  bool poison = true;  // unchecked runs: fill the on-chip memories with NaN patterns
  int threads = 1;
};

class FunctionalCore {
 public:
  /// `memory` is bound by variable index; unbound Internal variables get storage of
  /// `variables[i].size_bytes`.
  FunctionalCore(const ArchModel& arch, const std::vector<isa::Variable>& variables, const HostMemory& memory,
                 const CoreOptions& options = {});
  ~FunctionalCore();
  FunctionalCore(FunctionalCore&&) noexcept;

  /// Executes one instruction's data effects. Waits, updates, branches, triggers, barriers and table loads
  /// have none. ESIM001 for what the machine refuses, ESIM003, ESIM005; the message holds operands, the
  /// caller adds name and location.
  Status execute(const isa::MachineInst& inst);
  Status execute(const isa::DmaDescriptor& descriptor);

  /// Scalar registers of an engine; in timing-only runs a register may be unknown.
  int32_t reg(isa::Engine engine, int index) const;
  void set_reg(isa::Engine engine, int index, int32_t value);
  /// Whether a CompareBranch is taken.
  bool branch_taken(const isa::MachineInst& inst) const;

  /// The access's elements in visit order (partition outermost), densely packed. Reads unwritten bytes as
  /// they are.
  Status read(const isa::Access& access, std::vector<std::byte>& out) const;
  /// The inverse; marks the bytes written.
  Status write(const isa::Access& access, std::span<const std::byte> elements);
  /// Forgets that the access was written (a buffer's lifetime ends), so that a later stale read is found.
  void mark_unwritten(const isa::Access& access);
  /// Storage of a DRAM variable.
  std::span<const std::byte> variable(size_t index) const;
  /// First byte of the variable that was never written, -1 when all were.
  int64_t first_unwritten(size_t variable) const;

 private:
  friend class EventLoop;
  std::unique_ptr<State> state_;
};

}  // namespace ncc::machine
