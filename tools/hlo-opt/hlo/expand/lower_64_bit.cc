// 64-bit integer arithmetic on pairs of 32-bit words, both u32. As in lower-complex, each op with a rule is
// replaced by ops on words and one join; the next op takes the words of a join directly, so that 64-bit
// values stay where they enter or leave the computation and at ops without a rule (conversions from and to
// floats, contractions, indices, …). Division is a loop over 64 bits, a reduction folds halves onto each
// other.
//   split: bitcast-convert to u32[…, 2], word 0 the lower one;  join: the words side by side, bitcast-convert
//   back
// Source: spec/hlo-front-half.md §3 (25), §8; DESIGN §6.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "tools/hlo-opt/hlo/expand/wide_words.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

using hlo::CompareDirection;

bool is_wide(const Shape& shape) {
  return shape.is_array() && (shape.dtype == Dtype::S64 || shape.dtype == Dtype::U64) && !shape.quantization;
}

bool has_open_sizes(const Instruction& inst) {
  return inst.shape.is_dynamic() ||
         std::any_of(inst.operands.begin(), inst.operands.end(),
                     [](const Instruction* operand) { return operand->shape.is_dynamic(); });
}

// Ops whose folds have a form on words.
bool folds_by_words(Opcode op) {
  switch (op) {
    case Opcode::Add:
    case Opcode::Multiply:
    case Opcode::Maximum:
    case Opcode::Minimum:
    case Opcode::And:
    case Opcode::Or:
    case Opcode::Xor:
      return true;
    default:
      return false;
  }
}

// Reductions of one 64-bit array by one op, found before their bodies are lowered themselves.
using Folds = std::unordered_map<const Instruction*, Opcode>;

Folds folds_of(const hlo::Module& module) {
  Folds folds;
  for (const auto& computation : module.computations()) {
    for (const auto& inst : computation->instructions()) {
      if (!inst->is(Opcode::Reduce) || inst->num_operands() != 2 || !is_wide(inst->shape) ||
          inst->operand_shape(0).dtype != inst->shape.dtype ||
          inst->body()->root()->shape.dtype != inst->shape.dtype)
        continue;
      const auto op = binary_body(*inst->body());
      if (op && folds_by_words(*op)) folds[inst.get()] = *op;
    }
  }
  return folds;
}

class Lowering {
 public:
  Lowering(ComputationEditor& edit, const Folds& folds) : edit_(edit), folds_(folds) {}

  Instruction* lowered(Instruction* inst) {
    if (is_wide(inst->shape)) {
      const auto words = wide_result(*inst);
      return words ? joined(*words, inst->shape.dtype) : nullptr;
    }
    const auto value = narrow_result(*inst);
    return value ? value->inst() : nullptr;
  }

 private:
  Pair words(Instruction* value) {
    const auto found = words_.find(value);
    if (found != words_.end() && !edit_.is_dead(found->second.low.inst()) &&
        !edit_.is_dead(found->second.high.inst()))
      return found->second;
    Dims pairs = value->shape.dims, starts(pairs.size() + 1, 0);
    pairs.push_back(2);
    Instruction* both = edit_.add(Opcode::BitcastConvert, Shape::array(Dtype::U32, pairs), {value});
    const auto word = [&](int64_t i) {
      Dims limits = pairs;
      starts.back() = i;
      limits.back() = i + 1;
      return Value(edit_, edit_.reshape(edit_.slice(both, starts, limits), value->shape.dims));
    };
    const Pair result{word(0), word(1)};
    words_.insert_or_assign(value, result);
    return result;
  }
  Pair words(const Instruction& inst, int64_t i) { return words(inst.operand(i)); }

  Instruction* joined(const Pair& value, Dtype dtype) {
    Dims separate = value.low.shape().dims;
    const auto last = static_cast<int64_t>(separate.size());
    separate.push_back(1);
    Instruction* both = edit_.concatenate(
        {edit_.reshape(value.low.inst(), separate), edit_.reshape(value.high.inst(), separate)}, last);
    Instruction* join =
        edit_.add(Opcode::BitcastConvert, Shape::array(dtype, value.low.shape().dims), {both});
    words_.insert_or_assign(join, value);
    return join;
  }

