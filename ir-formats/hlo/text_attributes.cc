// Attributes of HLO text instructions. Keys choose the form, so an attribute reads the same on every opcode;
// keys nobody knows are kept as text. Source: spec/hlo-text.md §7-§9.
#include <algorithm>
#include <charconv>

#include "ir-formats/hlo/device_groups.h"
#include "ir-formats/hlo/print_attributes.h"
#include "ir-formats/hlo/rewrite.h"
#include "ir-formats/hlo/text_parser.h"
#include "ir-formats/hlo/wire_names.h"

namespace ncc::hlo {

Status TextParser::parse_attributes(Scope*, Instruction* inst) {
  Calls calls;
  std::vector<std::string_view> seen;
  while (scan_.peek() == ',') {
    const size_t comma = scan_.position();
    scan_.accept(',');
    std::string_view key;
    if (!scan_.accept_key(&key)) {
      scan_.seek(comma);  // the comma belongs to what encloses the instruction
      break;
    }
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      return scan_.fail_at(comma, fmt::format("attribute '{}' occurs twice", key));
    seen.push_back(key);
    NCC_TRY(parse_attribute(nullptr, key, inst, &calls));
  }
  return finish_calls(inst, calls);
}

Status TextParser::parse_attribute(Scope* scope, std::string_view key, Instruction* inst, Calls* calls) {
  bool known = false;
  NCC_TRY(parse_common_attribute(scope, key, inst, &known));
  if (!known) NCC_TRY(parse_call_attribute(key, calls, &known));
  if (!known) NCC_TRY(parse_list_attribute(key, inst, &known));
  if (!known) NCC_TRY(parse_number_attribute(key, inst, &known));
  if (!known) NCC_TRY(parse_word_attribute(key, inst, &known));
  if (!known) NCC_TRY(parse_group_attribute(key, inst, &known));
  return known ? Status::ok() : parse_raw_attribute(key, inst);
}

// A name, or an inline body with its own scope.
Status TextParser::parse_computation_ref(Computation** computation) {
  if (scan_.peek() == '{') {
    Scope scope;
    scope.computation = module_->add_computation("_");
    NCC_TRY(parse_body(&scope));
    *computation = scope.computation;
    return Status::ok();
  }
  const size_t begin = scan_.position();
  std::string_view name;
  NCC_TRY(scan_.name(&name));
  const auto found = computations_.find(std::string(name));
  if (found == computations_.end())
    return scan_.fail_at(begin, fmt::format("unknown computation '{}'", name));
  *computation = found->second;
  return Status::ok();
}

Status TextParser::parse_computation_list(std::vector<Computation*>* list) {
  NCC_TRY(scan_.expect('{'));
  while (!scan_.accept('}')) {
    NCC_TRY(parse_computation_ref(&list->emplace_back()));
    if (!scan_.accept(',') && scan_.peek() != '}') return scan_.fail("expected ',' or '}'");
  }
  return Status::ok();
}

Status TextParser::parse_call_attribute(std::string_view key, Calls* calls, bool* known) {
  *known = true;
  if (key == "branch_computations" || key == "called_computations")
    return parse_computation_list(&calls->list);
  if (key == "to_apply" || key == "calls") return parse_computation_ref(&calls->list.emplace_back());
  if (key == "body") return parse_computation_ref(&calls->body);
  if (key == "condition") return parse_computation_ref(&calls->condition);
  if (key == "select") return parse_computation_ref(&calls->select);
  if (key == "scatter") return parse_computation_ref(&calls->scatter);
  if (key == "true_computation") return parse_computation_ref(&calls->on_true);
  if (key == "false_computation") return parse_computation_ref(&calls->on_false);
  *known = false;
  return Status::ok();
}

Status TextParser::finish_calls(Instruction* inst, const Calls& calls) {
  inst->called = calls.list;
  for (Computation* computation :
       {calls.body, calls.condition, calls.select, calls.scatter, calls.on_true, calls.on_false}) {
    if (computation) inst->called.push_back(computation);
  }
  return Status::ok();
}

Status TextParser::parse_string_or_json(std::string* value) {
  if (scan_.peek() != '{') return scan_.string(value);
  std::string_view raw;
  NCC_TRY(scan_.group(&raw));
  *value = raw;
  return Status::ok();
}

Status TextParser::parse_frontend_attributes(std::vector<std::pair<std::string, std::string>>* attributes) {
  NCC_TRY(scan_.expect('{'));
  while (!scan_.accept('}')) {
    std::string_view key;
    if (!scan_.accept_key(&key)) return scan_.fail("expected a key");
    auto& [name, value] = attributes->emplace_back();
    name = key;
    if (key.starts_with(kHexKeyPrefix)) {
      if (std::optional<std::string> bytes = bytes_of_hex(key.substr(kHexKeyPrefix.size())))
        name = std::move(*bytes);
    }
    NCC_TRY(parse_string_or_json(&value));
    if (!scan_.accept(',') && scan_.peek() != '}') return scan_.fail("expected ',' or '}'");
  }
  std::sort(attributes->begin(), attributes->end());
  return Status::ok();
}

Status TextParser::parse_metadata(Instruction* inst) {
  NCC_TRY(scan_.expect('{'));
  std::string_view key;
  SourceLoc loc;
  LocationDetails details;
  while (scan_.accept_key(&key)) {
    std::string text;
    int64_t number = 0;
    if (scan_.peek() == '"' || scan_.peek() == '\'') {
      NCC_TRY(scan_.string(&text));
    } else if (scan_.peek() == '{') {
      std::string_view ignored;
      NCC_TRY(scan_.group(&ignored));
    } else if ((scan_.peek() >= '0' && scan_.peek() <= '9') || scan_.peek() == '-') {
      NCC_TRY(scan_.integer(&number));
    } else {
      std::string_view ignored;
      NCC_TRY(scan_.run(&ignored));
    }
    if (number < INT32_MIN || number > INT32_MAX) return scan_.fail("number out of range");
    const int32_t value = static_cast<int32_t>(number);
    if (key == "op_type") details.op_type = text;
    if (key == "op_name") loc.op_name = text;
    if (key == "source_file") loc.file = text;
    if (key == "source_line") loc.line = value;
    if (key == "source_end_line") details.end_line = value;
    if (key == "source_column") details.column = value;
    if (key == "source_end_column") details.end_column = value;
    if (key == "stack_frame_id") details.stack_frame = value;
    if (key == "deduplicated_name") details.deduplicated_name = text;
    if (key == "scheduling_name") details.scheduling_name = text;
    scan_.accept(',');
  }
  NCC_TRY(scan_.expect('}'));
  if (loc.op_name.empty()) loc.op_name = details.op_type;
  if (loc.file.empty()) {
    SourceLoc frame = module_->stack_frames.location(details.stack_frame);
    frame.op_name = std::move(loc.op_name);
    loc = std::move(frame);
  }
  if (!loc.empty()) inst->loc = std::move(loc);
  inst->loc_details = share_details(std::move(details));
  return Status::ok();
}

Status TextParser::parse_common_attribute(Scope*, std::string_view key, Instruction* inst, bool* known) {
  *known = true;
  if (key == "metadata") return parse_metadata(inst);
  if (key == "sharding") {
    std::string_view raw;
    NCC_TRY(scan_.group(&raw));
    inst->mutable_attrs().sharding = raw;
    return Status::ok();
  }
  if (key == "frontend_attributes") {
    std::vector<std::pair<std::string, std::string>> list;
    NCC_TRY(parse_frontend_attributes(&list));
    if (!list.empty()) inst->mutable_attrs().frontend_attributes = std::move(list);
    return Status::ok();
  }
  if (key == "control-predecessors") {
    NCC_TRY(scan_.expect('{'));
    while (!scan_.accept('}')) {
      const size_t begin = scan_.position();
      std::string_view name;
      NCC_TRY(scan_.name(&name));
      Instruction* before = nullptr;
      for (const auto& other : inst->parent->instructions()) {
        if (other.get() != inst && other->name == name) before = other.get();
      }
      if (!before) return scan_.fail_at(begin, fmt::format("unknown instruction '{}'", name));
      inst->control_predecessors.push_back(before);
      if (!scan_.accept(',') && scan_.peek() != '}') return scan_.fail("expected ',' or '}'");
    }
    return Status::ok();
  }
  if (key == "backend_config") return parse_string_or_json(&inst->mutable_attrs().backend_config);
  if (key == "origin" || key == "statistics" || key == "mode") {  // nothing that changes a value
    std::string_view ignored;
    return scan_.peek() == '{' ? scan_.group(&ignored) : scan_.run(&ignored);
  }
  *known = false;
  return Status::ok();
}

Status TextParser::parse_list_attribute(std::string_view key, Instruction* inst, bool* known) {
  struct Row {
    std::string_view key;
    std::vector<int64_t>* (*list)(Attributes&);
  };
  static constexpr Row kRows[] = {
      {"dynamic_slice_sizes", [](Attributes& a) { return &a.slice_sizes; }},
      {"slice_sizes", [](Attributes& a) { return &a.slice_sizes; }},
      {"fft_length", [](Attributes& a) { return &a.fft_length; }},
      {"lhs_contracting_dims", [](Attributes& a) { return &a.dot.lhs_contracting; }},
      {"rhs_contracting_dims", [](Attributes& a) { return &a.dot.rhs_contracting; }},
      {"lhs_batch_dims", [](Attributes& a) { return &a.dot.lhs_batch; }},
      {"rhs_batch_dims", [](Attributes& a) { return &a.dot.rhs_batch; }},
      {"lhs_ragged_dims", [](Attributes& a) { return &a.lhs_ragged_dims; }},
      {"rhs_group_dims", [](Attributes& a) { return &a.rhs_group_dims; }},
      {"offset_dims", [](Attributes& a) { return &a.gather.offset_dims; }},
      {"collapsed_slice_dims", [](Attributes& a) { return &a.gather.collapsed_slice_dims; }},
      {"start_index_map", [](Attributes& a) { return &a.gather.start_index_map; }},
      {"operand_batching_dims", [](Attributes& a) { return &a.gather.operand_batching_dims; }},
      {"start_indices_batching_dims", [](Attributes& a) { return &a.gather.start_indices_batching_dims; }},
      {"update_window_dims", [](Attributes& a) { return &a.scatter.update_window_dims; }},
      {"inserted_window_dims", [](Attributes& a) { return &a.scatter.inserted_window_dims; }},
      {"scatter_dims_to_operand_dims", [](Attributes& a) { return &a.scatter.scatter_dims_to_operand_dims; }},
      {"input_batching_dims", [](Attributes& a) { return &a.scatter.input_batching_dims; }},
      {"scatter_indices_batching_dims",
       [](Attributes& a) { return &a.scatter.scatter_indices_batching_dims; }},
  };
  *known = true;
  if (key == "dimensions") return scan_.ints(&inst->dimensions);
  for (const Row& row : kRows) {
    // collective-permute has a list of lists under this key.
    if (row.key == key && !(key == "slice_sizes" && inst->info().kind == OpKind::Collective))
      return scan_.ints(row.list(inst->mutable_attrs()));
  }
  *known = false;
  return Status::ok();
}

namespace {

struct IntRow {
  std::string_view key;
  int64_t Attributes::*field;
};
constexpr IntRow kInts[] = {
    {"feature_group_count", &Attributes::feature_group_count},
    {"batch_group_count", &Attributes::batch_group_count},
    {"feature_index", &Attributes::feature_index},
    {"exponent_bits", &Attributes::exponent_bits},
    {"mantissa_bits", &Attributes::mantissa_bits},
    {"channel_id", &Attributes::channel_id},
    {"inferred_dimension", &Attributes::inferred_dimension},
    {"num_carries", &Attributes::num_carries},
    {"delta", &Attributes::delta},
    {"k", &Attributes::k},
};
struct BoolRow {
  std::string_view key;
  bool Attributes::*field;
};
constexpr BoolRow kBools[] = {
    {"is_stable", &Attributes::is_stable},
    {"largest", &Attributes::largest},
    {"indices_are_sorted", &Attributes::indices_are_sorted},
    {"unique_indices", &Attributes::unique_indices},
    {"left_side", &Attributes::left_side},
    {"lower", &Attributes::lower},
    {"unit_diagonal", &Attributes::unit_diagonal},
    {"is_reverse", &Attributes::is_reverse},
    {"is_associative", &Attributes::is_associative},
    {"custom_call_has_side_effect", &Attributes::custom_call_has_side_effect},
    {"constrain_layout", &Attributes::constrain_layout},
    {"is_composite", &Attributes::is_composite},
    {"use_global_device_ids", &Attributes::use_global_device_ids},
    {"is_host_transfer", &Attributes::is_host_transfer},
};

}  // namespace

Status TextParser::parse_number_attribute(std::string_view key, Instruction* inst, bool* known) {
  *known = true;
  if (key == "index") return scan_.integer(&inst->index);
  if (key == "index_vector_dim") {
    Attributes& a = inst->mutable_attrs();
    return scan_.integer(inst->is(Opcode::Scatter) ? &a.scatter.index_vector_dim
                                                   : &a.gather.index_vector_dim);
  }
  if (key == "iota_dimension") {
    inst->dimensions.resize(1);
    return scan_.integer(&inst->dimensions[0]);
  }
  if (key == "cross_program_prefetch_index")
    return scan_.integer(&inst->mutable_attrs().cross_program_prefetch_index.emplace());
  if (key == "epsilon") {
    std::string_view text;
    NCC_TRY(scan_.number_text(&text));
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    inst->mutable_attrs().epsilon = static_cast<float>(value);
    return Status::ok();
  }
  for (const IntRow& row : kInts) {
    if (row.key == key) return scan_.integer(&(inst->mutable_attrs().*row.field));
  }
  for (const BoolRow& row : kBools) {
    if (row.key == key) return scan_.boolean(&(inst->mutable_attrs().*row.field));
  }
  *known = false;
  return Status::ok();
}

Status TextParser::parse_word_attribute(std::string_view key, Instruction* inst, bool* known) {
  const size_t begin = scan_.position();
  const auto bad = [&](std::string_view word) {
    return scan_.fail_at(begin, fmt::format("unknown {} '{}'", key, word));
  };
  std::string_view word;
  const auto pick = [&](auto* field, auto value) {
    if (!value) return bad(word);
    *field = *value;
    return Status::ok();
  };
  *known = true;
  if (key == "custom_call_target") return scan_.string(&inst->mutable_attrs().custom_call_target);
  if (key == "infeed_config") return parse_string_or_json(&inst->mutable_attrs().infeed_config);
  if (key == "outfeed_config") return parse_string_or_json(&inst->mutable_attrs().outfeed_config);
  if (key == "async_execution_thread") {
    NCC_TRY(scan_.string(&inst->mutable_attrs().async_execution_thread));
    if (inst->attrs().async_execution_thread == "main") inst->mutable_attrs().async_execution_thread.clear();
    return Status::ok();
  }
  static constexpr std::string_view kWords[] = {
      "direction", "type",         "fft_type", "transpose_a", "distribution",     "algorithm",
      "kind",      "padding_type", "schedule", "api_version", "convolution_kind", "conv_kind"};
  *known = std::find(std::begin(kWords), std::end(kWords), key) != std::end(kWords);
  if (!*known) return Status::ok();
  NCC_TRY(scan_.run(&word));
  if (key == "direction") return pick(&inst->direction, enum_from_name<CompareDirection>(word, 6));
  if (key == "type") return pick(&inst->compare_type, enum_from_name<CompareType>(word, 5));
  Attributes& a = inst->mutable_attrs();
  if (key == "fft_type") return pick(&a.fft_type, enum_from_name<FftType>(word, 4));
  if (key == "transpose_a") return pick(&a.transpose_a, enum_from_name<TransposeKind>(word, 4));
  if (key == "distribution") return pick(&a.rng_distribution, enum_from_name<RngDistribution>(word, 3));
  if (key == "padding_type") return pick(&a.padding_type, index_of(kPaddingTypeNames, word));
  if (key == "convolution_kind" || key == "conv_kind")
    return pick(&a.conv_kind, index_of(kConvKindNames, word));
  if (key == "schedule") return pick(&a.schedule, index_of(kScheduleNames, word));
  if (key == "api_version") {
    NCC_TRY(pick(&a.api_version, index_of(kApiVersionNames, word)));
    a.api_version = api_version_from_wire(a.api_version);
    return Status::ok();
  }
  if (key == "kind") {
    a.fusion_kind = word;
    return Status::ok();
  }
  if (inst->is(Opcode::RngBitGenerator)) return pick(&a.rng_algorithm, enum_from_name<RngAlgorithm>(word, 3));
  if (!index_of(kAlgorithmNames, word)) return bad(word);
  a.algorithm = word;
  return Status::ok();
}

// Kept as it stands: a group with what may follow it ("[2,4]<=[8]"), a string, or a word.
Status TextParser::parse_raw_attribute(std::string_view key, Instruction* inst) {
  std::string value;
  if (scan_.peek() == '{' || scan_.peek() == '[') {
    std::string_view raw;
    NCC_TRY(scan_.group(&raw));
    value = raw;
  } else if (scan_.peek() == '"') {
    std::string text;
    const size_t begin = scan_.position();
    NCC_TRY(scan_.string(&text));
    value = scan_.text().substr(begin, scan_.position() - begin);
    while (!value.empty() && value.back() != '"') value.pop_back();
  } else {
    std::string_view word;
    NCC_TRY(scan_.run(&word));
    value = word;
  }
  inst->mutable_attrs().raw.emplace_back(key, std::move(value));
  return Status::ok();
}

}  // namespace ncc::hlo
