// hlo_metrics.json: what the model asks for, counted before lowering, and the roofline that follows (DESIGN
// section 12).
#pragma once
#include <map>
#include <string>

#include "common/arch/arch.h"
#include "ir-formats/hlo/module.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo2penguin {

struct Metrics {
  std::map<std::string, double> flops;  // of dot and convolution, by declared element type
  double vector_elements = 0;           // one per element that an elementwise op or reduction yields
  int64_t parameter_bytes = 0, constant_bytes = 0, result_bytes = 0;

  /// Adds one execution of an op whose result is not a constant.
  void count(const hlo::Instruction& inst);
  /// Bytes that must cross DRAM once: parameters that are read, constants, results.
  void count_io(const penguin::Module& module);
  /// Nanoseconds: the largest of matrix, vector and memory time at peak rates.
  double roofline_ns(const ArchModel& arch) const;
};

std::string metrics_json(const Metrics& metrics, const ArchModel& arch, const std::string& module_name);

/// hlo_netlist.json: one partition with all inputs (spec/driver.md).
std::string netlist_json(const penguin::Module& module);

}  // namespace ncc::hlo2penguin
