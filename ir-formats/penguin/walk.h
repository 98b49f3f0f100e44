// Walks over statements in program order.
#pragma once
#include "ir-formats/penguin/module.h"

namespace ncc::penguin {

/// Calls visit(inst) for every instruction, outer statements before inner ones. `Statements` is (const)
/// std::vector<Stmt>.
template <class Statements, class Visit>
void walk(Statements& body, Visit&& visit) {
  for (auto& stmt : body) {
    if (stmt.inst) visit(*stmt.inst);
    walk(stmt.body, visit);
    walk(stmt.else_body, visit);
  }
}

}  // namespace ncc::penguin
