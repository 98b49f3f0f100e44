// What the layout and clustering passes decide and the tiler carries out. Indices are positions in
// Function::body and tensor ids.
#pragma once
#include <cstdint>
#include <vector>

#include "common/arch/arch.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo_opt {

/// How an axis of `extent` elements is laid on partitions: `blocks` full blocks of `lanes`, then `remainder`
/// lanes (0 = none). Block b, lane p hold element b * lanes + p.
struct PartitionSplit {
  int64_t lanes, full_blocks, remainder;
  int64_t blocks() const { return full_blocks + (remainder > 0 ? 1 : 0); }
};
PartitionSplit partition_split(int64_t extent, int64_t max_lanes = 128);

struct TensorPlan {
  bool on_chip = false;    // kept in SBUF between its producer and its consumers
  int partition_dim = -1;  // the dim on partitions; -1 = the tensor lives on one partition
  std::vector<uint32_t> producers, consumers;  // positions in the body
};

/// One arithmetic step that the reading instruction does on its operand first: op(x, scalar), or op(scalar,
/// x) when reversed.
struct Stage {
  isa::AluOp op = isa::AluOp::Bypass;
  bool reversed = false;
  penguin::Operand scalar;  // a constant, or one fp32 value per partition
};

struct InstPlan {
  penguin::AxisId partition = penguin::kNone;  // result axis on partitions; kNone = one partition
  penguin::AxisId contract = penguin::kNone;   // Contract: the contracted axis on both operands' partitions
  bool lhs_stationary = true;                  // Contract: which operand owns `partition`
  uint32_t cluster = 0;
  bool absorbed = false;         // its reader does its work
  int staged_operand = -1;       // which operand the stages apply to
  penguin::Operand staged_data;  // what that operand reads instead
  std::vector<Stage> stages;     // in order of application
  int accumulated_by = -1;       // Activation: the absorbed Reduce whose sum its accumulator gives
};

/// Instructions that share one loop over the blocks of their partition axis (and, optionally, over chunks of
/// one free axis).
struct Cluster {
  std::vector<uint32_t> insts;  // in execution order
  int64_t partition_extent = 1;
};

struct Plan {
  std::vector<TensorPlan> tensors;
  std::vector<InstPlan> insts;
  std::vector<Cluster> clusters;  // in execution order
};

/// How a consumer that wants `axis` on partitions meets the tensor it reads.
enum class EdgeKind : uint8_t {
  Load,       // from DRAM, in whatever layout the consumer wants
  Aligned,    // the tensor's partition dim is `axis`, same extent
  Transpose,  // `axis` is another dim of the tensor: exchange through PE or DVE
  Replicate,  // the tensor does not vary along `axis`
  Bounce,     // nothing on chip expresses it: through DRAM
};
EdgeKind classify_edge(const penguin::Function& function, const Plan& plan, const penguin::Operand& operand,
                       penguin::AxisId axis);

/// "dim = axis" exactly: no constant, coefficient 1, and the axis covers the whole dim.
bool is_plain(const penguin::Function& function, affine::Ref expr, int64_t dim_extent, penguin::AxisId axis);

}  // namespace ncc::hlo_opt
