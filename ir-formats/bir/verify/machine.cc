// The machine's rules per instruction (spec/bir.md §7, spec/arch.md §3.2, §8; DESIGN section 14 C1, C5).
// Numbers in brackets are the spec's rule codes. Symbolic starts are checked on their bounds over the loops.
#include <algorithm>

#include "ir-formats/bir/enums.h"
#include "ir-formats/bir/verify.h"

namespace ncc::bir {
namespace {

char letter(Engine engine) {
  switch (engine) {
    case Engine::PE:
      return 'E';
    case Engine::Activation:
      return 'A';
    case Engine::Pool:
      return 'P';
    case Engine::DVE:
      return 'V';
    case Engine::SP:
      return 'S';
    case Engine::DMA:
      return 'D';
    default:
      return '*';
  }
}

class Rules {
 public:
  Rules(const Module& module, const Function& fn, const Instruction& inst, const ArchModel& arch)
      : module_(module), fn_(fn), inst_(inst), arch_(arch) {}

  Status check() {
    const OpcodeInfo& row = info(inst_.opcode);
    const char engine = letter(inst_.engine);
    if (engine != '*' && row.engines.find('*') == std::string_view::npos &&
        row.engines.find(engine) == std::string_view::npos)
      return bad("[400] engine {} cannot run it", isa::name(inst_.engine));
    if (arch_.level < row.min_level) return bad("[366] needs architecture level {}", row.min_level);
    for (const Operand& op : inst_.ins) NCC_TRY(operand(op));
    for (const Operand& op : inst_.outs) NCC_TRY(operand(op));
    switch (inst_.opcode) {
      case Opcode::Matmult:
        return matmult();
      case Opcode::Load:
      case Opcode::Save:
      case Opcode::DMACopy:
      case Opcode::AbstractCopy:
      case Opcode::GenericCopy:
        return copy();
      case Opcode::TensorReduce:
        return reduce();
      case Opcode::TensorTensor:
        return tensor_tensor();
      case Opcode::TensorScalarPtr:
        return tensor_scalar();
      case Opcode::Activation:
      case Opcode::TensorCopy:
      case Opcode::Reciprocal:
      case Opcode::TensorScalarAffineSelect:
        return same_count(inst_.ins[0], inst_.outs[0]);
      case Opcode::Select:
        NCC_TRY(same_count(inst_.ins[0], inst_.outs[0]));
        return Status::ok();
      case Opcode::CopyPredicated:
        if (inst_.ins[0].kind != OperandKind::Immediate) NCC_TRY(same_count(inst_.ins[0], inst_.outs[0]));
        return same_count(inst_.ins[1], inst_.outs[0]);
      case Opcode::StreamShuffle:
      case Opcode::StreamTranspose:
        return stream();
      default:
        return Status::ok();
    }
  }

 private:
  template <class... Args>
  Status bad(fmt::format_string<Args...> pattern, Args&&... args) const {
    SourceLoc loc;
    if (inst_.source < module_.sources.size()) {
      const isa::SourceInst& source = module_.sources[inst_.source];
      loc = {source.op_name, source.file, source.line};
    }
    return error(Code::EBIR002, loc, inst_.name, name(inst_.opcode),
                 fmt::format(pattern, std::forward<Args>(args)...));
  }

  Memory memory(const Operand& op) const { return fn_.sets[op.set].memory; }
  static bool is_access(const Operand& op) {
    return op.kind == OperandKind::PhysicalAp || op.kind == OperandKind::SymbolicAp;
  }
  bool on_chip(const Operand& op) const { return is_access(op) && memory(op) != Memory::Dram; }
  bool moves_data() const {
    return is_dma(inst_.opcode) || inst_.opcode == Opcode::AbstractCopy ||
           inst_.opcode == Opcode::GenericCopy;
  }
  static int64_t free_elements(const Operand& op) {
    return op.num_partitions() > 0 ? op.num_elements() / op.num_partitions() : 0;
  }

