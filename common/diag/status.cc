#include "common/diag/status.h"

#include <array>

namespace ncc {

const std::vector<CodeInfo>& all_codes() {
  static const std::vector<CodeInfo> rows = {
#define DIAG(code, kind, cause, advice) {Code::code, #code, DiagKind::kind, cause, advice},
#include "common/diag/codes.def"
  };
  return rows;
}

const CodeInfo& info(Code code) { return all_codes()[static_cast<size_t>(code)]; }

std::string to_string(const SourceLoc& loc) {
  std::string text = loc.op_name;
  if (!loc.file.empty()) {
    const std::string place = loc.line > 0 ? fmt::format("{}:{}", loc.file, loc.line) : loc.file;
    text = text.empty() ? place : fmt::format("{} ({})", text, place);
  }
  return text;
}

std::string Diagnostic::to_string() const {
  std::string text;
  if (!loc.empty()) text = fmt::format("at {}\n", ncc::to_string(loc));
  return text + fmt::format("[ERROR] [NCC_{}] {} - {}",
                            code_name.empty() ? info(code).name : std::string_view(code_name), cause, advice);
}

int Diagnostic::exit_status() const {
  switch (info(code).kind) {
    case DiagKind::User:
      return 1;
    case DiagKind::Mismatch:
      return 2;
    case DiagKind::Internal:
    case DiagKind::Host:
      return 70;
  }
  return 70;
}

Status Status::with_loc(const SourceLoc& loc) const {
  if (is_ok() || !diagnostic_->loc.empty()) return *this;
  Diagnostic copy = *diagnostic_;
  copy.loc = loc;
  return Status(std::move(copy));
}

namespace detail {

std::string format_pattern(std::string_view pattern, fmt::format_args args) {
  return fmt::vformat(pattern, args);
}

Diagnostic make_diagnostic(Code code, const SourceLoc& loc, fmt::format_args args) {
  const CodeInfo& row = info(code);
  // The advice may continue the slots of the cause: both are formatted as one pattern around a separator that
  // no argument holds.
  constexpr char kSeparator = '\x1f';
  std::string both = fmt::vformat(std::string(row.cause) + kSeparator + std::string(row.advice), args);
  const size_t cut = both.rfind(kSeparator);
  return {code, both.substr(0, cut), both.substr(cut + 1), loc, {}};
}

}  // namespace detail
}  // namespace ncc
