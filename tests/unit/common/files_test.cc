#include "common/files/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("files_test." + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

}  // namespace

TEST_CASE("a pipe or a device is written to, not replaced", "[files]") {
  const Folder folder;
  const std::string pipe = (folder.path / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  CHECK(ncc::write_file(pipe, "abc").is_ok());
  CHECK(fs::is_fifo(pipe));
  char bytes[4] = {};
  CHECK(::read(reader, bytes, sizeof bytes) == 3);
  ::close(reader);
}

TEST_CASE("a link keeps pointing where it does and its file gets the bytes", "[files]") {
  const Folder folder;
  const std::string file = (folder.path / "file").string(), link = (folder.path / "link").string();
  REQUIRE(ncc::write_file(file, "old").is_ok());
  fs::create_symlink(file, link);
  CHECK(ncc::write_file(link, "new").is_ok());
  CHECK(fs::is_symlink(link));
  CHECK(ncc::read_file(file).value() == "new");
}

TEST_CASE("a failed write names the path as given and leaves nothing behind", "[files]") {
  const Folder folder;
  const std::string missing = (folder.path / "no" / "file").string();
  const ncc::Status failed = ncc::write_file(missing, "x");
  REQUIRE(!failed.is_ok());
  CHECK(!ncc::write_file(folder.path.string(), "x").is_ok());
  CHECK(fs::is_empty(folder.path));
}
