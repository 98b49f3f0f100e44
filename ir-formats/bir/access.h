// From BIR operands to resolved machine accesses, and from wide DMA patterns to descriptors of at most four
// dimensions.
#pragma once
#include <vector>

#include "common/diag/status.h"
#include "ir-formats/bir/module.h"

namespace ncc::bir {

/// Where an operand's location is: bytes from the partition's start (PSUM: bank * 2048 + byte; DRAM: from the
/// variable's start).
struct Origin {
  isa::Space space = isa::Space::Sbuf;
  int32_t variable = -1;
  int64_t partition = 0;  // first partition of the access
  int64_t offset = 0;     // first element of the access, in bytes
};

/// Tells where operands are. The interpreter's addresses are virtual, the code generator's are final.
class AccessMap {
 public:
  virtual ~AccessMap() = default;
  virtual Origin origin(const Operand& operand) const = 0;
};

/// The origin of an access whose location starts at `partition`, `offset` (bytes), with start values already
/// known.
Origin at_start(Origin location, const Operand& operand, int64_t partition, int64_t element_offset);

/// The access of a compute operand. `positional`: free dims of count 1 stay (reductions count dims). False
/// when more than four free dims remain.
bool make_access(const Operand& operand, const Origin& origin, bool positional, isa::Access& out);

/// The descriptors of a copy from `src` to `dst` in visit order: one when both sides have at most four
/// dimensions (the partition one included), else the outer dimensions are unrolled, as few as possible. False
/// when the two patterns have no common factoring.
bool make_descriptors(const Operand& src, const Origin& src_origin, const Operand& dst,
                      const Origin& dst_origin, bool transpose, uint32_t source,
                      std::vector<isa::DmaDescriptor>& out);

/// The DRAM variables of a function's program: every input, output and constant by its set's name; allocated
/// internal locations share one variable (`scratch`), others have one each.
struct DramLayout {
  std::vector<isa::Variable> variables;
  std::vector<int32_t> of_location;  // variable index by location, -1 on chip
  std::vector<int32_t> of_set;       // by set: inputs, outputs and constants; -1 for others
};
DramLayout dram_layout(const Function& fn);

/// Bytes of one partition (DRAM: of the whole) and partitions of a set, from its shape.
int64_t bytes_per_partition(const MemoryLocationSet& set);
int32_t partitions(const MemoryLocationSet& set);
/// A location for `set` as its shape demands, unallocated.
MemoryLocation make_location(const Function& fn, uint32_t set, std::string name);

}  // namespace ncc::bir
