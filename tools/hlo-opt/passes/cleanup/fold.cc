#include "tools/hlo-opt/passes/cleanup/fold.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ir-formats/penguin/interpret/functions.h"
#include "ir-formats/penguin/walk.h"
#include "tools/hlo-opt/passes/cleanup/writers.h"

namespace ncc::hlo_opt {

using namespace penguin;

namespace {

/// Whether every integer of [low, high] is an element of the type.
bool is_exact(Dtype dtype, affine::Interval range) {
  int bits = info(dtype).bits;
  if (dtype == Dtype::F32) bits = 25;
  if (dtype == Dtype::BF16) bits = 9;
  if (dtype == Dtype::F16) bits = 12;
  if (is_float(dtype) && dtype != Dtype::F32 && dtype != Dtype::BF16 && dtype != Dtype::F16) return false;
  if (dtype == Dtype::Pred || bits > 32) return false;
  if (is_unsigned_int(dtype)) return range.low >= 0 && range.high < (int64_t{1} << bits);
  const int64_t limit = int64_t{1} << (bits - 1);
  return range.low >= -limit && range.high < limit;
}

std::optional<int64_t> integer(const Operand& operand) {
  if (operand.kind != Operand::Kind::Scalar || !is_integer(operand.dtype)) return std::nullopt;
  return load_as_int64(operand.dtype, &operand.scalar);
}

class Folder {
 public:
  explicit Folder(Module& module)
      : function_(module.main()), context_(*module.affine), splats_(function_.tensors.size()) {}

  void run() {
    const auto writers = find_writers(function_);
    walk(function_.body, [&](Inst& inst) {
      if (inst.op != TensorOp::Contract)
        for (Operand& operand : inst.operands)
          if (operand.kind == Operand::Kind::Tensor && splats_[operand.tensor])
            operand = *splats_[operand.tensor];
      if (inst.op != TensorOp::Map) return;
      if (!fold_scalars(inst)) fold_index(inst);
      const Operand& value = inst.operands[0];
      const bool is_splat = inst.function == ScalarFunction::Copy && value.kind == Operand::Kind::Scalar &&
                            value.dtype == inst.result.dtype;
      if (is_splat && is_replaceable(function_, inst.result.tensor, writers))
        splats_[inst.result.tensor] = value;
    });
  }

 private:
  bool fold_scalars(Inst& inst) const {
    const bool all = std::all_of(inst.operands.begin(), inst.operands.end(),
                                 [](const Operand& o) { return o.kind == Operand::Kind::Scalar; });
    if (!all) return false;
    Operand value;
    value.kind = Operand::Kind::Scalar;
    value.dtype = inst.result.dtype;
    value.scalar = evaluate_scalar(inst.function, inst.attributes, inst.operands, inst.result.dtype);
    make_copy(inst, value);
    return true;
  }

  /// The index expression that the instruction computes, if it is one.
  Ref index_value(const Inst& inst) {
    const Operand& a = inst.operands[0];
    const auto is_index = [](const Operand& o) {
      return o.kind == Operand::Kind::Index && is_integer(o.dtype);
    };
    if (inst.operands.size() == 1) {
      if (!is_index(a)) return nullptr;
      if (inst.function == ScalarFunction::Convert) return a.value;
      return inst.function == ScalarFunction::Negate ? context_.mul(a.value, -1) : nullptr;
    }
    if (inst.operands.size() != 2) return nullptr;
    const Operand& b = inst.operands[1];
    const Ref x = is_index(a) ? a.value : integer(a) ? context_.constant(*integer(a)) : nullptr;
    const Ref y = is_index(b) ? b.value : integer(b) ? context_.constant(*integer(b)) : nullptr;
    if (x == nullptr || y == nullptr) return nullptr;
    if (inst.function == ScalarFunction::Add) return context_.add(x, y);
    if (inst.function == ScalarFunction::Subtract) return context_.add(x, context_.mul(y, -1));
    if (inst.function != ScalarFunction::Multiply) return nullptr;
    return y->is_constant()   ? context_.mul(x, y->constant)
           : x->is_constant() ? context_.mul(y, x->constant)
                              : nullptr;
  }

  void fold_index(Inst& inst) {
    const Ref value = index_value(inst);
    if (value == nullptr) return;
    const affine::Interval range =
        affine::bounds(value, [this](AxisId axis) { return function_.axes[axis].extent; });
    if (!is_exact(inst.result.dtype, range)) return;
    Operand index;
    index.kind = Operand::Kind::Index;
    index.dtype = inst.result.dtype;
    index.value = value;
    make_copy(inst, index);
  }

  Function& function_;
  affine::Context& context_;
  std::vector<std::optional<Operand>> splats_;
};

}  // namespace

Status fold(Module& module) {
  Folder(module).run();
  return Status::ok();
}

}  // namespace ncc::hlo_opt
