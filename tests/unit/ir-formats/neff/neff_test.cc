#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "common/files/files.h"
#include "ir-formats/neff/graph_json.h"
#include "ir-formats/neff/neff_file.h"
#include "tests/unit/ir-formats/isa/sample_program.h"
#include "tools/neff-dump/dump.h"
#include "tools/neff-packager/pack.h"

namespace ncc::neff {
namespace {

namespace fs = std::filesystem;

// A work folder as the compiler's stages leave it; removed at the end.
class WorkDir {
 public:
  WorkDir() {
    std::string pattern = (fs::temp_directory_path() / "neff_test_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
    fs::create_directory(path_ + "/sg00");
    REQUIRE(isa::write_program(isa::sample_program(), path_ + "/sg00").is_ok());
    ProgramIo io;
    io.inputs = {{"x", Dtype::F32, {128, 64}, "x", Dtype::F32, {128, 64}, Conversion::None, ""}};
    io.outputs = {{"result", Dtype::F32, {128, 64}, "y", Dtype::F32, {128, 64}, Conversion::None, "x"}};
    write("sg00/io.json", write_io(io));
    write("constants.bin", std::string(64, 'u') + std::string(128 * 64 * 4, 'c'));
    write("hlo_metrics.json", "{\"roofline\": 1}");
  }
  ~WorkDir() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  void write(const std::string& name, const std::string& bytes) const {
    REQUIRE(write_file(path_ + "/" + name, bytes).is_ok());
  }

 private:
  std::string path_;
};

std::string packed(const WorkDir& dir, const std::string& name, bool compress = true) {
  packager::PackOptions options;
  options.work_dir = dir.path();
  options.output = dir / name;
  options.compress = compress;
  const Status status = packager::pack(options);
  INFO((status.is_ok() ? "" : status.diagnostic().to_string()));
  REQUIRE(status.is_ok());
  return read_file(options.output).take();
}

std::string failure(const std::string& path) {
  const Result<std::string> dump = neff_dump::dump({path, true, false});
  return dump.is_ok() ? "" : dump.status().diagnostic().cause;
}

TEST_CASE("a work folder becomes a NEFF that holds everything", "[neff]") {
  const WorkDir dir;
  for (const bool compress : {true, false}) {
    packed(dir, "a.neff", compress);
    const auto file = NeffFile::open(dir / "a.neff");
    INFO((file.is_ok() ? "" : file.status().diagnostic().cause));
    REQUIRE(file.is_ok());
    CHECK(file.value()->subgraphs() == std::vector<std::string>{"sg00"});
    const auto program = file.value()->read_program("sg00");
    REQUIRE(program.is_ok());
    CHECK(program->streams == isa::sample_program().streams);
    // The unused first 64 bytes of the work folder's constants do not travel.
    CHECK(program->variables[1].const_offset == 0);
    const auto constants = file.value()->constants("sg00");
    REQUIRE(constants.size() == 128 * 64 * 4);
    CHECK(constants[0] == std::byte{'c'});
    if (!compress) CHECK(reinterpret_cast<uintptr_t>(constants.data()) % 64 == 0);
    const auto io = file.value()->read_io("sg00", program.value());
    REQUIRE(io.is_ok());
    CHECK(io->outputs[0].name == "result");
    CHECK(file.value()->member("hlo_metrics.json").value() == "{\"roofline\": 1}");
    CHECK(file.value()->member("sg00/tensor_map.json").is_ok());
  }
}

TEST_CASE("packing twice gives the same bytes", "[neff]") {
  const WorkDir first, second;
  CHECK(packed(first, "a.neff") == packed(second, "b.neff"));
}

TEST_CASE("the header has its fields where the format says", "[neff]") {
  const WorkDir dir;
  const std::string bytes = packed(dir, "a.neff");
  CHECK(bytes.substr(0, 16) == std::string("\2\0\0\0\0\0\0\0\0\4\0\0\0\0\0\0", 16));
  CHECK(bytes.substr(0xDC, 10) == std::string("file.neff\0", 10));
  CHECK(bytes.substr(0x1DC, 5) == std::string("\1\0\0\0\1", 5));
  CHECK(bytes.substr(0x400, 3) == "\x1F\x8B\x08");
  CHECK(bytes.substr(0x404, 4) == std::string(4, '\0'));  // no time
  const auto header = read_header(std::as_bytes(std::span(bytes)));
  REQUIRE(header.is_ok());
  const auto again = write_header(header.value());
  CHECK(std::equal(again.begin(), again.end(), std::as_bytes(std::span(bytes)).begin()));
}

TEST_CASE("damaged and foreign files give one clear reason", "[neff]") {
  const WorkDir dir;
  const std::string good = packed(dir, "a.neff");
  dir.write("b.neff", "");
  CHECK(failure(dir / "b.neff").find("the file has 0 bytes, less than the header of 1024") !=
        std::string::npos);
  dir.write("b.neff", std::string(4096, 'x'));
  CHECK(failure(dir / "b.neff").find("not a NEFF") != std::string::npos);
  dir.write("b.neff", good.substr(0, good.size() - 10));
  CHECK(failure(dir / "b.neff").find("the file is truncated") != std::string::npos);
  std::string flipped = good;
  flipped[1500] ^= 4;
  dir.write("b.neff", flipped);
  CHECK(failure(dir / "b.neff").find("the payload does not match its hash") != std::string::npos);
  CHECK(failure(dir / "absent.neff").find("cannot read") != std::string::npos);
}

TEST_CASE("damage behind the hash never crashes the reader", "[neff]") {
  const WorkDir dir;
  for (const bool compress : {true, false}) {
    const std::string good = packed(dir, "a.neff", compress);
    std::mt19937 rng(5);
    for (int round = 0; round < 300; ++round) {
      std::string bytes = good;
      for (int flips = 0; flips < 3; ++flips)
        bytes[1024 + rng() % (bytes.size() - 1024)] ^= static_cast<char>(1 << rng() % 8);
      dir.write("b.neff", bytes);
      const auto file = NeffFile::open(dir / "b.neff", /*verify_hash=*/false);
      if (!file.is_ok()) continue;
      const auto program = file.value()->read_program("sg00");
      if (program.is_ok()) (void)file.value()->read_io("sg00", program.value());
    }
  }
}

TEST_CASE("names that would leave the folder are refused", "[neff]") {
  for (const std::string name : {"/etc/x", "../x", "a/../x", "a//b", ""}) {
    const Status status =
        write_archive({{name, std::string_view("x")}}, false, [](auto) { return Status::ok(); });
    CHECK_FALSE(status.is_ok());
  }
}

TEST_CASE("an interface that does not fit the program is refused", "[neff]") {
  const std::vector<isa::Variable> variables = {{"x", isa::VariableKind::Input, 16, -1}};
  ProgramIo io;
  io.inputs = {{"p", Dtype::S64, {4}, "x", Dtype::S32, {4}, Conversion::Demote, ""}};
  CHECK(verify_io(io, variables).is_ok());
  io.inputs[0].device_shape = {5};
  CHECK(verify_io(io, variables).diagnostic().cause ==
        "invalid NEFF: io.json: input 'p': variable 'x' has 16 bytes, expected 20");
  io.inputs[0].device_shape = {3};
  CHECK(verify_io(io, variables).diagnostic().cause ==
        "invalid NEFF: io.json: input 'p': conversion 'demote' does not lead from s64 to s32");
  CHECK(read_io(R"({"inputs":[{"name":1}],"outputs":[]})").status().diagnostic().cause ==
        "invalid NEFF: io.json: inputs 0: 'name' is no string");
}

TEST_CASE("the dump names tensors, queues and instructions", "[neff]") {
  const WorkDir dir;
  packed(dir, "a.neff");
  const Result<std::string> text = neff_dump::dump({dir / "a.neff", true, false});
  REQUIRE(text.is_ok());
  CHECK(text->find("  input 0: x f32[128,64] in 'x'\n") != std::string::npos);
  CHECK(text->find("      1  TensorTensorArith wait(s4>=16) out=sbuf[0:128]+0x200 f32 <64:1> "
                   "in0=sbuf[0:128]+0x0 f32 <64:1> "
                   "in1=sbuf[0:128]+0x100 f32 <64:1> op0=add add(s7,1)  ; I-2 jit(f)/add (model.py:12)\n") !=
        std::string::npos);
  const Result<std::string> json = neff_dump::dump({dir / "a.neff", true, true});
  REQUIRE(json.is_ok());
  CHECK(json->find("\"pkg_version\": 2") != std::string::npos);
}

TEST_CASE("repetitions are written when there are several, and read back", "[neff]") {
  CHECK(write_info("m", 3, 1) == write_info("m", 3, 1, 1));
  CHECK(write_info("m", 3, 1).find("repetition") == std::string::npos);
  CHECK(read_repetitions(write_info("m", 3, 1)).value() == 1);
  CHECK(read_repetitions(write_info("m", 3, 1, 7)).value() == 7);
  for (const char* wrong : {"", "[]", R"({"execute_repetition": 0})", R"({"execute_repetition": "3"})"})
    CHECK(read_repetitions(wrong).status().diagnostic().code == Code::ENEF001);
}

}  // namespace
}  // namespace ncc::neff
