// rng-bit-generator -> 32-bit integer ops on arrays of blocks, bit for bit what the op yields:
//   Threefry2x32: 20 rounds, a key injection after every fourth
//   Philox4x32 (also for DEFAULT): 10 rounds; the upper halves of its products from 16-bit limbs
// Everything is computed in u32, 64- and 128-bit counters as words with carries, so that a target needs no
// wider integers. Source: spec/stablehlo-text.md §3.9, spec/hlo-front-half.md §8.
#include <algorithm>
#include <array>

#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

using Words = std::vector<Value>;  // u32, least significant first

Value rotated_left(Value x, int places) {
  return (x << static_cast<double>(places)) | shift_right(x, static_cast<double>(32 - places));
}

struct Product {
  Value low, high;
};

// x times a constant, in full.
Product wide_product(Value x, uint32_t factor) {
  const double low = factor & 0xFFFF, high = factor >> 16;
  const Value x_low = x & 65535.0, x_high = shift_right(x, 16.0);
  const Value ll = x_low * low, lh = x_low * high, hl = x_high * low;
  const Value middle = shift_right(ll, 16.0) + (lh & 65535.0) + (hl & 65535.0);
  return {x * static_cast<double>(factor),
          x_high * high + shift_right(lh, 16.0) + shift_right(hl, 16.0) + shift_right(middle, 16.0)};
}

// One rng-bit-generator being expanded.
class Expansion {
 public:
  Expansion(ComputationEditor& edit, Instruction* inst)
      : edit_(edit), inst_(inst), out_(inst->shape.elements[1]), state_(inst->operand(0)) {
    Instruction* flat = state_;
    const int64_t count = state_->shape.size_bytes() / 4;
    if (state_->shape.dtype == Dtype::U64)
      flat = edit.add(Opcode::BitcastConvert, Shape::array(Dtype::U32, {count / 2, 2}), {flat});
    flat = edit.reshape(flat, {count});
    for (int64_t i = 0; i < count; ++i)
      words_.emplace_back(edit, edit.reshape(edit.slice(flat, {i}, {i + 1}), {}));
  }

  void run() {
    const bool wide = size_bytes(out_.dtype) == 8;
    Instruction* bits;
    if (out_.num_elements() == 0) {
      bits = edit_.splat(out_, 0);
    } else if (inst_->attrs().rng_algorithm != hlo::RngAlgorithm::ThreeFry) {
      bits = philox(wide);
    } else {
      bits = wide ? threefry_wide() : threefry_narrow();
    }
    edit_.replace(inst_, edit_.tuple({new_state(), bits}));
  }

 private:
  Value spread(Value word, int64_t count) { return {edit_, edit_.broadcast_scalar(word.inst(), {count})}; }
  Value block_numbers(int64_t count) { return {edit_, edit_.iota(Dtype::U32, {count}, 0)}; }

  // counter + offset, the carry running through all words.
  static Words sum(const Words& counter, Value offset) {
    Words result;
    Value carry = offset;
    for (const Value& word : counter) {
      result.push_back(word + carry);
      carry = less(result.back(), carry).to(Dtype::U32);
    }
    return result;
  }

  // The counter of each of `count` blocks; afterwards the state's counter is past them.
  Words take_blocks(int64_t count, const Words& counter) {
    Words spread_counter;
    for (const Value& word : counter) spread_counter.push_back(spread(word, count));
    const Words after = sum(counter, counter[0].like(static_cast<double>(count)));
    for (size_t i = 0; i < after.size() && 2 + i < words_.size(); ++i) words_[2 + i] = after[i];
    return sum(spread_counter, block_numbers(count));
  }

  std::array<Value, 2> threefry(int64_t count) {
    constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    const Value k0 = words_[0], k1 = words_[1];
    const Value keys[3] = {spread(k0, count), spread(k1, count), spread(k0 ^ k1 ^ double{0x1BD11BDA}, count)};
    const Words block = take_blocks(count, {words_[2], words_[3]});
    Value x = block[0] + keys[0], y = block[1] + keys[1];
    for (int group = 0; group < 5; ++group) {
      for (int round = 0; round < 4; ++round) {
        x = x + y;
        y = rotated_left(y, kRotations[group % 2][round]) ^ x;
      }
      x = x + keys[(group + 1) % 3];
      y = y + keys[(group + 2) % 3] + static_cast<double>(group + 1);
    }
    return {x, y};
  }

