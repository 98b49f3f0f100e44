#include "driver/precision.h"

#include <catch2/catch.hpp>

namespace ncc::driver {
namespace {

std::string mode(const std::vector<std::string>& args) {
  const Result<Options> options = parse_options(args, "/launch");
  INFO((options.is_ok() ? "" : options.status().diagnostic().to_string()));
  REQUIRE(options.is_ok());
  return fp32_cast_mode(options.value());
}

TEST_CASE("scope and type of a cast become one word", "[driver]") {
  CHECK(mode({}).empty());
  CHECK(mode({"--auto-cast=none", "--auto-cast-type=fp16"}).empty());
  CHECK(mode({"--auto-cast-type=fp16"}).empty());
  CHECK(mode({"--auto-cast=matmult"}) == "matmult-bf16");
  CHECK(mode({"--auto-cast=all", "--auto-cast-type=fp16"}) == "all-fp16");
  CHECK(mode({"--auto-cast=all", "--auto-cast-type=fp8_e4m3"}) == "all-fp8e4");
  CHECK(mode({"--auto-cast=matmult", "--auto-cast-type=tf32"}) == "matmult-fp32r");
}

TEST_CASE("tf32 is for products alone, whatever the scope", "[driver]") {
  CHECK(mode({"--auto-cast=all", "--auto-cast-type=tf32"}) == "matmult-fp32r");
}

TEST_CASE("fast-math speaks of casts too, and auto-cast decides", "[driver]") {
  CHECK(mode({"--fast-math=none"}).empty());
  CHECK(mode({"--fast-math=fast-relayout"}).empty());
  CHECK(mode({"--fast-math=all"}) == "all");
  CHECK(mode({"--fast-math=fp32-cast-matmult-fp8e4", "--fast-math=no-fast-relayout"}) == "matmult-fp8e4");
  CHECK(mode({"--fast-math=fp32-cast-all", "--fast-math=fp32-cast-none"}).empty());
  CHECK(mode({"--fast-math=fp32-cast-all", "--auto-cast=none"}).empty());
  CHECK_FALSE(parse_options({"--fast-math=fp32-cast-some"}, "/").is_ok());
}

}  // namespace
}  // namespace ncc::driver