  std::optional<Pair> wide_result(const Instruction& inst) {
    const bool is_signed = inst.shape.dtype == Dtype::S64;
    switch (inst.opcode) {
      case Opcode::Add:
      case Opcode::Multiply:
      case Opcode::Maximum:
      case Opcode::Minimum:
        return combined(inst.opcode, words(inst, 0), words(inst, 1), is_signed);
      case Opcode::Subtract:
        return minus(words(inst, 0), words(inst, 1));
      case Opcode::Negate:
        return negative(words(inst, 0));
      case Opcode::Abs: {
        const Pair a = words(inst, 0);
        return is_signed ? choose(not_equal(sign_mask(a.high), 0), negative(a), a) : a;
      }
      case Opcode::And:
      case Opcode::Or:
      case Opcode::Xor:
      case Opcode::Not:
        return by_word(inst);
      case Opcode::ShiftLeft:
        return shifted_left(words(inst, 0), words(inst, 1));
      case Opcode::ShiftRightLogical:
        return shifted_right(words(inst, 0), words(inst, 1), false);
      case Opcode::ShiftRightArithmetic:
        return shifted_right(words(inst, 0), words(inst, 1), true);
      case Opcode::Select: {
        const Pair a = words(inst, 1), b = words(inst, 2);
        return choose({edit_, inst.operand(0)}, a, b);
      }
      case Opcode::Convert:
        return widened(inst);
      case Opcode::Constant:
        return constant(inst);
      case Opcode::Iota: {
        const Value low(edit_, edit_.iota(Dtype::U32, inst.shape.dims, inst.dimensions[0]));
        return Pair{low, low.like(0)};
      }
      case Opcode::Divide:
        return divided(words(inst, 0), words(inst, 1), is_signed).quotient;
      case Opcode::Remainder:
        return divided(words(inst, 0), words(inst, 1), is_signed).remainder;
      case Opcode::Sign: {
        const Pair a = words(inst, 0);
        const Value mask = is_signed ? sign_mask(a.high) : a.high.like(0);
        return Pair{mask | (~is_zero(a)).to(Dtype::U32), mask};
      }
      case Opcode::Clamp:
        return clamped(inst, is_signed);
      case Opcode::Popcnt: {
        const Pair a = words(inst, 0);
        return Pair{unary(Opcode::Popcnt, a.low) + unary(Opcode::Popcnt, a.high), a.low.like(0)};
      }
      case Opcode::Clz: {
        const Pair a = words(inst, 0);
        const Value low = unary(Opcode::Clz, a.low) + 32.0, high = unary(Opcode::Clz, a.high);
        return Pair{select(equal(a.high, 0), low, high), a.low.like(0)};
      }
      case Opcode::Reduce:
        return reduced(inst, is_signed);
      case Opcode::DynamicSlice:
      case Opcode::Gather:
        return moved(inst, 1);
      case Opcode::DynamicUpdateSlice:
        return moved(inst, 2);
      case Opcode::Broadcast:
      case Opcode::Concatenate:
      case Opcode::Copy:
      case Opcode::Pad:
      case Opcode::Reshape:
      case Opcode::Reverse:
      case Opcode::Slice:
      case Opcode::Transpose:
        return moved(inst, inst.operands.size());
      default:
        return std::nullopt;
    }
  }

  Pair clamped(const Instruction& inst, bool is_signed) {
    const auto bound = [&](int64_t i) {
      const Pair scalar = words(inst, i);
      const auto spread = [&](Value word) {
        return Value(edit_, edit_.broadcast_scalar(word.inst(), inst.shape.dims));
      };
      return inst.operand_shape(i).dims == inst.shape.dims ? scalar
                                                           : Pair{spread(scalar.low), spread(scalar.high)};
    };
    const Pair least = bound(0), most = bound(2), x = words(inst, 1);
    const Pair raised = choose(below(x, least, is_signed), least, x);
    return choose(below(most, raised, is_signed), most, raised);
  }

