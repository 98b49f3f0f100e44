// static-io-transpose (job StaticIOTranspose): host-side transposes of parameters (DESIGN section 14, H3).
// io_transposes.json: [{"input_name", "reshape": [extent], "transpose": [reshaped axis of each result
// axis]}]. Each is said with the fewest axes, identities are dropped; the rest are applied to the given
// inputs and stay in the list, for the packager to carry. Source: spec/driver.md section 8.1.
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/files/files.h"
#include "common/npy/array_folder.h"
#include "common/npy/npy.h"
#include "common/tool/tool_main.h"

namespace ncc {
namespace {

struct Options {
  std::string input, inputs, output_dir = ".";
};

/// Row-major `reshape`, then axes permuted: result axis d is reshaped axis permutation[d].
struct Transpose {
  std::string input;
  std::vector<int64_t> reshape, permutation;

  bool is_identity() const { return std::is_sorted(permutation.begin(), permutation.end()); }
};

/// Parameters in order: name and declared shape.
using Shapes = std::vector<std::pair<std::string, std::vector<int64_t>>>;

int64_t product(const std::vector<int64_t>& extents) {
  int64_t count = 1;
  for (const int64_t extent : extents)
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return -1;
  return count;
}

std::string text_of(const std::vector<int64_t>& extents) {
  return fmt::format("[{}]", fmt::join(extents, ","));
}

/// The parameters as declared, out of sg00/io.json; empty when it is not there.
Result<Shapes> declared_shapes(const std::string& path) {
  Shapes shapes;
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) return shapes;
  NCC_ASSIGN(const std::string text, read_file(path));
  try {
    const nlohmann::json description = nlohmann::json::parse(text);
    for (const nlohmann::json& input : description.at("inputs"))
      shapes.emplace_back(input.at("name").get<std::string>(), input.at("shape").get<std::vector<int64_t>>());
  } catch (const nlohmann::json::exception& bad) {
    return error(Code::EFIL003, path, "an I/O description", std::string(bad.what()));
  }
  return shapes;
}

Result<std::vector<Transpose>> parse(const std::string& path) {
  NCC_ASSIGN(const std::string text, read_file(path));
  const auto bad = [&](const std::string& what) {
    return error(Code::EFIL003, path, "a list of transposes", what);
  };
  std::vector<Transpose> list;
  try {
    const nlohmann::json rows = nlohmann::json::parse(text);
    if (!rows.is_array()) return bad("it is no list");
    for (const nlohmann::json& row : rows) {
      Transpose entry{row.at("input_name").get<std::string>(), row.at("reshape").get<std::vector<int64_t>>(),
                      row.at("transpose").get<std::vector<int64_t>>()};
      std::vector<int64_t> axes = entry.permutation, all(entry.reshape.size());
      std::sort(axes.begin(), axes.end());
      std::iota(all.begin(), all.end(), 0);
      if (axes != all)
        return bad(fmt::format("'{}': transpose is no permutation of the reshaped axes", entry.input));
      if (product(entry.reshape) < 0)
        return bad(fmt::format("'{}': reshape has an impossible extent", entry.input));
      for (const Transpose& other : list)
        if (other.input == entry.input) return bad(fmt::format("'{}' is there twice", entry.input));
      list.push_back(std::move(entry));
    }
  } catch (const nlohmann::json::exception& failure) {
    return bad(failure.what());
  }
  return list;
}

/// Which axis of the declared shape each reshaped axis is a part of; empty when one crosses a boundary.
std::vector<size_t> origins(const std::vector<int64_t>& reshape, const std::vector<int64_t>& declared) {
  std::vector<size_t> origin;
  size_t axis = 0;
  int64_t done = 1;
  for (const int64_t extent : reshape) {
    while (axis < declared.size() && done == declared[axis] && extent != 1) {
      ++axis;
      done = 1;
    }
    done *= extent;
    if (axis >= declared.size() ? done != 1 : declared[axis] % std::max<int64_t>(done, 1) != 0) return {};
    origin.push_back(axis);
  }
  return origin;
}

/// Joins axes that stay neighbours and are parts of one declared axis: the fewest axes that say the same.
Status simplify(Transpose& entry, const std::vector<int64_t>& declared) {
  if (product(declared) != product(entry.reshape))
    return error(Code::EFIL003, "io_transposes.json", "a list of transposes",
                 fmt::format("'{}' has shape {}, which cannot become {}", entry.input, text_of(declared),
                             text_of(entry.reshape)));
  if (product(declared) == 0) return Status::ok();
  const std::vector<size_t> origin = origins(entry.reshape, declared);
  if (origin.size() != entry.reshape.size()) return Status::ok();  // an axis of two: nothing to join safely
  std::vector<std::pair<int64_t, int64_t>> groups;                 // first axis and extent, in result order
  int64_t last = -2;
  for (const int64_t axis : entry.permutation) {
    const auto at = static_cast<size_t>(axis);
    if (axis == last + 1 && origin[at] == origin[static_cast<size_t>(last)])
      groups.back().second *= entry.reshape[at];
    else
      groups.emplace_back(axis, entry.reshape[at]);
    last = axis;
  }
  std::vector<std::pair<int64_t, int64_t>> in_order = groups;
  std::sort(in_order.begin(), in_order.end());
  entry.reshape.clear();
  entry.permutation.clear();
  for (const auto& group : in_order) entry.reshape.push_back(group.second);
  for (const auto& group : groups)
    entry.permutation.push_back(std::lower_bound(in_order.begin(), in_order.end(), group) - in_order.begin());
  return Status::ok();
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

/// The inputs with the listed ones transposed, in transposed_inputs/.
Status transpose_inputs(const Options& options, const std::vector<Transpose>& list, const Shapes& shapes) {
  const std::filesystem::path dir = std::filesystem::path(options.output_dir) / "transposed_inputs";
  std::error_code failed;
  std::filesystem::create_directories(dir, failed);
  if (failed) return error(Code::EFIL002, dir.string(), failed.message());
  NCC_ASSIGN(std::vector<NamedArray> arrays, read_array_folder(options.inputs));
  for (const Transpose& entry : list) {
    const auto found =
        std::find_if(shapes.begin(), shapes.end(), [&](const auto& one) { return one.first == entry.input; });
    const auto position = static_cast<size_t>(found - shapes.begin());
    const std::string what = fmt::format("input '{}'", entry.input);
    if (position >= shapes.size() || position >= arrays.size())
      return error(Code::EFIL003, options.inputs, "a folder of inputs", what + " is missing");
    Array& array = arrays[position].array;
    if (product(entry.reshape) != array.num_elements())
      return error(Code::EFIL003, what, fmt::format("an array of shape {}", text_of(entry.reshape)),
                   fmt::format("its shape is {}", text_of(array.shape)));
    array.shape = entry.reshape;
    NCC_ASSIGN(array, transposed(array, entry.permutation, what));
  }
  return write_array_folder(dir.string(), arrays);
}

Status run(const Options& options) {
  NCC_ASSIGN(std::vector<Transpose> list, parse(options.input));
  const std::string io = (std::filesystem::path(options.input).parent_path() / "sg00" / "io.json").string();
  NCC_ASSIGN(const Shapes shapes, declared_shapes(io));
  for (Transpose& entry : list)
    for (const auto& [name, shape] : shapes)
      if (name == entry.input) NCC_TRY(simplify(entry, shape));
  std::erase_if(list, [](const Transpose& entry) { return entry.is_identity(); });
  if (!options.inputs.empty() && !list.empty()) NCC_TRY(transpose_inputs(options, list, shapes));
  nlohmann::json out = nlohmann::json::array();
  for (const Transpose& entry : list)
    out.push_back(
        {{"input_name", entry.input}, {"reshape", entry.reshape}, {"transpose", entry.permutation}});
  return write_file((std::filesystem::path(options.output_dir) / "io_transposes.json").string(),
                    out.dump() + "\n");
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
