#include "tools/hlo2penguin/metrics.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "ir-formats/penguin/walk.h"
#include "tools/hlo-opt/hlo/loops.h"

namespace ncc::hlo2penguin {

using nlohmann::ordered_json;

namespace {

constexpr int kLanes = 128;

double product(const std::vector<int64_t>& sizes, const std::vector<int64_t>& dims) {
  double out = 1;
  for (int64_t d : dims) out *= static_cast<double>(sizes[static_cast<size_t>(d)]);
  return out;
}

/// Multiply-accumulates per result element.
double contracted(const hlo::Instruction& inst) {
  if (inst.is(hlo::Opcode::Dot)) return product(inst.operand_shape(0).dims, inst.attrs().dot.lhs_contracting);
  const hlo::ConvDims& dims = *inst.attrs().conv;
  const std::vector<int64_t>& kernel = inst.operand_shape(1).dims;
  return product(kernel, dims.kernel_spatial) *
         static_cast<double>(kernel[static_cast<size_t>(dims.kernel_input_feature)]);
}

bool is_vector_op(const hlo::Instruction& inst) {
  using hlo::Opcode;
  if (inst.is(Opcode::Copy)) return false;
  return inst.info().elementwise || inst.is(Opcode::Reduce) || inst.is(Opcode::ReduceWindow) ||
         inst.is(Opcode::Select) || inst.is(Opcode::Clamp) || inst.is(Opcode::Compare);
}

double elements(const hlo::Shape& shape) {
  double total = shape.is_tuple() ? 0 : static_cast<double>(shape.num_elements());
  for (const hlo::Shape& element : shape.elements) total += elements(element);
  return total;
}

int64_t size_bytes(const penguin::Tensor& tensor) {
  return tensor.num_elements() * ncc::size_bytes(tensor.dtype);
}

// Loops whose trip count only running them tells are run for so many trips.
constexpr int64_t kMostTrips = 1 << 20;

/// Computed before the program runs: from constants that are one scalar, or one scalar repeated.
bool is_known(const hlo::Instruction& inst, const std::unordered_set<const hlo::Instruction*>& known) {
  if (inst.is(hlo::Opcode::Constant)) return !inst.literal.is_tuple() && inst.literal.is_splat();
  const bool is_simple = inst.info().elementwise || inst.info().kind == hlo::OpKind::Shape;
  return is_simple && inst.num_operands() > 0 &&
         std::all_of(inst.operands.begin(), inst.operands.end(),
                     [&](const auto* operand) { return known.count(operand) != 0; });
}

class Counter {
 public:
  explicit Counter(Metrics& metrics) : metrics_(metrics) {}

  void count(const hlo::Computation& computation, double times) {
    std::unordered_set<const hlo::Instruction*> known;
    for (const hlo::Instruction* inst : computation.post_order()) {
      if (is_known(*inst, known))
        known.insert(inst);
      else
        count(*inst, times);
    }
  }

 private:
  void count(const hlo::Instruction& inst, double times) {
    if (inst.is(hlo::Opcode::Dot) || inst.is(hlo::Opcode::Convolution)) {
      const Dtype a = inst.operand_shape(0).dtype, b = inst.operand_shape(1).dtype;
      metrics_.flops[std::string(info(info(a).bits >= info(b).bits ? a : b).hlo)] +=
          times * 2 * elements(inst.shape) * contracted(inst);
    } else if (is_vector_op(inst) && !inst.shape.is_scalar()) {
      metrics_.vector_elements += times * elements(inst.shape);
    } else if (inst.is(hlo::Opcode::Constant)) {
      metrics_.model_constant_bytes +=
          constants_.insert(&inst).second ? inst.literal.shape().size_bytes() : 0;
    } else if (inst.is(hlo::Opcode::While)) {
      const std::optional<int64_t> trips = hlo_passes::trip_count(inst, kMostTrips);
      metrics_.has_unknown_loop |= !trips;
      count(*inst.while_body(), times * static_cast<double>(trips.value_or(1)));
    } else if (inst.info().kind == hlo::OpKind::Control) {
      for (const hlo::Computation* called : inst.called) count(*called, times);
    }
  }

