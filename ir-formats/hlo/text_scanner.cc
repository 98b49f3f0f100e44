#include "ir-formats/hlo/text_scanner.h"

#include <algorithm>
#include <charconv>

namespace ncc::hlo {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_char(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-'; }
int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  c |= 32;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

void TextScanner::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else if (c == '/' && peek_at(1) == '/') {
      at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
    } else if (c == '/' && peek_at(1) == '*') {
      const size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) return;  // the slash is then an error where it stands
      at_ = end + 2;
    } else {
      return;
    }
  }
}

bool TextScanner::accept(char c) {
  if (at_end() || peek() != c) return false;
  ++at_;
  skip_space();
  return true;
}

bool TextScanner::accept(std::string_view punctuation) {
  if (!starts_with(punctuation)) return false;
  seek(at_ + punctuation.size());
  return true;
}

bool TextScanner::accept_word(std::string_view word) {
  if (!starts_with(word) || is_name_char(peek_at(word.size()))) return false;
  seek(at_ + word.size());
  return true;
}

Status TextScanner::expect(char c) {
  if (accept(c)) return Status::ok();
  return fail(at_end() ? fmt::format("expected '{}', the text ends", c) : fmt::format("expected '{}'", c));
}

Status TextScanner::expect(std::string_view punctuation) {
  return accept(punctuation) ? Status::ok() : fail(fmt::format("expected '{}'", punctuation));
}