  // Words next to each other along a new last dimension: [count, words].
  Instruction* interleaved(const Words& words) {
    std::vector<Instruction*> columns;
    for (const Value& word : words)
      columns.push_back(edit_.reshape(word.inst(), {word.shape().num_elements(), 1}));
    return edit_.concatenate(std::move(columns), 1);
  }

  Instruction* as_64_bits(Instruction* pairs) {
    return edit_.add(Opcode::BitcastConvert, Shape::array(out_.dtype, {pairs->shape.dims[0]}), {pairs});
  }

  // One block per element.
  Instruction* threefry_wide() {
    const auto [x, y] = threefry(out_.num_elements());
    return edit_.reshape(as_64_bits(interleaved({x, y})), out_.dims);
  }

  // Blocks over the shape with one dimension halved; the two words of a block are neighbours along it.
  Instruction* threefry_narrow() {
    const Dims dims = out_.dims.empty() ? Dims{1} : out_.dims;
    auto split = std::find_if(dims.begin(), dims.end(), [](int64_t size) { return size % 2 == 0; });
    if (split == dims.end()) split = std::max_element(dims.begin(), dims.end());
    const auto at = static_cast<size_t>(split - dims.begin());
    Dims half = dims;
    half[at] = (dims[at] + 1) / 2;
    Dims separate = half, joined = half;
    separate.insert(separate.begin() + static_cast<int64_t>(at) + 1, 1);
    joined[at] *= 2;
    const auto [x, y] = threefry(Shape::array(Dtype::U32, half).num_elements());
    Instruction* both = edit_.concatenate(
        {edit_.reshape(x.inst(), separate), edit_.reshape(y.inst(), separate)}, static_cast<int64_t>(at) + 1);
    both = edit_.slice(edit_.reshape(both, joined), Dims(dims.size(), 0), dims);
    return edit_.convert(edit_.reshape(both, out_.dims), out_.dtype);
  }

  Instruction* philox(bool wide) {
    const int64_t per_block = wide ? 2 : 4, total = out_.num_elements();
    const int64_t count = (total + per_block - 1) / per_block;
    Words counter{words_[2], words_[3]};
    // A state of two words has the key for the counter's upper half.
    for (size_t i = 4; i < 6; ++i) counter.push_back(i < words_.size() ? words_[i] : words_[i - 4]);
    Value k0 = words_[0], k1 = words_[1];
    Words block = take_blocks(count, counter);
    for (int round = 0; round < 10; ++round) {
      const Product a = wide_product(block[0], 0xD2511F53), b = wide_product(block[2], 0xCD9E8D57);
      block = {b.high ^ block[1] ^ spread(k0, count), b.low, a.high ^ block[3] ^ spread(k1, count), a.low};
      k0 = k0 + double{0x9E3779B9};
      k1 = k1 + double{0xBB67AE85};
    }
    Instruction* bits = interleaved(block);
    bits = wide ? as_64_bits(edit_.reshape(bits, {count * 2, 2})) : edit_.reshape(bits, {count * 4});
    bits = edit_.slice(bits, {0}, {total});
    return edit_.reshape(edit_.convert(bits, out_.dtype), out_.dims);
  }

  Instruction* new_state() {
    std::vector<Instruction*> words;
    for (const Value& word : words_) words.push_back(edit_.reshape(word.inst(), {1}));
    const auto count = static_cast<int64_t>(words.size());
    Instruction* flat = edit_.concatenate(std::move(words), 0);
    if (state_->shape.dtype != Dtype::U64) return edit_.reshape(flat, state_->shape.dims);
    flat = edit_.reshape(flat, {count / 2, 2});
    return edit_.add(Opcode::BitcastConvert, Shape::array(Dtype::U64, {count / 2}), {flat});
  }

  ComputationEditor& edit_;
  Instruction* inst_;
  const Shape out_;
  Instruction* state_;
  Words words_;  // of the state: key, then counter
};

bool is_expandable(const Instruction& inst) {
  if (!inst.is(Opcode::RngBitGenerator) || !inst.shape.is_tuple() || inst.shape.elements.size() != 2)
    return false;
  const Shape& state = inst.operand_shape(0);
  const bool has_words = state.dtype == Dtype::U64 || state.dtype == Dtype::U32;
  return has_words && state.rank() == 1 && state.size_bytes() >= 16 && state.size_bytes() % 8 == 0 &&
         is_integer(inst.shape.elements[1].dtype) && info(inst.shape.elements[1].dtype).bits >= 8 &&
         !inst.shape.is_dynamic();
}

}  // namespace

Status rng_bit_generator_expander(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    if (is_expandable(*inst) && !edit.is_pinned(inst)) Expansion(edit, inst).run();
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
