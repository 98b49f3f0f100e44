#include "ir-formats/hlo/module.h"

#include <algorithm>
#include <unordered_set>

#include "ir-formats/hlo/instruction_table.h"

namespace ncc::hlo {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// What HLO files accept as a name: a letter or '_', then letters, digits, '_', '.', '-'. Others become '_'.
std::string clean_name(std::string name) {
  for (char& c : name) {
    const bool allowed = is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
    if (!allowed) c = '_';
  }
  if (name.empty() || !is_letter(name[0])) return "_" + name;
  // HLO text reserves the names of element types.
  return dtype_from_hlo(name) ? name + "_" : name;
}

// Makes `name` unique in `taken` by a numeric suffix; the map remembers the next suffix to try, so that a
// thousand equal names stay linear.
std::string unique_name(std::unordered_map<std::string, int64_t>& taken, std::string name) {
  auto [it, fresh] = taken.try_emplace(name, 1);
  if (fresh) return name;
  while (true) {
    std::string candidate = fmt::format("{}.{}", name, it->second++);
    if (taken.try_emplace(candidate, 1).second) return candidate;
    it = taken.find(name);
  }
}

// Iterative depth-first post order over any graph of nodes; `state` maps a node to a mark that starts as 0.
template <class Node, class State, class Children, class Visit>
void post_order_from(Node* start, State& state, const Children& children, const Visit& visit) {
  struct Frame {
    Node* node;
    std::vector<Node*> children;
    size_t next = 0;
  };
  if (state[start] != 0) return;
  std::vector<Frame> stack;
  state[start] = 1;
  stack.push_back({start, children(start)});
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next == top.children.size()) {
      state[top.node] = 2;
      visit(top.node);
      stack.pop_back();
      continue;
    }
    Node* child = top.children[top.next++];
    int& mark = state[child];
    if (mark != 0) continue;
    mark = 1;
    stack.push_back({child, children(child)});
  }
}

std::vector<Instruction*> predecessors(const Instruction* inst) {
  std::vector<Instruction*> list = inst->operands;
  list.insert(list.end(), inst->control_predecessors.begin(), inst->control_predecessors.end());
  return list;
}

std::vector<Computation*> callees(const Computation* computation) {
  std::vector<Computation*> list;
  for (const auto& inst : computation->instructions())
    list.insert(list.end(), inst->called.begin(), inst->called.end());
  return list;
}

}  // namespace

const Attributes& Instruction::attrs() const {
  static const Attributes kNone;
  return attrs_ ? *attrs_ : kNone;
}

Attributes& Instruction::mutable_attrs() {
  if (!attrs_) attrs_ = std::make_unique<Attributes>();
  return *attrs_;
}

namespace {

// Visits each computation once: call graphs may share callees many times over.
bool any_effect(const Computation* computation, std::unordered_set<const Computation*>& seen);

bool has_effect(const Instruction& inst, std::unordered_set<const Computation*>& seen) {
  if (inst.info().has_effect) return true;
  if (inst.is(Opcode::CustomCall) && inst.attrs().custom_call_has_side_effect) return true;
  return std::any_of(inst.called.begin(), inst.called.end(),
                     [&](const Computation* called) { return any_effect(called, seen); });
}

bool any_effect(const Computation* computation, std::unordered_set<const Computation*>& seen) {
  if (!seen.insert(computation).second) return false;
  for (const auto& inst : computation->instructions()) {
    if (!inst->is(Opcode::Parameter) && has_effect(*inst, seen)) return true;
  }
  return false;
}

}  // namespace

bool Instruction::has_side_effect() const {
  std::unordered_set<const Computation*> seen;
  return has_effect(*this, seen);
}

bool Computation::is_entry() const { return module_->entry() == this; }

std::vector<Instruction*> Computation::parameters() const {
  std::vector<Instruction*> list;
  for (const auto& inst : instructions_) {
    if (!inst->is(Opcode::Parameter)) continue;
    if (inst->index >= static_cast<int64_t>(list.size())) list.resize(static_cast<size_t>(inst->index) + 1);
    list[static_cast<size_t>(inst->index)] = inst.get();
  }
  return list;
}

