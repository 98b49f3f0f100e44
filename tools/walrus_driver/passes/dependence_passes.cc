// build_fdeps: flow edges. anti_dependency_analyzer: anti and output edges. dep_opt: all edges anew for the
// scheduled order. Presume final addresses. Source: spec/walrus.md §4.2-§4.4.
#include "tools/walrus_driver/dependences.h"
#include "tools/walrus_driver/pass.h"

namespace ncc::walrus {
namespace {

class AddDependences final : public Pass {
 public:
  AddDependences(std::string counter, EdgeSelection selection, bool rebuild)
      : counter_(std::move(counter)), selection_(selection), rebuild_(rebuild) {}

  Status run(bir::Module& module, PassContext& ctx) override {
    for (bir::Function& fn : module.functions) {
      if (rebuild_)
        for (bir::Instruction& inst : fn.block.instructions) inst.dependencies.clear();
      ctx.count(counter_, add_dependences(fn, selection_));
    }
    return Status::ok();
  }

 private:
  std::string counter_;
  EdgeSelection selection_;
  bool rebuild_;
};

}  // namespace

std::unique_ptr<Pass> make_build_fdeps() {
  return std::make_unique<AddDependences>("flow_edges", EdgeSelection{true, false, false}, true);
}
std::unique_ptr<Pass> make_anti_dependency_analyzer() {
  return std::make_unique<AddDependences>("anti_output_edges", EdgeSelection{false, true, false}, false);
}
std::unique_ptr<Pass> make_dep_opt() {
  return std::make_unique<AddDependences>("final_edges", EdgeSelection{true, true, true}, true);
}

}  // namespace ncc::walrus
