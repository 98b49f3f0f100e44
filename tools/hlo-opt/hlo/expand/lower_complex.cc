// Complex arithmetic on real and imaginary parts. Each op on complex values is replaced by ops on parts and
// one `complex` that joins the result; the next op takes the parts of such a join directly, so that joins
// stay only where a value leaves the computation (result, tuple, loop state) or an op without a rule takes
// it, and real/imag only where it enters. Data movement moves both parts; a contraction becomes four, a sum
// two. Source: spec/hlo-front-half.md §1.3, §3 (6); DESIGN §6.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "tools/hlo-opt/hlo/expand/parts.h"
#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

using hlo::CompareDirection;

Dtype part_type(Dtype dtype) { return dtype == Dtype::C128 ? Dtype::F64 : Dtype::F32; }

class Lowering {
 public:
  explicit Lowering(ComputationEditor& edit) : edit_(edit) {}

  // What `inst` becomes, or nullptr when it stays.
  Instruction* lowered(Instruction* inst) {
    if (const auto parts = complex_result(*inst)) return joined(*parts);
    const auto value = real_result(*inst);
    return value ? value->inst() : nullptr;
  }

 private:
  Parts parts(Instruction* z) {
    if (z->is(Opcode::Complex)) return {{edit_, z->operand(0)}, {edit_, z->operand(1)}};
    const auto found = split_.find(z);
    // A part that every user gave up is gone.
    if (found != split_.end() && !edit_.is_dead(found->second.re.inst()) &&
        !edit_.is_dead(found->second.im.inst()))
      return found->second;
    const Parts result{{edit_, edit_.apply(Opcode::Real, {z})}, {edit_, edit_.apply(Opcode::Imag, {z})}};
    split_.insert_or_assign(z, result);
    return result;
  }
  Parts parts(const Instruction& inst, int64_t i) { return parts(inst.operand(i)); }
  Instruction* joined(const Parts& z) { return edit_.apply(Opcode::Complex, {z.re.inst(), z.im.inst()}); }

  std::optional<Parts> complex_result(const Instruction& inst) {
    if (!inst.shape.is_array() || !is_complex(inst.shape.dtype)) return std::nullopt;
    switch (inst.opcode) {
      case Opcode::Constant:
        return constant(inst);
      case Opcode::Convert:
        return converted(inst);
      case Opcode::Select:
        return select_parts(inst);
      case Opcode::Dot:
      case Opcode::Convolution:
        return contraction(inst);
      case Opcode::Reduce:
        return sum(inst);
      case Opcode::Broadcast:
      case Opcode::Concatenate:
      case Opcode::Copy:
      case Opcode::DynamicSlice:
      case Opcode::DynamicUpdateSlice:
      case Opcode::Gather:
      case Opcode::Pad:
      case Opcode::Reshape:
      case Opcode::Reverse:
      case Opcode::Slice:
      case Opcode::Transpose:
        return moved(inst);
      default:
        return arithmetic(inst);
    }
  }

  std::optional<Parts> arithmetic(const Instruction& inst) {
    const auto unary_of = [&](Parts (*function)(const Parts&)) { return function(parts(inst, 0)); };
    switch (inst.opcode) {
      case Opcode::Add:
      case Opcode::Subtract:
        return by_part(inst);
      case Opcode::Negate:
        return by_part(inst);
      case Opcode::Multiply:
        return product(parts(inst, 0), parts(inst, 1));
      case Opcode::Divide:
        return quotient(parts(inst, 0), parts(inst, 1));
      case Opcode::Power:
        return power(parts(inst, 0), parts(inst, 1));
      case Opcode::Square:
        return product(parts(inst, 0), parts(inst, 0));
      case Opcode::Conj: {
        const Parts z = parts(inst, 0);
        return Parts{z.re, -z.im};
      }
      case Opcode::Rsqrt: {
        const Parts root = square_root(parts(inst, 0));
        return quotient({root.re.like(1), root.re.like(0)}, root);
      }
      case Opcode::Cbrt:
        return unary_of(cube_root);
      case Opcode::Cos:
        return unary_of(cosine);
      case Opcode::Cosh:
        return unary_of(hyperbolic_cosine);
      case Opcode::Exp:
        return unary_of(exponential);
      case Opcode::Expm1:
        return unary_of(exponential_minus_one);
      case Opcode::Log:
        return unary_of(logarithm);
      case Opcode::Log1p:
        return unary_of(logarithm_plus_one);
      case Opcode::Logistic:
        return unary_of(logistic);
      case Opcode::Sign:
        return unary_of(sign_of);
      case Opcode::Sin:
        return unary_of(sine);
      case Opcode::Sinh:
        return unary_of(hyperbolic_sine);
      case Opcode::Sqrt:
        return unary_of(square_root);
      case Opcode::Tan:
        return unary_of(tangent);
      case Opcode::Tanh:
        return unary_of(hyperbolic_tangent);
      default:
        return std::nullopt;
    }
  }

  // The op on each part alone.
  Parts by_part(const Instruction& inst) {
    std::vector<Instruction*> re, im;
    for (Instruction* operand : inst.operands) {
      const Parts z = parts(operand);
      re.push_back(z.re.inst());
      im.push_back(z.im.inst());
    }
    return {{edit_, edit_.apply(inst.opcode, re)}, {edit_, edit_.apply(inst.opcode, im)}};
  }

  Instruction* clone_as_part(const Instruction& inst, std::vector<Instruction*> operands) {
    Instruction* copy = edit_.clone(&inst, std::move(operands));
    copy->shape.dtype = part_type(inst.shape.dtype);
    return copy;
  }

