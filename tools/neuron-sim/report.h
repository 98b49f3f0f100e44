// What a run says: the JSON report of DESIGN §12, a one-screen summary, a Chrome trace.
#pragma once
#include <optional>
#include <string>

#include "common/arch/arch.h"
#include "ir-formats/isa/machine/machine.h"
#include "ir-formats/isa/machine_inst.h"

namespace ncc::sim {

/// The figures both forms of the report print.
struct RunSummary {
  const isa::Program* program = nullptr;
  const machine::RunReport* run = nullptr;
  const ArchModel* arch = nullptr;
  std::optional<double> roofline_ns;
  bool compared = false;                  // outputs were compared and agree
  int64_t repetitions = 1, total_ns = 0;  // total of all; the other figures are of the last one
};

/// Stable keys; see docs in report.cc.
std::string report_json(const RunSummary& summary);
std::string summary_text(const RunSummary& summary);
/// Trace Event Format: one row per engine and queue, times in microseconds.
std::string chrome_trace(const RunSummary& summary);

}  // namespace ncc::sim
