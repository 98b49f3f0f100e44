#include "tools/hlo-opt/hlo/recognise/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/hlo-opt/hlo/match.h"

namespace ncc::hlo_passes {
namespace {

constexpr std::string_view kKey = "pattern";
constexpr size_t kMostFactors = 16;

void set_pattern(Instruction* inst, std::string tag) {
  auto& list = inst->mutable_attrs().frontend_attributes;
  list.emplace_back(kKey, std::move(tag));
  std::sort(list.begin(), list.end());
}

}  // namespace

std::string_view pattern_of(const Instruction* value) {
  for (const auto& [key, tag] : value->attrs().frontend_attributes) {
    if (key == kKey) return tag;
  }
  return "";
}

bool has_pattern(const Instruction* value, std::string_view name) {
  const std::string_view tag = pattern_of(value);
  return tag.substr(0, tag.find(' ')) == name;
}

Status tag_each(hlo::Module& module, int64_t& changes,
                std::optional<std::string> (*find)(const Instruction* inst)) {
  for (Computation* computation : module.post_order()) {
    for (Instruction* inst : computation->post_order()) {
      if (!inst->shape.is_array() || !pattern_of(inst).empty()) continue;
      if (auto tag = find(inst)) {
        set_pattern(inst, std::move(*tag));
        ++changes;
      }
    }
  }
  return Status::ok();
}

const Instruction* source_of(const Instruction* value) {
  while (value->is(Opcode::Reshape) || value->is(Opcode::Broadcast) || value->is(Opcode::Transpose) ||
         value->is(Opcode::Convert) || value->is(Opcode::Copy) || value->is(Opcode::Bitcast))
    value = value->operand(0);
  return value;
}

std::optional<double> number_of(const Instruction* value) {
  const Literal* literal = splat_of(source_of(value));
  if (!literal || !is_float(literal->shape().dtype)) return std::nullopt;
  return literal->as_double(0);
}

bool is_about(const Instruction* value, double wanted) {
  const auto found = number_of(value);
  return found && std::fabs(*found - wanted) <= std::fabs(wanted) * 0x1p-7;
}

std::optional<Reduction> reduction_of(const Instruction* value, Opcode body) {
  const Instruction* reduce = source_of(value);
  if (!reduce->is(Opcode::Reduce) || reduce->num_operands() != 2 || reduce->dimensions.empty() ||
      binary_body(*reduce->body()) != body)
    return std::nullopt;
  Reduction found{reduce, source_of(reduce->operand(0)), reduce->dimensions, 1};
  std::sort(found.axes.begin(), found.axes.end());
  for (int64_t axis : found.axes) found.size *= reduce->operand_shape(0).dims[static_cast<size_t>(axis)];
  return found;
}

std::string tag_along(std::string_view name, const Dims& axes) {
  return fmt::format("{} axis={}", name, fmt::join(axes, ","));
}

std::optional<Reduction> mean_of(const Instruction* value) {
  const Instruction* scaled = source_of(value);
  if (!scaled->is(Opcode::Divide) && !scaled->is(Opcode::Multiply)) return std::nullopt;
  for (int64_t i : {0, 1}) {
    if (scaled->is(Opcode::Divide) && i == 1) break;
    const auto sum = reduction_of(scaled->operand(i), Opcode::Add);
    if (!sum || sum->size == 0) continue;
    const auto count = static_cast<double>(sum->size);
    if (is_about(scaled->operand(1 - i), scaled->is(Opcode::Divide) ? count : 1 / count)) return sum;
  }
  return std::nullopt;
}

const Instruction* squared(const Instruction* value) {
  value = source_of(value);
  if (value->is(Opcode::Square)) return source_of(value->operand(0));
  if (value->is(Opcode::Multiply) && source_of(value->operand(0)) == source_of(value->operand(1)))
    return source_of(value->operand(0));
  if (value->is(Opcode::Power) && is_about(value->operand(1), 2)) return source_of(value->operand(0));
  return nullptr;
}

std::vector<const Instruction*> factors_of(const Instruction* product, const Instruction* whole) {
  std::vector<const Instruction*> factors, work{product};
  while (!work.empty() && factors.size() + work.size() <= kMostFactors) {
    const Instruction* value = source_of(work.back());
    work.pop_back();
    if (value->is(Opcode::Multiply) && value != whole) {
      work.push_back(value->operand(1));
      work.push_back(value->operand(0));
    } else {
      factors.push_back(value);
    }
  }
  return factors;
}

}  // namespace ncc::hlo_passes
