#include "ir-formats/penguin/module.h"

#include "common/diag/status.h"

namespace ncc::penguin {
namespace {

constexpr FunctionInfo kFunctions[] = {
#define FUNCTION(id, name, arity, level) {ScalarFunction::id, name, arity, FunctionLevel::level},
#include "ir-formats/penguin/functions.def"
};

}  // namespace

const FunctionInfo& info(ScalarFunction function) { return kFunctions[static_cast<size_t>(function)]; }

AxisRole Inst::role(AxisId axis) const {
  for (const IterationAxis& entry : axes)
    if (entry.axis == axis) return entry.role;
  NCC_CHECK(false, "{}: axis {} is not one of its iteration axes", name, axis);
}

}  // namespace ncc::penguin
