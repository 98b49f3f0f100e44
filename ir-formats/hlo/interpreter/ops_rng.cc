// Random bits: Threefry2x32 and Philox4x32 in XLA's output order; `rng` draws from Philox with a fixed key.
// Source: spec/stablehlo-text.md §3.9.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "ir-formats/hlo/interpreter/custom_call.h"
#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/strided_copy.h"

namespace ncc::hlo {
namespace {

using Pair = std::array<uint32_t, 2>;
using Quad = std::array<uint32_t, 4>;

Pair halves(uint64_t x) { return {static_cast<uint32_t>(x), static_cast<uint32_t>(x >> 32)}; }

// 20 rounds, a key injection after every fourth.
Pair threefry2x32(Pair key, Pair block) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA};
  uint32_t x = block[0] + keys[0], y = block[1] + keys[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (int round = 0; round < 4; ++round) {
      x += y;
      y = std::rotl(y, kRotations[group % 2][round]) ^ x;
    }
    x += keys[(group + 1) % 3];
    y += keys[(group + 2) % 3] + group + 1;
  }
  return {x, y};
}

Quad philox4x32(Pair key, Quad block) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * block[0], b = uint64_t{0xCD9E8D57} * block[2];
    block = {static_cast<uint32_t>(b >> 32) ^ block[1] ^ key[0], static_cast<uint32_t>(b),
             static_cast<uint32_t>(a >> 32) ^ block[3] ^ key[1], static_cast<uint32_t>(a)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return block;
}

// Writes the low bits of one word.
void store_bits(Literal& out, int64_t index, uint64_t bits) {
  const int64_t width = size_bytes(out.shape().dtype);
  std::memcpy(out.mutable_data() + index * width, &bits, static_cast<size_t>(width));
}

// One block per 64-bit element.
void threefry_wide(Pair key, uint64_t& counter, Literal& out) {
  for (int64_t i = 0; i < out.num_elements(); ++i, ++counter) {
    const Pair y = threefry2x32(key, halves(counter));
    store_bits(out, i, y[0] | static_cast<uint64_t>(y[1]) << 32);
  }
}

// Blocks run over the shape with one dimension halved; the two words of a block are neighbours along that
// dimension.
void threefry_narrow(Pair key, uint64_t& counter, Literal& out) {
  const std::vector<int64_t> dims = out.shape().dims.empty() ? std::vector<int64_t>{1} : out.shape().dims;
  size_t split = dims.size();
  for (size_t d = 0; d < dims.size() && split == dims.size(); ++d) {
    if (dims[d] % 2 == 0) split = d;
  }
  if (split == dims.size())
    split = static_cast<size_t>(std::max_element(dims.begin(), dims.end()) - dims.begin());
  std::vector<int64_t> half = dims;
  half[split] = (dims[split] + 1) / 2;
  const std::vector<int64_t> strides = row_major_strides(dims);
  std::vector<int64_t> index(dims.size(), 0);
  if (out.num_elements() == 0) return;
  do {
    const Pair y = threefry2x32(key, halves(counter++));
    int64_t at = 0;
    for (size_t d = 0; d < dims.size(); ++d) at += index[d] * (d == split ? 2 : 1) * strides[d];
    store_bits(out, at, y[0]);
    if (2 * index[split] + 1 < dims[split]) store_bits(out, at + strides[split], y[1]);
  } while (next_index(index, half));
}

// The four words of a block are consecutive 32-bit outputs, or two 64-bit ones; counter has 128 bits.
void philox(Pair key, uint64_t counter[2], Literal& out) {
  const bool wide = size_bytes(out.shape().dtype) == 8;
  const int64_t per_block = wide ? 2 : 4;
  for (int64_t i = 0; i < out.num_elements(); i += per_block) {
    const Pair low = halves(counter[0]), high = halves(counter[1]);
    const Quad y = philox4x32(key, {low[0], low[1], high[0], high[1]});
    for (int64_t k = 0; k < per_block && i + k < out.num_elements(); ++k) {
      const size_t word = static_cast<size_t>(wide ? 2 * k : k);
      store_bits(out, i + k, wide ? y[word] | static_cast<uint64_t>(y[word + 1]) << 32 : y[word]);
    }
    if (++counter[0] == 0) ++counter[1];
  }
}

