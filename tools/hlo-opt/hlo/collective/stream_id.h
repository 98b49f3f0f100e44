// The queue a collective runs on is its frontend attribute `stream_id`, which emission asks for.
// Source: spec/hlo-front-half.md §4.19, §5.4.
#pragma once
#include <string_view>

#include "tools/hlo-opt/hlo/editor.h"

namespace ncc::hlo_passes {

inline constexpr std::string_view kStreamId = "stream_id";

inline bool needs_stream(const Instruction& inst) { return inst.info().kind == hlo::OpKind::Collective; }

}  // namespace ncc::hlo_passes