  // A reduction in halves, log2(n) elementwise steps: the order does not matter to integers.
  std::optional<Pair> reduced(const Instruction& inst, bool is_signed) {
    const auto fold = folds_.find(&inst);
    if (fold == folds_.end()) return std::nullopt;
    const Dims& sizes = inst.operand_shape(0).dims;
    const auto is_reduced = [&](int64_t d) {
      return std::find(inst.dimensions.begin(), inst.dimensions.end(), d) != inst.dimensions.end();
    };
    Dims order;
    for (int64_t d = 0; d < inst.operand_shape(0).rank(); ++d)
      if (!is_reduced(d)) order.push_back(d);
    int64_t count = 1;
    for (int64_t d : inst.dimensions) count *= sizes[static_cast<size_t>(d)];
    order.insert(order.end(), inst.dimensions.begin(), inst.dimensions.end());
    Dims lines = inst.shape.dims;
    lines.push_back(count);
    Pair x = each_word(words(inst, 0),
                       [&](Instruction* word) { return edit_.reshape(edit_.transpose(word, order), lines); });
    const Pair initial = each_word(
        words(inst, 1), [&](Instruction* word) { return edit_.broadcast_scalar(word, inst.shape.dims); });
    if (count == 0) return initial;
    while (lines.back() > 1) {
      const int64_t half = lines.back() / 2, rest = lines.back() % 2;
      const auto part = [&](int64_t first, int64_t last) {
        Dims starts(lines.size(), 0), limits = lines;
        starts.back() = first;
        limits.back() = last;
        return each_word(x, [&](Instruction* word) { return edit_.slice(word, starts, limits); });
      };
      const Pair folded = combined(fold->second, part(0, half), part(half, 2 * half), is_signed);
      const auto last = static_cast<int64_t>(lines.size()) - 1;
      if (rest == 0) {
        x = folded;
      } else {
        const Pair left = part(2 * half, lines.back());
        x = {{edit_, edit_.concatenate({folded.low.inst(), left.low.inst()}, last)},
             {edit_, edit_.concatenate({folded.high.inst(), left.high.inst()}, last)}};
      }
      lines.back() = half + rest;
    }
    x = each_word(x, [&](Instruction* word) { return edit_.reshape(word, inst.shape.dims); });
    return combined(fold->second, initial, x, is_signed);
  }

  template <class Move>
  Pair each_word(const Pair& a, const Move& move) {
    return {{edit_, move(a.low.inst())}, {edit_, move(a.high.inst())}};
  }

  // Of ops that fold by words.
  static Pair combined(Opcode op, const Pair& a, const Pair& b, bool is_signed) {
    switch (op) {
      case Opcode::Add:
        return plus(a, b);
      case Opcode::Multiply:
        return times(a, b);
      case Opcode::Maximum:
        return choose(below(a, b, is_signed), b, a);
      case Opcode::Minimum:
        return choose(below(a, b, is_signed), a, b);
      default:
        return {binary(op, a.low, b.low), binary(op, a.high, b.high)};
    }
  }

  Pair by_word(const Instruction& inst) {
    std::vector<Instruction*> low, high;
    for (Instruction* operand : inst.operands) {
      const Pair a = words(operand);
      low.push_back(a.low.inst());
      high.push_back(a.high.inst());
    }
    return {{edit_, edit_.apply(inst.opcode, low)}, {edit_, edit_.apply(inst.opcode, high)}};
  }

  // The first operands are data, the others say where it goes.
  Pair moved(const Instruction& inst, size_t data) {
    std::vector<Instruction*> low = inst.operands, high = inst.operands;
    for (size_t i = 0; i < data; ++i) {
      const Pair a = words(inst.operands[i]);
      low[i] = a.low.inst();
      high[i] = a.high.inst();
    }
    const auto copy = [&](std::vector<Instruction*> operands) {
      Instruction* clone = edit_.clone(&inst, std::move(operands));
      clone->shape.dtype = Dtype::U32;
      return Value(edit_, clone);
    };
    return {copy(low), copy(high)};
  }

