// The PE multiplies floats and adds in fp32. Integers whose products and sums stay within 2^24 go through it
// as they are (in bf16 up to 256, in fp32 above). Others are cut into limbs of 8 bits: a product of two limbs
// needs 16 bits, so 256 of them add up exactly, and longer contractions are cut into chunks of at most 256
// terms. The limb sums are then shifted and added modulo 2^32; limb pairs whose weight lies beyond the result
// type are left out. Source: DESIGN C5, spec/arch.md §4.3.
#include "tools/hlo-opt/passes/expand_math/contract.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "common/diag/status.h"
#include "tools/hlo-opt/passes/expand_math/range.h"

namespace ncc::hlo_opt::math_expansion {
namespace {

using penguin::AxisRole;
using penguin::Inst;
using penguin::Operand;
using penguin::ScalarFunction;

constexpr int kLimbBits = 8;
constexpr int64_t kMaxTerms = 256;  // of products below 2^16
constexpr double kExact = 0x1p24;
constexpr double kExactInBf16 = 256;

double magnitude(Range range) { return std::max(std::fabs(range.low), std::fabs(range.high)); }

class IntegerContract {
 public:
  IntegerContract(const Inst& inst, Range lhs, Range rhs, Statements& statements)
      : inst_(inst),
        ranges_{lhs, rhs},
        statements_(statements),
        free_(without_role(inst.axes, AxisRole::Contract)) {}

  void run() {
    int64_t terms = 1;
    for (const penguin::IterationAxis& entry : with_role(inst_.axes, AxisRole::Contract))
      terms *= statements_.extent(entry.axis);
    if (magnitude(ranges_[0]) * magnitude(ranges_[1]) * static_cast<double>(terms) <= kExact) {
      const bool is_small = std::max(magnitude(ranges_[0]), magnitude(ranges_[1])) <= kExactInBf16;
      const Dtype type = is_small ? Dtype::BF16 : Dtype::F32;
      const Operand sum = statements_.temporary("sum", Dtype::F32, free_);
      statements_.contract(as_float(0, type), as_float(1, type), sum, inst_.axes);
      statements_.finish(to_integer(sum, free_), free_);
    } else {
      chunk_axes();
      statements_.finish(sum_of_limbs(), free_);
    }
  }

 private:
  Operand as_float(size_t side, Dtype type) {
    const Operand& operand = inst_.operands[side];
    return statements_.map(side == 0 ? "lhs" : "rhs", ScalarFunction::Convert, {operand}, type,
                           used_axes(inst_.axes, operand));
  }

  // The sums are integers that fp32 holds, so the machine's own cast is exact.
  Operand to_integer(const Operand& sum, const Axes& axes) {
    return statements_.map("integer", ScalarFunction::Copy, {sum}, Dtype::S32, axes);
  }

  // The limbs of an operand, least significant first; the highest one carries the sign.
  std::vector<Operand> limbs(size_t side) {
    const Operand& operand = inst_.operands[side];
    const Axes axes = used_axes(inst_.axes, operand);
    const Dtype type = operand.dtype;
    const int count = info(type).bits / kLimbBits;
    std::vector<Operand> result;
    for (int limb = 0; limb < count; ++limb) {
      Operand part = operand;
      auto apply = [&](ScalarFunction function, int64_t constant) {
        part = statements_.map("limb", function, {part, Statements::scalar(type, constant)}, type, axes);
      };
      const bool is_highest = limb + 1 == count;
      if (limb > 0)
        apply(is_highest && is_signed_int(type) ? ScalarFunction::ShiftRightArithmetic
                                                : ScalarFunction::ShiftRightLogical,
              limb * kLimbBits);
      if (!is_highest) apply(ScalarFunction::And, (1 << kLimbBits) - 1);
      result.push_back(statements_.map("limb", ScalarFunction::Convert, {part}, Dtype::BF16, axes));
    }
    return result;
  }

  // One part of the contraction: its axes, and the axes it leaves to be added afterwards.
  struct Part {
    Axes axes, outer;
    penguin::AxisId split = penguin::kNone;  // the axis that `outer_chunk` * size + `inner` + offset replaces
    penguin::AxisId chunk = penguin::kNone, inner = penguin::kNone;
    int64_t size = 0, offset = 0;
  };

  AxisRole outer_role(penguin::AxisId axis) const {
    const bool in_lhs = !used_axes({{axis, AxisRole::Batch}}, inst_.operands[0]).empty();
    const bool in_rhs = !used_axes({{axis, AxisRole::Batch}}, inst_.operands[1]).empty();
    return in_lhs && in_rhs ? AxisRole::Batch : (in_lhs ? AxisRole::LhsFree : AxisRole::RhsFree);
  }

