#include "tests/fuzz/target.h"

#include <cstdio>
#include <cstdlib>

#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/stats.h"
#include "ir-formats/hlo/verify.h"
#include "ir-formats/hlo/write.h"

namespace ncc::hlo {
namespace {

void require(const Status& status, const char* what) {
  if (status.is_ok()) return;
  std::fprintf(stderr, "%s: %s\n", what, status.diagnostic().to_string().c_str());
  std::abort();
}

}  // namespace

void check_writers(Result<std::unique_ptr<Module>> read) {
  if (!read.is_ok()) return;
  const Module& module = *read.value();
  if (!verify(module).is_ok()) return;
  const std::string text = print_hlo(module);
  const Result<std::string> proto = write_hlo_proto(module);
  (void)stats(module);
  require(read_hlo_text(text, "written.hlo").status(), "the written text");
  if (proto.is_ok()) require(read_hlo_proto(proto.value(), "written").status(), "the written proto");
}

}  // namespace ncc::hlo

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ncc::hlo::run_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