std::string_view TextScanner::peek_ident() const {
  if (!is_letter(peek())) return {};
  size_t end = at_ + 1;
  while (end < text_.size() && is_name_char(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

Status TextScanner::ident(std::string_view* ident) {
  *ident = peek_ident();
  if (ident->empty()) return fail("expected a name");
  seek(at_ + ident->size());
  return Status::ok();
}

Status TextScanner::name(std::string_view* name) {
  if (peek() != '%') return ident(name);
  // Behind a percent sign names may start with a digit.
  size_t end = at_ + 1;
  while (end < text_.size() && is_name_char(text_[end])) ++end;
  *name = text_.substr(at_ + 1, end - at_ - 1);
  if (name->empty()) return fail("expected a name behind '%'");
  seek(end);
  return Status::ok();
}

bool TextScanner::accept_key(std::string_view* key) {
  const std::string_view word = peek_ident();
  if (word.empty() || peek_at(word.size()) != '=') return false;
  *key = word;
  seek(at_ + word.size() + 1);
  return true;
}

Status TextScanner::wide_integer(uint64_t* magnitude, bool* negative) {
  const size_t begin = at_;
  size_t at = at_;
  *negative = at < text_.size() && text_[at] == '-';
  if (*negative) ++at;
  const auto [stop, problem] = std::from_chars(text_.data() + at, text_.data() + text_.size(), *magnitude);
  if (problem == std::errc::invalid_argument) return fail("expected an integer");
  if (problem != std::errc() || (*negative && *magnitude > uint64_t{1} << 63))
    return fail_at(begin, "integer out of range");
  seek(static_cast<size_t>(stop - text_.data()));
  return Status::ok();
}

Status TextScanner::integer(int64_t* value) {
  uint64_t magnitude = 0;
  bool negative = false;
  const size_t begin = at_;
  NCC_TRY(wide_integer(&magnitude, &negative));
  if (!negative && magnitude > static_cast<uint64_t>(INT64_MAX))
    return fail_at(begin, "integer out of range");
  *value = static_cast<int64_t>(negative ? -magnitude : magnitude);
  return Status::ok();
}

Status TextScanner::boolean(bool* value) {
  if (accept_word("true") || accept_word("1")) {
    *value = true;
  } else if (accept_word("false") || accept_word("0")) {
    *value = false;
  } else {
    return fail("expected true or false");
  }
  return Status::ok();
}

Status TextScanner::number_text(std::string_view* number) {
  size_t end = at_;
  if (end < text_.size() && text_[end] == '-') ++end;
  const size_t digits = end;
  if (end < text_.size() && is_letter(text_[end])) {
    while (end < text_.size() && is_letter(text_[end])) ++end;
    if (text_.substr(digits, end - digits) == "nan" && end < text_.size() && text_[end] == '(') {
      const size_t close = text_.find(')', end);
      if (close == std::string_view::npos) return fail("expected ')'");
      end = close + 1;
    }
  } else {
    while (end < text_.size() &&
           (is_digit(text_[end]) || text_[end] == '.' || text_[end] == 'e' || text_[end] == 'E' ||
            ((text_[end] == '+' || text_[end] == '-') && (text_[end - 1] | 32) == 'e')))
      ++end;
  }
  if (end == digits) return fail("expected a number");
  *number = text_.substr(at_, end - at_);
  seek(end);
  return Status::ok();
}

Status TextScanner::string(std::string* value) {
  const char quote = peek();
  const size_t begin = at_;
  if (quote != '"' && quote != '\'') return fail("expected a string");
  value->clear();
  size_t at = at_ + 1;
  while (at < text_.size() && text_[at] != quote) {
    char c = text_[at++];
    if (c != '\\') {
      *value += c;
      continue;
    }
    if (at >= text_.size()) break;
    c = text_[at++];
    if (c >= '0' && c <= '7') {
      int code = c - '0';
      for (int i = 0; i < 2 && at < text_.size() && text_[at] >= '0' && text_[at] <= '7'; ++i)
        code = code * 8 + (text_[at++] - '0');
      *value += static_cast<char>(code);
    } else if (c == 'x' || c == 'X') {
      int code = 0;
      for (int i = 0; i < 2 && at < text_.size() && hex_value(text_[at]) >= 0; ++i)
        code = code * 16 + hex_value(text_[at++]);
      *value += static_cast<char>(code);
    } else {
      constexpr std::string_view kEscapes = "n\nt\tr\ra\ab\bf\fv\v";
      const size_t known = kEscapes.find(c);
      *value += known != std::string_view::npos && known % 2 == 0 ? kEscapes[known + 1] : c;
    }
  }
  if (at >= text_.size()) return fail_at(begin, "string without end");
  seek(at + 1);
  return Status::ok();
}

Status TextScanner::ints(std::vector<int64_t>* values, char open, char close) {
  values->clear();
  NCC_TRY(expect(open));
  while (!accept(close)) {
    NCC_TRY(integer(&values->emplace_back()));
    if (!accept(',') && peek() != close) return fail(fmt::format("expected ',' or '{}'", close));
  }
  return Status::ok();
}

Status TextScanner::run(std::string_view* word) {
  const size_t end = std::min(text_.find_first_of(" \t\r\n,{}()[]=\"", at_), text_.size());
  *word = text_.substr(at_, end - at_);
  if (word->empty()) return fail("expected a value");
  seek(end);
  return Status::ok();
}

Status TextScanner::group(std::string_view* raw) {
  std::string closers;
  for (size_t at = at_; at < text_.size(); ++at) {
    const char c = text_[at];
    if (c == '"' || (c == '\'' && closers.empty())) {
      const char quote = c;
      for (++at; at < text_.size() && text_[at] != quote; ++at) {
        if (text_[at] == '\\') ++at;
      }
      continue;
    }
    if (c == '{') closers += '}';
    if (c == '[') closers += ']';
    if (c == '(') closers += ')';
    if (c != '}' && c != ']' && c != ')') continue;
    if (closers.empty() || closers.back() != c) break;
    closers.pop_back();
    if (!closers.empty()) continue;
    *raw = text_.substr(at_, at + 1 - at_);
    seek(at + 1);
    return Status::ok();
  }
  return fail("unbalanced brackets");
}

Status TextScanner::fail_at(size_t position, std::string_view why) const {
  position = std::min(position, text_.size());
  const size_t newline = position == 0 ? std::string_view::npos : text_.rfind('\n', position - 1);
  const size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  const auto line = std::count(text_.begin(), text_.begin() + static_cast<long>(position), '\n') + 1;
  return error(Code::EHLO001, fmt::format("{}:{}", line, position - start + 1), why);
}

int TextScanner::line_of(size_t position) const {
  if (position < line_position_) {
    line_position_ = 0;
    line_ = 1;
  }
  line_ += static_cast<int>(std::count(text_.begin() + static_cast<long>(line_position_),
                                       text_.begin() + static_cast<long>(position), '\n'));
  line_position_ = position;
  return line_;
}

}  // namespace ncc::hlo
