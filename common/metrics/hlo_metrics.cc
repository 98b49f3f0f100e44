#include "common/metrics/hlo_metrics.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ncc {
namespace {

using nlohmann::json;

struct CountRow {
  const char* key;
  int64_t HloMetrics::*member;
};
constexpr CountRow kCounts[] = {{"vector_element_ops", &HloMetrics::vector_element_ops},
                                {"parameter_bytes", &HloMetrics::parameter_bytes},
                                {"constant_bytes", &HloMetrics::constant_bytes},
                                {"result_bytes", &HloMetrics::result_bytes}};

Status bad(const std::string& problem) {
  return error(Code::EFIL003, "hlo_metrics.json", "a metrics file", problem);
}

bool is_count(const json& value) { return value.is_number_integer() && value.get<int64_t>() >= 0; }

// Elements of 8 and 16 bits stream at full rate; wider ones take four passes (N3).
double peak_flops(Dtype dtype, const ArchModel& arch) {
  return size_bytes(dtype) <= 2 ? arch.peak_flops_16bit() : arch.peak_flops_16bit() / 4;
}

}  // namespace

std::string write_hlo_metrics(const HloMetrics& metrics) {
  json out;
  out["contraction_flops"] = json::object();
  for (const auto& [dtype, flops] : metrics.contraction_flops)
    out["contraction_flops"][std::string(info(dtype).hlo)] = flops;
  for (const CountRow& row : kCounts) out[row.key] = metrics.*row.member;
  out["unknown_trip_count"] = metrics.unknown_trip_count;
  return out.dump(1) + "\n";
}

Result<HloMetrics> read_hlo_metrics(std::string_view text) {
  const json top = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!top.is_object()) return bad("malformed JSON");
  HloMetrics metrics;
  for (const CountRow& row : kCounts) {
    const auto found = top.find(row.key);
    if (found == top.end() || !is_count(*found)) return bad(fmt::format("'{}' is no count", row.key));
    metrics.*row.member = found->get<int64_t>();
  }
  const auto flops = top.find("contraction_flops");
  if (flops == top.end() || !flops->is_object()) return bad("'contraction_flops' is no object");
  for (const auto& [name, count] : flops->items()) {
    const std::optional<Dtype> dtype = dtype_from_hlo(name);
    if (!dtype || !is_count(count)) return bad(fmt::format("contraction_flops: bad entry '{}'", name));
    metrics.contraction_flops[*dtype] = count.get<int64_t>();
  }
  const auto unknown = top.find("unknown_trip_count");
  metrics.unknown_trip_count = unknown != top.end() && unknown->is_boolean() && unknown->get<bool>();
  return metrics;
}

std::optional<double> roofline_ns(const HloMetrics& metrics, const ArchModel& arch) {
  if (metrics.unknown_trip_count) return std::nullopt;
  double matrix_s = 0;
  for (const auto& [dtype, flops] : metrics.contraction_flops)
    matrix_s += static_cast<double>(flops) / peak_flops(dtype, arch);
  double elements_per_s = 0;
  for (const int ticks : {arch.dve_ticks, arch.activation_ticks, arch.pool_ticks})
    elements_per_s +=
        static_cast<double>(arch.num_partitions) * static_cast<double>(arch.ticks_per_second) / ticks;
  const double vector_s = static_cast<double>(metrics.vector_element_ops) / elements_per_s;
  const double bytes = static_cast<double>(metrics.parameter_bytes) +
                       static_cast<double>(metrics.constant_bytes) +
                       static_cast<double>(metrics.result_bytes);
  const double dma_ns = bytes / (static_cast<double>(arch.dma_bytes_per_ns) * arch.dma_engines);
  return std::max({matrix_s * 1e9, vector_s * 1e9, dma_ns});
}

}  // namespace ncc
