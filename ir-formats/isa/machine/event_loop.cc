#include "ir-formats/isa/machine/event_loop.h"

#include <algorithm>

#include "ir-formats/isa/machine/ops/ops.h"
#include "ir-formats/isa/machine/state.h"

namespace ncc::machine {

using isa::Engine;
using isa::MachineInst;
using isa::Opcode;

namespace {

constexpr size_t at(int engine) { return static_cast<size_t>(engine); }

CoreOptions core_options(const RunOptions& options) {
  CoreOptions core;
  core.check = options.mode == RunMode::Checking;
  core.poison = options.mode == RunMode::Functional;
  core.threads = options.threads;
  return core;
}

// A timing-only run has no data: no storage is bound or allocated.
std::vector<isa::Variable> data_variables(const isa::Program& program, const RunOptions& options) {
  return options.mode == RunMode::TimingOnly ? std::vector<isa::Variable>{} : program.variables;
}

int64_t macs(const MachineInst& inst) {
  if (inst.opcode != Opcode::Matmul || inst.is_transpose) return 0;
  return inst.in0.num_elements() * inst.out.num_partitions;  // double rows are elements of in0 too
}

}  // namespace

EventLoop::EventLoop(const isa::Program& program, const ArchModel& arch, const HostMemory& memory,
                     const RunOptions& options)
    : program_(program),
      arch_(arch),
      options_(options),
      core_(arch, data_variables(program, options), memory, core_options(options)),
      hazards_(program.queues.size(), program.variables.size()),
      dma_(static_cast<int>(program.queues.size())),
      rings_(program.queues.size()) {
  report_.sources.resize(std::max<size_t>(program.sources.size(), 1));
}

Result<RunReport> EventLoop::run() {
  for (Engine engine : isa::kStreamEngines) push(0, Kind::Dispatch, static_cast<int>(engine));
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    last_ = std::max(last_, event.time);
    switch (event.kind) {
      case Kind::Update: {
        const PendingUpdate pending = std::move(updates_[static_cast<size_t>(event.index)]);
        free_updates_.push_back(event.index);
        NCC_TRY(annotated(apply_update(pending.update, pending.release, event.time), pending.source,
                          "an update"));
        break;
      }
      case Kind::DmaReady:
        NCC_TRY(begin_transfer(event.lane, event.time));
        break;
      case Kind::DmaDone:
        NCC_TRY(end_transfer(event.lane, event.time));
        break;
      case Kind::Dispatch:
        NCC_TRY(dispatch(event.lane, event.time));
        break;
    }
  }
  NCC_TRY(deadlock());
  NCC_TRY(check_outputs());
  report_.time_ticks = last_;
  report_.time_ns = ns_from_ticks(last_, arch_);
  for (int engine = 0; engine < kDmaEngines; ++engine)
    report_.dma.engine_busy_ticks[at(engine)] = dma_.busy_ticks(engine);
  std::stable_sort(report_.events.begin(), report_.events.end(),
                   [](const TraceEvent& a, const TraceEvent& b) { return a.start < b.start; });
  return std::move(report_);
}

void EventLoop::push(Ticks time, Kind kind, int lane, int64_t index) {
  events_.push({time, kind, sequence_++, lane, index});
}

// Sequencers
// ---------------------------------------------------------------------------------------------------------

Status EventLoop::dispatch(int engine, Ticks now) {
  Sequencer& sequencer = sequencers_[at(engine)];
  const std::vector<MachineInst>& stream = program_.streams[at(engine)];
  if (sequencer.pc >= stream.size()) {
    end_stream(engine, now);
    return Status::ok();
  }
  const MachineInst& inst = stream[sequencer.pc];
  if (sequencer.status == Phase::Running) sequencer.since = now;
  Status status;
  if (!waits_hold(engine, inst, status)) {
    sequencer.status = Phase::Waiting;
    return annotated(status, inst.source, isa::info(inst.opcode).mnemonic);
  }
  sequencer.status = Phase::Running;
  consume_waits(engine, inst);
  if (++report_.instructions > options_.max_instructions)
    return error(Code::ESIM004,
                 fmt::format("{} instructions executed and no end in sight", report_.instructions - 1));
  if (inst.opcode == Opcode::AllEngineBarrier) {
    arrive_at_barrier(engine, now);
    return Status::ok();
  }
  return execute(engine, inst, now);
}

