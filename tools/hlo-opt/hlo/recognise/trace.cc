#include "tools/hlo-opt/hlo/recognise/trace.h"

#include <algorithm>
#include <numeric>

namespace ncc::hlo_passes {
namespace {

constexpr size_t kMostPlaces = 200;  // looked at for one trace

Dims own_dimensions(const Instruction& inst) {
  Dims same(inst.shape.dims.size());
  std::iota(same.begin(), same.end(), 0);
  return same;
}

// For each dimension of a broadcast the one of its operand.
Dims of_broadcast(const Instruction& inst) {
  Dims dims(inst.shape.dims.size(), kSpread);
  for (size_t k = 0; k < inst.dimensions.size(); ++k) {
    const auto d = static_cast<size_t>(inst.dimensions[k]);
    if (inst.operand_shape(0).dims[k] == inst.shape.dims[d]) dims[d] = static_cast<int64_t>(k);
  }
  return dims;
}

// For each dimension of a reshape the one of its operand: from the left, the fewest dimensions on either side
// that have as many elements belong together; one on each side is the same dimension. Sizes of 1 belong
// nowhere.
Dims of_reshape(const Instruction& inst) {
  const Dims &to = inst.shape.dims, &from = inst.operand_shape(0).dims;
  Dims dims(to.size(), kSpread);
  size_t i = 0, j = 0;
  while (true) {
    while (i < to.size() && to[i] == 1) ++i;
    while (j < from.size() && from[j] == 1) ++j;
    if (i == to.size() || j == from.size()) return dims;
    const size_t first = i;
    int64_t left = to[i++], right = from[j++];
    const bool same = left == right;
    while (left != right && (left < right ? i < to.size() : j < from.size())) {
      if (left < right) {
        left *= to[i++];
      } else {
        right *= from[j++];
      }
    }
    for (size_t d = first; d < i; ++d) dims[d] = same ? static_cast<int64_t>(j) - 1 : kUnknown;
  }
}

// For each dimension of inst the one of its operand; nothing when inst computes other than element by
// element.
std::optional<Dims> of_operand(const Instruction& inst) {
  if (inst.is(Opcode::Broadcast)) return of_broadcast(inst);
  if (inst.is(Opcode::Reshape) || inst.is(Opcode::Bitcast)) return of_reshape(inst);
  if (inst.is(Opcode::Transpose)) return inst.dimensions;
  if (!inst.info().elementwise && !inst.is(Opcode::Copy) && !inst.is(Opcode::Convert)) return std::nullopt;
  return own_dimensions(inst);
}

}  // namespace

// The shortest way, breadth first.
std::optional<Dims> traced_dimensions(const Instruction* value, const Instruction* source) {
  struct Place {
    const Instruction* at;
    Dims dims;  // for each dimension of `value`, that of `at`
  };
  std::vector<Place> places{{value, own_dimensions(*value)}};
  for (size_t next = 0; next < places.size() && places.size() < kMostPlaces; ++next) {
    const Place here = places[next];
    if (here.at == source) return here.dims;
    const auto step = here.at->shape.is_array() ? of_operand(*here.at) : std::nullopt;
    if (!step) continue;
    for (const Instruction* operand : here.at->operands) {
      Dims dims = here.dims;
      for (int64_t& d : dims) {
        if (d >= 0) d = (*step)[static_cast<size_t>(d)];
        // A scalar operand, as of select and clamp, is the same everywhere.
        if (d >= operand->shape.rank()) d = kSpread;
      }
      places.push_back({operand, std::move(dims)});
    }
  }
  return std::nullopt;
}

bool meets_its_source(const Instruction* inst, const Instruction* reduce, const Instruction* source) {
  const auto reduced = traced_dimensions(reduce->operand(0), source);
  if (!reduced) return true;
  // For each dimension of the reduction's result the dimension of `source`, and those that it is over.
  Dims kept, over;
  for (size_t d = 0; d < reduced->size(); ++d) {
    const bool is_reduced = std::find(reduce->dimensions.begin(), reduce->dimensions.end(),
                                      static_cast<int64_t>(d)) != reduce->dimensions.end();
    (is_reduced ? over : kept).push_back((*reduced)[d]);
  }
  const auto meets_at = [&](int64_t there, int64_t sum) {
    const int64_t here = sum >= 0 ? kept[static_cast<size_t>(sum)] : sum;
    if (there == kUnknown || here == kUnknown || here == there) return true;
    // Where the sum does not vary, the source was summed over.
    return here == kSpread &&
           std::any_of(over.begin(), over.end(), [&](int64_t d) { return d == there || d == kUnknown; });
  };
  bool can_be_told = false;
  for (int64_t i : {0, 1}) {
    const auto to_sum = traced_dimensions(inst->operand(i), reduce);
    const auto to_source = traced_dimensions(inst->operand(1 - i), source);
    if (!to_sum || !to_source) continue;
    can_be_told = true;
    bool meets = true;
    for (size_t d = 0; d < inst->shape.dims.size(); ++d)
      meets &= inst->shape.dims[d] == 1 || meets_at((*to_source)[d], (*to_sum)[d]);
    if (meets) return true;
  }
  return !can_be_told;
}

}  // namespace ncc::hlo_passes
