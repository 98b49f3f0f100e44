#include "common/diag/pass_failure.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace ncc {
namespace {

struct PrefixRow {
  std::string_view prefix, pass;
};
constexpr PrefixRow kPrefixes[] = {
#define PASS_PREFIX(prefix, pass) {prefix, pass},
#include "common/diag/pass_prefixes.def"
};
constexpr size_t kLetters = 3;  // behind the I

/// The words of a name, letters only.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words = {""};
  for (const char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      words.back() += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

}  // namespace

std::string pass_prefix(std::string_view pass) {
  for (const PrefixRow& row : kPrefixes)
    if (row.pass == pass) return std::string(row.prefix);
  const std::vector<std::string> words = words_of(pass);
  std::string letters;
  for (size_t i = 0; i < words.size() && i < kLetters; ++i) letters += words[i][0];
  if (!words.empty() && words.size() < kLetters) letters += words.back().substr(1, kLetters - letters.size());
  letters.resize(kLetters, 'X');
  return "I" + letters;
}

Status pass_failure(std::string_view pass, const std::exception& failure) {
  const bool is_assertion = dynamic_cast<const InternalError*>(&failure) != nullptr;
  Diagnostic diagnostic = error(is_assertion ? Code::EINT901 : Code::EINT902, fmt::format("pass {}", pass),
                                std::string(failure.what()))
                              .diagnostic();
  diagnostic.code_name = pass_prefix(pass) + (is_assertion ? "901" : "902");
  return Status(std::move(diagnostic));
}

}  // namespace ncc
