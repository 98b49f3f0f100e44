#include "ir-formats/bir/interpret.h"

#include "common/arch/arch.h"
#include "common/files/files.h"
#include "ir-formats/bir/io.h"
#include "ir-formats/bir/lower.h"
#include "ir-formats/bir/verify.h"
#include "ir-formats/isa/machine/functional_core.h"

namespace ncc::bir {
namespace {

int64_t round_up(int64_t value, int64_t granule) { return (value + granule - 1) / granule * granule; }

/// Where every set and location is: final addresses where they exist, else an arena above the physical
/// memory.
class Arena final : public AccessMap {
 public:
  Arena(const Function& fn, const ArchModel& arch)
      : fn_(fn),
        bank_bytes_(arch.psum_bank_bytes),
        layout_(dram_layout(fn)),
        sbuf_(arch.sbuf_bytes_per_partition),
        psum_(arch.psum_banks * arch.psum_bank_bytes) {
    // Sets without a location yet: one each.
    of_set_.resize(fn.sets.size());
    of_location_.resize(fn.locations.size());
    for (size_t s = 0; s < fn.sets.size(); ++s) {
      for (uint32_t id : fn.sets[s].locations) of_location_[id] = place(fn.locations[id], id);
      if (!fn.sets[s].locations.empty()) {
        of_set_[s] = of_location_[fn.sets[s].locations.front()];
        continue;
      }
      of_set_[s] = place(make_location(fn, static_cast<uint32_t>(s), fn.sets[s].name), kNone);
    }
  }

  Origin origin(const Operand& op) const override {
    if (op.kind == OperandKind::SymbolicAp)
      return at_start(of_set_[op.set], op, affine::evaluate(op.partition_expr, values_),
                      affine::evaluate(op.offset_expr, values_));
    return at_start(of_location_[op.location], op, op.partition, op.offset);
  }

  /// The whole of a set, for forgetting it.
  isa::Access whole(uint32_t set) const {
    const MemoryLocationSet& s = fn_.sets[set];
    isa::Access a;
    a.space = of_set_[set].space;
    a.dtype = Dtype::U8;
    a.variable = of_set_[set].variable;
    a.start_partition = static_cast<uint8_t>(of_set_[set].partition);
    a.num_partitions = static_cast<uint8_t>(partitions(s));
    a.offset = of_set_[set].offset;
    a.rank = 1;
    a.dims[0] = {1, bytes_per_partition(s)};
    return a;
  }

  void bind_axes(std::span<const int64_t> values) { values_ = values; }
  const DramLayout& layout() const { return layout_; }
  int64_t sbuf_bytes() const { return sbuf_; }
  int64_t psum_bytes() const { return psum_; }

 private:
  Origin place(const MemoryLocation& l, uint32_t id) {
    Origin origin;
    switch (l.memory) {
      case Memory::Dram:
        origin.space = isa::Space::Dram;
        origin.variable = id == kNone ? add_variable(l) : layout_.of_location[id];
        origin.offset = l.allocated && fn_.sets[l.set].kind == TensorKind::Internal ? l.address : 0;
        break;
      case Memory::Sbuf:
        origin.space = isa::Space::Sbuf;
        origin.partition = l.allocated ? l.base : 0;
        origin.offset = l.allocated ? l.address : take(sbuf_, l.bytes_per_partition, 64);
        break;
      case Memory::Psum:
        origin.space = isa::Space::Psum;
        origin.partition = l.allocated ? l.base : 0;
        origin.offset =
            l.allocated ? l.bank * bank_bytes_ + l.address : take(psum_, l.bytes_per_partition, bank_bytes_);
        break;
    }
    return origin;
  }

  int32_t add_variable(const MemoryLocation& l) {
    const MemoryLocationSet& set = fn_.sets[l.set];
    if (layout_.of_set[l.set] >= 0) return layout_.of_set[l.set];
    layout_.variables.push_back({set.name, isa::VariableKind::Internal, l.bytes_per_partition, -1});
    return static_cast<int32_t>(layout_.variables.size() - 1);
  }

