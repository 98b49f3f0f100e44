// The bytes an instruction touches, as intervals of physical memory. Exact for patterns of few contiguous
// runs, else the intervals are widened to the runs of the outer dims: larger than the truth, never smaller.
#pragma once
#include <cstdint>
#include <vector>

#include "ir-formats/bir/module.h"

namespace ncc::walrus {

struct Span {
  int32_t area;         // 0 SBUF, 1 PSUM, 2 the scratch variable, 3 + set: a DRAM input, output or constant
  int16_t first, last;  // partitions, half open; 0, 1 in DRAM
  int64_t low, high;    // bytes, half open
  bool write;
};

inline constexpr int32_t kSbufArea = 0, kPsumArea = 1, kScratchArea = 2;

/// Appends the spans of one physical operand. Read-only DRAM (inputs, constants) has none when
/// `skip_read_only`.
void append_spans(const bir::Function& fn, const bir::Operand& operand, bool write, bool skip_read_only,
                  std::vector<Span>& out);

/// All spans of an instruction; reads come before writes. What keeps part of its output (CopyPredicated, an
/// accumulating Matmult) counts as a writer only: the order against earlier writers is the same.
void instruction_spans(const bir::Function& fn, const bir::Instruction& inst, std::vector<Span>& out);

}  // namespace ncc::walrus
