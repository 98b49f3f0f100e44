#include "driver/precision.h"

namespace ncc::driver {
namespace {

constexpr std::string_view kCastWord = "fp32-cast-";

/// The tools' spelling of an --auto-cast-type.
std::string type_word(const std::string& type) {
  if (type == "tf32") return "fp32r";
  return type == "fp8_e4m3" ? "fp8e4" : type;
}

}  // namespace

std::string fp32_cast_mode(const Options& options) {
  std::string mode = "none";
  for (const std::string& word : options.list(Opt::fast_math)) {
    if (word == "all") mode = "all";
    if (word == "none") mode = "none";
    if (word.starts_with(kCastWord)) mode = word.substr(kCastWord.size());
  }
  if (options.used(Opt::auto_cast)) {
    const std::string type = type_word(options.text(Opt::auto_cast_type));
    std::string scope = options.text(Opt::auto_cast);
    // Only the matrix engine has this type.
    if (type == "fp32r" && scope == "all") scope = "matmult";
    mode = scope == "none" ? scope : scope + "-" + type;
  }
  return mode == "none" ? "" : mode;
}

}  // namespace ncc::driver
