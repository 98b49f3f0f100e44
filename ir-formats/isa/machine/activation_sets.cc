// The roster of activation table sets (activation_sets.def).
#include <array>
#include <initializer_list>

#include "ir-formats/isa/machine/cost.h"

namespace ncc::machine {
namespace {

using F = isa::ActivationFunction;
using enum isa::ActivationFunction;

constexpr uint64_t mask_of(std::initializer_list<F> functions) {
  uint64_t mask = 0;
  for (F f : functions) mask |= uint64_t{1} << static_cast<int>(f);
  return mask;
}
struct TableSet {
  int id;
  std::string_view name;
  uint64_t functions;
};
constexpr TableSet kSets[] = {
#define TABLE_SET(id, name, ...) {id, name, mask_of({__VA_ARGS__})},
#include "ir-formats/isa/machine/activation_sets.def"
};
static_assert(std::size(kSets) == kNumTableSets);

}  // namespace

bool table_set_holds(int set, isa::ActivationFunction function) {
  if (!isa::info(function).uses_table) return true;
  if (set < 0 || set >= kNumTableSets) return false;
  return (kSets[set].functions >> static_cast<int>(function)) & 1;
}

std::string_view table_set_name(int set) {
  return set < 0 || set >= kNumTableSets ? "none" : kSets[set].name;
}

}  // namespace ncc::machine
