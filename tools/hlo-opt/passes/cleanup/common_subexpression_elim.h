// common_subexpression_elim: equal instructions compute one tensor.
#pragma once
#include "common/diag/status.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo_opt {

/// Two instructions are equal when op, function, attributes, roles and extents of their axes, operands and
/// results' accesses agree up to the names of the axes. Readers of the later tensor read the earlier one; an
/// output stays and becomes a copy. Tensors with several writers are left alone. Linear in the size of the
/// module.
Status common_subexpression_elim(penguin::Module& module);

}  // namespace ncc::hlo_opt
