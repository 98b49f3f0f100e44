// The DMA queues of a program. A role is what a transfer is for; each role has a few queues so that one long
// transfer or a full ring does not hold back others, and loads, constants and stores never wait in one ring.
// Sources: DESIGN §7 (5); spec/walrus.md §5.5.
#pragma once
#include <string_view>

#include "ir-formats/bir/module.h"

namespace ncc::walrus {

struct QueueRole {
  std::string_view stem;  // queue names are stem + number
  isa::QueueType type;
  int queues;
};
inline constexpr QueueRole kQueueRoles[] = {
    {"q_in", isa::QueueType::Input, 4},
    {"q_const", isa::QueueType::Data, 4},
    {"q_data", isa::QueueType::Data, 4},
    {"q_out", isa::QueueType::Output, 4},
};

/// Row of kQueueRoles for a transfer: stores to outputs, loads of inputs, loads of constants, everything
/// else.
inline int queue_role(const bir::Function& fn, const bir::Instruction& inst) {
  const bir::TensorKind to = fn.sets[inst.outs[0].set].kind, from = fn.sets[inst.ins[0].set].kind;
  if (to == bir::TensorKind::ExternalOutput) return 3;
  if (from == bir::TensorKind::ExternalInput) return 0;
  return from == bir::TensorKind::Const ? 1 : 2;
}

}  // namespace ncc::walrus
