// reduce-window and select-and-scatter. Source: spec/stablehlo-text.md §3.7.
#include <algorithm>

#include "common/parallel/parallel.h"
#include "ir-formats/hlo/interpreter/combiner.h"
#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/reduction.h"
#include "ir-formats/hlo/interpreter/strided_copy.h"

namespace ncc::hlo {
namespace {

std::vector<int64_t> window_sizes(const Window& window) {
  std::vector<int64_t> sizes;
  for (const WindowDim& dim : window) sizes.push_back(dim.size);
  return sizes;
}

// Position in the operand of tap `tap` of the window at output index `out`; -1 when it falls on padding.
int64_t tap_position(const WindowDim& dim, int64_t out, int64_t tap, int64_t size) {
  const int64_t position = out * dim.stride - dim.padding_low + tap * dim.window_dilation;
  if (position < 0 || position % dim.base_dilation != 0) return -1;
  return position / dim.base_dilation < size ? position / dim.base_dilation : -1;
}

// For one range of output elements: where each window tap reads.
class TapReader {
 public:
  TapReader(const Window& window, const std::vector<int64_t>& in_dims, const std::vector<int64_t>& out_dims,
            int64_t begin, int64_t end)
      : window_(window), in_dims_(in_dims), strides_(row_major_strides(in_dims)), lanes_(end - begin) {
    const std::vector<int64_t> out_strides = row_major_strides(out_dims);
    coordinates_.resize(in_dims.size());
    for (size_t d = 0; d < in_dims.size(); ++d) {
      for (int64_t i = begin; i < end; ++i) coordinates_[d].push_back(i / out_strides[d] % out_dims[d]);
    }
  }

  // offsets[lane] = element of the operand, or -1 on padding.
  void offsets(const std::vector<int64_t>& tap, std::vector<int64_t>& offsets) const {
    offsets.assign(static_cast<size_t>(lanes_), 0);
    for (size_t d = 0; d < in_dims_.size(); ++d) {
      const WindowDim& dim = window_[d];
      const int64_t* out = coordinates_[d].data();
      if (dim.size == 1 && dim.stride == 1 && dim.padding_low == 0 && dim.base_dilation == 1 &&
          dim.padding_high == 0) {
        for (size_t i = 0; i < offsets.size(); ++i) offsets[i] += offsets[i] < 0 ? 0 : out[i] * strides_[d];
        continue;
      }
      for (size_t i = 0; i < offsets.size(); ++i) {
        if (offsets[i] < 0) continue;
        const int64_t position = tap_position(dim, out[i], tap[d], in_dims_[d]);
        offsets[i] = position < 0 ? -1 : offsets[i] + position * strides_[d];
      }
    }
  }

