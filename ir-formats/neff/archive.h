// The payload: a tar, plain or in gzip, with nothing in it that differs from run to run. Source: spec/neff.md
// §3.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/diag/status.h"

namespace ncc::neff {

/// A file to write: the pieces one after the other (so that constants need not be copied together first).
struct Member {
  Member(std::string name, std::string_view bytes) : name(std::move(name)), pieces{bytes} {}
  Member(std::string name, std::vector<std::string_view> pieces)
      : name(std::move(name)), pieces(std::move(pieces)) {}
  int64_t size_bytes() const {
    int64_t size = 0;
    for (const std::string_view piece : pieces) size += static_cast<int64_t>(piece.size());
    return size;
  }

  std::string name;  // relative, '/' separators
  std::vector<std::string_view> pieces;
};

/// Receives payload bytes in order.
using Sink = std::function<Status(std::span<const std::byte>)>;

/// Writes the members sorted by name. ENEF001 for bad or double names.
Status write_archive(std::vector<Member> members, bool gzip, const Sink& sink);

/// Members by name. Those of a plain tar are views of `payload`; of a gzip they live in `storage`.
struct Archive {
  std::map<std::string, std::string_view, std::less<>> members;
  std::vector<std::unique_ptr<std::string>> storage;
};
/// ENEF001: damage, absolute names, "..", links, doubles, more than 4 GiB out of a gzip.
Result<Archive> read_archive(std::span<const std::byte> payload, bool gzip);

}  // namespace ncc::neff
