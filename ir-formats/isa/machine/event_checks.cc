// What the event loop checks and says: races, deadlock, unwritten outputs, and where an error comes from.
#include <algorithm>

#include "ir-formats/isa/machine/event_loop.h"
#include "ir-formats/isa/machine/state.h"

namespace ncc::machine {

using isa::Engine;
using isa::MachineInst;
using isa::Opcode;

namespace {

// Inputs and constants are never written, so accesses to them cannot race.
bool can_race(const isa::Program& program, const isa::Access& access) {
  if (access.space == isa::Space::Sbuf || access.space == isa::Space::Psum) return true;
  if (access.space != isa::Space::Dram || access.variable < 0) return false;
  const auto variable = static_cast<size_t>(access.variable);
  if (variable >= program.variables.size()) return false;
  const isa::VariableKind kind = program.variables[variable].kind;
  return kind != isa::VariableKind::Const && kind != isa::VariableKind::Input;
}

}  // namespace

Status EventLoop::check_accesses(int engine, const MachineInst& inst, uint32_t pc) {
  const Accessor who{false, static_cast<uint16_t>(engine), pc};
  for (const isa::Access* read :
       {&inst.in0, &inst.in1, &inst.scalar0.pointer, &inst.scalar1.pointer, &inst.scalar2.pointer}) {
    if (!read->present() || !can_race(program_, *read)) continue;
    if (std::optional<Race> race = hazards_.access(engine, *read, false, who)) return race_error(*race);
  }
  if (!inst.out.present() || !can_race(program_, inst.out)) return Status::ok();
  if (std::optional<Race> race = hazards_.access(engine, inst.out, true, who)) return race_error(*race);
  return Status::ok();
}

Status EventLoop::check_transfer(const isa::DmaDescriptor& descriptor, const Transfer& transfer) {
  const int component = hazards_.queue_component(transfer.queue);
  hazards_.acquire(component, transfer.known);
  hazards_.begin_access(component);
  const Accessor who{true, static_cast<uint16_t>(transfer.queue), transfer.block};
  for (const bool write : {false, true}) {
    const isa::Access& side = write ? descriptor.dst : descriptor.src;
    if (!can_race(program_, side)) continue;
    if (std::optional<Race> race = hazards_.access(component, side, write, who)) return race_error(*race);
  }
  return Status::ok();
}

std::string EventLoop::describe(const Accessor& who) const {
  const uint32_t source = source_of(who);
  const std::string name = source < program_.sources.size() && !program_.sources[source].name.empty()
                               ? fmt::format(" '{}'", program_.sources[source].name)
                               : std::string();
  if (who.is_queue)
    return fmt::format("DMA{} (block {} of queue '{}')", name, who.index, program_.queues[who.lane].name);
  const MachineInst& inst = program_.streams[who.lane][who.index];
  return fmt::format("{}{} (bundle {} of {})", isa::info(inst.opcode).mnemonic, name, who.index,
                     isa::name(static_cast<Engine>(who.lane)));
}

uint32_t EventLoop::source_of(const Accessor& who) const {
  if (who.is_queue) return program_.queues[who.lane].descriptors[who.index].source;
  return program_.streams[who.lane][who.index].source;
}

Status EventLoop::race_error(const Race& race) const {
  const uint32_t source = source_of(race.later);
  SourceLoc loc;
  if (source < program_.sources.size())
    loc = {program_.sources[source].op_name, program_.sources[source].file, program_.sources[source].line};
  return error(Code::ESIM002, loc,
               fmt::format("{} {} and {} {} byte {} in no order", describe(race.earlier),
                           race.earlier_writes ? "writes" : "reads", describe(race.later),
                           race.later_writes ? "writes" : "reads", race.byte));
}

Status EventLoop::annotated(const Status& status, uint32_t source, std::string_view what) const {
  if (status.is_ok()) return status;
  return annotate(status, source < program_.sources.size() ? program_.sources[source] : isa::SourceInst{},
                  what);
}

Status EventLoop::deadlock() const {
  std::string text;
  uint32_t first_source = 0;
  for (Engine engine : isa::kStreamEngines) {
    const Sequencer& sequencer = sequencers_[static_cast<size_t>(engine)];
    if (sequencer.status == Phase::Ended) continue;
    const MachineInst& inst = program_.stream(engine)[sequencer.pc];
    if (text.empty()) first_source = inst.source;
    text += fmt::format("{}{}", text.empty() ? "" : "; ",
                        describe({false, static_cast<uint16_t>(engine), sequencer.pc}));
    if (sequencer.status == Phase::AtBarrier) text += " is at a barrier";
    for (int i = 0; i < inst.num_waits && sequencer.status == Phase::Waiting; ++i) {
      const isa::Wait& wait = inst.waits[static_cast<size_t>(i)];
      if (wait.mode == isa::WaitMode::EventSetThenClear)
        text += fmt::format(" waits for event {}", wait.semaphore);
      else
        text += fmt::format(" waits for semaphore {} >= {}, it is {}", wait.semaphore, wait.value,
                            semaphores_[wait.semaphore].value);
    }
  }
  if (text.empty()) return Status::ok();
  SourceLoc loc;
  if (first_source < program_.sources.size()) {
    const isa::SourceInst& row = program_.sources[first_source];
    loc = {row.op_name, row.file, row.line};
  }
  return error(Code::ESIM004, loc, text);
}

Status EventLoop::check_outputs() const {
  if (options_.mode != RunMode::Checking) return Status::ok();
  for (size_t i = 0; i < program_.variables.size(); ++i) {
    if (program_.variables[i].kind != isa::VariableKind::Output) continue;
    if (const int64_t byte = core_.first_unwritten(i); byte >= 0)
      return error(Code::ESIM003, fmt::format("byte {} of output '{}' when the program ends", byte,
                                              program_.variables[i].name));
  }
  return Status::ok();
}

void EventLoop::record(int lane, Opcode opcode, Ticks start, Ticks end, uint32_t source) {
  if (options_.trace) report_.events.push_back({lane, opcode, start, end, source});
}

}  // namespace ncc::machine
