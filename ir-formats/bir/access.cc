#include "ir-formats/bir/access.h"

#include <algorithm>

namespace ncc::bir {
namespace {

constexpr int kMaxDescriptorDims = 4;
constexpr int kMaxJointDims = 12;

/// A loop of a transfer, with the move of either side. The on-chip side's partition loop moves partitions.
struct Side {
  int64_t partitions = 0, bytes = 0;
  bool operator==(const Side&) const = default;
};
struct JointDim {
  int64_t count = 1;
  Side src, dst;
};

struct SideDim {
  int64_t count;
  Side step;
};

std::vector<SideDim> side_dims(const Operand& op, bool on_chip) {
  std::vector<SideDim> dims;
  const int64_t size = size_bytes(op.dtype);
  for (int i = 0; i < op.rank; ++i) {
    if (op.ap[i].count == 1) continue;
    if (on_chip && i == 0) {
      dims.push_back({op.ap[i].count, {1, 0}});
    } else {
      dims.push_back({op.ap[i].count, {0, op.ap[i].step * size}});
    }
  }
  return dims;
}

/// Splits both sides into common loops, innermost first in the work, outermost first in the result.
bool refine(const std::vector<SideDim>& a, const std::vector<SideDim>& b, std::vector<JointDim>& out) {
  int i = static_cast<int>(a.size()) - 1, j = static_cast<int>(b.size()) - 1;
  SideDim x{1, {}}, y{1, {}};
  while (true) {
    if (x.count == 1 && i >= 0) x = a[i--];
    if (y.count == 1 && j >= 0) y = b[j--];
    if (x.count == 1 && y.count == 1) break;
    const int64_t common = std::min(x.count, y.count);
    if (common == 1 || x.count % common != 0 || y.count % common != 0) return false;
    if (out.size() == kMaxJointDims) return false;
    out.push_back({common, x.step, y.step});
    x = {x.count / common, {x.step.partitions * common, x.step.bytes * common}};
    y = {y.count / common, {y.step.partitions * common, y.step.bytes * common}};
  }
  std::reverse(out.begin(), out.end());
  return true;
}

/// The dims of one side over the joint loops that stay, merged where they are contiguous; `partition_run` is
/// the count of the leading partition loop. False when the partition loops are not one run of consecutive
/// partitions in front.
bool merge_side(const std::vector<JointDim>& joint, unsigned peeled, bool is_src, std::vector<SideDim>& out) {
  out.clear();
  for (size_t i = 0; i < joint.size(); ++i) {
    if ((peeled >> i) & 1) continue;
    const Side step = is_src ? joint[i].src : joint[i].dst;
    if (!out.empty()) {
      SideDim& last = out.back();
      if (last.step.partitions == step.partitions * joint[i].count &&
          last.step.bytes == step.bytes * joint[i].count) {
        last = {last.count * joint[i].count, step};
        continue;
      }
    }
    out.push_back({joint[i].count, step});
  }
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i].step.partitions != 0 && (i != 0 || out[i].step.partitions != 1)) return false;
  return true;
}

/// Dimensions that the descriptor of this side needs: an on-chip side always has its partition one.
int wire_dims(const std::vector<SideDim>& dims, bool on_chip) {
  const bool has_partition_loop = !dims.empty() && dims[0].step.partitions != 0;
  return static_cast<int>(dims.size()) + (on_chip && !has_partition_loop ? 1 : 0);
}

isa::Access side_access(const Operand& op, const Origin& origin, const std::vector<SideDim>& dims,
                        const Side& shift) {
  isa::Access access;
  access.space = origin.space;
  access.dtype = op.dtype == Dtype::Pred ? Dtype::U8 : op.dtype;
  access.variable = origin.variable;
  access.start_partition = static_cast<uint8_t>(origin.partition + shift.partitions);
  access.offset = origin.offset + shift.bytes;
  const int64_t size = size_bytes(op.dtype);
  for (const SideDim& dim : dims) {
    if (dim.step.partitions != 0) {
      access.num_partitions = static_cast<uint8_t>(dim.count);
    } else {
      access.dims[access.rank++] = {dim.step.bytes / size, dim.count};
    }
  }
  if (access.rank == 0) access.dims[access.rank++] = Dim{};
  return access;
}

