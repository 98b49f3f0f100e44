// Data movement across the 32 lanes of a quadrant: the lane mask, StreamShuffle and StreamTranspose. Raw bits
// throughout. Source: spec/simulator-numerics.md §3.6.
#include <vector>

#include "ir-formats/isa/machine/ops/ops.h"

namespace ncc::machine {

using isa::MachineInst;

namespace {

constexpr int kLanes = 32;
constexpr uint8_t kLeave = 255;

// All rows of the operand, dense: both instructions read everything before they write.
std::vector<uint32_t> read_all(const View& view) {
  std::vector<uint32_t> rows(static_cast<size_t>(view.partitions * view.elements));
  for (int p = 0; p < view.partitions; ++p) load_row_bits(view, p, false, rows.data() + p * view.elements);
  return rows;
}

Status resolve_lanes(State& state, const MachineInst& inst, Operands& o) {
  NCC_TRY(resolve_elementwise(state, inst, o));
  if (o.in0.element_size != o.out.element_size || is_float(o.in0.dtype) != is_float(o.out.dtype))
    return illegal("{} to {} across lanes: no cast here", info(o.in0.dtype).hlo, info(o.out.dtype).hlo);
  if (o.in0.partitions % kLanes != 0)
    return illegal("{} partitions across lanes, not a multiple of {}", o.in0.partitions, kLanes);
  return Status::ok();
}

}  // namespace

Status execute_load_mask(State& state, const MachineInst& inst) {
  for (uint8_t lane : inst.mask)
    if (lane >= kLanes && lane != kLeave) return illegal("lane {} in the mask", lane);
  state.lane_mask = inst.mask;
  state.lane_mask_loaded = true;
  return Status::ok();
}

Status execute_stream_shuffle(State& state, const MachineInst& inst) {
  if (!state.lane_mask_loaded) return illegal("no lane mask was loaded");
  Operands o;
  NCC_TRY(resolve_lanes(state, inst, o));
  bool leaves = false;
  for (uint8_t lane : state.lane_mask) leaves = leaves || lane == kLeave;
  if (leaves) NCC_TRY(resolve_data(state, inst.out, State::Use::ReadWrite, "out", o.out));
  const std::vector<uint32_t> rows = read_all(o.in0);
  for (int p = 0; p < o.out.partitions; ++p) {
    const uint8_t lane = state.lane_mask[static_cast<size_t>(p % kLanes)];
    if (lane == kLeave) continue;
    const int source = p / kLanes * kLanes + lane;
    store_row_bits(o.out, p, rows.data() + source * o.in0.elements);
  }
  state.mark_written(o.out);
  return Status::ok();
}

Status execute_stream_transpose(State& state, const MachineInst& inst) {
  Operands o;
  NCC_TRY(resolve_lanes(state, inst, o));
  const int64_t n = o.in0.elements;
  if (n % kLanes != 0) return illegal("{} elements per partition, not a multiple of {}", n, kLanes);
  const std::vector<uint32_t> rows = read_all(o.in0);
  uint32_t* row = scratch_bits(0, n);
  for (int p = 0; p < o.out.partitions; ++p) {
    const int64_t block_row = p / kLanes * kLanes, lane = p % kLanes;
    for (int64_t e = 0; e < n; ++e)
      row[e] = rows[static_cast<size_t>((block_row + e % kLanes) * n + e / kLanes * kLanes + lane)];
    store_row_bits(o.out, p, row);
  }
  state.mark_written(o.out);
  return Status::ok();
}

}  // namespace ncc::machine
