#include "common/npy/array_folder.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "common/files/files.h"

namespace ncc {
namespace {

using nlohmann::json;

constexpr const char* kManifest = "manifest.json";

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

Result<NamedArray> read_entry(const std::string& folder, const json& entry) {
  const std::string manifest = folder + "/" + kManifest;
  const auto bad = [&](const std::string& why) { return error(Code::EFIL003, manifest, "a manifest", why); };
  if (!entry.is_object() || !entry.contains("file") || !entry["file"].is_string())
    return bad("an entry names no file");
  const std::string file = entry["file"].get<std::string>();
  if (file.find('/') != std::string::npos) return bad("a file lies outside the folder");
  NamedArray result;
  if (entry.contains("name") && entry["name"].is_string()) result.name = entry["name"].get<std::string>();
  NCC_ASSIGN(result.array, read_npy(folder + "/" + file));
  if (entry.contains("dtype") && entry["dtype"].is_string()) {
    const std::string text = entry["dtype"].get<std::string>();
    const std::optional<Dtype> dtype = dtype_from_hlo(text);
    if (!dtype) return bad(fmt::format("element type '{}' is unknown", text));
    NCC_ASSIGN(result.array, reinterpret(std::move(result.array), *dtype, folder + "/" + file));
  }
  if (entry.contains("shape") && entry["shape"] != json(result.array.shape))
    return bad(fmt::format("'{}' has shape [{}]", file, fmt::join(result.array.shape, ",")));
  return result;
}

}  // namespace

std::string numbered_npy(size_t number) { return fmt::format("{:03}.npy", number); }

Result<std::vector<NamedArray>> read_array_folder(const std::string& folder) {
  std::vector<NamedArray> arrays;
  const std::string manifest = folder + "/" + kManifest;
  if (!exists(manifest)) {
    if (!exists(folder)) return error(Code::EFIL001, folder, "there is no such folder");
    for (std::string path; exists(path = folder + "/" + numbered_npy(arrays.size()));) {
      NCC_ASSIGN(Array array, read_npy(path));
      arrays.push_back({"", std::move(array)});
    }
    return arrays;
  }
  NCC_ASSIGN(const std::string text, read_file(manifest));
  const json top = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!top.is_object() || !top.contains("arrays") || !top["arrays"].is_array())
    return error(Code::EFIL003, manifest, "a manifest", "'arrays' is no list");
  for (const json& entry : top["arrays"]) {
    NCC_ASSIGN(NamedArray array, read_entry(folder, entry));
    arrays.push_back(std::move(array));
  }
  return arrays;
}

Status write_array_folder(const std::string& folder, const std::vector<NamedArray>& arrays) {
  json list = json::array();
  for (size_t i = 0; i < arrays.size(); ++i) {
    NCC_TRY(write_npy(folder + "/" + numbered_npy(i), arrays[i].array));
    list.push_back({{"file", numbered_npy(i)},
                    {"name", arrays[i].name},
                    {"dtype", info(arrays[i].array.dtype).hlo},
                    {"shape", arrays[i].array.shape}});
  }
  return write_file(folder + "/" + kManifest,
                    json({{"arrays", list}}).dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace ncc
