// Drops edges that nothing needs: those inside one engine's program order, and those that other edges imply.
// One sweep keeps, per issuing engine, how far it knows every completion stream to be done; an edge whose
// predecessor is known done is dropped, else it stays and brings all that the predecessor's completion
// proves. Predecessors are visited latest first, so that one edge makes many others unneeded. Linear in edges
// times streams. Presumes the final order, queues and engines. Source: spec/walrus.md §4.5; DESIGN §7 (6),
// section 14 M4, M5.
#include <algorithm>

#include "tools/walrus_driver/clocks.h"
#include "tools/walrus_driver/pass.h"

namespace ncc::walrus {
namespace {

class DepReduction final : public Pass {
 public:
  Status run(bir::Module& module, PassContext& ctx) override {
    for (bir::Function& fn : module.functions) {
      Clocks clocks(module, fn);
      int64_t kept = 0;
      std::vector<bir::Instruction>& list = fn.block.instructions;
      for (uint32_t i = 0; i < list.size(); ++i) {
        std::vector<bir::Dependency>& deps = list[i].dependencies;
        std::sort(deps.begin(), deps.end(), [](const bir::Dependency& a, const bir::Dependency& b) {
          return a.predecessor > b.predecessor;
        });
        std::erase_if(deps, [&](const bir::Dependency& dep) {
          if (clocks.is_ordered(dep.predecessor, i)) return true;
          clocks.wait_for(dep.predecessor, i);
          return false;
        });
        clocks.issue(i);
        kept += std::ssize(deps);
      }
      ctx.count("cross_engine_edges", kept);
    }
    return Status::ok();
  }
};

}  // namespace

std::unique_ptr<Pass> make_dep_reduction() { return std::make_unique<DepReduction>(); }

}  // namespace ncc::walrus
