#include "ir-formats/neff/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>

namespace ncc::neff {
namespace {

constexpr int64_t kMaxUnpackedBytes = int64_t{4} << 30;
constexpr int64_t kMaxUstarBytes = (int64_t{8} << 30) - 1;
constexpr int kFileMode = 0644;

Status bad(const std::string& problem) { return error(Code::ENEF001, problem); }
std::string reason(struct archive* a) {
  const char* text = archive_error_string(a);
  return text == nullptr ? "damaged archive" : text;
}

struct WriterDelete {
  void operator()(struct archive* a) const { archive_write_free(a); }
};
struct ReaderDelete {
  void operator()(struct archive* a) const { archive_read_free(a); }
};
struct EntryDelete {
  void operator()(struct archive_entry* e) const { archive_entry_free(e); }
};

struct SinkState {
  const Sink* sink;
  Status status;
};

la_ssize_t to_sink(struct archive* a, void* data, const void* bytes, size_t count) {
  auto* state = static_cast<SinkState*>(data);
  state->status = (*state->sink)({static_cast<const std::byte*>(bytes), count});
  if (state->status.is_ok()) return static_cast<la_ssize_t>(count);
  archive_set_error(a, ARCHIVE_FATAL, "write failed");
  return -1;
}

bool is_safe_name(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.back() == '/') return false;
  while (!name.empty()) {
    const size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    name = slash == std::string_view::npos ? std::string_view{} : name.substr(slash + 1);
  }
  return true;
}

Status write_member(struct archive* out, struct archive_entry* entry, const Member& member) {
  archive_entry_clear(entry);
  archive_entry_set_pathname(entry, member.name.c_str());
  archive_entry_set_size(entry, static_cast<la_int64_t>(member.size_bytes()));
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_perm(entry, kFileMode);
  archive_entry_set_mtime(entry, 0, 0);
  archive_entry_set_uid(entry, 0);
  archive_entry_set_gid(entry, 0);
  archive_entry_set_uname(entry, "nobody");
  archive_entry_set_gname(entry, "nobody");
  if (archive_write_header(out, entry) != ARCHIVE_OK)
    return bad("cannot write member '" + member.name + "': " + reason(out));
  constexpr size_t kChunk = 1 << 20;
  for (std::string_view piece : member.pieces) {
    for (; !piece.empty(); piece.remove_prefix(std::min(kChunk, piece.size()))) {
      const std::string_view part = piece.substr(0, kChunk);
      if (archive_write_data(out, part.data(), part.size()) != static_cast<la_ssize_t>(part.size()))
        return bad("cannot write member '" + member.name + "': " + reason(out));
    }
  }
  return Status::ok();
}

Status read_member(struct archive* in, std::span<const std::byte> payload, bool gzip, int64_t size,
                   int64_t& unpacked, Archive& archive, std::string_view& view) {
  const char* first = nullptr;
  auto owned = std::make_unique<std::string>();
  int64_t position = 0;
  while (true) {
    const void* block = nullptr;
    size_t count = 0;
    la_int64_t offset = 0;
    const int status = archive_read_data_block(in, &block, &count, &offset);
    if (status == ARCHIVE_EOF) break;
    if (status != ARCHIVE_OK) return bad(reason(in));
    if (offset != position) return bad("sparse members are not supported");
    if (gzip && (unpacked += static_cast<int64_t>(count)) > kMaxUnpackedBytes)
      return bad("the archive unpacks to more than 4 GiB");
    const auto* bytes = static_cast<const char*>(block);
    // In a plain tar consecutive blocks are consecutive in the file: no copy.
    const auto* base = reinterpret_cast<const char*>(payload.data());
    const bool in_place = !gzip && bytes >= base && bytes + count <= base + payload.size() &&
                          (first == nullptr ? position == 0 : bytes == first + position);
    if (in_place && (first != nullptr || position == 0)) {
      if (first == nullptr) first = bytes;
    } else {
      if (first != nullptr) owned->assign(first, static_cast<size_t>(position));
      first = nullptr;
      owned->append(bytes, count);
    }
    position += static_cast<int64_t>(count);
  }
  if (position != size) return bad("a member is truncated");
  if (first != nullptr) {
    view = {first, static_cast<size_t>(position)};
    return Status::ok();
  }
  view = *owned;
  archive.storage.push_back(std::move(owned));
  return Status::ok();
}

}  // namespace

Status write_archive(std::vector<Member> members, bool gzip, const Sink& sink) {
  std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.name < b.name; });
  bool needs_pax = false;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!is_safe_name(members[i].name)) return bad("bad member name '" + members[i].name + "'");
    if (i > 0 && members[i].name == members[i - 1].name)
      return bad("two members are called '" + members[i].name + "'");
    needs_pax |= members[i].size_bytes() > kMaxUstarBytes || members[i].name.size() > 100;
  }
  SinkState state{&sink, {}};
  std::unique_ptr<struct archive, WriterDelete> out(archive_write_new());
  const std::unique_ptr<struct archive_entry, EntryDelete> entry(archive_entry_new());
  needs_pax ? archive_write_set_format_pax_restricted(out.get()) : archive_write_set_format_ustar(out.get());
  if (gzip) {
    archive_write_add_filter_gzip(out.get());
    archive_write_set_options(out.get(), "gzip:compression-level=1,gzip:!timestamp");
  }
  archive_write_set_bytes_in_last_block(out.get(), 1);  // zero padding after a gzip would be trailing garbage
  if (archive_write_open(out.get(), &state, nullptr, to_sink, nullptr) != ARCHIVE_OK)
    return bad(reason(out.get()));
  for (const Member& member : members) {
    const Status status = write_member(out.get(), entry.get(), member);
    if (!status.is_ok()) return state.status.is_ok() ? status : state.status;
  }
  if (archive_write_close(out.get()) != ARCHIVE_OK)
    return state.status.is_ok() ? bad(reason(out.get())) : state.status;
  return Status::ok();
}

Result<Archive> read_archive(std::span<const std::byte> payload, bool gzip) {
  Archive archive;
  std::unique_ptr<struct archive, ReaderDelete> in(archive_read_new());
  archive_read_support_format_tar(in.get());
  if (gzip) archive_read_support_filter_gzip(in.get());
  if (archive_read_open_memory(in.get(), payload.data(), payload.size()) != ARCHIVE_OK)
    return bad(reason(in.get()));
  int64_t unpacked = 0;
  while (true) {
    struct archive_entry* entry = nullptr;
    const int status = archive_read_next_header(in.get(), &entry);
    if (status == ARCHIVE_EOF) break;
    if (status != ARCHIVE_OK) return bad(reason(in.get()));
    if (archive_entry_filetype(entry) == AE_IFDIR) continue;
    const char* path = archive_entry_pathname(entry);
    std::string name = path == nullptr ? "" : path;
    while (name.starts_with("./")) name.erase(0, 2);
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr)
      return bad("member '" + name + "' is not a regular file");
    if (!is_safe_name(name)) return bad("bad member name '" + name + "'");
    if (archive.members.contains(name)) return bad("two members are called '" + name + "'");
    std::string_view bytes;
    const Status read =
        read_member(in.get(), payload, gzip, archive_entry_size(entry), unpacked, archive, bytes);
    if (!read.is_ok()) return bad("member '" + name + "': " + read.diagnostic().cause);
    archive.members.emplace(std::move(name), bytes);
  }
  return archive;
}

}  // namespace ncc::neff