  // Keeps whole contract axes while their product allows, splits the next one, adds the others up afterwards.
  void chunk_axes() {
    Part part;
    part.axes = free_;
    int64_t terms = 1;
    penguin::AxisId split = penguin::kNone;
    for (const penguin::IterationAxis& entry : with_role(inst_.axes, AxisRole::Contract)) {
      const int64_t extent = statements_.extent(entry.axis);
      if (split == penguin::kNone && terms * extent <= kMaxTerms) {
        terms *= extent;
        part.axes.push_back(entry);
      } else if (split == penguin::kNone && terms <= kMaxTerms / 2) {
        split = entry.axis;
      } else {
        part.outer.push_back({entry.axis, outer_role(entry.axis)});
      }
    }
    if (split == penguin::kNone) {
      part.axes.insert(part.axes.end(), part.outer.begin(), part.outer.end());
      parts_.push_back(part);
      return;
    }
    const int64_t extent = statements_.extent(split), size = kMaxTerms / terms;
    const int64_t chunks = extent / size, rest = extent % size;
    part.split = split;
    auto add_part = [&](int64_t chunk_count, int64_t inner, int64_t offset) {
      Part piece = part;
      piece.size = inner;
      piece.offset = offset;
      piece.inner = statements_.new_axis(split, inner);
      piece.axes.push_back({piece.inner, AxisRole::Contract});
      if (chunk_count > 1) {
        piece.chunk = statements_.new_axis(split, chunk_count);
        piece.outer.push_back({piece.chunk, outer_role(split)});
      }
      piece.axes.insert(piece.axes.end(), piece.outer.begin(), piece.outer.end());
      parts_.push_back(piece);
    };
    if (chunks > 0) add_part(chunks, size, 0);
    if (rest > 0) add_part(1, rest, chunks * size);
  }

  Operand in_part(const Part& part, Operand operand) {
    if (part.split == penguin::kNone) return operand;
    if (part.chunk == penguin::kNone)
      return statements_.with_axis(operand, part.split, part.inner, 1, part.offset);
    return statements_.with_sum(operand, part.split, part.chunk, part.size, part.inner);
  }

  // The exact sum of one limb pair, in s32.
  std::optional<Operand> add(std::optional<Operand> total, const Operand& term) {
    if (!total) return term;
    return statements_.map("total", ScalarFunction::Add, {*total, term}, Dtype::S32, free_);
  }

  Operand sum_of_limbs() {
    const std::vector<Operand> lhs = limbs(0), rhs = limbs(1);
    const int weights =
        std::min(info(inst_.result.dtype).bits / kLimbBits, static_cast<int>(lhs.size() + rhs.size()) - 1);
    std::optional<Operand> total;
    for (int weight = 0; weight < weights; ++weight) {
      std::optional<Operand> same_weight;
      for (size_t i = 0; i < lhs.size(); ++i) {
        const int j = weight - static_cast<int>(i);
        if (j < 0 || j >= static_cast<int>(rhs.size())) continue;
        for (const Part& part : parts_)
          same_weight = add(same_weight, contract_part(part, lhs[i], rhs[static_cast<size_t>(j)]));
      }
      Operand shifted = *same_weight;
      if (weight > 0)
        shifted =
            statements_.map("shifted", ScalarFunction::ShiftLeft,
                            {shifted, Statements::scalar(Dtype::S32, weight * kLimbBits)}, Dtype::S32, free_);
      total = add(total, shifted);
    }
    return *total;
  }

  Operand contract_part(const Part& part, const Operand& lhs, const Operand& rhs) {
    Axes result_axes = free_;
    result_axes.insert(result_axes.end(), part.outer.begin(), part.outer.end());
    const Operand sum = statements_.temporary("sum", Dtype::F32, result_axes);
    statements_.contract(in_part(part, lhs), in_part(part, rhs), sum, part.axes);
    const Operand integer = to_integer(sum, result_axes);
    if (part.outer.empty()) return integer;
    Axes axes = result_axes;
    for (size_t i = 0; i < axes.size(); ++i)
      axes[i].role = i < free_.size() ? AxisRole::Parallel : AxisRole::Reduce;
    const Operand joined = statements_.temporary("joined", Dtype::S32, free_);
    statements_.reduce(ScalarFunction::Add, integer, Statements::scalar(Dtype::S32, 0), joined, axes);
    return joined;
  }

  const Inst& inst_;
  const Range ranges_[2];
  Statements& statements_;
  const Axes free_;  // batch and free axes: those of the result
  std::vector<Part> parts_;
};

bool is_f32(Dtype dtype) { return dtype == Dtype::F32 || dtype == Dtype::F32R; }

}  // namespace

bool is_machine_contract(const Inst& inst) {
  const Dtype lhs = inst.operands[0].dtype, rhs = inst.operands[1].dtype;
  return is_float(lhs) && is_float(rhs) && is_f32(lhs) == is_f32(rhs);
}

void expand_contract(const Inst& inst, const RangeOf& range_of, Statements& statements) {
  const bool is_integral = !is_float(inst.operands[0].dtype) && !is_float(inst.operands[1].dtype);
  if (is_integral) {
    IntegerContract(inst, range_of(inst.operands[0]), range_of(inst.operands[1]), statements).run();
    return;
  }
  // fp32 goes with fp32 only.
  std::vector<Operand> operands;
  for (const Operand& operand : inst.operands)
    operands.push_back(operand.dtype == Dtype::F32
                           ? operand
                           : statements.map("wide", ScalarFunction::Convert, {operand}, Dtype::F32,
                                            used_axes(inst.axes, operand)));
  statements.contract(operands[0], operands[1], inst.result, inst.axes);
}

}  // namespace ncc::hlo_opt::math_expansion
