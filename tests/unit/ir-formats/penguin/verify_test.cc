#include "ir-formats/penguin/verify.h"

#include <catch2/catch.hpp>

#include "ir-formats/penguin/io.h"
#include "samples.h"

namespace ncc::penguin {
namespace {

/// What the verifier says of `sample` with one place changed; "" when it agrees.
std::string verdict(std::string_view sample, std::string_view from = "", std::string_view to = "") {
  std::string text(sample);
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  Result<Module> module = from_text(text, "sample");
  REQUIRE(module.is_ok());
  const Status status = verify(module.value());
  return status.is_ok() ? "" : status.diagnostic().cause;
}

bool says(const std::string& verdict, std::string_view part) {
  INFO(verdict);
  return verdict.find(part) != std::string::npos;
}

TEST_CASE("the samples of both levels are legal", "[penguin]") {
  CHECK(verdict(kTensorLevel) == "");
  CHECK(verdict(kTileLevel) == "");
}

TEST_CASE("penguin_t1: an index outside its tensor is refused", "[penguin]") {
  CHECK(says(verdict(kTensorLevel, "%max[3 - i6]", "%max[4 - i6]"), "runs over [1, 4], its size is 4"));
}

TEST_CASE("penguin_t2: a result must be injective", "[penguin]") {
  CHECK(says(verdict(kTensorLevel, "%output0[i8, i9]", "%output0[i8, 0]"), "not injective"));
}

TEST_CASE("penguin_t3: writers cover a tensor without overlap", "[penguin]") {
  CHECK(says(verdict(kTensorLevel, "%output0: f32[2,16] output", "%output0: f32[2,17] output"),
             "32 of 34 elements"));
  constexpr std::string_view kLine =
      "  Map compare(LT total_order) %output0[i8, i9] = f32(1e-05), f32(0x7fc00000) for i8:2, i9:16 name "
      "\"compare\"\n";
  CHECK(says(verdict(kTensorLevel, kLine, std::string(kLine) + std::string(kLine)), "overlaps 'compare'"));
  CHECK(says(verdict(kTensorLevel, "%output0[i8, i9]", "%flat[i8, i9]"), "'flat' may not be written"));
}

TEST_CASE("penguin_t4: roles must fit the op", "[penguin]") {
  CHECK(says(verdict(kTensorLevel, "k2:8 contract", "k2:8 lhs_free"), "axis 'k2' cannot be lhs_free here"));
  CHECK(says(verdict(kTensorLevel, ", k2:8 contract", ""), "axis 'k2' is used and not listed"));
}

TEST_CASE("penguin_t5: functions have their arity and folds are folds", "[penguin]") {
  CHECK(says(verdict(kTensorLevel, "f32(1e-05), ", ""), "1 operands, 2 expected"));
  CHECK(says(verdict(kTensorLevel, "Reduce maximum", "Reduce subtract"), "'subtract' is not a fold"));
}

TEST_CASE("penguin_t6: a tensor is written before it is read", "[penguin]") {
  CHECK(says(verdict(kTensorLevel, "%x[i0, k2]", "%flat[i0 - i0, k2]"), "read before it is written"));
}

TEST_CASE("penguin_l rules: placement, partitions, counts, ranges, scopes, spaces", "[penguin]") {
  CHECK(says(verdict(kTileLevel, "psum", "unplaced"), "'p' is not placed"));
  CHECK(says(verdict(kTileLevel, "%s: bf16[128,64]", "%s: bf16[129,64]"), "more than 128 partitions"));
  CHECK(says(verdict(kTileLevel, "= %s(0, 0 : bf16 128*1 64*1) %s", "= %s"), "Matmult with 1 operands"));
  CHECK(says(verdict(kTileLevel, "8192*t", "8193*t"), "elements [0, 32770] of 'a'"));
  CHECK(says(verdict(kTileLevel, "8192*t", "8192*k"), "axis 'k' does not enclose it"));
  CHECK(says(verdict(kTileLevel, "Memset Pool %p", "Memset Pool %s"), "used outside its loop"));
  CHECK(says(verdict(kTileLevel, "%p: f32[64,64] psum", "%p: f32[64,64] sbuf"), "result is not in PSUM"));
}

}  // namespace
}  // namespace ncc::penguin