  Metrics& metrics_;
  std::unordered_set<const hlo::Instruction*> constants_;
};

/// Peak of the PE array for an element type: 16 bits and less at full rate, everything computed in fp32 at a
/// quarter (N3).
double peak_flops(const std::string& dtype, const ArchModel& arch) {
  const std::optional<Dtype> type = dtype_from_hlo(dtype);
  const bool fast = type && is_float(*type) && info(*type).bits <= 16;
  return arch.peak_flops_16bit() / (fast ? 1 : 4);
}

}  // namespace

void Metrics::count_model(const hlo::Module& model) { Counter(*this).count(*model.entry(), 1); }

void Metrics::count_io(const penguin::Module& module) {
  const penguin::Function& main = module.main();
  std::vector<bool> read(main.tensors.size(), false);
  penguin::walk(main.body, [&](const penguin::Inst& inst) {
    for (const penguin::Operand& operand : inst.operands) {
      if (operand.kind != penguin::Operand::Kind::Tensor) continue;
      const penguin::TensorId viewed = main.tensors[operand.tensor].alias_of;
      read[viewed == penguin::kNone ? operand.tensor : viewed] = true;
    }
  });
  for (size_t id = 0; id < main.tensors.size(); ++id) {
    const penguin::Tensor& tensor = main.tensors[id];
    if (tensor.role == penguin::Role::Input && read[id]) parameter_bytes += size_bytes(tensor);
    if (tensor.role == penguin::Role::Const) constant_bytes += size_bytes(tensor);
    if (tensor.role == penguin::Role::Output) result_bytes += size_bytes(tensor);
  }
  constant_bytes = std::min(constant_bytes, model_constant_bytes);
}

std::optional<double> Metrics::roofline_ns(const ArchModel& arch) const {
  if (has_unknown_loop) return std::nullopt;
  double matrix = 0;
  for (const auto& [dtype, count] : flops) matrix += count / peak_flops(dtype, arch) * 1e9;
  const double ticks = static_cast<double>(arch.ticks_per_second);
  const double rate =
      kLanes * (ticks / arch.dve_ticks + ticks / arch.activation_ticks + ticks / arch.pool_ticks);
  const double vector = vector_elements / rate * 1e9;
  const double memory = static_cast<double>(parameter_bytes + constant_bytes + result_bytes) /
                        (arch.dma_engines * arch.dma_bytes_per_ns);
  return std::max({matrix, vector, memory});
}

std::string metrics_json(const Metrics& metrics, const ArchModel& arch, const std::string& module_name) {
  ordered_json root;
  root["module"] = module_name;
  root["target"] = arch.name;
  root["flops"] = ordered_json::object();
  double macs = 0;
  for (const auto& [dtype, count] : metrics.flops) {
    root["flops"][dtype] = count;
    macs += count / 2;
  }
  root["mac-count"] = macs;
  root["vector_element_operations"] = metrics.vector_elements;
  root["parameter_bytes"] = metrics.parameter_bytes;
  root["constant_bytes"] = metrics.constant_bytes;
  root["result_bytes"] = metrics.result_bytes;
  const std::optional<double> roofline = metrics.roofline_ns(arch);
  root["roofline_ns"] = roofline ? ordered_json(*roofline) : ordered_json(nullptr);
  return root.dump(1) + "\n";
}

std::string netlist_json(const penguin::Module& module) {
  ordered_json inputs = ordered_json::array();
  for (const penguin::IoBinding& binding : module.inputs) inputs.push_back(binding.name);
  ordered_json root;
  root["PartMap"] =
      ordered_json::array({{{"PartIOs", {{"Inputs", inputs}, {"IntermediateIOs", ordered_json::array()}}}}});
  root["IntermediateIOs"] = ordered_json::array();
  return root.dump(1) + "\n";
}

}  // namespace ncc::hlo2penguin
