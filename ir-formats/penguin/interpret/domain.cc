#include "ir-formats/penguin/interpret/domain.h"

namespace ncc::penguin {

FlatAccess flatten(const Operand& operand, const std::vector<int64_t>& shape,
                   const std::vector<IterationAxis>& axes) {
  FlatAccess access{0, std::vector<int64_t>(axes.size(), 0)};
  const auto add = [&](Ref e, int64_t stride) {
    access.constant += stride * e->constant;
    for (size_t i = 0; i < axes.size(); ++i) access.steps[i] += stride * e->coef(axes[i].axis);
  };
  if (operand.kind == Operand::Kind::Index) add(operand.value, 1);
  if (operand.kind != Operand::Kind::Tensor) return access;
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    add(operand.index[d], stride);
    stride *= shape[d];
  }
  return access;
}

}  // namespace ncc::penguin
