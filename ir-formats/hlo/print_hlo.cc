// HLO text in XLA's long form. Source: spec/hlo-text.md §15.
#include "ir-formats/hlo/literal_text.h"
#include "ir-formats/hlo/print_attributes.h"
#include "ir-formats/hlo/rewrite.h"
#include "ir-formats/hlo/write.h"

namespace ncc::hlo {
namespace {

std::string metadata_text(const SourceLoc& loc) {
  std::string text;
  const auto add = [&](std::string part) { text += (text.empty() ? "" : " ") + part; };
  if (!loc.op_name.empty()) add("op_name=" + quoted(loc.op_name));
  if (!loc.file.empty()) add("source_file=" + quoted(loc.file));
  if (loc.line > 0) add(fmt::format("source_line={}", loc.line));
  return "{" + text + "}";
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
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", parameter->name, to_string(parameter->shape));
  return fmt::format("({}) -> {}", text, to_string(computation.root()->shape));
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
  if (module.has_entry_layout) {
    std::string list;
    for (size_t i = 0; i < module.entry_parameter_shapes.size(); ++i)
      list += fmt::format("{}{}{}", i > 0 ? ", " : "", index_comment(i),
                          to_string(module.entry_parameter_shapes[i], options.layouts));
    text += fmt::format(", entry_computation_layout={{({})->{}}}", list,
                        to_string(module.entry_result_shape, options.layouts));
  }
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
  std::string text = fmt::format("%{} = {} {}({})", inst.name, to_string(inst.shape, options.layouts),
                                 carried ? "custom-call" : inst.info().hlo, arguments_text(inst, options));
  text += attributes_text(inst);
  if (inst.literal.is_valid() && !inst.is(Opcode::Constant))
    text += fmt::format(", literal={} {}", to_string(inst.literal.shape(), true), literal_text(inst.literal));
  if (options.metadata && !inst.loc.empty()) text += ", metadata=" + metadata_text(inst.loc);
  return text;
}

std::string print_hlo(const Module& module, const PrintOptions& options) {
  std::string text = header_text(module, options);
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
