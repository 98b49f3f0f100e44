// replay [--mutants N] FILE|FOLDER…: runs a fuzz target over kept inputs, in the order of their names, and
// over N changed copies of each. The changes are those of every fuzzer (bits, bytes, numbers, pieces cut,
// doubled, swapped in from other inputs); their generator is seeded by the file's position, so that a finding
// can be run again. Exit status 1 when there is nothing to run; a finding ends the process, the last line
// names it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <vector>

#include "common/files/files.h"
#include "tests/fuzz/target.h"

namespace {

class Mutator {
 public:
  Mutator(const std::vector<std::string>& inputs, uint64_t seed) : inputs_(inputs), random_(seed) {}

  std::string mutant(const std::string& input) {
    std::string made = input;
    for (uint64_t changes = 1 + pick(4); changes > 0; --changes) change(&made);
    return made;
  }

 private:
  uint64_t pick(uint64_t below) { return below == 0 ? 0 : random_() % below; }

  void change(std::string* text) {
    static constexpr const char* kPieces[] = {"9223372036854775807",
                                              "-1",
                                              "0",
                                              "{",
                                              "}",
                                              "(",
                                              ")",
                                              "[",
                                              "]",
                                              "<",
                                              ">",
                                              "\"",
                                              "nan",
                                              "-0.0",
                                              ":",
                                              ",",
                                              "=",
                                              "%",
                                              "#",
                                              "\xff\xff\xff\xff\x0f"};
    const size_t at = pick(text->size() + 1), rest = text->size() - at;
    switch (pick(6)) {
      case 0:
        if (rest > 0) (*text)[at] = static_cast<char>((*text)[at] ^ (1 << pick(8)));
        return;
      case 1:
        if (rest > 0) (*text)[at] = static_cast<char>(pick(256));
        return;
      case 2:
        text->erase(at, pick(std::min<size_t>(rest, 64) + 1));
        return;
      case 3:
        text->insert(at, kPieces[pick(std::size(kPieces))]);
        return;
      case 4:
        text->insert(at, text->substr(at, pick(std::min<size_t>(rest, 64) + 1)));
        return;
      default: {
        const std::string& other = inputs_[pick(inputs_.size())];
        const size_t from = pick(other.size() + 1);
        text->replace(at, pick(std::min<size_t>(rest, 64) + 1), other.substr(from, pick(128)));
      }
    }
  }

  const std::vector<std::string>& inputs_;
  std::mt19937_64 random_;
};

}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  const bool mutates = argc > 2 && std::string_view(argv[1]) == "--mutants";
  const int mutants = mutates ? std::atoi(argv[2]) : 0;
  std::vector<fs::path> files;
  for (int i = mutates ? 3 : 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs;
  for (const fs::path& path : files) inputs.push_back(ncc::read_file(path).take());
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::fprintf(stderr, "%s\n", files[i].c_str());
    ncc::hlo::run_input(inputs[i]);
    Mutator mutator(inputs, i);
    for (int n = 0; n < mutants; ++n) {
      const std::string mutant = mutator.mutant(inputs[i]);
      if (std::getenv("FUZZ_KEEP")) (void)ncc::write_file(std::getenv("FUZZ_KEEP"), mutant);
      ncc::hlo::run_input(mutant);
    }
  }
  std::printf("%zu inputs, %d mutants of each\n", inputs.size(), mutants);
  return inputs.empty() ? 1 : 0;
}
