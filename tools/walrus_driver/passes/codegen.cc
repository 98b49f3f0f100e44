// Machine code: each BIR instruction becomes its machine instructions in its engine's stream; a transfer
// becomes a descriptor of its queue and a trigger. A bundle carries one wait: further ones go on
// EventSemaphore bundles (two each) before it, the increment on the instruction's last bundle. A Matmult
// whose stationary operand is the one loaded before it, unchanged since, has no Ldweights. Presumes final
// order, addresses, waits. Source: spec/isa.md §1.3; DESIGN section 14 M1, M3, M4; spec/walrus.md L40.
#include "ir-formats/bir/lower.h"
#include "tools/walrus_driver/pass.h"
#include "tools/walrus_driver/physical_map.h"
#include "tools/walrus_driver/streams.h"

namespace ncc::walrus {
namespace {

using isa::MachineInst;

constexpr size_t kWaitsPerSemaphoreBundle = 2;

class CodeGenerator {
 public:
  CodeGenerator(const bir::Module& module, const bir::Function& fn, const ArchModel& arch,
                isa::Program& program)
      : module_(module), fn_(fn), arch_(arch), program_(program), map_(fn, arch) {
    last_write_.assign(fn.locations.size(), -1);
  }

  Status run() {
    program_ = isa::Program{};
    program_.generation = arch_.generation;
    program_.variables = map_.layout().variables;
    program_.sources = module_.sources;
    for (size_t q = 0; q < module_.queues.size(); ++q) {
      const bir::Queue& queue = module_.queues[q];
      program_.queues.push_back({queue.name,
                                 queue.type,
                                 queue.trigger,
                                 static_cast<uint8_t>(semaphore_of(kFirstQueueStream + static_cast<int>(q))),
                                 kTransferCount,
                                 {}});
    }
    for (const bir::Instruction& inst : fn_.block.instructions) {
      NCC_TRY(emit(inst));
      for (const bir::Operand& op : inst.outs)
        if (op.kind == bir::OperandKind::PhysicalAp) last_write_[op.location] = position_;
      ++position_;
    }
    return Status::ok();
  }

 private:
  Status emit(const bir::Instruction& inst) {
    lowered_.clear();
    NCC_TRY(bir::lower(inst, module_, arch_, map_, lowered_));
    std::vector<MachineInst>& bundles = lowered_.instructions;
    if (!lowered_.descriptors.empty()) {
      isa::DmaQueue& queue = program_.queues[inst.queue];
      MachineInst trigger;
      trigger.opcode = isa::Opcode::DmaTrigger;
      trigger.engine = inst.engine;
      trigger.source = inst.source;
      trigger.dma_queue = static_cast<uint16_t>(inst.queue);
      trigger.dma_block = static_cast<uint32_t>(queue.descriptors.size());
      queue.descriptors.push_back(lowered_.descriptors.front());
      bundles.push_back(trigger);
    }
    if (inst.opcode == bir::Opcode::Matmult && keeps_weights(inst)) bundles.erase(bundles.begin());
    add_waits(inst, bundles);
    if (!inst.updates.empty()) {
      bundles.back().has_update = true;
      bundles.back().update = inst.updates.front();
    }
    std::vector<MachineInst>& stream = program_.stream(inst.engine);
    for (MachineInst& m : bundles) {
      isa::canonicalize(m);
      stream.push_back(m);
    }
    return Status::ok();
  }

  /// The weights in the array are this instruction's: same access as the Matmult before, nothing written to
  /// it since.
  bool keeps_weights(const bir::Instruction& inst) {
    const bir::Instruction* previous = previous_matmult_;
    const int64_t loaded = previous_position_;
    previous_matmult_ = &inst;
    previous_position_ = position_;
    if (!previous) return false;
    const bir::Operand &a = previous->ins[1], &b = inst.ins[1];
    return a.location == b.location && a.partition == b.partition && a.offset == b.offset &&
           a.dtype == b.dtype && a.rank == b.rank &&
           std::equal(a.ap.begin(), a.ap.begin() + a.rank, b.ap.begin()) &&
           previous->attrs().perf_mode == inst.attrs().perf_mode &&
           previous->attrs().is_transpose == inst.attrs().is_transpose && last_write_[b.location] < loaded;
  }

  static void add_waits(const bir::Instruction& inst, std::vector<MachineInst>& bundles) {
    std::vector<isa::Wait> waits = inst.waits;
    MachineInst& first = bundles.front();
    const size_t room = first.opcode == isa::Opcode::EventSemaphore ? kWaitsPerSemaphoreBundle : 1;
    for (size_t i = 0; i < room && !waits.empty(); ++i) {
      first.waits[first.num_waits++] = waits.back();
      waits.pop_back();
    }
    std::vector<MachineInst> before;
    while (!waits.empty()) {
      MachineInst m;
      m.opcode = isa::Opcode::EventSemaphore;
      m.engine = inst.engine;
      m.source = inst.source;
      for (size_t i = 0; i < kWaitsPerSemaphoreBundle && !waits.empty(); ++i) {
        m.waits[m.num_waits++] = waits.back();
        waits.pop_back();
      }
      before.push_back(m);
    }
    bundles.insert(bundles.begin(), before.begin(), before.end());
  }

  const bir::Module& module_;
  const bir::Function& fn_;
  const ArchModel& arch_;
  isa::Program& program_;
  PhysicalMap map_;
  bir::Lowered lowered_;
  std::vector<int64_t> last_write_;  // by location: position of its latest writer
  int64_t position_ = 0, previous_position_ = 0;
  const bir::Instruction* previous_matmult_ = nullptr;
};

class Codegen final : public Pass {
 public:
  Status run(bir::Module& module, PassContext& ctx) override {
    NCC_TRY(CodeGenerator(module, module.main(), ctx.arch, ctx.program).run());
    int64_t bundles = 0, descriptors = 0;
    for (isa::Engine engine : isa::kStreamEngines) {
      const int64_t n = std::ssize(ctx.program.stream(engine));
      ctx.metrics[fmt::format("Num{}Instructions", isa::name(engine))] = n;
      bundles += n;
    }
    for (const isa::DmaQueue& queue : ctx.program.queues) descriptors += std::ssize(queue.descriptors);
    ctx.metrics["bundles"] = bundles;
    ctx.metrics["descriptors"] = descriptors;
    return Status::ok();
  }
};

}  // namespace

std::unique_ptr<Pass> make_codegen() { return std::make_unique<Codegen>(); }

}  // namespace ncc::walrus
