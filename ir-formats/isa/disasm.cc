// One line per instruction, from the same field rows as the encoding: "Matmul wait(s7>=3) out=psum[0:128]+0x0
// f32 <512:1> …".
#include "ir-formats/isa/fields.h"
#include "ir-formats/isa/roles.h"
#include "ir-formats/isa/wire_tags.h"

namespace ncc::isa {
namespace {

void append_dims(std::string& line, const std::array<Dim, kMaxFreeDims>& dims, int rank) {
  line += '<';
  for (int i = 0; i < rank; ++i)
    fmt::format_to(std::back_inserter(line), "{}{}:{}", i ? "," : "", dims[i].count, dims[i].step);
  line += '>';
}

std::string text(const Wait& wait) {
  switch (wait.mode) {
    case WaitMode::EventSetThenClear:
      return fmt::format("wait(e{})", wait.semaphore);
    case WaitMode::SemGeReg:
      return fmt::format("wait(s{}>=r{})", wait.semaphore, wait.value);
    default:
      return fmt::format("wait(s{}>={})", wait.semaphore, wait.value);
  }
}

std::string text(const Update& update) {
  switch (update.mode) {
    case UpdateMode::EventSet:
      return fmt::format("set(e{})", update.semaphore);
    case UpdateMode::SemInc:
      return fmt::format("add(s{},1)", update.semaphore);
    case UpdateMode::SemDec:
      return fmt::format("sub(s{},1)", update.semaphore);
    case UpdateMode::SemAddImm:
      return fmt::format("add(s{},{})", update.semaphore, update.value);
    case UpdateMode::SemSubImm:
      return fmt::format("sub(s{},{})", update.semaphore, update.value);
    default:
      return fmt::format("write(s{},{})", update.semaphore, update.value);
  }
}

std::string text(const MachineInst& inst, const Scalar& scalar, const std::vector<Variable>* variables) {
  switch (scalar.kind) {
    case Scalar::Kind::Immediate:
      if (is_bit_operation(inst.opcode) || inst.opcode == Opcode::Memset)
        return fmt::format("0x{:X}", scalar.bits);
      return fmt::format("{:.9g}", std::bit_cast<float>(scalar.bits));
    case Scalar::Kind::Register:
      return fmt::format("r{}", scalar.reg);
    default:
      return to_string(scalar.pointer, variables);
  }
}

// The text of one attribute field; empty for fields whose content stands in an operand or follows from
// others.
std::string attribute(const MachineInst& x, Role role, const WireContext& context) {
  switch (role) {
    case Role::PeMode:
      return x.is_transpose ? "transpose" : "";
    case Role::PerfMode:
      return x.perf_mode == PerfMode::None ? "" : fmt::format("perf={}", name(x.perf_mode));
    case Role::AccumulateFlags:
      return fmt::format("flags={}{}{}{}", x.accumulate_flags & 1 ? "start" : "",
                         (x.accumulate_flags & 3) == 3 ? "|" : "", x.accumulate_flags & 2 ? "stop" : "",
                         x.accumulate_flags & 4 ? "|accumulate" : "");
    case Role::Function:
      return fmt::format("func={}", name(x.function));
    case Role::Accumulate:
      return x.accumulate == AccumulateCommand::Idle ? "" : fmt::format("acc={}", name(x.accumulate));
    case Role::Op0:
    case Role::CrossLaneOp:
      return fmt::format("op0={}", name(x.op0));
    case Role::Op1:
      return x.op1 == AluOp::Bypass ? "" : fmt::format("op1={}", name(x.op1));
    case Role::CompareOp:
      return fmt::format("compare={}", name(x.compare_op));
    case Role::Reverse:
      return x.reverse == 0 ? "" : fmt::format("reverse={}", x.reverse);
    case Role::Negate:
      return x.negate ? "negate" : "";
    case Role::AxisCode:
    case Role::CrossLaneAxis:
      return fmt::format("axis={}", name(x.axis));
    case Role::TableSet:
      return fmt::format("table={}", x.table_set);
    case Role::Pattern: {
      std::string line = "pattern=";
      append_dims(line, x.pattern, x.pattern_rank);
      return line;
    }
    case Role::Base:
      return fmt::format("base={}", x.base);
    case Role::Multiplier:
      return fmt::format("multiplier={}", x.channel_multiplier);
    case Role::LaneMask:
      return fmt::format("mask=[{}]", fmt::join(x.mask, ","));
    case Role::RangeFirst:
      return fmt::format("s{}..s{}", x.range_first, x.range_last);
    case Role::Compare:
      if (x.branch_always) return fmt::format("always -> {}", x.target);
      if (is_register_compare(x.compare))
        return fmt::format("r{} {} r{} -> {}", x.reg_left, name(x.compare), x.reg_right, x.target);
      return fmt::format("r{} {} {} -> {}", x.reg_left, name(x.compare), x.immediate, x.target);
    case Role::QueueName:
      if (context.queues && x.dma_queue < context.queues->size())
        return fmt::format("queue={}", (*context.queues)[x.dma_queue].name);
      return fmt::format("queue=q{}", x.dma_queue);
    case Role::BlockId:
      return fmt::format("block={}", x.dma_block);
    default:
      return "";
  }
}

std::string registers(const MachineInst& x) {
  switch (x.opcode) {
    case Opcode::RegisterMove:
      return x.register_operand ? fmt::format("r{} = r{}", x.reg_dst, x.reg_left)
                                : fmt::format("r{} = {}", x.reg_dst, x.immediate);
    case Opcode::RegisterAlu:
      return x.register_operand ? fmt::format("r{} = r{}, r{}", x.reg_dst, x.reg_left, x.reg_right)
                                : fmt::format("r{} = r{}, {}", x.reg_dst, x.reg_left, x.immediate);
    case Opcode::TensorLoadRegister:
      return fmt::format("r{}", x.reg_dst);
    case Opcode::TensorStoreRegister:
      return fmt::format("r{}", x.reg_left);
    default:
      return "";
  }
}

}  // namespace

std::string to_string(const Access& access, const std::vector<Variable>* variables) {
  std::string line;
  switch (access.space) {
    case Space::None:
      return "none";
    case Space::Dram:
      if (variables && access.variable >= 0 && static_cast<size_t>(access.variable) < variables->size())
        line = (*variables)[static_cast<size_t>(access.variable)].name;
      else
        line = fmt::format("var{}", access.variable);
      break;
    default:
      line = fmt::format("{}[{}:{}]", access.space == Space::Sbuf ? "sbuf" : "psum", access.start_partition,
                         access.num_partitions);
  }
  fmt::format_to(std::back_inserter(line), "+0x{:x} {} ", access.offset, info(access.dtype).hlo);
  append_dims(line, access.dims, access.rank);
  return line;
}

std::string disassemble(const MachineInst& inst, const WireContext& context,
                        const std::vector<Variable>* variables) {
  if (inst.opcode == Opcode::Opaque) return fmt::format("opaque 0x{:02X}", inst.opaque_byte);
  std::string line(info(inst.opcode).mnemonic);
  const auto add = [&line](std::string_view part) {
    if (part.empty()) return;
    line += ' ';
    line += part;
  };
  for (int i = 0; i < inst.num_waits; ++i) add(text(inst.waits[i]));
  add(registers(inst));
  if (inst.out.present()) add("out=" + to_string(inst.out, variables));
  if (inst.in0.present()) add("in0=" + to_string(inst.in0, variables));
  if (inst.in1.present()) add("in1=" + to_string(inst.in1, variables));
  const Scalar* scalars[] = {&inst.scalar0, &inst.scalar1, &inst.scalar2};
  for (int i = 0; i < 3; ++i)
    if (scalars[i]->present()) add(fmt::format("s{}={}", i, text(inst, *scalars[i], variables)));
  for (const Field& field : fields_of(inst.opcode, context.generation))
    add(attribute(inst, field.role, context));
  if (inst.has_update) add(text(inst.update));
  return line;
}

}  // namespace ncc::isa
