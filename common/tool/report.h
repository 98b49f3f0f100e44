// The one way a failed Status reaches the user.
#pragma once
#include "common/diag/status.h"

namespace ncc {

/// Prints the diagnostic on stderr (a closed stderr is no further error) and returns its exit status: 1, 2
/// or 70.
int report_failure(const Status& status);

}  // namespace ncc
