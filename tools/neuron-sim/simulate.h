// neuron-sim without its command line: executes a program file, writes and compares results, reports.
#pragma once
#include <string>

#include "common/diag/status.h"
#include "tools/neuron-sim/options.h"

namespace ncc::sim {

/// Runs everything the options ask for; `summary` receives the text for the terminal, also when the
/// comparison fails. The report and the outputs are written before outputs are compared. ERUN002 for a
/// mismatch.
Status simulate(const SimOptions& options, std::string& summary);

}  // namespace ncc::sim
