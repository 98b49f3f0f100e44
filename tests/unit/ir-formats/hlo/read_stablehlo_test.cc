#include <catch2/catch.hpp>

#include "common/files/files.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/verify.h"
#include "tests/unit/ir-formats/hlo/shared_data.h"

namespace ncc::hlo {
namespace {

TEST_CASE("every corpus StableHLO text reads and verifies", "[hlo][mlir]") {
  for (const std::string folder : {"corpus", "corpus-real"}) {
    for (const std::string& path : shared_files(folder, "model.mlir")) {
      INFO(path);
      const auto module = read_module(path);
      if (!module.is_ok()) {
        FAIL_CHECK(module.status().diagnostic().to_string());
        continue;
      }
      const Status status = verify(*module.value());
      if (!status.is_ok()) FAIL_CHECK(status.diagnostic().to_string());
    }
  }
}

TEST_CASE("every conformance module reads and verifies", "[hlo][mlir]") {
  for (const std::string& path : shared_files("conformance", ".mlir")) {
    const std::string text = read_file(path).take();
    for (const std::string& piece : split_mlir(text)) {
      const auto module = read_stablehlo(piece, path);
      const Status status = module.is_ok() ? verify(*module.value()) : module.status();
      INFO(path);
      if (!status.is_ok()) FAIL_CHECK(status.diagnostic().to_string());
    }
  }
}

}  // namespace
}  // namespace ncc::hlo
