#pragma once
#include "common/dtype/dtype.h"

namespace ncc::hlo2penguin {

/// Whether values of the type can be stored on the device. 64-bit integers have a name there, but no
/// arithmetic.
bool has_machine_form(Dtype dtype);

}  // namespace ncc::hlo2penguin