 private:
  const Window& window_;
  const std::vector<int64_t>& in_dims_;
  std::vector<int64_t> strides_;
  int64_t lanes_;
  std::vector<std::vector<int64_t>> coordinates_;
};

template <class T>
void read_elements(const std::byte* from, const std::byte* padding, const std::vector<int64_t>& offsets,
                   std::byte* to) {
  T pad;
  std::memcpy(&pad, padding, sizeof pad);
  const T* in = reinterpret_cast<const T*>(from);
  T* out = reinterpret_cast<T*>(to);
  for (size_t i = 0; i < offsets.size(); ++i) out[i] = offsets[i] < 0 ? pad : in[offsets[i]];
}

struct Bytes16 {
  uint64_t low, high;
};

void read_elements(int64_t width, const std::byte* from, const std::byte* padding,
                   const std::vector<int64_t>& offsets, std::byte* to) {
  switch (width) {
    case 1:
      return read_elements<uint8_t>(from, padding, offsets, to);
    case 2:
      return read_elements<uint16_t>(from, padding, offsets, to);
    case 4:
      return read_elements<uint32_t>(from, padding, offsets, to);
    case 8:
      return read_elements<uint64_t>(from, padding, offsets, to);
    default:
      return read_elements<Bytes16>(from, padding, offsets, to);
  }
}

// Folds the windows of output elements [begin, end).
Status fold_windows(Evaluator& evaluator, const Instruction& inst, const std::vector<Literal>& inputs,
                    const std::vector<Literal>& inits, std::vector<Literal>& results, int64_t begin,
                    int64_t end) {
  const Window& window = inst.attrs().window;
  const TapReader reader(window, inputs[0].shape().dims, results[0].shape().dims, begin, end);
  Combiner combiner(evaluator, *inst.body());
  std::vector<std::vector<std::byte>> elements(inputs.size());
  std::vector<const void*> in(2 * inputs.size());
  std::vector<void*> out(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t width = size_bytes(inputs[i].shape().dtype);
    elements[i].resize(static_cast<size_t>((end - begin) * width));
    out[i] = results[i].mutable_data() + begin * width;
    fill_elements(static_cast<std::byte*>(out[i]), inits[i].bytes().data(), width, end - begin);
    in[i] = out[i];
    in[inputs.size() + i] = elements[i].data();
  }
  const std::vector<int64_t> sizes = window_sizes(window);
  std::vector<int64_t> tap(sizes.size(), 0), offsets;
  do {
    reader.offsets(tap, offsets);
    for (size_t i = 0; i < inputs.size(); ++i)
      read_elements(size_bytes(inputs[i].shape().dtype), inputs[i].bytes().data(), inits[i].bytes().data(),
                    offsets, elements[i].data());
    NCC_TRY(combiner.apply(in, out, end - begin));
  } while (next_index(tap, sizes));
  return Status::ok();
}

}  // namespace

Result<Literal> eval_reduce_window(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  const size_t count = operands.size() / 2;
  std::vector<Literal> inputs(operands.begin(), operands.begin() + static_cast<int64_t>(count));
  std::vector<Literal> inits(operands.begin() + static_cast<int64_t>(count), operands.end());
  promote_to_body(*inst.body(), inputs, inits);
  const std::vector<int64_t>& out_dims =
      inst.shape.is_tuple() ? inst.shape.elements[0].dims : inst.shape.dims;
  std::vector<Literal> results;
  for (const Literal& input : inputs)
    results.push_back(Literal::zeros(Shape::array(input.shape().dtype, out_dims)));
  const int64_t total = results[0].num_elements();
  const bool parallel =
      evaluator.lane_program(*inst.body()) != nullptr;  // also caches it before threads read it
  Status failure;
  const auto range = [&](int64_t begin, int64_t end) {
    if (const Status status = fold_windows(evaluator, inst, inputs, inits, results, begin, end);
        !status.is_ok())
      failure = status;
  };
  if (parallel) {
    parallel_for(total, LaneProgram::kChunk, range);
  } else if (total > 0) {
    range(0, total);
  }
  NCC_TRY(failure);
  return inst.shape.is_tuple() ? Literal::make_tuple(std::move(results)) : results[0];
}

// Per source element the window is scanned in row-major order, padding skipped; the held element stays while
// select(held, candidate) is true. The source is then combined into the place of the chosen element.
Result<Literal> eval_select_and_scatter(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  const Literal &operand = operands[0], &source = operands[1];
  const Window& window = inst.attrs().window;
  const std::vector<int64_t>& dims = operand.shape().dims;
  const std::vector<int64_t> sizes = window_sizes(window);
  const int64_t width = size_bytes(operand.shape().dtype);
  const std::byte* values = operand.bytes().data();
  Literal out = Literal::zeros(operand.shape());
  fill_elements(out.mutable_data(), operands[2].bytes().data(), width, out.num_elements());
  Combiner select(evaluator, *inst.called[0]), scatter(evaluator, *inst.called[1]);
  const int64_t total = source.num_elements();
  for (int64_t begin = 0; begin < total; begin += LaneProgram::kChunk) {
    const int64_t end = std::min(total, begin + LaneProgram::kChunk);
    const TapReader reader(window, dims, source.shape().dims, begin, end);
    std::vector<int64_t> held(static_cast<size_t>(end - begin), -1), candidates, tap(sizes.size(), 0);
    do {
      reader.offsets(tap, candidates);
      for (size_t i = 0; i < held.size(); ++i) {
        if (candidates[i] < 0) continue;
        uint8_t keep = 0;
        const void* in[2] = {values + held[i] * width, values + candidates[i] * width};
        void* kept = &keep;
        if (held[i] >= 0) NCC_TRY(select.apply(in, {&kept, 1}, 1));
        if (!keep) held[i] = candidates[i];
      }
    } while (next_index(tap, sizes));
    for (size_t i = 0; i < held.size(); ++i) {
      if (held[i] < 0) continue;
      void* target = out.mutable_data() + held[i] * width;
      const void* in[2] = {target, source.bytes().data() + (begin + static_cast<int64_t>(i)) * width};
      NCC_TRY(scatter.apply(in, {&target, 1}, 1));
    }
  }
  return out;
}

}  // namespace ncc::hlo
