#include "tools/walrus_driver/clocks.h"

#include <algorithm>

#include "tools/walrus_driver/streams.h"

namespace ncc::walrus {

Clocks::Clocks(const bir::Module& module, const bir::Function& fn)
    : list_(fn.block.instructions), streams_(num_streams(module)) {
  known_.assign(static_cast<size_t>(kFirstQueueStream * streams_), 0);
  proof_.assign(list_.size() * static_cast<size_t>(streams_), 0);
  position_.assign(list_.size(), 0);
  count_.assign(static_cast<size_t>(streams_), 0);
  order_.resize(static_cast<size_t>(streams_));
}

bool Clocks::is_ordered(uint32_t earlier, uint32_t later) const {
  const bir::Instruction &a = list_[earlier], &b = list_[later];
  if (ordered_by_engine(a, b)) return true;
  if (bir::is_dma(a.opcode) && bir::is_dma(b.opcode) && a.queue == b.queue) return true;
  return known(issue_stream(b))[completion_stream(a)] >= position_[earlier];
}

void Clocks::wait_for(uint32_t earlier, uint32_t later) {
  wait_for_position(completion_stream(list_[earlier]), position_[earlier], later);
}

void Clocks::wait_for_position(int stream, int32_t position, uint32_t later) {
  if (position <= 0) return;
  const uint32_t earlier = order_[static_cast<size_t>(stream)][static_cast<size_t>(position - 1)];
  int32_t* mine = known(issue_stream(list_[later]));
  const int32_t* proof = &proof_[earlier * static_cast<size_t>(streams_)];
  for (int s = 0; s < streams_; ++s) mine[s] = std::max(mine[s], proof[s]);
}

void Clocks::issue(uint32_t inst) {
  const int stream = completion_stream(list_[inst]);
  position_[inst] = ++count_[static_cast<size_t>(stream)];
  order_[static_cast<size_t>(stream)].push_back(inst);
  const int32_t* mine = known(issue_stream(list_[inst]));
  int32_t* proof = &proof_[inst * static_cast<size_t>(streams_)];
  std::copy(mine, mine + streams_, proof);
  // Streams complete in order: what the previous one proves is proven too.
  if (position_[inst] > 1) {
    const uint32_t previous = order_[static_cast<size_t>(stream)][static_cast<size_t>(position_[inst] - 2)];
    const int32_t* before = &proof_[previous * static_cast<size_t>(streams_)];
    for (int s = 0; s < streams_; ++s) proof[s] = std::max(proof[s], before[s]);
  }
  proof[stream] = position_[inst];
}

}  // namespace ncc::walrus
