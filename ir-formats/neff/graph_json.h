// The root members and tensor_map.json, all derived from io.json and the target. Source: spec/neff.md §5.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/diag/status.h"
#include "ir-formats/neff/io.h"

namespace ncc::neff {

inline constexpr std::string_view kToolVersion = "0.1.0";

/// "sunda", "cayman", "mariana".
std::string_view target_name(int generation);

/// `repetitions`: how many times a run executes the program; our own key, not written for 1.
std::string write_info(const std::string& name, int generation, int num_subgraphs, int64_t repetitions = 1);
/// What info.json says of repetitions; 1 when it says nothing. ENEF001.
Result<int64_t> read_repetitions(std::string_view json);
std::string write_graph(const ProgramIo& io);
std::string write_kelf(int generation, int num_subgraphs);
std::string write_tensor_map(const ProgramIo& io);

/// What kelf-0.json says. ENEF001.
struct Kelf {
  std::string target;
  std::vector<std::string> definitions;  // "sg00/def.json"
};
Result<Kelf> read_kelf(std::string_view json);

}  // namespace ncc::neff