  affine::Interval bounds(affine::Ref e) const {
    // The library bounds axes over [0, extent - 1]; loops run from `lower` by `step`.
    int64_t low = e->constant, high = e->constant;
    for (const affine::Term& term : e->terms) {
      const LoopAxis& axis = fn_.axes[term.axis];
      const int64_t first = axis.lower;
      const int64_t last = axis.lower + std::max<int64_t>(axis.trip_count() - 1, 0) * axis.step;
      low += std::min(term.coef * first, term.coef * last);
      high += std::max(term.coef * first, term.coef * last);
    }
    return {low, high};
  }

  Status operand(const Operand& op) const {
    if (!is_access(op)) return Status::ok();
    if (info(op.dtype).machine.empty()) return bad("element type {} does not exist here", info(op.dtype).hlo);
    if (!moves_data() && memory(op) == Memory::Dram) return bad("[310] an operand in DRAM");
    if (inst_.engine == Engine::Pool && !moves_data() && memory(op) == Memory::Psum)
      return bad("[310] Pool cannot reach PSUM");
    NCC_TRY(extent(op));
    if (memory(op) == Memory::Dram) return Status::ok();
    if (op.rank > 0 && op.ap[0].step != 1 && op.ap[0].count > 1)
      return bad("a partition step of {}", op.ap[0].step);
    if (op.num_partitions() > arch_.num_partitions) return bad("{} partitions", op.num_partitions());
    if (!moves_data()) NCC_TRY(start_partition(op));
    return Status::ok();
  }

  /// More than 64 partitions start at 0, more than 32 at 0 or 64, others at a multiple of 32.
  Status start_partition(const Operand& op) const {
    const int64_t n = op.num_partitions();
    const int64_t granule = n > 64 ? 128 : n > 32 ? 64 : 32;
    int64_t constant = 0;
    if (op.kind == OperandKind::PhysicalAp) {
      const MemoryLocation& l = fn_.locations[op.location];
      constant = op.partition + (l.allocated ? l.base : 0);
    } else {
      constant = op.partition_expr->constant;
      for (const affine::Term& term : op.partition_expr->terms) {
        if (fn_.axes[term.axis].trip_count() <= 1) {
          constant += term.coef * fn_.axes[term.axis].lower;
        } else if ((term.coef * fn_.axes[term.axis].step) % granule != 0) {
          return bad("{} partitions whose start moves by {}", n, term.coef * fn_.axes[term.axis].step);
        }
      }
    }
    if (constant % granule != 0) return bad("{} partitions starting at partition {}", n, constant);
    return Status::ok();
  }

  /// The access stays inside its set: rows within the partitions, elements within the partition's bytes.
  Status extent(const Operand& op) const {
    const MemoryLocationSet& set = fn_.sets[op.set];
    const bool dram = set.memory == Memory::Dram;
    int64_t bytes = size_bytes(set.dtype);
    for (size_t i = dram ? 0 : 1; i < set.shape.size(); ++i) bytes *= set.shape[i];
    affine::Interval offset{op.offset, op.offset}, partition{op.partition, op.partition};
    if (op.kind == OperandKind::SymbolicAp) {
      offset = bounds(op.offset_expr);
      partition = bounds(op.partition_expr);
    } else if (!fn_.sets[op.set].locations.empty()) {
      bytes = fn_.locations[op.location].bytes_per_partition;
    }
    int64_t low = 0, high = 0;
    for (int i = dram ? 0 : 1; i < op.rank; ++i) {
      const int64_t reach = op.ap[i].step * (op.ap[i].count - 1);
      (reach < 0 ? low : high) += reach;
    }
    const int64_t size = size_bytes(op.dtype);
    if ((offset.low + low) < 0 || (offset.high + high + 1) * size > bytes)
      return bad("elements {}..{} of '{}', which has {} bytes{}", offset.low + low, offset.high + high,
                 set.name, bytes, dram ? "" : " per partition");
    if (dram) return Status::ok();
    if (partition.low < 0 || partition.high + op.num_partitions() > set.shape[0])
      return bad("partitions {}..{} of '{}', which has {}", partition.low,
                 partition.high + op.num_partitions() - 1, set.name, set.shape[0]);
    int free_dims = 0;
    for (int i = 1; i < op.rank; ++i) free_dims += op.ap[i].count > 1;
    if (!moves_data() && free_dims > isa::kMaxFreeDims) return bad("{} free dims", free_dims);
    return Status::ok();
  }

