// Parser of HLO text: modules, headerless modules, single instructions. Computations and instructions are
// declared before they are used, so one pass builds the module. Source: spec/hlo-text.md.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir-formats/hlo/module.h"
#include "ir-formats/hlo/text_scanner.h"

namespace ncc::hlo {

class TextParser {
 public:
  TextParser(std::string_view text, std::string file) : scan_(text), file_(std::move(file)) {}
  Result<std::unique_ptr<Module>> parse();

  // Also used on their own: shapes and literals (text_values.cc).
  Status parse_shape(Shape* shape);
  Status parse_literal(const Shape& shape, Literal* literal);

 private:
  struct Scope {
    Computation* computation = nullptr;
    std::unordered_map<std::string, Instruction*> values;
    bool free_operands = false;  // single-instruction mode: unknown operands become parameters
  };
  // Computations that attributes name, by role; put in order once the opcode's attributes are complete.
  struct Calls {
    std::vector<Computation*> list;  // to_apply, calls, branch_computations, called_computations
    Computation* body = nullptr;
    Computation* condition = nullptr;
    Computation* select = nullptr;
    Computation* scatter = nullptr;
    Computation* on_true = nullptr;
    Computation* on_false = nullptr;
  };

  // Module level (text_parser.cc).
  Status parse_module();
  Status parse_header();
  Status parse_module_attribute(std::string_view key);
  Status parse_entry_layout();
  Status parse_alias_list();
  Status parse_donor_list();
  Status parse_stack_frames();
  Status parse_computation();
  Status parse_signature(Shape* result, bool* stated);
  Status parse_body(Scope* scope);
  Result<Instruction*> parse_instruction(Scope* scope);
  Status parse_single();
  Result<Instruction*> parse_rhs(Scope* scope, std::string name, bool attributes);
  Status parse_operands(Scope* scope, std::vector<Instruction*>* operands);
  Status parse_operand(Scope* scope, std::vector<Instruction*>* operands);
  bool at_shape() const;
  Result<Opcode> parse_opcode(std::string* async_of);
  Status set_shape(Instruction* inst, bool stated, size_t position);
  Status wrap_async(Instruction* inst, const std::string& async_of, size_t position);

  // Attributes (text_attributes.cc).
  Status parse_attributes(Scope* scope, Instruction* inst);
  Status parse_attribute(Scope* scope, std::string_view key, Instruction* inst, Calls* calls);
  Status parse_common_attribute(Scope* scope, std::string_view key, Instruction* inst, bool* known);
  Status parse_call_attribute(std::string_view key, Calls* calls, bool* known);
  Status parse_list_attribute(std::string_view key, Instruction* inst, bool* known);
  Status parse_number_attribute(std::string_view key, Instruction* inst, bool* known);
  Status parse_word_attribute(std::string_view key, Instruction* inst, bool* known);
  Status parse_group_attribute(std::string_view key, Instruction* inst, bool* known);
  Status parse_raw_attribute(std::string_view key, Instruction* inst);
  Status finish_calls(Instruction* inst, const Calls& calls);
  Status parse_computation_ref(Computation** computation);
  Status parse_computation_list(std::vector<Computation*>* list);
  Status parse_metadata(Instruction* inst);
  Status parse_string_or_json(std::string* value);
  Status parse_frontend_attributes(std::vector<std::pair<std::string, std::string>>* attributes);
  Status parse_window(Window* window);
  Status parse_dim_labels(ConvDims* conv);
  Status parse_slice(Attributes* a);
  Status parse_padding(std::vector<PaddingDim>* padding);
  Status parse_replica_groups(Attributes* a);
  Status parse_int_lists(std::vector<std::vector<int64_t>>* lists);
  Status parse_aliasing(std::vector<OutputAlias>* aliases);
  Status parse_accuracy(ResultAccuracy* accuracy);
  Status parse_domain(Attributes* a);
  Status parse_precisions(std::vector<Precision>* list);

  // Values (text_values.cc).
  Status parse_layout(Shape* shape);
  Status parse_layout_parts(LayoutExtras* extras);
  Status parse_elements(const Shape& shape, size_t level, std::string* bytes);
  Status parse_element(Dtype dtype, std::string* bytes);
  Status parse_float(Dtype dtype, std::byte* to);
  Status parse_nan(std::string_view payload, bool negative, Dtype dtype, std::byte* to, size_t position);
  Status enter() { return ++depth_ > 200 ? scan_.fail("nested too deeply") : Status::ok(); }
  void leave() { --depth_; }

  TextScanner scan_;
  std::string file_;
  std::unique_ptr<Module> module_;
  std::unordered_map<std::string, Computation*> computations_;
  Computation* last_ = nullptr;
  int depth_ = 0;
};

}  // namespace ncc::hlo
