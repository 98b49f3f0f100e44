// Where something came from in the user's model: carried by every op and instruction from the model to the
// last bundle.
#pragma once
#include <string>

namespace ncc {

struct SourceLoc {
  std::string op_name;  // the framework's op name, e.g. "jit(f)/dot_general"; empty when unknown
  std::string file;     // the user's source file; empty when unknown
  int line = 0;         // 1-based; 0 = unknown

  bool empty() const { return op_name.empty() && file.empty(); }
  bool operator==(const SourceLoc&) const = default;
};

/// "op_name (file:line)", leaving out what is unknown.
std::string to_string(const SourceLoc& loc);

}  // namespace ncc
