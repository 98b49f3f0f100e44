// Vector clocks over completion streams: what is known to be complete when an instruction issues. An engine's
// knowledge only grows; the completion of an instruction proves all that its engine knew when it issued, and
// all before it in its own stream. Source: DESIGN section 14 M4, M5.
#pragma once
#include <cstdint>
#include <vector>

#include "ir-formats/bir/module.h"

namespace ncc::walrus {

class Clocks {
 public:
  Clocks(const bir::Module& module, const bir::Function& fn);

  /// Whether `earlier` is complete whenever `later` (the next to issue on its engine) runs. Two computes of
  /// one engine are: they execute in order. Two transfers of one queue are: a ring moves them in order.
  bool is_ordered(uint32_t earlier, uint32_t later) const;
  /// `later`'s engine has waited for the completion of `earlier`.
  void wait_for(uint32_t earlier, uint32_t later);
  /// `later`'s engine has waited until stream `stream` completed `position` instructions.
  void wait_for_position(int stream, int32_t position, uint32_t later);
  /// Call once per instruction, in program order, after its waits.
  void issue(uint32_t inst);

  /// 1-based place in its completion stream; valid once issued.
  int32_t position(uint32_t inst) const { return position_[inst]; }

 private:
  int32_t* known(int engine) { return &known_[static_cast<size_t>(engine * streams_)]; }
  const int32_t* known(int engine) const { return &known_[static_cast<size_t>(engine * streams_)]; }

  const std::vector<bir::Instruction>& list_;
  int streams_;
  std::vector<int32_t> known_;                // [engine][stream]
  std::vector<int32_t> proof_;                // [instruction][stream]: what its completion proves
  std::vector<int32_t> position_;             // by instruction
  std::vector<int32_t> count_;                // by stream
  std::vector<std::vector<uint32_t>> order_;  // by stream
};

}  // namespace ncc::walrus
