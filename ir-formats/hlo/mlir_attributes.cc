// Attributes in MLIR text. What has a meaning for us is parsed into values; any other dialect attribute is
// kept as text. Source: spec §1.6, §1.8.
#include <charconv>
#include <cstring>

#include "ir-formats/hlo/mlir_parser.h"

namespace ncc::hlo::mlir {
namespace {

// Dialect attributes of the form #name<key = value, …>.
constexpr std::string_view kStructs[] = {"stablehlo.gather",
                                         "stablehlo.scatter",
                                         "stablehlo.dot",
                                         "stablehlo.channel_handle",
                                         "stablehlo.dot_algorithm",
                                         "stablehlo.result_accuracy",
                                         "stablehlo.output_operand_alias",
                                         "chlo.ragged_dot"};

bool is_struct(std::string_view name) {
  for (std::string_view known : kStructs) {
    if (known == name) return true;
  }
  return false;
}

}  // namespace

const Attr* find(const AttrDict& attrs, std::string_view name) {
  for (const auto& [key, value] : attrs) {
    if (key == name) return &value;
  }
  return nullptr;
}

Status Parser::parse_string(std::string* text) {
  if (token().kind != Tok::String) return fail("expected a string");
  if (!decode_mlir_string(token().text, text)) return fail("bad escape in a string");
  lexer_.advance();
  return Status::ok();
}

Status Parser::parse_integer(int64_t* value) {
  Attr number;
  const size_t begin = token().begin;
  NCC_TRY(parse_number(&number, false));
  if (number.kind != Attr::Kind::Int) return fail_at(begin, "expected an integer");
  *value = number.integer;
  return Status::ok();
}

// A number, with its type when `typed`; a hex integer with a float type is a bit pattern.
Status Parser::parse_number(Attr* attr, bool typed) {
  const bool negative = accept('-');
  const Token number = token();
  if (number.kind != Tok::Integer && number.kind != Tok::Float) return fail("expected a number");
  lexer_.advance();
  const bool hex = number.text.starts_with("0x");
  if (number.kind == Tok::Float) {
    attr->kind = Attr::Kind::Float;
    std::from_chars(number.text.data(), number.text.data() + number.text.size(), attr->real);
    if (negative) attr->real = -attr->real;
  } else {
    attr->kind = Attr::Kind::Int;
    uint64_t magnitude = 0;
    const std::string_view digits = hex ? number.text.substr(2) : number.text;
    const auto [stop, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, hex ? 16 : 10);
    if (problem != std::errc() || (negative && magnitude > uint64_t{1} << 63))
      return fail_at(number.begin, "integer out of range");
    attr->integer = static_cast<int64_t>(negative ? -magnitude : magnitude);
  }
  if (!typed || !accept(':')) return Status::ok();
  Shape type;
  NCC_TRY(parse_element_type(&type));
  if (attr->kind == Attr::Kind::Float || !is_float(type.dtype)) return Status::ok();
  std::byte bits[8];
  std::memcpy(bits, &attr->integer, sizeof(bits));
  attr->kind = Attr::Kind::Float;
  attr->real = hex ? load_as_double(type.dtype, bits) : static_cast<double>(attr->integer);
  return Status::ok();
}

Status Parser::parse_array(Attr* attr) {
  attr->kind = Attr::Kind::Array;
  NCC_TRY(expect('['));
  if (accept(']')) return Status::ok();
  do {
    attr->items.emplace_back();
    NCC_TRY(parse_attr(&attr->items.back()));
  } while (accept(','));
  return expect(']');
}

// array<i64: 1, 2>
Status Parser::parse_dense_array(Attr* attr) {
  attr->kind = Attr::Kind::Array;
  NCC_TRY(expect('<'));
  Shape element;
  NCC_TRY(parse_element_type(&element));
  if (accept('>')) return Status::ok();
  NCC_TRY(expect(':'));
  do {
    Attr& item = attr->items.emplace_back();
    if (is_word("true") || is_word("false")) {
      item.kind = Attr::Kind::Bool;
      item.integer = is_word("true");
      lexer_.advance();
    } else {
      NCC_TRY(parse_number(&item, false));
    }
  } while (accept(','));
  return expect('>');
}

Status Parser::parse_dict(AttrDict* attrs) {
  NCC_TRY(expect('{'));
  if (accept('}')) return Status::ok();
  NCC_TRY(enter());
  do {
    std::string key;
    if (token().kind == Tok::String) {
      NCC_TRY(parse_string(&key));
    } else if (token().kind == Tok::BareId) {
      key = token().text;
      lexer_.advance();
    } else {
      return fail("expected an attribute name");
    }
    Attr value;
    if (accept('=')) NCC_TRY(parse_attr(&value));
    attrs->emplace_back(std::move(key), std::move(value));
  } while (accept(','));
  leave();
  return expect('}');
}

Status Parser::parse_optional_dict(AttrDict* attrs) { return is('{') ? parse_dict(attrs) : Status::ok(); }

// Skips to the end of the attribute that began at `begin`: brackets balance, strings are opaque. The current
// token is the opening bracket.
Status Parser::skip_balanced(Attr* attr, size_t begin) {
  attr->kind = Attr::Kind::Raw;
  std::string open;
  size_t end = token().end;
  do {
    const Token& t = token();
    if (t.kind == Tok::End || t.kind == Tok::Error) return fail("unbalanced brackets");
    if (t.kind == Tok::Punct) {
      switch (t.punct) {
        case '<':
          open += '>';
          break;
        case '(':
          open += ')';
          break;
        case '[':
          open += ']';
          break;
        case '{':
          open += '}';
          break;
        case '>':
        case ')':
        case ']':
        case '}':
          if (open.empty() || open.back() != t.punct) return fail("unbalanced brackets");
          open.pop_back();
          break;
        default:
          break;
      }
      if (open.size() > 200) return fail("nested too deeply");
    }
    end = t.end;
    lexer_.advance();
  } while (!open.empty());
  attr->text = lexer_.text().substr(begin, end - begin);
  return Status::ok();
}

// [b, 0, 1, f] with the letter names of one operand of a convolution: an Array of Ints and Enums.
Status Parser::parse_conv_group(Attr* attr) {
  attr->kind = Attr::Kind::Array;
  NCC_TRY(expect('['));
  do {
    Attr& item = attr->items.emplace_back();
    if (token().kind == Tok::BareId) {
      item.kind = Attr::Kind::Enum;
      item.text = token().text;
      lexer_.advance();
    } else if (accept('?')) {
      item.kind = Attr::Kind::Enum;
      item.text = "?";
    } else {
      NCC_TRY(parse_number(&item, false));
    }
  } while (accept(','));
  return expect(']');
}

// [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]: three groups.
Status Parser::parse_conv_dims(Attr* attr) {
  attr->kind = Attr::Kind::Array;
  attr->items.resize(3);
  NCC_TRY(parse_conv_group(&attr->items[0]));
  NCC_TRY(expect_word("x"));
  NCC_TRY(parse_conv_group(&attr->items[1]));
  if (token().kind != Tok::Arrow) return fail("expected '->'");
  lexer_.advance();
  return parse_conv_group(&attr->items[2]);
}

// Behind '<' of a struct attribute.
Status Parser::parse_struct_body(Attr* attr) {
  attr->kind = Attr::Kind::Dict;
  if (accept('>')) return Status::ok();
  NCC_TRY(enter());
  const bool typed = std::exchange(typed_numbers_, true);
  do {
    if (token().kind != Tok::BareId) return fail("expected a key");
    std::string key(token().text);
    lexer_.advance();
    NCC_TRY(expect('='));
    Attr value;
    NCC_TRY(parse_attr(&value));
    attr->entries.emplace_back(std::move(key), std::move(value));
  } while (accept(','));
  typed_numbers_ = typed;
  leave();
  return expect('>');
}

Status Parser::parse_dialect_attr(Attr* attr) {
  const size_t begin = token().begin;
  const std::string name(token().text);
  lexer_.advance();
  if (!is('<')) {
    const auto alias = attr_aliases_.find(name);
    if (alias != attr_aliases_.end()) {
      *attr = alias->second;
    } else {
      attr->kind = Attr::Kind::Raw;
      attr->text = "#" + name;
    }
    return Status::ok();
  }
  if (is_struct(name)) {
    attr->text = name;
    lexer_.advance();
    NCC_TRY(parse_struct_body(attr));
    attr->text = name;
    return Status::ok();
  }
  const size_t inside = token().end;
  if (name == "stablehlo.conv") {
    lexer_.advance();
    if (accept_word("raw")) return parse_struct_body(attr);
    NCC_TRY(parse_conv_dims(attr));
    return expect('>');
  }
  // Enums: #stablehlo<comparison_direction LT>, #stablehlo.result_accuracy_mode<DEFAULT>.
  lexer_.advance();
  Token last = token();
  int words = 0;
  while (token().kind == Tok::BareId && words < 3) {
    last = token();
    lexer_.advance();
    ++words;
  }
  if (words > 0 && is('>') &&
      (name == "stablehlo" || name == "chlo" || name == "stablehlo.result_accuracy_mode")) {
    attr->kind = Attr::Kind::Enum;
    attr->text = last.text;
    lexer_.advance();
    return Status::ok();
  }
  lexer_.restart(inside - 1);
  return skip_balanced(attr, begin);
}

// true, dense<…>, array<…>, loc(…), a type, …
Status Parser::parse_word_attr(Attr* attr) {
  const std::string word(token().text);
  const size_t begin = token().begin;
  lexer_.advance();
  if (word == "true" || word == "false") {
    attr->kind = Attr::Kind::Bool;
    attr->integer = word == "true";
    return Status::ok();
  }
  if (word == "unit") return Status::ok();
  if (word == "dense") return parse_dense(attr);
  if (word == "dense_resource") return parse_dense_resource(attr);
  if (word == "array" && is('<')) return parse_dense_array(attr);
  if (word == "loc" && is('(')) return skip_balanced(attr, begin);
  if (word == "tensor" || word == "tuple") {
    lexer_.restart(begin);
    attr->kind = Attr::Kind::Type;
    return parse_type(&attr->shape);
  }
  attr->kind = Attr::Kind::Type;
  attr->text = word;
  return is('<') ? skip_balanced(attr, begin) : Status::ok();
}

Status Parser::parse_attr_value(Attr* attr) {
  const Token& t = token();
  switch (t.kind) {
    case Tok::String:
      attr->kind = Attr::Kind::String;
      NCC_TRY(parse_string(&attr->text));
      if (typed_numbers_ && accept(':')) {
        Shape ignored;
        return parse_type(&ignored);
      }
      return Status::ok();
    case Tok::Integer:
    case Tok::Float:
      return parse_number(attr, typed_numbers_);
    case Tok::Symbol:
      attr->kind = Attr::Kind::Symbol;
      attr->text = t.text;
      lexer_.advance();
      while (is(':')) {
        lexer_.advance();
        NCC_TRY(expect(':'));
        attr->text += "::" + std::string(token().text);
        lexer_.advance();
      }
      return Status::ok();
    case Tok::Hash:
      return parse_dialect_attr(attr);
    case Tok::Exclaim: {
      const size_t begin = t.begin;
      lexer_.advance();
      if (is('<')) return skip_balanced(attr, begin);
      attr->kind = Attr::Kind::Raw;
      return Status::ok();
    }
    case Tok::Punct:
      if (t.punct == '-') return parse_number(attr, typed_numbers_);
      if (t.punct == '[') return parse_array(attr);
      if (t.punct == '{') {
        attr->kind = Attr::Kind::Dict;
        return parse_dict(&attr->entries);
      }
      if (t.punct == '(') {  // a function type
        Type type;
        attr->kind = Attr::Kind::Type;
        NCC_TRY(parse_type_or_function(&type));
        if (type.function) attr->text = kFunctionType;
        attr->inputs = std::move(type.inputs);
        attr->results = std::move(type.results);
        return Status::ok();
      }
      return fail("expected an attribute");
    case Tok::BareId:
      break;
    default:
      return fail(lexer_.problem().empty() || t.kind != Tok::Error ? "expected an attribute"
                                                                   : lexer_.problem());
  }
  return parse_word_attr(attr);
}

// The text from `begin` to the current token, without the blanks and comments before it.
std::string_view Parser::source_from(size_t begin) const {
  std::string_view source = lexer_.text().substr(begin, token().begin - begin);
  const size_t end = source.find_last_not_of(" \t\r\n");
  return source.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

Status Parser::parse_attr(Attr* attr) {
  NCC_TRY(enter());
  const size_t begin = token().begin;
  NCC_TRY(parse_attr_value(attr));
  leave();
  attr->source = source_from(begin);
  return Status::ok();
}

Status int_list(const Attr& attr, std::vector<int64_t>* values) {
  values->clear();
  switch (attr.kind) {
    case Attr::Kind::Int:
    case Attr::Kind::Bool:
      values->push_back(attr.integer);
      return Status::ok();
    case Attr::Kind::Array:
      for (const Attr& item : attr.items) {
        if (item.kind == Attr::Kind::Array) {  // [[1, 1], [0, 0]]
          std::vector<int64_t> inner;
          NCC_TRY(int_list(item, &inner));
          values->insert(values->end(), inner.begin(), inner.end());
        } else if (item.kind == Attr::Kind::Int || item.kind == Attr::Kind::Bool) {
          values->push_back(item.integer);
        } else {
          return error(Code::EVRF003, "expected a list of integers");
        }
      }
      return Status::ok();
    case Attr::Kind::Dense: {
      const int64_t count = attr.shape.num_elements();
      if (count > 1 << 20 || is_float(attr.shape.dtype) || is_complex(attr.shape.dtype))
        return error(Code::EVRF003, "expected a short list of integers");
      for (int64_t i = 0; i < count; ++i) values->push_back(attr.literal.as_int64(attr.splat ? 0 : i));
      return Status::ok();
    }
    default:
      return error(Code::EVRF003, "expected a list of integers");
  }
}

}  // namespace ncc::hlo::mlir