  static int64_t take(int64_t& top, int64_t bytes, int64_t granule) {
    const int64_t at = round_up(top, granule);
    top = round_up(at + bytes, granule);
    return at;
  }

  const Function& fn_;
  int64_t bank_bytes_;
  DramLayout layout_;
  int64_t sbuf_, psum_;
  std::vector<Origin> of_set_, of_location_;
  std::span<const int64_t> values_;
};

class Interpreter {
 public:
  Interpreter(const Module& module, const ArchModel& arch, const InterpretOptions& options)
      : module_(module), fn_(module.main()), arch_(arch), options_(options), arena_(fn_, arch) {
    axis_values_.assign(fn_.axes.size(), 0);
    arena_.bind_axes(axis_values_);
    scoped_sets_.resize(fn_.axes.size());
    for (size_t s = 0; s < fn_.sets.size(); ++s)
      if (fn_.sets[s].scope != kNone && fn_.sets[s].memory != Memory::Dram)
        scoped_sets_[fn_.sets[s].scope].push_back(static_cast<uint32_t>(s));
  }

  Result<Tensors> run(std::span<const std::byte> constants, const Tensors& inputs) {
    const std::vector<isa::Variable>& variables = arena_.layout().variables;
    machine::HostMemory memory(variables.size());
    Tensors outputs;
    for (size_t v = 0; v < variables.size(); ++v) NCC_TRY(bind(v, constants, inputs, outputs, memory));
    machine::CoreOptions core_options;
    core_options.sbuf_bytes_per_partition = arena_.sbuf_bytes();
    core_options.psum_bytes_per_partition = arena_.psum_bytes();
    core_options.check = options_.check;
    core_options.threads = options_.threads;
    machine::FunctionalCore core(arch_, variables, memory, core_options);
    core_ = &core;
    NCC_TRY(block(fn_.block));
    for (size_t v = 0; options_.check && v < variables.size(); ++v)
      if (variables[v].kind == isa::VariableKind::Output && core.first_unwritten(v) >= 0)
        return error(Code::ESIM003, fmt::format("byte {} of output '{}' was never written",
                                                core.first_unwritten(v), variables[v].name));
    return outputs;
  }

 private:
  Status bind(size_t index, std::span<const std::byte> constants, const Tensors& inputs, Tensors& outputs,
              machine::HostMemory& memory) const {
    const isa::Variable& v = arena_.layout().variables[index];
    switch (v.kind) {
      case isa::VariableKind::Input: {
        const auto it = inputs.find(v.name);
        if (it == inputs.end()) return error(Code::ERUN001, "'" + v.name + "'", "not given");
        if (static_cast<int64_t>(it->second.size()) != v.size_bytes)
          return error(Code::ERUN001, "'" + v.name + "'",
                       fmt::format("{} bytes given, {} expected", it->second.size(), v.size_bytes));
        memory.bind(index, it->second);
        return Status::ok();
      }
      case isa::VariableKind::Const: {
        if (v.const_offset < 0 || v.const_offset + v.size_bytes > std::ssize(constants))
          return error(Code::EBIR001,
                       fmt::format("constant '{}' lies at {}..{} of {} bytes of constants", v.name,
                                   v.const_offset, v.const_offset + v.size_bytes, constants.size()));
        memory.bind(
            index, constants.subspan(static_cast<size_t>(v.const_offset), static_cast<size_t>(v.size_bytes)));
        return Status::ok();
      }
      case isa::VariableKind::Output: {
        std::vector<std::byte>& storage = outputs[v.name];
        storage.resize(static_cast<size_t>(v.size_bytes));
        memory.bind_writable(index, storage);
        return Status::ok();
      }
      case isa::VariableKind::Internal:
        return Status::ok();
    }
    return Status::ok();
  }

  Status block(const Block& in) {
    for (const Instruction& inst : in.instructions)
      NCC_TRY(inst.opcode == Opcode::Loop ? loop(inst) : instruction(inst));
    return Status::ok();
  }

