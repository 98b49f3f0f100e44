// Carries out a Plan: turns the tensor level into tile statements, cluster by cluster.
//   lowering.cc   clusters, loops over partition blocks and chunks, where results live
//   operands.cc   how an instruction gets its operands: resident tiles, loads, transposes, immediates
//   exchange.cc   swapping partitions and a free axis, on chip and on the way from and to DRAM
//   map.cc        elementwise functions and reductions to instructions
//   contract.cc   contractions to matmuls
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/diag/status.h"
#include "tools/hlo-opt/plan.h"
#include "tools/hlo-opt/tile/builder.h"

namespace ncc::hlo_opt {

/// Where (part of) a logical tensor stands on chip.
struct Storage {
  penguin::TensorId tile = penguin::kNone;
  penguin::Space space = penguin::Space::Sbuf;
  Dtype dtype = Dtype::F32;
  int partition_dim = -1;           // logical dim on partitions; -1 = one partition
  int64_t lanes = 1;                // lanes per block
  int64_t block_stride = 0;         // elements between partition blocks; 0 = holds one block
  std::vector<int64_t> stride;      // per logical dim, elements
  std::vector<affine::Ref> origin;  // per logical dim: first element held; null = 0
  std::vector<int64_t> extent;      // per logical dim: how many elements are held (partition dim: unused)
};

using Environment = std::unordered_map<penguin::AxisId, Range>;

class TileLowering {
 public:
  /// `precise_transpose`: no transpose is a product with an identity, whatever reads it.
  TileLowering(const penguin::Module& source, const Plan& plan, const ArchModel& arch,
               bool precise_transpose = false);
  Result<std::unique_ptr<penguin::Module>> run();

 private:
  // --- lowering.cc ---
  struct ChunkChoice {
    int64_t extent = 0, chunk = 0;
    bool outermost = false;  // the loop over chunks encloses the loop over blocks
    bool has_whole = false;  // some instruction of the cluster does not have the axis
    std::unordered_map<uint32_t, penguin::AxisId>
        axis;  // per instruction of the cluster that has the chunked axis
  };
  void declare_dram_tensors();
  void lower_cluster(const Cluster& cluster);
  /// Bytes per partition of a cluster's results and loads in one block; its free axes, largest first, each
  /// with an instruction that has it.
  struct ClusterSize {
    int64_t bytes = 0;
    bool has_contract = false;
    std::vector<std::pair<uint32_t, penguin::AxisId>> axes;
  };
  ClusterSize measure(const Cluster& cluster);
  std::optional<ChunkChoice> follow_axis(const Cluster& cluster, uint32_t seed, penguin::AxisId axis) const;
  /// Elements of the chosen axis in one chunk; all of them when the cluster fits. Sets `outermost`.
  int64_t chunk_size(const Cluster& cluster, ChunkChoice& choice, const ClusterSize& size);
  std::optional<ChunkChoice> choose_chunk(const Cluster& cluster);
  /// The instructions at one place of the cluster's loop nest, with the current block and chunk.
  void lower_insts(const std::vector<uint32_t>& insts);
  void forget_block_scoped(const std::vector<uint32_t>& insts);
  /// Bytes per partition of the operand that every block of the result reads in full.
  int64_t moving_panel_bytes(uint32_t i) const;
  void for_blocks(const Cluster& cluster, const std::function<void()>& body);
  void for_chunks(const ChunkChoice& chunk, const std::function<void()>& body);
  /// Makes the environment that of instruction i in the current block and chunk.
  void enter(uint32_t i);
  void lower_inst(uint32_t i);
  bool is_block_scoped(penguin::TensorId id) const;
  /// The tile that receives the instruction's result, allocated at its first write; DRAM results get a
  /// staging tile.
  TileAccess result_access(uint32_t i);
  /// After an instruction's result tile is complete: stores it where DRAM must have it.
  void finish_result(uint32_t i, const TileAccess& tile);
  std::vector<FreeAxis> free_axes(
      uint32_t i) const;  // the result's free axes, outermost first in its storage
  std::vector<FreeAxis> axes_with_role(uint32_t i, penguin::AxisRole role) const;

  // --- operands.cc ---
  struct DramView {
    penguin::TensorId tile;
    int64_t element_offset = 0;
  };
  /// Row-major offset of an access as an affine expression of the instruction's axes.
  affine::Ref linear_index(const penguin::Operand& operand, const std::vector<int64_t>& shape);
  TileAccess dram_access(uint32_t i, const penguin::Operand& operand, penguin::AxisId partition);
  TileAccess storage_access(const Storage& storage, uint32_t i, const penguin::Operand& operand,
                            penguin::AxisId partition);
  /// An on-chip tile of the operand with `partition` on partitions.
  TileAccess operand_tile(uint32_t i, const penguin::Operand& operand, penguin::AxisId partition);
  TileAccess load_tile(uint32_t i, const penguin::Operand& operand, penguin::AxisId partition);
  TileAccess index_tile(uint32_t i, const penguin::Operand& operand, penguin::AxisId partition);
  TileAccess transposed_tile(uint32_t i, const penguin::Operand& operand, penguin::AxisId partition);
  /// A [128, 1] tile holding one constant.
  TileAccess constant_tile(Dtype dtype, uint64_t bits, int64_t lanes);
  TileAccess identity_tile(Dtype dtype);
  /// The level (number of enclosing loops) at which everything the access depends on is known.
  size_t home_level(affine::Ref expr) const;
  void keep(std::map<std::string, TileAccess>& cache, const std::string& key, const TileAccess& tile,
            penguin::TensorId id, int64_t elements, size_t level);
  const TileAccess* find_kept(size_t level, const std::string& key) const;
  std::map<std::string, TileAccess>& cache_of(size_t level) { return caches_[level]; }
  // --- exchange.cc ---
  void emit_transpose(const TileAccess& from, int64_t from_lanes, const TileAccess& to, int64_t to_lanes,
                      penguin::AxisId row, penguin::AxisId column, bool for_contract);
  void emit_vector_transpose(const TileAccess& from, int64_t from_lanes, const TileAccess& to,
                             int64_t to_lanes, penguin::AxisId row, penguin::AxisId column);
  const FreeAxis* exchanged_rows(const TileAccess& dram, const std::vector<FreeAxis>& order,
                                 bool is_load) const;
  void load_exchanged(const TileAccess& from, const TileAccess& to, const std::vector<FreeAxis>& order,
                      const FreeAxis& rows, bool for_contract);
  void store_exchanged(const TileAccess& from, const TileAccess& to, const std::vector<FreeAxis>& order,
                       const FreeAxis& rows);

