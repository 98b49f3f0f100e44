// A model's bytes without what does not change its meaning, for cache keys: op metadata (names, files, lines,
// stack frames), and the source locations of text forms. It knows field numbers and brackets, no IR: what it
// does not recognise it keeps, so that the worst outcome is a key that is needlessly different.
#pragma once
#include <string>
#include <string_view>

namespace ncc::driver::cache {

/// What is hashed in place of the model: to be compared, not to be read.
std::string canonical_model(std::string_view bytes);

}  // namespace ncc::driver::cache
