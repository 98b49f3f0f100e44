// Builds the tile level: statements, loops, placed tensors, and instructions over strided tiles.
#pragma once
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/arch/arch.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo_opt {

/// The part of an iteration axis that a tile covers: [base, base + count). On the partition axis, base =
/// block * lanes.
struct Range {
  affine::Ref base = nullptr;
  int64_t count = 1;
  affine::Ref block = nullptr;
};

/// A tile of memory as an instruction sees it: where it starts and how far each iteration axis moves it.
struct TileAccess {
  penguin::TensorId tensor = penguin::kNone;
  penguin::Space space = penguin::Space::Sbuf;
  Dtype dtype = Dtype::F32;
  int64_t partition = 0;                      // on chip: first partition
  int64_t lanes = 1;                          // on chip: partitions partition..partition+lanes-1
  int64_t lane_step = 0;                      // DRAM only: elements from one lane to the next
  affine::Ref offset = nullptr;               // elements, from the partition's (DRAM: the tensor's) start
  std::map<penguin::AxisId, int64_t> stride;  // per free axis, elements; absent = 0 (broadcast)

  /// One value per partition: nothing moves along the free axes.
  bool is_per_partition() const { return stride.empty(); }
};

/// One free axis of an instruction and how many steps the tile takes along it.
struct FreeAxis {
  penguin::AxisId axis;
  int64_t count;
};

/// An operand of an instruction under construction: a tile or an immediate.
struct TileOperand {
  bool is_immediate = false;
  uint32_t bits = 0;
  Dtype dtype = Dtype::F32;
  TileAccess access;
  bool is_fixed = false;          // does not follow the instruction's axes but its own pattern
  std::vector<isa::Dim> pattern;  // is_fixed: free dims, outermost first; empty = one element per partition

  /// One element per partition, whatever the axes.
  static TileOperand per_partition(TileAccess access) {
    return {false, 0, access.dtype, std::move(access), true, {}};
  }
  static TileOperand tile(TileAccess access) {
    return {false, 0, access.dtype, std::move(access), false, {}};
  }
  static TileOperand immediate(float value);
  static TileOperand immediate_bits(Dtype dtype, uint32_t bits) { return {true, bits, dtype, {}, false, {}}; }
};

/// An instruction over a tile domain; the builder merges free axes, and loops over those that exceed the
/// instruction's rank.
struct TileInst {
  bir::Opcode opcode;
  isa::Engine engine = isa::Engine::Unassigned;
  bir::Attributes attributes;
  std::vector<TileOperand> ins, outs;
  std::vector<FreeAxis> axes;  // outermost first; common to all operands that are not scalars
  size_t reduce_axes = 0;  // TensorReduce: how many of the innermost axes are folded (absent in the output)
  int max_dims = 3;        // free dims the opcode's patterns hold
};

class TileBuilder {
 public:
  TileBuilder(const penguin::Module& source, const ArchModel& arch);

  affine::Context& affine() { return *out_->affine; }
  affine::Ref constant(int64_t value) { return affine().constant(value); }
  const ArchModel& arch() const { return arch_; }
  penguin::Module& out() { return *out_; }

  penguin::TensorId add_tensor(penguin::Tensor tensor);
  penguin::Tensor& tensor(penguin::TensorId id) { return out_->main().tensors[id]; }
  /// A fresh on-chip tensor owned by the scope of `level` (0 = function); shape = [lanes, elements].
  penguin::TensorId new_tile(std::string_view name, penguin::Space space, Dtype dtype, int64_t lanes,
                             int64_t elements, size_t level);

  /// Opens a loop of `extent` trips and returns its axis as an expression; one trip opens nothing and gives
  /// the constant 0.
  affine::Ref open_loop(std::string_view name, int64_t extent);
  void close_loop();
  /// How many loops are open (one-trip ones count); a level to hoist to or to own tensors.
  size_t level() const { return frames_.size() - 1; }
  /// How often a statement emitted now will run.
  int64_t trips() const { return frames_.back()->trips; }
  /// Runs `emit` as if only the first `level` loops were open: its statements stand before the loop opened at
  /// that level.
  void at_level(size_t level, const std::function<void()>& emit);

  /// Source location and base name for what is emitted next.
  void set_origin(const SourceLoc& loc, std::string_view name) {
    loc_ = loc;
    name_ = name;
  }

  void emit(const TileInst& inst);
  /// DMA between two tiles (Load, Save or DMACopy by their spaces). `lanes` runs over partitions or the DRAM
  /// side's lane step.
  void emit_dma(const TileAccess& from, const TileAccess& to, const std::vector<FreeAxis>& axes);
  /// A transposing DMA (trn2): the source visits `from_dims`; the target visits [lanes, to_dims] with its two
  /// innermost dims swapped.
  void emit_transposing_load(const TileAccess& from, const std::vector<isa::Dim>& from_dims,
                             const TileAccess& to, const std::vector<isa::Dim>& to_dims);

  std::unique_ptr<penguin::Module> take() { return std::move(out_); }

 private:
  struct Frame {
    penguin::Stmt loop;
    penguin::AxisId scope = penguin::kNone;  // innermost real loop axis
    bool real = true;
    int64_t trips = 1;
  };
  struct Dims {
    std::vector<int64_t> counts;
    std::vector<std::vector<int64_t>> strides;  // [dim][operand]
  };
  bir::Operand make_operand(const TileAccess& access, const std::vector<int64_t>& counts,
                            const std::vector<int64_t>& strides);
  bir::Operand make_fixed(const TileAccess& access, const std::vector<isa::Dim>& pattern);
  void append(penguin::Inst::Tile tile);
  void emit_dims(const TileInst& inst, Dims dims, size_t fixed, std::vector<affine::Ref> offsets);

  const ArchModel& arch_;
  std::unique_ptr<penguin::Module> out_;
  std::deque<Frame> storage_;
  std::vector<Frame*> frames_;
  std::vector<size_t> loop_numbers_;
  SourceLoc loc_;
  std::string name_;
  std::map<std::string, int> used_names_;
  size_t next_inst_ = 0;
};

}  // namespace ncc::hlo_opt
