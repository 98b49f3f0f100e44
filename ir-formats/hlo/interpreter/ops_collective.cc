// Collectives: every member of a process group gives its operands, and each computes its own result from all
// of them. On one device a group of one gives its own operand back. Source: spec/stablehlo-text.md §3.10.
#include <algorithm>
#include <numeric>

#include "ir-formats/hlo/interpreter/collective_groups.h"
#include "ir-formats/hlo/interpreter/combiner.h"
#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/strided_copy.h"

namespace ncc::hlo {
namespace {

// `count` indices of dimension `dim` from `first` on.
Literal part_of(const Literal& whole, size_t dim, int64_t first, int64_t count) {
  std::vector<int64_t> dims = whole.shape().dims;
  const std::vector<int64_t> strides = row_major_strides(dims);
  const int64_t width = size_bytes(whole.shape().dtype);
  dims[dim] = count;
  Literal out = Literal::zeros(Shape::array(whole.shape().dtype, dims));
  strided_copy(width, dims, whole.bytes().data() + first * strides[dim] * width, strides, out.mutable_data(),
               row_major_strides(dims));
  return out;
}

Literal joined(const std::vector<Literal>& parts, size_t dim) {
  std::vector<int64_t> dims = parts[0].shape().dims;
  dims[dim] = 0;
  for (const Literal& part : parts) dims[dim] += part.shape().dims[dim];
  const int64_t width = size_bytes(parts[0].shape().dtype);
  Literal out = Literal::zeros(Shape::array(parts[0].shape().dtype, dims));
  const std::vector<int64_t> target = row_major_strides(dims);
  int64_t position = 0;
  for (const Literal& part : parts) {
    strided_copy(width, part.shape().dims, part.bytes().data(), row_major_strides(part.shape().dims),
                 out.mutable_data() + position * target[dim] * width, target);
    position += part.shape().dims[dim];
  }
  return out;
}

// Operand `i` of every member.
std::vector<Literal> operand_of_all(const Meeting& meeting, size_t i) {
  std::vector<Literal> values;
  for (const std::vector<Literal>& member : meeting.values) values.push_back(member[i]);
  return values;
}

// The body folded over the members in the group's order, in the body's own type.
Result<Literal> folded(Evaluator& evaluator, const Instruction& inst, const std::vector<Literal>& values) {
  if (inst.called.empty()) {
    if (values.size() == 1) return values[0];
    return unsupported(inst, "it has no computation to reduce with");
  }
  const Dtype type = inst.body()->parameters()[0]->shape.dtype;
  Literal sum = converted(values[0], type);
  Combiner combiner(evaluator, *inst.body());
  for (size_t m = 1; m < values.size(); ++m) {
    const Literal next = converted(values[m], type);
    Literal out = Literal::zeros(Shape::array(type, sum.shape().dims));
    const void* in[] = {sum.bytes().data(), next.bytes().data()};
    void* to[] = {out.mutable_data()};
    NCC_TRY(combiner.apply(in, to, out.num_elements()));
    sum = std::move(out);
  }
  return sum;
}

// The member whose value a broadcast or reduction to one place is about, for operand `i`.
Result<size_t> root_of(const Instruction& inst, const Meeting& meeting, size_t i) {
  if (!inst.attrs().has_dynamic_root) return size_t{0};
  const Literal& roots = meeting.values[meeting.position].back();
  const int64_t root =
      static_cast<int64_t>(i) < roots.num_elements() ? roots.as_int64(static_cast<int64_t>(i)) : -1;
  if (root < 0 || root >= static_cast<int64_t>(meeting.group.size()))
    return error(
        Code::ERUN003, inst.loc,
        fmt::format("{}: no member {} in a group of {}", describe(inst), root, meeting.group.size()));
  return static_cast<size_t>(root);
}

Result<Literal> all_to_all_array(const Instruction& inst, const Meeting& meeting,
                                 const std::vector<Literal>& values) {
  const Attributes& attrs = inst.attrs();
  const bool stablehlo = attrs.split_dimension >= 0 && attrs.concat_dimension >= 0;
  const size_t split = static_cast<size_t>(stablehlo ? attrs.split_dimension : inst.dimensions[0]);
  const size_t concat = static_cast<size_t>(stablehlo ? attrs.concat_dimension : inst.dimensions[0]);
  const int64_t members = static_cast<int64_t>(values.size()), size = values[0].shape().dims[split];
  if (size % members != 0)
    return error(
        Code::ERUN003, inst.loc,
        fmt::format("{}: {} elements cannot be split among {} members", describe(inst), size, members));
  std::vector<Literal> parts;
  for (const Literal& value : values)
    parts.push_back(
        part_of(value, split, static_cast<int64_t>(meeting.position) * (size / members), size / members));
  return joined(parts, concat);
}

Result<Literal> result_of(Evaluator& evaluator, const Instruction& inst, const Meeting& meeting, size_t i) {
  const std::vector<Literal> values = operand_of_all(meeting, i);
  switch (inst.opcode) {
    case Opcode::AllGather:
    case Opcode::AllGatherStart:
      if (inst.dimensions.empty()) return unsupported(inst, "it has no dimension");
      return joined(values, static_cast<size_t>(inst.dimensions[0]));
    case Opcode::ReduceScatter: {
      NCC_ASSIGN(const Literal sum, folded(evaluator, inst, values));
      const size_t dim = static_cast<size_t>(inst.dimensions.empty() ? 0 : inst.dimensions[0]);
      const int64_t count = sum.shape().dims[dim] / static_cast<int64_t>(values.size());
      return part_of(sum, dim, static_cast<int64_t>(meeting.position) * count, count);
    }
    case Opcode::AllToAll:
      return all_to_all_array(inst, meeting, values);
    case Opcode::CollectiveBroadcast: {
      NCC_ASSIGN(const size_t root, root_of(inst, meeting, i));
      return values[root];
    }
    case Opcode::CollectiveReduce: {
      NCC_ASSIGN(const size_t root, root_of(inst, meeting, i));
      NCC_ASSIGN(Literal sum, folded(evaluator, inst, values));
      return root == meeting.position ? sum : Literal::zeros(sum.shape());
    }
    default:
      return folded(evaluator, inst, values);
  }
}

// HLO's form with one operand and one result per member: result m is what member m has for me.
Literal all_to_all_tuple(const Meeting& meeting) {
  std::vector<Literal> results;
  for (const std::vector<Literal>& member : meeting.values) results.push_back(member[meeting.position]);
  return Literal::make_tuple(std::move(results));
}

}  // namespace

// One result per operand, converted to the result type where the reduction promotes.
Result<Literal> eval_collective(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  NCC_ASSIGN(const Meeting meeting, meet(evaluator, inst, operands));
  const std::vector<Shape> shapes =
      inst.shape.is_tuple() ? inst.shape.elements : std::vector<Shape>{inst.shape};
  const bool by_member =
      inst.is(Opcode::AllToAll) && inst.dimensions.empty() && inst.attrs().split_dimension < 0;
  if (by_member && meeting.is_member && operands.size() == meeting.group.size())
    return all_to_all_tuple(meeting);
  std::vector<Literal> results;
  for (size_t i = 0; i < shapes.size() && i < operands.size(); ++i) {
    if (!meeting.is_member) {
      results.push_back(Literal::zeros(Shape::array(shapes[i].dtype, operands[i].shape().dims)));
      continue;
    }
    NCC_ASSIGN(Literal result, result_of(evaluator, inst, meeting, i));
    results.push_back(converted(result, shapes[i].dtype));
  }
  if (results.empty() && !inst.shape.is_tuple()) return unsupported(inst, "it has no operand");
  return inst.shape.is_tuple() ? Literal::make_tuple(std::move(results)) : results[0];
}

// The value of the process that sends to this one, else zeros.
Result<Literal> eval_collective_permute(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  NCC_ASSIGN(const Meeting meeting, meet(evaluator, inst, {operands[0]}));
  const int64_t me = static_cast<int64_t>(meeting.position);
  for (const auto& [source, target] : inst.attrs().source_target_pairs) {
    if (target == me && source >= 0 && source < static_cast<int64_t>(meeting.values.size()))
      return meeting.values[static_cast<size_t>(source)][0];
  }
  return Literal::zeros(operands[0].shape());
}

// Operands: input, output, and per member input offsets, send sizes, output offsets, receive sizes, in rows.
// Every member writes its rows for me into my output at the offset that it names; several updates a member
// stand side by side.
Result<Literal> eval_ragged_all_to_all(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  NCC_ASSIGN(const Meeting meeting, meet(evaluator, inst, operands));
  const Shape &from = operands[0].shape(), &to = operands[1].shape();
  const int64_t members = static_cast<int64_t>(meeting.group.size()),
                updates = operands[2].num_elements() / members;
  bool fits = from.dtype == to.dtype && !from.dims.empty() && from.dims.size() == to.dims.size() &&
              std::equal(from.dims.begin() + 1, from.dims.end(), to.dims.begin() + 1);
  for (size_t i = 2; i < 6; ++i) fits = fits && operands[i].num_elements() == updates * members;
  if (!fits)
    return unsupported(inst, "input and output differ in their rows, or offsets and sizes in number");
  Literal out = Literal::copy(to, operands[1].bytes());
  if (!meeting.is_member) return out;
  const int64_t row = from.dims[0] == 0 ? 0 : static_cast<int64_t>(operands[0].bytes().size()) / from.dims[0];
  for (const std::vector<Literal>& member : meeting.values) {
    for (int64_t k = 0; k < updates; ++k) {
      const int64_t at = static_cast<int64_t>(meeting.position) * updates + k;
      const int64_t first = member[2].as_int64(at), count = member[3].as_int64(at),
                    place = member[4].as_int64(at);
      if (first < 0 || count < 0 || place < 0 || first > from.dims[0] - count || place > to.dims[0] - count)
        return error(
            Code::ERUN003, inst.loc,
            fmt::format("{}: {} rows from {} do not fit at {}", describe(inst), count, first, place));
      std::copy_n(member[0].bytes().data() + first * row, count * row, out.mutable_data() + place * row);
    }
  }
  return out;
}

// (copy, source, context): the first element is the result.
Result<Literal> eval_copy_start(Evaluator&, const Instruction&, Operands& operands) {
  return Literal::make_tuple({operands[0], operands[0], Literal::scalar_int(Dtype::U32, 0)});
}

// (operand, result, contexts…)
Result<Literal> eval_pair_start(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  if (!inst.shape.is_tuple() || inst.shape.elements.size() < 2 || operands.size() != 1)
    return unsupported(inst, "only the form with one operand is evaluated");
  Literal operand = operands[0], result;
  if (inst.is(Opcode::CollectivePermuteStart)) {
    NCC_ASSIGN(result, eval_collective_permute(evaluator, inst, operands));
  } else {
    NCC_ASSIGN(const Meeting meeting, meet(evaluator, inst, operands));
    NCC_ASSIGN(result, result_of(evaluator, inst, meeting, 0));
  }
  std::vector<Literal> elements = {std::move(operand), std::move(result)};
  for (size_t i = 2; i < inst.shape.elements.size(); ++i)
    elements.push_back(Literal::zeros(inst.shape.elements[i]));
  return Literal::make_tuple(std::move(elements));
}

Result<Literal> eval_done(Evaluator&, const Instruction& inst, Operands& operands) {
  if (!operands[0].is_tuple() || operands[0].elements().size() < 2)
    return unsupported(inst, "its operand is no start tuple");
  return operands[0].elements()[inst.is(Opcode::CopyDone) ? 0 : 1];
}

Result<Literal> eval_device_id(Evaluator& evaluator, const Instruction& inst, Operands&) {
  const ProcessId id = evaluator.process().id;
  return Literal::scalar_int(Dtype::U32, inst.is(Opcode::ReplicaId) ? id.replica : id.partition);
}

}  // namespace ncc::hlo
