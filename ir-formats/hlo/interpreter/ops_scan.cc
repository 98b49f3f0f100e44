// scan: the body runs once per index of one dimension; it takes a slice of every input and the carries, and
// returns a slice of every output and the new carries. Source: spec/stablehlo-text.md §2.9.
#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/strided_copy.h"

namespace ncc::hlo {
namespace {

// Element offset and strides of slice `i` along `dim`.
struct SliceView {
  std::vector<int64_t> dims, strides;
  int64_t offset = 0;
  SliceView(const std::vector<int64_t>& whole, size_t dim, int64_t i) {
    const std::vector<int64_t> all = row_major_strides(whole);
    for (size_t d = 0; d < whole.size(); ++d) {
      if (d == dim) continue;
      dims.push_back(whole[d]);
      strides.push_back(all[d]);
    }
    offset = i * all[dim];
  }
};

Literal slice_of(const Literal& array, size_t dim, int64_t i) {
  const SliceView view(array.shape().dims, dim, i);
  const int64_t width = size_bytes(array.shape().dtype);
  Literal out = Literal::zeros(Shape::array(array.shape().dtype, view.dims));
  strided_copy(width, view.dims, array.bytes().data() + view.offset * width, view.strides, out.mutable_data(),
               row_major_strides(view.dims));
  return out;
}

void put_slice(Literal& array, size_t dim, int64_t i, const Literal& slice) {
  const SliceView view(array.shape().dims, dim, i);
  const int64_t width = size_bytes(array.shape().dtype);
  strided_copy(width, view.dims, slice.bytes().data(), row_major_strides(view.dims),
               array.mutable_data() + view.offset * width, view.strides);
}

}  // namespace

Result<Literal> eval_scan(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  const auto parameters = inst.body()->parameters();
  const size_t dim = static_cast<size_t>(inst.dimensions.empty() ? 0 : inst.dimensions[0]);
  // Inputs have one dimension more than the body's parameter, carries have the same.
  size_t inputs = 0;
  while (inputs < operands.size() && operands[inputs].shape().rank() > parameters[inputs]->shape.rank())
    ++inputs;
  if (inputs == 0) return unsupported(inst, "it scans no input");
  const int64_t steps = operands[0].shape().dims[dim];
  std::vector<Literal> carries(operands.begin() + static_cast<int64_t>(inputs), operands.end());
  const std::vector<Shape> results =
      inst.shape.is_tuple() ? inst.shape.elements : std::vector<Shape>{inst.shape};
  if (results.size() < carries.size()) return unsupported(inst, "it has fewer results than carries");
  std::vector<Literal> outputs;
  for (size_t o = 0; o + carries.size() < results.size(); ++o)
    outputs.push_back(Literal::zeros(Shape::array(results[o].dtype, results[o].dims)));
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t at = inst.attrs().is_reverse ? steps - 1 - step : step;
    std::vector<Literal> args;
    for (size_t i = 0; i < inputs; ++i) args.push_back(slice_of(operands[i], dim, at));
    for (Literal& carry : carries) args.push_back(std::move(carry));
    NCC_ASSIGN(const Literal value, evaluator.run(*inst.body(), std::move(args)));
    const std::vector<Literal> parts = value.is_tuple() ? value.elements() : std::vector<Literal>{value};
    for (size_t o = 0; o < outputs.size(); ++o) put_slice(outputs[o], dim, at, parts[o]);
    for (size_t c = 0; c < carries.size(); ++c) carries[c] = parts[outputs.size() + c];
  }
  outputs.insert(outputs.end(), carries.begin(), carries.end());
  return inst.shape.is_tuple() ? Literal::make_tuple(std::move(outputs)) : outputs[0];
}

}  // namespace ncc::hlo