Status EventLoop::execute(int engine, const MachineInst& inst, Ticks now) {
  const uint32_t pc = sequencers_[at(engine)].pc;
  if (inst.engine != static_cast<Engine>(engine))
    return annotated(illegal("an instruction of {} in the stream of {}", isa::name(inst.engine),
                             isa::name(static_cast<Engine>(engine))),
                     inst.source, isa::info(inst.opcode).mnemonic);
  if (inst.opcode == Opcode::Activate && !table_set_holds(engines_.table_set, inst.function))
    return annotated(illegal("function {} needs its table, resident is set '{}'", isa::name(inst.function),
                             table_set_name(engines_.table_set)),
                     inst.source, "Activate");
  const Timing timing = advance(engines_, cost_key(inst), arch_, now);
  EngineUse& use = report_.engines[at(engine)];
  ++use.instructions;
  use.stall_ticks[at(static_cast<int>(StallCause::Wait))] += now - sequencers_[at(engine)].since;
  if (timing.cause != StallCause::None && timing.cause != StallCause::Wait)
    use.stall_ticks[static_cast<size_t>(timing.cause)] += timing.start - now;
  report_.pe_macs += macs(inst);
  if (!is_control(inst.opcode)) {
    Ticks& covered = busy_until_[at(engine)];  // weights loading behind a matmul don't count twice
    use.busy_ticks += std::max<Ticks>(0, timing.end - std::max(timing.start, covered));
    covered = std::max(covered, timing.end);
    if (inst.source < report_.sources.size()) {
      ++report_.sources[inst.source].executions;
      report_.sources[inst.source].ticks += timing.end - timing.start;
    }
    record(engine, inst.opcode, timing.start, timing.end, inst.source);
    NCC_TRY(start_datapath(engine, inst, pc));
  }
  last_ = std::max(last_, timing.done);
  if (inst.has_update) push_update(engine, inst, timing.done);
  return annotated(control_flow(engine, inst, timing), inst.source, isa::info(inst.opcode).mnemonic);
}

Status EventLoop::start_datapath(int engine, const MachineInst& inst, uint32_t pc) {
  if (checks_races()) {
    hazards_.begin_access(engine);
    NCC_TRY(check_accesses(engine, inst, pc));
  }
  if (moves_data()) return annotated(core_.execute(inst), inst.source, isa::info(inst.opcode).mnemonic);
  if (inst.opcode == Opcode::TensorLoadRegister)
    core_.state_->registers[at(engine)][inst.reg_dst & 63] = {0, false};
  return Status::ok();
}

// What control bundles do besides taking a cycle, and where the sequencer goes on.
Status EventLoop::control_flow(int engine, const MachineInst& inst, const Timing& timing) {
  Sequencer& sequencer = sequencers_[at(engine)];
  uint32_t next = sequencer.pc + 1;
  switch (inst.opcode) {
    case Opcode::Drain:
      hazards_.drain(engine);
      break;
    case Opcode::TensorLoadRegister:
    case Opcode::TensorStoreRegister:
      break;
    case Opcode::RegisterMove:
    case Opcode::RegisterAlu:
      NCC_TRY(execute_register(*core_.state_, inst));
      break;
    case Opcode::SemaphoreRangeClear:
      for (int i = inst.range_first; i <= inst.range_last; ++i) {
        semaphores_[at(i)].value = 0;
        semaphores_[at(i)].history.clear();
      }
      break;
    case Opcode::DmaTrigger:
      NCC_TRY(trigger(engine, inst, timing.issue));
      break;
    case Opcode::CompareBranch: {
      const auto& registers = core_.state_->registers[at(engine)];
      const bool known = registers[inst.reg_left & 63].known &&
                         (!is_register_compare(inst.compare) || registers[inst.reg_right & 63].known);
      if (!inst.branch_always && !known)
        return error(Code::ERUN003, "a timing-only run stops at a branch that depends on data");
      if (core_.branch_taken(inst)) next = inst.target;
      if (next > program_.streams[at(engine)].size())
        return illegal("branch to bundle {} of {}", next, program_.streams[at(engine)].size());
      break;
    }
    case Opcode::Halt:
    case Opcode::Exit:
      end_stream(engine, timing.issue);
      return Status::ok();
    case Opcode::Opaque:
      return illegal("opcode {:#04x} has no semantics here", inst.opaque_byte);
    default:
      break;
  }
  sequencer.pc = next;
  push(timing.issue, Kind::Dispatch, engine);
  return Status::ok();
}

