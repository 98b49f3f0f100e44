// Edges between the instructions of a flat block from the physical bytes they touch, through one interval map
// per memory. Each edge goes to the nearest earlier conflicting access; what lies further back is implied.
// One edge per pair, with the strongest kind. Near-linear: O((accesses + edges) log n). Source:
// spec/walrus.md §4.1-§4.4; DESIGN §7.
#pragma once
#include "ir-formats/bir/module.h"

namespace ncc::walrus {

struct EdgeSelection {
  bool flow = true;
  bool anti_and_output = true;
  /// The order is final: of several readers that complete in order only the latest is kept.
  bool final_order = false;
};

/// Adds edges to fn.block (a flat block with addresses). Presumes queues and engines when `final_order`.
/// Returns how many were added.
int64_t add_dependences(bir::Function& fn, const EdgeSelection& selection);

}  // namespace ncc::walrus
