// einsum, unary_einsum: a letter is a loop; letters that the result lacks are summed over. ragged_dot: a dot
// per group of rows. torch_index_select. Source: spec/stablehlo-text.md §2.2, §2.3, §2.9.
#include <algorithm>
#include <complex>
#include <numeric>

#include "ir-formats/hlo/interpreter/index_values.h"
#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/strided_copy.h"

namespace ncc::hlo {
namespace {

// "ij,jk->ik" taken apart; letters of the result first, then those that are summed over.
struct EinsumPlan {
  std::vector<std::string> operands;
  std::string result, loops;
  std::vector<int64_t> sizes;  // of the loops
};

Result<EinsumPlan> plan_einsum(const Instruction& inst, const Operands& values) {
  std::string text = inst.attrs().einsum_config;
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const auto bad = [&](std::string_view why) {
    return error(Code::EVRF003, inst.loc, fmt::format("{}: '{}': {}", describe(inst), text, why));
  };
  const size_t arrow = text.find("->");
  if (arrow == std::string::npos) return bad("no '->'");
  EinsumPlan plan;
  plan.result = text.substr(arrow + 2);
  for (size_t begin = 0; begin <= arrow;) {
    const size_t end = std::min(text.find(',', begin), arrow);
    plan.operands.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (plan.operands.size() != values.size()) return bad("one list of letters per operand expected");
  plan.loops = plan.result;
  for (const std::string& letters : plan.operands)
    for (char letter : letters)
      if (plan.loops.find(letter) == std::string::npos) plan.loops += letter;
  plan.sizes.assign(plan.loops.size(), -1);
  for (size_t o = 0; o < values.size(); ++o) {
    const std::vector<int64_t>& dims = values[o].shape().dims;
    if (plan.operands[o].size() != dims.size()) return bad("one letter per dimension expected");
    for (size_t d = 0; d < dims.size(); ++d) {
      int64_t& size = plan.sizes[plan.loops.find(plan.operands[o][d])];
      if (size >= 0 && size != dims[d]) return bad(fmt::format("two sizes for '{}'", plan.operands[o][d]));
      size = dims[d];
    }
  }
  for (size_t l = 0; l < plan.result.size(); ++l) {
    if (plan.sizes[l] < 0 || plan.result.find(plan.result[l]) != l)
      return bad("a letter of the result is not free");
  }
  return plan;
}

// Element strides of each loop in an array with these letters; a repeated letter walks its diagonal.
std::vector<int64_t> loop_strides(const EinsumPlan& plan, const std::string& letters,
                                  const std::vector<int64_t>& dims) {
  const std::vector<int64_t> strides = row_major_strides(dims);
  std::vector<int64_t> by_loop(plan.loops.size(), 0);
  for (size_t d = 0; d < letters.size(); ++d) by_loop[plan.loops.find(letters[d])] += strides[d];
  return by_loop;
}

// Calls `term(offsets of the operands)` for every index of the summed loops, for each element of the result
// in order.
template <class Begin, class Term, class End>
void run_loops(const EinsumPlan& plan, const Operands& values, const Begin& begin, const Term& term,
               const End& end) {
  const size_t free = plan.result.size();
  std::vector<std::vector<int64_t>> strides;
  for (size_t o = 0; o < values.size(); ++o)
    strides.push_back(loop_strides(plan, plan.operands[o], values[o].shape().dims));
  const std::vector<int64_t> outer_sizes(plan.sizes.begin(), plan.sizes.begin() + static_cast<int64_t>(free));
  const std::vector<int64_t> inner_sizes(plan.sizes.begin() + static_cast<int64_t>(free), plan.sizes.end());
  const auto empty = [](const std::vector<int64_t>& sizes) {
    return std::count(sizes.begin(), sizes.end(), 0) > 0;
  };
  if (empty(outer_sizes)) return;
  std::vector<int64_t> outer(free, 0), offsets(values.size());
  do {
    begin();
    std::vector<int64_t> inner(inner_sizes.size(), 0);
    if (!empty(inner_sizes)) {
      do {
        for (size_t o = 0; o < values.size(); ++o) {
          offsets[o] = 0;
          for (size_t l = 0; l < free; ++l) offsets[o] += outer[l] * strides[o][l];
          for (size_t l = 0; l < inner.size(); ++l) offsets[o] += inner[l] * strides[o][free + l];
        }
        term(offsets);
      } while (next_index(inner, inner_sizes));
    }
    end();
  } while (next_index(outer, outer_sizes));
}

std::complex<double> complex_at(const Literal& literal, int64_t i) {
  if (literal.shape().dtype == Dtype::C64) return {literal.at<float>(2 * i), literal.at<float>(2 * i + 1)};
  if (literal.shape().dtype == Dtype::C128) return {literal.at<double>(2 * i), literal.at<double>(2 * i + 1)};
  return literal.as_double(i);
}

void store_complex(Literal& out, int64_t i, std::complex<double> z) {
  const bool narrow = out.shape().dtype == Dtype::C64;
  const Dtype part = narrow ? Dtype::F32 : Dtype::F64;
  store_from_double(part, out.mutable_data() + 2 * i * size_bytes(part), z.real());
  store_from_double(part, out.mutable_data() + (2 * i + 1) * size_bytes(part), z.imag());
}

}  // namespace

// Integers wrap; everything else is summed in double (complex) precision and rounded once.
Result<Literal> eval_einsum(Evaluator&, const Instruction& inst, Operands& operands) {
  NCC_ASSIGN(const EinsumPlan plan, plan_einsum(inst, operands));
  const Dtype type = inst.shape.dtype;
  Literal out = Literal::zeros(Shape::array(
      type, {plan.sizes.begin(), plan.sizes.begin() + static_cast<int64_t>(plan.result.size())}));
  int64_t element = 0;
  if (is_integer(type) || type == Dtype::Pred) {
    uint64_t sum = 0;
    run_loops(
        plan, operands, [&] { sum = 0; },
        [&](const std::vector<int64_t>& at) {
          uint64_t term = 1;
          for (size_t o = 0; o < operands.size(); ++o)
            term *= static_cast<uint64_t>(operands[o].as_int64(at[o]));
          sum += term;
        },
        [&] {
          store_from_int64(type, out.mutable_data() + element++ * size_bytes(type),
                           static_cast<int64_t>(sum));
        });
    return out;
  }
  std::complex<double> sum = 0;
  run_loops(
      plan, operands, [&] { sum = 0; },
      [&](const std::vector<int64_t>& at) {
        std::complex<double> term = complex_at(operands[0], at[0]);
        for (size_t o = 1; o < operands.size(); ++o) term *= complex_at(operands[o], at[o]);
        sum += term;
      },
      [&] {
        if (is_complex(type)) return store_complex(out, element++, sum);
        store_from_double(type, out.mutable_data() + element++ * size_bytes(type), sum.real());
      });
  return out;
}

// dimensions = {dim, batch_dims}: result[batch…, before…, picks…, behind…] takes index[batch…, picks…] along
// dim. Indices out of range are clamped, as gather clamps.
Result<Literal> eval_torch_index_select(Evaluator&, const Instruction& inst, Operands& operands) {
  const Literal &from = operands[0], &index = operands[1];
  const size_t dim = static_cast<size_t>(inst.dimensions[0]), batch = static_cast<size_t>(inst.dimensions[1]);
  const std::vector<int64_t>&dims = from.shape().dims, &picks = index.shape().dims;
  if (dim >= dims.size() || batch > dim || batch > picks.size() || dims[dim] == 0)
    return unsupported(inst, "its dimensions do not fit its operands");
  std::vector<int64_t> out_dims(dims.begin(), dims.begin() + static_cast<int64_t>(dim));
  out_dims.insert(out_dims.end(), picks.begin() + static_cast<int64_t>(batch), picks.end());
  out_dims.insert(out_dims.end(), dims.begin() + static_cast<int64_t>(dim) + 1, dims.end());
  Literal out = Literal::zeros(Shape::array(from.shape().dtype, out_dims));
  if (out.num_elements() == 0) return out;
  const std::vector<int64_t> source = row_major_strides(dims), index_strides = row_major_strides(picks);
  const size_t picked = picks.size() - batch;
  const int64_t width = size_bytes(from.shape().dtype);
  std::vector<int64_t> at(out_dims.size(), 0);
  int64_t element = 0;
  do {
    int64_t which = 0, offset = 0;
    for (size_t b = 0; b < batch; ++b) which += at[b] * index_strides[b];
    for (size_t p = 0; p < picked; ++p) which += at[dim + p] * index_strides[batch + p];
    for (size_t d = 0; d < dims.size(); ++d) {
      if (d < dim) offset += at[d] * source[d];
      if (d == dim) offset += std::clamp<int64_t>(index_value(index, which), 0, dims[dim] - 1) * source[d];
      if (d > dim) offset += at[d - 1 + picked] * source[d];
    }
    std::memcpy(out.mutable_data() + element++ * width, from.bytes().data() + offset * width,
                static_cast<size_t>(width));
  } while (next_index(at, out_dims));
  return out;
}

}  // namespace ncc::hlo
