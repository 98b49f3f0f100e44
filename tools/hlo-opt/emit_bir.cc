#include "tools/hlo-opt/emit_bir.h"

#include <map>

namespace ncc::hlo_opt {

using namespace penguin;

namespace {

class Emitter {
 public:
  Emitter(const Module& module, const ArchModel& arch) : source_(module.main()) {
    out_.arch = arch.model_name;
    out_.functions.emplace_back();
    out_.sources.emplace_back();
    // Expressions are shared: both modules keep the context alive.
    out_.affine = module.affine;
  }

  bir::Module run() {
    bir::Function& main = out_.main();
    for (const Axis& axis : source_.axes) main.axes.push_back({axis.name, 0, axis.extent, 1, false});
    for (const Tensor& tensor : source_.tensors) add_set(tensor);
    main.block.name = "Block1";
    emit(source_.body, main.block);
    return std::move(out_);
  }

 private:
  void add_set(const Tensor& tensor) {
    bir::Function& main = out_.main();
    bir::MemoryLocationSet set;
    set.name = tensor.name;
    set.dtype = tensor.dtype == Dtype::Pred ? Dtype::U8 : tensor.dtype;
    set.shape = tensor.shape;
    set.scope = tensor.scope == penguin::kNone ? bir::kNone : tensor.scope;
    set.loc = tensor.loc;
    set.memory = tensor.space == Space::Sbuf   ? bir::Memory::Sbuf
                 : tensor.space == Space::Psum ? bir::Memory::Psum
                                               : bir::Memory::Dram;
    set.kind = tensor.role == Role::Input    ? bir::TensorKind::ExternalInput
               : tensor.role == Role::Output ? bir::TensorKind::ExternalOutput
               : tensor.role == Role::Const  ? bir::TensorKind::Const
                                             : bir::TensorKind::Internal;
    set.const_offset = tensor.const_offset;
    set.const_hash = tensor.const_hash;
    bir::MemoryLocation location;
    location.name = tensor.name + "_0";
    location.set = static_cast<uint32_t>(main.sets.size());
    location.memory = set.memory;
    const int64_t bytes = tensor.num_elements() * size_bytes(set.dtype);
    if (set.memory == bir::Memory::Dram) {
      location.bytes_per_partition = bytes;
    } else {
      location.partitions = static_cast<int32_t>(tensor.shape[0]);
      location.bytes_per_partition = bytes / tensor.shape[0];
    }
    set.locations.push_back(static_cast<uint32_t>(main.locations.size()));
    main.locations.push_back(std::move(location));
    main.sets.push_back(std::move(set));
  }

  uint32_t source_of(const Inst& inst) {
    const std::string key = fmt::format("{}\n{}\n{}", inst.loc.op_name, inst.loc.file, inst.loc.line);
    const auto [entry, fresh] = source_ids_.try_emplace(key, static_cast<uint32_t>(out_.sources.size()));
    if (fresh) out_.sources.push_back({"", inst.loc.op_name, inst.loc.file, inst.loc.line});
    return entry->second;
  }

  void emit(const std::vector<Stmt>& body, bir::Block& block) {
    for (const Stmt& stmt : body) {
      bir::Instruction out;
      if (stmt.kind == Stmt::Kind::Loop) {
        out.opcode = bir::Opcode::Loop;
        out.name = "loop_" + source_.axes[stmt.axis].name;
        out.axis = stmt.axis;
        out.body = std::make_unique<bir::Block>();
        out.body->name = "block_" + source_.axes[stmt.axis].name;
        emit(stmt.body, *out.body);
      } else {
        NCC_CHECK(stmt.kind == Stmt::Kind::Inst && stmt.inst->tile, "a statement that is not at tile level");
        const Inst::Tile& tile = *stmt.inst->tile;
        out.opcode = tile.opcode;
        out.name = stmt.inst->name;
        out.engine = tile.engine;
        out.ins = tile.ins;
        out.outs = tile.outs;
        out.attributes = std::make_unique<bir::Attributes>(tile.attributes);
        out.source = source_of(*stmt.inst);
      }
      block.instructions.push_back(std::move(out));
    }
  }

  const Function& source_;
  bir::Module out_;
  std::map<std::string, uint32_t> source_ids_;
};

}  // namespace

Result<bir::Module> emit_bir(const Module& module, const ArchModel& arch) {
  return Emitter(module, arch).run();
}

}  // namespace ncc::hlo_opt
