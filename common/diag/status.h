// Errors as values: Status and Result<T>; one diagnostic travels from where it was found to whoever prints
// it.
#pragma once
#include <fmt/format.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/diag/source_loc.h"

namespace ncc {

enum class Code : uint16_t {
#define DIAG(code, kind, cause, advice) code,
#include "common/diag/codes.def"
};
enum class DiagKind : uint8_t { User, Mismatch, Internal, Host };

struct CodeInfo {
  Code code;
  std::string_view name;  // "EVRF001"; printed with the prefix NCC_
  DiagKind kind;
  std::string_view cause;   // fmt pattern
  std::string_view advice;  // fmt pattern (most have no slot)
};
/// The row of a code.
const CodeInfo& info(Code code);
/// All rows, in table order.
const std::vector<CodeInfo>& all_codes();

struct Diagnostic {
  Code code;
  std::string cause;
  std::string advice;
  SourceLoc loc;               // the user's op; may be empty
  std::string code_name = {};  // printed instead of the row's name when it is set (pass_failure.h)

  /// "[ERROR] [NCC_EVRF001] cause - advice", preceded by a line naming op, file and line when known.
  std::string to_string() const;
  /// The process exit status of this kind: 1, 2 or 70.
  int exit_status() const;
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(Diagnostic diagnostic)
      : diagnostic_(std::make_shared<const Diagnostic>(std::move(diagnostic))) {}
  static Status ok() { return {}; }
  bool is_ok() const { return !diagnostic_; }
  const Diagnostic& diagnostic() const { return *diagnostic_; }
  /// Adds the user's op to a diagnostic that has none yet.
  Status with_loc(const SourceLoc& loc) const;

 private:
  std::shared_ptr<const Diagnostic> diagnostic_;
};

namespace detail {
std::string format_pattern(std::string_view pattern, fmt::format_args args);
Diagnostic make_diagnostic(Code code, const SourceLoc& loc, fmt::format_args args);
}  // namespace detail

/// A failed Status: fills the slots of the code's cause (and, if slots remain, of its advice) in order.
template <class... Args>
Status error(Code code, const SourceLoc& loc, const Args&... args) {
  return Status(detail::make_diagnostic(code, loc, fmt::make_format_args(args...)));
}
template <class... Args>
requires(sizeof...(Args) == 0 ||
         !(std::is_same_v<std::tuple_element_t<0, std::tuple<Args..., int>>, SourceLoc>)) Status
    error(Code code, const Args&... args) {
  return Status(detail::make_diagnostic(code, SourceLoc{}, fmt::make_format_args(args...)));
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}
  bool is_ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& value() { return *value_; }
  const T& value() const { return *value_; }
  T take() { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

/// We are wrong: an invariant of the program itself does not hold. Caught by the pass manager and tool_main
/// only.
class InternalError : public std::exception {
 public:
  explicit InternalError(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

#define NCC_CONCAT_(a, b) a##b
#define NCC_CONCAT(a, b) NCC_CONCAT_(a, b)
/// Returns from the enclosing function when the expression is a failed Status.
#define NCC_TRY(...)                                                                         \
  do {                                                                                       \
    if (::ncc::Status ncc_status_ = (__VA_ARGS__); !ncc_status_.is_ok()) return ncc_status_; \
  } while (false)
/// NCC_ASSIGN(auto x, result_expression): returns the Status on failure, else moves the value into x.
#define NCC_ASSIGN(lhs, ...) NCC_ASSIGN_(NCC_CONCAT(ncc_result_, __LINE__), lhs, __VA_ARGS__)
#define NCC_ASSIGN_(tmp, lhs, ...)       \
  auto tmp = (__VA_ARGS__);              \
  if (!tmp.is_ok()) return tmp.status(); \
  lhs = tmp.take()
/// Asserts an internal invariant; the message is an fmt pattern and should name the op.
#define NCC_CHECK(condition, ...)                                                                         \
  do {                                                                                                    \
    if (!(condition)) [[unlikely]]                                                                        \
      throw ::ncc::InternalError(fmt::format("{}:{}: {}", __FILE__, __LINE__, fmt::format(__VA_ARGS__))); \
  } while (false)

}  // namespace ncc
