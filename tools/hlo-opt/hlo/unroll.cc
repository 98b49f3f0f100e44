#include "tools/hlo-opt/hlo/unroll.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/loops.h"

namespace ncc::hlo_passes {
namespace {

constexpr int64_t kMaxSimulated = 128;  // iterations run to find a count that has no closed form

// In what the body calls, at any depth; callees are shared by the copies, so their ids could not be renewed.
bool has_channel_in_callee(const Computation& body) {
  std::vector<const Computation*> work{&body};
  std::unordered_set<const Computation*> seen;
  while (!work.empty()) {
    const Computation* computation = work.back();
    work.pop_back();
    for (const auto& inst : computation->instructions()) {
      if (computation != &body && inst->attrs().channel_id > 0) return true;
      for (const Computation* called : inst->called)
        if (seen.insert(called).second) work.push_back(called);
    }
  }
  return false;
}

class Unroller {
 public:
  Unroller(hlo::Module& module, const PassOptions& limits, Iteration iteration)
      : module_(module), limits_(limits), iteration_(iteration), next_channel_(largest_channel(module) + 1) {}

  Status run(int64_t& changes) {
    for (Computation* computation : module_.post_order()) {
      ComputationEditor edit(computation);
      for (Instruction* inst : computation->post_order()) {
        if (!inst->is(Opcode::While) || edit.is_dead(inst) || edit.has_control_edge(inst)) continue;
        const auto trips = trip_count(*inst, std::min(kMaxSimulated, limits_.max_unrolled_trips));
        if (!trips || !is_affordable(*inst, *trips)) continue;
        edit.set_location(inst->loc);
        edit.replace(inst, unrolled(edit, *inst, *trips));
        edit.erase(inst);
      }
      changes += edit.changes();
      NCC_TRY(edit.finish());
    }
    return Status::ok();
  }

 private:
  bool is_affordable(const Instruction& loop, int64_t trips) const {
    return trips <= limits_.max_unrolled_trips &&
           trips <= limits_.max_unrolled_size / std::max<int64_t>(1, loop.while_body()->size()) &&
           !has_channel_in_callee(*loop.while_body());
  }

  Instruction* unrolled(ComputationEditor& edit, const Instruction& loop, int64_t trips) {
    Instruction* state = loop.operand(0);
    for (int64_t trip = 0; trip < trips; ++trip) {
      if (iteration_ == Iteration::Called) {
        state = edit.add(Opcode::Call, loop.shape, {state});
        state->called = {loop.while_body()};
        continue;
      }
      const size_t before = static_cast<size_t>(edit.computation()->size());
      state = edit.inline_computation(*loop.while_body(), {state});
      if (trip > 0) renew_channels(*edit.computation(), before);
    }
    return state;
  }

  void renew_channels(const Computation& computation, size_t from) {
    std::unordered_map<int64_t, int64_t> fresh;
    for (size_t i = from; i < computation.instructions().size(); ++i) {
      Instruction& inst = *computation.instructions()[i];
      if (inst.attrs().channel_id <= 0) continue;
      const auto [entry, is_new] = fresh.try_emplace(inst.attrs().channel_id, next_channel_);
      next_channel_ += is_new;
      inst.mutable_attrs().channel_id = entry->second;
    }
  }

  hlo::Module& module_;
  const PassOptions& limits_;
  Iteration iteration_;
  int64_t next_channel_;
};

}  // namespace

Status unroll_loops(hlo::Module& module, PassContext& context, Iteration iteration) {
  return Unroller(module, context.options, iteration).run(context.changes);
}

}  // namespace ncc::hlo_passes
