#include "driver/work_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>
#include <vector>

#include "common/files/files.h"

namespace ncc::driver {
namespace {

namespace fs = std::filesystem;

constexpr int kNameAttempts = 100;
constexpr size_t kCopyChunk = size_t{1} << 20;

Status write_failure(const std::string& path, int error_number) {
  if (error_number == ENOSPC || error_number == EDQUOT) return error(Code::EDRV009, path);
  return error(Code::EFIL002, path, std::string(std::strerror(error_number)));
}

Result<std::string> make_fresh_folder(const std::string& parent) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device entropy;
  int failure = EEXIST;
  for (int attempt = 0; attempt < kNameAttempts && failure == EEXIST; ++attempt) {
    std::string path = parent + "/neuronxcc-";
    for (int i = 0; i < 8; ++i) path += kLetters[entropy() % kLetters.size()];
    if (::mkdir(path.c_str(), 0777) == 0) return path;
    failure = errno;
  }
  return write_failure(parent + "/neuronxcc-XXXXXXXX", failure);
}

Status copy_bytes(int from, int to, const std::string& from_name, const std::string& to_name) {
  std::vector<char> chunk(kCopyChunk);
  while (true) {
    const ssize_t got = ::read(from, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return error(Code::EFIL001, from_name, std::string(std::strerror(errno)));
    if (got == 0) return Status::ok();
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = ::write(to, chunk.data() + done, static_cast<size_t>(got - done));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return write_failure(to_name, errno);
      done += put;
    }
  }
}

struct OpenFile {
  int fd;
  ~OpenFile() {
    if (fd >= 0) ::close(fd);
  }
};

bool is_special_file(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

}  // namespace

Result<WorkDir> WorkDir::open(const std::string& given, const std::string& launch_dir) {
  std::string path = given;
  if (given.empty()) {
    NCC_ASSIGN(path, make_fresh_folder(launch_dir));
  } else {
    std::error_code failure;
    fs::create_directories(given, failure);
    if (failure) return error(Code::EFIL002, given, failure.message());
  }
  const std::string lock_path = path + "/.lock";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock < 0) return write_failure(path, errno);
  WorkDir opened(path, given.empty(), lock);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    const Result<std::string> holder = ncc::read_file(lock_path);
    return error(Code::EDRV004, path, holder.is_ok() ? holder.value() : std::string("unknown"));
  }
  const std::string self = std::to_string(::getpid());
  if (::ftruncate(lock, 0) != 0 || ::pwrite(lock, self.data(), self.size(), 0) < 0)
    return write_failure(path, errno);
  return opened;
}

WorkDir::WorkDir(WorkDir&& other) noexcept
    : path_(std::move(other.path_)), fresh_(other.fresh_), lock_(std::exchange(other.lock_, -1)) {}

WorkDir::~WorkDir() {
  if (lock_ >= 0) ::close(lock_);
}

void WorkDir::remove() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Status publish(const std::string& from, const std::string& to, Durability durability) {
  const OpenFile source{::open(from.c_str(), O_RDONLY | O_CLOEXEC)};
  if (source.fd < 0) return error(Code::EFIL001, from, std::string(std::strerror(errno)));
  if (is_special_file(to)) {
    const OpenFile sink{::open(to.c_str(), O_WRONLY | O_CLOEXEC)};
    if (sink.fd < 0) return write_failure(to, errno);
    return copy_bytes(source.fd, sink.fd, from, to);
  }
  const std::string temporary = fmt::format("{}.{}.tmp", to, ::getpid());
  Status status;
  {
    const OpenFile sink{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
    if (sink.fd < 0) return write_failure(to, errno);
    status = copy_bytes(source.fd, sink.fd, from, to);
    if (status.is_ok() && durability == Durability::Durable && ::fsync(sink.fd) != 0)
      status = write_failure(to, errno);
  }
  if (status.is_ok() && ::rename(temporary.c_str(), to.c_str()) != 0) status = write_failure(to, errno);
  if (!status.is_ok()) ::unlink(temporary.c_str());
  return status;
}

Status check_publishable(const std::string& to) {
  struct stat facts {};
  if (::stat(to.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode))
    return error(Code::EFIL002, to, std::string("it is a folder"));
  if (is_special_file(to)) return Status::ok();
  const std::string folder = fs::path(to).parent_path().string();
  if (::stat(folder.c_str(), &facts) != 0) return write_failure(to, errno);
  if (!S_ISDIR(facts.st_mode)) return write_failure(to, ENOTDIR);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return write_failure(to, errno);
  return Status::ok();
}

}  // namespace ncc::driver
