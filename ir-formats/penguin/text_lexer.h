// Words of the Penguin text form: plain words and numbers, quoted strings, single punctuation characters; `;`
// starts a comment.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/diag/status.h"

namespace ncc::penguin {

/// Letters, digits, '_' and '.', starting with a letter or '_': printable without quotes.
bool is_plain_word(std::string_view text);
/// "text" with \\, \" and \n escaped; control characters as \xNN.
std::string quote(std::string_view text);

struct Token {
  enum class Kind : uint8_t { Word, String, Number, Punct, End };
  Kind kind = Kind::End;
  std::string text;  // unescaped; numbers as written, sign excluded
  int line = 1;
};

class Lexer {
 public:
  Lexer(std::string_view text, std::string what) : text_(text), what_(std::move(what)) { advance(); }

  const Token& peek() const { return token_; }
  Token next() {
    Token taken = std::move(token_);
    advance();
    return taken;
  }
  bool is(std::string_view word) const {
    return (token_.kind == Token::Kind::Word || token_.kind == Token::Kind::Punct) && token_.text == word;
  }
  bool at_end() const { return token_.kind == Token::Kind::End; }
  /// Takes the word or punctuation when it is next.
  bool take(std::string_view word) {
    if (!is(word)) return false;
    advance();
    return true;
  }

  /// EPEN001 "FILE:LINE: …, found '…'".
  Status fail(std::string_view expected) const;
  Status expect(std::string_view word);
  Status read_word(std::string& out);
  Status read_string(std::string& out);
  /// An optional '-', then decimal or 0x digits.
  Status read_int(int64_t& out);

 private:
  void advance();
  void read_quoted();

  std::string_view text_;
  std::string what_;
  size_t position_ = 0;
  int line_ = 1;
  Token token_;
};

}  // namespace ncc::penguin
