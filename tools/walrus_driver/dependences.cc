#include "tools/walrus_driver/dependences.h"

#include <algorithm>
#include <unordered_map>

#include "tools/walrus_driver/footprint.h"
#include "tools/walrus_driver/interval_map.h"
#include "tools/walrus_driver/streams.h"

namespace ncc::walrus {

int64_t add_dependences(bir::Function& fn, const EdgeSelection& selection) {
  std::unordered_map<int32_t, IntervalMap> areas;
  std::vector<Span> spans;
  std::vector<bir::Dependency> edges;
  int64_t added = 0;
  std::vector<bir::Instruction>& list = fn.block.instructions;
  for (uint32_t i = 0; i < list.size(); ++i) {
    bir::Instruction& inst = list[i];
    spans.clear();
    edges.clear();
    instruction_spans(fn, inst, spans);
    const uint16_t group =
        selection.final_order ? static_cast<uint16_t>(completion_stream(inst)) : uint16_t{0};
    for (const Span& span : spans) {
      IntervalMap& map = areas.try_emplace(span.area, selection.final_order).first->second;
      const IntervalMap::Entry entry{i, span.first, span.last, group};
      if (span.write) {
        map.write(span.low, span.high, entry, [&](uint32_t earlier, bool is_writer) {
          if (selection.anti_and_output)
            edges.push_back({earlier, is_writer ? bir::EdgeKind::Output : bir::EdgeKind::Anti});
        });
      } else {
        map.read(span.low, span.high, entry, [&](uint32_t earlier) {
          if (selection.flow) edges.push_back({earlier, bir::EdgeKind::Flow});
        });
      }
    }
    edges.insert(edges.end(), inst.dependencies.begin(), inst.dependencies.end());
    std::sort(edges.begin(), edges.end(), [](const bir::Dependency& a, const bir::Dependency& b) {
      return std::tie(a.predecessor, b.kind) < std::tie(b.predecessor, a.kind);
    });
    edges.erase(std::unique(edges.begin(), edges.end(),
                            [](const bir::Dependency& a, const bir::Dependency& b) {
                              return a.predecessor == b.predecessor;
                            }),
                edges.end());
    added += std::ssize(edges) - std::ssize(inst.dependencies);
    inst.dependencies.assign(edges.begin(), edges.end());
  }
  return added;
}

}  // namespace ncc::walrus