void EventLoop::end_stream(int engine, Ticks now) {
  sequencers_[at(engine)].status = Phase::Ended;
  last_ = std::max(last_, now);
  release_barrier();
}

// Barriers: every stream that has not ended takes part; each waits for its own engine to drain first.
void EventLoop::arrive_at_barrier(int engine, Ticks now) {
  Sequencer& sequencer = sequencers_[at(engine)];
  sequencer.status = Phase::AtBarrier;
  engines_.lanes[at(engine)].issue = std::max(now, engines_.lanes[at(engine)].done);
  release_barrier();
}

void EventLoop::release_barrier() {
  Ticks time = -1;
  for (Engine engine : isa::kStreamEngines) {
    const Phase status = sequencers_[static_cast<size_t>(engine)].status;
    if (status == Phase::Ended) continue;
    if (status != Phase::AtBarrier) return;
    time = std::max(time, engines_.lanes[static_cast<size_t>(engine)].issue);
  }
  if (time < 0) return;
  std::vector<Release> everyone;
  for (Engine engine : isa::kStreamEngines) everyone.push_back(hazards_.release(static_cast<int>(engine)));
  for (Engine engine : isa::kStreamEngines) {
    Sequencer& sequencer = sequencers_[static_cast<size_t>(engine)];
    if (sequencer.status != Phase::AtBarrier) continue;
    for (const Release& release : everyone) hazards_.acquire(static_cast<int>(engine), release);
    EngineUse& use = report_.engines[static_cast<size_t>(engine)];
    ++use.instructions;
    use.stall_ticks[static_cast<size_t>(StallCause::Wait)] += time - sequencer.since;
    const Ticks issue = time + ticks_per_cycle(engine, arch_);
    engines_.lanes[static_cast<size_t>(engine)].issue = issue;
    sequencer.status = Phase::Running;
    const MachineInst& inst = program_.stream(engine)[sequencer.pc++];
    if (inst.has_update) push_update(static_cast<int>(engine), inst, issue);
    push(issue, Kind::Dispatch, static_cast<int>(engine));
  }
}

// Semaphores
// ---------------------------------------------------------------------------------------------------------

void EventLoop::push_update(int engine, const MachineInst& inst, Ticks time) {
  int64_t slot = std::ssize(updates_);
  if (free_updates_.empty()) {
    updates_.emplace_back();
  } else {
    slot = free_updates_.back();
    free_updates_.pop_back();
  }
  updates_[static_cast<size_t>(slot)] = {inst.update, hazards_.release(engine), inst.source};
  push(time, Kind::Update, engine, slot);
}

bool EventLoop::waits_hold(int engine, const MachineInst& inst, Status& status) {
  for (int i = 0; i < inst.num_waits; ++i) {
    const isa::Wait& wait = inst.waits[at(i)];
    if (wait.mode == isa::WaitMode::EventSetThenClear) {
      if (!event_bits_[wait.semaphore].set) return false;
      continue;
    }
    int32_t threshold = wait.value;
    if (wait.mode == isa::WaitMode::SemGeReg) {
      const State::Register& reg = core_.state_->registers[at(engine)][wait.value & 63];
      if (!reg.known) {
        status = error(Code::ERUN003, "a timing-only run stops at a wait that depends on data");
        return false;
      }
      threshold = reg.value;
    }
    if (semaphores_[wait.semaphore].value < threshold) return false;
  }
  return true;
}

