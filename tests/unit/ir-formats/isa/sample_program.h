// A small program: x and a constant are loaded, added on DVE and stored to y.
#pragma once
#include "ir-formats/isa/machine_inst.h"

namespace ncc::isa {

inline Access sample_sbuf(int64_t offset) {
  return {Space::Sbuf, Dtype::F32, 0, 128, 1, -1, offset, {Dim{1, 64}}};
}
inline Access sample_dram(int32_t variable) {
  return {Space::Dram, Dtype::F32, 0, 1, 2, variable, 0, {Dim{64, 128}, Dim{1, 64}}};
}

inline MachineInst sample_trigger(uint16_t queue, uint32_t block, uint32_t source) {
  MachineInst inst;
  inst.opcode = Opcode::DmaTrigger;
  inst.dma_queue = queue;
  inst.dma_block = block;
  inst.source = source;
  return inst;
}

inline MachineInst sample_wait(Engine engine, uint8_t semaphore, int32_t value) {
  MachineInst inst;
  inst.opcode = Opcode::EventSemaphore;
  inst.engine = engine;
  inst.num_waits = 1;
  inst.waits[0] = {WaitMode::SemGeImm, semaphore, value};
  return inst;
}

inline MachineInst sample_exit(Engine engine) {
  MachineInst inst;
  inst.opcode = Opcode::Exit;
  inst.engine = engine;
  return inst;
}

inline Program sample_program() {
  Program program;
  program.generation = 3;
  program.variables = {{"x", VariableKind::Input, 128 * 64 * 4, -1},
                       {"c \"quoted\"", VariableKind::Const, 128 * 64 * 4, 64},
                       {"y", VariableKind::Output, 128 * 64 * 4, -1}};
  program.sources = {{"I-1", "jit(f)/add", "model.py", 12},
                     {"I-2", "jit(f)/add", "model.py", 12},
                     {"I-3", "", "", 0},
                     {"unused", "jit(f)/mul", "model.py", 13}};
  DmaQueue in{"q_in", QueueType::Input, Engine::SP, 4, 16, {}},
      weights{"q_w", QueueType::Data, Engine::SP, 5, 16, {}},
      out{"q_out", QueueType::Output, Engine::SP, 6, 16, {}};
  in.descriptors = {{sample_dram(0), sample_sbuf(0), false, 0}};
  weights.descriptors = {{sample_dram(1), sample_sbuf(256), false, 1}};
  out.descriptors = {{sample_sbuf(512), sample_dram(2), false, 2}};
  program.queues = {weights, in, out};  // not in order of name
  MachineInst add;
  add.opcode = Opcode::TensorTensorArith;
  add.engine = Engine::DVE;
  add.op0 = AluOp::Add;
  add.in0 = sample_sbuf(0);
  add.in1 = sample_sbuf(256);
  add.out = sample_sbuf(512);
  add.source = 1;
  add.num_waits = 1;
  add.waits[0] = {WaitMode::SemGeImm, 4, 16};
  add.has_update = true;
  add.update = {UpdateMode::SemInc, 7, 1};
  program.stream(Engine::DVE) = {sample_wait(Engine::DVE, 5, 16), add, sample_exit(Engine::DVE)};
  program.stream(Engine::SP) = {sample_trigger(1, 0, 0),        sample_trigger(0, 0, 1),
                                sample_wait(Engine::SP, 7, 1),  sample_trigger(2, 0, 2),
                                sample_wait(Engine::SP, 6, 16), sample_exit(Engine::SP)};
  return program;
}

}  // namespace ncc::isa
