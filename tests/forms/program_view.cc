#include "tests/forms/program_view.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir-formats/hlo/interpreter/interpret.h"
#include "tests/forms/inline_calls.h"

namespace ncc::hlo {
namespace {

constexpr int64_t kMaxConstantElements = 1 << 20;

bool is_identity(const std::vector<int64_t>& dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

bool all_zero(const std::vector<PaddingDim>& padding) {
  return std::all_of(padding.begin(), padding.end(), [](const PaddingDim& d) { return d == PaddingDim{}; });
}

bool is_empty(const Shape& shape) { return shape.is_array() && shape.num_elements() == 0; }

// All ones are -1 and the greatest unsigned number.
bool same_bits(int64_t a, int64_t b, Dtype dtype) {
  const int bits = info(dtype).bits;
  const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  return (static_cast<uint64_t>(a) & mask) == (static_cast<uint64_t>(b) & mask);
}

// The operand of a concatenation whose others are empty.
Instruction* only_operand(const Instruction& inst) {
  Instruction* only = nullptr;
  for (Instruction* operand : inst.operands) {
    if (operand->shape.num_elements() == 0) continue;
    if (only) return nullptr;
    only = operand;
  }
  return only;
}

// Number of a dimension among those above 1; -1 for one of size 1.
int64_t kept_number(const Path& dims, int64_t d) {
  if (dims[static_cast<size_t>(d)] == 1) return -1;
  return std::count_if(dims.begin(), dims.begin() + d, [](int64_t size) { return size != 1; });
}

// For each kept dimension of the result the operand's; nothing for an op that is no view.
std::optional<Path> view_step(const Instruction& inst) {
  if (!inst.is(Opcode::Broadcast) && !inst.is(Opcode::Transpose) && !inst.is(Opcode::Reshape))
    return std::nullopt;
  const Path &from = inst.operand_shape(0).dims, &to = inst.shape.dims;
  Path step;
  if (inst.is(Opcode::Reshape)) {
    if (sizes_above_one(from) != sizes_above_one(to)) return std::nullopt;
    step.resize(sizes_above_one(to).size());
    std::iota(step.begin(), step.end(), 0);
    return step;
  }
  for (int64_t d = 0; d < inst.shape.rank(); ++d) {
    if (to[static_cast<size_t>(d)] == 1) continue;
    int64_t source = -1;
    if (inst.is(Opcode::Transpose)) {
      source = inst.dimensions[static_cast<size_t>(d)];
    } else {
      const auto found = std::find(inst.dimensions.begin(), inst.dimensions.end(), d);
      if (found != inst.dimensions.end()) source = found - inst.dimensions.begin();
    }
    step.push_back(source < 0 ? -1 : kept_number(from, source));
  }
  return step;
}

// A reshape, or what moves, adds or drops dimensions of size 1 only.
bool keeps_order(const Instruction& inst) {
  if (inst.is(Opcode::Reshape)) return true;
  const std::optional<Path> step = view_step(inst);
  if (!step || step->size() != sizes_above_one(inst.operand_shape(0).dims).size()) return false;
  return is_identity(*step);
}

// An iota of higher rank is a repeated one.
void forget_other_dims(const Instruction& iota, Path* source) {
  const int64_t counted = kept_number(iota.shape.dims, iota.dimensions[0]);
  for (int64_t& d : *source) d = d == counted && d >= 0 ? 0 : -1;
}

int holds(CompareDirection direction) {
  switch (direction) {
    case CompareDirection::EQ:
      return ProgramView::kEqual;
    case CompareDirection::LT:
      return ProgramView::kLess;
    case CompareDirection::GT:
      return ProgramView::kGreater;
    case CompareDirection::LE:
      return ProgramView::kLess | ProgramView::kEqual;
    case CompareDirection::GE:
      return ProgramView::kGreater | ProgramView::kEqual;
    case CompareDirection::NE:
      break;
  }
  return 0;  // true for unordered values as well: no union of the others
}

}  // namespace

const Shape& shape_of(const Ref& ref) {
  const Shape* shape = &ref.inst->shape;
  for (int64_t i : ref.path) shape = &shape->elements[static_cast<size_t>(i)];
  return *shape;
}

Ref element(const Ref& ref, int64_t i) {
  Ref inner = ref;
  inner.path.push_back(i);
  return inner;
}

Path sizes_above_one(const Path& dims) {
  Path made;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(made), [](int64_t size) { return size != 1; });
  return made;
}

ProgramView::ProgramView(const Module& module) : module_(module.clone()) {
  inline_calls(module_.get());
  for (const auto& computation : module_->computations()) {
    for (const auto& inst : computation->instructions()) {
      for (size_t i = 0; i < inst->called.size(); ++i) users_[inst->called[i]] = {inst.get(), i};
    }
  }
}

Instruction* ProgramView::region_user(const Instruction& parameter, size_t* region) const {
  const auto found = users_.find(parameter.parent);
  if (found == users_.end()) return nullptr;
  if (region) *region = found->second.second;
  Instruction* user = found->second.first;
  return user->is(Opcode::While) || user->is(Opcode::Conditional) ? user : nullptr;
}

Ref ProgramView::look_through(Ref ref) {
  while (step(&ref)) {
  }
  return ref;
}

Ref ProgramView::below_reshapes(Ref ref) {
  for (ref = look_through(std::move(ref)); ref.path.empty() && keeps_order(*ref.inst);)
    ref = look_through({ref.inst->operand(0), {}});
  return ref;
}

std::optional<Literal> ProgramView::splat(const Ref& ref) {
  if (!ref.path.empty()) return find_splat(ref);
  if (const auto known = splats_.find(ref.inst); known != splats_.end()) return known->second;
  std::optional<Literal> value = find_splat(ref);
  if (analyses_ > 0) provisional_.push_back(ref.inst);
  splats_[ref.inst] = value;
  return value;
}

std::optional<Literal> ProgramView::find_splat(const Ref& ref) {
  if (std::optional<Literal> plain = plain_splat(ref)) return plain;
  const std::optional<Literal> value = constant(ref);
  if (!value || value->is_tuple() || value->num_elements() == 0) return std::nullopt;
  const auto width = static_cast<size_t>(size_bytes(value->shape().dtype));
  const auto bytes = value->bytes();
  // All elements are alike when the bytes repeat with the width of one.
  if (!value->is_splat() &&
      !std::equal(bytes.begin() + static_cast<ptrdiff_t>(width), bytes.end(), bytes.begin()))
    return std::nullopt;
  return Literal::copy(Shape::array(value->shape().dtype), bytes.subspan(0, width));
}

std::optional<Literal> ProgramView::plain_splat(const Ref& from) {
  const Ref ref = look_through(from);
  const Instruction& inst = *ref.inst;
  if (!ref.path.empty()) return std::nullopt;
  if (inst.is(Opcode::Constant)) {
    if (inst.literal.is_tuple() || (!inst.literal.is_splat() && inst.literal.num_elements() != 1))
      return std::nullopt;
    return Literal::copy(Shape::array(inst.shape.dtype),
                         inst.literal.bytes().subspan(0, static_cast<size_t>(size_bytes(inst.shape.dtype))));
  }
  if (inst.is(Opcode::Broadcast) || inst.is(Opcode::Reshape) || inst.is(Opcode::Transpose))
    return plain_splat({inst.operand(0), {}});
  if (inst.is(Opcode::Compare) && !is_float(inst.operand_shape(0).dtype) &&
      !is_complex(inst.operand_shape(0).dtype) &&
      look_through({inst.operand(0), {}}) == look_through({inst.operand(1), {}})) {
    const bool holds = inst.direction == CompareDirection::EQ || inst.direction == CompareDirection::GE ||
                       inst.direction == CompareDirection::LE;
    return Literal::scalar_int(Dtype::Pred, holds);
  }
  if (!inst.is(Opcode::Convert) || is_complex(inst.shape.dtype)) return std::nullopt;
  const std::optional<Literal> value = plain_splat({inst.operand(0), {}});
  if (!value || is_complex(value->shape().dtype)) return std::nullopt;
  return is_integer(value->shape().dtype) || value->shape().dtype == Dtype::Pred
             ? Literal::scalar_int(inst.shape.dtype, value->as_int64(0))
             : Literal::scalar(inst.shape.dtype, value->as_double(0));
}

void ProgramView::parts(const Instruction& inst, std::vector<Ref>* list) {
  for (Instruction* operand : inst.operands) {
    const Ref part = look_through({operand, {}});
    if (part.path.empty() && part.inst->is(Opcode::Concatenate) && part.inst->dimensions == inst.dimensions) {
      parts(*part.inst, list);
    } else if (shape_of(part).num_elements() > 0) {
      list->push_back(part);
    }
  }
}

bool ProgramView::whole_parts(const Instruction& slice, int64_t dimension, std::vector<Ref>* list) {
  const Ref whole = look_through({slice.operand(0), {}});
  if (!whole.path.empty() || !whole.inst->is(Opcode::Concatenate) || whole.inst->dimensions[0] != dimension)
    return false;
  const Attributes& attributes = slice.attrs();
  const auto along = static_cast<size_t>(dimension);
  for (size_t d = 0; d < slice.shape.dims.size(); ++d) {
    if (attributes.slice_strides[d] != 1) return false;
    if (d != along && slice.shape.dims[d] != whole.inst->shape.dims[d]) return false;
  }
  std::vector<Ref> all;
  parts(*whole.inst, &all);
  int64_t begin = 0, taken = 0;
  for (const Ref& part : all) {
    const int64_t end = begin + shape_of(part).dims[along];
    if (begin >= attributes.slice_starts[along] && end <= attributes.slice_limits[along]) {
      list->push_back(part);
      taken += end - begin;
    }
    begin = end;
  }
  return taken == slice.shape.dims[along];
}

std::optional<Literal> ProgramView::constant(const Ref& ref) {
  const Ref base = look_through(ref);
  if (constancy(base.inst) != Constancy::Known || shape_of(base).num_elements() > kMaxConstantElements)
    return std::nullopt;
  const auto [known, added] = constants_.try_emplace(base.inst);
  if (added) {
    Module scratch("constant");
    Computation* computation = scratch.add_computation("constant");
    std::unordered_map<const Instruction*, Instruction*> copies;
    computation->set_root(copy_graph(base.inst, computation, &copies));
    if (Result<Literal> value = interpret(*computation, {}); value.is_ok()) known->second = value.take();
  }
  const Literal* value = known->second ? &*known->second : nullptr;
  for (size_t i = 0; value && i < base.path.size(); ++i)
    value = &value->elements()[static_cast<size_t>(base.path[i])];
  return value ? std::optional(*value) : std::nullopt;
}

ProgramView::Chain ProgramView::chain(const Ref& ref) {
  Chain made{look_through(ref), sizes_above_one(shape_of(ref).dims), {}};
  made.source.resize(made.sizes.size());
  std::iota(made.source.begin(), made.source.end(), 0);
  while (made.base.path.empty()) {
    const Instruction& inst = *made.base.inst;
    std::optional<Path> step = view_step(inst);
    if (!step) break;
    for (int64_t& source : made.source) {
      if (source >= 0) source = (*step)[static_cast<size_t>(source)];
    }
    made.base = look_through({inst.operand(0), {}});
  }
  if (made.base.path.empty() && made.base.inst->is(Opcode::Iota))
    forget_other_dims(*made.base.inst, &made.source);
  return made;
}

ProgramView::Constancy ProgramView::constancy(Instruction* inst) {
  inst = look_through({inst, {}}).inst;
  if (is_empty(inst->shape)) return Constancy::Known;
  if (const auto known = constancy_.find(inst); known != constancy_.end()) return known->second;
  const bool plain = !inst->has_side_effect() && (inst->called.empty() || inst->is(Opcode::Reduce)) &&
                     !inst->is(Opcode::Parameter) && !inst->is(Opcode::CustomCall) &&
                     inst->info().kind != OpKind::Rng && inst->shape.num_elements() <= kMaxConstantElements;
  const bool expanded =
      inst->info().mlir.starts_with("chlo.") && !inst->is(Opcode::Square) && !inst->is(Opcode::NextAfter);
  Constancy all = !plain ? Constancy::Varies : expanded ? Constancy::Fixed : Constancy::Known;
  for (size_t i = 0; all != Constancy::Varies && i < inst->operands.size(); ++i)
    all = std::min(all, constancy(inst->operands[i]));
  if (analyses_ > 0) provisional_.push_back(inst);
  return constancy_[inst] = all;
}

Instruction* ProgramView::copy_graph(Instruction* inst, Computation* to,
                                     std::unordered_map<const Instruction*, Instruction*>* copies) {
  if (inst->is(Opcode::Parameter)) inst = look_through({inst, {}}).inst;
  if (const auto known = copies->find(inst); known != copies->end()) return known->second;
  if (is_empty(inst->shape)) return (*copies)[inst] = to->add_constant(Literal::zeros(inst->shape));
  std::vector<Instruction*> operands;
  for (Instruction* operand : inst->operands)
    operands.push_back(copy_graph(look_through({operand, {}}).inst, to, copies));
  return (*copies)[inst] = to->add_clone(*inst, std::move(operands));
}

bool ProgramView::step(Ref* ref) {
  Instruction* inst = ref->inst;
  const auto to = [&](Instruction* next) {
    ref->inst = next;
    return true;
  };
  switch (inst->opcode) {
    case Opcode::GetTupleElement:
      ref->path.insert(ref->path.begin(), inst->index);
      return to(inst->operand(0));
    case Opcode::Tuple: {
      if (ref->path.empty()) return false;
      Instruction* next = inst->operand(ref->path[0]);
      ref->path.erase(ref->path.begin());
      return to(next);
    }
    case Opcode::Parameter: {
      size_t region = 0;
      Instruction* user = region_user(*inst, &region);
      if (!user) return false;
      if (user->is(Opcode::Conditional)) return to(user->operand(static_cast<int64_t>(region) + 1));
      return is_invariant(user, ref->path) && to(user->operand(0));
    }
    case Opcode::While:
      return is_invariant(inst, ref->path) && to(inst->operand(0));
    case Opcode::Copy:
      return to(inst->operand(0));
    case Opcode::CustomCall: {
      const std::string& target = inst->attrs().custom_call_target;
      return (target == "Sharding" || target == "xla.sdy.FuncResultSharding") && to(inst->operand(0));
    }
    case Opcode::Reshape: {
      const Ref base = below_reshapes({inst->operand(0), {}});
      if (!compatible(inst->shape, shape_of(base))) return false;
      *ref = base;
      return true;
    }
    case Opcode::Convert:
    case Opcode::DynamicSlice:
      return compatible(inst->shape, inst->operand_shape(0)) && to(inst->operand(0));
    case Opcode::Slice:
      return step_slice(inst, ref);
    case Opcode::DynamicUpdateSlice:  // of everything: the update
      return compatible(inst->shape, inst->operand_shape(1)) && to(inst->operand(1));
    case Opcode::Broadcast:
    case Opcode::Transpose:
      return compatible(inst->shape, inst->operand_shape(0)) && is_identity(inst->dimensions) &&
             to(inst->operand(0));
    case Opcode::Reverse: {
      const bool moves = std::any_of(inst->dimensions.begin(), inst->dimensions.end(),
                                     [&](int64_t d) { return inst->shape.dims[static_cast<size_t>(d)] > 1; });
      return !moves && to(inst->operand(0));
    }
    case Opcode::Pad:
      return compatible(inst->shape, inst->operand_shape(0)) && all_zero(inst->attrs().padding) &&
             to(inst->operand(0));
    case Opcode::Concatenate:
      if (Instruction* only = only_operand(*inst)) return to(only);
      return false;
    case Opcode::Reduce:
      return ref->path.empty() && is_empty_reduction(*inst) && to(inst->operand(0));
    case Opcode::Compare:
      return is_truth_of_operand(*inst) && to(inst->operand(0));
    case Opcode::Select:
      if (const auto pred = splat({inst->operand(0), {}}))
        return to(inst->operand(pred->as_int64(0) ? 1 : 2));
      return are_one(inst->operand(1), inst->operand(2)) && to(inst->operand(1));
    case Opcode::Add:
    case Opcode::Subtract:
      return drop_neutral(inst, 0, ref);
    case Opcode::Or:
      return drop_neutral(inst, 0, ref) || (inst->shape.dtype == Dtype::Pred && absorb(inst, 1, ref));
    case Opcode::Multiply:
      return drop_neutral(inst, 1, ref) || absorb(inst, 0, ref);
    case Opcode::Divide:
      return drop_neutral(inst, 1, ref);
    case Opcode::And:
      return drop_neutral(inst, inst->shape.dtype == Dtype::Pred ? 1 : -1, ref) || absorb(inst, 0, ref);
    case Opcode::Conditional: {
      const auto taken = splat({inst->operand(0), {}});
      if (!taken) return false;
      const int64_t branches = static_cast<int64_t>(inst->called.size());
      int64_t branch = taken->as_int64(0);
      if (taken->shape().dtype == Dtype::Pred) {
        branch = branch ? 0 : 1;
      } else if (branch < 0 || branch >= branches) {
        branch = branches - 1;
      }
      return to(inst->called[static_cast<size_t>(branch)]->root());
    }
    default:
      return false;
  }
}

// Two places that hold the same value, or two spellings of one scalar constant.
bool ProgramView::are_one(Instruction* a, Instruction* b) {
  if (look_through({a, {}}) == look_through({b, {}})) return true;
  const std::optional<Literal> value = splat({a, {}});
  const std::optional<Literal> other = value ? splat({b, {}}) : std::nullopt;
  return other && *value == *other;
}

// A slice of everything, or of what lies in one part of a concatenation.
bool ProgramView::step_slice(Instruction* inst, Ref* ref) {
  if (compatible(inst->shape, inst->operand_shape(0))) {
    ref->inst = inst->operand(0);
    return true;
  }
  if (const auto known = narrowed_.find(inst); known != narrowed_.end()) {
    ref->inst = known->second;
    return true;
  }
  const Ref whole = look_through({inst->operand(0), {}});
  if (!whole.path.empty() || !whole.inst->is(Opcode::Concatenate)) return false;
  const auto along = static_cast<size_t>(whole.inst->dimensions[0]);
  const int64_t start = inst->attrs().slice_starts[along], limit = inst->attrs().slice_limits[along];
  std::vector<Ref> all;
  parts(*whole.inst, &all);
  int64_t begin = 0;
  for (const Ref& part : all) {
    const int64_t end = begin + shape_of(part).dims[along];
    // A part that is an element of a tuple would need an instruction of its own.
    if (start >= begin && limit <= end && part.path.empty()) {
      Instruction* moved = inst->parent->add_clone(*inst, {part.inst});
      moved->mutable_attrs().slice_starts[along] -= begin;
      moved->mutable_attrs().slice_limits[along] -= begin;
      ref->inst = narrowed_[inst] = moved;
      return true;
    }
    begin = end;
  }
  return false;
}

// An integer or truth value times zero, and with zero, or with true.
bool ProgramView::absorb(Instruction* inst, int64_t absorbing, Ref* ref) {
  if (!is_integer(inst->shape.dtype) && inst->shape.dtype != Dtype::Pred) return false;
  for (Instruction* operand : inst->operands) {
    const std::optional<Literal> value = splat({operand, {}});
    if (!value || value->as_int64(0) != absorbing) continue;
    ref->inst = operand;
    return true;
  }
  return false;
}

// A reduction of no dimension whose initial value changes nothing.
bool ProgramView::is_empty_reduction(const Instruction& inst) {
  if (!inst.dimensions.empty() || inst.operands.size() != 2) return false;
  const Instruction& root = *inst.body()->root();
  const bool plain = root.operands.size() == 2 && root.operands[0]->is(Opcode::Parameter) &&
                     root.operands[1]->is(Opcode::Parameter) && root.operands[0] != root.operands[1];
  const std::optional<Literal> initial = splat({inst.operand(1), {}});
  if (!plain || !initial || is_complex(initial->shape().dtype)) return false;
  const double value = initial->as_double(0);
  switch (root.opcode) {
    case Opcode::Add:
    case Opcode::Or:
      return value == 0;
    case Opcode::Multiply:
      return value == 1;
    case Opcode::And:
      return inst.shape.dtype == Dtype::Pred && value == 1;
    case Opcode::Maximum:
      return is_float(inst.shape.dtype) && std::isinf(value) && value < 0;
    case Opcode::Minimum:
      return is_float(inst.shape.dtype) && std::isinf(value) && value > 0;
    default:
      return false;
  }
}

// b != false, b == true.
bool ProgramView::is_truth_of_operand(const Instruction& inst) {
  if (inst.operand_shape(0).dtype != Dtype::Pred) return false;
  if (inst.direction != CompareDirection::NE && inst.direction != CompareDirection::EQ) return false;
  const std::optional<Literal> other = splat({inst.operand(1), {}});
  return other && (other->as_int64(0) != 0) == (inst.direction == CompareDirection::EQ);
}

std::optional<ProgramView::Comparison> ProgramView::comparison(const Ref& ref) {
  const Ref base = look_through(ref);
  if (!base.path.empty()) return std::nullopt;
  if (base.inst->is(Opcode::Compare)) return Comparison{base.inst, holds(base.inst->direction)};
  if (!base.inst->is(Opcode::Or)) return std::nullopt;
  const std::optional<Comparison> left = comparison({base.inst->operand(0), {}});
  const std::optional<Comparison> right = comparison({base.inst->operand(1), {}});
  if (!left || !right || left->holds == 0 || right->holds == 0) return std::nullopt;
  for (int64_t i = 0; i < 2; ++i) {
    if (look_through({left->inst->operand(i), {}}) != look_through({right->inst->operand(i), {}}))
      return std::nullopt;
  }
  return Comparison{left->inst, left->holds | right->holds};
}

bool ProgramView::drop_neutral(Instruction* inst, int64_t neutral, Ref* ref) {
  if (is_complex(inst->shape.dtype)) return false;
  const bool right_only = inst->is(Opcode::Subtract) || inst->is(Opcode::Divide);
  for (int64_t i = 1; i >= (right_only ? 1 : 0); --i) {
    const std::optional<Literal> value = splat({inst->operand(i), {}});
    const bool integer = value && is_integer(inst->shape.dtype);
    if (!value || (integer ? !same_bits(value->as_int64(0), neutral, inst->shape.dtype)
                           : value->as_double(0) != static_cast<double>(neutral)))
      continue;
    ref->inst = inst->operand(1 - i);
    return true;
  }
  return false;
}

// The loop hands this part of its state through unchanged.
bool ProgramView::is_invariant(Instruction* loop, const Path& path) {
  if (path.empty()) return false;
  const auto key = std::make_pair(loop, path);
  if (const auto known = invariant_.find(key); known != invariant_.end()) return known->second;
  invariant_[key] = false;  // while it is found out, a parameter stays itself
  ++analyses_;
  const Ref root = look_through({loop->while_body()->root(), path});
  const bool invariant =
      root.inst->is(Opcode::Parameter) && root.inst->parent == loop->while_body() && root.path == path;
  // Inside another analysis a no may be due to what that one assumes.
  if (--analyses_ > 0 && !invariant) {
    doubtful_.push_back(key);
  } else if (analyses_ == 0) {
    for (const auto& doubtful : doubtful_) invariant_.erase(doubtful);
    for (const Instruction* inst : provisional_) {
      splats_.erase(inst);
      constancy_.erase(inst);
    }
    doubtful_.clear();
    provisional_.clear();
  }
  return invariant_[key] = invariant;
}

}  // namespace ncc::hlo
