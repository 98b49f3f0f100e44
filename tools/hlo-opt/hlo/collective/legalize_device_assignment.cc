// Groups that are left open are written out as lists of devices: no groups means one group of everybody. What
// the numbers stand for stays as it is. Source: spec/hlo-front-half.md §4.19 (69).
#include <numeric>

#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {

Status legalize_device_assignment(hlo::Module& module, PassContext& context) {
  constexpr int64_t kMostDevices = int64_t{1} << 20;
  for (const auto& computation : module.computations()) {
    for (const auto& inst : computation->instructions()) {
      if (!is_synchronous(*inst) || inst->is(Opcode::CollectivePermute) ||
          !inst->attrs().replica_groups.empty())
        continue;
      const hlo::Attributes& attrs = inst->attrs();
      const bool reduces_or_gathers =
          inst->is(Opcode::AllGather) || inst->is(Opcode::AllReduce) || inst->is(Opcode::ReduceScatter);
      int64_t count = module.replica_count;
      if (attrs.channel_id > 0 && !reduces_or_gathers) count = module.num_partitions;
      if (attrs.channel_id > 0 && attrs.use_global_device_ids && reduces_or_gathers)
        count = module.replica_count * module.num_partitions;
      // HLO's all-to-all without a dimension has one operand per member, whatever the grid.
      if (inst->is(Opcode::AllToAll) && inst->dimensions.empty() && attrs.split_dimension < 0)
        count = inst->num_operands();
      if (count < 1 || count > kMostDevices) continue;
      std::vector<int64_t> group(static_cast<size_t>(count));
      std::iota(group.begin(), group.end(), 0);
      inst->mutable_attrs().replica_groups = {std::move(group)};
      ++context.changes;
    }
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
