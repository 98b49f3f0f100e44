#include <algorithm>
#include <vector>

#include "common/diag/suggest.h"
#include "tools/hlo-opt/hlo/pass.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr PassInfo kPasses[] = {
#define HLO_PASS(name, function, stage, rounding, summary) \
  {name, function, Stage::stage, Rounding::rounding, summary},
#include "tools/hlo-opt/hlo/passes.def"
};

constexpr KnownName kKnownNames[] = {
#define KNOWN(name, reason) {name, reason},
#include "tools/hlo-opt/hlo/known_names.def"
};

// Both spellings of the specification's families are in use.
bool same_name(std::string_view a, std::string_view b) {
  const auto plain = [](char c) { return c == '_' ? '-' : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return plain(x) == plain(y); });
}

}  // namespace

std::span<const PassInfo> all_passes() { return kPasses; }

const PassInfo* find_pass(std::string_view name) {
  for (const PassInfo& row : kPasses) {
    if (same_name(row.name, name)) return &row;
  }
  return nullptr;
}

const KnownName* find_known_name(std::string_view name) {
  for (const KnownName& row : kKnownNames) {
    if (same_name(row.name, name)) return &row;
  }
  return nullptr;
}

Result<const PassInfo*> require_pass(std::string_view name) {
  if (const PassInfo* pass = find_pass(name)) return pass;
  if (const KnownName* known = find_known_name(name))
    return error(Code::EARG003, fmt::format("pass {}", known->name), std::string(known->reason));
  std::vector<std::string> names;
  for (const PassInfo& row : kPasses) names.emplace_back(row.name);
  return error(Code::EARG001,
               fmt::format("unknown HLO pass '{}', did you mean '{}'? (--list-passes shows them)", name,
                           closest_name(name, names)));
}

std::string_view name(Stage stage) {
  constexpr std::string_view kNames[] = {"flatten", "simplify", "expand", "recognise", "final", "on demand"};
  return kNames[static_cast<size_t>(stage)];
}

std::string_view name(Rounding rounding) {
  constexpr std::string_view kNames[] = {"exact", "rounds", "draws", "other"};
  return kNames[static_cast<size_t>(rounding)];
}

}  // namespace ncc::hlo_passes