namespace {

// True when every operand and control predecessor stands before its user.
bool is_topological(const Computation& computation) {
  InstructionTable<char> seen(computation);
  for (const auto& inst : computation.instructions()) {
    const auto before = [&](const Instruction* other) { return seen[other] != 0; };
    if (!std::all_of(inst->operands.begin(), inst->operands.end(), before) ||
        !std::all_of(inst->control_predecessors.begin(), inst->control_predecessors.end(), before))
      return false;
    seen[inst.get()] = 1;
  }
  return true;
}

}  // namespace

std::vector<Instruction*> Computation::post_order() const {
  std::vector<Instruction*> order;
  order.reserve(instructions_.size());
  if (is_topological(*this)) {
    for (const auto& inst : instructions_) order.push_back(inst.get());
    return order;
  }
  InstructionTable<int> state(*this);
  for (const auto& inst : instructions_)
    post_order_from(inst.get(), state, predecessors, [&](Instruction* done) { order.push_back(done); });
  return order;
}

Instruction* Computation::add(Opcode opcode, Shape shape, std::vector<Instruction*> operands,
                              std::string name) {
  auto inst = std::make_unique<Instruction>();
  inst->id = module_->next_id_++;
  inst->opcode = opcode;
  inst->shape = std::move(shape);
  inst->operands = std::move(operands);
  if (name.empty()) name = fmt::format("{}.{}", hlo::name(opcode), inst->id);
  inst->name = unique_name(names_, clean_name(std::move(name)));
  inst->parent = this;
  instructions_.push_back(std::move(inst));
  return instructions_.back().get();
}

Instruction* Computation::add_parameter(int64_t number, Shape shape, std::string name) {
  Instruction* inst = add(Opcode::Parameter, std::move(shape), {}, std::move(name));
  inst->index = number;
  return inst;
}

Instruction* Computation::add_constant(Literal value, std::string name) {
  Instruction* inst = add(Opcode::Constant, value.shape(), {}, std::move(name));
  inst->literal = std::move(value);
  return inst;
}

Instruction* Computation::add_get(Instruction* tuple, int64_t index) {
  NCC_CHECK(tuple->shape.is_tuple() && index < static_cast<int64_t>(tuple->shape.elements.size()),
            "element {} of {}", index, to_string(tuple->shape));
  Instruction* inst =
      add(Opcode::GetTupleElement, tuple->shape.elements[static_cast<size_t>(index)], {tuple});
  inst->index = index;
  inst->loc = tuple->loc;
  return inst;
}

Instruction* Computation::add_tuple(std::vector<Instruction*> elements, std::string name) {
  Shape shape = Shape::make_tuple({});
  for (const Instruction* element : elements) shape.elements.push_back(element->shape);
  return add(Opcode::Tuple, std::move(shape), std::move(elements), std::move(name));
}

Instruction* Computation::add_clone(const Instruction& other, std::vector<Instruction*> operands) {
  Instruction* inst = add(other.opcode, other.shape, std::move(operands), other.name);
  inst->direction = other.direction;
  inst->compare_type = other.compare_type;
  inst->called = other.called;
  inst->dimensions = other.dimensions;
  inst->index = other.index;
  inst->literal = other.literal;
  inst->loc = other.loc;
  inst->loc_details = other.loc_details;
  if (other.has_attrs()) inst->mutable_attrs() = other.attrs();
  return inst;
}

void Computation::replace_uses(Instruction* old_value, Instruction* new_value) {
  replace_uses(std::unordered_map<Instruction*, Instruction*>{{old_value, new_value}});
}

void Computation::replace_uses(const std::unordered_map<Instruction*, Instruction*>& replacements) {
  const auto target = [&](Instruction* value) {
    // A chain cannot be longer than the map; the bound keeps a cyclic map from hanging.
    for (size_t hops = 0; hops <= replacements.size(); ++hops) {
      const auto found = replacements.find(value);
      if (found == replacements.end()) return value;
      value = found->second;
    }
    NCC_CHECK(false, "cyclic replacement of {}", value->name);
    return value;
  };
  for (const auto& inst : instructions_) {
    for (Instruction*& operand : inst->operands) operand = target(operand);
    for (Instruction*& predecessor : inst->control_predecessors) predecessor = target(predecessor);
  }
  if (root_) root_ = target(root_);
}