  // Complex operands by part, index operands as they are.
  Parts moved(const Instruction& inst) {
    std::vector<Instruction*> re, im;
    for (Instruction* operand : inst.operands) {
      const bool split = is_complex(operand->shape.dtype);
      re.push_back(split ? parts(operand).re.inst() : operand);
      im.push_back(split ? parts(operand).im.inst() : operand);
    }
    return {{edit_, clone_as_part(inst, re)}, {edit_, clone_as_part(inst, im)}};
  }

  Parts constant(const Instruction& inst) {
    const Dtype type = part_type(inst.shape.dtype);
    const int64_t width = size_bytes(type), count = inst.shape.num_elements();
    Literal re = Literal::zeros(Shape::array(type, inst.shape.dims)), im = Literal::zeros(re.shape());
    const std::byte* from = inst.literal.bytes().data();
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(re.mutable_data() + i * width, from + 2 * i * width, static_cast<size_t>(width));
      std::memcpy(im.mutable_data() + i * width, from + (2 * i + 1) * width, static_cast<size_t>(width));
    }
    return {{edit_, edit_.constant(std::move(re))}, {edit_, edit_.constant(std::move(im))}};
  }

  Parts converted(const Instruction& inst) {
    const Dtype type = part_type(inst.shape.dtype);
    if (is_complex(inst.operand_shape(0).dtype)) {
      const Parts z = parts(inst, 0);
      return {z.re.to(type), z.im.to(type)};
    }
    const Value re = Value(edit_, inst.operand(0)).to(type);
    return {re, re.like(0)};
  }

  Parts select_parts(const Instruction& inst) {
    const Parts a = parts(inst, 1), b = parts(inst, 2);
    const Value predicate(edit_, inst.operand(0));
    return {select(predicate, a.re, b.re), select(predicate, a.im, b.im)};
  }

  std::optional<Parts> contraction(const Instruction& inst) {
    for (const Instruction* operand : inst.operands) {
      if (operand->shape.dtype != inst.shape.dtype) return std::nullopt;
    }
    const Parts a = parts(inst, 0), b = parts(inst, 1);
    const auto times = [&](Value x, Value y) {
      return Value(edit_, clone_as_part(inst, {x.inst(), y.inst()}));
    };
    return Parts{times(a.re, b.re) - times(a.im, b.im), times(a.re, b.im) + times(a.im, b.re)};
  }

  std::optional<Parts> sum(const Instruction& inst) {
    if (inst.num_operands() != 2 || binary_body(*inst.body()) != Opcode::Add ||
        inst.operand_shape(0).dtype != inst.shape.dtype || inst.operand_shape(1).dtype != inst.shape.dtype)
      return std::nullopt;
    const Parts x = parts(inst, 0), initial = parts(inst, 1);
    const auto part = [&](Value value, Value from) {
      return Value(edit_, edit_.reduce(value.inst(), from.inst(), inst.dimensions, Opcode::Add));
    };
    return Parts{part(x.re, initial.re), part(x.im, initial.im)};
  }

  // Ops from complex operands to other types.
  std::optional<Value> real_result(const Instruction& inst) {
    if (inst.num_operands() == 0 || !inst.operand_shape(0).is_array() ||
        !is_complex(inst.operand_shape(0).dtype) || !inst.shape.is_array())
      return std::nullopt;
    switch (inst.opcode) {
      case Opcode::Abs:
        return magnitude(parts(inst, 0));
      case Opcode::Real:
      case Opcode::Imag: {
        if (!inst.operand(0)->is(Opcode::Complex)) return std::nullopt;
        const Parts z = parts(inst, 0);
        return inst.is(Opcode::Real) ? z.re : z.im;
      }
      case Opcode::Convert: {
        const Value re = parts(inst, 0).re;
        return re.to(inst.shape.dtype);
      }
      case Opcode::Compare:
        return comparison(inst);
      default:
        return std::nullopt;
    }
  }

  // Equality of both parts; orders are lexicographic.
  Value comparison(const Instruction& inst) {
    const Parts a = parts(inst, 0), b = parts(inst, 1);
    if (inst.direction == CompareDirection::EQ) return equal(a.re, b.re) & equal(a.im, b.im);
    if (inst.direction == CompareDirection::NE) return not_equal(a.re, b.re) | not_equal(a.im, b.im);
    const bool below = inst.direction == CompareDirection::LT || inst.direction == CompareDirection::LE;
    const Value strict = below ? less(a.re, b.re) : greater(a.re, b.re);
    return strict | (equal(a.re, b.re) & compare(inst.direction, a.im, b.im));
  }

  ComputationEditor& edit_;
  std::unordered_map<Instruction*, Parts> split_;
};

}  // namespace

Status lower_complex(hlo::Module& module, PassContext& context) {
  for (Computation* computation : module.post_order()) {
    ComputationEditor edit(computation);
    Lowering lowering(edit);
    // Operands come first, and rules yield nothing that another rule takes apart: one visit each is enough.
    for (Instruction* inst : computation->post_order()) {
      const bool has_open_operand =
          std::any_of(inst->operands.begin(), inst->operands.end(),
                      [](const Instruction* operand) { return operand->shape.is_dynamic(); });
      if (edit.is_dead(inst) || edit.is_pinned(inst) || inst->shape.is_dynamic() || has_open_operand)
        continue;
      edit.set_location(inst->loc);
      if (Instruction* value = lowering.lowered(inst)) edit.replace(inst, value);
    }
    context.changes += edit.changes();
    NCC_TRY(edit.finish());
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
