#include "ir-formats/neff/neff_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/arch/arch.h"
#include "ir-formats/isa/def_json.h"
#include "ir-formats/neff/digest.h"
#include "ir-formats/neff/graph_json.h"

namespace ncc::neff {
namespace {

Status bad(const std::string& path, const std::string& problem) {
  return error(Code::ENEF001, fmt::format("'{}': {}", path, problem));
}
Status in_file(const std::string& path, const Status& status) {
  Diagnostic diagnostic = status.diagnostic();
  diagnostic.cause += fmt::format(" (in '{}')", path);
  return Status(std::move(diagnostic));
}

Digest::Kind digest_kind(PackageVersion version) {
  return version == PackageVersion::Gzip ? Digest::Kind::Md5 : Digest::Kind::Sha256;
}

// MD5 leaves 16 bytes that the format ignores.
bool same_hash(const Header& header, const std::array<uint8_t, 32>& found) {
  const size_t count = header.package_version == PackageVersion::Gzip ? 16 : 32;
  return std::equal(found.begin(), found.begin() + static_cast<ptrdiff_t>(count), header.hash.begin());
}

// A name-based UUID of the payload (§11): the same file has the same one.
std::array<uint8_t, 16> uuid_of(const std::array<uint8_t, 32>& digest, PackageVersion version) {
  std::array<uint8_t, 16> uuid;
  std::copy_n(digest.begin(), uuid.size(), uuid.begin());
  uuid[6] = static_cast<uint8_t>((uuid[6] & 0x0F) | (version == PackageVersion::Gzip ? 0x30 : 0x50));
  uuid[8] = static_cast<uint8_t>((uuid[8] & 0x3F) | 0x80);
  return uuid;
}

// A file that appears under its name only when it is complete.
class PendingFile {
 public:
  explicit PendingFile(std::string path)
      : path_(std::move(path)), temporary_(path_ + fmt::format(".tmp{}", ::getpid())) {
    descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  ~PendingFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!published_) ::unlink(temporary_.c_str());
  }
  Status write(std::span<const std::byte> bytes, int64_t offset) {
    if (descriptor_ < 0) return failed();
    while (!bytes.empty()) {
      const ssize_t count = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return failed();
      bytes = bytes.subspan(static_cast<size_t>(count));
      offset += count;
    }
    return Status::ok();
  }
  Status publish() {
    if (descriptor_ < 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) return failed();
    published_ = true;
    return Status::ok();
  }

 private:
  Status failed() const { return error(Code::EFIL002, path_, std::string(std::strerror(errno))); }
  std::string path_, temporary_;
  int descriptor_ = -1;
  bool published_ = false;
};

Status check_kelf(const std::string& path, const Archive& archive, std::vector<std::string>& subgraphs) {
  for (const char* required : {"info.json", "neff.json", "kelf-0.json"})
    if (!archive.members.contains(required))
      return bad(path, fmt::format("member '{}' is missing", required));
  const Result<Kelf> kelf = read_kelf(archive.members.find("kelf-0.json")->second);
  if (!kelf.is_ok()) return in_file(path, kelf.status());
  if (kelf->target != "*" && find_arch(kelf->target) == nullptr)
    return bad(path, fmt::format("target '{}' is unknown", kelf->target));
  for (const std::string& definition : kelf->definitions) {
    constexpr std::string_view kSuffix = "/def.json";
    if (!definition.ends_with(kSuffix) || !archive.members.contains(definition))
      return bad(path, fmt::format("definition '{}' is missing", definition));
    subgraphs.push_back(definition.substr(0, definition.size() - kSuffix.size()));
  }
  return Status::ok();
}

}  // namespace

Result<std::shared_ptr<const NeffFile>> NeffFile::open(const std::string& path, bool verify_hash) {
  auto neff = std::make_shared<NeffFile>();
  NCC_ASSIGN(neff->file_, MappedFile::open(path));
  const std::span<const std::byte> bytes = neff->file_->bytes();
  Result<Header> header = read_header(bytes);
  if (!header.is_ok()) return in_file(path, header.status());
  neff->header_ = header.take();
  const auto payload = bytes.subspan(kHeaderBytes, neff->header_.payload_bytes);
  if (verify_hash) {
    Digest digest(digest_kind(neff->header_.package_version));
    digest.add(payload);
    if (!same_hash(neff->header_, digest.finish())) return bad(path, "the payload does not match its hash");
  }
  Result<Archive> archive = read_archive(payload, neff->header_.package_version == PackageVersion::Gzip);
  if (!archive.is_ok()) return in_file(path, archive.status());
  neff->archive_ = archive.take();
  NCC_TRY(check_kelf(path, neff->archive_, neff->subgraphs_));
  return std::shared_ptr<const NeffFile>(std::move(neff));
}

Result<std::string_view> NeffFile::member(const std::string& name) const {
  const auto found = archive_.members.find(name);
  if (found == archive_.members.end())
    return error(Code::ENEF001, fmt::format("member '{}' is missing", name));
  return found->second;
}

Result<isa::Program> NeffFile::read_program(const std::string& subgraph) const {
  NCC_ASSIGN(isa::Program program,
             isa::read_program([&](const std::string& name) { return member(subgraph + "/" + name); }));
  const auto available = static_cast<int64_t>(constants(subgraph).size());
  for (const isa::Variable& variable : program.variables)
    if (variable.kind == isa::VariableKind::Const &&
        (variable.const_offset > available || variable.size_bytes > available - variable.const_offset))
      return error(Code::ENEF001, fmt::format("constant '{}' lies outside the {} bytes of {}/{}",
                                              variable.name, available, subgraph, isa::kConstantsFile));
  return program;
}

Result<ProgramIo> NeffFile::read_io(const std::string& subgraph, const isa::Program& program) const {
  NCC_ASSIGN(const std::string_view text, member(subgraph + "/io.json"));
  NCC_ASSIGN(ProgramIo io, neff::read_io(text));
  NCC_TRY(verify_io(io, program.variables));
  return io;
}

std::span<const std::byte> NeffFile::constants(const std::string& subgraph) const {
  const auto found = archive_.members.find(fmt::format("{}/{}", subgraph, isa::kConstantsFile));
  if (found == archive_.members.end()) return {};
  return std::as_bytes(std::span(found->second));
}

Status write_neff(const std::string& path, const WriteOptions& options, std::vector<Member> members) {
  Header header;
  header.package_version = options.compress ? PackageVersion::Gzip : PackageVersion::Plain;
  header.build_version = fmt::format("{}%main@0000000", kToolVersion);
  header.name = options.name;
  header.num_tpb = header.requested_tpb_count = static_cast<uint32_t>(options.num_subgraphs);
  header.tpb_per_node[0] = static_cast<uint8_t>(options.num_subgraphs);
  PendingFile file(path);
  Digest digest(digest_kind(header.package_version));
  int64_t end = kHeaderBytes;
  NCC_TRY(write_archive(std::move(members), options.compress, [&](std::span<const std::byte> bytes) {
    digest.add(bytes);
    const int64_t at = end;
    end += static_cast<int64_t>(bytes.size());
    return file.write(bytes, at);
  }));
  header.payload_bytes = static_cast<uint64_t>(end - kHeaderBytes);
  header.hash = digest.finish();
  header.uuid = uuid_of(header.hash, header.package_version);
  NCC_TRY(file.write(write_header(header), 0));
  return file.publish();
}

}  // namespace ncc::neff
