#include "tests/forms/equivalence.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "ir-formats/hlo/print_attributes.h"
#include "tests/forms/program_view.h"

namespace ncc::hlo {
namespace {

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
    if (shape_x.is_array() && shape_x.num_elements() == 0) return true;
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
    const ProgramView::Chain left = a_.chain(x), right = b_.chain(y);
    if (left.sizes != right.sizes) return differ(x, y, "sizes");
    if (left.base == x && right.base == y) return match_plain(x, y);
    if (left.source != right.source) return differ(x, y, "views");
    return match_bases(left.base, right.base);
  }

  // Bases of views may differ in dimensions of size 1.
  bool match_bases(const Ref& x, const Ref& y) {
    if (compatible(shape_of(x), shape_of(y))) return match(x, y);
    const bool same_kept = shape_of(x).dtype == shape_of(y).dtype &&
                           sizes_above_one(shape_of(x).dims) == sizes_above_one(shape_of(y).dims);
    if (same_kept) {
      const std::optional<Literal> value = a_.constant(x), other = value ? b_.constant(y) : std::nullopt;
      if (value && other && std::ranges::equal(value->bytes(), other->bytes())) return true;
    }
    if (x.inst->opcode != y.inst->opcode) return differ(x, y, "bases of views");
    if (x.inst->is(Opcode::Iota)) {
      const auto count = [](const Ref& ref) {
        return ref.inst->shape.dims[static_cast<size_t>(ref.inst->dimensions[0])];
      };
      return (shape_of(x).dtype == shape_of(y).dtype && count(x) == count(y)) || differ(x, y, "counts");
    }
    if (!same_kept || !x.inst->is(Opcode::Reshape)) return differ(x, y, "bases of views");
    return match_loose(a_.below_reshapes(x), b_.below_reshapes(y));
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
    if (x.inst->is(Opcode::Slice) && y.inst->is(Opcode::DynamicSlice)) return match_fixed_slice(x, y);
    if (x.inst->is(Opcode::Concatenate) && y.inst->is(Opcode::Slice)) {
      std::vector<Ref> taken;
      return b_.whole_parts(*y.inst, x.inst->dimensions[0], &taken) ? match_parts(x, y, taken)
                                                                    : differ(x, y, "parts");
    }
    if (x.inst->is(Opcode::Compare) && y.inst->is(Opcode::Or)) return match_comparison(x, y);
    if (x.inst->opcode != y.inst->opcode) return differ(x, y, "opcodes");
    return match_ops(x, y);
  }

  // A dynamic slice whose starts are known is a slice.
  bool match_fixed_slice(const Ref& x, const Ref& y) {
    const Instruction &slice = *x.inst, &dynamic = *y.inst;
    const Attributes& attributes = slice.attrs();
    for (size_t d = 0; d < slice.shape.dims.size(); ++d) {
      const std::optional<Literal> start = b_.splat({dynamic.operand(static_cast<int64_t>(d) + 1), {}});
      const int64_t last = dynamic.operand_shape(0).dims[d] - dynamic.shape.dims[d];
      if (!start || attributes.slice_strides[d] != 1 ||
          attributes.slice_starts[d] != std::clamp<int64_t>(start->as_int64(0), 0, last))
        return differ(x, y, "starts");
    }
    return match({slice.operand(0), {}}, {dynamic.operand(0), {}});
  }

  // less or equal is one comparison or two.
  bool match_comparison(const Ref& x, const Ref& y) {
    const std::optional<ProgramView::Comparison> one = a_.comparison(x), other = b_.comparison(y);
    if (!one || !other || one->holds != other->holds) return differ(x, y, "comparisons");
    return match({one->inst->operand(0), {}}, {other->inst->operand(0), {}}) &&
           match({one->inst->operand(1), {}}, {other->inst->operand(1), {}});
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
        return match_loose(a_.below_reshapes(x), b_.below_reshapes(y));
      case Opcode::Concatenate:
        return p.dimensions == q.dimensions ? match_parts(x, y) : differ(x, y, "dimensions");
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
    bool swapped = false;
    if (p.info().commutative && p.operands.size() == 2) {
      const auto fixed = [](ProgramView& view, Instruction* operand) {
        return view.splat({operand, {}}).has_value() ||
               view.constancy(operand) != ProgramView::Constancy::Varies;
      };
      const bool left[] = {fixed(a_, p.operands[0]), fixed(a_, p.operands[1])};
      const bool right[] = {fixed(b_, q.operands[0]), fixed(b_, q.operands[1])};
      swapped = left[0] != right[0];
      if ((left[0] && left[1]) || (right[0] && right[1]))
        swapped = !try_match({p.operands[0], {}}, {q.operands[0], {}});
    }
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
    const Ref left = a_.chain(x).base, right = b_.chain(y).base;
    return shape_of(left).num_elements() == 1 && shape_of(right).num_elements() == 1 &&
           match_loose(left, right);
  }

  // Concatenations of concatenations are one.
  bool match_parts(const Ref& x, const Ref& y) {
    std::vector<Ref> right;
    b_.parts(*y.inst, &right);
    return match_parts(x, y, right);
  }

  bool match_parts(const Ref& x, const Ref& y, const std::vector<Ref>& right) {
    std::vector<Ref> left;
    a_.parts(*x.inst, &left);
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

  // Leaves no trace where it fails.
  bool try_match(const Ref& x, const Ref& y) {
    const size_t holes = holes_.size();
    std::string kept;
    kept.swap(difference_);
    const bool same = match(x, y);
    kept.swap(difference_);
    if (!same) holes_.resize(holes);
    return same;
  }

  // Every path down from `x` ends in an operand of `op`, a part of a complex one, or in a constant.
  bool is_over_operands(Ref x, const Instruction& op, std::set<Ref>* seen) {
    x = a_.look_through(std::move(x));
    if (!seen->insert(x).second) return true;
    for (Instruction* operand : op.operands) {
      const Ref whole = b_.look_through({operand, {}});
      if (try_match(x, whole)) return true;
      if (!whole.path.empty() || !whole.inst->is(Opcode::Complex)) continue;
      if (try_match(x, {whole.inst->operand(0), {}}) || try_match(x, {whole.inst->operand(1), {}}))
        return true;
    }
    if (x.inst->is(Opcode::Parameter) && !a_.region_user(*x.inst)) return x.inst->parent != a_.entry();
    for (Instruction* operand : x.inst->operands) {
      if (!is_over_operands({operand, {}}, op, seen)) return false;
    }
    return true;
  }

  ProgramView a_, b_;
  std::set<std::pair<Ref, Ref>> pairs_;
  std::vector<std::pair<Ref, Ref>> trail_;
  std::set<std::pair<Instruction*, Instruction*>> loops_;
  std::vector<std::pair<Ref, Ref>> holes_;
  std::string difference_;
};

}  // namespace

Equivalence equivalent(const Module& a, const Module& b) { return Matcher(a, b).run(); }

}  // namespace ncc::hlo
