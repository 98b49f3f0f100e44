#include "driver/cache/store.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files/files.h"
#include "driver/cache/digest.h"
#include "driver/work_dir.h"

namespace ncc::driver::cache {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::optional<Entry> parse_entry(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("parts") || !json["parts"].is_array() || !json.contains("files") ||
      !json["files"].is_array())
    return std::nullopt;
  const auto is_pair = [](const Json& row) {
    return row.is_array() && row.size() == 2 && row[0].is_string() && row[1].is_string();
  };
  Entry entry;
  for (const Json& row : json["parts"]) {
    if (!is_pair(row)) return std::nullopt;
    entry.parts.emplace_back(row[0].get<std::string>(), row[1].get<std::string>());
  }
  for (const Json& row : json["files"]) {
    if (!is_pair(row)) return std::nullopt;
    entry.files.push_back({row[0].get<std::string>(), row[1].get<std::string>()});
  }
  return entry;
}

bool make_parent(const std::string& path) {
  std::error_code failure;
  fs::create_directories(fs::path(path).parent_path(), failure);
  return !failure;
}

}  // namespace

std::string key_of(const Parts& parts) {
  std::string all;
  for (const auto& [what, value] : parts)
    all += fmt::format("{}:{} {}:{}\n", what.size(), what, value.size(), value);
  return digest(all);
}

std::string Store::file_path(const std::string& name) const {
  return fmt::format("{}/files/{}/{}", folder_, name.substr(0, 2), name);
}

std::string Store::entry_path(const std::string& key) const {
  return fmt::format("{}/entries/{}/{}", folder_, key.substr(0, 2), key);
}

std::optional<Entry> Store::find(const std::string& key) const {
  const Result<std::string> text = read_file(entry_path(key));
  return text.is_ok() ? parse_entry(text.value()) : std::nullopt;
}

bool Store::restore(const Entry& entry, const std::string& into) const {
  for (const StoredFile& file : entry.files) {
    const Result<std::string> found = digest_path(file_path(file.digest));
    if (!found.is_ok() || found.value() != file.digest) return false;
  }
  for (const StoredFile& file : entry.files) {
    const std::string to = into + "/" + file.path;
    if (!make_parent(to) || !publish(file_path(file.digest), to, Durability::Convenience).is_ok())
      return false;
  }
  return true;
}

bool Store::add(const std::string& key, const Parts& parts, const std::vector<std::string>& paths,
                const std::string& from) const {
  if (read_only_) return false;
  Json files = Json::array(), made_of = Json::array();
  for (const std::string& path : paths) {
    const std::string source = from + "/" + path;
    const Result<std::string> name = digest_path(source);
    if (!name.is_ok()) return false;
    const std::string to = file_path(name.value());
    std::error_code ignored;
    // A file of that name has the same bytes, unless it is damaged: then the new copy replaces it.
    const Result<std::string> there =
        fs::exists(to, ignored) ? digest_path(to) : Result<std::string>(std::string());
    const bool is_there = there.is_ok() && there.value() == name.value();
    if (!is_there && (!make_parent(to) || !publish(source, to, Durability::Convenience).is_ok()))
      return false;
    files.push_back({path, name.value()});
  }
  for (const auto& [what, value] : parts) made_of.push_back({what, value});
  const std::string text =
      Json{{"parts", made_of}, {"files", files}}.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  return make_parent(entry_path(key)) && write_file(entry_path(key), text).is_ok();
}

std::optional<Entry> Store::nearest(const Parts& parts) const {
  std::optional<Entry> best;
  size_t most = 0;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder_ + "/entries", failure), end; !failure && at != end;
       at.increment(failure)) {
    if (!at->is_regular_file(failure)) continue;
    const Result<std::string> text = read_file(at->path().string());
    std::optional<Entry> entry = text.is_ok() ? parse_entry(text.value()) : std::nullopt;
    if (!entry || entry->parts.empty() || parts.empty() || entry->parts[0].first != parts[0].first) continue;
    size_t equal = 1;
    for (const auto& part : parts)
      for (const auto& other : entry->parts) equal += part == other ? 1 : 0;
    if (equal <= most) continue;
    most = equal;
    best = std::move(entry);
  }
  return best;
}

}  // namespace ncc::driver::cache
