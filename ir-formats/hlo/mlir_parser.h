// Parser of StableHLO, CHLO, func, check and sdy ops in MLIR text, generic and pretty forms.
// Recursive descent with a depth limit; every error is one EMLR001 with line:column.
// Source: spec/stablehlo-text.md §1, §2.
#pragma once
#include <unordered_map>

#include "ir-formats/hlo/mlir_ast.h"
#include "ir-formats/hlo/mlir_lexer.h"

namespace ncc::hlo::mlir {

/// A type that is not just a value shape: functions occur in op types only.
struct Type {
  bool function = false;
  Shape shape;
  std::vector<Shape> inputs, results;
};

/// `text` of a type attribute that is a function type.
constexpr std::string_view kFunctionType = "->";

class Parser {
 public:
  explicit Parser(std::string_view text, const MappedFile* file = nullptr) : lexer_(text, file) {}
  Result<File> parse_file();
  const MlirLexer& lexer() const { return lexer_; }

 private:
  // Tokens (mlir_parser.cc).
  const Token& token() const { return lexer_.current(); }
  bool is(char punct) const { return token().kind == Tok::Punct && token().punct == punct; }
  bool is_word(std::string_view word) const { return token().kind == Tok::BareId && token().text == word; }
  bool accept(char punct);
  bool accept_word(std::string_view word);
  Status expect(char punct);
  Status expect_word(std::string_view word);
  Status fail(std::string_view why) const { return fail_at(token().begin, why); }
  Status fail_at(size_t offset, std::string_view why) const;
  Status enter();  // depth limit; pair with leave()
  void leave() { --depth_; }

  // File level and operations (mlir_parser.cc).
  Status parse_top_level(File* file);
  Status parse_alias(File* file);
  Status parse_metadata(File* file);
  Status parse_module(File* file);
  Status parse_op(std::vector<std::unique_ptr<Op>>* out);
  Status check_known_syntax(const Op& op) const;
  Status parse_results(Op* op);
  Status parse_generic(Op* op);
  Status complete_function(Op* op);                          // mlir_generic.cc
  Status unwrap_module(std::unique_ptr<Op> op, File* file);  // mlir_generic.cc
  Status parse_func(Op* op);
  Status parse_func_arguments(Region* body);
  Status parse_func_results(Op* op);
  Status parse_region(Region* region);
  Status parse_block_args(Region* region);
  Status parse_value(ValueRef* value);
  Status parse_values(std::vector<ValueRef>* values);
  Status parse_optional_loc(Loc* loc);
  Status parse_loc_body(Loc* loc);
  Status parse_file_position(Loc* loc);

  // Pretty forms (mlir_formats.cc).
  Status parse_pretty(Op* op);
  Status parse_items(Op* op);
  Status parse_item(Op* op);
  Status parse_item_value(std::string_view key, Attr* value);
  Status parse_types(Op* op);
  Status assign_types(Op* op, std::vector<Shape> types);
  Status parse_constant(Op* op);
  Status parse_compare(Op* op);
  Status parse_slice(Op* op);
  Status parse_call(Op* op, std::string_view symbol_attr);
  Status parse_parenthesised(Op* op);
  Status parse_convolution(Op* op);
  Status parse_reduce(Op* op);
  Status parse_while(Op* op);
  Status parse_scan(Op* op);
  Status parse_composite(Op* op);
  Status parse_check(Op* op);
  Status parse_sharding_op(Op* op);

  // Types (mlir_types.cc).
  Status parse_type(Shape* shape);
  Status parse_type_or_function(Type* type);
  Status parse_type_list(std::vector<Shape>* types);
  Status parse_result_types(std::vector<Shape>* types);
  Status parse_tensor(Shape* shape);
  Status parse_dims(Shape* shape);
  Status parse_encoding(Shape* shape);
  Status parse_tuple(Shape* shape);
  Status parse_element_type(Shape* shape);
  Status parse_quantized(Shape* shape);

  // Attributes (mlir_attributes.cc, mlir_dense.cc).
  std::string_view source_from(size_t begin) const;
  Status parse_attr(Attr* attr);
  Status parse_attr_value(Attr* attr);
  Status parse_word_attr(Attr* attr);
  Status parse_dict(AttrDict* attrs);
  Status parse_optional_dict(AttrDict* attrs);
  Status parse_number(Attr* attr, bool typed);
  Status parse_array(Attr* attr);
  Status parse_dense_array(Attr* attr);
  Status parse_dialect_attr(Attr* attr);
  Status parse_struct_body(Attr* attr);
  Status parse_conv_dims(Attr* attr);
  Status parse_conv_group(Attr* attr);
  Status parse_string(std::string* text);
  Status parse_integer(int64_t* value);
  Status skip_balanced(Attr* attr, size_t begin);
  Status parse_dense(Attr* attr);
  Status parse_dense_resource(Attr* attr);

  struct Element {
    bool negative;
    Tok kind;
    std::string_view text;
  };
  struct Nested {
    std::vector<Element> elements;
    std::vector<int64_t> dims;  // lengths seen on each level; -1 = not yet
    bool scalar = false;        // no bracket at all
  };
  Status parse_nested(size_t level, Nested* nested);
  Status parse_element(Nested* nested);
  Status build_dense(const Nested& nested, size_t offset, Attr* attr);
  Status build_hex(std::string_view hex, size_t offset, Attr* attr);
  Status store_element(const Element& element, Dtype dtype, std::byte* to) const;

  MlirLexer lexer_;
  int depth_ = 0;
  bool typed_numbers_ = true;  // false where a colon after a number starts the op's type
  std::unordered_map<std::string, Shape> type_aliases_;
  std::unordered_map<std::string, Attr> attr_aliases_;
};

/// Two digits a byte. Returns where decoding stopped: digits.size() when all were hex.
size_t decode_hex(std::string_view digits, std::byte* to);
/// Elements of less than a byte keep their low bits alone; any set bit of an i1 is true.
void clean_elements(Dtype dtype, std::byte* bytes, int64_t count);

/// The dialect struct or key lists: ints of an Array, dense array, dense elements or single Int attribute.
Status int_list(const Attr& attr, std::vector<int64_t>* values);

}  // namespace ncc::hlo::mlir
