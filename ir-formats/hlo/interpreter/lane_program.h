// A lane program computes scalar expressions for many independent lanes at once: the body of a reduce, map,
// sort or scatter (scalars to the program, arrays here), or one elementwise instruction. It is a flat list of
// kernel calls over registers of up to kChunk lanes; conversions between storage and compute types are steps
// of their own, so every op rounds to its own result type.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ir-formats/hlo/interpreter/kernel.h"

namespace ncc::hlo {

class LaneProgram {
 public:
  /// A computation of scalar elementwise ops, tuples and calls of such; nothing when it does anything else.
  static std::optional<LaneProgram> from_computation(const Computation& computation);
  /// One elementwise instruction on its operands; nothing when no kernel is defined for its types.
  static std::optional<LaneProgram> from_instruction(const Instruction& inst);

  const std::vector<Dtype>& input_types() const { return input_types_; }
  const std::vector<Dtype>& output_types() const { return output_types_; }

  /// Register storage of one thread.
  class Scratch {
   public:
    explicit Scratch(const LaneProgram& program);

   private:
    friend class LaneProgram;
    std::unique_ptr<std::byte[]> storage_;
    std::vector<std::byte*> registers_;
    std::vector<const std::byte*> values_;  // where each register's lanes are in the current call
  };

  /// Runs n lanes: in[i] and out[j] are arrays of n elements of the stated types. Bit i of `splat`: in[i] is
  /// one element that all lanes share. An output array may be one of the input arrays, of equal width.
  void run(std::span<const void* const> in, std::span<void* const> out, int64_t n, Scratch& scratch,
           uint64_t splat = 0) const;

  /// The op when the program is one binary op applied to its two inputs, in either order if commutative.
  std::optional<Opcode> binary_op() const { return binary_op_; }

  static constexpr int64_t kChunk = 1024;

 private:
  struct Register {
    Dtype type;
    int input = -1;                   // an input of the program
    std::vector<std::byte> constant;  // the element of a constant; empty otherwise
  };
  struct Step {
    Kernel kernel;
    int in[3];
    int out;
    int64_t p0, p1;
  };
  class Builder;

  void run_chunk(Scratch& scratch, std::span<void* const> out, int64_t offset, int64_t n) const;

  std::vector<Dtype> input_types_, output_types_;
  std::vector<Register> registers_;
  std::vector<Step> steps_;
  std::vector<int> outputs_;    // registers
  bool direct_output_ = false;  // the last step writes the only output in place
  std::optional<Opcode> binary_op_;
};

}  // namespace ncc::hlo
