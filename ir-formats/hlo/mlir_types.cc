// Types in MLIR text: tensors, tuples, tokens, futures, quantized elements, function types. Source: spec
// §1.5.
#include <charconv>

#include "ir-formats/hlo/mlir_parser.h"

namespace ncc::hlo::mlir {

Status Parser::parse_element_type(Shape* shape) {
  const size_t begin = token().begin;
  if (token().kind == Tok::Exclaim) {
    if (token().text == "quant.uniform") return parse_quantized(shape);
    const auto alias = type_aliases_.find(std::string(token().text));
    if (alias == type_aliases_.end()) return fail(fmt::format("unknown element type '!{}'", token().text));
    shape->dtype = alias->second.dtype;
    shape->quantization = alias->second.quantization;
    lexer_.advance();
    return Status::ok();
  }
  if (token().kind != Tok::BareId) return fail("expected an element type");
  std::string name(token().text);
  lexer_.advance();
  if (name == "complex") {
    NCC_TRY(expect('<'));
    name += fmt::format("<{}>", token().text);
    lexer_.advance();
    NCC_TRY(expect('>'));
  }
  // Shape operands of old files; their values are plain integers.
  if (name == "index") name = "i64";
  const std::optional<Dtype> dtype = dtype_from_mlir(name);
  if (!dtype) return error(Code::EVRF002, name, fmt::format("the type at {}", lexer_.position(begin)));
  shape->dtype = *dtype;
  return Status::ok();
}

// !quant.uniform<i8<-127:127>:f32:1, {0.5:3, 0.25}>
Status Parser::parse_quantized(Shape* shape) {
  lexer_.advance();
  NCC_TRY(expect('<'));
  const size_t begin = token().begin;
  std::string storage(token().text);
  if (storage.starts_with("si")) storage = storage.substr(1);
  if (storage.starts_with("u") && !storage.starts_with("ui")) storage = "ui" + storage.substr(1);
  const std::optional<Dtype> dtype = dtype_from_mlir(storage);
  // MLIR stores at most 32 bits.
  if (!dtype || !is_integer(*dtype) || info(*dtype).bits > 32)
    return error(Code::EVRF002, storage, fmt::format("the type at {}", lexer_.position(begin)));
  shape->dtype = *dtype;
  lexer_.advance();
  Quantization q;
  const int bits = info(*dtype).bits;
  q.storage_min = is_signed_int(*dtype) ? -(int64_t{1} << (bits - 1)) : 0;
  q.storage_max = is_signed_int(*dtype) ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1;
  if (accept('<')) {
    NCC_TRY(parse_integer(&q.storage_min));
    NCC_TRY(expect(':'));
    NCC_TRY(parse_integer(&q.storage_max));
    NCC_TRY(expect('>'));
  }
  NCC_TRY(expect(':'));
  Shape expressed;
  NCC_TRY(parse_element_type(&expressed));
  q.expressed = expressed.dtype;
  if (accept(':')) NCC_TRY(parse_integer(&q.axis));
  NCC_TRY(expect(','));
  const bool list = accept('{');
  do {
    Attr scale;
    NCC_TRY(parse_number(&scale, false));
    q.scales.push_back(scale.kind == Attr::Kind::Float ? scale.real : static_cast<double>(scale.integer));
    int64_t zero = 0;
    if (accept(':')) NCC_TRY(parse_integer(&zero));
    q.zero_points.push_back(zero);
  } while (list && accept(','));
  if (list) NCC_TRY(expect('}'));
  NCC_TRY(expect('>'));
  shape->quantization = std::make_shared<const Quantization>(std::move(q));
  return Status::ok();
}

// Dimensions are read by character: "2x3xf32" would lex as an integer and a name, "0x4xf32" as a hex number.
Status Parser::parse_dims(Shape* shape) {
  const std::string_view text = lexer_.text();
  size_t at = token().end;  // behind '<'
  while (true) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n')) ++at;
    size_t end = at;
    int64_t size = 0;
    if (at < text.size() && text[at] == '?') {
      end = at + 1;
    } else if (at < text.size() && text[at] == '*') {
      return error(Code::EVRF001, "unranked tensor", fmt::format("the type at {}", lexer_.position(at)));
    } else {
      const auto [stop, problem] = std::from_chars(text.data() + at, text.data() + text.size(), size);
      if (problem == std::errc::result_out_of_range) return fail_at(at, "dimension out of range");
      end = static_cast<size_t>(stop - text.data());
      if (end == at || size < 0) break;  // no digits: the element type begins
    }
    if (end >= text.size() || text[end] != 'x') return fail_at(end, "expected 'x' behind a dimension");
    if (shape->rank() == kMaxRank) return fail_at(at, "too many dimensions");
    shape->dims.push_back(size);
    if (text[at] == '?') shape->set_dynamic_dim(shape->rank() - 1, kUnbounded);
    at = end + 1;
  }
  lexer_.restart(at);
  return Status::ok();
}