void EventLoop::consume_waits(int engine, const MachineInst& inst) {
  for (int i = 0; i < inst.num_waits; ++i) {
    const isa::Wait& wait = inst.waits[at(i)];
    if (wait.mode == isa::WaitMode::EventSetThenClear) {
      hazards_.acquire(engine, event_bits_[wait.semaphore].release);
      event_bits_[wait.semaphore] = {};
      continue;
    }
    const int32_t threshold = wait.mode == isa::WaitMode::SemGeReg
                                  ? core_.state_->registers[at(engine)][wait.value & 63].value
                                  : wait.value;
    semaphores_[wait.semaphore].history.acquire(hazards_, engine, threshold);
  }
}

Status EventLoop::apply_update(const isa::Update& update, const Release& release, Ticks now) {
  const int32_t value = semaphores_[update.semaphore].value;
  const auto wrapped = [&](int64_t sum) { return static_cast<int32_t>(static_cast<uint32_t>(sum)); };
  switch (update.mode) {
    case isa::UpdateMode::EventSet:
      if (event_bits_[update.semaphore].set) return illegal("event {} is set twice", update.semaphore);
      event_bits_[update.semaphore] = {true, release};
      wake(now);
      break;
    case isa::UpdateMode::SemInc:
      set_semaphore(update.semaphore, wrapped(int64_t{value} + 1), release, now);
      break;
    case isa::UpdateMode::SemDec:
      set_semaphore(update.semaphore, wrapped(int64_t{value} - 1), release, now);
      break;
    case isa::UpdateMode::SemAddImm:
      set_semaphore(update.semaphore, wrapped(int64_t{value} + update.value), release, now);
      break;
    case isa::UpdateMode::SemSubImm:
      set_semaphore(update.semaphore, wrapped(int64_t{value} - update.value), release, now);
      break;
    case isa::UpdateMode::SemWriteImm:
      semaphores_[update.semaphore].history.clear();
      set_semaphore(update.semaphore, update.value, release, now);
      break;
  }
  return Status::ok();
}

void EventLoop::set_semaphore(int index, int32_t value, const Release& release, Ticks now) {
  semaphores_[at(index)].value = value;
  if (checks_races()) semaphores_[at(index)].history.add(value, release);
  wake(now);
}

void EventLoop::wake(Ticks now) {
  for (Engine engine : isa::kStreamEngines) {
    Sequencer& sequencer = sequencers_[static_cast<size_t>(engine)];
    if (sequencer.status != Phase::Waiting) continue;
    Status ignored;  // a wait on an unknown register never got to Waiting
    const MachineInst& inst = program_.streams[static_cast<size_t>(engine)][sequencer.pc];
    if (!waits_hold(static_cast<int>(engine), inst, ignored)) continue;
    sequencer.status = Phase::Woken;
    push(now, Kind::Dispatch, static_cast<int>(engine));
  }
}

// DMA
// ----------------------------------------------------------------------------------------------------------------

Status EventLoop::trigger(int engine, const MachineInst& inst, Ticks now) {
  if (inst.dma_queue >= program_.queues.size())
    return illegal("DMA queue {} of {}", inst.dma_queue, program_.queues.size());
  const isa::DmaQueue& queue = program_.queues[inst.dma_queue];
  if (inst.dma_block >= queue.descriptors.size())
    return illegal("DMA block {} of queue '{}', which has {}", inst.dma_block, queue.name,
                   queue.descriptors.size());
  if (queue.trigger != static_cast<Engine>(engine))
    return illegal("queue '{}' belongs to {}", queue.name, isa::name(queue.trigger));
  Ring& ring = rings_[inst.dma_queue];
  ring.pending.push_back({inst.dma_queue, inst.dma_block, hazards_.knowledge(engine)});
  if (std::ssize(ring.in_flight) < arch_.dma_overlap_per_ring) begin_latency(inst.dma_queue, now);
  return Status::ok();
}