int64_t Computation::remove_dead() {
  InstructionTable<char> live(*this);
  std::vector<Instruction*> work;
  const auto mark = [&](Instruction* inst) {
    if (live[inst]) return;
    live[inst] = 1;
    work.push_back(inst);
  };
  if (root_) mark(root_);
  for (const auto& inst : instructions_) {
    if (inst->has_side_effect()) mark(inst.get());
  }
  while (!work.empty()) {
    Instruction* inst = work.back();
    work.pop_back();
    for (Instruction* operand : inst->operands) mark(operand);
    for (Instruction* predecessor : inst->control_predecessors) mark(predecessor);
  }
  const int64_t before = size();
  std::erase_if(instructions_, [&](const std::unique_ptr<Instruction>& inst) {
    if (live[inst.get()]) return false;
    names_.erase(inst->name);
    return true;
  });
  return before - size();
}

Status Computation::sort() {
  if (is_topological(*this)) return Status::ok();
  InstructionTable<int> state(*this);
  InstructionTable<int64_t> position(*this);
  std::vector<Instruction*> order;
  for (const auto& inst : instructions_)
    post_order_from(inst.get(), state, predecessors, [&](Instruction* done) {
      position[done] = static_cast<int64_t>(order.size());
      order.push_back(done);
    });
  for (const Instruction* inst : order) {
    for (const Instruction* predecessor : predecessors(inst)) {
      if (position[predecessor] >= position[inst])
        return error(Code::EVRF003, inst->loc,
                     fmt::format("instruction {} of computation {} depends on itself", inst->name, name_));
    }
  }
  std::sort(instructions_.begin(), instructions_.end(),
            [&](const auto& a, const auto& b) { return position[a.get()] < position[b.get()]; });
  return Status::ok();
}

