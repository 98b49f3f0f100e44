#include "tools/hlo-opt/hlo/editor.h"

#include <algorithm>
#include <unordered_map>

namespace ncc::hlo_passes {

ComputationEditor::ComputationEditor(Computation* computation) : computation_(computation) {
  int64_t first = INT64_MAX, last = -1;
  for (const auto& inst : computation->instructions()) {
    first = std::min(first, inst->id);
    last = std::max(last, inst->id);
  }
  first_id_ = last < 0 ? 0 : first;
  new_base_ = computation->module()->id_limit();
  if (last >= 0) old_nodes_.resize(static_cast<size_t>(last - first + 1));
  for (const auto& inst : computation->instructions()) {
    add_uses(inst.get());
    Node& own = node(inst.get());
    own.has_effect = inst->has_side_effect();
    own.has_control_edge |= !inst->control_predecessors.empty();
    for (const Instruction* before : inst->control_predecessors) node(before).has_control_edge = true;
  }
  if (computation->root()) ++node(computation->root()).uses;
}

ComputationEditor::Node& ComputationEditor::node(const Instruction* inst) {
  if (inst->id < new_base_) return old_nodes_[static_cast<size_t>(inst->id - first_id_)];
  const size_t slot = static_cast<size_t>(inst->id - new_base_);
  if (slot >= new_nodes_.size()) new_nodes_.resize(std::max(slot + 1, 2 * new_nodes_.size()));
  return new_nodes_[slot];
}

const ComputationEditor::Node& ComputationEditor::node(const Instruction* inst) const {
  return const_cast<ComputationEditor*>(this)->node(inst);
}

void ComputationEditor::add_uses(Instruction* user) {
  for (int64_t slot = 0; slot < user->num_operands(); ++slot) {
    Node& used = node(user->operand(slot));
    used.users.push_back({user, slot});
    ++used.uses;
  }
}

std::vector<Instruction*> ComputationEditor::users(const Instruction* value) {
  Node& used = node(value);
  std::erase_if(used.users, [&](const Use& use) {
    return node(use.user).dead || use.slot >= use.user->num_operands() ||
           use.user->operand(use.slot) != value;
  });
  std::vector<Instruction*> list;
  for (const Use& use : used.users) list.push_back(use.user);
  return list;
}

bool ComputationEditor::is_pinned(const Instruction* inst) const {
  const Node& own = node(inst);
  return inst->is(Opcode::Parameter) || own.has_effect || own.has_control_edge;
}

void ComputationEditor::drop_use(Instruction* value) {
  --node(value).uses;
  remove_if_unused(value);
}

// Iterative: chains of dead values can be long.
void ComputationEditor::remove_if_unused(Instruction* value) {
  std::vector<Instruction*> work{value};
  while (!work.empty()) {
    Instruction* inst = work.back();
    work.pop_back();
    Node& own = node(inst);
    if (own.dead || own.uses > 0 || is_pinned(inst)) continue;
    own.dead = true;
    for (Instruction* operand : inst->operands) {
      --node(operand).uses;
      work.push_back(operand);
    }
  }
}

void ComputationEditor::enqueue(Instruction* inst) {
  if (!driving_ || node(inst).queued) return;
  node(inst).queued = true;
  queue_.push_back(inst);
}

void ComputationEditor::note_change(Instruction* inst) {
  ++changes_;
  enqueue(inst);
  for (Instruction* user : users(inst)) enqueue(user);
}

bool ComputationEditor::replace(Instruction* old_value, Instruction* new_value) {
  NCC_CHECK(compatible(old_value->shape, new_value->shape), "{} of {} replaced by {} of {}", old_value->name,
            to_string(old_value->shape), new_value->name, to_string(new_value->shape));
  NCC_CHECK(old_value != new_value && !node(new_value).dead, "replaced {} by {}", old_value->name,
            new_value->name);
  if (node(old_value).has_control_edge) return false;
  if (new_value->id >= new_base_) {
    if (new_value->loc.empty()) new_value->loc = old_value->loc;
    const hlo::Attributes& from = old_value->attrs();
    if (!from.frontend_attributes.empty() && new_value->attrs().frontend_attributes.empty())
      new_value->mutable_attrs().frontend_attributes = from.frontend_attributes;
    if (!from.sharding.empty() && new_value->attrs().sharding.empty())
      new_value->mutable_attrs().sharding = from.sharding;
  }
  std::vector<Use> moved = std::move(node(old_value).users);
  node(old_value).users.clear();
  for (const Use& use : moved) {
    if (node(use.user).dead || use.slot >= use.user->num_operands() ||
        use.user->operand(use.slot) != old_value || use.user == new_value) {
      if (use.user == new_value) node(old_value).users.push_back(use);
      continue;
    }
    use.user->operands[static_cast<size_t>(use.slot)] = new_value;
    node(new_value).users.push_back(use);
    ++node(new_value).uses;
    --node(old_value).uses;
    enqueue(use.user);
  }
  if (computation_->root() == old_value) {
    computation_->set_root(new_value);
    ++node(new_value).uses;
    --node(old_value).uses;
  }
  ++changes_;
  enqueue(new_value);
  remove_if_unused(old_value);
  return true;
}

void ComputationEditor::set_operand(Instruction* inst, int64_t slot, Instruction* value) {
  Instruction* before = inst->operand(slot);
  if (before == value) return;
  inst->operands[static_cast<size_t>(slot)] = value;
  node(value).users.push_back({inst, slot});
  ++node(value).uses;
  drop_use(before);
  note_change(inst);
}

void ComputationEditor::set_root(Instruction* value) {
  Instruction* before = computation_->root();
  if (before == value) return;
  computation_->set_root(value);
  ++node(value).uses;
  ++changes_;
  if (before) drop_use(before);
}

// What stays in storage until `finish` must be something that nobody needs: an empty tuple.
void ComputationEditor::erase(Instruction* inst) {
  NCC_CHECK(node(inst).uses == 0 && !node(inst).has_control_edge, "erased {}, which is used", inst->name);
  if (node(inst).dead) return;
  const std::vector<Instruction*> operands = std::move(inst->operands);
  inst->operands.clear();
  inst->called.clear();
  inst->opcode = Opcode::Tuple;
  inst->shape = Shape::make_tuple({});
  node(inst).has_effect = false;
  node(inst).dead = true;
  ++changes_;
  for (Instruction* operand : operands) drop_use(operand);
}

Status ComputationEditor::visit_all(const std::function<Status(Instruction*)>& visit) {
  driving_ = true;
  queue_ = computation_->post_order();
  for (Instruction* inst : queue_) node(inst).queued = true;
  int64_t budget = 32 * computation_->size() + 256;
  // A plain list: positions before `next` are done.
  for (size_t next = 0; next < queue_.size() && budget > 0; ++next, --budget) {
    Instruction* inst = queue_[next];
    node(inst).queued = false;
    if (node(inst).dead) continue;
    loc_ = inst->loc;
    NCC_TRY(visit(inst));
  }
  driving_ = false;
  return Status::ok();
}

Status ComputationEditor::finish() {
  if (changes_ == 0 && new_nodes_.empty()) return Status::ok();
  computation_->remove_dead();
  return computation_->sort();
}

Status edit_each(hlo::Module& module, int64_t& changes,
                 const std::function<Status(ComputationEditor&, Instruction*)>& rewrite) {
  for (Computation* computation : module.post_order()) {
    ComputationEditor edit(computation);
    NCC_TRY(edit.visit_all([&](Instruction* inst) { return rewrite(edit, inst); }));
    changes += edit.changes();
    NCC_TRY(edit.finish());
  }
  return Status::ok();
}

Computation* scalar_body(hlo::Module& module, Opcode op, Dtype dtype) {
  const std::string name = fmt::format("{}_{}", hlo::name(op), info(dtype).hlo);
  if (Computation* found = module.find(name)) {
    const Instruction* root = found->root();
    if (found->size() == 3 && root->is(op) && root->shape.dtype == dtype && root->shape.is_scalar() &&
        root->operand(0)->is(Opcode::Parameter) && root->operand(1)->is(Opcode::Parameter) &&
        root->operand(0)->index == 0 && root->operand(1)->index == 1)
      return found;
  }
  Computation* body = module.add_computation(name);
  Instruction* a = body->add_parameter(0, Shape::array(dtype));
  Instruction* b = body->add_parameter(1, Shape::array(dtype));
  body->set_root(body->add(op, Shape::array(dtype), {a, b}));
  return body;
}

}  // namespace ncc::hlo_passes
