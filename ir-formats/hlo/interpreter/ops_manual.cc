// Manual computations: between a whole value and the part of it that one device of a grid works on. On one
// device the part is the whole. Source: spec/stablehlo-text.md §2.12.
#include <numeric>

#include "ir-formats/hlo/device_part.h"
#include "ir-formats/hlo/interpreter/custom_call.h"
#include "ir-formats/hlo/interpreter/strided_copy.h"

namespace ncc::hlo {
namespace {

std::string_view meshes_of(const Module& module) {
  for (const auto& [name, value] : module.frontend_attributes)
    if (name == "xla.sdy.meshes") return value;
  return "";
}

/// The part of every operand that `device` has; `to_part` tells which shape of the call is the whole.
std::optional<std::vector<DevicePart>> parts_of(const Instruction& inst, bool to_part, int64_t device) {
  if (inst.attrs().custom_call_target.starts_with("SPMD")) {
    const Instruction* shaped = to_part ? inst.operand(0) : &inst;
    const auto part = part_of_sharding(shaped->attrs().sharding, inst.shape.dims.size(), device);
    return part ? std::optional(std::vector{*part}) : std::nullopt;
  }
  const auto stated = [&](std::string_view key) { return inst.attrs().find(key).value_or(""); };
  return parts_of_shardy(meshes_of(*inst.parent->module()),
                         stated(to_part ? "xla.sdy.in_shardings" : "xla.sdy.out_shardings"),
                         stated("xla.sdy.manual_axes"), device);
}

/// The sharding fits two shapes when every dimension is divided as often as the shapes say. A dimension of
/// one length in both is not divided here: its tiles, if any, belong to axes that are not manual.
bool fit(DevicePart* part, const std::vector<int64_t>& whole, const std::vector<int64_t>& own) {
  if (part->count.size() != whole.size() || own.size() != whole.size()) return false;
  for (size_t d = 0; d < whole.size(); ++d) {
    if (whole[d] == own[d]) {
      part->place[d] = 0;
      part->count[d] = 1;
    }
    if (own[d] * part->count[d] != whole[d]) return false;
  }
  return true;
}

int64_t first_element(const DevicePart& part, const std::vector<int64_t>& whole,
                      const std::vector<int64_t>& own) {
  const std::vector<int64_t> strides = row_major_strides(whole);
  int64_t first = 0;
  for (size_t d = 0; d < whole.size(); ++d) first += part.place[d] * own[d] * strides[d];
  return first;
}

const Shape& stated_shape(const Instruction& inst, size_t i) {
  return inst.shape.is_tuple() ? inst.shape.elements[i] : inst.shape;
}

Status does_not_fit(const Instruction& inst, size_t i) {
  return error(Code::ERUN003, inst.loc,
               fmt::format("{}: the sharding of operand {} does not divide it into what is stated",
                           describe(inst), i));
}

/// One device, or as many values as operands; the reason against it otherwise.
Status check(const Evaluator& evaluator, const Instruction& inst, const Operands& operands) {
  const bool several = inst.shape.is_tuple();
  if (operands.empty() || operands.size() != (several ? inst.shape.elements.size() : 1))
    return unsupported(inst, "it has not one operand a value");
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& stated = stated_shape(inst, i);
    if (operands[i].is_tuple() || !stated.is_array() || operands[i].shape().dtype != stated.dtype)
      return unsupported(inst, "its operands are not arrays of the types stated");
    if (!evaluator.process().grid && operands[i].shape().dims != stated.dims)
      return unsupported(inst, "values are split over several devices");
  }
  return Status::ok();
}

Literal handed_on(const Instruction& inst, Operands& values) {
  return inst.shape.is_tuple() ? Literal::make_tuple(std::move(values)) : std::move(values[0]);
}

}  // namespace

Result<Literal> call_part(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  NCC_TRY(check(evaluator, inst, operands));
  if (!evaluator.process().grid) return handed_on(inst, operands);
  std::optional<std::vector<DevicePart>> parts = parts_of(inst, true, evaluator.process().id.partition);
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::vector<int64_t>&whole = operands[i].shape().dims, &own = stated_shape(inst, i).dims;
    if (!parts || i >= parts->size() || !fit(&(*parts)[i], whole, own)) return does_not_fit(inst, i);
    const int64_t width = size_bytes(operands[i].shape().dtype);
    Literal part = Literal::zeros(stated_shape(inst, i));
    strided_copy(width, own, operands[i].bytes().data() + first_element((*parts)[i], whole, own) * width,
                 row_major_strides(whole), part.mutable_data(), row_major_strides(own));
    operands[i] = std::move(part);
  }
  return handed_on(inst, operands);
}

// Where several devices hold the same part, the first one's counts, as when XLA hands an array to the host.
Result<Literal> call_whole(Evaluator& evaluator, const Instruction& inst, Operands& operands) {
  NCC_TRY(check(evaluator, inst, operands));
  const Process& process = evaluator.process();
  if (!process.grid) return handed_on(inst, operands);
  std::vector<ProcessId> group;
  for (int64_t partition = 0; partition < process.grid->partitions(); ++partition)
    group.push_back({process.id.replica, partition});
  NCC_ASSIGN(const std::vector<std::vector<Literal>> given,
             process.grid->exchange(process.id, 0, group, operands));
  std::vector<Literal> wholes;
  for (size_t i = 0; i < operands.size(); ++i) wholes.push_back(Literal::zeros(stated_shape(inst, i)));
  for (size_t device = given.size(); device-- > 0;) {
    std::optional<std::vector<DevicePart>> parts = parts_of(inst, false, static_cast<int64_t>(device));
    for (size_t i = 0; i < operands.size(); ++i) {
      const std::vector<int64_t>&whole = wholes[i].shape().dims, &own = operands[i].shape().dims;
      if (!parts || i >= parts->size() || given[device].size() != operands.size() ||
          given[device][i].shape().dims != own || given[device][i].shape().dtype != wholes[i].shape().dtype ||
          !fit(&(*parts)[i], whole, own))
        return does_not_fit(inst, i);
      const int64_t width = size_bytes(operands[i].shape().dtype);
      strided_copy(width, own, given[device][i].bytes().data(), row_major_strides(own),
                   wholes[i].mutable_data() + first_element((*parts)[i], whole, own) * width,
                   row_major_strides(whole));
    }
  }
  return handed_on(inst, wholes);
}

}  // namespace ncc::hlo