  // --- map.cc ---
  Status lower_map(uint32_t i);
  Status lower_reduce(uint32_t i);
  struct MapOperand {
    enum class Kind { Tile, PerPartition, Scalar };
    Kind kind = Kind::Scalar;
    Dtype dtype = Dtype::F32;
    TileAccess access;
    uint64_t scalar = 0;
  };
  MapOperand map_operand(uint32_t i, const penguin::Operand& operand);
  Status emit_alu(uint32_t i, const MapOperand& a, const MapOperand& b, const TileAccess& out,
                  const std::vector<FreeAxis>& axes);
  /// A stage's scalar as an immediate or a per-partition operand.
  TileOperand stage_scalar(uint32_t i, const penguin::Operand& operand, bool negate);
  void add_scale_and_bias(uint32_t i, int64_t lanes, TileInst& act);
  void emit_staged_alu(uint32_t i, const MapOperand& data, const MapOperand& other, const TileAccess& out,
                       const std::vector<FreeAxis>& axes);
  void emit_copy(const TileAccess& from, const TileAccess& to, const std::vector<FreeAxis>& axes);
  void emit_fill(const TileAccess& to, Dtype dtype, uint64_t bits, const std::vector<FreeAxis>& axes);
  TileAccess as_tile(const MapOperand& operand, int64_t lanes);

  // --- contract.cc ---
  /// One operand of a contraction with all its blocks of the contracted axis: block k stands `block_step`
  /// elements after block 0.
  struct Panel {
    TileAccess access;
    PartitionSplit split{1, 1, 0};
    int64_t block_step = 0;
  };
  struct ContractTile {
    uint32_t inst;
    const Panel* stationary;
    const Panel* moving;
    std::vector<FreeAxis> axes;  // what the bank holds, outermost first
    TileAccess psum;
  };
  Status lower_contract(uint32_t i);
  Panel operand_panel(uint32_t i, const penguin::Operand& operand);
  penguin::AxisId whole_panel_axis(uint32_t i, const penguin::Operand& operand);
  void load_panel(uint32_t i, const penguin::Operand& operand, Panel& panel);
  bool reads_allow_psum(uint32_t i) const;
  Status emit_groups(const ContractTile& tile);

  // Engine choice: the legal engine with the least estimated work so far.
  isa::Engine pick_engine(std::string_view legal, int64_t elements, double cycles_per_element,
                          bool touches_psum);

  const penguin::Inst& inst(uint32_t i) const { return *function_.body[i].inst; }
  int64_t extent(penguin::AxisId axis) const {
    return axis == penguin::kNone ? 1 : function_.axes[axis].extent;
  }
  const Range& range(penguin::AxisId axis) const { return environment_.at(axis); }
  affine::Ref bind(affine::Ref expr);  // replaces the instruction's axes by their bases

  const penguin::Module& source_;
  const penguin::Function& function_;
  const Plan& plan_;
  const ArchModel& arch_;
  const bool precise_transpose_;
  TileBuilder builder_;
  std::vector<penguin::TensorId> dram_;  // per logical tensor: its DRAM tensor; kNone = none
  std::unordered_map<penguin::TensorId, Storage> storage_;
  Environment environment_;  // axes of the instruction being lowered
  struct ClusterState {
    const Cluster* cluster = nullptr;
    affine::Ref block = nullptr;
    int64_t lanes = 1;
    size_t outer_level = 0;                   // outside the cluster's loops
    size_t block_level = 0, chunk_level = 0;  // inside the loop over blocks / over chunks
    size_t inst_level = 0;                    // where the instruction being lowered stands
    std::optional<ChunkChoice> chunk;
    affine::Ref chunk_base = nullptr;
    int64_t chunk_count = 0;
  } cluster_;
  std::map<size_t, std::map<std::string, TileAccess>> caches_;  // loaded tiles, by the level that owns them
  std::map<std::string, TileAccess> pinned_;  // loaded parameters that stay for later clusters
  int64_t pinned_bytes_ = 0;
  std::map<std::string, TileAccess> function_cache_;  // constants and identities
  int64_t last_turned_block_stride_ = 0;              // of the latest transposed_tile
  uint32_t next_group_ = 0;
  Environment block_environment_;  // the environment as lower_inst set it, before a contraction narrows it
  double engine_ns_[8] = {};
  Status failure_;
};

}  // namespace ncc::hlo_opt
