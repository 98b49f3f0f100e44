// Refuses a collective without a stream, or with one that is no number (EVRF003). Source:
// spec/hlo-front-half.md §4.19 (58).
#include <algorithm>

#include "tools/hlo-opt/hlo/collective/stream_id.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 10 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

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
