// Files that end before they say they end: noticed when the job that wrote them is over, so that it is named
// and not the job that reads them. Only the outermost structure is looked at, by the kind that the name says:
//   .json       the brackets close
//   .pb .hlo    the fields of the outer protobuf message end inside the file
//   .neff       the payload is as long as the header says
//   PE.bin …    an engine's stream is a whole number of 64-byte bundles
// A file that is of another kind than its name says is not called cut off: what reads it says what it is.
#pragma once
#include <string>
#include <string_view>

namespace ncc::driver {

/// `name`: the path or its last component. Cost: the JSON text, or the number of outer fields.
bool is_cut_off(const std::string& name, std::string_view bytes);

}  // namespace ncc::driver
