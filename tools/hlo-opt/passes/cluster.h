// cluster: which instructions share one loop over partition blocks, and in which order the clusters run.
#pragma once
#include "common/diag/status.h"
#include "tools/hlo-opt/plan.h"

namespace ncc::hlo_opt {

/// Fills Plan::clusters and InstPlan::cluster. An instruction joins the latest cluster of its producers when
/// every edge from that cluster is aligned (block b needs only block b), and it has the same partition
/// extent; else it starts a new one. Linear.
Status form_clusters(const penguin::Module& module, Plan& plan);

}  // namespace ncc::hlo_opt
