#include "driver/cache/compile_cache.h"

#include <algorithm>
#include <filesystem>

#include "common/files/files.h"
#include "driver/cache/canonical_model.h"
#include "driver/cache/digest.h"
#include "driver/host.h"

namespace ncc::driver::cache {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "1";  // of keys and entries: raised when either changes
constexpr const char* kUnreadable = "unreadable";

std::string digest_or_none(const std::string& path) {
  const Result<std::string> found = digest_path(path);
  return found.is_ok() ? found.value() : kUnreadable;
}

std::string model_digest(const std::string& path) {
  std::error_code failure;
  if (fs::is_directory(path, failure)) return digest_or_none(path);
  const Result<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  return file.is_ok() ? digest(canonical_model(file.value()->text())) : kUnreadable;
}

/// Existing files of a list with patterns, relative to the work folder.
std::vector<std::string> existing(const std::vector<std::string>& paths, const std::string& work_dir) {
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    const std::string full = path.starts_with('/') ? path : work_dir + "/" + path;
    std::error_code failure;
    if (path.find('*') == std::string::npos) {
      if (fs::is_regular_file(full, failure)) found.push_back(path);
      continue;
    }
    for (const std::string& match : files_matching(full)) found.push_back(match.substr(work_dir.size() + 1));
  }
  return found;
}

}  // namespace

std::string CompileCache::tool_digest(const std::string& executable) {
  std::string& known = tool_digests_[executable];
  if (known.empty()) known = digest_or_none(executable);
  return known;
}

Parts CompileCache::tool_and_argv(const Job& job) {
  if (model_digest_.empty()) model_digest_ = model_digest(plan_.model);
  std::string argv;
  for (const std::string& word : job.args) {
    // A user's path is a name for its content.
    const std::string shown = word == plan_.model     ? "<model>"
                              : word.starts_with('/') ? "<" + digest_or_none(word) + ">"
                                                      : word;
    argv += fmt::format("{}:{} ", shown.size(), shown);
  }
  return {{job.name + ".tool", tool_digest(job.executable)}, {job.name + ".argv", argv}};
}

Parts CompileCache::job_parts(const Job& job, const std::string& work_dir) {
  Parts parts = {{"job", job.name}, {"format", kFormat}};
  for (auto& part : tool_and_argv(job)) parts.push_back(std::move(part));
  for (const std::string& path : job.reads)
    parts.emplace_back("reads " + (path == plan_.model ? "<model>" : path),
                       path == plan_.model ? model_digest_ : digest_or_none(work_dir + "/" + path));
  for (const std::string& path : existing(job.may_read, work_dir))
    parts.emplace_back("reads " + path, digest_or_none(work_dir + "/" + path));
  return parts;
}

bool CompileCache::restore(const Job& job, const std::string& work_dir) {
  if (plan_.is_verified) return false;  // its stages are to be run, that is the point
  const std::optional<Entry> entry = store_.find(key_of(job_parts(job, work_dir)));
  return entry && store_.restore(*entry, work_dir);
}

void CompileCache::store(const Job& job, const std::string& work_dir) {
  if (plan_.is_verified) return;
  const Parts parts = job_parts(job, work_dir);
  std::vector<std::string> paths = existing(job.writes, work_dir);
  for (std::string& path : existing(job.may_write, work_dir)) paths.push_back(std::move(path));
  store_.add(key_of(parts), parts, paths, work_dir);
}

bool CompileCache::answers_whole() const {
  const bool starts_at_model =
      !plan_.jobs.empty() && (std::find(plan_.jobs.front().reads.begin(), plan_.jobs.front().reads.end(),
                                        plan_.model) != plan_.jobs.front().reads.end());
  return starts_at_model && !plan_.output.empty() && !plan_.is_verified && !plan_.keep_work_dir;
}

const Parts& CompileCache::whole_parts() {
  if (!whole_parts_.empty()) return whole_parts_;
  whole_parts_ = {{"whole", "compile"}, {"format", kFormat}};
  if (model_digest_.empty()) model_digest_ = model_digest(plan_.model);
  whole_parts_.emplace_back("model", model_digest_);
  for (const Job& job : plan_.jobs) {
    if (!job.skip_reason.empty() || job.kind != JobKind::Process) continue;
    for (auto& part : tool_and_argv(job)) whole_parts_.push_back(std::move(part));
  }
  return whole_parts_;
}

bool CompileCache::restore_whole(const std::string& work_dir) {
  if (!answers_whole()) return false;
  const std::optional<Entry> entry = store_.find(key_of(whole_parts()));
  return entry && store_.restore(*entry, work_dir);
}

void CompileCache::store_whole(const std::string& work_dir) {
  if (!answers_whole()) return;
  store_.add(key_of(whole_parts()), whole_parts(), existing({plan_.neff, "wrapped_neff.hlo"}, work_dir),
             work_dir);
}

std::string CompileCache::explain() {
  if (!answers_whole())
    return "not answered as a whole: the compile is partial, verified, or keeps its work folder; jobs may "
           "still hit\n";
  const Parts& parts = whole_parts();
  const std::string key = key_of(parts);
  if (store_.find(key)) return fmt::format("hit: {}\n", key);
  std::string text = fmt::format("miss: {}\n", key);
  const std::optional<Entry> nearest = store_.nearest(parts);
  if (!nearest) return text + "  the cache has no compile yet\n";
  text += fmt::format("  the nearest entry is {} and differs in:\n", key_of(nearest->parts));
  const auto value_in = [](const Parts& list, const std::string& what) -> std::string {
    for (const auto& [name, value] : list)
      if (name == what) return value;
    return "(absent)";
  };
  for (const auto& [what, value] : parts)
    if (value_in(nearest->parts, what) != value)
      text += fmt::format("  {}: {} there, {} now\n", what, value_in(nearest->parts, what), value);
  for (const auto& [what, value] : nearest->parts)
    if (value_in(parts, what) == "(absent)")
      text += fmt::format("  {}: {} there, (absent) now\n", what, value);
  return text;
}

}  // namespace ncc::driver::cache
