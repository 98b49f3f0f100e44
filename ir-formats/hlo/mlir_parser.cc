#include "ir-formats/hlo/mlir_parser.h"

#include <charconv>
#include <climits>

namespace ncc::hlo::mlir {
namespace {

constexpr int kMaxDepth = 256;

// Ops that take an implied dialect inside function bodies.
std::string full_name(std::string_view name) {
  if (name == "return" || name == "call") return "func." + std::string(name);
  return std::string(name);
}

}  // namespace

Status Parser::fail_at(size_t offset, std::string_view why) const {
  return error(Code::EMLR001, lexer_.position(offset), why);
}

Status Parser::enter() { return ++depth_ > kMaxDepth ? fail("nested too deeply") : Status::ok(); }

bool Parser::accept(char punct) {
  if (!is(punct)) return false;
  lexer_.advance();
  return true;
}

bool Parser::accept_word(std::string_view word) {
  if (!is_word(word)) return false;
  lexer_.advance();
  return true;
}

Status Parser::expect(char punct) {
  if (accept(punct)) return Status::ok();
  if (token().kind == Tok::Error) return fail(lexer_.problem());
  return fail(fmt::format("expected '{}'", punct));
}

Status Parser::expect_word(std::string_view word) {
  return accept_word(word) ? Status::ok() : fail(fmt::format("expected '{}'", word));
}

Status Parser::parse_value(ValueRef* value) {
  if (token().kind != Tok::Value) return fail("expected a value");
  value->name = token().text;
  value->offset = token().begin;
  const size_t end = token().end;
  lexer_.advance();
  // %r#2: the hash touches the name.
  if (token().kind == Tok::Hash && token().begin == end && token().text[0] >= '0' && token().text[0] <= '9') {
    std::from_chars(token().text.data(), token().text.data() + token().text.size(), value->index);
    lexer_.advance();
  }
  return Status::ok();
}

Status Parser::parse_values(std::vector<ValueRef>* values) {
  if (token().kind != Tok::Value) return Status::ok();
  do {
    values->emplace_back();
    NCC_TRY(parse_value(&values->back()));
  } while (accept(','));
  return Status::ok();
}

// line:column, line:column to :column, line:column to line:column
Status Parser::parse_file_position(Loc* loc) {
  const auto number = [&](int* value) {
    int64_t wide = 0;
    NCC_TRY(parse_integer(&wide));
    if (wide < 0 || wide > INT_MAX) return fail("line or column out of range");
    *value = static_cast<int>(wide);
    return Status::ok();
  };
  NCC_TRY(number(&loc->line));
  loc->end_line = loc->line;
  if (!accept(':')) return Status::ok();
  NCC_TRY(number(&loc->column));
  loc->end_column = loc->column;
  if (!accept_word("to")) return Status::ok();
  if (!is(':')) NCC_TRY(number(&loc->end_line));
  if (!accept(':')) return Status::ok();
  return number(&loc->end_column);
}

Status Parser::parse_loc_body(Loc* loc) {
  NCC_TRY(enter());
  if (token().kind == Tok::Hash) {
    loc->kind = Loc::Kind::Alias;
    loc->text = token().text;
    lexer_.advance();
  } else if (accept_word("loc")) {
    NCC_TRY(expect('('));
    NCC_TRY(parse_loc_body(loc));
    NCC_TRY(expect(')'));
  } else if (token().kind == Tok::String) {
    NCC_TRY(parse_string(&loc->text));
    loc->kind = Loc::Kind::Name;
    if (accept(':')) {  // "file":line:column, newer: … to line:column
      loc->kind = Loc::Kind::File;
      NCC_TRY(parse_file_position(loc));
    } else if (accept('(')) {
      loc->children.emplace_back();
      NCC_TRY(parse_loc_body(&loc->children.back()));
      NCC_TRY(expect(')'));
    }
  } else if (accept_word("callsite")) {
    loc->kind = Loc::Kind::CallSite;
    loc->children.resize(2);
    NCC_TRY(expect('('));
    NCC_TRY(parse_loc_body(&loc->children[0]));
    NCC_TRY(expect_word("at"));
    NCC_TRY(parse_loc_body(&loc->children[1]));
    NCC_TRY(expect(')'));
  } else if (accept_word("fused")) {
    loc->kind = Loc::Kind::Fused;
    if (is('<')) {
      Attr ignored;
      NCC_TRY(skip_balanced(&ignored, token().begin));
    }
    NCC_TRY(expect('['));
    do {
      loc->children.emplace_back();
      NCC_TRY(parse_loc_body(&loc->children.back()));
    } while (accept(','));
    NCC_TRY(expect(']'));
  } else if (!accept_word("unknown")) {
    return fail("expected a location");
  }
  leave();
  return Status::ok();
}

Status Parser::parse_optional_loc(Loc* loc) {
  if (!accept_word("loc")) return Status::ok();
  NCC_TRY(expect('('));
  NCC_TRY(parse_loc_body(loc));
  return expect(')');
}

Status Parser::parse_block_args(Region* region) {
  lexer_.advance();  // ^bb0
  if (accept('(')) {
    if (!is(')')) {
      do {
        ValueRef value;
        NCC_TRY(parse_value(&value));
        NCC_TRY(expect(':'));
        BlockArg& arg = region->args.emplace_back();
        arg.name = value.name;
        NCC_TRY(parse_type(&arg.type));
        NCC_TRY(parse_optional_loc(&arg.loc));
      } while (accept(','));
    }
    NCC_TRY(expect(')'));
  }
  return expect(':');
}

Status Parser::parse_region(Region* region) {
  NCC_TRY(expect('{'));
  NCC_TRY(enter());
  bool typed = std::exchange(typed_numbers_, true);
  if (token().kind == Tok::Block) NCC_TRY(parse_block_args(region));
  while (!is('}')) {
    if (token().kind == Tok::Block) return fail("a region with several blocks");
    NCC_TRY(parse_op(&region->ops));
  }
  typed_numbers_ = typed;
  leave();
  return expect('}');
}

Status Parser::parse_results(Op* op) {
  if (token().kind != Tok::Value) return Status::ok();
  do {
    ResultDef& result = op->results.emplace_back();
    result.name = token().text;
    if (token().kind != Tok::Value) return fail("expected a value");
    lexer_.advance();
    if (accept(':')) {
      NCC_TRY(parse_integer(&result.count));
      if (result.count < 1 || result.count > 1 << 20) return fail("result count out of range");
    }
  } while (accept(','));
  return expect('=');
}

// "name"(operands) <{…}> ({…}) {…} : (types) -> types
Status Parser::parse_generic(Op* op) {
  NCC_TRY(expect('('));
  NCC_TRY(parse_values(&op->operands));
  NCC_TRY(expect(')'));
  if (accept('<')) {
    NCC_TRY(parse_dict(&op->attrs));
    NCC_TRY(expect('>'));
  }
  if (accept('(')) {
    do {
      op->regions.emplace_back();
      NCC_TRY(parse_region(&op->regions.back()));
    } while (accept(','));
    NCC_TRY(expect(')'));
  }
  NCC_TRY(parse_optional_dict(&op->attrs));
  NCC_TRY(expect(':'));
  Type type;
  NCC_TRY(parse_type_or_function(&type));
  if (!type.function) return fail("expected a function type");
  op->operand_types = std::move(type.inputs);
  op->result_types = std::move(type.results);
  return Status::ok();
}

// Every dialect prints in its own way: what is not ours is named before its syntax makes no sense.
Status Parser::check_known_syntax(const Op& op) const {
  if (op.name == "module" || op.name == "builtin.module")
    return fail_at(op.offset, "a module inside a module is not supported");
  const size_t dot = op.name.find('.');
  if (dot == std::string::npos) return Status::ok();
  for (std::string_view dialect : {"stablehlo", "chlo", "func", "check", "sdy", "interpreter"})
    if (std::string_view(op.name).substr(0, dot) == dialect) return Status::ok();
  return error(Code::EVRF001, SourceLoc{}, op.name,
               fmt::format("at {}: its dialect is none of stablehlo, chlo, func, check and sdy",
                           lexer_.position(op.offset)));
}

Status Parser::parse_op(std::vector<std::unique_ptr<Op>>* out) {
  auto op = std::make_unique<Op>();
  op->offset = token().begin;
  op->line = lexer_.line_of(token().begin);
  NCC_TRY(parse_results(op.get()));
  if (token().kind == Tok::String) {
    NCC_TRY(parse_string(&op->name));
    op->name = full_name(op->name);
    NCC_TRY(parse_generic(op.get()));
    if (op->name == "func.func") NCC_TRY(complete_function(op.get()));
  } else if (token().kind == Tok::BareId) {
    op->name = full_name(token().text);
    lexer_.advance();
    NCC_TRY(check_known_syntax(*op));
    NCC_TRY(op->name == "func.func" ? parse_func(op.get()) : parse_pretty(op.get()));
  } else {
    return token().kind == Tok::Error ? fail(lexer_.problem()) : fail("expected an operation");
  }
  NCC_TRY(parse_optional_loc(&op->loc));
  int64_t declared = 0;
  for (const ResultDef& result : op->results) declared += result.count;
  if (!op->results.empty() && declared != static_cast<int64_t>(op->result_types.size()))
    return fail_at(op->offset,
                   fmt::format("{} results named, the op has {}", declared, op->result_types.size()));
  out->push_back(std::move(op));
  return Status::ok();
}

Status Parser::parse_func_arguments(Region* body) {
  NCC_TRY(expect('('));
  if (accept(')')) return Status::ok();
  do {
    BlockArg& arg = body->args.emplace_back();
    if (token().kind == Tok::Value) {
      arg.name = token().text;
      lexer_.advance();
      NCC_TRY(expect(':'));
    }
    NCC_TRY(parse_type(&arg.type));
    NCC_TRY(parse_optional_dict(&arg.attrs));
    NCC_TRY(parse_optional_loc(&arg.loc));
  } while (accept(','));
  return expect(')');
}

Status Parser::parse_func_results(Op* op) {
  if (token().kind != Tok::Arrow) return Status::ok();
  lexer_.advance();
  if (!accept('(')) {
    op->result_types.emplace_back();
    op->result_attrs.emplace_back();
    return parse_type(&op->result_types.back());
  }
  if (accept(')')) return Status::ok();
  do {
    op->result_types.emplace_back();
    op->result_attrs.emplace_back();
    NCC_TRY(parse_type(&op->result_types.back()));
    NCC_TRY(parse_optional_dict(&op->result_attrs.back()));
  } while (accept(','));
  return expect(')');
}

Status Parser::parse_func(Op* op) {
  std::string visibility = "public";
  if (is_word("public") || is_word("private") || is_word("nested")) {
    visibility = token().text;
    lexer_.advance();
  }
  if (token().kind != Tok::Symbol) return fail("expected a function name");
  Attr name;
  name.kind = Attr::Kind::Symbol;
  if (!decode_mlir_string(token().text, &name.text)) return fail("bad escape in a name");
  op->attrs.emplace_back("sym_name", std::move(name));
  lexer_.advance();
  Attr visible;
  visible.kind = Attr::Kind::String;
  visible.text = visibility;
  op->attrs.emplace_back("sym_visibility", std::move(visible));
  op->regions.emplace_back();
  NCC_TRY(parse_func_arguments(&op->regions[0]));
  NCC_TRY(parse_func_results(op));
  if (accept_word("attributes")) NCC_TRY(parse_dict(&op->attrs));
  if (is('{')) return parse_region(&op->regions[0]);
  return Status::ok();
}

// #name = attribute or location, !name = type
Status Parser::parse_alias(File* file) {
  const std::string name(token().text);
  const bool type = token().kind == Tok::Exclaim;
  lexer_.advance();
  NCC_TRY(expect('='));
  if (type) return parse_type(&type_aliases_[name]);
  if (is_word("loc")) {
    Loc loc;
    NCC_TRY(parse_optional_loc(&loc));
    file->locations.emplace(name, std::move(loc));
    return Status::ok();
  }
  Attr attr;
  NCC_TRY(parse_attr(&attr));
  attr_aliases_.emplace(name, std::move(attr));
  return Status::ok();
}

// {-# dialect_resources: { builtin: { key: "0x…", … } }, … #-}
Status Parser::parse_metadata(File* file) {
  lexer_.advance();
  int level = 0;
  while (token().kind != Tok::MetaClose) {
    if (token().kind == Tok::End) return fail("metadata without '#-}'");
    if (token().kind == Tok::Error) return fail(lexer_.problem());
    std::string key;
    const bool named = token().kind == Tok::BareId || token().kind == Tok::String;
    if (named) key = token().text;
    if (is('{')) ++level;
    if (is('}')) --level;
    lexer_.advance();
    if (!named || !accept(':')) continue;
    if (token().kind == Tok::String && level >= 2) {
      file->resources[key] = token().text;
      lexer_.advance();  // a value is no key
    }
  }
  lexer_.advance();
  return Status::ok();
}

Status Parser::parse_module(File* file) {
  lexer_.advance();
  if (token().kind == Tok::Symbol) {
    if (!decode_mlir_string(token().text, &file->module_name)) return fail("bad escape in a name");
    lexer_.advance();
  }
  if (accept_word("attributes")) NCC_TRY(parse_dict(&file->module_attrs));
  NCC_TRY(expect('{'));
  while (!is('}')) NCC_TRY(parse_op(&file->ops));
  lexer_.advance();
  Loc ignored;
  return parse_optional_loc(&ignored);
}

Status Parser::parse_top_level(File* file) {
  if (token().kind == Tok::MetaOpen) return parse_metadata(file);
  if (token().kind == Tok::Hash || token().kind == Tok::Exclaim) return parse_alias(file);
  if (is_word("module") || is_word("builtin.module")) return parse_module(file);
  NCC_TRY(parse_op(&file->ops));
  if (file->ops.back()->name != "builtin.module") return Status::ok();
  std::unique_ptr<Op> module = std::move(file->ops.back());
  file->ops.pop_back();
  return unwrap_module(std::move(module), file);
}

Result<File> Parser::parse_file() {
  File file;
  while (token().kind != Tok::End) NCC_TRY(parse_top_level(&file));
  return file;
}

}  // namespace ncc::hlo::mlir
