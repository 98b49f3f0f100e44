// reduce: the operands are brought into the form [reduced elements, lanes] and the body runs over all lanes
// for one reduced element after the other, so that every lane folds its elements in row-major order, init
// first. Plain sums of f32 and f64 accumulate one precision up and round once; sums of narrower floats round
// at every step, as XLA's results do (spec/stablehlo-text.md §3.7).
#include <algorithm>

#include "common/parallel/parallel.h"
#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/reduction.h"
#include "ir-formats/hlo/interpreter/strided_copy.h"

namespace ncc::hlo {
namespace {

struct Split {
  std::vector<int64_t> kept, reduced;            // dimensions
  std::vector<int64_t> kept_dims, reduced_dims;  // their sizes
  int64_t lanes = 1, steps = 1;
};

Split split_dims(const Shape& shape, const std::vector<int64_t>& reduced) {
  Split split;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int64_t size = shape.dims[static_cast<size_t>(d)];
    if (std::find(reduced.begin(), reduced.end(), d) == reduced.end()) {
      split.kept.push_back(d);
      split.kept_dims.push_back(size);
      split.lanes *= size;
    } else {
      split.reduced.push_back(d);
      split.reduced_dims.push_back(size);
      split.steps *= size;
    }
  }
  return split;
}

// The operand as a dense [steps, lanes] array.
Literal steps_by_lanes(const Literal& operand, const Split& split) {
  const std::vector<int64_t> source = row_major_strides(operand.shape().dims);
  std::vector<int64_t> dims = split.reduced_dims, strides;
  dims.insert(dims.end(), split.kept_dims.begin(), split.kept_dims.end());
  for (int64_t d : split.reduced) strides.push_back(source[static_cast<size_t>(d)]);
  for (int64_t d : split.kept) strides.push_back(source[static_cast<size_t>(d)]);
  if (std::is_sorted(split.reduced.begin(), split.reduced.end()) &&
      (split.kept.empty() || split.reduced.empty() || split.reduced.back() < split.kept.front()))
    return operand;  // already in this order
  Literal out = Literal::zeros(Shape::array(operand.shape().dtype, dims));
  const int64_t width = size_bytes(operand.shape().dtype);
  strided_copy(width, dims, operand.bytes().data(), strides, out.mutable_data(), row_major_strides(dims));
  return out;
}

// True when the kept dimensions are the outer ones: rows of `steps` contiguous elements.
bool reduces_rows(const Split& split) {
  return split.kept.empty() || split.reduced.empty() || split.kept.back() < split.reduced.front();
}

template <class T, class Wide>
Literal sum_rows(const Literal& operand, const Literal& init, const Split& split, Shape shape) {
  Literal out = Literal::zeros(shape);
  const T* in = reinterpret_cast<const T*>(operand.bytes().data());
  T* result = reinterpret_cast<T*>(out.mutable_data());
  const Wide start = init.at<T>(0);
  parallel_for(split.lanes, std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, split.steps)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   const T* x = in + row * split.steps;
                   Wide parts[8];
                   std::fill_n(parts, 8, Wide{-0.0});  // adds nothing, not even a sign to -0
                   int64_t i = 0;
                   for (; i + 8 <= split.steps; i += 8)
                     for (int k = 0; k < 8; ++k) parts[k] += static_cast<Wide>(x[i + k]);
                   Wide sum = start;
                   for (; i < split.steps; ++i) sum += static_cast<Wide>(x[i]);
                   for (int k = 0; k < 8; ++k) sum += parts[k];
                   result[row] = static_cast<T>(sum);
                 }
               });
  return out;
}

template <class T, class Wide>
Literal sum_columns(const Literal& operand, const Literal& init, const Split& split, Shape shape) {
  const Literal dense = steps_by_lanes(operand, split);
  Literal out = Literal::zeros(shape);
  const T* in = reinterpret_cast<const T*>(dense.bytes().data());
  T* result = reinterpret_cast<T*>(out.mutable_data());
  const Wide start = init.at<T>(0);
  parallel_for(split.lanes, 512, [&](int64_t begin, int64_t end) {
    std::vector<Wide> sums(static_cast<size_t>(end - begin), start);
    for (int64_t step = 0; step < split.steps; ++step) {
      const T* x = in + step * split.lanes + begin;
#pragma GCC ivdep
      for (int64_t i = 0; i < end - begin; ++i) sums[static_cast<size_t>(i)] += static_cast<Wide>(x[i]);
    }
    for (int64_t i = 0; i < end - begin; ++i)
      result[begin + i] = static_cast<T>(sums[static_cast<size_t>(i)]);
  });
  return out;
}

template <class T, class Wide>
Literal sum(const Literal& operand, const Literal& init, const Split& split, Shape shape) {
  return reduces_rows(split) ? sum_rows<T, Wide>(operand, init, split, std::move(shape))
                             : sum_columns<T, Wide>(operand, init, split, std::move(shape));
}

