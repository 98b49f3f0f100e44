#include "common/files/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

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

Status write_file(const std::string& path, std::string_view bytes) {
  static std::atomic<unsigned> counter{0};
  const std::string temporary = fmt::format("{}.{}.{}.tmp", path, ::getpid(), counter++);
  {
    FileDescriptor file{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
    if (file.fd < 0) return error(Code::EFIL002, path, errno_text());
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t put = ::write(file.fd, bytes.data() + done, bytes.size() - done);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) {
        const std::string why = errno_text();
        ::unlink(temporary.c_str());
        return error(Code::EFIL002, path, why);
      }
      done += static_cast<size_t>(put);
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string why = errno_text();
    ::unlink(temporary.c_str());
    return error(Code::EFIL002, path, why);
  }
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
