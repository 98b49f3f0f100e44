// The rules of algsimp by family; the table is algsimp_rules.def.
#pragma once
#include "tools/hlo-opt/hlo/match.h"

namespace ncc::hlo_passes::algsimp_rules {

#define RULE(opcode, function, summary) Instruction* function(ComputationEditor& edit, Instruction* inst);
#include "tools/hlo-opt/hlo/passes/algsimp_rules.def"

}  // namespace ncc::hlo_passes::algsimp_rules
