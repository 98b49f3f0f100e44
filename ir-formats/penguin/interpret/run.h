// One instruction on arrays. Internal to the interpreter.
#pragma once
#include <vector>

#include "common/npy/npy.h"
#include "ir-formats/penguin/module.h"

namespace ncc::penguin {

/// `arrays[id]` holds the tensor's elements in the declared shape (views already resolved); the result's
/// array exists.
struct RunContext {
  const Function& function;
  std::vector<Array>& arrays;
};

void run_map(const Inst& inst, RunContext& context);
void run_reduce(const Inst& inst, RunContext& context);
void run_contract(const Inst& inst, RunContext& context);

}  // namespace ncc::penguin
