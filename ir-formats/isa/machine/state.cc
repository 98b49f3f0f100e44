#include "ir-formats/isa/machine/state.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "common/parallel/parallel.h"

namespace ncc::machine {

using isa::Access;
using isa::Space;

Mapping::Mapping(int64_t size) : size_(size) {
  if (size == 0) return;
  void* address = ::mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(address);
}
Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, static_cast<size_t>(size_));
}
Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

namespace {

// Odd multiples of a cache line keep the 128 rows from falling into the same cache sets.
int64_t row_stride(int64_t bytes) { return ((bytes + 63) / 64 | 1) * 64; }

const char* space_name(Space space) {
  switch (space) {
    case Space::Sbuf:
      return "SBUF";
    case Space::Psum:
      return "PSUM";
    case Space::Dram:
      return "DRAM";
    default:
      return "no memory";
  }
}

// Fused byte dims, and the lowest and highest byte offset relative to the first element.
void set_dims(const Access& access, View& view) {
  view.dtype = access.dtype;
  view.element_size = static_cast<int>(size_bytes(access.dtype));
  view.rank = 0;
  view.elements = 1;
  int64_t low = 0, high = view.element_size;
  for (int i = 0; i < access.rank; ++i) {
    const int64_t count = access.dims[i].count, step = access.dims[i].step * view.element_size;
    view.elements *= count;
    if (count == 1) continue;
    (step < 0 ? low : high) += step * (count - 1);
    if (view.rank > 0 && view.dims[view.rank - 1].step == step * count)
      view.dims[view.rank - 1] = {step, view.dims[view.rank - 1].count * count};
    else
      view.dims[view.rank++] = {step, count};
  }
  if (view.rank == 0) view.dims[view.rank++] = {view.element_size, 1};
  view.row_offset = access.offset;
  view.low_byte = access.offset + low;
  view.end_byte = access.offset + high;
}

}  // namespace

State::State(const ArchModel& arch_model, const std::vector<isa::Variable>& program_variables,
             const HostMemory& memory, const CoreOptions& options)
    : arch(arch_model), check(options.check), threads(options.threads), variables(program_variables) {
  const bool physical = options.sbuf_bytes_per_partition == 0;
  sbuf_bytes = physical ? arch.sbuf_bytes_per_partition : options.sbuf_bytes_per_partition;
  psum_bytes = options.psum_bytes_per_partition != 0 ? options.psum_bytes_per_partition
                                                     : arch.psum_banks * arch.psum_bank_bytes;
  sbuf_stride_ = row_stride(sbuf_bytes);
  psum_stride_ = row_stride(psum_bytes);
  sbuf_ = Mapping(sbuf_stride_ * kPartitions);
  psum_ = Mapping(psum_stride_ * kPartitions);
  if (check) {
    sbuf_written_ = WrittenMap(kPartitions, sbuf_bytes);
    psum_written_ = WrittenMap(kPartitions, psum_bytes);
  } else if (physical && options.poison) {  // recognisable garbage: NaN in every float type
    std::memset(sbuf_.data(), 0xFF, static_cast<size_t>(sbuf_.size()));
    std::memset(psum_.data(), 0xFF, static_cast<size_t>(psum_.size()));
  }
  weights.resize(static_cast<size_t>(kPeRows) * kPeColumns);
  dram.resize(variables.size());
  for (size_t i = 0; i < variables.size(); ++i) {
    DramVariable& variable = dram[i];
    variable.size = variables[i].size_bytes;
    const HostMemory::Binding bound = i < memory.size() ? memory[i] : HostMemory::Binding{};
    if (bound.data != nullptr || bound.size > 0) {
      variable.data = bound.data;
      variable.size = std::min(variable.size, bound.size);
      variable.writable = bound.writable;
    } else if (variables[i].kind == isa::VariableKind::Internal ||
               variables[i].kind == isa::VariableKind::Output) {
      variable.owned = Mapping(variable.size);
      variable.data = variable.owned.data();
      variable.writable = true;
    }
    variable.tracked = check && variables[i].kind != isa::VariableKind::Input &&
                       variables[i].kind != isa::VariableKind::Const;
    if (variable.tracked) variable.written = WrittenMap(1, variable.size);
  }
}

WrittenMap* State::written_map(const View& view) {
  if (view.space == Space::Sbuf) return &sbuf_written_;
  if (view.space == Space::Psum) return &psum_written_;
  return &dram[static_cast<size_t>(view.variable)].written;
}

