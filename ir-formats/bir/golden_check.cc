#include "ir-formats/bir/golden_check.h"

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/npy/complex_planes.h"

namespace ncc::bir {

Result<IoDescription> parse_io(std::string_view json, const std::string& what) {
  IoDescription io;
  try {
    const nlohmann::json root = nlohmann::json::parse(json);
    const auto rows = [](const nlohmann::json& list, std::vector<IoRow>& out) {
      for (const nlohmann::json& row : list) {
        const auto dtype = dtype_from_hlo(row.at("dtype").get<std::string>());
        const auto device = dtype_from_hlo(row.at("device_dtype").get<std::string>());
        if (!dtype || !device) return false;
        out.push_back({row.at("name"), row.at("variable"), *dtype, *device,
                       row.at("shape").get<std::vector<int64_t>>()});
      }
      return true;
    };
    if (!rows(root.at("inputs"), io.inputs) || !rows(root.at("outputs"), io.outputs))
      return error(Code::EFIL003, what, "an I/O description", "an element type is unknown");
  } catch (const nlohmann::json::exception& bad) {
    return error(Code::EFIL003, what, "an I/O description", std::string(bad.what()));
  }
  return io;
}

Result<std::vector<NamedArray>> run_arrays(const Module& module, const IoDescription& io,
                                           std::span<const std::byte> constants,
                                           const std::vector<NamedArray>& inputs) {
  if (inputs.size() < io.inputs.size())
    return error(Code::ERUN001, inputs.size(),
                 fmt::format("missing; the program has {} parameters", io.inputs.size()));
  Tensors tensors;
  for (size_t n = 0; n < io.inputs.size(); ++n) {
    const bool splits = is_complex(io.inputs[n].dtype) && is_complex(inputs[n].array.dtype);
    const Array array = splits ? planes_of(inputs[n].array) : inputs[n].array;
    tensors[io.inputs[n].variable] = {array.bytes.begin(), array.bytes.end()};
  }
  NCC_ASSIGN(const Tensors results, interpret(module, constants, tensors));
  std::vector<NamedArray> outputs;
  for (const IoRow& row : io.outputs) {
    const auto found = results.find(row.variable);
    NCC_CHECK(found != results.end(), "result '{}' was not produced", row.variable);
    NamedArray out{row.name, Array::zeros(row.dtype, row.shape)};
    const int64_t wanted = is_complex(row.dtype) ? 8 * out.array.num_elements() : out.array.size_bytes();
    if (wanted != std::ssize(found->second))
      return error(Code::EBIR001, fmt::format("result '{}' has {} bytes, {} expected", row.name,
                                              found->second.size(), wanted));
    if (is_complex(row.dtype))
      out.array = complex_of(row.dtype, row.shape, found->second);
    else
      std::memcpy(out.array.mutable_data(), found->second.data(), found->second.size());
    outputs.push_back(std::move(out));
  }
  return outputs;
}

Result<GoldenCheck> GoldenCheck::load(IoDescription io, const std::string& inputs_dir,
                                      const std::string& goldens_dir, const std::string& constants_path) {
  GoldenCheck check;
  check.io_ = std::move(io);
  NCC_ASSIGN(check.inputs_, read_array_folder(inputs_dir));
  NCC_ASSIGN(check.goldens_, read_array_folder(goldens_dir));
  if (check.goldens_.size() != check.io_.outputs.size())
    return error(Code::EFIL003, goldens_dir, "a folder of goldens",
                 fmt::format("it has {} arrays, the program {} results", check.goldens_.size(),
                             check.io_.outputs.size()));
  std::error_code ignored;
  if (std::filesystem::exists(constants_path, ignored)) {
    NCC_ASSIGN(check.constants_, MappedFile::open(constants_path));
  }
  return check;
}

Status GoldenCheck::check(const Module& module, std::string_view after) const {
  const std::span<const std::byte> constants =
      constants_ ? constants_->bytes() : std::span<const std::byte>();
  Result<std::vector<NamedArray>> results = run_arrays(module, io_, constants, inputs_);
  if (!results.is_ok()) return results.status();
  return compare_with_goldens(results.value(), goldens_, after);
}

}  // namespace ncc::bir
