// The data state of one simulated core: memories with their maps of written bytes, registers, PE weights,
// accumulators; and the resolution of an Access to addresses. Source: spec/arch.md §3, spec/isa.md §10;
// DESIGN §8.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/arch/arch.h"
#include "common/diag/status.h"
#include "ir-formats/isa/machine/functional_core.h"
#include "ir-formats/isa/machine/machine.h"
#include "ir-formats/isa/machine_inst.h"

namespace ncc::machine {

/// Zeroed anonymous memory, committed on first touch.
class Mapping {
 public:
  Mapping() = default;
  explicit Mapping(int64_t size);
  ~Mapping();
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept;
  std::byte* data() const { return data_; }
  int64_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
};

/// One loop of a resolved pattern, in bytes.
struct ByteDim {
  int64_t step, count;
};

/// A resolved access: addresses checked, dims fused where contiguous.
struct View {
  std::byte* base = nullptr;  // first element of the first partition
  int64_t partition_step = 0;
  int partitions = 1;
  int rank = 1;
  std::array<ByteDim, isa::kMaxFreeDims> dims{};
  int64_t elements = 1;  // per partition
  Dtype dtype = Dtype::F32;
  int element_size = 4;
  // For the maps of written bytes.
  isa::Space space = isa::Space::None;
  int first_partition = 0;
  int variable = -1;
  int64_t row_offset = 0;              // of the first element
  int64_t low_byte = 0, end_byte = 0;  // extent within the row or variable

  std::byte* row(int partition) const { return base + partition * partition_step; }
  bool contiguous() const { return elements == 1 || (rank == 1 && dims[0].step == element_size); }
};

/// One bit per byte of a memory of `rows` rows: whether it was ever written.
class WrittenMap {
 public:
  WrittenMap() = default;
  WrittenMap(int64_t rows, int64_t bytes_per_row);
  void mark(const View& view, bool written);
  /// Row and byte of some unwritten byte of the view; row -1 when all are written.
  struct Missing {
    int64_t row = -1, byte = 0;
  };
  Missing find_unwritten(const View& view) const;
  int64_t first_unwritten(int64_t row, int64_t size) const;

 private:
  void fill_mask(const View& view) const;
  void set_range(int64_t row, int64_t begin, int64_t end, bool written);
  bool all_set(int64_t row, int64_t begin, int64_t end, int64_t& missing) const;
  uint64_t* row_words(int64_t row) const {
    return reinterpret_cast<uint64_t*>(bits_.data()) + row * words_per_row_;
  }

  Mapping bits_;
  int64_t rows_ = 0, words_per_row_ = 0;
  mutable std::vector<uint64_t> mask_;  // of one row, from word first_word_
  mutable int64_t first_word_ = 0;
};

inline constexpr int kPartitions = 128;
inline constexpr int kPeRows = 128, kPeColumns = 128;

class State {
 public:
  State(const ArchModel& arch, const std::vector<isa::Variable>& variables, const HostMemory& memory,
        const CoreOptions& options);

  enum class Use : uint8_t { Read, Write, ReadWrite };
  /// Addresses of an access. ESIM001 when it leaves its memory or writes what is read only. In checking mode
  /// a Read of unwritten bytes is ESIM003. `what` names the operand in messages.
  Status resolve(const isa::Access& access, Use use, const char* what, View& view);
  /// The same for a compute engine's operand: legal partition start, element of at most 4 bytes.
  Status resolve_operand(const isa::Access& access, Use use, const char* what, View& view);
  /// Declares the view's bytes written.
  void mark_written(const View& view) {
    if (check) written_map(view)->mark(view, true);
  }
  void mark_unwritten(const View& view) {
    if (check) written_map(view)->mark(view, false);
  }

  /// Runs body(first, end) over partitions, on several threads when `elements` in all are worth it.
  template <class Body>
  void for_partitions(int partitions, int64_t elements, const Body& body) {
    if (threads > 1 && elements >= kParallelElements)
      split_partitions(partitions, body);
    else
      body(0, partitions);
  }

  const ArchModel& arch;
  bool check;
  int threads;
  std::vector<isa::Variable> variables;
  int64_t sbuf_bytes, psum_bytes;  // per partition

  struct Register {
    int32_t value = 0;
    bool known = true;
  };
  std::array<std::array<Register, 64>, 8> registers{};

  // PE: the stationary matrix as fp32 [k][m], and as raw elements for transposes.
  std::vector<float> weights;
  int weight_rows = 0, weight_columns = 0;
  Dtype weight_dtype = Dtype::F32;

  std::array<float, kPartitions> activation_accumulator{}, dve_accumulator{};
  std::array<uint8_t, 32> lane_mask{};
  bool lane_mask_loaded = false;

  struct DramVariable {
    std::byte* data = nullptr;
    int64_t size = 0;
    bool writable = false;
    bool tracked = false;  // reads need an earlier write
    Mapping owned;
    WrittenMap written;
  };
  std::vector<DramVariable> dram;

 private:
  static constexpr int64_t kParallelElements = 1 << 15;
  void split_partitions(int partitions, const std::function<void(int, int)>& body);
  WrittenMap* written_map(const View& view);
  Status check_written(const View& view, const char* what);
  Status resolve_dram(const isa::Access& access, Use use, const char* what, View& view);

  Mapping sbuf_, psum_;
  int64_t sbuf_stride_, psum_stride_;
  WrittenMap sbuf_written_, psum_written_;
};

/// ESIM001 with a formatted text.
template <class... Args>
Status illegal(fmt::format_string<Args...> pattern, Args&&... args) {
  return error(Code::ESIM001, fmt::format(pattern, std::forward<Args>(args)...));
}

}  // namespace ncc::machine
