// static-io-transpose (job StaticIOTranspose): applies host-side transposes of parameters (DESIGN section 14,
// H3). io_transposes.json: [{"input": parameter number, "permutation": [source dim of each result dim]}].
// Identity permutations are dropped; the rest are applied to the given inputs and stay in the list, for the
// packager to carry.
#include <CLI/CLI.hpp>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files/files.h"
#include "common/npy/array_folder.h"
#include "common/npy/npy.h"
#include "common/tool/tool_main.h"

namespace ncc {
namespace {

struct Options {
  std::string input, inputs, output_dir = ".";
};

struct Transpose {
  size_t parameter = 0;
  std::vector<int64_t> permutation;
};

Result<std::vector<Transpose>> parse(const std::string& path) {
  NCC_ASSIGN(const std::string text, read_file(path));
  std::vector<Transpose> list;
  try {
    for (const nlohmann::json& row : nlohmann::json::parse(text)) {
      Transpose entry{row.at("input").get<size_t>(), row.at("permutation").get<std::vector<int64_t>>()};
      std::vector<bool> seen(entry.permutation.size());
      bool identity = true;
      for (size_t d = 0; d < seen.size(); ++d) {
        const int64_t from = entry.permutation[d];
        if (from < 0 || from >= static_cast<int64_t>(seen.size()) || seen[static_cast<size_t>(from)])
          return error(Code::EFIL003, path, "a list of transposes",
                       "a permutation names a dim twice or one that is not there");
        seen[static_cast<size_t>(from)] = true;
        identity = identity && from == static_cast<int64_t>(d);
      }
      if (!identity) list.push_back(std::move(entry));
    }
  } catch (const nlohmann::json::exception& bad) {
    return error(Code::EFIL003, path, "a list of transposes", std::string(bad.what()));
  }
  return list;
}

Result<Array> transposed(const Array& array, const std::vector<int64_t>& permutation,
                         const std::string& what) {
  const size_t rank = array.shape.size();
  if (permutation.size() != rank)
    return error(Code::EFIL003, what, fmt::format("an array of rank {}", permutation.size()),
                 fmt::format("its rank is {}", rank));
  const int64_t size = size_bytes(array.dtype);
  std::vector<int64_t> stride(rank, size), shape(rank), step(rank), index(rank, 0);
  for (size_t d = rank; d-- > 1;) stride[d - 1] = stride[d] * array.shape[d];
  for (size_t d = 0; d < rank; ++d) {
    shape[d] = array.shape[static_cast<size_t>(permutation[d])];
    step[d] = stride[static_cast<size_t>(permutation[d])];
  }
  Array out = Array::zeros(array.dtype, shape);
  std::byte* to = out.mutable_data();
  for (int64_t n = out.num_elements(); n > 0; --n, to += size) {
    int64_t from = 0;
    for (size_t d = 0; d < rank; ++d) from += index[d] * step[d];
    std::memcpy(to, array.bytes.data() + from, static_cast<size_t>(size));
    for (size_t d = rank; d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
  return out;
}

Status run(const Options& options) {
  NCC_ASSIGN(const std::vector<Transpose> list, parse(options.input));
  const std::filesystem::path dir(options.output_dir);
  if (!options.inputs.empty() && !list.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(dir / "transposed_inputs", failed);
    if (failed) return error(Code::EFIL002, (dir / "transposed_inputs").string(), failed.message());
    NCC_ASSIGN(std::vector<NamedArray> arrays, read_array_folder(options.inputs));
    for (const Transpose& entry : list) {
      const std::string what = fmt::format("input {}", entry.parameter);
      if (entry.parameter >= arrays.size())
        return error(Code::EFIL003, options.inputs, "a folder of inputs", what + " is missing");
      NCC_ASSIGN(arrays[entry.parameter].array,
                 transposed(arrays[entry.parameter].array, entry.permutation, what));
    }
    NCC_TRY(write_array_folder((dir / "transposed_inputs").string(), arrays));
  }
  nlohmann::json out = nlohmann::json::array();
  for (const Transpose& entry : list)
    out.push_back({{"input", entry.parameter}, {"permutation", entry.permutation}});
  return write_file((dir / "io_transposes.json").string(), out.dump() + "\n");
}

}  // namespace
}  // namespace ncc

int main(int argc, char** argv) {
  ncc::Options options;
  return ncc::tool_main(
      {"static-io-transpose", "applies host-side transposes of parameters",
       "Example:\n  static-io-transpose --input wd/io_transposes.json --inputs inputs --output-dir wd\n"},
      argc, argv,
      [&](CLI::App& app) {
        app.add_option("--input", options.input, "io_transposes.json")->required();
        app.add_option("--inputs", options.inputs, "folder of inputs NNN.npy");
        app.add_option("--output-dir", options.output_dir,
                       "where io_transposes.json and transposed_inputs/ go");
      },
      [&] { return ncc::run(options); });
}