  Status loop(const Instruction& inst) {
    const LoopAxis& axis = fn_.axes[inst.axis];
    for (int64_t value = axis.lower; value < axis.upper; value += axis.step) {
      axis_values_[inst.axis] = value;
      if (options_.check)
        for (uint32_t set : scoped_sets_[inst.axis]) core_->mark_unwritten(arena_.whole(set));
      NCC_TRY(block(*inst.body));
    }
    return Status::ok();
  }

  uint8_t accumulation_flag(const Attributes& attrs) const {
    if (!(attrs.accumulation_flag & Attributes::kAutoFlag)) return attrs.accumulation_flag;
    bool first = true, last = true;
    for (affine::AxisId id : attrs.k_axes) {
      const LoopAxis& axis = fn_.axes[id];
      first = first && axis_values_[id] == axis.lower;
      last = last && axis_values_[id] + axis.step >= axis.upper;
    }
    return static_cast<uint8_t>((first ? 1 : 4) | (last ? 2 : 0));
  }

  Status instruction(const Instruction& inst) {
    lowered_.clear();
    NCC_TRY(lower(inst, module_, arch_, arena_, lowered_));
    for (isa::MachineInst& m : lowered_.instructions) {
      if (inst.opcode == Opcode::Matmult && m.opcode == isa::Opcode::Matmul)
        m.accumulate_flags = accumulation_flag(inst.attrs());
      NCC_TRY(located(inst, core_->execute(m)));
    }
    for (const isa::DmaDescriptor& d : lowered_.descriptors) NCC_TRY(located(inst, core_->execute(d)));
    if (!options_.after_instruction) return Status::ok();
    const Executed executed{
        fn_, inst, axis_values_,
        [this](const Operand& op, std::vector<std::byte>& bytes) { return read(op, bytes); }};
    return options_.after_instruction(executed);
  }

  Status read(const Operand& op, std::vector<std::byte>& bytes) const {
    isa::Access access;
    if (!make_access(op, arena_.origin(op), false, access))
      return error(Code::EBIR001, "an operand of too many dims for reading");
    if (access.space == isa::Space::Dram) {
      std::vector<isa::DmaDescriptor> parts;
      if (!make_descriptors(op, arena_.origin(op), op, arena_.origin(op), false, 0, parts) ||
          parts.size() != 1)
        return error(Code::EBIR001, "an operand of too many dims for reading");
      access = parts.front().src;
    }
    return core_->read(access, bytes);
  }

  Status located(const Instruction& inst, const Status& status) const {
    if (status.is_ok()) return status;
    Diagnostic diagnostic = status.diagnostic();
    diagnostic.cause = fmt::format("'{}': {}", inst.name, diagnostic.cause);
    if (diagnostic.loc.empty() && inst.source < module_.sources.size()) {
      const isa::SourceInst& source = module_.sources[inst.source];
      diagnostic.loc = {source.op_name, source.file, source.line};
    }
    return Status(std::move(diagnostic));
  }

  const Module& module_;
  const Function& fn_;
  const ArchModel& arch_;
  const InterpretOptions& options_;
  Arena arena_;
  std::vector<int64_t> axis_values_;
  std::vector<std::vector<uint32_t>> scoped_sets_;  // by axis
  machine::FunctionalCore* core_ = nullptr;
  Lowered lowered_;
};

}  // namespace

Result<Tensors> interpret(const Module& module, std::span<const std::byte> constants, const Tensors& inputs,
                          const InterpretOptions& options) {
  NCC_TRY(verify_structure(module));
  const ArchModel* arch = find_arch(module.arch);
  if (!arch) return error(Code::EBIR001, fmt::format("unknown architecture '{}'", module.arch));
  return Interpreter(module, *arch, options).run(constants, inputs);
}

Result<Tensors> interpret_file(const std::string& bir_path, const std::string& constants_path,
                               const Tensors& inputs, const InterpretOptions& options) {
  NCC_ASSIGN(const Module module, read_module(bir_path));
  if (constants_path.empty()) return interpret(module, {}, inputs, options);
  NCC_ASSIGN(const std::shared_ptr<const MappedFile> constants, MappedFile::open(constants_path));
  return interpret(module, constants->bytes(), inputs, options);
}

}  // namespace ncc::bir
