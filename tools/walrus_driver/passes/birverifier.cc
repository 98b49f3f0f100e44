// Runs BIR's verifier (ir-formats/bir/verify.h) over the module. Source: spec/walrus.md §7.1.
#include "ir-formats/bir/verify.h"
#include "tools/walrus_driver/pass.h"

namespace ncc::walrus {
namespace {

class BirVerifier final : public Pass {
 public:
  Status run(bir::Module& module, PassContext& ctx) override {
    NCC_TRY(bir::verify_structure(module));
    return bir::verify(module, ctx.arch);
  }
};

}  // namespace

std::unique_ptr<Pass> make_birverifier() { return std::make_unique<BirVerifier>(); }

}  // namespace ncc::walrus
