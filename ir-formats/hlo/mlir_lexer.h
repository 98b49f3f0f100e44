// Tokens of MLIR text. One token is current; the parser may continue from any character position, which it
// needs for dimension lists ("2x3xf32" is no token sequence). Source: spec/stablehlo-text.md §1.1.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/diag/status.h"
#include "common/files/mapped_pages.h"

namespace ncc::hlo {

enum class Tok : uint8_t {
  End,
  Error,
  BareId,   // letters, digits, _ $ .
  Value,    // %name, text without the percent sign
  Block,    // ^name
  Symbol,   // @name or @"name", text without sign and quotes
  Hash,     // #name
  Exclaim,  // !name
  Integer,  // digits or 0x…
  Float,
  String,     // text between the quotes, escapes not yet decoded
  Arrow,      // ->
  MetaOpen,   // {-#
  MetaClose,  // #-}
  Punct,      // one character, in `punct`
};

struct Token {
  Tok kind = Tok::End;
  char punct = 0;
  std::string_view text;
  size_t begin = 0, end = 0;  // byte offsets
};

class MlirLexer {
 public:
  /// `file`: the mapping that `text` lies in, if any; it gives back the memory of long strings that were
  /// read.
  explicit MlirLexer(std::string_view text, const MappedFile* file = nullptr) : text_(text), file_(file) {
    advance();
  }

  const Token& current() const { return current_; }
  /// Lexes the next token after the current one.
  void advance() { lex(current_.end); }
  /// Makes the token that starts at or after `offset` the current one.
  void restart(size_t offset) { lex(offset); }
  std::string_view text() const { return text_; }
  /// What is wrong when the current token is an Error.
  std::string_view problem() const { return problem_; }

  /// "line:column" of an offset, both 1-based.
  std::string position(size_t offset) const;
  /// A part of the text will hardly be read again.
  void forget(std::string_view part) const {
    if (file_ != nullptr) forget_pages(*file_, part);
  }
  /// Line of an offset; offsets must mostly ascend from call to call (amortised linear).
  int line_of(size_t offset) const;

 private:
  void lex(size_t offset);
  void lex_number(size_t begin);
  void lex_string(size_t begin, Tok kind);
  size_t skip_space(size_t offset) const;
  void set(Tok kind, size_t begin, size_t end, std::string_view text);
  void fail(size_t at, std::string_view why);

  std::string_view text_;
  const MappedFile* file_ = nullptr;
  Token current_;
  std::string_view problem_;
  mutable size_t line_offset_ = 0;
  mutable int line_ = 1;
};

/// Decodes \" \\ \n \t and \HH; false on any other escape.
bool decode_mlir_string(std::string_view raw, std::string* decoded);

}  // namespace ncc::hlo
