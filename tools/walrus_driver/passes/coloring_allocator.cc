// The three allocation passes: PSUM, SBUF, DRAM. Each runs the interval allocator (allocator.h) with the
// geometry of its memory and writes addresses into the locations. Addresses of the memory are final
// afterwards. Presumes unroll. Source: spec/walrus.md §2; DESIGN section 14 C4.
#include <algorithm>

#include "tools/walrus_driver/allocator.h"
#include "tools/walrus_driver/pass.h"

namespace ncc::walrus {
namespace {

using bir::Memory;

constexpr int64_t kDramAlignment = 4096;
// Scratch tensors rotate through this multiple of what is live at once, so that reuse rarely makes a store
// wait for a load.
constexpr int64_t kDramRotation = 4;

class Allocator final : public Pass {
 public:
  explicit Allocator(Memory memory) : memory_(memory) {}

  Status run(bir::Module& module, PassContext& ctx) override {
    for (bir::Function& fn : module.functions) NCC_TRY(allocate(module, fn, ctx));
    return Status::ok();
  }

 private:
  Space geometry(const std::vector<Lifetime>& items, const ArchModel& arch) const {
    switch (memory_) {
      case Memory::Sbuf:
        return sbuf_space(arch);
      case Memory::Psum:
        return {arch.psum_banks * arch.psum_bank_bytes, 8, 64, arch.psum_bank_bytes, true, true};
      case Memory::Dram:
        break;
    }
    int64_t largest = 0;
    for (const Lifetime& item : items) largest = std::max(largest, item.size + kDramAlignment);
    const int64_t peak = peak_bytes(items) + largest;
    return {std::min(arch.hbm_bytes, peak * kDramRotation), kDramAlignment, kDramAlignment, 0, false, false};
  }

  std::string_view prefix() const {
    return memory_ == Memory::Sbuf ? "sb" : memory_ == Memory::Psum ? "psum" : "dram";
  }

  Status allocate(const bir::Module& module, bir::Function& fn, PassContext& ctx) {
    std::vector<Lifetime> items = lifetimes(fn, memory_);
    if (items.empty()) return Status::ok();
    const Space space = geometry(items, ctx.arch);
    const int64_t positions = std::ssize(fn.block.instructions);
    bool done = false;
    size_t failed = 0;
    std::vector<Lifetime> placed;
    for (Strategy strategy : {Strategy::Rotate, Strategy::FirstFit, Strategy::Largest}) {
      placed = items;
      const std::optional<size_t> misfit = place(placed, space, strategy, positions);
      done = !misfit.has_value();
      if (done) {
        ctx.metrics[fmt::format("{}_strategy", prefix())] = static_cast<int64_t>(strategy);
        break;
      }
      if (strategy != Strategy::Largest) failed = *misfit;
    }
    if (!done) return out_of_memory(module, fn, items[failed], space);
    int64_t high = 0;
    for (const Lifetime& item : placed) {
      bir::MemoryLocation& l = fn.locations[item.location];
      l.allocated = true;
      l.base = item.base;
      l.bank = memory_ == Memory::Psum ? static_cast<int32_t>(item.address / ctx.arch.psum_bank_bytes) : 0;
      l.address = item.address - int64_t{l.bank} * ctx.arch.psum_bank_bytes;
      high = std::max(high, item.address + item.size);
    }
    ctx.metrics[fmt::format("{}_peak_live_bytes", prefix())] = peak_bytes(items);
    ctx.metrics[fmt::format("{}_high_water_bytes", prefix())] = high;
    return Status::ok();
  }

  Status out_of_memory(const bir::Module&, const bir::Function& fn, const Lifetime& item,
                       const Space& space) const {
    const bir::MemoryLocationSet& set = fn.sets[fn.locations[item.location].set];
    if (memory_ == Memory::Dram) return error(Code::EOOM002, set.loc, item.size, space.capacity);
    return error(Code::EOOM001, set.loc, set.name, memory_ == Memory::Sbuf ? "SBUF" : "PSUM", item.size,
                 space.capacity);
  }

  Memory memory_;
};

}  // namespace

std::unique_ptr<Pass> make_coloring_allocator_psum() { return std::make_unique<Allocator>(Memory::Psum); }
std::unique_ptr<Pass> make_coloring_allocator_sb() { return std::make_unique<Allocator>(Memory::Sbuf); }
std::unique_ptr<Pass> make_coloring_allocator_dram() { return std::make_unique<Allocator>(Memory::Dram); }

}  // namespace ncc::walrus
