// The operators a model may use, from the tables that decide it: opcodes.def (what is read and verified),
// lowering.def (what is compiled) and the interpreter's eval_table.def (what is evaluated).
#pragma once
#include <string>

namespace ncc::hlo2penguin {

/// `--list-operators`: one line an op: name, family, compiled, evaluated.
std::string operators_text();
/// docs/operators.md.
std::string operators_markdown();

}  // namespace ncc::hlo2penguin