// Behind the comma of tensor<…, encoding>: bounds are kept, anything else says nothing about values.
Status Parser::parse_encoding(Shape* shape) {
  Attr attr;
  NCC_TRY(parse_attr(&attr));
  size_t open = attr.source.find('<');
  if (attr.kind != Attr::Kind::Raw || attr.source.find("#stablehlo.") != 0 || open == std::string_view::npos)
    return Status::ok();
  if (attr.source.starts_with("#stablehlo.type_extensions")) open = attr.source.find('[');
  if (open == std::string_view::npos) return Status::ok();
  std::string_view list = attr.source.substr(open + 1);
  for (int64_t d = 0; d < shape->rank(); ++d) {
    const size_t start = list.find_first_of("0123456789?");
    if (start == std::string_view::npos) break;
    int64_t bound = 0;
    list = list.substr(start);
    if (list[0] == '?') {
      list = list.substr(1);
      continue;
    }
    const auto [stop, problem] = std::from_chars(list.data(), list.data() + list.size(), bound);
    if (problem != std::errc()) return fail("bound out of range");
    list = list.substr(static_cast<size_t>(stop - list.data()));
    shape->set_dynamic_dim(d, bound);
  }
  return Status::ok();
}

Status Parser::parse_tensor(Shape* shape) {
  const size_t begin = token().begin;
  lexer_.advance();
  if (!is('<')) return fail("expected '<'");
  NCC_TRY(parse_dims(shape));
  NCC_TRY(parse_element_type(shape));
  if (accept(',')) NCC_TRY(parse_encoding(shape));
  NCC_TRY(expect('>'));
  const Status size = check_shape(*shape, "the type");
  return size.is_ok() ? size : fail_at(begin, size.diagnostic().cause);
}

Status Parser::parse_tuple(Shape* shape) {
  shape->tuple = true;
  lexer_.advance();
  NCC_TRY(expect('<'));
  if (accept('>')) return Status::ok();
  NCC_TRY(enter());
  NCC_TRY(parse_type_list(&shape->elements));
  leave();
  return expect('>');
}

Status Parser::parse_type(Shape* shape) {
  *shape = Shape{};
  const size_t begin = token().begin;
  if (is_word("tensor")) return parse_tensor(shape);
  if (is_word("tuple")) return parse_tuple(shape);
  if (token().kind == Tok::Exclaim) {
    const std::string name(token().text);
    if (name == "stablehlo.token") {
      *shape = Shape::token();
      lexer_.advance();
      return Status::ok();
    }
    if (name == "stablehlo.future") {
      // A future stands for the values that async_done takes out of it.
      lexer_.advance();
      shape->tuple = true;
      NCC_TRY(expect('<'));
      NCC_TRY(parse_type_list(&shape->elements));
      return expect('>');
    }
    const auto alias = type_aliases_.find(name);
    if (alias != type_aliases_.end()) {
      *shape = alias->second;
      lexer_.advance();
      return Status::ok();
    }
    if (name == "quant.uniform") return parse_quantized(shape);
    return error(Code::EVRF002, fmt::format("!{}", name),
                 fmt::format("the value at {}", lexer_.position(begin)));
  }
  if (is_word("memref"))
    return error(Code::EVRF002, "memref", fmt::format("the value at {}", lexer_.position(begin)));
  if (token().kind != Tok::BareId) return fail("expected a type");
  return parse_element_type(shape);
}

Status Parser::parse_type_list(std::vector<Shape>* types) {
  do {
    types->emplace_back();
    NCC_TRY(parse_type(&types->back()));
  } while (accept(','));
  return Status::ok();
}

// Behind '->': one type, or a parenthesised list.
Status Parser::parse_result_types(std::vector<Shape>* types) {
  if (!accept('(')) {
    types->emplace_back();
    return parse_type(&types->back());
  }
  if (accept(')')) return Status::ok();
  NCC_TRY(parse_type_list(types));
  return expect(')');
}

Status Parser::parse_type_or_function(Type* type) {
  if (!is('(')) return parse_type(&type->shape);
  type->function = true;
  lexer_.advance();
  if (!is(')')) NCC_TRY(parse_type_list(&type->inputs));
  NCC_TRY(expect(')'));
  if (token().kind != Tok::Arrow) return fail("expected '->'");
  lexer_.advance();
  return parse_result_types(&type->results);
}

}  // namespace ncc::hlo::mlir
