#pragma once
#include <string>
#include <vector>

#include "common/compare/compare.h"

namespace ncc::sim {

/// The command line of neuron-sim.
struct SimOptions {
  std::string file;
  std::vector<std::string> input_files;  // one .npy per parameter, in order
  std::string input_dir;                 // or a folder of them (common/npy/array_folder.h)
  std::string output_dir;                // results go here as NNN.npy and manifest.json
  std::string expect_dir;
  Tolerance tolerance{-1, -1};  // a negative part = default_tolerance of each result's type
  std::string report, trace;    // files; empty = none
  bool functional = false;      // no checks of races and unwritten memory
  bool timing_only = false;     // no data
  int64_t repetitions = 0;      // of the program; 0 = as the file says
  int threads = 2;
};

}  // namespace ncc::sim
