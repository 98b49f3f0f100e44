#include "tools/hlo-check/case.h"

namespace ncc::check {
namespace {

constexpr std::string_view kLevels[] = {"golden", "penguin", "bir", "sim"};
constexpr std::string_view kVerdicts[] = {"pass",  "mismatch", "unsupported", "error",
                                          "crash", "timeout",  "skipped"};

}  // namespace

std::optional<Level> level_from_name(std::string_view name) {
  for (size_t i = 0; i < std::size(kLevels); ++i) {
    if (kLevels[i] == name) return static_cast<Level>(i);
  }
  return std::nullopt;
}

std::string_view name(Level level) { return kLevels[static_cast<size_t>(level)]; }
std::string_view name(Verdict verdict) { return kVerdicts[static_cast<size_t>(verdict)]; }

}  // namespace ncc::check
