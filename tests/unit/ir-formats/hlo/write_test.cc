#include <catch2/catch.hpp>

#include "common/files/files.h"
#include "ir-formats/hlo/compare.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/verify.h"
#include "ir-formats/hlo/write.h"
#include "tests/unit/ir-formats/hlo/shared_data.h"

namespace ncc::hlo {
namespace {

// Larger files say nothing new here and take seconds.
constexpr uintmax_t kMaxBytes = 60'000;

// Written as proto and as text, and read back, the module is the same; a second round gives the same bytes.
void check_round_trips(const Module& module) {
  std::string difference;
  const auto bytes = write_hlo_proto(module);
  if (!bytes.is_ok()) FAIL(bytes.status().diagnostic().to_string());
  const auto from_proto = read_hlo_proto(bytes.value(), "written proto");
  if (!from_proto.is_ok()) FAIL(from_proto.status().diagnostic().to_string());
  if (!same_module(module, *from_proto.value(), &difference)) FAIL_CHECK("proto: " << difference);
  CHECK((write_hlo_proto(*from_proto.value()).value() == bytes.value()));

  const std::string text = print_hlo(module);
  const auto from_text = read_hlo_text(text, "written.hlo");
  if (!from_text.is_ok()) FAIL(from_text.status().diagnostic().to_string());
  if (!same_module(module, *from_text.value(), &difference)) FAIL_CHECK("text: " << difference);
  // Ops without a location get their line of the text; all else prints as before.
  const PrintOptions plain{-1, false, true};
  CHECK((print_hlo(*from_text.value(), plain) == print_hlo(module, plain)));
}

TEST_CASE("corpus modules survive being written as proto and as text", "[hlo][write]") {
  for (const std::string folder : {"corpus", "corpus-real"}) {
    for (const std::string& path : shared_files(folder, "model.hlo.pb")) {
      if (std::filesystem::file_size(path) > 400'000)
        continue;  // the rest says nothing new and takes seconds
      INFO(path);
      check_round_trips(*read_module(path).value());
    }
  }
}

TEST_CASE("corpus proto and text hold the same module", "[hlo][write]") {
  for (const std::string folder : {"corpus", "corpus-real"}) {
    for (const std::string& path : shared_files(folder, "model.hlo.txt")) {
      if (std::filesystem::file_size(path) > kMaxBytes) continue;
      INFO(path);
      const auto text = read_module(path);
      const auto proto = read_module(std::filesystem::path(path).replace_filename("model.hlo.pb"));
      REQUIRE(text.is_ok());
      REQUIRE(proto.is_ok());
      std::string difference;
      if (!same_module(*text.value(), *proto.value(), &difference)) FAIL_CHECK(difference);
    }
  }
}

TEST_CASE("corpus StableHLO modules survive being written as proto and as text", "[hlo][write]") {
  for (const std::string folder : {"corpus", "corpus-real"}) {
    for (const std::string& path : shared_files(folder, "model.mlir")) {
      if (std::filesystem::file_size(path) > kMaxBytes) continue;
      INFO(path);
      check_round_trips(*read_module(path).value());
    }
  }
}

}  // namespace
}  // namespace ncc::hlo
