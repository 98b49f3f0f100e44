#include "ir-formats/penguin/text_lexer.h"

#include <cctype>
#include <charconv>

namespace ncc::penguin {
namespace {

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }
bool is_word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

bool is_plain_word(std::string_view text) {
  if (text.empty() || !is_word_start(text.front())) return false;
  for (char c : text)
    if (!is_word_char(c)) return false;
  return true;
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

void Lexer::read_quoted() {
  token_.kind = Token::Kind::String;
  ++position_;
  while (position_ < text_.size() && text_[position_] != '"' && text_[position_] != '\n') {
    if (text_[position_] != '\\' || position_ + 1 >= text_.size()) {
      token_.text += text_[position_++];
      continue;
    }
    const char escaped = text_[position_ + 1];
    if (escaped == 'x' && position_ + 3 < text_.size()) {
      int value = 0;
      std::from_chars(text_.data() + position_ + 2, text_.data() + position_ + 4, value, 16);
      token_.text += static_cast<char>(value);
      position_ += 4;
    } else {
      token_.text += escaped;
      position_ += 2;
    }
  }
  if (position_ < text_.size()) ++position_;
}

void Lexer::advance() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == ';') {
      while (position_ < text_.size() && text_[position_] != '\n') ++position_;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      line_ += c == '\n' ? 1 : 0;
      ++position_;
    } else {
      break;
    }
  }
  token_ = {Token::Kind::End, "", line_};
  if (position_ >= text_.size()) return;
  const char c = text_[position_];
  if (c == '"') return read_quoted();
  const size_t start = position_;
  if (is_word_start(c)) {
    token_.kind = Token::Kind::Word;
    while (position_ < text_.size() && is_word_char(text_[position_])) ++position_;
  } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
    token_.kind = Token::Kind::Number;
    // Exponents carry a sign: 1e-05.
    while (position_ < text_.size() &&
           (is_word_char(text_[position_]) ||
            ((text_[position_] == '-' || text_[position_] == '+') && text_[position_ - 1] == 'e' &&
             !text_.substr(start).starts_with("0x"))))
      ++position_;
  } else {
    token_.kind = Token::Kind::Punct;
    ++position_;
  }
  token_.text = std::string(text_.substr(start, position_ - start));
}

Status Lexer::fail(std::string_view expected) const {
  return error(Code::EPEN001, fmt::format("{}:{}: expected {}, found {}", what_, token_.line, expected,
                                          at_end() ? "the end" : fmt::format("'{}'", token_.text)));
}

Status Lexer::expect(std::string_view word) {
  return take(word) ? Status::ok() : fail(fmt::format("'{}'", word));
}

Status Lexer::read_word(std::string& out) {
  if (token_.kind != Token::Kind::Word) return fail("a word");
  out = next().text;
  return Status::ok();
}

Status Lexer::read_string(std::string& out) {
  if (token_.kind != Token::Kind::String) return fail("a quoted string");
  out = next().text;
  return Status::ok();
}

Status Lexer::read_int(int64_t& out) {
  const bool negative = take("-");
  std::string_view digits = token_.text;
  if (token_.kind != Token::Kind::Number) return fail("a number");
  const bool is_hex = digits.starts_with("0x");
  if (is_hex) digits.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, ec] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, is_hex ? 16 : 10);
  if (ec != std::errc() || end != digits.data() + digits.size()) return fail("an integer");
  advance();
  out = static_cast<int64_t>(negative ? 0 - value : value);
  return Status::ok();
}

}  // namespace ncc::penguin
