// What --version prints.
#pragma once
#include <string>

namespace ncc::driver {

inline std::string version_text() {
  return std::string("neuron-driver 2.24.0\nbuilt with ") + __VERSION__ + "\n";
}

}  // namespace ncc::driver
