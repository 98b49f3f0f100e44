// 64-bit integer arithmetic on pairs of 32-bit words, both u32. As in lower-complex, each op with a rule is
// replaced by ops on words and one join; the next op takes the words of a join directly, so that 64-bit
// values stay where they enter or leave the computation and at ops without a rule (division, sums of
// reductions, gathers' indices, …).
//   split: bitcast-convert to u32[…, 2], word 0 the lower one;  join: the words side by side, bitcast-convert
//   back
// Source: spec/hlo-front-half.md §3 (25), §8; DESIGN §6.
#include <optional>
#include <unordered_map>

#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

using hlo::CompareDirection;

struct Pair {
  Value low, high;
};

bool is_wide(const Shape& shape) {
  return shape.is_array() && (shape.dtype == Dtype::S64 || shape.dtype == Dtype::U64) && !shape.quantization;
}

Value as_word(Value predicate) { return predicate.to(Dtype::U32); }
// All ones where the sign bit of the word is set.
Value sign_mask(Value high) { return shift_right_signed(high, 31.0); }

Pair plus(const Pair& a, const Pair& b) {
  const Value low = a.low + b.low;
  return {low, a.high + b.high + as_word(less(low, a.low))};
}

Pair minus(const Pair& a, const Pair& b) {
  return {a.low - b.low, a.high - b.high - as_word(less(a.low, b.low))};
}

Pair negative(const Pair& a) { return minus({a.low.like(0), a.low.like(0)}, a); }

// The upper word of a product of words, from 16-bit halves.
Value upper_product(Value a, Value b) {
  const Value al = a & 65535.0, ah = shift_right(a, 16.0), bl = b & 65535.0, bh = shift_right(b, 16.0);
  const Value ll = al * bl, lh = al * bh, hl = ah * bl;
  const Value middle = shift_right(ll, 16.0) + (lh & 65535.0) + (hl & 65535.0);
  return ah * bh + shift_right(lh, 16.0) + shift_right(hl, 16.0) + shift_right(middle, 16.0);
}

Pair times(const Pair& a, const Pair& b) {
  return {a.low * b.low, upper_product(a.low, b.low) + a.low * b.high + a.high * b.low};
}

Pair choose(Value predicate, const Pair& a, const Pair& b) {
  return {select(predicate, a.low, b.low), select(predicate, a.high, b.high)};
}

// Amounts of 32 and more are shifts of a word by themselves: 32-bit shifts by 32 and more give 0, and so does
// a negative difference, read as unsigned.
Pair shifted_left(const Pair& a, const Pair& by) {
  const Value n = by.low, rest = 32.0 - n;
  const Value high = (a.high << n) | shift_right(a.low, rest) | (a.low << (n - 32.0));
  const Value in_range = equal(by.high, 0);
  const Pair result{a.low << n, select(equal(n, 0), a.high, high)};
  return choose(in_range, result, {n.like(0), n.like(0)});
}

Pair shifted_right(const Pair& a, const Pair& by, bool is_signed) {
  const Value n = by.low, rest = 32.0 - n;
  const Value fill = is_signed ? sign_mask(a.high) : a.high.like(0);
  const Value from_high = is_signed ? select(less(n, 32.0), n.like(0), shift_right_signed(a.high, n - 32.0))
                                    : shift_right(a.high, n - 32.0);
  const Value low = select(less(n, 32.0), shift_right(a.low, n) | (a.high << rest), from_high);
  const Value high = is_signed ? shift_right_signed(a.high, n) : shift_right(a.high, n);
  const Pair result{select(equal(n, 0), a.low, low), high};
  return choose(equal(by.high, 0), result, {fill, fill});
}

// a < b of signed or unsigned pairs: the sign bit is turned for signed ones.
Value below(const Pair& a, const Pair& b, bool is_signed) {
  const double turn = is_signed ? 2147483648.0 : 0.0;
  const Value ah = a.high ^ turn, bh = b.high ^ turn;
  return less(ah, bh) | (equal(ah, bh) & less(a.low, b.low));
}

class Lowering {
 public:
  explicit Lowering(ComputationEditor& edit) : edit_(edit) {}

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
        return plus(words(inst, 0), words(inst, 1));
      case Opcode::Subtract:
        return minus(words(inst, 0), words(inst, 1));
      case Opcode::Multiply:
        return times(words(inst, 0), words(inst, 1));
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
      case Opcode::Maximum:
      case Opcode::Minimum: {
        const Pair a = words(inst, 0), b = words(inst, 1);
        const Value a_below = below(a, b, is_signed);
        return inst.is(Opcode::Maximum) ? choose(a_below, b, a) : choose(a_below, a, b);
      }
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
      case Opcode::Broadcast:
      case Opcode::Concatenate:
      case Opcode::Copy:
      case Opcode::Pad:
      case Opcode::Reshape:
      case Opcode::Reverse:
      case Opcode::Slice:
      case Opcode::Transpose:
        return moved(inst);
      default:
        return std::nullopt;
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

  Pair moved(const Instruction& inst) {
    std::vector<Instruction*> low, high;
    for (Instruction* operand : inst.operands) {
      const Pair a = words(operand);
      low.push_back(a.low.inst());
      high.push_back(a.high.inst());
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
  std::unordered_map<Instruction*, Pair> words_;
};

}  // namespace

Status lower_64_bit(hlo::Module& module, PassContext& context) {
  for (Computation* computation : module.post_order()) {
    ComputationEditor edit(computation);
    Lowering lowering(edit);
    // Operands come first: one visit each is enough.
    for (Instruction* inst : computation->post_order()) {
      if (edit.is_dead(inst) || edit.is_pinned(inst) || inst->shape.is_dynamic()) continue;
      edit.set_location(inst->loc);
      if (Instruction* value = lowering.lowered(inst)) edit.replace(inst, value);
    }
    context.changes += edit.changes();
    NCC_TRY(edit.finish());
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