  Status same_count(const Operand& a, const Operand& b) const {
    if (!is_access(a) || !is_access(b)) return Status::ok();
    if (a.num_partitions() != b.num_partitions() || free_elements(a) != free_elements(b))
      return bad("operands of {}x{} and {}x{} elements", a.num_partitions(), free_elements(a),
                 b.num_partitions(), free_elements(b));
    return Status::ok();
  }

  Status matmult() const {
    const Operand &moving = inst_.ins[0], &stationary = inst_.ins[1], &out = inst_.outs[0];
    for (const Operand* op : {&moving, &stationary}) {
      if (!is_access(*op) || memory(*op) != Memory::Sbuf) return bad("[310] operands must be in SBUF");
      if (!is_float(op->dtype) && op->dtype != Dtype::U8 && op->dtype != Dtype::Pred)
        return bad("an operand of element type {}", info(op->dtype).machine);
    }
    if (memory(out) != Memory::Psum) return bad("[310] the result must be in PSUM");
    if ((moving.dtype == Dtype::F32R) != (stationary.dtype == Dtype::F32R))
      return bad("float32r must be the type of both operands or of none");
    if (moving.num_partitions() != stationary.num_partitions())
      return bad("contraction over {} and {} partitions", moving.num_partitions(),
                 stationary.num_partitions());
    const int64_t rows = free_elements(stationary), columns = free_elements(moving);
    if (rows > arch_.max_stationary_free) return bad("{} stationary columns", rows);
    if (columns > arch_.max_moving_free) return bad("{} moving columns", columns);
    if (inst_.attrs().is_transpose) {
      // The moving operand passes through and comes out turned: its free elements on partitions, its
      // partitions along the free dim.
      if (out.num_partitions() != columns || free_elements(out) != moving.num_partitions())
        return bad("a transpose of {}x{} into {}x{}", moving.num_partitions(), columns, out.num_partitions(),
                   free_elements(out));
    } else if (out.num_partitions() != rows || free_elements(out) != columns)
      return bad("a result of {}x{} from {}x{}", out.num_partitions(), free_elements(out), rows, columns);
    if (inst_.attrs().is_transpose && !arch_.has_pe_transpose) return bad("transpose mode on {}", arch_.name);
    return bank(out);
  }

  /// A matmul's result stays in one PSUM bank.
  Status bank(const Operand& out) const {
    int64_t low = 0, high = 0;
    for (int i = 1; i < out.rank; ++i) {
      const int64_t reach = out.ap[i].step * (out.ap[i].count - 1);
      (reach < 0 ? low : high) += reach;
    }
    const int64_t size = size_bytes(out.dtype);
    if ((high - low + 1) * size > arch_.psum_bank_bytes)
      return bad("a result spanning {} bytes of a {} byte bank", (high - low + 1) * size,
                 arch_.psum_bank_bytes);
    if (out.kind != OperandKind::PhysicalAp) return Status::ok();
    const MemoryLocation& l = fn_.locations[out.location];
    const int64_t start = l.allocated ? l.address : 0;
    const int64_t first = start + (out.offset + low) * size,
                  last = start + (out.offset + high + 1) * size - 1;
    if (first / arch_.psum_bank_bytes != last / arch_.psum_bank_bytes)
      return bad("a result across two banks");
    return Status::ok();
  }

  Status copy() const {
    const Operand &src = inst_.ins[0], &dst = inst_.outs[0];
    if (!is_access(src)) return bad("an immediate source");
    if (src.num_elements() != dst.num_elements())
      return bad("{} elements into {}", src.num_elements(), dst.num_elements());
    if (!is_dma(inst_.opcode)) return Status::ok();
    if (memory(src) == Memory::Psum || memory(dst) == Memory::Psum) return bad("[310] a transfer with PSUM");
    if (inst_.opcode == Opcode::Load && memory(src) != Memory::Dram)
      return bad("[310] a load must read DRAM");
    if (inst_.opcode == Opcode::Save && memory(dst) != Memory::Dram)
      return bad("[310] a save must write DRAM");
    if (inst_.attrs().dma_transpose && !arch_.has_dma_transpose)
      return bad("DMA transpose on {}", arch_.name);
    return Status::ok();
  }

