// HLO text in XLA's long form. Source: spec/hlo-text.md §15.
#include <algorithm>

#include "ir-formats/hlo/carried_shape.h"
#include "ir-formats/hlo/literal_text.h"
#include "ir-formats/hlo/print_attributes.h"
#include "ir-formats/hlo/rewrite.h"
#include "ir-formats/hlo/write.h"

namespace ncc::hlo {
namespace {

// HLO text has no quantized types: their parameters are a carried attribute.
std::string shape_text(const Shape& shape, bool layouts) { return to_string(storage_shape(shape), layouts); }

// "" when there is nothing to say.
std::string metadata_text(const Instruction& inst, const PrintOptions& options) {
  static const LocationDetails kNone;
  const SourceLoc loc = stated_location(inst, options.text_lines);
  const LocationDetails& details = inst.loc_details ? *inst.loc_details : kNone;
  std::string text;
  const auto add = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, quoted(value));
  };
  const auto add_int = [&](std::string_view key, int64_t value) {
    if (value != 0) text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  };
  add("op_type", details.op_type);
  add("op_name", loc.op_name);
  add("source_file", loc.file);
  add_int("source_line", loc.line);
  add_int("source_end_line", details.end_line);
  add_int("source_column", details.column);
  add_int("source_end_column", details.end_column);
  add_int("stack_frame_id", details.stack_frame);
  add("deduplicated_name", details.deduplicated_name);
  add("scheduling_name", details.scheduling_name);
  return text.empty() ? "" : "{" + text + "}";
}

std::string stack_frames_text(const StackFrames& frames) {
  std::string text = "\nFileNames\n";
  const auto strings = [&](const std::vector<std::string>& list) {
    for (size_t i = 0; i < list.size(); ++i) text += fmt::format("{} {}\n", i + 1, quoted(list[i]));
  };
  strings(frames.files);
  text += "\nFunctionNames\n";
  strings(frames.functions);
  text += "\nFileLocations\n";
  for (size_t i = 0; i < frames.places.size(); ++i) {
    const StackFrames::Place& place = frames.places[i];
    text += fmt::format(
        "{} {{file_name_id={} function_name_id={} line={} end_line={} column={} end_column={}}}\n", i + 1,
        place.file, place.function, place.line, place.end_line, place.column, place.end_column);
  }
  text += "\nStackFrames\n";
  // The text counts parents from 1 for "none".
  for (size_t i = 0; i < frames.frames.size(); ++i)
    text += fmt::format("{} {{file_location_id={} parent_frame_id={}}}\n", i + 1, frames.frames[i].place,
                        int64_t{frames.frames[i].parent} + 1);
  return text;
}

// Comments at every fifth element help people count.
std::string index_comment(size_t i) { return i > 0 && i % 5 == 0 ? fmt::format("/*index={}*/", i) : ""; }

std::string arguments_text(const Instruction& inst, const PrintOptions& options) {
  if (inst.is(Opcode::Parameter)) return fmt::format("{}", inst.index);
  if (inst.is(Opcode::Constant)) {
    const bool elided = options.max_constant_elements >= 0 && inst.shape.rank() > 0 &&
                        inst.shape.num_elements() > options.max_constant_elements;
    return elided || !inst.literal.is_valid() ? "{...}" : literal_text(inst.literal);
  }
  std::string text;
  for (size_t i = 0; i < inst.operands.size(); ++i) {
    if (i > 0) text += ", ";
    text += index_comment(i) + "%" + inst.operands[i]->name;
  }
  return text;
}

std::string signature_text(const Computation& computation) {
  std::string text;
  for (const Instruction* parameter : computation.parameters())
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", parameter->name,
                        shape_text(parameter->shape, false));
  return fmt::format("({}) -> {}", text, shape_text(computation.root()->shape, false));
}

