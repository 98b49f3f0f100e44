#include "tools/hlo2penguin/strict_types.h"

namespace ncc::hlo2penguin {
namespace {

/// The first array type of a value that would be narrowed; nullptr when there is none.
const hlo::Shape* narrowed(const hlo::Shape& shape, bool exact_integers) {
  for (const hlo::Shape& element : shape.elements)
    if (const hlo::Shape* found = narrowed(element, exact_integers)) return found;
  if (!shape.is_array()) return nullptr;
  const bool integer = shape.dtype == Dtype::S64 || shape.dtype == Dtype::U64;
  const bool floating = shape.dtype == Dtype::F64 || shape.dtype == Dtype::C128;
  return floating || (integer && !exact_integers) ? &shape : nullptr;
}

}  // namespace

Status check_strict_types(const hlo::Module& module, bool exact_integers) {
  for (const hlo::Computation* computation : module.post_order())
    for (const hlo::Instruction* inst : computation->post_order())
      if (const hlo::Shape* found = narrowed(inst->shape, exact_integers))
        return error(Code::EVRF002, inst->loc, info(found->dtype).hlo, hlo::describe(*inst));
  return Status::ok();
}

}  // namespace ncc::hlo2penguin
