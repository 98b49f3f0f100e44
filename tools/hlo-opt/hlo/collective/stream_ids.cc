// The queue a collective runs on is its frontend attribute `stream_id`, which emission asks for:
//   aws_neuron_collective_stream_id_injector (81)  a collective without one gets stream 0
//   collective-stream-id-checker (58)              refuses a collective without one, or with one that is no
//                                                  number (EVRF003)
// Source: spec/hlo-front-half.md §4.19, §5.4.
#include <algorithm>

#include "tools/hlo-opt/hlo/collective/collective_match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr std::string_view kStreamId = "stream_id";

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 10 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool needs_stream(const Instruction& inst) { return inst.info().kind == hlo::OpKind::Collective; }

}  // namespace

Status collective_stream_id_injector(hlo::Module& module, PassContext& context) {
  for (const auto& computation : module.computations()) {
    for (const auto& inst : computation->instructions()) {
      if (!needs_stream(*inst) || inst->attrs().find(kStreamId)) continue;
      auto& attributes = inst->mutable_attrs().frontend_attributes;
      attributes.emplace_back(kStreamId, "0");
      std::sort(attributes.begin(), attributes.end());
      ++context.changes;
    }
  }
  return Status::ok();
}

Status collective_stream_id_checker(hlo::Module& module, PassContext&) {
  for (const auto& computation : module.computations()) {
    for (const auto& inst : computation->instructions()) {
      if (!needs_stream(*inst)) continue;
      const auto id = inst->attrs().find(kStreamId);
      if (id && is_number(*id)) continue;
      return error(Code::EVRF003, inst->loc,
                   fmt::format("{}: the frontend attribute stream_id is {}, expected a number",
                               describe(*inst), id ? fmt::format("'{}'", *id) : "missing"));
    }
  }
  return Status::ok();
}

}  // namespace ncc::hlo_passes
