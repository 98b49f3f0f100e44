// A pull parser for large JSON files of a known shape: no tree, no copies. Every failure is sticky; check
// ok() at the end.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ncc::isa {

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  /// Enters an object and visits its keys: `while (cursor.next_key(first, key)) …` with `first` starting
  /// true. The caller must consume each value.
  bool enter_object() { return expect('{'); }
  bool next_key(bool& first, std::string_view& key);
  bool enter_array() { return expect('['); }
  /// True when another element follows.
  bool next_element(bool& first);

  /// A string; with escapes it is decoded into a buffer that lives until the next string.
  std::string_view string();
  int64_t integer();
  void skip_value();
  /// Only blanks may follow.
  bool at_end();

  bool ok() const { return ok_; }
  size_t position() const { return position_; }

 private:
  static constexpr int kMaxDepth = 64;
  void skip_blanks();
  bool expect(char c);
  bool fail();
  void skip_scalar();

  std::string_view text_;
  size_t position_ = 0;
  bool ok_ = true;
  std::string buffer_;
};

}  // namespace ncc::isa
