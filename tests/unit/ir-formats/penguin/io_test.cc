#include "ir-formats/penguin/io.h"

#include <catch2/catch.hpp>

#include "samples.h"

namespace ncc::penguin {
namespace {

std::string failure(std::string_view text) {
  const Result<Module> module = from_text(text, "m.txt");
  return module.is_ok() ? "" : module.status().diagnostic().cause;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  const size_t at = out.find(from);
  REQUIRE(at != std::string::npos);
  return out.replace(at, from.size(), to);
}

TEST_CASE("text prints as it was read", "[penguin]") {
  for (const std::string_view sample : {kTensorLevel, kTileLevel}) {
    Result<Module> module = from_text(sample, "sample");
    REQUIRE(module.is_ok());
    CHECK(to_text(module.value()) == sample);
  }
}

TEST_CASE("binary keeps everything that text shows", "[penguin]") {
  for (const std::string_view sample : {kTensorLevel, kTileLevel}) {
    Result<Module> module = from_text(sample, "sample");
    REQUIRE(module.is_ok());
    const std::string bytes = to_binary(module.value());
    Result<Module> again = from_binary(bytes, "sample");
    REQUIRE(again.is_ok());
    CHECK(to_text(again.value()) == sample);
    CHECK(to_binary(again.value()) == bytes);
  }
}

TEST_CASE("names that are not unique carry their id", "[penguin]") {
  Result<Module> module = from_text(kTensorLevel, "sample");
  REQUIRE(module.is_ok());
  for (Axis& axis : module->main().axes) axis.name = "i";
  const std::string text = to_text(module.value());
  Result<Module> again = from_text(text, "sample");
  REQUIRE(again.is_ok());
  CHECK(to_text(again.value()) == text);
  CHECK(again->main().axes[3].name == "i");
}

TEST_CASE("text errors name the line and what was expected", "[penguin]") {
  CHECK(failure(replaced(kTensorLevel, "Contract", "Contrac"))
            .find("expected a tensor op before this, not 'Contrac'") != std::string::npos);
  CHECK(failure(replaced(kTensorLevel, "%x[i0, k2]", "%y[i0, k2]")).find("declared tensor") !=
        std::string::npos);
  CHECK(failure(replaced(kTensorLevel, "%x[i0, k2]", "%x[i0]")).find("of rank 2 with 1 expressions") !=
        std::string::npos);
  CHECK(failure(replaced(kTensorLevel, "penguin 1", "penguin 2")).find("expected version 1") !=
        std::string::npos);
  CHECK(failure("").find("expected 'penguin', found the end") != std::string::npos);
  CHECK(failure(replaced(kTileLevel, "k_axes=", "k_axis=")).find("unknown attribute 'k_axis'") !=
        std::string::npos);
}

TEST_CASE("damaged binary files give a diagnostic", "[penguin]") {
  Result<Module> module = from_text(kTensorLevel, "sample");
  REQUIRE(module.is_ok());
  const std::string bytes = to_binary(module.value());
  for (size_t length = 0; length < bytes.size(); length += 7)
    (void)from_binary(bytes.substr(0, length), "cut");
  for (size_t at = 8; at < bytes.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      Result<Module> read = from_binary(flipped, "flipped");
      if (read.is_ok()) (void)to_text(read.value());
    }
  }
}

}  // namespace
}  // namespace ncc::penguin
