// Maps and reductions, a block of the innermost axis at a time.
#include <algorithm>

#include "ir-formats/penguin/interpret/domain.h"
#include "ir-formats/penguin/interpret/functions.h"
#include "ir-formats/penguin/interpret/run.h"

namespace ncc::penguin {
namespace {

/// Iteration space and flat accesses (operands, then the result), with neighbouring axes merged where every
/// access allows.
struct Nest {
  std::vector<int64_t> extents;
  std::vector<FlatAccess> accesses;
};

Nest make_nest(const Inst& inst, const RunContext& context, const std::vector<IterationAxis>& axes) {
  Nest nest;
  std::vector<const Operand*> all;
  for (const Operand& operand : inst.operands) all.push_back(&operand);
  all.push_back(&inst.result);
  for (const Operand* operand : all) {
    static const std::vector<int64_t> kNoShape;
    const bool is_tensor = operand->kind == Operand::Kind::Tensor;
    nest.accesses.push_back(
        flatten(*operand, is_tensor ? context.function.tensors[operand->tensor].shape : kNoShape, axes));
  }
  for (const IterationAxis& entry : axes) nest.extents.push_back(context.function.axes[entry.axis].extent);
  return nest;
}

void drop_axis(Nest& nest, size_t d) {
  nest.extents.erase(nest.extents.begin() + static_cast<std::ptrdiff_t>(d));
  for (FlatAccess& access : nest.accesses)
    access.steps.erase(access.steps.begin() + static_cast<std::ptrdiff_t>(d));
}

/// Longer inner runs: axes d-1 and d become one when each access steps as one would.
void merge_axes(Nest& nest) {
  for (size_t d = nest.extents.size(); d-- > 0;)
    if (nest.extents[d] == 1) drop_axis(nest, d);
  for (size_t d = nest.extents.size(); d-- > 1;) {
    const bool merges = std::all_of(
        nest.accesses.begin(), nest.accesses.end(),
        [&](const FlatAccess& access) { return access.steps[d - 1] == access.steps[d] * nest.extents[d]; });
    if (!merges) continue;
    nest.extents[d] *= nest.extents[d - 1];
    drop_axis(nest, d - 1);
  }
  if (nest.extents.empty()) {
    nest.extents.push_back(1);
    for (FlatAccess& access : nest.accesses) access.steps.push_back(0);
  }
}

void load_operand(const Operand& operand, Lanes& lanes, const RunContext& context, int64_t position,
                  int64_t step, int64_t count) {
  if (operand.kind == Operand::Kind::Scalar)
    return load(lanes, reinterpret_cast<const std::byte*>(&operand.scalar), 0, count);
  if (operand.kind == Operand::Kind::Tensor)
    return load(lanes,
                context.arrays[operand.tensor].bytes.data() + position * ncc::size_bytes(operand.dtype), step,
                count);
  // The integer, as an element of the operand's type.
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    store_from_int64(operand.dtype, &bits, position + i * step);
    if (lanes.is_real())
      lanes.real[static_cast<size_t>(i)] = load_as_double(operand.dtype, &bits);
    else
      lanes.integer[static_cast<size_t>(i)] = load_as_int64(operand.dtype, &bits);
  }
}

/// One fold step; the accumulator of a float sum or product stays in double until the end.
void fold(ScalarFunction function, Lanes& accumulator, const Lanes& values, int64_t count) {
  thread_local std::vector<Lanes> in(2);
  in[0] = accumulator;
  in[1] = values;
  evaluate(function, {}, in, accumulator, count);
}

/// Folds a whole block into accumulator element 0.
void fold_row(ScalarFunction function, Lanes& accumulator, const Lanes& values, int64_t count) {
  std::vector<Lanes> in{Lanes(accumulator.dtype, 1), Lanes(values.dtype, 1)};
  Lanes out(accumulator.dtype, 1);
  if (function == ScalarFunction::Add && accumulator.is_real()) {
    double sum = accumulator.real[0];
    for (int64_t i = 0; i < count; ++i) sum += values.real[static_cast<size_t>(i)];
    accumulator.real[0] = sum;
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    in[0] = accumulator;
    if (values.is_real())
      in[1].real[0] = values.real[static_cast<size_t>(i)];
    else
      in[1].integer[0] = values.integer[static_cast<size_t>(i)];
    evaluate(function, {}, in, out, 1);
    std::swap(accumulator, out);
  }
}

}  // namespace

