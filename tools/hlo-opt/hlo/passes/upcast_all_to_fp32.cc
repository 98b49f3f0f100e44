// Everything that is computed in a floating-point type is computed in f32: f64, bf16, f16 and the smaller
// types become f32, complex f64 becomes complex f32, in values, constants and the computations that ops
// apply. At the edges the types stay what the program says: parameters are converted where they come in,
// results where they go out. So are operands and results of ops whose meaning depends on the type
// (bitcast-convert, next-after, custom-calls, ops that talk to the host, …). Explicit roundings to a narrower
// type inside go with the type (reduce-precision stays), and so does what a dot says about its algorithm.
//   The edges are built first, as conversions from a type to itself; then types change everywhere but there.
// Integers, pred and quantized values are untouched. Source: spec/hlo-front-half.md §4.14, spec/driver.md
// §1.5.
#include <algorithm>
#include <unordered_set>

#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

Dtype wide_type(Dtype dtype) {
  if (is_float(dtype)) return Dtype::F32;
  return dtype == Dtype::C128 ? Dtype::C64 : dtype;
}

bool changes_type(const Shape& shape) {
  if (shape.is_tuple()) return std::any_of(shape.elements.begin(), shape.elements.end(), changes_type);
  return shape.is_array() && !shape.quantization && wide_type(shape.dtype) != shape.dtype;
}

void widen(Shape& shape) {
  for (Shape& element : shape.elements) widen(element);
  if (changes_type(shape) && !shape.is_tuple()) shape.dtype = wide_type(shape.dtype);
}

Literal widened(const Literal& literal) {
  if (literal.is_tuple()) {
    std::vector<Literal> elements;
    for (const Literal& element : literal.elements()) elements.push_back(widened(element));
    return Literal::make_tuple(std::move(elements));
  }
  if (!changes_type(literal.shape())) return literal;
  Shape shape = literal.shape();
  widen(shape);
  Literal result = Literal::zeros(shape);
  const Dtype from = is_complex(shape.dtype) ? Dtype::F64 : literal.shape().dtype;
  const int64_t parts = is_complex(shape.dtype) ? 2 : 1, width = size_bytes(from);
  float* to = reinterpret_cast<float*>(result.mutable_data());
  for (int64_t i = 0; i < parts * shape.num_elements(); ++i)
    to[i] = static_cast<float>(load_as_double(from, literal.bytes().data() + i * width));
  return result;
}

/// Ops that read or make the bits of a type, or hand values to somebody outside.
bool has_own_types(const Instruction& inst) {
  switch (inst.opcode) {
    case Opcode::BitcastConvert:
    case Opcode::NextAfter:
    case Opcode::StochasticConvert:
    case Opcode::ScaledDot:
    case Opcode::CustomCall:
    case Opcode::Infeed:
    case Opcode::Outfeed:
    case Opcode::Send:
    case Opcode::SendDone:
    case Opcode::Recv:
    case Opcode::RecvDone:
    case Opcode::UniformQuantize:
    case Opcode::UniformDequantize:
      return true;
    default:
      return false;
  }
}

class Upcast {
 public:
  explicit Upcast(hlo::Module& module) : module_(module) {}

  Status run(int64_t& changes) {
    for (Computation* computation : module_.post_order()) NCC_TRY(build_edges(computation));
    for (Computation* computation : module_.post_order()) {
      if (foreign_.contains(computation)) continue;
      for (const auto& inst : computation->instructions()) changes += retype(inst.get());
    }
    if (changes == 0) return Status::ok();
    return rewrite_each(module_, changes, [](ComputationEditor&, Instruction* inst) {
      const bool is_identity = inst->is(Opcode::Convert) && compatible(inst->shape, inst->operand_shape(0));
      return is_identity ? inst->operand(0) : nullptr;
    });
  }

 private:
  Status build_edges(Computation* computation) {
    if (foreign_.contains(computation)) return Status::ok();
    ComputationEditor edit(computation);
    for (Instruction* inst : computation->post_order()) {
      edit.set_location(inst->loc);
      if (has_own_types(*inst)) {
        for (int64_t slot = 0; slot < inst->num_operands(); ++slot)
          if (changes_type(inst->operand_shape(slot)))
            edit.set_operand(inst, slot, leaving(edit, inst->operand(slot)));
        keep(inst);
      }
      const bool comes_in =
          has_own_types(*inst) || (inst->is(Opcode::Parameter) && computation == module_.entry());
      if (!comes_in || !changes_type(inst->shape)) continue;
      kept_.insert(inst);
      const std::vector<Instruction*> users = edit.users(inst);
      const bool is_root = computation->root() == inst;
      Instruction* value = entering(edit, inst);
      for (Instruction* user : users)
        for (int64_t slot = 0; slot < user->num_operands(); ++slot)
          if (user->operand(slot) == inst) edit.set_operand(user, slot, value);
      if (is_root) edit.set_root(value);
    }
    if (computation == module_.entry() && changes_type(computation->root()->shape))
      edit.set_root(leaving(edit, computation->root()));
    return edit.finish();
  }

  /// The computations that an op with types of its own calls are its own as well.
  void keep(Instruction* inst) {
    kept_.insert(inst);
    for (Computation* callee : inst->called) {
      if (!foreign_.insert(callee).second) continue;
      for (const auto& inner : callee->instructions()) keep(inner.get());
    }
  }

  /// A value of the outside as one of the inside.
  Instruction* entering(ComputationEditor& edit, Instruction* value) {
    if (!changes_type(value->shape)) return value;
    if (!value->shape.is_tuple()) return edit.add(Opcode::Convert, value->shape, {value});
    std::vector<Instruction*> elements;
    for (size_t i = 0; i < value->shape.elements.size(); ++i) {
      Instruction* element = edit.element(value, static_cast<int64_t>(i));
      kept_.insert(element);
      elements.push_back(entering(edit, element));
    }
    return edit.tuple(std::move(elements));
  }

  /// A value of the inside as one of the outside.
  Instruction* leaving(ComputationEditor& edit, Instruction* value) {
    if (!changes_type(value->shape)) return value;
    Instruction* result = nullptr;
    if (value->shape.is_tuple()) {
      std::vector<Instruction*> elements;
      for (size_t i = 0; i < value->shape.elements.size(); ++i)
        elements.push_back(leaving(edit, edit.element(value, static_cast<int64_t>(i))));
      result = edit.tuple(std::move(elements));
    } else {
      result = edit.add(Opcode::Convert, value->shape, {value});
    }
    kept_.insert(result);
    return result;
  }

  bool retype(Instruction* inst) {
    if (kept_.contains(inst)) return false;
    if (inst->is(Opcode::Constant)) inst->literal = widened(inst->literal);
    if (inst->has_attrs() && !inst->attrs().algorithm.empty()) inst->mutable_attrs().algorithm.clear();
    const bool changes = changes_type(inst->shape);
    widen(inst->shape);
    return changes;
  }

  hlo::Module& module_;
  std::unordered_set<const Instruction*> kept_;     // their types stay
  std::unordered_set<const Computation*> foreign_;  // called by ops with types of their own
};

}  // namespace

Status upcast_all_to_fp32(hlo::Module& module, PassContext& context) {
  return Upcast(module).run(context.changes);
}

}  // namespace ncc::hlo_passes
