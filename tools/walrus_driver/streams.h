// Which in-order sequence an instruction belongs to. Issue streams are the engines; completion streams are
// the engines (for compute) and the DMA queues (for transfers): each completes in order and has one
// completion counter.
#pragma once
#include "ir-formats/bir/module.h"

namespace ncc::walrus {

inline constexpr int kFirstQueueStream = 8;  // after the numbers of isa::Engine

inline int issue_stream(const bir::Instruction& inst) { return static_cast<int>(inst.engine); }
inline int completion_stream(const bir::Instruction& inst) {
  return bir::is_dma(inst.opcode) ? kFirstQueueStream + static_cast<int>(inst.queue)
                                  : static_cast<int>(inst.engine);
}
inline int num_streams(const bir::Module& module) {
  return kFirstQueueStream + static_cast<int>(module.queues.size());
}
/// Ordered by program order alone: both compute, one engine.
inline bool ordered_by_engine(const bir::Instruction& earlier, const bir::Instruction& later) {
  return earlier.engine == later.engine && !bir::is_dma(earlier.opcode) && !bir::is_dma(later.opcode);
}

/// The completion counter of a stream: one per engine with a stream, then one per queue (DESIGN section 14
/// M4).
inline int semaphore_of(int completion_stream) {
  if (completion_stream >= kFirstQueueStream)
    return static_cast<int>(isa::kStreamEngines.size()) + completion_stream - kFirstQueueStream;
  for (size_t i = 0; i < isa::kStreamEngines.size(); ++i)
    if (static_cast<int>(isa::kStreamEngines[i]) == completion_stream) return static_cast<int>(i);
  return -1;
}
/// What one finished transfer adds to its queue's counter.
inline constexpr int32_t kTransferCount = 16;

}  // namespace ncc::walrus