Result<Literal> reduce_lanes(Evaluator& evaluator, const Instruction& inst,
                             const std::vector<Literal>& inputs, const std::vector<Literal>& inits,
                             const Split& split) {
  std::vector<Literal> dense, results;
  for (size_t i = 0; i < inputs.size(); ++i) {
    dense.push_back(steps_by_lanes(inputs[i], split));
    results.push_back(Literal::zeros(Shape::array(inits[i].shape().dtype, split.kept_dims)));
    fill_elements(results[i].mutable_data(), inits[i].bytes().data(), size_bytes(inits[i].shape().dtype),
                  split.lanes);
  }
  NCC_TRY(fold_lanes(evaluator, *inst.body(), results, dense, split.steps, split.lanes));
  return inputs.size() == 1 && !inst.shape.is_tuple() ? results[0] : Literal::make_tuple(results);
}

}  // namespace

Status fold_lanes(Evaluator& evaluator, const Computation& body, std::vector<Literal>& accumulators,
                  const std::vector<Literal>& elements, int64_t steps, int64_t lanes) {
  const size_t count = accumulators.size();
  const LaneProgram* program = evaluator.lane_program(body);
  if (!program) return fold_one_by_one(evaluator, body, accumulators, elements, steps, lanes);
  parallel_for(lanes, LaneProgram::kChunk, [&](int64_t begin, int64_t end) {
    LaneProgram::Scratch scratch(*program);
    std::vector<const void*> in(2 * count);
    std::vector<void*> out(count);
    for (int64_t step = 0; step < steps; ++step) {
      for (size_t i = 0; i < count; ++i) {
        const int64_t width = size_bytes(accumulators[i].shape().dtype);
        out[i] = accumulators[i].mutable_data() + begin * width;
        in[i] = out[i];
        in[count + i] = elements[i].bytes().data() + (step * lanes + begin) * width;
      }
      program->run(in, out, end - begin, scratch);
    }
  });
  return Status::ok();
}

Status fold_one_by_one(Evaluator& evaluator, const Computation& body, std::vector<Literal>& accumulators,
                       const std::vector<Literal>& elements, int64_t steps, int64_t lanes) {
  const size_t count = accumulators.size();
  const auto scalar_at = [](const Literal& array, int64_t index) {
    const size_t width = static_cast<size_t>(size_bytes(array.shape().dtype));
    return Literal::copy(Shape::array(array.shape().dtype),
                         array.bytes().subspan(static_cast<size_t>(index) * width, width));
  };
  for (int64_t lane = 0; lane < lanes; ++lane) {
    for (int64_t step = 0; step < steps; ++step) {
      std::vector<Literal> args;
      for (size_t i = 0; i < count; ++i) args.push_back(scalar_at(accumulators[i], lane));
      for (size_t i = 0; i < count; ++i) args.push_back(scalar_at(elements[i], step * lanes + lane));
      NCC_ASSIGN(const Literal value, evaluator.run(body, std::move(args)));
      for (size_t i = 0; i < count; ++i) {
        const Literal& part = value.is_tuple() ? value.elements()[i] : value;
        std::memcpy(accumulators[i].mutable_data() + lane * static_cast<int64_t>(part.bytes().size()),
                    part.bytes().data(), part.bytes().size());
      }
    }
  }
  return Status::ok();
}

void promote_to_body(const Computation& body, std::vector<Literal>& values, std::vector<Literal>& inits) {
  const auto parameters = body.parameters();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = converted(values[i], parameters[values.size() + i]->shape.dtype);
    inits[i] = converted(inits[i], parameters[i]->shape.dtype);
  }
}

Result<Literal> eval_reduce(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  const size_t count = operands.size() / 2;
  std::vector<Literal> inputs(operands.begin(), operands.begin() + static_cast<int64_t>(count));
  std::vector<Literal> inits(operands.begin() + static_cast<int64_t>(count), operands.end());
  operands.clear();
  promote_to_body(*inst.body(), inputs, inits);
  const Split split = split_dims(inputs[0].shape(), inst.dimensions);
  const LaneProgram* program = evaluator.lane_program(*inst.body());
  if (count == 1 && !inst.shape.is_tuple() && program && program->binary_op() == Opcode::Add) {
    const Dtype type = inputs[0].shape().dtype;
    const Shape shape = Shape::array(type, split.kept_dims);
    if (type == Dtype::F32) return sum<float, double>(inputs[0], inits[0], split, shape);
    if (type == Dtype::F64) return sum<double, long double>(inputs[0], inits[0], split, shape);
  }
  return reduce_lanes(evaluator, inst, inputs, inits, split);
}

}  // namespace ncc::hlo
