// Turns the nodes that a result needs into Maps.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "tools/hlo-opt/passes/expand_math/graph.h"

namespace ncc::hlo_opt::math_expansion {

/// Tensor names of one function.
class Names {
 public:
  explicit Names(const penguin::Function& function);
  /// `base.suffix`, with a number where that is taken.
  std::string make(const std::string& base, const std::string& suffix);

 private:
  std::set<std::string> taken_;
};

/// What names the intermediates of an instruction: its own name, else that of the tensor it writes.
const std::string& base_name(const penguin::Inst& inst, const penguin::Function& function);

/// Appends one Map per operation that `root` needs. Intermediates are new Internal tensors, one dim per
/// iteration axis of `original`; the last Map writes `original`'s result (of the type of `root`) and keeps
/// its name.
void emit(const Graph& graph, Value root, const penguin::Inst& original, penguin::Module& module,
          penguin::Function& function, Names& names, std::vector<penguin::Stmt>& out);

}  // namespace ncc::hlo_opt::math_expansion