void EventLoop::begin_latency(int queue, Ticks now) {
  Ring& ring = rings_[at(queue)];
  ring.in_flight.push_back(std::move(ring.pending.front()));
  ring.pending.pop_front();
  push(now + ticks_from_ns(static_cast<double>(arch_.dma_start_latency_ns), arch_), Kind::DmaReady, queue);
}

Status EventLoop::begin_transfer(int queue, Ticks now) {
  Ring& ring = rings_[at(queue)];
  const Transfer& transfer = ring.in_flight[at(ring.started++)];
  const isa::DmaDescriptor& descriptor = program_.queues[at(queue)].descriptors[transfer.block];
  const DmaCost cost = dma_cost(descriptor, arch_);
  const DmaTiming timing = dma_.move(queue, cost, arch_, now);
  NCC_TRY(annotated(count_dma_bytes(descriptor), descriptor.source, "DMA"));
  ++report_.dma.transfers;
  report_.dma.bytes += cost.bytes;
  if (descriptor.source < report_.sources.size()) {
    ++report_.sources[descriptor.source].executions;
    report_.sources[descriptor.source].ticks += timing.done - timing.start;
  }
  record(TraceEvent::kFirstQueueLane + queue, Opcode::DmaTrigger, timing.start, timing.done,
         descriptor.source);
  if (checks_races()) NCC_TRY(check_transfer(descriptor, transfer));
  if (moves_data()) NCC_TRY(annotated(core_.execute(descriptor), descriptor.source, "DMA"));
  ring.releases.push_back(hazards_.release(hazards_.queue_component(queue)));
  push(timing.done, Kind::DmaDone, queue);
  return Status::ok();
}

Status EventLoop::end_transfer(int queue, Ticks now) {
  Ring& ring = rings_[at(queue)];
  const Release release = std::move(ring.releases.front());
  ring.releases.pop_front();
  ring.in_flight.pop_front();
  --ring.started;
  if (!ring.pending.empty()) begin_latency(queue, now);
  const isa::DmaQueue& info = program_.queues[at(queue)];
  if (info.completion_count == 0) return Status::ok();
  return apply_update({isa::UpdateMode::SemAddImm, info.semaphore, info.completion_count}, release, now);
}

Status EventLoop::count_dma_bytes(const isa::DmaDescriptor& descriptor) {
  for (const isa::Access* side : {&descriptor.src, &descriptor.dst}) {
    if (side->space != isa::Space::Dram) continue;
    if (side->variable < 0 || static_cast<size_t>(side->variable) >= program_.variables.size())
      return illegal("DMA names DRAM variable {}, the program has {}", side->variable,
                     program_.variables.size());
    const isa::VariableKind kind = program_.variables[static_cast<size_t>(side->variable)].kind;
    report_.dma.dram_bytes[static_cast<size_t>(kind)] += distinct_bytes(footprint(*side));
  }
  return Status::ok();
}

Result<RunReport> run(const isa::Program& program, const HostMemory& memory, const RunOptions& options) {
  const ArchModel* arch = nullptr;
  for (const char* name : {"trn1", "trn2"})
    if (const ArchModel* row = find_arch(name); row->generation == program.generation) arch = row;
  if (arch == nullptr) return illegal("no machine model of generation {}", program.generation);
  for (const isa::DmaQueue& queue : program.queues)
    for (const isa::DmaDescriptor& d : queue.descriptors)
      for (const isa::Access* side : {&d.src, &d.dst})
        if (side->rank < 1 || side->rank > isa::kMaxFreeDims || !side->present())
          return annotate(illegal("a DMA side has {} dimensions", side->rank),
                          d.source < program.sources.size() ? program.sources[d.source] : isa::SourceInst{},
                          "DMA");
  EventLoop loop(program, *arch, memory, options);
  return loop.run();
}

}  // namespace ncc::machine
