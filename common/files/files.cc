#include "common/files/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace ncc {
namespace {

struct FileDescriptor {
  int fd;
  ~FileDescriptor() {
    if (fd >= 0) ::close(fd);
  }
};

std::string errno_text() { return std::strerror(errno); }

}  // namespace

Result<std::string> read_file(const std::string& path) {
  FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return error(Code::EFIL001, path, errno_text());
  struct stat facts;
  if (::fstat(file.fd, &facts) != 0) return error(Code::EFIL001, path, errno_text());
  if (S_ISDIR(facts.st_mode)) return error(Code::EFIL001, path, "it is a folder");
  std::string bytes;
  bytes.resize(facts.st_size > 0 ? static_cast<size_t>(facts.st_size) : size_t{1} << 16);
  size_t filled = 0;
  while (true) {
    if (filled == bytes.size()) bytes.resize(bytes.size() + bytes.size() / 2 + 4096);
    const ssize_t got = ::read(file.fd, bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return error(Code::EFIL001, path, errno_text());
    if (got == 0) break;
    filled += static_cast<size_t>(got);
    if (S_ISREG(facts.st_mode) && filled == static_cast<size_t>(facts.st_size)) break;
  }
  bytes.resize(filled);
  return bytes;
}

namespace {

/// 0 or errno.
int write_all(int fd, std::string_view bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t put = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    done += static_cast<size_t>(put);
  }
  return 0;
}

/// 0 or errno.
int write_to(const std::string& path, int flags, std::string_view bytes) {
  const FileDescriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0644)};
  return file.fd < 0 ? errno : write_all(file.fd, bytes);
}

}  // namespace

Status write_file(const std::string& path, std::string_view bytes) {
  static std::atomic<unsigned> counter{0};
  // A device or a pipe is written to, never replaced; a link keeps pointing where it does.
  struct stat facts {};
  const bool is_special = ::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode);
  std::error_code unreadable;
  const std::string target = std::filesystem::is_symlink(path, unreadable)
                                 ? std::filesystem::weakly_canonical(path, unreadable).string()
                                 : path;
  const std::string temporary = fmt::format("{}.{}.{}.tmp", target, ::getpid(), counter++);
  int failure = is_special ? write_to(path, 0, bytes) : write_to(temporary, O_CREAT | O_TRUNC, bytes);
  if (!is_special) {
    if (failure == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) failure = errno;
    if (failure != 0) ::unlink(temporary.c_str());
  }
  if (failure != 0) return error(Code::EFIL002, path, std::string(std::strerror(failure)));
  return Status::ok();
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return error(Code::EFIL001, path, errno_text());
  struct stat facts;
  if (::fstat(file.fd, &facts) != 0) return error(Code::EFIL001, path, errno_text());
  if (!S_ISREG(facts.st_mode)) return error(Code::EFIL001, path, "it is not a regular file");
  const size_t size = static_cast<size_t>(facts.st_size);
  if (size == 0) return std::shared_ptr<const MappedFile>(new MappedFile(nullptr, 0));
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED) return error(Code::EFIL001, path, errno_text());
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const std::byte*>(data), size));
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace ncc
