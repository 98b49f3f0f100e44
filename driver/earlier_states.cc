#include "driver/earlier_states.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files/files.h"

namespace ncc::driver {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kRoot = "root";
constexpr size_t kShownText = 200;

/// A parsed value of --state and what to call it in messages.
struct Value {
  std::string shown;
  std::string folder;  // where the file lies; "" for text
  Json json;

  Status bad(const std::string& what) const {
    return error(Code::EDRV011, shown.substr(0, kShownText), what);
  }
};

Result<Value> read_value(const std::string& given, const std::string& launch_dir) {
  Value value{given, "", {}};
  std::string text = given;
  if (!given.starts_with('{')) {
    const fs::path path = (fs::path(launch_dir) / given).lexically_normal();
    NCC_ASSIGN(text, read_file(path.string()));
    value.folder = path.parent_path().string();
  }
  value.json = Json::parse(text, nullptr, false);
  if (!value.json.is_object()) return value.bad("it is not a JSON object");
  return value;
}

/// The options and the folder that a whole state.json records.
Status take_document(const Value& value, EarlierStates& states, std::string& work_dir) {
  const Json& json = value.json;
  if (!json.contains("command") || !json["command"].is_array()) return value.bad("it has no list 'command'");
  if (!json.contains("work_dir") || !json["work_dir"].is_string())
    return value.bad("it has no text 'work_dir'");
  states.argv.clear();
  for (const Json& word : json["command"]) {
    if (!word.is_string()) return value.bad("'command' holds something that is not text");
    states.argv.push_back(word.get<std::string>());
  }
  // A work folder may have been moved; its state.json is still in it.
  std::error_code failure;
  work_dir = json["work_dir"].get<std::string>();
  if (!value.folder.empty() && !fs::is_directory(work_dir, failure)) work_dir = value.folder;
  return Status::ok();
}

/// The work folder of one state; its state.json is read for the options.
Status take_one(const Value& value, EarlierStates& states, std::string& work_dir) {
  const Json& json = value.json;
  if (!json["state_id"].is_string() || !json.contains("state_dir") || !json["state_dir"].is_string())
    return value.bad("'state_id' and 'state_dir' are not texts");
  const std::string id = json["state_id"].get<std::string>();
  work_dir = json["state_dir"].get<std::string>();
  if (id != kRoot) {
    if (!work_dir.ends_with("/" + id)) return value.bad("'state_dir' is not the folder of its 'state_id'");
    work_dir.resize(work_dir.size() - id.size() - 1);
    states.subgraphs.push_back(id);
  }
  NCC_ASSIGN(const Value document, read_value(work_dir + "/state.json", "/"));
  std::string recorded;
  return take_document(document, states, recorded);
}

}  // namespace

Result<EarlierStates> read_earlier_states(const std::vector<std::string>& values,
                                          const std::string& launch_dir) {
  EarlierStates states;
  std::string work_dir;
  for (const std::string& given : values) {
    NCC_ASSIGN(const Value value, read_value(given, launch_dir));
    std::string folder;
    NCC_TRY(value.json.contains("state_id") ? take_one(value, states, folder)
                                            : take_document(value, states, folder));
    if (!work_dir.empty() && folder != work_dir)
      return value.bad(
          fmt::format("its work folder is {}, that of the states before it {}", folder, work_dir));
    work_dir = folder;
  }
  states.argv.insert(std::find(states.argv.begin(), states.argv.end(), "--"), "--temp-dir=" + work_dir);
  return states;
}

}  // namespace ncc::driver
