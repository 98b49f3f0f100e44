#include "tools/hlo-opt/hlo/collective/combine_collectives.h"

// Independence: the depth of a collective is the number of collectives of its kind on the longest path to it;
// of two with equal depth neither depends on the other, and joining those of equal depth cannot close a
// cycle, because depth never falls along an edge. At most 256 operands and 1 GiB of results per collective.
// Linear per kind. Source: spec/hlo-front-half.md §4.19 (77-79).
#include <algorithm>
#include <map>

#include "ir-formats/hlo/instruction_table.h"
#include "tools/hlo-opt/hlo/computations.h"
#include "tools/hlo-opt/hlo/match.h"

namespace ncc::hlo_passes {
namespace {

constexpr size_t kMaxOperands = 256;
constexpr int64_t kMaxBytes = int64_t{1} << 30;

bool is_combinable(const ComputationEditor& edit, const Instruction& inst, Opcode opcode) {
  return inst.is(opcode) && inst.num_operands() == 1 && is_plain_array(&inst) &&
         !edit.has_control_edge(&inst);
}

class Combiner {
 public:
  Combiner(hlo::Module& module, Opcode opcode) : opcode_(opcode), canonical_(equal_computations(module)) {}

  Status run(Computation* computation, int64_t& changes) {
    ComputationEditor edit(computation);
    std::vector<std::vector<Instruction*>> kinds;
    for (Instruction* inst : computation->post_order()) {
      if (!is_combinable(edit, *inst, opcode_)) continue;
      const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                     [&](const auto& known) { return is_same_kind(*known[0], *inst); });
      if (kind == kinds.end()) {
        kinds.push_back({inst});
      } else {
        kind->push_back(inst);
      }
    }
    for (const auto& kind : kinds) {
      if (kind.size() < 2) continue;
      // Earlier kinds have changed the graph: storage first.
      NCC_TRY(computation->sort());
      combine_kind(edit, kind);
    }
    changes += edit.changes();
    return edit.finish();
  }

 private:
  bool is_same_kind(const Instruction& a, const Instruction& b) const {
    if (a.shape.dtype != b.shape.dtype || a.dimensions != b.dimensions ||
        a.called.size() != b.called.size() || (a.attrs().channel_id > 0) != (b.attrs().channel_id > 0))
      return false;
    for (size_t i = 0; i < a.called.size(); ++i)
      if (canonical_.at(a.called[i]) != canonical_.at(b.called[i])) return false;
    hlo::Attributes attributes = b.attrs();
    attributes.channel_id = a.attrs().channel_id;
    return attributes == a.attrs();
  }

  static void combine_kind(ComputationEditor& edit, const std::vector<Instruction*>& kind) {
    std::map<int64_t, std::vector<Instruction*>> by_depth;
    hlo::InstructionTable<int64_t> depth(*edit.computation());
    hlo::InstructionTable<char> is_member(*edit.computation());
    for (const Instruction* inst : kind) is_member[inst] = 1;
    for (Instruction* inst : edit.computation()->post_order()) {
      int64_t deepest = 0;
      for (const Instruction* operand : inst->operands) deepest = std::max(deepest, depth[operand]);
      for (const Instruction* before : inst->control_predecessors) deepest = std::max(deepest, depth[before]);
      if (is_member[inst]) by_depth[deepest].push_back(inst);
      depth[inst] = deepest + (is_member[inst] ? 1 : 0);
    }
    for (const auto& [unused, members] : by_depth) join_within_limits(edit, members);
  }

  static void join_within_limits(ComputationEditor& edit, const std::vector<Instruction*>& members) {
    std::vector<Instruction*> batch;
    int64_t bytes = 0;
    for (Instruction* inst : members) {
      if (batch.size() == kMaxOperands || bytes + inst->shape.size_bytes() > kMaxBytes) {
        join(edit, batch);
        batch.clear();
        bytes = 0;
      }
      batch.push_back(inst);
      bytes += inst->shape.size_bytes();
    }
    join(edit, batch);
  }

  static void join(ComputationEditor& edit, const std::vector<Instruction*>& batch) {
    if (batch.size() < 2) return;
    std::vector<Instruction*> operands;
    Shape shape = Shape::make_tuple({});
    for (const Instruction* inst : batch) {
      operands.push_back(inst->operand(0));
      shape.elements.push_back(inst->shape);
    }
    edit.set_location(batch[0]->loc);
    Instruction* joined = edit.clone(batch[0], std::move(operands));
    joined->shape = std::move(shape);
    for (size_t i = 0; i < batch.size(); ++i) {
      edit.replace(batch[i], edit.element(joined, static_cast<int64_t>(i)));
      edit.erase(batch[i]);
    }
  }

  Opcode opcode_;
  std::unordered_map<const Computation*, Computation*> canonical_;
};

}  // namespace

Status combine_collectives(hlo::Module& module, int64_t& changes, Opcode opcode) {
  Combiner combiner(module, opcode);
  for (Computation* computation : module.post_order()) NCC_TRY(combiner.run(computation, changes));
  return Status::ok();
}

}  // namespace ncc::hlo_passes