/// The set of joint loops to unroll, as bits, with the fewest descriptors; ~0u when none works.
unsigned choose_peeled(const std::vector<JointDim>& joint, bool src_on_chip, bool dst_on_chip) {
  unsigned best = ~0u;
  int64_t best_count = 0;
  std::vector<SideDim> src, dst;
  for (unsigned peeled = 0; peeled < (1u << joint.size()); ++peeled) {
    int64_t count = 1;
    for (size_t i = 0; i < joint.size(); ++i)
      if ((peeled >> i) & 1) count *= joint[i].count;
    if (best != ~0u && count >= best_count) continue;
    if (!merge_side(joint, peeled, true, src) || !merge_side(joint, peeled, false, dst)) continue;
    if (wire_dims(src, src_on_chip) > kMaxDescriptorDims || wire_dims(dst, dst_on_chip) > kMaxDescriptorDims)
      continue;
    best = peeled;
    best_count = count;
    if (peeled == 0) break;
  }
  return best;
}

bool is_wide(const Operand& op) {
  int dims = 0;
  for (int i = 0; i < op.rank; ++i) dims += op.ap[i].count > 1;
  return dims > kMaxDescriptorDims;
}

/// A side as it stands, when it needs no splitting.
isa::Access plain_side(const Operand& op, const Origin& origin) {
  isa::Access access = side_access(op, origin, {}, {});
  access.rank = 0;
  for (int i = 0; i < op.rank; ++i) {
    if (origin.space != isa::Space::Dram && i == 0) {
      access.num_partitions = static_cast<uint8_t>(op.ap[0].count);
    } else if (op.ap[i].count > 1) {
      access.dims[access.rank++] = op.ap[i];
    }
  }
  if (access.rank == 0) access.dims[access.rank++] = Dim{};
  return access;
}

}  // namespace

Origin at_start(Origin location, const Operand& operand, int64_t partition, int64_t element_offset) {
  location.partition += partition;
  location.offset += element_offset * size_bytes(operand.dtype);
  return location;
}

bool make_access(const Operand& op, const Origin& origin, bool positional, isa::Access& out) {
  out = isa::Access{};
  out.space = origin.space;
  out.dtype = op.dtype == Dtype::Pred ? Dtype::U8 : op.dtype;
  out.variable = origin.variable;
  out.start_partition = static_cast<uint8_t>(origin.partition);
  out.num_partitions = static_cast<uint8_t>(op.num_partitions());
  out.offset = origin.offset;
  std::array<Dim, kMaxPatternDims> dims{};
  int rank = 0;
  for (int i = 1; i < op.rank; ++i)
    if (positional || op.ap[i].count > 1) dims[rank++] = op.ap[i];
  // Neighbours that walk on without a break are one dim: the wire holds few.
  for (int i = rank - 1; !positional && i > 0; --i) {
    if (dims[i - 1].step != dims[i].step * dims[i].count) continue;
    dims[i - 1] = {dims[i].step, dims[i - 1].count * dims[i].count};
    std::copy(dims.begin() + i + 1, dims.begin() + rank, dims.begin() + i);
    --rank;
  }
  if (rank > isa::kMaxFreeDims) return false;
  if (rank == 0) dims[rank++] = Dim{};
  out.rank = static_cast<uint8_t>(rank);
  std::copy(dims.begin(), dims.begin() + rank, out.dims.begin());
  return true;
}