  std::optional<Pair> widened(const Instruction& inst) {
    const Dtype from = inst.operand_shape(0).dtype;
    if (is_wide(inst.operand_shape(0))) return words(inst, 0);
    if (from != Dtype::Pred && !is_integer(from)) return std::nullopt;
    if (info(from).bits < 8 && from != Dtype::Pred) return std::nullopt;
    const Value x(edit_, inst.operand(0));
    if (!is_signed_int(from)) {
      const Value low = x.to(Dtype::U32);
      return Pair{low, low.like(0)};
    }
    const Value low = x.to(Dtype::S32).bits_as(Dtype::U32);
    return Pair{low, sign_mask(low)};
  }

  Pair constant(const Instruction& inst) {
    const int64_t count = inst.shape.num_elements();
    Literal low = Literal::zeros(Shape::array(Dtype::U32, inst.shape.dims)),
            high = Literal::zeros(low.shape());
    for (int64_t i = 0; i < count; ++i) {
      const auto value = inst.literal.at<uint64_t>(i);
      store_from_int64(Dtype::U32, low.mutable_data() + 4 * i, static_cast<int64_t>(value & 0xFFFFFFFF));
      store_from_int64(Dtype::U32, high.mutable_data() + 4 * i, static_cast<int64_t>(value >> 32));
    }
    return {{edit_, edit_.constant(std::move(low))}, {edit_, edit_.constant(std::move(high))}};
  }

  // Ops from 64-bit operands to other types.
  std::optional<Value> narrow_result(const Instruction& inst) {
    if (inst.num_operands() == 0 || !is_wide(inst.operand_shape(0)) || !inst.shape.is_array())
      return std::nullopt;
    if (inst.is(Opcode::Compare)) return comparison(inst);
    if (!inst.is(Opcode::Convert)) return std::nullopt;
    const Dtype to = inst.shape.dtype;
    const Pair a = words(inst, 0);
    if (to == Dtype::Pred) return not_equal(a.low | a.high, 0);
    if (!is_integer(to) || info(to).bits < 8) return std::nullopt;
    return to == Dtype::S32 ? a.low.bits_as(to) : a.low.to(to);
  }

  Value comparison(const Instruction& inst) {
    const Pair a = words(inst, 0), b = words(inst, 1);
    const bool is_signed = inst.operand_shape(0).dtype == Dtype::S64;
    switch (inst.direction) {
      case CompareDirection::EQ:
        return equal(a.low, b.low) & equal(a.high, b.high);
      case CompareDirection::NE:
        return not_equal(a.low, b.low) | not_equal(a.high, b.high);
      case CompareDirection::LT:
        return below(a, b, is_signed);
      case CompareDirection::GT:
        return below(b, a, is_signed);
      case CompareDirection::GE:
        return ~below(a, b, is_signed);
      default:
        return ~below(b, a, is_signed);
    }
  }

  ComputationEditor& edit_;
  const Folds& folds_;
  std::unordered_map<Instruction*, Pair> words_;
};

}  // namespace

Status lower_64_bit(hlo::Module& module, PassContext& context) {
  const Folds folds = folds_of(module);
  for (Computation* computation : module.post_order()) {
    ComputationEditor edit(computation);
    Lowering lowering(edit, folds);
    // Operands come first: one visit each is enough.
    for (Instruction* inst : computation->post_order()) {
      if (edit.is_dead(inst) || edit.is_pinned(inst) || has_open_sizes(*inst)) continue;
      edit.set_location(inst->loc);
      if (Instruction* value = lowering.lowered(inst)) edit.replace(inst, value);
    }
    context.changes += edit.changes();
    NCC_TRY(edit.finish());
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
