// Character-level scanner of HLO text. The grammar decides what a run of characters is (a pad, a dimension
// label, a name), so there is no separate token stream. Source: spec/hlo-text.md §1.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/diag/status.h"

namespace ncc::hlo {

class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : text_(text) { skip_space(); }

  /// The next character behind blanks and comments; '\0' at the end.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char peek_at(size_t distance) const { return at_ + distance < text_.size() ? text_[at_ + distance] : '\0'; }
  bool at_end() const { return at_ >= text_.size(); }
  size_t position() const { return at_; }
  void seek(size_t position) {
    at_ = position;
    skip_space();
  }
  std::string_view text() const { return text_; }
  bool starts_with(std::string_view word) const { return text_.substr(at_).starts_with(word); }

  bool accept(char c);
  /// A sequence like "->" or "<=" without blanks inside.
  bool accept(std::string_view punctuation);
  /// A whole word: not followed by further name characters.
  bool accept_word(std::string_view word);
  Status expect(char c);
  Status expect(std::string_view punctuation);

  /// Letter or '_', then letters, digits, '_', '.', '-'. Empty when there is none; a '%' is not part of it.
  std::string_view peek_ident() const;
  Status ident(std::string_view* ident);
  /// Ident with an optional '%'.
  Status name(std::string_view* name);
  /// key=: an ident that touches its '='. False, and nothing consumed, when there is none.
  bool accept_key(std::string_view* key);
  Status integer(int64_t* value);
  /// Digits up to 2^64-1 or down to -2^63; `negative` tells them apart.
  Status wide_integer(uint64_t* magnitude, bool* negative);
  /// true or false.
  Status boolean(bool* value);
  /// The characters of a number: decimals, ints, inf, nan, nan(0x…), with sign.
  Status number_text(std::string_view* number);
  /// "…" or '…' with C escapes decoded.
  Status string(std::string* value);
  /// {1,2,3} (or another pair of brackets).
  Status ints(std::vector<int64_t>* values, char open = '{', char close = '}');
  /// Characters up to a blank, comma, or closing bracket: pads, DxD, dimension labels, enum words.
  Status run(std::string_view* word);
  /// The raw text of a bracketed group, brackets included; brackets inside strings do not count.
  Status group(std::string_view* raw);

  Status fail(std::string_view why) const { return fail_at(at_, why); }
  Status fail_at(size_t position, std::string_view why) const;
  int line_of(size_t position) const;

 private:
  void skip_space();

  std::string_view text_;
  size_t at_ = 0;
  mutable size_t line_position_ = 0;
  mutable int line_ = 1;
};

}  // namespace ncc::hlo
