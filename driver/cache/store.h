// A content-addressed store on disk, shared by any number of compiles:
//
//   <dir>/files/ab/<digest>    the bytes of a result, named by their digest
//   <dir>/entries/ab/<key>     JSON: which files a result consists of, and what the key was made of
//
// Files and entries are written under a temporary name and renamed, entries last; what is there never
// changes, so readers need no lock and writers cannot disturb each other. A damaged file counts as missing.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ncc::driver::cache {

/// What a key is made of: (what, value) in order, e.g. ("model", digest), ("Frontend.tool", digest).
using Parts = std::vector<std::pair<std::string, std::string>>;
std::string key_of(const Parts& parts);

struct StoredFile {
  std::string path;  // where it belongs, relative to the work folder
  std::string digest;
};

struct Entry {
  Parts parts;
  std::vector<StoredFile> files;
};

class Store {
 public:
  Store(std::string folder, bool read_only) : folder_(std::move(folder)), read_only_(read_only) {}

  std::optional<Entry> find(const std::string& key) const;
  /// Copies an entry's files into a folder. False (and nothing is left under a final name that does not
  /// belong there) when one is missing or damaged.
  bool restore(const Entry& entry, const std::string& into) const;
  /// Adds files of a folder under a key; false when something cannot be read or written, or read-only.
  bool add(const std::string& key, const Parts& parts, const std::vector<std::string>& paths,
           const std::string& from) const;
  /// The entry whose parts agree most with these, among those that have the same first part's name.
  std::optional<Entry> nearest(const Parts& parts) const;

 private:
  std::string file_path(const std::string& digest) const;
  std::string entry_path(const std::string& key) const;
  std::string folder_;
  bool read_only_;
};

}  // namespace ncc::driver::cache