Status State::check_written(const View& view, const char* what) {
  if (view.space == Space::Dram && !dram[static_cast<size_t>(view.variable)].tracked) return Status::ok();
  const WrittenMap::Missing missing = written_map(view)->find_unwritten(view);
  if (missing.row < 0) return Status::ok();
  if (view.space == Space::Dram)
    return error(Code::ESIM003, fmt::format("{}: byte {} of '{}'", what, missing.byte,
                                            variables[static_cast<size_t>(view.variable)].name));
  return error(
      Code::ESIM003,
      fmt::format("{}: {} partition {} byte {} (access of bytes {}..{} of partitions {}..{})", what,
                  space_name(view.space), missing.row, missing.byte, view.low_byte, view.end_byte - 1,
                  view.first_partition, view.first_partition + view.partitions - 1));
}

Status State::resolve_dram(const Access& access, Use use, const char* what, View& view) {
  if (access.variable < 0 || static_cast<size_t>(access.variable) >= dram.size())
    return illegal("{} names DRAM variable {}, the program has {}", what, access.variable, dram.size());
  DramVariable& variable = dram[static_cast<size_t>(access.variable)];
  const std::string& name = variables[static_cast<size_t>(access.variable)].name;
  if (variable.data == nullptr && variable.size > 0)
    return illegal("{}: no data is bound to '{}'", what, name);
  if (use != Use::Read && !variable.writable)
    return illegal("{} writes '{}', which is read only", what, name);
  if (access.num_partitions != 1) return illegal("{} has {} partitions in DRAM", what, access.num_partitions);
  if (view.low_byte < 0 || view.end_byte > variable.size)
    return illegal("{} reaches bytes {}..{} of '{}', which has {}", what, view.low_byte, view.end_byte - 1,
                   name, variable.size);
  view.base = variable.data + access.offset;
  view.partition_step = 0;
  view.partitions = 1;
  view.first_partition = 0;
  view.variable = access.variable;
  return Status::ok();
}

Status State::resolve(const Access& access, Use use, const char* what, View& view) {
  view.space = access.space;
  if (access.rank < 1 || access.rank > isa::kMaxFreeDims)
    return illegal("{} has {} dimensions", what, access.rank);
  for (int i = 0; i < access.rank; ++i)
    if (access.dims[i].count < 1)
      return illegal("{} has a dimension of count {}", what, access.dims[i].count);
  set_dims(access, view);
  if (access.space == Space::Dram) {
    NCC_TRY(resolve_dram(access, use, what, view));
  } else if (access.space == Space::Sbuf || access.space == Space::Psum) {
    const bool sbuf = access.space == Space::Sbuf;
    const int64_t size = sbuf ? sbuf_bytes : psum_bytes;
    if (access.num_partitions < 1 || access.start_partition + access.num_partitions > kPartitions)
      return illegal("{} covers partitions {}..{} of {}", what, access.start_partition,
                     access.start_partition + access.num_partitions - 1, kPartitions);
    if (view.low_byte < 0 || view.end_byte > size)
      return illegal("{} reaches bytes {}..{} of a {} partition of {}", what, view.low_byte,
                     view.end_byte - 1, space_name(access.space), size);
    if (access.offset % view.element_size != 0)
      return illegal("{} starts at byte {}, not a multiple of its element size {}", what, access.offset,
                     view.element_size);
    view.partition_step = sbuf ? sbuf_stride_ : psum_stride_;
    view.partitions = access.num_partitions;
    view.first_partition = access.start_partition;
    view.base =
        (sbuf ? sbuf_.data() : psum_.data()) + access.start_partition * view.partition_step + access.offset;
  } else {
    return illegal("{} is missing", what);
  }
  if (check && use != Use::Write) return check_written(view, what);
  return Status::ok();
}

Status State::resolve_operand(const Access& access, Use use, const char* what, View& view) {
  const int n = access.num_partitions, start = access.start_partition;
  const int alignment = n > 64 ? kPartitions : n > 32 ? 64 : 32;  // spec/arch.md §3.2
  if (access.space != Space::Dram && start % alignment != 0)
    return illegal("{}: {} partitions may not start at partition {}", what, n, start);
  return resolve(access, use, what, view);
}

void State::split_partitions(int partitions, const std::function<void(int, int)>& body) {
  constexpr int64_t kGrain = 16;
  parallel_for(partitions, kGrain,
               [&](int64_t begin, int64_t end) { body(static_cast<int>(begin), static_cast<int>(end)); });
}

}  // namespace ncc::machine