  Status reduce() const {
    const isa::Axis axis = inst_.attrs().axis;
    const Operand &in = inst_.ins[0], &out = inst_.outs[0];
    if (axis == isa::Axis::C || axis == isa::Axis::XYZWC) {
      if (inst_.engine == Engine::DVE) return bad("a fold over partitions runs on Pool only");
      if (inst_.attrs().negate) return bad("negate with a fold over partitions");
      return Status::ok();
    }
    const int folded = isa::folded_dims(axis);
    if (in.rank - 1 < folded) return bad("axis {} on {} free dims", isa::name(axis), in.rank - 1);
    int64_t kept = 1;
    for (int i = 1; i < in.rank - folded; ++i) kept *= in.ap[i].count;
    if (kept != free_elements(out) || in.num_partitions() != out.num_partitions())
      return bad("{}x{} results expected, {}x{} found", in.num_partitions(), kept, out.num_partitions(),
                 free_elements(out));
    return Status::ok();
  }

  Status tensor_tensor() const {
    NCC_TRY(same_count(inst_.ins[0], inst_.outs[0]));
    NCC_TRY(same_count(inst_.ins[1], inst_.outs[0]));
    if (inst_.engine == Engine::DVE && memory(inst_.ins[0]) == Memory::Psum &&
        memory(inst_.ins[1]) == Memory::Psum)
      return bad("[310] both inputs in PSUM");
    return Status::ok();
  }

  Status tensor_scalar() const {
    const Attributes& a = inst_.attrs();
    NCC_TRY(same_count(inst_.ins[0], inst_.outs[0]));
    if ((a.is_scalar_tensor_tensor || a.is_tensor_tensor_scan) && inst_.ins.size() != 3)
      return bad("its flags ask for three operands, {} found", inst_.ins.size());
    if (a.is_scalar_tensor_tensor || a.is_tensor_tensor_scan)
      NCC_TRY(same_count(inst_.ins[2], inst_.outs[0]));
    if (inst_.outs.size() == 2 && inst_.engine != Engine::DVE && inst_.engine != Engine::Unassigned)
      return bad("a second output exists on DVE only");
    const size_t scalars = a.is_scalar_tensor_tensor || a.is_tensor_tensor_scan ? 2 : inst_.ins.size();
    for (size_t i = 1; i < scalars; ++i) {
      const Operand& s = inst_.ins[i];
      if (!is_access(s)) continue;
      if (free_elements(s) != 1 || s.num_partitions() != inst_.ins[0].num_partitions())
        return bad("a scalar operand of {}x{} elements for {} partitions", s.num_partitions(),
                   free_elements(s), inst_.ins[0].num_partitions());
    }
    return Status::ok();
  }

  Status stream() const {
    const Operand &in = inst_.ins[0], &out = inst_.outs[0];
    if (in.dtype != out.dtype)
      return bad("no cast: {} to {}", info(in.dtype).machine, info(out.dtype).machine);
    if (in.num_elements() != out.num_elements())
      return bad("{} elements into {}", in.num_elements(), out.num_elements());
    return Status::ok();
  }

  const Module& module_;
  const Function& fn_;
  const Instruction& inst_;
  const ArchModel& arch_;
};

Status walk(const Module& module, const Function& fn, const Block& block, const ArchModel& arch) {
  for (const Instruction& inst : block.instructions) {
    if (inst.opcode == Opcode::Loop) {
      NCC_TRY(walk(module, fn, *inst.body, arch));
    } else {
      NCC_TRY(verify(module, fn, inst, arch));
    }
  }
  return Status::ok();
}

}  // namespace

Status verify(const Module& module, const Function& fn, const Instruction& inst, const ArchModel& arch) {
  return Rules(module, fn, inst, arch).check();
}

Status verify(const Module& module, const ArchModel& arch) {
  for (const Function& fn : module.functions) NCC_TRY(walk(module, fn, fn.block, arch));
  return Status::ok();
}

}  // namespace ncc::bir
