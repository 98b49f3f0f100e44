// hlo_metrics.json: what the model asks for, counted before lowering, and the roofline that follows (DESIGN
// section 12).
#pragma once
#include <map>
#include <optional>
#include <string>

#include "common/arch/arch.h"
#include "ir-formats/hlo/module.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo2penguin {

struct Metrics {
  std::map<std::string, double> flops;  // of dot and convolution, by declared element type
  double vector_elements = 0;  // one per element of arrays that an elementwise op or reduction yields
  int64_t parameter_bytes = 0, constant_bytes = 0, result_bytes = 0;
  int64_t model_constant_bytes = 0;  // as the model declares them
  bool has_unknown_loop = false;

  /// Adds what one run of the model executes: a callee once for each call, a loop's body once for each trip,
  /// every branch of a conditional; not what is known in advance, nor scalars: counters and conditions of
  /// loops. A loop of unknown trip count makes the roofline unknown.
  void count_model(const hlo::Module& model);
  /// Adds bytes that must cross DRAM once: parameters that are read, results, and the constants of the model
  /// (not those that an expansion brought along).
  void count_io(const penguin::Module& module);
  /// Nanoseconds: the largest of matrix, vector and memory time at peak rates. Nothing when it is unknown.
  std::optional<double> roofline_ns(const ArchModel& arch) const;
};

std::string metrics_json(const Metrics& metrics, const ArchModel& arch, const std::string& module_name);

/// hlo_netlist.json: one partition with all inputs (spec/driver.md).
std::string netlist_json(const penguin::Module& module);

}  // namespace ncc::hlo2penguin
