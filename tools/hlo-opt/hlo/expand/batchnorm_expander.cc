// batch-norm-inference, -training and -grad by elementwise ops and sums over everything but the features, in
// f32 for narrower types, each result rounded once. With c = x - mean and v = variance + epsilon:
//   inference: scale c / sqrt(v) + offset
//   training:  mean = sum(x) / n, variance = sum(c^2) / n; then like inference
//   grad:      offset' = sum(g); scale' = sum(g c) / sqrt(v); x' = scale / sqrt(v) / n (n g - offset' - c
//   sum(g c) / v)
// n is the number of elements per feature, 1 when there are none. Source: spec/stablehlo-text.md §3.8,
// spec/hlo-front-half.md §2.3.
#include <algorithm>

#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

// One batch-norm op being expanded.
class Expansion {
 public:
  Expansion(ComputationEditor& edit, Instruction* inst)
      : edit_(edit), inst_(inst), dims_(inst->operand_shape(0).dims), feature_(inst->attrs().feature_index) {
    type_ = formula_type(inst->operand_shape(0).dtype);
    for (int64_t d = 0; d < static_cast<int64_t>(dims_.size()); ++d) {
      if (d != feature_) reduced_.push_back(d);
      if (d != feature_) count_ *= static_cast<double>(dims_[static_cast<size_t>(d)]);
    }
    count_ = std::max(count_, 1.0);
  }

  void inference() {
    const Value result =
        normalised(centred(operand(3)), operand(4) + epsilon(), operand(1)) + spread(operand(2));
    edit_.replace(inst_, as(result, inst_->shape));
  }

  void training() {
    const Value mean = sum(operand(0)) / count_;
    const Value c = centred(mean);
    const Value variance = sum(c * c) / count_;
    const Value result = normalised(c, variance + epsilon(), operand(1)) + spread(operand(2));
    replace_tuple({result, mean, variance});
  }

  void grad() {
    const Value g = operand(4), c = centred(operand(2)), v = operand(3) + epsilon();
    const Value sum_g = sum(g), sum_gc = sum(g * c), root = sqrt(v);
    const Value scaled = spread(operand(1) / root / count_);
    const Value grad_x = scaled * (count_ * g - spread(sum_g) - c * spread(sum_gc / v));
    replace_tuple({grad_x, sum_gc / root, sum_g});
  }

 private:
  double epsilon() const { return static_cast<double>(inst_->attrs().epsilon); }
  Value operand(int64_t i) { return Value(edit_, inst_->operand(i)).to(type_); }
  // A value per feature, repeated over the other dimensions.
  Value spread(Value per_feature) { return {edit_, edit_.broadcast(per_feature.inst(), dims_, {feature_})}; }
  Value centred(Value mean) { return operand(0) - spread(mean); }
  Value normalised(Value c, Value v, Value scale) { return spread(scale) * c / spread(sqrt(v)); }
  Value sum(Value x) {
    return {edit_, edit_.reduce(x.inst(), edit_.scalar(type_, 0), reduced_, Opcode::Add)};
  }
  Instruction* as(Value value, const Shape& shape) { return value.to(shape.dtype).inst(); }
  void replace_tuple(const std::vector<Value>& results) {
    std::vector<Instruction*> elements;
    for (size_t i = 0; i < results.size(); ++i) elements.push_back(as(results[i], inst_->shape.elements[i]));
    edit_.replace(inst_, edit_.tuple(std::move(elements)));
  }

  ComputationEditor& edit_;
  Instruction* inst_;
  const Dims dims_;
  const int64_t feature_;
  Dims reduced_;
  double count_ = 1;
  Dtype type_;
};

bool is_batch_norm(const Instruction& inst) {
  return inst.is(Opcode::BatchNormInference) || inst.is(Opcode::BatchNormTraining) ||
         inst.is(Opcode::BatchNormGrad);
}

}  // namespace

Status batchnorm_expander(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    if (!is_batch_norm(*inst) || edit.is_pinned(inst) || inst->operand_shape(0).is_dynamic())
      return Status::ok();
    Expansion expansion(edit, inst);
    if (inst->is(Opcode::BatchNormInference)) expansion.inference();
    if (inst->is(Opcode::BatchNormTraining)) expansion.training();
    if (inst->is(Opcode::BatchNormGrad)) expansion.grad();
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
