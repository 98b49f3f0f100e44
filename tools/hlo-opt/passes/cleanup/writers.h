// Who writes each tensor, for the clean-up passes.
#pragma once
#include <vector>

#include "ir-formats/penguin/module.h"

namespace ncc::hlo_opt {

/// Instructions that write each tensor, in program order.
std::vector<std::vector<penguin::Inst*>> find_writers(penguin::Function& function);

/// An internal tensor with one writer that is seen through no view: its readers may be given what was written
/// instead.
bool is_replaceable(const penguin::Function& function, penguin::TensorId id,
                    const std::vector<std::vector<penguin::Inst*>>& writers);

/// The instruction becomes `result = copy(operand)`.
void make_copy(penguin::Inst& inst, penguin::Operand operand);

}  // namespace ncc::hlo_opt
