// walrus_driver as a function: what main() and the tests call.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "common/diag/status.h"

namespace ncc::walrus {

struct Options {
  std::string input;        // bir.pb or bir.json
  std::string output_dir;   // PE.bin …, <Engine>.json, def.json, metrics.json, walrus_bir.out.pb
  std::string target;       // empty = the module's architecture
  std::string passes;       // comma separated; empty = default
  std::string print_after;  // pass names, comma separated, or "all": <output_dir>/bir.<nn>.<pass>.json
  std::string verify_inputs,
      verify_goldens;  // folders; both or none. Reads io.json and ../constants.bin beside the input
  bool list_passes = false;
  bool dry_run = false;
  int64_t max_instructions = 25'000'000;
  std::string optlevel = "2";
  std::function<void(std::string_view pass)> announce;  // hears of each pass before it runs; may be empty
};

/// Reads, runs the passes, writes. With list_passes or dry_run only prints to stdout.
Status run(const Options& options);

}  // namespace ncc::walrus
