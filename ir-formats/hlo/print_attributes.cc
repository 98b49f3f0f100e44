#include "ir-formats/hlo/print_attributes.h"

#include "ir-formats/hlo/rewrite.h"
#include "ir-formats/hlo/text_scanner.h"
#include "ir-formats/hlo/wire_names.h"

namespace ncc::hlo {
namespace {

std::string ints(const std::vector<int64_t>& values) { return fmt::format("{{{}}}", fmt::join(values, ",")); }

// Collects ", key=value" parts.
class Printer {
 public:
  void add(std::string_view key, std::string_view value) { text_ += fmt::format(", {}={}", key, value); }
  void add_int(std::string_view key, int64_t value) { add(key, fmt::format("{}", value)); }
  void add_bool(std::string_view key, bool value) { add(key, value ? "true" : "false"); }
  void add_ints(std::string_view key, const std::vector<int64_t>& values) { add(key, ints(values)); }
  void add_some(std::string_view key, const std::vector<int64_t>& values) {
    if (!values.empty()) add_ints(key, values);
  }
  void add_true(std::string_view key, bool value) {
    if (value) add(key, "true");
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string window_text(const Window& window) {
  std::string size, stride, pad, base, taps, reversal;
  bool strided = false, padded = false, based = false, tapped = false, reversed = false;
  for (const WindowDim& d : window) {
    const char* x = size.empty() ? "" : "x";
    size += fmt::format("{}{}", x, d.size);
    stride += fmt::format("{}{}", x, d.stride);
    pad += fmt::format("{}{}_{}", x, d.padding_low, d.padding_high);
    base += fmt::format("{}{}", x, d.base_dilation);
    taps += fmt::format("{}{}", x, d.window_dilation);
    reversal += fmt::format("{}{}", x, d.reversal ? 1 : 0);
    strided |= d.stride != 1;
    padded |= d.padding_low != 0 || d.padding_high != 0;
    based |= d.base_dilation != 1;
    tapped |= d.window_dilation != 1;
    reversed |= d.reversal;
  }
  std::string text = "{";
  if (!window.empty()) text += "size=" + size;
  if (strided) text += " stride=" + stride;
  if (padded) text += " pad=" + pad;
  if (based) text += " lhs_dilate=" + base;
  if (tapped) text += " rhs_dilate=" + taps;
  if (reversed) text += " rhs_reversal=" + reversal;
  return text + "}";
}

std::string labels(int64_t first, char first_letter, int64_t second, char second_letter,
                   const std::vector<int64_t>& spatial) {
  int64_t last = std::max(first, second), least = std::min(first, second);
  for (int64_t d : spatial) {
    last = std::max(last, d);
    least = std::min(least, d);
  }
  // Convolutions over dynamic shapes are not verified that far.
  if (least < 0 || last >= kMaxRank) return "??";
  std::string text(static_cast<size_t>(last + 1), '?');
  text[static_cast<size_t>(first)] = first_letter;
  text[static_cast<size_t>(second)] = second_letter;
  for (size_t i = 0; i < spatial.size(); ++i)
    text[static_cast<size_t>(spatial[i])] = static_cast<char>('0' + i);
  return text;
}

std::string padding_text(const std::vector<PaddingDim>& padding) {
  bool interior = false;
  for (const PaddingDim& d : padding) interior |= d.interior != 0;
  std::string text;
  for (const PaddingDim& d : padding) {
    if (!text.empty()) text += "x";
    text += fmt::format("{}_{}", d.low, d.high);
    if (interior) text += fmt::format("_{}", d.interior);
  }
  return text;
}

void print_indexing(const Instruction& inst, const Attributes& a, Printer* out) {
  if (inst.is(Opcode::Slice)) {
    std::string text;
    for (size_t i = 0; i < a.slice_starts.size(); ++i) {
      text += fmt::format("{}[{}:{}", i > 0 ? ", " : "", a.slice_starts[i], a.slice_limits[i]);
      text += a.slice_strides[i] == 1 ? "]" : fmt::format(":{}]", a.slice_strides[i]);
    }
    out->add("slice", "{" + text + "}");
  }
  if (inst.is(Opcode::DynamicSlice)) out->add_ints("dynamic_slice_sizes", a.slice_sizes);
  if (inst.is(Opcode::Pad)) out->add("padding", padding_text(a.padding));
  if (inst.is(Opcode::Gather) || inst.is(Opcode::DynamicGather)) {
    out->add_ints("offset_dims", a.gather.offset_dims);
    out->add_ints("collapsed_slice_dims", a.gather.collapsed_slice_dims);
    out->add_ints("start_index_map", a.gather.start_index_map);
    out->add_some("operand_batching_dims", a.gather.operand_batching_dims);
    out->add_some("start_indices_batching_dims", a.gather.start_indices_batching_dims);
    out->add_int("index_vector_dim", a.gather.index_vector_dim);
    out->add_ints("slice_sizes", a.slice_sizes);
  }
  if (inst.is(Opcode::Scatter)) {
    out->add_ints("update_window_dims", a.scatter.update_window_dims);
    out->add_ints("inserted_window_dims", a.scatter.inserted_window_dims);
    out->add_ints("scatter_dims_to_operand_dims", a.scatter.scatter_dims_to_operand_dims);
    out->add_some("input_batching_dims", a.scatter.input_batching_dims);
    out->add_some("scatter_indices_batching_dims", a.scatter.scatter_indices_batching_dims);
    out->add_int("index_vector_dim", a.scatter.index_vector_dim);
  }
  out->add_true("indices_are_sorted", a.indices_are_sorted);
  out->add_true("unique_indices", a.unique_indices);
}

void print_contraction(const Instruction& inst, const Attributes& a, Printer* out) {
  if (inst.is(Opcode::Dot) || inst.is(Opcode::ScaledDot) || inst.is(Opcode::RaggedDot)) {
    out->add_some("lhs_batch_dims", a.dot.lhs_batch);
    out->add_ints("lhs_contracting_dims", a.dot.lhs_contracting);
    out->add_some("rhs_batch_dims", a.dot.rhs_batch);
    out->add_ints("rhs_contracting_dims", a.dot.rhs_contracting);
    out->add_some("lhs_ragged_dims", a.lhs_ragged_dims);
    out->add_some("rhs_group_dims", a.rhs_group_dims);
  }
  if (!a.window.empty()) out->add("window", window_text(a.window));
  if (a.conv) {
    const ConvDims& c = *a.conv;
    out->add("dim_labels",
             fmt::format("{}_{}->{}", labels(c.input_batch, 'b', c.input_feature, 'f', c.input_spatial),
                         labels(c.kernel_input_feature, 'i', c.kernel_output_feature, 'o', c.kernel_spatial),
                         labels(c.output_batch, 'b', c.output_feature, 'f', c.output_spatial)));
  }
  if (a.feature_group_count != 1) out->add_int("feature_group_count", a.feature_group_count);
  if (a.batch_group_count != 1) out->add_int("batch_group_count", a.batch_group_count);
  if (a.conv_kind != 0) out->add("convolution_kind", kConvKindNames[static_cast<size_t>(a.conv_kind)]);
  if (a.padding_type != 0) out->add("padding_type", kPaddingTypeNames[static_cast<size_t>(a.padding_type)]);
  if (!a.precision.empty()) {
    std::string text;
    for (Precision precision : a.precision)
      text += fmt::format("{}{}", text.empty() ? "" : ",", name(precision));
    out->add("operand_precision", "{" + text + "}");
  }
  if (!a.algorithm.empty()) out->add("algorithm", a.algorithm);
}

void print_numeric(const Instruction& inst, const Attributes& a, Printer* out) {
  if (inst.is(Opcode::Compare)) {
    out->add("direction", name(inst.direction));
    if (inst.compare_type != CompareType::Default) out->add("type", name(inst.compare_type));
  }
  out->add_true("is_stable", a.is_stable);
  if (inst.is(Opcode::TopK)) {
    out->add_int("k", a.k);
    out->add_bool("largest", a.largest);
  }
  if (inst.is(Opcode::ReducePrecision)) {
    out->add_int("exponent_bits", a.exponent_bits);
    out->add_int("mantissa_bits", a.mantissa_bits);
  }
  if (inst.is(Opcode::BatchNormGrad) || inst.is(Opcode::BatchNormInference) ||
      inst.is(Opcode::BatchNormTraining)) {
    out->add("epsilon", fmt::format("{}", a.epsilon));
    out->add_int("feature_index", a.feature_index);
  }
  if (inst.is(Opcode::Fft)) {
    out->add("fft_type", name(a.fft_type));
    out->add_ints("fft_length", a.fft_length);
  }
  if (inst.is(Opcode::TriangularSolve)) {
    out->add_bool("left_side", a.left_side);
    out->add_bool("lower", a.lower);
    out->add_bool("unit_diagonal", a.unit_diagonal);
    out->add("transpose_a", name(a.transpose_a));
  }
  if (inst.is(Opcode::Cholesky)) out->add_bool("lower", a.lower);
  if (inst.is(Opcode::Rng)) out->add("distribution", name(a.rng_distribution));
  if (inst.is(Opcode::RngBitGenerator)) out->add("algorithm", name(a.rng_algorithm));
  if (inst.is(Opcode::RngGetAndUpdateState)) out->add_int("delta", a.delta);
  if (inst.is(Opcode::Scan)) {
    out->add_int("num_carries", a.num_carries);
    out->add_true("is_reverse", a.is_reverse);
    out->add_true("is_associative", a.is_associative);
  }
  if (a.inferred_dimension >= 0) out->add_int("inferred_dimension", a.inferred_dimension);
  if (a.accuracy.mode == "highest") out->add("result_accuracy", "{mode=highest}");
  if (a.accuracy.mode == "tolerance")
    out->add("result_accuracy", fmt::format("{{tolerance={{atol={},rtol={},ulps={}}}}}", a.accuracy.atol,
                                            a.accuracy.rtol, a.accuracy.ulps));
}

std::string names(const std::vector<Computation*>& list) {
  std::string text;
  for (const Computation* computation : list)
    text += fmt::format("{}%{}", text.empty() ? "" : ", ", computation->name());
  return "{" + text + "}";
}

void print_calls(const Instruction& inst, Printer* out) {
  if (inst.called.empty()) return;
  const auto one = [&](std::string_view key, size_t i) { out->add(key, "%" + inst.called[i]->name()); };
  switch (inst.opcode) {
    case Opcode::While:
      one("condition", 1);
      one("body", 0);
      return;
    case Opcode::Conditional:
      if (inst.operand_shape(0).dtype != Dtype::Pred)
        return out->add("branch_computations", names(inst.called));
      one("true_computation", 0);
      one("false_computation", 1);
      return;
    case Opcode::SelectAndScatter:
      one("select", 0);
      one("scatter", 1);
      return;
    case Opcode::Fusion:
    case Opcode::AsyncStart:
    case Opcode::AsyncUpdate:
    case Opcode::AsyncDone:
      return one("calls", 0);
    default:
      break;
  }
  const bool carried = inst.is(Opcode::CustomCall) || inst.info().origin != OpOrigin::Hlo;
  if (carried) return out->add("called_computations", names(inst.called));
  one("to_apply", 0);
}

std::string index_pair(int64_t number, const std::vector<int64_t>& index) {
  return fmt::format("({}, {})", number, ints(index));
}

void print_call_attributes(const Instruction& inst, const Attributes& a, Printer* out) {
  if (inst.is(Opcode::CustomCall) || inst.info().origin != OpOrigin::Hlo)
    out->add("custom_call_target",
             quoted(inst.is(Opcode::CustomCall) ? std::string_view(a.custom_call_target) : inst.info().mlir));
  out->add_true("custom_call_has_side_effect", a.custom_call_has_side_effect);
  if (a.constrain_layout && inst.is(Opcode::CustomCall)) {
    std::string text;
    for (const Shape& shape : a.operand_shapes_with_layout)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(shape, true));
    out->add("operand_layout_constraints", "{" + text + "}");
  } else {
    out->add_true("constrain_layout", a.constrain_layout);
  }
  if (!a.output_aliases.empty()) {
    std::string text;
    for (const OutputAlias& alias : a.output_aliases)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", ints(alias.output_index),
                          index_pair(alias.operand, alias.operand_index));
    out->add("output_to_operand_aliasing", "{" + text + "}");
  }
  if (a.schedule != 0) out->add("schedule", kScheduleNames[static_cast<size_t>(a.schedule)]);
  if (a.api_version != 0) out->add("api_version", kApiVersionNames[static_cast<size_t>(a.api_version)]);
  out->add_true("is_composite", a.is_composite);
  if (!a.fusion_kind.empty()) out->add("kind", a.fusion_kind);
  if (!a.async_execution_thread.empty()) out->add("async_execution_thread", quoted(a.async_execution_thread));
  if (a.cross_program_prefetch_index)
    out->add_int("cross_program_prefetch_index", *a.cross_program_prefetch_index);
  if (!a.infeed_config.empty()) out->add("infeed_config", quoted(a.infeed_config));
  if (!a.outfeed_config.empty()) out->add("outfeed_config", quoted(a.outfeed_config));
  if (a.outfeed_shape) out->add("outfeed_shape", to_string(*a.outfeed_shape, true));
}

void print_collective(const Instruction& inst, const Attributes& a, Printer* out) {
  if (a.channel_id > 0) out->add_int("channel_id", a.channel_id);
  const auto lists = [](const auto& groups, const auto& text_of) {
    std::string text;
    for (const auto& group : groups) text += fmt::format("{}{}", text.empty() ? "" : ",", text_of(group));
    return "{" + text + "}";
  };
  if (!a.replica_groups.empty()) out->add("replica_groups", lists(a.replica_groups, ints));
  if (!a.source_target_pairs.empty())
    out->add("source_target_pairs", lists(a.source_target_pairs, [](const auto& pair) {
               return fmt::format("{{{},{}}}", pair.first, pair.second);
             }));
  if (inst.info().kind == OpKind::Collective && !a.slice_sizes.empty())
    out->add("slice_sizes", "{" + ints(a.slice_sizes) + "}");
  out->add_true("use_global_device_ids", a.use_global_device_ids);
  out->add_true("is_host_transfer", a.is_host_transfer);
  if (!a.parameter_replication.empty())
    out->add("parameter_replication",
             lists(a.parameter_replication, [](bool flag) { return std::string(flag ? "true" : "false"); }));
}

void print_common(const Instruction& inst, const Attributes& a, Printer* out) {
  if (!a.domain_entry_sharding.empty() || !a.domain_exit_sharding.empty())
    out->add("domain", fmt::format("{{kind=\"sharding\", entry={}, exit={}}}", a.domain_entry_sharding,
                                   a.domain_exit_sharding));
  if (!a.sharding.empty()) out->add("sharding", a.sharding);
  std::vector<std::pair<std::string, std::string>> attributes = a.frontend_attributes;
  for (auto& entry : carried_attributes(inst)) attributes.push_back(std::move(entry));
  if (!a.unknown_fields.empty()) {
    std::string hex;
    for (char c : a.unknown_fields) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    attributes.emplace_back(fmt::format("{}proto_fields", kRawPrefix), std::move(hex));
  }
  if (!attributes.empty()) out->add("frontend_attributes", frontend_text(attributes));
  if (!inst.control_predecessors.empty()) {
    std::string text;
    for (const Instruction* before : inst.control_predecessors)
      text += fmt::format("{}%{}", text.empty() ? "" : ", ", before->name);
    out->add("control-predecessors", "{" + text + "}");
  }
  if (!a.backend_config.empty()) {
    out->add("backend_config", is_json_group(a.backend_config) ? a.backend_config : quoted(a.backend_config));
  }
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += fmt::format("\\{}", c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 32 || byte >= 127) {
      out += fmt::format("\\{:03o}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

bool is_json_group(std::string_view text) {
  if (!text.starts_with("{") || text.find('\0') != std::string_view::npos) return false;
  TextScanner scan(text);
  std::string_view raw;
  return scan.group(&raw).is_ok() && raw.size() == text.size();
}

std::string frontend_key(std::string_view key) {
  const auto is_name = [](char c, bool first) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && ((c >= '0' && c <= '9') || c == '.' || c == '-'));
  };
  bool plain = !key.empty() && !key.starts_with(kHexKeyPrefix);
  for (size_t i = 0; plain && i < key.size(); ++i) plain = is_name(key[i], i == 0);
  if (plain) return std::string(key);
  std::string hex(kHexKeyPrefix);
  for (char c : key) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

std::string frontend_text(const std::vector<std::pair<std::string, std::string>>& attributes) {
  std::string text;
  for (const auto& [key, value] : attributes)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", frontend_key(key),
                        is_json_group(value) ? value : quoted(value));
  return "{" + text + "}";
}

std::string attributes_text(const Instruction& inst) {
  const Attributes& a = inst.attrs();
  Printer out;
  if (inst.is(Opcode::GetTupleElement)) out.add_int("index", inst.index);
  if (inst.is(Opcode::Iota) && inst.dimensions.size() == 1) {
    out.add_int("iota_dimension", inst.dimensions[0]);
  } else if (!inst.dimensions.empty() || inst.is(Opcode::Broadcast) || inst.is(Opcode::Reduce) ||
             inst.is(Opcode::Transpose) || inst.is(Opcode::Reverse)) {
    out.add_ints("dimensions", inst.dimensions);
  }
  print_indexing(inst, a, &out);
  print_contraction(inst, a, &out);
  print_numeric(inst, a, &out);
  print_call_attributes(inst, a, &out);
  print_calls(inst, &out);
  print_collective(inst, a, &out);
  print_common(inst, a, &out);
  return out.take();
}

}  // namespace ncc::hlo
