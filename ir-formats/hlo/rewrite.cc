#include "ir-formats/hlo/rewrite.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "ir-formats/hlo/carried_shape.h"

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

// Attributes without a field in HLO files.
struct CarriedInt {
  std::string_view name;
  int64_t Attributes::*field;
  int64_t absent;
};
constexpr CarriedInt kCarriedInts[] = {
    {"split_dimension", &Attributes::split_dimension, -1},
    {"concat_dimension", &Attributes::concat_dimension, -1},
    {"split_count", &Attributes::split_count, 0},
};

void restore_raw(Instruction* inst) {
  Attributes* a = &inst->mutable_attrs();
  std::erase_if(a->frontend_attributes, [&](auto& entry) {
    if (!entry.first.starts_with(kRawPrefix)) return false;
    const std::string name = entry.first.substr(kRawPrefix.size());
    for (const CarriedInt& row : kCarriedInts) {
      if (row.name != name) continue;
      a->*row.field = std::atoll(entry.second.c_str());
      return true;
    }
    if (name == "einsum_config") {
      a->einsum_config = entry.second;
    } else if (name == "sharding") {
      a->sharding = entry.second;
    } else if (name == "has_dynamic_root") {
      a->has_dynamic_root = true;
    } else if (name == "quantization" && restore_quantization(entry.second, &inst->shape)) {
      return true;
    } else if (std::optional<std::string> bytes;
               name == "proto_fields" && (bytes = bytes_of_hex(entry.second))) {
      a->unknown_fields = std::move(*bytes);
    } else {
      a->raw.emplace_back(name, entry.second);
    }
    return true;
  });
}

}  // namespace

std::optional<std::string> bytes_of_hex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned value = 0;
    const auto [stop, problem] = std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
    if (problem != std::errc() || stop != hex.data() + i + 2) return std::nullopt;
    bytes += static_cast<char>(value);
  }
  return hex.size() % 2 == 0 ? std::optional(std::move(bytes)) : std::nullopt;
}

bool legacy_compare(std::string_view opcode, CompareDirection* direction) {
  for (const LegacyCompare& old : kLegacyCompares) {
    if (opcode != old.opcode) continue;
    *direction = old.direction;
    return true;
  }
  return false;
}

std::vector<std::pair<std::string, std::string>> carried_attributes(const Instruction& inst) {
  const Attributes& a = inst.attrs();
  std::vector<std::pair<std::string, std::string>> list;
  const auto add = [&](std::string_view name, std::string value) {
    list.emplace_back(fmt::format("{}{}", kRawPrefix, name), std::move(value));
  };
  for (const CarriedInt& row : kCarriedInts) {
    if (a.*row.field != row.absent) add(row.name, fmt::format("{}", a.*row.field));
  }
  if (!a.einsum_config.empty()) add("einsum_config", a.einsum_config);
  if (a.has_dynamic_root) add("has_dynamic_root", "true");
  if (std::string quantization = quantization_list(inst.shape); !quantization.empty())
    add("quantization", std::move(quantization));
  for (const auto& [name, value] : a.raw) add(name, value);
  return list;
}

void restore_result_names(Module* module) {
  const size_t leaves = module->frontend_attributes.size();
  std::vector<std::string> names(leaves);
  size_t found = 0;
  std::erase_if(module->frontend_attributes, [&](const auto& entry) {
    if (!entry.first.starts_with(kResultNamePrefix)) return false;
    const std::string digits = entry.first.substr(kResultNamePrefix.size());
    const size_t index =
        digits.empty() || digits.size() > 9 ? leaves : static_cast<size_t>(std::atoll(digits.c_str()));
    if (index >= leaves) return false;
    names[index] = entry.second;
    found = std::max(found, index + 1);
    return true;
  });
  names.resize(found);
  if (found > 0) module->result_names = std::move(names);
}

namespace {

// The op that a custom call's target names: one that HLO has no opcode for, written by us or by StableHLO's
// exporters; or any that MHLO has and StableHLO has not (PyTorch/XLA: "mhlo.erf").
std::optional<Opcode> named_opcode(const std::string& target) {
  if (!target.starts_with("mhlo.")) {
    const std::optional<Opcode> opcode = opcode_from_mlir(target);
    return opcode && info(*opcode).origin != OpOrigin::Hlo ? opcode : std::nullopt;
  }
  const std::string name = target == "mhlo.topk" ? "top_k" : target.substr(5);
  const std::optional<Opcode> opcode = opcode_from_mlir("chlo." + name);
  // What needs attributes beside its operands cannot be told from the target alone.
  if (opcode && info(*opcode).origin == OpOrigin::Hlo && !info(*opcode).elementwise &&
      *opcode != Opcode::TopK)
    return std::nullopt;
  return opcode;
}

}  // namespace

void restore_opcode(Instruction* inst) {
  if (!inst->has_attrs()) return;
  restore_raw(inst);
  if (!inst->is(Opcode::CustomCall)) return;
  const std::optional<Opcode> opcode = named_opcode(inst->attrs().custom_call_target);
  // A top-k without its k is left as the call that it is.
  if (!opcode || (*opcode == Opcode::TopK && inst->attrs().k <= 0)) return;
  inst->opcode = *opcode;
  Attributes& a = inst->mutable_attrs();
  a.custom_call_target.clear();
  a.api_version = 0;
}

}  // namespace ncc::hlo