double uniform_unit(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace

Result<Literal> eval_rng_bit_generator(Evaluator&, const Instruction& inst, Operands& operands) {
  if (!inst.shape.is_tuple() || inst.shape.elements.size() != 2)
    return unsupported(inst, "its result is not a pair of state and bits");
  const Shape& bits_shape = inst.shape.elements[1];
  Literal out = Literal::zeros(Shape::array(bits_shape.dtype, bits_shape.dims));
  // The state as 64-bit words, however it is typed.
  std::vector<uint64_t> state(operands[0].bytes().size() / 8);
  if (state.size() < 2)
    return unsupported(inst, fmt::format("state {} is too small", to_string(operands[0].shape())));
  std::memcpy(state.data(), operands[0].bytes().data(), state.size() * 8);
  const Pair key = halves(state[0]);
  if (inst.attrs().rng_algorithm != RngAlgorithm::ThreeFry) {
    // As XLA:CPU: DEFAULT is Philox, and a state of two words has the key for the counter's upper half.
    uint64_t counter[2] = {state[1], state.size() > 2 ? state[2] : state[0]};
    philox(key, counter, out);
    state[1] = counter[0];
    if (state.size() > 2) state[2] = counter[1];
  } else if (size_bytes(bits_shape.dtype) == 8) {
    threefry_wide(key, state[1], out);
  } else {
    threefry_narrow(key, state[1], out);
  }
  const auto bytes = std::as_bytes(std::span(state));
  return Literal::make_tuple({Literal::copy(operands[0].shape(), bytes), std::move(out)});
}

// Any generator is allowed: values of one instruction are the same in every run.
Result<Literal> eval_rng(Evaluator&, const Instruction& inst, Operands& operands) {
  const Dtype type = inst.shape.dtype;
  Literal out = Literal::zeros(Shape::array(type, inst.shape.dims));
  Literal words = Literal::zeros(Shape::array(Dtype::U64, {2 * out.num_elements()}));
  uint64_t counter[2] = {0, static_cast<uint64_t>(inst.id)};
  philox({0x243F6A88, 0x85A308D3}, counter, words);
  const double a = operands[0].as_double(0), b = operands[1].as_double(0);
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    const double u = uniform_unit(words.at<uint64_t>(2 * i)), v = uniform_unit(words.at<uint64_t>(2 * i + 1));
    std::byte* at = out.mutable_data() + i * size_bytes(type);
    if (inst.attrs().rng_distribution == RngDistribution::Normal) {
      const double radius = std::sqrt(-2 * std::log(1 - u));
      store_from_double(type, at, a + b * radius * std::cos(2 * std::numbers::pi * v));
    } else if (is_float(type)) {
      store_from_double(type, at, a + (b - a) * u);
      // Rounding must not reach the excluded upper bound.
      if (load_as_double(type, at) >= b && b > a) store_from_double(type, at, a);
    } else {
      store_from_int64(type, at, static_cast<int64_t>(std::floor(a + (b - a) * u)));
    }
  }
  return out;
}

// The state before the step; the counter of 128 bits then grows by delta.
Result<Literal> eval_rng_get_and_update_state(Evaluator& evaluator, const Instruction& inst, Operands&) {
  std::array<uint64_t, 2>& state = evaluator.rng_state();
  Literal out = Literal::zeros(inst.shape);
  if (inst.shape.size_bytes() != static_cast<int64_t>(sizeof(state)))
    return unsupported(inst, "a state of other than two 64-bit words");
  std::memcpy(out.mutable_data(), state.data(), sizeof(state));
  const uint64_t delta = static_cast<uint64_t>(inst.attrs().delta);
  state[0] += delta;
  if (state[0] < delta) ++state[1];
  return out;
}

namespace {

// Rounds |x| up with the probability of its fractional part, that is when `random`, as a fraction of its
// range, is below it; then saturates to the result's type.
int64_t stochastic_integer(double x, uint64_t random, int random_bits, int64_t least, int64_t most) {
  if (x != x) return 0;
  if (x <= static_cast<double>(least)) return least;
  if (x >= static_cast<double>(most)) return most;
  const double magnitude = std::floor(std::fabs(x)), fraction = std::fabs(x) - magnitude;
  int64_t value = static_cast<int64_t>(magnitude);
  const double threshold = std::ldexp(fraction, random_bits);
  if (static_cast<double>(random) < std::floor(threshold)) ++value;
  return std::signbit(x) ? -value : value;
}

}  // namespace

Result<Literal> eval_stochastic_convert(Evaluator&, const Instruction& inst, Operands& operands) {
  const Dtype type = inst.shape.dtype, random_type = operands[1].shape().dtype;
  if (!is_signed_int(type) || !is_unsigned_int(random_type))
    return unsupported(inst, "it converts to signed integers by unsigned random numbers only");
  const int bits = info(type).bits;
  const int64_t most = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1), least = -most - 1;
  const int random_bits = info(random_type).bits;
  Literal out = Literal::zeros(Shape::array(type, operands[0].shape().dims));
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    uint64_t random = static_cast<uint64_t>(operands[1].as_int64(i));
    if (random_bits < 64) random &= (uint64_t{1} << random_bits) - 1;
    store_from_int64(type, out.mutable_data() + i * size_bytes(type),
                     stochastic_integer(operands[0].as_double(i), random, random_bits, least, most));
  }
  return out;
}

// Operands: two key words and two counter words, element by element; results: the two output words.
Result<Literal> call_threefry2x32(Evaluator&, const Instruction& inst, Operands& operands) {
  bool fits = operands.size() >= 4;
  for (size_t i = 0; fits && i < 4; ++i)
    fits = !operands[i].is_tuple() && operands[i].shape().dtype == Dtype::U32 &&
           operands[i].shape().dims == operands[0].shape().dims;
  if (!fits || !inst.shape.is_tuple() || inst.shape.elements.size() != 2)
    return unsupported(inst, "four u32 arrays of one shape and two results expected");
  Literal x = Literal::zeros(operands[0].shape()), y = Literal::zeros(operands[0].shape());
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const Pair bits = threefry2x32({operands[0].at<uint32_t>(i), operands[1].at<uint32_t>(i)},
                                   {operands[2].at<uint32_t>(i), operands[3].at<uint32_t>(i)});
    store_bits(x, i, bits[0]);
    store_bits(y, i, bits[1]);
  }
  return Literal::make_tuple({std::move(x), std::move(y)});
}

}  // namespace ncc::hlo
