#include "ir-formats/isa/json_cursor.h"

#include <charconv>

namespace ncc::isa {
namespace {

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

}  // namespace

bool JsonCursor::fail() {
  ok_ = false;
  return false;
}

void JsonCursor::skip_blanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') break;
    ++position_;
  }
}

bool JsonCursor::expect(char c) {
  skip_blanks();
  if (!ok_ || position_ >= text_.size() || text_[position_] != c) return fail();
  ++position_;
  return true;
}

bool JsonCursor::next_element(bool& first) {
  skip_blanks();
  if (!ok_ || position_ >= text_.size()) return fail();
  if (text_[position_] == ']' || text_[position_] == '}') {
    ++position_;
    return false;
  }
  if (!first && !expect(',')) return false;
  first = false;
  return true;
}

bool JsonCursor::next_key(bool& first, std::string_view& key) {
  if (!next_element(first)) return false;
  key = string();
  return expect(':');
}

std::string_view JsonCursor::string() {
  if (!expect('"')) return {};
  const size_t start = position_;
  const size_t stop = text_.find_first_of("\"\\", start);
  if (stop == std::string_view::npos) return fail(), std::string_view{};
  if (text_[stop] == '"') {
    position_ = stop + 1;
    return text_.substr(start, stop - start);
  }
  buffer_.assign(text_.substr(start, stop - start));
  for (position_ = stop; position_ < text_.size(); ++position_) {
    const char c = text_[position_];
    if (c == '"') {
      ++position_;
      return buffer_;
    }
    if (c != '\\') {
      buffer_ += c;
      continue;
    }
    if (++position_ >= text_.size()) break;
    constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    if (const size_t known = kFrom.find(text_[position_]); known != std::string_view::npos) {
      buffer_ += kTo[known];
      continue;
    }
    uint32_t code = 0;
    const char* digits = text_.data() + position_ + 1;
    if (text_[position_] != 'u' || position_ + 5 > text_.size() ||
        std::from_chars(digits, digits + 4, code, 16).ptr != digits + 4)
      break;
    append_utf8(buffer_, code);
    position_ += 4;
  }
  return fail(), std::string_view{};
}

int64_t JsonCursor::integer() {
  skip_blanks();
  int64_t value = 0;
  const char* end = text_.data() + text_.size();
  const auto [next, failure] = std::from_chars(text_.data() + position_, end, value);
  if (!ok_ || failure != std::errc{}) return fail(), 0;
  position_ = static_cast<size_t>(next - text_.data());
  return value;
}

void JsonCursor::skip_scalar() {
  const size_t stop = text_.find_first_of(",]} \n\t\r", position_);
  if (stop == position_ || stop == std::string_view::npos) {
    fail();
    return;
  }
  position_ = stop;
}

void JsonCursor::skip_value() {
  int depth = 0;
  do {
    skip_blanks();
    if (!ok_ || position_ >= text_.size() || depth > kMaxDepth) {
      fail();
      return;
    }
    const char c = text_[position_];
    if (c == '{' || c == '[') {
      ++depth;
      ++position_;
    } else if (c == '}' || c == ']') {
      --depth;
      ++position_;
    } else if (c == ',' || c == ':') {
      if (depth == 0) {
        fail();
        return;
      }
      ++position_;
    } else if (c == '"') {
      string();
    } else {
      skip_scalar();
    }
  } while (ok_ && depth > 0);
  if (depth < 0) fail();
}

bool JsonCursor::at_end() {
  skip_blanks();
  return ok_ && position_ == text_.size();
}

}  // namespace ncc::isa
