#include <catch2/catch.hpp>

#include "common/files/files.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/verify.h"
#include "tests/unit/ir-formats/hlo/shared_data.h"

namespace ncc::hlo {
namespace {

TEST_CASE("every corpus proto reads and verifies", "[hlo][proto]") {
  for (const std::string folder : {"corpus", "corpus-real"}) {
    for (const std::string& path : shared_files(folder, "model.hlo.pb")) {
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

TEST_CASE("a truncated or damaged proto gives a diagnostic", "[hlo][proto]") {
  const std::vector<std::string> files = shared_files("corpus", "model.hlo.pb");
  for (const std::string& path : files) {
    if (path.find("/mlp/") == std::string::npos) continue;
    const std::string bytes = read_file(path).take();
    for (size_t cut = 0; cut < bytes.size(); cut += 37)
      CHECK_FALSE(read_hlo_proto(std::string_view(bytes).substr(0, cut), "cut").is_ok());
    for (size_t at = 0; at < bytes.size(); at += 5) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
      (void)read_hlo_proto(damaged, "damaged").is_ok();  // either way, but no crash
    }
  }
  CHECK_FALSE(read_hlo_proto("", "empty").is_ok());
  CHECK_FALSE(read_hlo_proto(std::string(1000, '\xff'), "garbage").is_ok());
}

}  // namespace
}  // namespace ncc::hlo