void Computation::set_order(const std::vector<Instruction*>& order) {
  std::unordered_map<const Instruction*, size_t> position;
  for (const Instruction* inst : order) position.emplace(inst, position.size());
  const auto rank = [&](const std::unique_ptr<Instruction>& inst) {
    const auto found = position.find(inst.get());
    return found == position.end() ? position.size() : found->second;
  };
  std::stable_sort(instructions_.begin(), instructions_.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

UserMap::UserMap(const Computation& computation) {
  for (const auto& inst : computation.instructions()) {
    for (Instruction* operand : inst->operands) users_[operand].push_back(inst.get());
  }
}

const std::vector<Instruction*>& UserMap::of(const Instruction* value) const {
  static const std::vector<Instruction*> kNone;
  const auto found = users_.find(value);
  return found == users_.end() ? kNone : found->second;
}

void Module::set_name(std::string name) { name_ = clean_name(std::move(name)); }

Computation* Module::find(std::string_view name) const {
  for (const auto& computation : computations_) {
    if (computation->name() == name) return computation.get();
  }
  return nullptr;
}

Computation* Module::add_computation(std::string name) {
  if (name.empty()) name = "computation";
  computations_.push_back(
      std::make_unique<Computation>(this, unique_name(names_, clean_name(std::move(name)))));
  return computations_.back().get();
}

// What the entry does not reach comes first, unless it calls something that the entry reaches.
std::vector<Computation*> Module::post_order() const {
  std::unordered_map<const Computation*, int> state;
  std::vector<Computation*> reachable, others, order;
  if (entry_) post_order_from(entry_, state, callees, [&](Computation* done) { reachable.push_back(done); });
  std::unordered_set<const Computation*> late(reachable.begin(), reachable.end());
  for (const auto& computation : computations_)
    post_order_from(computation.get(), state, callees, [&](Computation* done) { others.push_back(done); });
  for (Computation* computation : others) {
    const std::vector<Computation*> called = callees(computation);
    if (std::any_of(called.begin(), called.end(), [&](const Computation* c) { return late.count(c) != 0; }))
      late.insert(computation);
    else
      order.push_back(computation);
  }
  order.insert(order.end(), reachable.begin(), reachable.end());
  for (Computation* computation : others)
    if (late.count(computation) != 0) order.push_back(computation);
  return order;
}

int64_t Module::remove_unreachable() {
  std::unordered_map<const Computation*, int> state;
  if (entry_) post_order_from(entry_, state, callees, [](Computation*) {});
  const size_t before = computations_.size();
  std::erase_if(computations_, [&](const auto& computation) {
    if (state[computation.get()] != 0) return false;
    names_.erase(computation->name());
    return true;
  });
  return static_cast<int64_t>(before - computations_.size());
}

void Module::renumber() {
  next_id_ = 0;
  for (Computation* computation : post_order()) {
    for (const auto& inst : computation->instructions_) inst->id = next_id_++;
  }
}

std::unique_ptr<Module> Module::clone() const {
  auto copy = std::make_unique<Module>(name_);
  std::unordered_map<const Computation*, Computation*> computations;
  std::unordered_map<const Instruction*, Instruction*> instructions;
  for (const auto& computation : computations_) {
    Computation* made = copy->add_computation(computation->name());
    made->execution_thread = computation->execution_thread;
    made->is_fusion = computation->is_fusion;
    computations[computation.get()] = made;
  }
  for (const auto& computation : computations_) {
    Computation* made = computations[computation.get()];
    for (const auto& inst : computation->instructions()) {
      Instruction* twin = made->add_clone(*inst, {});
      twin->id = inst->id;
      for (Computation*& called : twin->called) called = computations[called];
      instructions[inst.get()] = twin;
    }
    for (const auto& inst : computation->instructions()) {
      Instruction* twin = instructions[inst.get()];
      for (const Instruction* operand : inst->operands) twin->operands.push_back(instructions[operand]);
      for (const Instruction* before : inst->control_predecessors)
        twin->control_predecessors.push_back(instructions[before]);
    }
    if (computation->root()) made->set_root(instructions[computation->root()]);
  }
  if (entry_) copy->entry_ = computations[entry_];
  copy->next_id_ = next_id_;
  copy->replica_count = replica_count;
  copy->num_partitions = num_partitions;
  copy->is_scheduled = is_scheduled;
  copy->is_dynamic = is_dynamic;
  copy->aliases = aliases;
  copy->donors = donors;
  copy->frontend_attributes = frontend_attributes;
  copy->entry_parameter_shapes = entry_parameter_shapes;
  copy->entry_result_shape = entry_result_shape;
  copy->has_entry_layout = has_entry_layout;
  copy->stack_frames = stack_frames;
  copy->text_file = text_file;
  copy->result_names = result_names;
  copy->unknown_fields = unknown_fields;
  return copy;
}

std::pair<std::vector<Shape>, Shape> Module::program_shape() const {
  std::vector<Shape> parameters;
  for (const Instruction* parameter : entry_->parameters()) parameters.push_back(parameter->shape);
  const Shape& result = entry_->root()->shape;
  bool fits = entry_parameter_shapes.size() == parameters.size() && compatible(entry_result_shape, result);
  for (size_t i = 0; fits && i < parameters.size(); ++i)
    fits = compatible(entry_parameter_shapes[i], parameters[i]);
  if (fits) return {entry_parameter_shapes, entry_result_shape};
  return {std::move(parameters), result};
}

SourceLoc stated_location(const Instruction& inst, bool text_lines) {
  const Module& module = *inst.parent->module();
  SourceLoc loc = inst.loc;
  if (!text_lines && module.is_text_line(loc)) return {};
  if (!inst.loc_details) return loc;
  if (loc.op_name == inst.loc_details->op_type) loc.op_name.clear();
  const SourceLoc frame = module.stack_frames.location(inst.loc_details->stack_frame);
  if (frame.file == loc.file && frame.line == loc.line) {
    loc.file.clear();
    loc.line = 0;
  }
  return loc;
}

std::string describe(const Instruction& inst) {
  return fmt::format("%{} = {}", inst.name, hlo::name(inst.opcode));
}

}  // namespace ncc::hlo