void run_map(const Inst& inst, RunContext& context) {
  Nest nest = make_nest(inst, context, inst.axes);
  merge_axes(nest);
  const int64_t inner = nest.extents.back();
  const int64_t block = std::min(inner, kBlock);
  std::vector<Lanes> operands;
  for (const Operand& operand : inst.operands)
    operands.emplace_back(load_type(inst.function, operand.dtype), block);
  const Dtype stored = load_type(inst.function, inst.result.dtype);
  Lanes out(stored, block);
  const int64_t element = ncc::size_bytes(inst.result.dtype);
  std::byte* target = context.arrays[inst.result.tensor].mutable_data();
  for_each_run(nest.extents, nest.accesses, [&](const std::vector<int64_t>& position) {
    for (int64_t start = 0; start < inner; start += block) {
      const int64_t count = std::min(block, inner - start);
      for (size_t k = 0; k < operands.size(); ++k) {
        const int64_t step = nest.accesses[k].steps.back();
        load_operand(inst.operands[k], operands[k], context, position[k] + start * step, step, count);
      }
      evaluate(inst.function, inst.attributes, operands, out, count);
      const int64_t step = nest.accesses.back().steps.back();
      store(out, stored, rounding_of(inst.function, inst.attributes),
            target + (position.back() + start * step) * element, step, count);
    }
  });
}

void run_reduce(const Inst& inst, RunContext& context) {
  // Kept axes outside, folded axes inside; with no inner run worth vectorising over the folded axes, the
  // innermost kept axis is the row: acc[row] = fold(acc[row], x[row]).
  std::vector<IterationAxis> kept, folded;
  for (const IterationAxis& entry : inst.axes)
    (entry.role == AxisRole::Reduce ? folded : kept).push_back(entry);
  Nest outer = make_nest(inst, context, kept), inner = make_nest(inst, context, folded);
  inner.accesses = {inner.accesses[0]};
  inner.accesses[0].constant = 0;
  merge_axes(inner);
  merge_axes(outer);
  const bool by_rows = inner.accesses[0].steps.back() != 1 && outer.extents.back() >= 16;
  const int64_t row = by_rows ? std::min(outer.extents.back(), kBlock) : 1;
  const int64_t outer_run = outer.extents.back();
  const Operand& data = inst.operands[0];
  const bool rounds_late = is_float(inst.result.dtype);
  const Dtype folded_type = rounds_late && is_float(data.dtype) ? Dtype::F64 : data.dtype;
  const int64_t element = ncc::size_bytes(inst.result.dtype);
  std::byte* target = context.arrays[inst.result.tensor].mutable_data();
  const int64_t run = inner.extents.back(), block = by_rows ? row : std::min(run, kBlock);
  Lanes values(data.dtype, block), init(inst.operands[1].dtype, row);
  for_each_run(outer.extents, outer.accesses, [&](const std::vector<int64_t>& position) {
    for (int64_t start = 0; start < outer_run; start += row) {
      const int64_t count = std::min(row, outer_run - start);
      const int64_t data_step = outer.accesses[0].steps.back(), init_step = outer.accesses[1].steps.back();
      load_operand(inst.operands[1], init, context, position[1] + start * init_step, init_step, count);
      Lanes accumulator = init;
      accumulator.dtype = folded_type;
      const int64_t origin = position[0] + start * data_step;
      for_each_run(inner.extents, inner.accesses, [&](const std::vector<int64_t>& at) {
        const int64_t step = inner.accesses[0].steps.back();
        if (by_rows) {
          for (int64_t i = 0; i < run; ++i) {
            load_operand(data, values, context, origin + at[0] + i * step, data_step, count);
            fold(inst.function, accumulator, values, count);
          }
          return;
        }
        for (int64_t i = 0; i < run; i += block) {
          const int64_t length = std::min(block, run - i);
          load_operand(data, values, context, origin + at[0] + i * step, step, length);
          fold_row(inst.function, accumulator, values, length);
        }
      });
      const int64_t step = outer.accesses.back().steps.back();
      store(accumulator, inst.result.dtype, Rounding::Model,
            target + (position.back() + start * step) * element, step, count);
    }
  });
}

}  // namespace ncc::penguin
