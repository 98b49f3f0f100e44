// The conditions that pipeline files may name: one table, evaluated when planning or when a job's turn comes.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/options.h"

namespace ncc::driver {

/// What a condition can look at.
struct ConditionContext {
  const Options& options;
  std::string job;                  // the job that asks
  bool has_passes = false;          // the job's pass list is not empty
  bool has_unlisted_skips = false;  // --skip-pass names passes that are in no list: the tool must know them
  /// Reads a file of the work folder; nullopt when there is none. Unset while planning.
  std::function<std::optional<std::string>(const std::string& path)> read;

  bool model_is_penguin() const;
  bool inputs_given() const { return options.used(Opt::inputs) || options.used(Opt::images); }
  /// --verify covers this job.
  bool verifies(const std::string& name) const;
  /// The file is a JSON array with at least one element.
  bool holds_entries(const std::string& path) const;
};

enum class ConditionTime : uint8_t { Plan, Run };

struct ConditionRow {
  std::string name;
  ConditionTime time;
  bool (*holds)(const ConditionContext& c);
  std::string reason;
};
const std::vector<ConditionRow>& all_conditions();
/// nullptr when there is no such condition.
const ConditionRow* find_condition(const std::string& name);

}  // namespace ncc::driver
