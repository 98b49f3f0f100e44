#include "ir-formats/hlo/rewrite.h"

namespace ncc::hlo {

Status split_index_operand(Instruction* inst) {
  const bool update = inst->is(Opcode::DynamicUpdateSlice);
  if (!update && !inst->is(Opcode::DynamicSlice)) return Status::ok();
  const size_t first = update ? 2 : 1;
  if (inst->operands.size() != first + 1) return Status::ok();
  Instruction* indices = inst->operands[first];
  if (indices->shape.rank() != 1 || !indices->shape.is_array()) return Status::ok();
  const int64_t rank = inst->operands[0]->shape.rank();
  if (indices->shape.dims[0] != rank)
    return error(Code::EVRF004, inst->loc, fmt::format("indices of {}", describe(*inst)),
                 indices->shape.dims[0], rank);
  Computation* computation = inst->parent;
  inst->operands.pop_back();
  for (int64_t d = 0; d < rank; ++d) {
    Instruction* piece = computation->add(Opcode::Slice, Shape::array(indices->shape.dtype, {1}), {indices});
    piece->mutable_attrs().slice_starts = {d};
    piece->mutable_attrs().slice_limits = {d + 1};
    piece->mutable_attrs().slice_strides = {1};
    piece->loc = inst->loc;
    Instruction* scalar = computation->add(Opcode::Reshape, Shape::array(indices->shape.dtype), {piece});
    scalar->loc = inst->loc;
    inst->operands.push_back(scalar);
  }
  return Status::ok();
}

namespace {

struct LegacyCompare {
  std::string_view opcode;
  CompareDirection direction;
};
constexpr LegacyCompare kLegacyCompares[] = {
    {"equal-to", CompareDirection::EQ},     {"not-equal-to", CompareDirection::NE},
    {"greater-than", CompareDirection::GT}, {"greater-than-or-equal-to", CompareDirection::GE},
    {"less-than", CompareDirection::LT},    {"less-than-or-equal-to", CompareDirection::LE},
};

// The raw attributes that were carried as frontend attributes.
void restore_raw(Attributes* a) {
  std::erase_if(a->frontend_attributes, [&](auto& entry) {
    if (!entry.first.starts_with(kRawPrefix)) return false;
    a->raw.emplace_back(entry.first.substr(kRawPrefix.size()), entry.second);
    return true;
  });
}

}  // namespace

bool legacy_compare(std::string_view opcode, CompareDirection* direction) {
  for (const LegacyCompare& old : kLegacyCompares) {
    if (opcode != old.opcode) continue;
    *direction = old.direction;
    return true;
  }
  return false;
}

void restore_opcode(Instruction* inst) {
  if (!inst->has_attrs()) return;
  restore_raw(&inst->mutable_attrs());
  if (!inst->is(Opcode::CustomCall)) return;
  std::string target = inst->attrs().custom_call_target;
  if (target.starts_with("mhlo.")) target = "chlo." + target.substr(5);
  const std::optional<Opcode> opcode = opcode_from_mlir(target);
  if (!opcode || info(*opcode).origin == OpOrigin::Hlo) return;
  inst->opcode = *opcode;
  Attributes& a = inst->mutable_attrs();
  a.custom_call_target.clear();
  a.api_version = 0;
}

}  // namespace ncc::hlo
