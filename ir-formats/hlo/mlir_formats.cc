// Pretty forms. Most ops are operands, `key = value` items, an attribute dictionary and types; the rest have
// a function each. Every form ends up as if the generic one had been read: keys become the op's own attribute
// names. Source: spec/stablehlo-text.md §1.4, §2.
#include <charconv>

#include "ir-formats/hlo/mlir_parser.h"

namespace ncc::hlo::mlir {
namespace {

// Keys of pretty items whose attribute has another name. Other keys are attribute names already.
struct ItemName {
  std::string_view op, key, attribute;
};
constexpr ItemName kItemNames[] = {
    {"stablehlo.iota", "dim", "iota_dimension"},
    {"stablehlo.dynamic_iota", "dim", "iota_dimension"},
    {"stablehlo.broadcast_in_dim", "dims", "broadcast_dimensions"},
    {"stablehlo.dynamic_broadcast_in_dim", "dims", "broadcast_dimensions"},
    {"stablehlo.broadcast", "sizes", "broadcast_sizes"},
    {"stablehlo.transpose", "dims", "permutation"},
    {"stablehlo.reverse", "dims", "dimensions"},
    {"stablehlo.concatenate", "dim", "dimension"},
    {"stablehlo.get_dimension_size", "dim", "dimension"},
    {"stablehlo.set_dimension_size", "dim", "dimension"},
    {"stablehlo.dynamic_slice", "sizes", "slice_sizes"},
    {"stablehlo.pad", "low", "edge_padding_low"},
    {"stablehlo.pad", "high", "edge_padding_high"},
    {"stablehlo.pad", "interior", "interior_padding"},
    {"stablehlo.fft", "type", "fft_type"},
    {"stablehlo.fft", "length", "fft_length"},
    {"stablehlo.rng", "distribution", "rng_distribution"},
    {"stablehlo.rng_bit_generator", "algorithm", "rng_algorithm"},
    {"stablehlo.einsum", "config", "einsum_config"},
    {"stablehlo.unary_einsum", "config", "einsum_config"},
    {"stablehlo.dot", "precision", "precision_config"},
    {"stablehlo.dot_general", "precision", "precision_config"},
};

std::string item_attribute(std::string_view op, std::string_view key) {
  for (const ItemName& row : kItemNames) {
    if (row.op == op && row.key == key) return std::string(row.attribute);
  }
  return std::string(key);
}

// What one plain list of types behind the colon means.
enum class Ending { Same, Results, Operands, OperandsAndResults };
Ending ending_of(std::string_view op) {
  constexpr std::string_view kResults[] = {
      "stablehlo.iota",         "stablehlo.replica_id", "stablehlo.partition_id", "stablehlo.tuple",
      "stablehlo.create_token", "stablehlo.constant",   "chlo.constant"};
  constexpr std::string_view kBoth[] = {"stablehlo.optimization_barrier", "stablehlo.while"};
  for (std::string_view name : kResults) {
    if (name == op) return Ending::Results;
  }
  for (std::string_view name : kBoth) {
    if (name == op) return Ending::OperandsAndResults;
  }
  if (op == "stablehlo.return" || op == "func.return" || op == "sdy.return" || op.starts_with("check.") ||
      op == "interpreter.print" || op == "sdy.sharding_group")
    return Ending::Operands;
  return Ending::Same;
}

Attr int_attr(int64_t value) {
  Attr attr;
  attr.kind = Attr::Kind::Int;
  attr.integer = value;
  return attr;
}

Attr int_array(const std::vector<int64_t>& values) {
  Attr attr;
  attr.kind = Attr::Kind::Array;
  for (int64_t value : values) attr.items.push_back(int_attr(value));
  return attr;
}

Attr word_attr(Attr::Kind kind, std::string text) {
  Attr attr;
  attr.kind = kind;
  attr.text = std::move(text);
  return attr;
}

}  // namespace

// One value behind `key =`: numbers carry no type here, since a colon starts the op's type.
Status Parser::parse_item_value(std::string_view key, Attr* value) {
  const bool typed = std::exchange(typed_numbers_, false);
  const size_t begin = token().begin;
  if (key == "algorithm" && is('<')) {
    lexer_.advance();
    NCC_TRY(parse_struct_body(value));
  } else if (is('[') && key == "precision") {
    lexer_.advance();
    value->kind = Attr::Kind::Array;
    while (!is(']')) {
      value->items.push_back(word_attr(Attr::Kind::Enum, std::string(token().text)));
      lexer_.advance();
      if (!accept(',')) break;
    }
    NCC_TRY(expect(']'));
  } else if (key == "format" && token().kind == Tok::BareId) {
    *value = word_attr(Attr::Kind::Enum, std::string(token().text));
    lexer_.advance();
  } else if (token().kind == Tok::BareId && !is_word("true") && !is_word("false") && !is_word("dense") &&
             !is_word("array")) {
    *value = word_attr(Attr::Kind::Enum, std::string(token().text));
    lexer_.advance();
  } else {
    NCC_TRY(parse_attr(value));
  }
  value->source = source_from(begin);
  typed_numbers_ = typed;
  return Status::ok();
}

Status Parser::parse_item(Op* op) {
  const std::string key(token().text);
  lexer_.advance();
  NCC_TRY(expect('='));
  Attr value;
  NCC_TRY(parse_item_value(key, &value));
  if (key == "batching_dims" || key == "contracting_dims") {  // [0] x [1]
    NCC_TRY(expect_word("x"));
    Attr other;
    NCC_TRY(parse_item_value(key, &other));
    const std::string role = key == "batching_dims" ? "batching" : "contracting";
    op->attrs.emplace_back("lhs_" + role + "_dimensions", std::move(value));
    op->attrs.emplace_back("rhs_" + role + "_dimensions", std::move(other));
    return Status::ok();
  }
  if (key == "format") {  // e5m10
    int64_t exponent = 0, mantissa = 0;
    const std::string& text = value.text;
    const size_t m = text.find('m');
    if (text.size() < 4 || text[0] != 'e' || m == std::string::npos)
      return fail("expected a format like e5m10");
    std::from_chars(text.data() + 1, text.data() + m, exponent);
    std::from_chars(text.data() + m + 1, text.data() + text.size(), mantissa);
    op->attrs.emplace_back("exponent_bits", int_attr(exponent));
    op->attrs.emplace_back("mantissa_bits", int_attr(mantissa));
    return Status::ok();
  }
  op->attrs.emplace_back(item_attribute(op->name, key), std::move(value));
  return Status::ok();
}

// %a, %b, key = value, …
Status Parser::parse_items(Op* op) {
  if (token().kind != Tok::Value && token().kind != Tok::BareId) return Status::ok();
  if (is_word("loc") || is_word("attributes")) return Status::ok();
  do {
    if (token().kind == Tok::Value) {
      op->operands.emplace_back();
      NCC_TRY(parse_value(&op->operands.back()));
    } else if (token().kind == Tok::BareId) {
      NCC_TRY(parse_item(op));
    } else {
      return fail("expected an operand or an attribute");
    }
  } while (accept(','));
  return Status::ok();
}

Status Parser::assign_types(Op* op, std::vector<Shape> types) {
  switch (ending_of(op->name)) {
    case Ending::Results:
      op->result_types = std::move(types);
      return Status::ok();
    case Ending::Operands:
      op->operand_types = std::move(types);
      return Status::ok();
    case Ending::OperandsAndResults:
      op->operand_types = types;
      op->result_types = std::move(types);
      return Status::ok();
    case Ending::Same:
      break;
  }
  if (op->name == "stablehlo.select" && types.size() == 2) {
    op->operand_types = {types[0], types[1], types[1]};
    op->result_types = {types[1]};
    return Status::ok();
  }
  if (types.size() != 1) return fail("expected one type");
  op->result_types = types;
  Shape operand = types[0];
  if (op->name == "stablehlo.complex") operand.dtype = operand.dtype == Dtype::C128 ? Dtype::F64 : Dtype::F32;
  op->operand_types.assign(op->operands.size(), operand);
  return Status::ok();
}

// : T | : T, U | : (T) -> U | : T, T -> U
Status Parser::parse_types(Op* op) {
  if (!accept(':')) return op->results.empty() ? Status::ok() : fail("expected ':' and a type");
  if (is('(')) {
    Type type;
    NCC_TRY(parse_type_or_function(&type));
    op->operand_types = std::move(type.inputs);
    op->result_types = std::move(type.results);
    return Status::ok();
  }
  std::vector<Shape> types;
  NCC_TRY(parse_type_list(&types));
  if (token().kind != Tok::Arrow) return assign_types(op, std::move(types));
  lexer_.advance();
  op->operand_types = std::move(types);
  return parse_result_types(&op->result_types);
}

// constant {attrs}? dense<…> : T, or the generic tail constant() <{value = …}> : () -> T
Status Parser::parse_constant(Op* op) {
  if (is('(')) return parse_generic(op);
  NCC_TRY(parse_optional_dict(&op->attrs));
  Attr value;
  NCC_TRY(parse_attr(&value));
  if (value.kind != Attr::Kind::Dense && value.kind != Attr::Kind::Resource)
    return fail("expected dense elements");
  op->result_types = {value.shape};
  op->attrs.emplace_back("value", std::move(value));
  return Status::ok();
}

// compare LT, %a, %b, SIGNED : …
Status Parser::parse_compare(Op* op) {
  op->attrs.emplace_back("comparison_direction", word_attr(Attr::Kind::Enum, std::string(token().text)));
  lexer_.advance();
  NCC_TRY(expect(','));
  NCC_TRY(parse_value(&op->operands.emplace_back()));
  NCC_TRY(expect(','));
  NCC_TRY(parse_value(&op->operands.emplace_back()));
  if (accept(',')) {
    op->attrs.emplace_back("compare_type", word_attr(Attr::Kind::Enum, std::string(token().text)));
    lexer_.advance();
  }
  NCC_TRY(parse_optional_dict(&op->attrs));
  return parse_types(op);
}

// slice %x [0:4:2, 1:3] : …
Status Parser::parse_slice(Op* op) {
  NCC_TRY(parse_value(&op->operands.emplace_back()));
  NCC_TRY(expect('['));
  std::vector<int64_t> starts, limits, strides;
  while (!is(']')) {
    int64_t start = 0, limit = 0, stride = 1;
    NCC_TRY(parse_integer(&start));
    NCC_TRY(expect(':'));
    NCC_TRY(parse_integer(&limit));
    if (accept(':')) NCC_TRY(parse_integer(&stride));
    starts.push_back(start);
    limits.push_back(limit);
    strides.push_back(stride);
    if (!accept(',')) break;
  }
  NCC_TRY(expect(']'));
  op->attrs.emplace_back("start_indices", int_array(starts));
  op->attrs.emplace_back("limit_indices", int_array(limits));
  op->attrs.emplace_back("strides", int_array(strides));
  NCC_TRY(parse_optional_dict(&op->attrs));
  return parse_types(op);
}

// call @f(%a) {…} : …, custom_call @target(%a) {…} : …
Status Parser::parse_call(Op* op, std::string_view symbol_attr) {
  if (token().kind != Tok::Symbol) return fail("expected a symbol");
  std::string target;
  if (!decode_mlir_string(token().text, &target)) return fail("bad escape in a name");
  op->attrs.emplace_back(std::string(symbol_attr), word_attr(Attr::Kind::Symbol, target));
  lexer_.advance();
  NCC_TRY(expect('('));
  NCC_TRY(parse_values(&op->operands));
  NCC_TRY(expect(')'));
  NCC_TRY(parse_optional_dict(&op->attrs));
  return parse_types(op);
}

// op(%x, k = 3) {…} : …
Status Parser::parse_parenthesised(Op* op) {
  NCC_TRY(expect('('));
  NCC_TRY(parse_items(op));
  NCC_TRY(expect(')'));
  NCC_TRY(parse_optional_dict(&op->attrs));
  return parse_types(op);
}

// convolution(%x, %w) dim_numbers = […]x[…]->[…], window = {stride = …, pad = …, …} {…} : …
Status Parser::parse_convolution(Op* op) {
  NCC_TRY(expect('('));
  NCC_TRY(parse_values(&op->operands));
  NCC_TRY(expect(')'));
  NCC_TRY(expect_word("dim_numbers"));
  NCC_TRY(expect('='));
  Attr dims;
  NCC_TRY(parse_conv_dims(&dims));
  op->attrs.emplace_back("dimension_numbers", std::move(dims));
  NCC_TRY(expect(','));
  NCC_TRY(expect_word("window"));
  NCC_TRY(expect('='));
  constexpr std::pair<std::string_view, std::string_view> kKeys[] = {{"stride", "window_strides"},
                                                                     {"pad", "padding"},
                                                                     {"lhs_dilate", "lhs_dilation"},
                                                                     {"rhs_dilate", "rhs_dilation"},
                                                                     {"reverse", "window_reversal"}};
  AttrDict window;
  NCC_TRY(parse_dict(&window));
  for (auto& [key, value] : window) {
    std::string_view attribute;
    for (const auto& [pretty, name] : kKeys) {
      if (pretty == key) attribute = name;
    }
    if (attribute.empty()) return fail(fmt::format("unknown window key '{}'", key));
    op->attrs.emplace_back(std::string(attribute), std::move(value));
  }
  NCC_TRY(parse_optional_dict(&op->attrs));
  return parse_types(op);
}

// reduce(%x init: %z), (%k init: %m) [applies op] across dimensions = [1] {…} : …  [reducer(…) (…) {…}]
Status Parser::parse_reduce(Op* op) {
  std::vector<ValueRef> inits;
  do {
    NCC_TRY(expect('('));
    NCC_TRY(parse_value(&op->operands.emplace_back()));
    NCC_TRY(expect_word("init"));
    NCC_TRY(expect(':'));
    NCC_TRY(parse_value(&inits.emplace_back()));
    NCC_TRY(expect(')'));
  } while (accept(','));
  op->operands.insert(op->operands.end(), inits.begin(), inits.end());
  if (accept_word("applies")) {
    op->attrs.emplace_back("applies", word_attr(Attr::Kind::Enum, std::string(token().text)));
    if (token().kind != Tok::BareId) return fail("expected an op name");
    lexer_.advance();
  }
  NCC_TRY(expect_word("across"));
  NCC_TRY(expect_word("dimensions"));
  NCC_TRY(expect('='));
  Attr dims;
  NCC_TRY(parse_item_value("dimensions", &dims));
  op->attrs.emplace_back("dimensions", std::move(dims));
  NCC_TRY(parse_optional_dict(&op->attrs));
  NCC_TRY(parse_types(op));
  NCC_TRY(parse_optional_loc(&op->loc));
  if (!accept_word("reducer")) return Status::ok();
  Region& region = op->regions.emplace_back();
  std::vector<BlockArg> elements;
  while (accept('(')) {
    for (std::vector<BlockArg>* list : {&region.args, &elements}) {
      ValueRef value;
      NCC_TRY(parse_value(&value));
      NCC_TRY(expect(':'));
      BlockArg& arg = list->emplace_back();
      arg.name = value.name;
      NCC_TRY(parse_type(&arg.type));
      NCC_TRY(parse_optional_loc(&arg.loc));
      if (list == &region.args) NCC_TRY(expect(','));
    }
    NCC_TRY(expect(')'));
  }
  region.args.insert(region.args.end(), elements.begin(), elements.end());
  return parse_region(&region);
}

// while(%i = %i0, %x = %x0) : T, U attributes {…}? cond {…} do {…}
Status Parser::parse_while(Op* op) {
  std::vector<std::string_view> names;
  NCC_TRY(expect('('));
  if (!is(')')) {
    do {
      ValueRef name;
      NCC_TRY(parse_value(&name));
      NCC_TRY(expect('='));
      NCC_TRY(parse_value(&op->operands.emplace_back()));
      names.push_back(name.name);
    } while (accept(','));
  }
  NCC_TRY(expect(')'));
  NCC_TRY(parse_types(op));
  NCC_TRY(parse_optional_loc(&op->loc));
  if (op->result_types.size() != names.size()) return fail("one type per loop value expected");
  if (accept_word("attributes")) NCC_TRY(parse_dict(&op->attrs));
  op->regions.resize(2);
  for (Region& region : op->regions) {
    NCC_TRY(expect_word(&region == &op->regions[0] ? "cond" : "do"));
    for (size_t i = 0; i < names.size(); ++i) region.args.push_back({names[i], op->result_types[i], {}, {}});
    NCC_TRY(parse_region(&region));
  }
  return Status::ok();
}

// chlo.scan(%x) inits(%s) dimension=0 attributes {…}? {…} : …
Status Parser::parse_scan(Op* op) {
  NCC_TRY(expect('('));
  NCC_TRY(parse_values(&op->operands));
  NCC_TRY(expect(')'));
  NCC_TRY(expect_word("inits"));
  NCC_TRY(expect('('));
  const size_t inputs = op->operands.size();
  NCC_TRY(parse_values(&op->operands));
  NCC_TRY(expect(')'));
  op->attrs.emplace_back("num_carries", int_attr(static_cast<int64_t>(op->operands.size() - inputs)));
  while (token().kind == Tok::BareId && !is_word("attributes")) {
    NCC_TRY(parse_item(op));
    accept(',');
  }
  if (accept_word("attributes")) NCC_TRY(parse_dict(&op->attrs));
  NCC_TRY(parse_region(&op->regions.emplace_back()));
  return parse_types(op);
}

// composite "ns.op" %a, %b ({…})? {…} : …
Status Parser::parse_composite(Op* op) {
  Attr name;
  name.kind = Attr::Kind::String;
  NCC_TRY(parse_string(&name.text));
  op->attrs.emplace_back("name", std::move(name));
  NCC_TRY(parse_values(&op->operands));
  if (accept('(')) {
    do {
      NCC_TRY(parse_region(&op->regions.emplace_back()));
    } while (accept(','));
    NCC_TRY(expect(')'));
  }
  NCC_TRY(parse_optional_dict(&op->attrs));
  return parse_types(op);
}

// check.expect_eq_const %a, dense<…> : T, … ; the other checks are operands and items.
Status Parser::parse_check(Op* op) {
  NCC_TRY(parse_value(&op->operands.emplace_back()));
  while (accept(',')) {
    if (token().kind == Tok::Value) {
      NCC_TRY(parse_value(&op->operands.emplace_back()));
    } else if (is_word("dense") || is_word("dense_resource")) {
      Attr value;
      NCC_TRY(parse_attr(&value));
      op->operand_types = {value.shape};
      op->attrs.emplace_back("value", std::move(value));
    } else if (token().kind == Tok::BareId) {
      NCC_TRY(parse_item(op));
    } else {
      return fail("expected an operand or an attribute");
    }
  }
  NCC_TRY(parse_optional_dict(&op->attrs));
  NCC_TRY(parse_types(op));
  // `dense<…> : T` has swallowed the type; a dictionary may still follow it.
  while (accept(',')) NCC_TRY(parse_item(op));
  return parse_optional_dict(&op->attrs);
}

// sdy.sharding_constraint %x <…> : T, sdy.sharding_group %x group_id=0 : T, sdy.mesh @m = <…> {…},
// sdy.manual_computation(%x) key=… (%a: T) {…} : …, sdy.named_computation<"f">(%x) … the same.
Status Parser::parse_sharding_op(Op* op) {
  Attr ignored;
  if (op->name == "sdy.mesh") {
    Attr name, axes;
    name.kind = Attr::Kind::Symbol;
    name.text = std::string(token().text);
    lexer_.advance();
    NCC_TRY(expect('='));
    NCC_TRY(skip_balanced(&axes, token().begin));
    op->attrs.emplace_back("sym_name", std::move(name));
    op->attrs.emplace_back("mesh", std::move(axes));
    return parse_optional_dict(&op->attrs);
  }
  const auto keep_keys = [&]() -> Status {
    while (token().kind == Tok::BareId) {
      std::string key(token().text);
      lexer_.advance();
      NCC_TRY(expect('='));
      Attr value;
      NCC_TRY(skip_balanced(&value, token().begin));
      op->attrs.emplace_back(std::move(key), std::move(value));
    }
    return Status::ok();
  };
  if (op->name != "sdy.manual_computation" && op->name != "sdy.named_computation") {
    NCC_TRY(parse_values(&op->operands));
    if (is('<')) NCC_TRY(skip_balanced(&ignored, token().begin));
    NCC_TRY(keep_keys());
    NCC_TRY(parse_optional_dict(&op->attrs));
    return parse_types(op);
  }
  if (is('<')) NCC_TRY(skip_balanced(&ignored, token().begin));
  NCC_TRY(expect('('));
  NCC_TRY(parse_values(&op->operands));
  NCC_TRY(expect(')'));
  NCC_TRY(keep_keys());
  Region& region = op->regions.emplace_back();
  NCC_TRY(parse_func_arguments(&region));
  NCC_TRY(parse_region(&region));
  return parse_types(op);
}

Status Parser::parse_pretty(Op* op) {
  const std::string& name = op->name;
  const auto named = [&](std::string_view bare) { return name == "stablehlo." + std::string(bare); };
  if (named("constant") || name == "chlo.constant") return parse_constant(op);
  if (named("compare")) return parse_compare(op);
  if (named("slice")) return parse_slice(op);
  if (named("reduce")) return parse_reduce(op);
  if (named("while")) return parse_while(op);
  if (named("convolution")) return parse_convolution(op);
  if (named("custom_call")) return parse_call(op, "call_target_name");
  if (named("composite")) return parse_composite(op);
  if (name == "func.call") return parse_call(op, "callee");
  if (name == "chlo.scan") return parse_scan(op);
  if (name.starts_with("check.")) return parse_check(op);
  if (name.starts_with("sdy.") && name != "sdy.return") return parse_sharding_op(op);
  if (named("get_tuple_element")) {
    NCC_TRY(parse_value(&op->operands.emplace_back()));
    NCC_TRY(expect('['));
    int64_t index = 0;
    NCC_TRY(parse_integer(&index));
    NCC_TRY(expect(']'));
    op->attrs.emplace_back("index", int_attr(index));
  } else if (is('(')) {
    return parse_parenthesised(op);
  } else {
    // optimization_barrier prints its attributes first.
    if (named("optimization_barrier")) NCC_TRY(parse_optional_dict(&op->attrs));
    NCC_TRY(parse_items(op));
  }
  if (name == "interpreter.run_parallel") return fail("unsupported form");
  NCC_TRY(parse_optional_dict(&op->attrs));
  return parse_types(op);
}

}  // namespace ncc::hlo::mlir
