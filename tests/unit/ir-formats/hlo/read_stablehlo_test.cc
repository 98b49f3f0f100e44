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

// What a module on one device cannot say, or element types the project does not have; the reader names them.
bool is_out_of_scope(const std::string& text) {
  return text.find("interpreter.run_parallel") != std::string::npos ||
         text.find("f6E") != std::string::npos || text.find("probe_id") != std::string::npos;
}

TEST_CASE("every conformance module reads and verifies", "[hlo][mlir]") {
  for (const std::string& path : shared_files("conformance", ".mlir")) {
    // This file has two strides for one spatial dimension.
    if (path.ends_with("conv_general_dilated_1d_stride_2_odd_dynamic.mlir")) continue;
    const std::string text = read_file(path).take();
    for (const std::string& piece : split_mlir(text)) {
      if (is_out_of_scope(piece) || piece.find("func.func") == std::string::npos) continue;
      const auto module = read_stablehlo(piece, path);
      const Status status = module.is_ok() ? verify(*module.value()) : module.status();
      INFO(path);
      if (!status.is_ok()) FAIL_CHECK(status.diagnostic().to_string());
    }
  }
}

}  // namespace
}  // namespace ncc::hlo
