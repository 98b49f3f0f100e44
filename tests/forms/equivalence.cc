#include "tests/forms/equivalence.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>

#include "ir-formats/hlo/interpreter/interpret.h"
#include "ir-formats/hlo/print_attributes.h"
#include "tests/forms/inline_calls.h"

namespace ncc::hlo {
namespace {

using Path = std::vector<int64_t>;

// A value, or the element of a tuple value at a path.
struct Ref {
  Instruction* inst = nullptr;
  Path path;
  auto operator<=>(const Ref&) const = default;
};

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

bool is_identity(const std::vector<int64_t>& dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// Where the parameters of a module's regions come from, and values with everything looked through that the
// head comment lists.
class Side {
 public:
  explicit Side(const Module& module) : module_(module.clone()) {
    inline_calls(module_.get());
    for (const auto& computation : module_->computations()) {
      for (const auto& inst : computation->instructions()) {
        for (size_t i = 0; i < inst->called.size(); ++i) users_[inst->called[i]] = {inst.get(), i};
      }
    }
  }
  Computation* entry() const { return module_->entry(); }

  /// The loop or branch whose region has this parameter; nullptr for the entry and for applied bodies.
  Instruction* region_user(const Instruction& parameter, size_t* region = nullptr) const {
    const auto found = users_.find(parameter.parent);
    if (found == users_.end()) return nullptr;
    if (region) *region = found->second.second;
    Instruction* user = found->second.first;
    return user->is(Opcode::While) || user->is(Opcode::Conditional) ? user : nullptr;
  }

  Ref look_through(Ref ref) {
    while (step(&ref)) {
    }
    return ref;
  }

  /// The scalar that every element of the value equals.
  std::optional<Literal> splat(Ref ref) {
    ref = look_through(ref);
    const Instruction& inst = *ref.inst;
    if (!ref.path.empty()) return std::nullopt;
    if (inst.is(Opcode::Constant)) {
      if (inst.literal.is_tuple() || (!inst.literal.is_splat() && inst.literal.num_elements() != 1))
        return std::nullopt;
      return Literal::copy(
          Shape::array(inst.shape.dtype),
          inst.literal.bytes().subspan(0, static_cast<size_t>(size_bytes(inst.shape.dtype))));
    }
    if (inst.is(Opcode::Broadcast) || inst.is(Opcode::Reshape) || inst.is(Opcode::Transpose))
      return splat({inst.operand(0), {}});
    if (inst.is(Opcode::Compare) && !is_float(inst.operand_shape(0).dtype) &&
        !is_complex(inst.operand_shape(0).dtype) &&
        look_through({inst.operand(0), {}}) == look_through({inst.operand(1), {}})) {
      const bool holds = inst.direction == CompareDirection::EQ || inst.direction == CompareDirection::GE ||
                         inst.direction == CompareDirection::LE;
      return Literal::scalar_int(Dtype::Pred, holds);
    }
    if (!inst.is(Opcode::Convert) || is_complex(inst.shape.dtype)) return std::nullopt;
    const std::optional<Literal> from = splat({inst.operand(0), {}});
    if (!from || is_complex(from->shape().dtype)) return std::nullopt;
    return is_integer(from->shape().dtype) || from->shape().dtype == Dtype::Pred
               ? Literal::scalar_int(inst.shape.dtype, from->as_int64(0))
               : Literal::scalar(inst.shape.dtype, from->as_double(0));
  }

  /// What a concatenation joins, concatenations along the same dimension taken apart, empty parts left out.
  void parts(const Instruction& inst, std::vector<Ref>* list) {
    for (Instruction* operand : inst.operands) {
      const Ref part = look_through({operand, {}});
      if (part.path.empty() && part.inst->is(Opcode::Concatenate) &&
          part.inst->dimensions == inst.dimensions) {
        parts(*part.inst, list);
      } else if (shape_of(part).num_elements() > 0) {
        list->push_back(part);
      }
    }
  }

  /// The value of a graph without parameters and effects; nothing when it has some, or is large.
  std::optional<Literal> constant(const Ref& ref) {
    constexpr int64_t kMaxElements = 1 << 20;
    const Ref base = look_through(ref);
    if (!is_constant(base.inst) || shape_of(base).num_elements() > kMaxElements) return std::nullopt;
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

  /// What the value is below a chain of broadcasts, transposes and reshapes that only add or drop dimensions
  /// of size 1.
  struct View {
    Ref base;
    Path sizes;   // of the value's dimensions above 1
    Path source;  // for each of them the base's dimension, counted among those above 1; -1 = repeated
    bool operator==(const View&) const = default;
  };
  View view(const Ref& ref) {
    View made{look_through(ref), kept(shape_of(ref).dims), {}};
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

  static Path kept(const Path& dims) {
    Path made;
    std::copy_if(dims.begin(), dims.end(), std::back_inserter(made), [](int64_t size) { return size != 1; });
    return made;
  }

 private:
  // Number of a dimension among those above 1; -1 for one of size 1.
  static int64_t kept_number(const Path& dims, int64_t d) {
    if (dims[static_cast<size_t>(d)] == 1) return -1;
    return std::count_if(dims.begin(), dims.begin() + d, [](int64_t size) { return size != 1; });
  }

  // For each kept dimension of the result the operand's; nothing for an op that is no view.
  static std::optional<Path> view_step(const Instruction& inst) {
    if (!inst.is(Opcode::Broadcast) && !inst.is(Opcode::Transpose) && !inst.is(Opcode::Reshape))
      return std::nullopt;
    const Path &from = inst.operand_shape(0).dims, &to = inst.shape.dims;
    Path step;
    if (inst.is(Opcode::Reshape)) {
      if (kept(from) != kept(to)) return std::nullopt;
      step.resize(kept(to).size());
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

  // An iota of higher rank is a repeated one.
  static void forget_other_dims(const Instruction& iota, Path* source) {
    const int64_t counted = kept_number(iota.shape.dims, iota.dimensions[0]);
    for (int64_t& d : *source) d = d == counted && d >= 0 ? 0 : -1;
  }

  bool is_constant(Instruction* inst) {
    inst = look_through({inst, {}}).inst;
    if (const auto known = constant_.find(inst); known != constant_.end()) return known->second;
    const bool plain = !inst->has_side_effect() && inst->called.empty() && !inst->is(Opcode::Parameter) &&
                       !inst->is(Opcode::CustomCall) && inst->info().kind != OpKind::Rng &&
                       inst->shape.num_elements() <= 1 << 20;
    bool all = plain;
    for (size_t i = 0; all && i < inst->operands.size(); ++i) all = is_constant(inst->operands[i]);
    return constant_[inst] = all;
  }

  Instruction* copy_graph(Instruction* inst, Computation* to,
                          std::unordered_map<const Instruction*, Instruction*>* copies) {
    if (inst->is(Opcode::Parameter)) inst = look_through({inst, {}}).inst;
    if (const auto known = copies->find(inst); known != copies->end()) return known->second;
    std::vector<Instruction*> operands;
    for (Instruction* operand : inst->operands)
      operands.push_back(copy_graph(look_through({operand, {}}).inst, to, copies));
    return (*copies)[inst] = to->add_clone(*inst, std::move(operands));
  }

  bool step(Ref* ref) {
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
      case Opcode::Reshape:
      case Opcode::Convert:
      case Opcode::Slice:
        return compatible(inst->shape, inst->operand_shape(0)) && to(inst->operand(0));
      case Opcode::Broadcast:
      case Opcode::Transpose:
        return compatible(inst->shape, inst->operand_shape(0)) && is_identity(inst->dimensions) &&
               to(inst->operand(0));
      case Opcode::Pad:
        return compatible(inst->shape, inst->operand_shape(0)) && all_zero(inst->attrs().padding) &&
               to(inst->operand(0));
      case Opcode::DynamicSlice:
        return compatible(inst->shape, inst->operand_shape(0)) && to(inst->operand(0));
      case Opcode::Concatenate:
        if (Instruction* only = only_operand(*inst)) return to(only);
        return false;
      case Opcode::Select:
        if (const auto pred = splat({inst->operand(0), {}}))
          return to(inst->operand(pred->as_int64(0) ? 1 : 2));
        return false;
      case Opcode::Add:
      case Opcode::Subtract:
        return drop_neutral(inst, 0, ref);
      case Opcode::Multiply:
      case Opcode::Divide:
        return drop_neutral(inst, 1, ref);
      case Opcode::Or:
        return drop_neutral(inst, 0, ref);
      case Opcode::And:
        return drop_neutral(inst, inst->shape.dtype == Dtype::Pred ? 1 : -1, ref);
      default:
        return false;
    }
  }

  static bool all_zero(const std::vector<PaddingDim>& padding) {
    return std::all_of(padding.begin(), padding.end(), [](const PaddingDim& d) { return d == PaddingDim{}; });
  }

  // The operand of a concatenation whose others are empty.
  static Instruction* only_operand(const Instruction& inst) {
    Instruction* only = nullptr;
    for (Instruction* operand : inst.operands) {
      if (operand->shape.num_elements() == 0) continue;
      if (only) return nullptr;
      only = operand;
    }
    return only;
  }

  bool drop_neutral(Instruction* inst, int64_t neutral, Ref* ref) {
    if (is_complex(inst->shape.dtype)) return false;
    const bool right_only = inst->is(Opcode::Subtract) || inst->is(Opcode::Divide);
    for (int64_t i = 1; i >= (right_only ? 1 : 0); --i) {
      const std::optional<Literal> value = splat({inst->operand(i), {}});
      if (!value || value->as_double(0) != static_cast<double>(neutral)) continue;
      ref->inst = inst->operand(1 - i);
      return true;
    }
    return false;
  }

  // The loop hands this part of its state through unchanged.
  bool is_invariant(Instruction* loop, const Path& path) {
    if (path.empty()) return false;
    const auto key = std::make_pair(loop, path);
    if (const auto known = invariant_.find(key); known != invariant_.end()) return known->second;
    invariant_[key] = false;  // while it is found out, a parameter stays itself
    const Ref root = look_through({loop->while_body()->root(), path});
    return invariant_[key] = root.inst->is(Opcode::Parameter) && root.inst->parent == loop->while_body() &&
                             root.path == path;
  }

  std::unique_ptr<Module> module_;
  std::unordered_map<const Computation*, std::pair<Instruction*, size_t>> users_;
  std::map<std::pair<Instruction*, Path>, bool> invariant_;
  std::unordered_map<const Instruction*, bool> constant_;
  std::unordered_map<const Instruction*, std::optional<Literal>> constants_;
};

class Matcher {
 public:
  Matcher(const Module& a, const Module& b) : a_(a), b_(b) {}

  Equivalence run() {
    Equivalence result;
    const Ref x{a_.entry()->root(), {}}, y{b_.entry()->root(), {}};
    // One form may wrap a single result into a tuple.
    const bool wrapped =
        shape_of(x).is_tuple() && !shape_of(y).is_tuple() && shape_of(x).elements.size() == 1;
    result.equal = match(wrapped ? element(x, 0) : x, y);
    for (size_t i = 0; result.equal && i < holes_.size(); ++i) {
      const auto [expanded, op] = holes_[i];
      ++result.expanded[std::string(op.inst->info().mlir)];
      std::set<Ref> seen;
      result.equal = is_over_operands(expanded, *op.inst, &seen) ||
                     differ(expanded, op, "not an expansion over the same operands");
    }
    result.difference = difference_;
    result.pairs = static_cast<int64_t>(pairs_.size());
    return result;
  }

 private:
  bool differ(const Ref& x, const Ref& y, std::string_view why) {
    if (difference_.empty())
      difference_ = fmt::format("{} of {} and {} of {}: {}", describe(*x.inst), x.inst->parent->name(),
                                describe(*y.inst), y.inst->parent->name(), why);
    return false;
  }

  // Equal, or assumed to be while a loop around it is compared. A failed attempt leaves no assumption behind.
  bool match(Ref x, Ref y) {
    x = a_.look_through(std::move(x));
    y = b_.look_through(std::move(y));
    if (!pairs_.emplace(x, y).second) return true;
    trail_.emplace_back(x, y);
    const size_t mark = trail_.size() - 1;
    if (match_values(x, y)) return true;
    for (; trail_.size() > mark; trail_.pop_back()) pairs_.erase(trail_.back());
    return false;
  }

  bool match_values(const Ref& x, const Ref& y) {
    const Shape &shape_x = shape_of(x), &shape_y = shape_of(y);
    if (!compatible(shape_x, shape_y))
      return differ(x, y, fmt::format("shapes {} and {}", to_string(shape_x), to_string(shape_y)));
    if (shape_x.is_tuple()) {
      for (size_t i = 0; i < shape_x.elements.size(); ++i) {
        if (!match(element(x, static_cast<int64_t>(i)), element(y, static_cast<int64_t>(i)))) return false;
      }
      return true;
    }
    if (const auto value = a_.splat(x)) {
      const auto other = b_.splat(y);
      if (other && *value == *other) return true;
    }
    if (x.inst->opcode != y.inst->opcode || x.inst->is(Opcode::Concatenate)) {
      const std::optional<Literal> value = a_.constant(x), other = value ? b_.constant(y) : std::nullopt;
      if (value && other && *value == *other) return true;
    }
    return match_views(x, y);
  }

  // Shapes may differ in dimensions of size 1.
  bool match_views(const Ref& x, const Ref& y) {
    const Side::View left = a_.view(x), right = b_.view(y);
    if (left.sizes != right.sizes) return differ(x, y, "sizes");
    if (left.base == x && right.base == y) return match_plain(x, y);
    if (left.source != right.source) return differ(x, y, "views");
    return match_bases(left.base, right.base);
  }

  // Bases of views may differ in dimensions of size 1.
  bool match_bases(const Ref& x, const Ref& y) {
    if (compatible(shape_of(x), shape_of(y))) return match(x, y);
    const bool same_kept = shape_of(x).dtype == shape_of(y).dtype &&
                           Side::kept(shape_of(x).dims) == Side::kept(shape_of(y).dims);
    if (x.inst->opcode != y.inst->opcode) return differ(x, y, "bases of views");
    if (x.inst->is(Opcode::Iota)) {
      const auto count = [](const Ref& ref) {
        return ref.inst->shape.dims[static_cast<size_t>(ref.inst->dimensions[0])];
      };
      return (shape_of(x).dtype == shape_of(y).dtype && count(x) == count(y)) || differ(x, y, "counts");
    }
    if (!same_kept || !x.inst->is(Opcode::Reshape)) return differ(x, y, "bases of views");
    return match_loose({x.inst->operand(0), {}}, {y.inst->operand(0), {}});
  }

  bool match_loose(const Ref& x, const Ref& y) {
    const Ref left = a_.look_through(x), right = b_.look_through(y);
    return compatible(shape_of(left), shape_of(right)) ? match(left, right) : match_views(left, right);
  }

  bool match_plain(const Ref& x, const Ref& y) {
    if (x.inst->opcode != y.inst->opcode) {
      // The real or imaginary part of a complex function may be the expansion of both.
      const bool part = y.inst->is(Opcode::Real) || y.inst->is(Opcode::Imag);
      const Ref whole = part ? b_.look_through({y.inst->operand(0), {}}) : y;
      const std::string_view op = whole.inst->info().mlir;
      const bool complex_function =
          is_complex(whole.inst->shape.dtype) && whole.inst->info().kind == OpKind::Unary;
      if (op.starts_with("chlo.") || complex_function) {
        holes_.emplace_back(x, whole);
        return true;
      }
    }
    if (x.inst->opcode != y.inst->opcode) return differ(x, y, "opcodes");
    return match_ops(x, y);
  }

  bool match_ops(const Ref& x, const Ref& y) {
    Instruction &p = *x.inst, &q = *y.inst;
    switch (p.opcode) {
      case Opcode::Parameter:
        return match_parameters(x, y);
      case Opcode::While: {
        // One more pair of state elements: their first values and how the bodies go on.
        const bool known = !loops_.emplace(&p, &q).second;
        return match({p.operand(0), x.path}, {q.operand(0), y.path}) &&
               match({p.while_body()->root(), x.path}, {q.while_body()->root(), y.path}) &&
               (known || match({p.while_condition()->root(), {}}, {q.while_condition()->root(), {}}));
      }
      case Opcode::Conditional: {
        if (p.called.size() != q.called.size()) return differ(x, y, "numbers of branches");
        if (!match({p.operand(0), {}}, {q.operand(0), {}})) return false;
        for (size_t i = 0; i < p.called.size(); ++i) {
          if (!match({p.called[i]->root(), x.path}, {q.called[i]->root(), y.path})) return false;
        }
        return true;
      }
      case Opcode::OptBarrier:
        return match({p.operand(0), x.path}, {q.operand(0), y.path});
      case Opcode::Constant:
        return p.literal == q.literal || differ(x, y, "values");
      case Opcode::Reshape:
        return match_loose({p.operand(0), {}}, {q.operand(0), {}});
      default:
        break;
    }
    if (x.path != y.path) return differ(x, y, "positions of the result");
    return match_attributes(x, y) && match_operands(x, y);
  }

  bool match_parameters(const Ref& x, const Ref& y) {
    Instruction *loop = a_.region_user(*x.inst), *other = b_.region_user(*y.inst);
    if ((loop == nullptr) != (other == nullptr)) return differ(x, y, "one belongs to a loop");
    if (loop)
      return loops_.count({loop, other}) ? match({loop, x.path}, {other, y.path}) : differ(x, y, "loops");
    return (x.inst->index == y.inst->index && x.path == y.path) || differ(x, y, "parameter numbers");
  }

  bool match_operands(const Ref& x, const Ref& y) {
    const Instruction &p = *x.inst, &q = *y.inst;
    if (p.operands.size() != q.operands.size() || p.called.size() != q.called.size())
      return differ(x, y, "numbers of operands or computations");
    // Producers move constants to the right of commutative ops.
    const bool swapped =
        p.info().commutative && p.operands.size() == 2 &&
        a_.splat({p.operands[0], {}}).has_value() != b_.splat({q.operands[0], {}}).has_value();
    if (p.is(Opcode::Concatenate)) return match_parts(x, y);
    for (size_t i = 0; i < p.operands.size(); ++i) {
      const Ref left{p.operands[i], {}}, right{q.operands[swapped ? 1 - i : i], {}};
      // A scalar bound or predicate may be a repeated one.
      const bool scalar =
          (p.is(Opcode::Select) || p.is(Opcode::Clamp)) && shape_of(left).rank() != shape_of(right).rank();
      if (scalar ? !match_scalar(left, right) : !match(left, right)) return false;
    }
    for (size_t i = 0; i < p.called.size(); ++i) {
      if (!match({p.called[i]->root(), {}}, {q.called[i]->root(), {}})) return false;
    }
    return true;
  }

  bool match_scalar(const Ref& x, const Ref& y) {
    const Ref left = a_.view(x).base, right = b_.view(y).base;
    return shape_of(left).num_elements() == 1 && shape_of(right).num_elements() == 1 &&
           match_loose(left, right);
  }

  // Concatenations of concatenations are one.
  bool match_parts(const Ref& x, const Ref& y) {
    std::vector<Ref> left, right;
    a_.parts(*x.inst, &left);
    b_.parts(*y.inst, &right);
    if (left.size() != right.size()) return differ(x, y, "numbers of parts");
    for (size_t i = 0; i < left.size(); ++i) {
      if (!match(left[i], right[i])) return false;
    }
    return true;
  }

  bool match_attributes(const Ref& x, const Ref& y) {
    const Instruction &p = *x.inst, &q = *y.inst;
    if (p.dimensions != q.dimensions || p.direction != q.direction || p.compare_type != q.compare_type)
      return differ(x, y, "dimensions or comparison");
    Attributes left = p.attrs(), right = q.attrs();
    for (Attributes* a : {&left, &right}) {
      a->sharding.clear();
      a->frontend_attributes.clear();
      a->raw.clear();
      a->unknown_fields.clear();
    }
    return left == right ||
           differ(x, y, fmt::format("attributes {} and {}", attributes_text(p), attributes_text(q)));
  }

  // Every path down from `x` ends in an operand of `op` or in a constant.
  bool is_over_operands(Ref x, const Instruction& op, std::set<Ref>* seen) {
    x = a_.look_through(std::move(x));
    if (!seen->insert(x).second) return true;
    for (Instruction* operand : op.operands) {
      const size_t holes = holes_.size();
      std::string kept;
      kept.swap(difference_);
      const bool same = match(x, {operand, {}});
      kept.swap(difference_);
      if (same) return true;
      holes_.resize(holes);
    }
    if (x.inst->is(Opcode::Parameter) && !a_.region_user(*x.inst)) return x.inst->parent != a_.entry();
    for (Instruction* operand : x.inst->operands) {
      if (!is_over_operands({operand, {}}, op, seen)) return false;
    }
    return true;
  }

  Side a_, b_;
  std::set<std::pair<Ref, Ref>> pairs_;
  std::vector<std::pair<Ref, Ref>> trail_;
  std::set<std::pair<Instruction*, Instruction*>> loops_;
  std::vector<std::pair<Ref, Ref>> holes_;
  std::string difference_;
};

}  // namespace

Equivalence equivalent(const Module& a, const Module& b) { return Matcher(a, b).run(); }

}  // namespace ncc::hlo
