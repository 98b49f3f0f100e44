#include "driver/conditions.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "driver/precision.h"

namespace ncc::driver {

bool ConditionContext::model_is_penguin() const {
  if (options.models().empty()) return false;
  const std::string& model = options.models().front();
  const std::string name = model.substr(model.rfind('/') + 1);
  for (const char* known : {"penguin.pb", "penguin.py", "penguin.txt"})
    if (name == known) return true;
  return name.ends_with(".penguin.pb") || name.ends_with(".penguin");
}

bool ConditionContext::verifies(const std::string& name) const {
  if (!options.used(Opt::verify)) return false;
  const std::string stages = options.text(Opt::verify);
  return stages.empty() || ("," + stages + ",").find("," + name + ",") != std::string::npos;
}

bool ConditionContext::holds_entries(const std::string& path) const {
  const std::optional<std::string> text = read ? read(path) : std::nullopt;
  if (!text) return false;
  const nlohmann::json parsed = nlohmann::json::parse(*text, nullptr, false);
  // A file that is not an array counts as filled: the job that reads it says what is wrong with it.
  return !parsed.is_array() || !parsed.empty();
}

const std::vector<ConditionRow>& all_conditions() {
  static const std::vector<ConditionRow> rows = {
#define CONDITION(name, time, expression, reason) \
  {#name, ConditionTime::time, [](const ConditionContext& c) -> bool { return expression; }, reason},
#include "driver/conditions.def"
  };
  return rows;
}

const ConditionRow* find_condition(const std::string& name) {
  const std::vector<ConditionRow>& rows = all_conditions();
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const ConditionRow& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace ncc::driver
