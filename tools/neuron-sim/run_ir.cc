#include <filesystem>

#include "ir-formats/bir/golden_check.h"
#include "ir-formats/bir/io.h"
#include "ir-formats/penguin/interpret.h"
#include "ir-formats/penguin/io.h"
#include "tools/neuron-sim/levels.h"

namespace ncc::sim {

Result<Outcome> run_penguin(const SimOptions& options, const Inputs& inputs) {
  NCC_ASSIGN(const penguin::Module module, penguin::read_module(options.file));
  std::vector<Array> arrays;
  for (size_t n = 0; n < inputs.size() && n < module.inputs.size(); ++n) {
    NCC_ASSIGN(Array typed,
               reinterpret(inputs[n].array, module.inputs[n].declared_dtype, fmt::format("input {}", n)));
    arrays.push_back(std::move(typed));
  }
  NCC_ASSIGN(const std::vector<Array> results, penguin::run_file(options.file, arrays));
  Outcome outcome;
  for (size_t n = 0; n < results.size(); ++n) outcome.outputs.push_back({module.outputs[n].name, results[n]});
  return outcome;
}

Result<Outcome> run_bir(const SimOptions& options, const Inputs& inputs) {
  const std::filesystem::path folder = std::filesystem::path(options.file).parent_path();
  NCC_ASSIGN(const bir::Module module, bir::read_module(options.file));
  const std::string io_path = (folder / "io.json").string();
  NCC_ASSIGN(const std::string text, read_file(io_path));
  NCC_ASSIGN(const bir::IoDescription io, bir::parse_io(text, io_path));
  std::shared_ptr<const MappedFile> constants;
  for (const std::filesystem::path& place : {folder / "constants.bin", folder / ".." / "constants.bin"}) {
    std::error_code ignored;
    if (constants || !std::filesystem::exists(place, ignored)) continue;
    NCC_ASSIGN(constants, MappedFile::open(place.string()));
  }
  NCC_ASSIGN(
      std::vector<NamedArray> outputs,
      bir::run_arrays(module, io, constants ? constants->bytes() : std::span<const std::byte>(), inputs));
  Outcome outcome;
  outcome.outputs = std::move(outputs);
  return outcome;
}

}  // namespace ncc::sim
