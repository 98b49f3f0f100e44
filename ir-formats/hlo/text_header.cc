// The header of HLO text: module attributes and stack frames. Source: spec/hlo-text.md §2.
#include <algorithm>

#include "ir-formats/hlo/text_parser.h"

namespace ncc::hlo {

// {(shape, …)->shape}
Status TextParser::parse_entry_layout() {
  NCC_TRY(scan_.expect('{'));
  NCC_TRY(scan_.expect('('));
  while (!scan_.accept(')')) {
    NCC_TRY(parse_shape(&module_->entry_parameter_shapes.emplace_back()));
    if (!scan_.accept(',') && scan_.peek() != ')') return scan_.fail("expected ',' or ')'");
  }
  NCC_TRY(scan_.expect("->"));
  NCC_TRY(parse_shape(&module_->entry_result_shape));
  module_->has_entry_layout = true;
  return scan_.expect('}');
}

// { {0}: (0, {}, may-alias), … }
Status TextParser::parse_alias_list() {
  NCC_TRY(scan_.expect('{'));
  while (!scan_.accept('}')) {
    InputOutputAlias& alias = module_->aliases.emplace_back();
    NCC_TRY(scan_.ints(&alias.output_index));
    NCC_TRY(scan_.expect(':'));
    NCC_TRY(scan_.expect('('));
    NCC_TRY(scan_.integer(&alias.parameter));
    NCC_TRY(scan_.expect(','));
    NCC_TRY(scan_.ints(&alias.parameter_index));
    if (scan_.accept(',')) {
      alias.must_alias = scan_.accept_word("must-alias");
      if (!alias.must_alias && !scan_.accept_word("may-alias"))
        return scan_.fail("expected may-alias or must-alias");
    }
    NCC_TRY(scan_.expect(')'));
    scan_.accept(',');
  }
  return Status::ok();
}

// { (2, {}), … }
Status TextParser::parse_donor_list() {
  NCC_TRY(scan_.expect('{'));
  while (!scan_.accept('}')) {
    BufferDonor& donor = module_->donors.emplace_back();
    NCC_TRY(scan_.expect('('));
    NCC_TRY(scan_.integer(&donor.parameter));
    NCC_TRY(scan_.expect(','));
    NCC_TRY(scan_.ints(&donor.parameter_index));
    NCC_TRY(scan_.expect(')'));
    scan_.accept(',');
  }
  return Status::ok();
}

Status TextParser::parse_module_attribute(std::string_view key) {
  if (key == "entry_computation_layout") return parse_entry_layout();
  if (key == "is_scheduled") return scan_.boolean(&module_->is_scheduled);
  if (key == "input_output_alias") return parse_alias_list();
  if (key == "buffer_donor") return parse_donor_list();
  if (key == "replica_count") return scan_.integer(&module_->replica_count);
  if (key == "num_partitions") return scan_.integer(&module_->num_partitions);
  if (key == "frontend_attributes") return parse_frontend_attributes(&module_->frontend_attributes);
  // Propagation flags, recovery tables and what newer producers add do not concern the computation.
  std::string_view ignored;
  return scan_.peek() == '{' ? scan_.group(&ignored) : scan_.run(&ignored);
}

Status TextParser::parse_header() {
  std::string_view name;
  NCC_TRY(scan_.name(&name));
  scan_.accept(':');
  module_->set_name(std::string(name));
  while (scan_.accept(',')) {
    std::string_view key;
    if (!scan_.accept_key(&key)) return scan_.fail("expected a module attribute");
    NCC_TRY(parse_module_attribute(key));
  }
  return Status::ok();
}

// Four numbered tables; only the position counts.
Status TextParser::parse_stack_frames() {
  if (!scan_.accept_word("FileNames")) return Status::ok();
  const auto strings = [&](std::vector<std::string>* list) {
    int64_t number = 0;
    while (scan_.peek() >= '0' && scan_.peek() <= '9') {
      NCC_TRY(scan_.integer(&number));
      NCC_TRY(scan_.string(&list->emplace_back()));
    }
    return Status::ok();
  };
  StackFrames& frames = module_->stack_frames;
  NCC_TRY(strings(&frames.files));
  if (!scan_.accept_word("FunctionNames")) return scan_.fail("expected FunctionNames");
  NCC_TRY(strings(&frames.functions));
  const auto rows = [&](const auto& store) {
    int64_t number = 0;
    while (scan_.peek() >= '0' && scan_.peek() <= '9') {
      NCC_TRY(scan_.integer(&number));
      NCC_TRY(scan_.expect('{'));
      std::unordered_map<std::string_view, int32_t> fields;
      std::string_view key;
      while (scan_.accept_key(&key)) {
        NCC_TRY(scan_.integer(&number));
        if (number < 0 || number > INT32_MAX) return scan_.fail("number out of range");
        fields[key] = static_cast<int32_t>(number);
        scan_.accept(',');
      }
      NCC_TRY(scan_.expect('}'));
      store(fields);
    }
    return Status::ok();
  };
  if (!scan_.accept_word("FileLocations")) return scan_.fail("expected FileLocations");
  NCC_TRY(rows([&](auto& fields) {
    frames.places.push_back({fields["file_name_id"], fields["function_name_id"], fields["line"],
                             fields["column"], fields["end_line"], fields["end_column"]});
  }));
  if (!scan_.accept_word("StackFrames")) return scan_.fail("expected StackFrames");
  return rows([&](auto& fields) {
    // The text counts parents from 1 for "none".
    frames.frames.push_back({fields["file_location_id"], std::max(fields["parent_frame_id"] - 1, 0)});
  });
}

}  // namespace ncc::hlo