bool make_descriptors(const Operand& src, const Origin& src_origin, const Operand& dst,
                      const Origin& dst_origin, bool transpose, uint32_t source,
                      std::vector<isa::DmaDescriptor>& out) {
  if (!is_wide(src) && !is_wide(dst)) {
    const isa::DmaDescriptor plain{plain_side(src, src_origin), plain_side(dst, dst_origin), transpose,
                                   source};
    const auto fits = [](const isa::Access& a) {
      return a.rank + (a.space != isa::Space::Dram ? 1 : 0) <= kMaxDescriptorDims || a.rank == 1;
    };
    if (fits(plain.src) && fits(plain.dst)) {
      out.push_back(plain);
      return true;
    }
  }
  if (transpose) return false;
  const bool src_on_chip = src_origin.space != isa::Space::Dram;
  const bool dst_on_chip = dst_origin.space != isa::Space::Dram;
  std::vector<JointDim> joint;
  if (!refine(side_dims(src, src_on_chip), side_dims(dst, dst_on_chip), joint)) return false;
  const unsigned peeled = choose_peeled(joint, src_on_chip, dst_on_chip);
  if (peeled == ~0u) return false;
  std::vector<SideDim> src_dims, dst_dims;
  merge_side(joint, peeled, true, src_dims);
  merge_side(joint, peeled, false, dst_dims);
  int64_t count = 1;
  for (size_t i = 0; i < joint.size(); ++i)
    if ((peeled >> i) & 1) count *= joint[i].count;
  for (int64_t n = 0; n < count; ++n) {
    Side src_shift, dst_shift;
    int64_t rest = n;
    for (int i = static_cast<int>(joint.size()) - 1; i >= 0; --i) {
      if (!((peeled >> i) & 1)) continue;
      const int64_t index = rest % joint[i].count;
      rest /= joint[i].count;
      src_shift.partitions += index * joint[i].src.partitions;
      src_shift.bytes += index * joint[i].src.bytes;
      dst_shift.partitions += index * joint[i].dst.partitions;
      dst_shift.bytes += index * joint[i].dst.bytes;
    }
    out.push_back({side_access(src, src_origin, src_dims, src_shift),
                   side_access(dst, dst_origin, dst_dims, dst_shift), false, source});
  }
  return true;
}

DramLayout dram_layout(const Function& fn) {
  DramLayout layout;
  layout.of_location.assign(fn.locations.size(), -1);
  layout.of_set.assign(fn.sets.size(), -1);
  int32_t scratch = -1;
  int64_t scratch_bytes = 0;
  for (const MemoryLocation& l : fn.locations)
    if (l.memory == Memory::Dram && l.allocated && fn.sets[l.set].kind == TensorKind::Internal)
      scratch_bytes = std::max(scratch_bytes, l.address + l.bytes_per_partition);
  const auto add = [&](const std::string& name, isa::VariableKind kind, int64_t bytes, int64_t const_offset) {
    layout.variables.push_back({name, kind, bytes, const_offset});
    return static_cast<int32_t>(layout.variables.size() - 1);
  };
  for (size_t s = 0; s < fn.sets.size(); ++s) {
    const MemoryLocationSet& set = fn.sets[s];
    if (set.memory != Memory::Dram) continue;
    if (set.kind != TensorKind::Internal) {
      const isa::VariableKind kind = set.kind == TensorKind::ExternalInput    ? isa::VariableKind::Input
                                     : set.kind == TensorKind::ExternalOutput ? isa::VariableKind::Output
                                                                              : isa::VariableKind::Const;
      const int32_t variable = layout.of_set[s] =
          add(set.name, kind, bytes_per_partition(set), set.const_offset);
      for (uint32_t location : set.locations) layout.of_location[location] = variable;
      continue;
    }
    for (uint32_t id : set.locations) {
      const MemoryLocation& l = fn.locations[id];
      if (!l.allocated) {
        layout.of_location[id] = add(l.name, isa::VariableKind::Internal, l.bytes_per_partition, -1);
        continue;
      }
      if (scratch < 0) scratch = add("scratch", isa::VariableKind::Internal, scratch_bytes, -1);
      layout.of_location[id] = scratch;
    }
  }
  return layout;
}

int64_t bytes_per_partition(const MemoryLocationSet& set) {
  int64_t bytes = size_bytes(set.dtype);
  for (size_t i = set.memory == Memory::Dram ? 0 : 1; i < set.shape.size(); ++i) bytes *= set.shape[i];
  return bytes;
}

int32_t partitions(const MemoryLocationSet& set) {
  return set.memory == Memory::Dram || set.shape.empty() ? 1 : static_cast<int32_t>(set.shape[0]);
}

MemoryLocation make_location(const Function& fn, uint32_t set, std::string name) {
  MemoryLocation l;
  l.name = std::move(name);
  l.set = set;
  l.memory = fn.sets[set].memory;
  l.partitions = partitions(fn.sets[set]);
  l.bytes_per_partition = bytes_per_partition(fn.sets[set]);
  return l;
}

}  // namespace ncc::bir
