#include <catch2/catch.hpp>
#include <set>
#include <stdexcept>

#include "common/diag/pass_failure.h"

namespace ncc {
namespace {

size_t count_slots(std::string_view pattern) {
  size_t slots = 0;
  for (size_t at = pattern.find("{}"); at != std::string_view::npos; at = pattern.find("{}", at + 2)) ++slots;
  return slots;
}

TEST_CASE("every diagnostic formats, says what to do and has a name of its own", "[diag]") {
  std::set<std::string_view> names;
  for (const CodeInfo& row : all_codes()) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(row.advice.empty());
    CHECK_FALSE(row.cause.ends_with('.'));
    CHECK_FALSE(row.advice.ends_with('.'));
    const std::string a = "a";
    const size_t slots = count_slots(row.cause) + count_slots(row.advice);
    REQUIRE(slots <= 6);
    const Diagnostic what = error(row.code, a, a, a, a, a, a).diagnostic();
    CHECK(what.to_string().find("{}") == std::string::npos);
    const int status = what.exit_status();
    CHECK((status == 1 || status == 2 || status == 70));
  }
}

TEST_CASE("the location of the user's op stands before its diagnostic", "[diag]") {
  const SourceLoc loc{"jit(f)/add", "model.py", 7};
  CHECK(error(Code::EARG001, std::string("x")).with_loc(loc).diagnostic().to_string() ==
        "at jit(f)/add (model.py:7)\n[ERROR] [NCC_EARG001] x - see --help");
}

TEST_CASE("a pass that breaks is reported under its own code", "[diag]") {
  CHECK(pass_prefix("while-loop-invariant-code-motion") == "ILCM");
  CHECK(pass_prefix("dead_code_elim") == "IDCE");
  CHECK(pass_prefix("auto-cast") == "IACA");
  CHECK(pass_prefix("unroll") == "IUNR");
  CHECK(pass_prefix("a1") == "IAXX");
  const Diagnostic assertion = pass_failure("cse", InternalError("x")).diagnostic();
  CHECK(assertion.to_string() ==
        "[ERROR] [NCC_ICSE901] internal error in pass cse: x - report this with the input");
  CHECK(assertion.code == Code::EINT901);
  CHECK(assertion.exit_status() == 70);
  const Diagnostic other = pass_failure("cse", std::out_of_range("y")).diagnostic();
  CHECK(other.code == Code::EINT902);
  CHECK(other.to_string() == "[ERROR] [NCC_ICSE902] error in pass cse: y - report this with the input");
}

}  // namespace
}  // namespace ncc
