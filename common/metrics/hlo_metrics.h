// hlo_metrics.json: the work a model asks for, counted before any lowering, and the roofline it implies.
// hlo2penguin writes it, the NEFF carries it, neuron-sim reports against it. Source: DESIGN §12, section 14
// N3.
//   {"contraction_flops":{"bf16":N,"f32":N},"vector_element_ops":N,"parameter_bytes":N,"constant_bytes":N,"result_bytes":N,
//    "unknown_trip_count":false}
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/arch/arch.h"
#include "common/diag/status.h"
#include "common/dtype/dtype.h"

namespace ncc {

struct HloMetrics {
  std::map<Dtype, int64_t>
      contraction_flops;  // of dot and convolution, by declared operand type; a multiply-add is 2
  int64_t vector_element_ops =
      0;  // one per result element of an elementwise op, per operand element of a reduction
  int64_t parameter_bytes = 0, constant_bytes = 0, result_bytes = 0;  // each array once
  bool unknown_trip_count = false;  // a loop count depends on data: the counts are not totals
};

std::string write_hlo_metrics(const HloMetrics& metrics);
/// EFIL003.
Result<HloMetrics> read_hlo_metrics(std::string_view json);

/// The least time the machine could take: the slowest of matrix engine at peak, vector engines together at
/// one element per lane and cycle, and DMA at the planning rate. nullopt when a trip count is unknown.
std::optional<double> roofline_ns(const HloMetrics& metrics, const ArchModel& arch);

}  // namespace ncc
