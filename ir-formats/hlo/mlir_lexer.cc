#include "ir-formats/hlo/mlir_lexer.h"

#include <algorithm>

namespace ncc::hlo {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
int hex_value(char c) { return is_digit(c) ? c - '0' : (c | 32) - 'a' + 10; }
bool is_id_char(char c) { return is_letter(c) || is_digit(c) || c == '$' || c == '.'; }
bool is_suffix_char(char c) { return is_id_char(c) || c == '-'; }

}  // namespace

void MlirLexer::set(Tok kind, size_t begin, size_t end, std::string_view text) {
  current_ = {kind, 0, text, begin, end};
}

void MlirLexer::fail(size_t at, std::string_view why) {
  problem_ = why;
  // The end stays in place: an error token never lets the parser run on.
  current_ = {Tok::Error, 0, {}, at, at};
}

size_t MlirLexer::skip_space(size_t offset) const {
  while (offset < text_.size()) {
    const char c = text_[offset];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++offset;
    } else if (c == '/' && offset + 1 < text_.size() && text_[offset + 1] == '/') {
      const size_t line_end = text_.find('\n', offset);
      offset = line_end == std::string_view::npos ? text_.size() : line_end;
    } else {
      break;
    }
  }
  return offset;
}

void MlirLexer::lex_number(size_t begin) {
  size_t at = begin;
  if (text_[at] == '0' && at + 2 < text_.size() && text_[at + 1] == 'x' && is_hex(text_[at + 2])) {
    at += 2;
    while (at < text_.size() && is_hex(text_[at])) ++at;
    return set(Tok::Integer, begin, at, text_.substr(begin, at - begin));
  }
  while (at < text_.size() && is_digit(text_[at])) ++at;
  Tok kind = Tok::Integer;
  if (at < text_.size() && text_[at] == '.') {
    kind = Tok::Float;
    ++at;
    while (at < text_.size() && is_digit(text_[at])) ++at;
  }
  // Quantized scales are printed without a point before the exponent.
  if (at < text_.size() && (text_[at] == 'e' || text_[at] == 'E')) {
    size_t exponent = at + 1;
    if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
    if (exponent < text_.size() && is_digit(text_[exponent]) && (kind == Tok::Float || exponent > at + 1)) {
      kind = Tok::Float;
      at = exponent;
      while (at < text_.size() && is_digit(text_[at])) ++at;
    }
  }
  set(kind, begin, at, text_.substr(begin, at - begin));
}

// `begin` is the opening quote; the token starts before it for symbols.
void MlirLexer::lex_string(size_t begin, Tok kind) {
  const size_t open = kind == Tok::Symbol ? begin + 1 : begin;
  const size_t first = open + 1;
  size_t at = first;
  // Blobs of hex digits are long: looked at with memchr, a page after the other; escapes and line ends are
  // rare.
  constexpr size_t kStride = 4096;
  while (at < text_.size()) {
    const std::string_view stride = text_.substr(at, kStride);
    const size_t quote = std::min(stride.find('"'), stride.size());
    const std::string_view clear = stride.substr(0, quote);
    if (clear.find('\\') == std::string_view::npos && clear.find('\n') == std::string_view::npos) {
      at += quote;
      if (quote < stride.size()) break;
      continue;
    }
    while (at < text_.size() && text_[at] != '"' && text_[at] != '\n') at += text_[at] == '\\' ? 2 : 1;
    break;
  }
  if (at >= text_.size() || text_[at] != '"') return fail(begin, "string without end");
  set(kind, begin, at + 1, text_.substr(first, at - first));
  constexpr size_t kBlob = 1 << 20;
  if (at - first > kBlob) forget(current_.text);
}

void MlirLexer::lex(size_t offset) {
  const size_t begin = skip_space(offset);
  if (begin >= text_.size()) return set(Tok::End, text_.size(), text_.size(), {});
  const char c = text_[begin];
  const auto run = [&](size_t at, bool (*test)(char)) {
    while (at < text_.size() && test(text_[at])) ++at;
    return at;
  };
  const auto word = [&](Tok kind, size_t skip, size_t end) {
    set(kind, begin, end, text_.substr(begin + skip, end - begin - skip));
  };
  const char next = begin + 1 < text_.size() ? text_[begin + 1] : '\0';
  if (is_letter(c)) return word(Tok::BareId, 0, run(begin, is_id_char));
  if (is_digit(c)) return lex_number(begin);
  if (c == '"') return lex_string(begin, Tok::String);
  if (c == '@') {
    if (next == '"') return lex_string(begin, Tok::Symbol);
    if (!is_letter(next)) return fail(begin, "'@' without a name");
    return word(Tok::Symbol, 1, run(begin + 1, is_id_char));
  }
  if (c == '%' || c == '^') {
    const Tok kind = c == '%' ? Tok::Value : Tok::Block;
    if (is_digit(next)) return word(kind, 1, run(begin + 1, is_digit));
    const size_t end = run(begin + 1, is_suffix_char);
    if (end == begin + 1) return fail(begin, "a sign without a name");
    return word(kind, 1, end);
  }
  if (c == '-' && next == '>') return set(Tok::Arrow, begin, begin + 2, text_.substr(begin, 2));
  if (text_.substr(begin, 3) == "{-#") return set(Tok::MetaOpen, begin, begin + 3, text_.substr(begin, 3));
  if (text_.substr(begin, 3) == "#-}") return set(Tok::MetaClose, begin, begin + 3, text_.substr(begin, 3));
  if (c == '#' || c == '!') {
    // A value member (%r#2) has its number right behind the hash.
    const size_t end = is_digit(next) ? run(begin + 1, is_digit) : run(begin + 1, is_id_char);
    if (end == begin + 1) return fail(begin, "a sign without a name");
    return word(c == '#' ? Tok::Hash : Tok::Exclaim, 1, end);
  }
  static constexpr std::string_view kPunct = ":,(){}[]<>=?+*-|";
  if (kPunct.find(c) == std::string_view::npos) return fail(begin, "unexpected character");
  set(Tok::Punct, begin, begin + 1, text_.substr(begin, 1));
  current_.punct = c;
}

std::string MlirLexer::position(size_t offset) const {
  offset = std::min(offset, text_.size());
  const std::string_view before = text_.substr(0, offset);
  const int64_t line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("{}:{}", line, offset - start + 1);
}

int MlirLexer::line_of(size_t offset) const {
  if (offset < line_offset_) {
    line_offset_ = 0;
    line_ = 1;
  }
  offset = std::min(offset, text_.size());
  line_ += static_cast<int>(std::count(text_.begin() + static_cast<long>(line_offset_),
                                       text_.begin() + static_cast<long>(offset), '\n'));
  line_offset_ = offset;
  return line_;
}

bool decode_mlir_string(std::string_view raw, std::string* decoded) {
  decoded->clear();
  decoded->reserve(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      *decoded += raw[i];
      continue;
    }
    if (++i >= raw.size()) return false;
    const char c = raw[i];
    if (c == '"' || c == '\\') {
      *decoded += c;
    } else if (i + 1 < raw.size() && is_hex(c) && is_hex(raw[i + 1])) {
      *decoded += static_cast<char>(hex_value(c) * 16 + hex_value(raw[i + 1]));
      ++i;
    } else if (c == 'n') {
      *decoded += '\n';
    } else if (c == 't') {
      *decoded += '\t';
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace ncc::hlo