// Only what the entry's own shapes do not say.
std::string entry_layout_text(const Module& module, const PrintOptions& options) {
  const auto [parameters, result] = module.program_shape();
  const std::vector<Instruction*> own = module.entry()->parameters();
  const bool same = std::equal(own.begin(), own.end(), parameters.begin(), parameters.end(),
                               [](const Instruction* a, const Shape& b) { return a->shape == b; });
  if (same && result == module.entry()->root()->shape) return "";
  std::string list;
  for (size_t i = 0; i < parameters.size(); ++i)
    list += fmt::format("{}{}{}", i > 0 ? ", " : "", index_comment(i),
                        shape_text(parameters[i], options.layouts));
  return fmt::format(", entry_computation_layout={{({})->{}}}", list, shape_text(result, options.layouts));
}

std::string header_text(const Module& module, const PrintOptions& options) {
  std::string text = "HloModule " + module.name();
  if (module.is_scheduled) text += ", is_scheduled=true";
  const auto ints = [](const std::vector<int64_t>& values) {
    return fmt::format("{{{}}}", fmt::join(values, ","));
  };
  if (!module.aliases.empty()) {
    std::string list;
    for (const InputOutputAlias& alias : module.aliases)
      list += fmt::format("{} {}: ({}, {}, {})", list.empty() ? "" : ",", ints(alias.output_index),
                          alias.parameter, ints(alias.parameter_index),
                          alias.must_alias ? "must-alias" : "may-alias");
    text += ", input_output_alias={" + list + " }";
  }
  if (!module.donors.empty()) {
    std::string list;
    for (const BufferDonor& donor : module.donors)
      list +=
          fmt::format("{} ({}, {})", list.empty() ? "" : ",", donor.parameter, ints(donor.parameter_index));
    text += ", buffer_donor={" + list + " }";
  }
  text += entry_layout_text(module, options);
  if (module.replica_count != 1) text += fmt::format(", replica_count={}", module.replica_count);
  if (module.num_partitions != 1) text += fmt::format(", num_partitions={}", module.num_partitions);
  std::vector<std::pair<std::string, std::string>> attributes = module.frontend_attributes;
  for (size_t i = 0; i < module.result_names.size(); ++i)
    attributes.emplace_back(fmt::format("{}{}", kResultNamePrefix, i), module.result_names[i]);
  if (!attributes.empty()) text += ", frontend_attributes=" + frontend_text(attributes);
  return text + "\n";
}

}  // namespace

std::string print_hlo(const Instruction& inst, const PrintOptions& options) {
  const bool carried = inst.info().origin != OpOrigin::Hlo;
  std::string text = fmt::format("%{} = {} {}({})", inst.name, shape_text(inst.shape, options.layouts),
                                 carried ? "custom-call" : inst.info().hlo, arguments_text(inst, options));
  text += attributes_text(inst);
  if (inst.literal.is_valid() && !inst.is(Opcode::Constant))
    text += fmt::format(", literal={} {}", to_string(inst.literal.shape(), true), literal_text(inst.literal));
  if (const std::string metadata = options.metadata ? metadata_text(inst, options) : ""; !metadata.empty())
    text += ", metadata=" + metadata;
  return text;
}

std::string print_hlo(const Module& module, const PrintOptions& options) {
  std::string text = header_text(module, options);
  if (options.metadata && !(module.stack_frames == StackFrames{}))
    text += stack_frames_text(module.stack_frames);
  for (const Computation* computation : module.post_order()) {
    text += fmt::format("\n{}%{} {} {{\n", computation->is_entry() ? "ENTRY " : "", computation->name(),
                        signature_text(*computation));
    for (const Instruction* inst : computation->post_order())
      text += fmt::format("  {}{}\n", inst == computation->root() ? "ROOT " : "", print_hlo(*inst, options));
    text += "}";
    if (!computation->execution_thread.empty())
      text += ", execution_thread=" + quoted(computation->execution_thread);
    text += "\n";
  }
  return text;
}

}  // namespace ncc::hlo
