// Whole runs: a NEFF made from a small program, executed from its bytes.
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files/files.h"
#include "common/npy/array_folder.h"
#include "ir-formats/neff/neff_file.h"
#include "tests/unit/ir-formats/isa/sample_program.h"
#include "tools/neff-packager/pack.h"
#include "tools/neuron-sim/simulate.h"

namespace ncc::sim {
namespace {

namespace fs = std::filesystem;

Array filled(float first, float step) {
  Array array = Array::zeros(Dtype::F32, {128, 64});
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    const float value = first + step * static_cast<float>(i);
    std::memcpy(array.mutable_data() + 4 * i, &value, 4);
  }
  return array;
}

// A folder with model.neff (y = x + c, c all 2), inputs/ and expected/.
class Case {
 public:
  Case() {
    path_ = (fs::temp_directory_path() / "run_test_XXXXXX").string();
    REQUIRE(::mkdtemp(path_.data()) != nullptr);
    for (const char* folder : {"sg00", "inputs", "expected"}) fs::create_directory(path_ + "/" + folder);
    REQUIRE(isa::write_program(isa::sample_program(), path_ + "/sg00").is_ok());
    neff::ProgramIo io;
    io.inputs = {{"x", Dtype::F32, {128, 64}, "x", Dtype::F32, {128, 64}, neff::Conversion::None, ""}};
    io.outputs = {{"y", Dtype::F32, {128, 64}, "y", Dtype::F32, {128, 64}, neff::Conversion::None, ""}};
    REQUIRE(write_file(path_ + "/sg00/io.json", neff::write_io(io)).is_ok());
    const Array two = filled(2, 0);
    std::string constants(64, '\0');
    constants.append(reinterpret_cast<const char*>(two.bytes.data()), two.bytes.size());
    REQUIRE(write_file(path_ + "/constants.bin", constants).is_ok());
    REQUIRE(write_file(path_ + "/hlo_metrics.json", R"({"roofline_ns": 1000.5})").is_ok());
    REQUIRE(packager::pack({path_, path_ + "/model.neff", "file.neff", true}).is_ok());
    REQUIRE(write_array_folder(path_ + "/inputs", {{"x", filled(0, 1)}}).is_ok());
    REQUIRE(write_array_folder(path_ + "/expected", {{"y", filled(2, 1)}}).is_ok());
  }
  ~Case() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string failure(const SimOptions& options) {
  std::string summary;
  const Status status = simulate(options, summary);
  return status.is_ok() ? "" : status.diagnostic().cause;
}

TEST_CASE("a NEFF runs from its bytes and agrees with what is expected", "[sim]") {
  const Case dir;
  SimOptions options;
  options.file = dir / "model.neff";
  options.input_dir = dir / "inputs";
  options.expect_dir = dir / "expected";
  options.output_dir = dir / "out";
  options.report = dir / "report.json";
  options.trace = dir / "trace.json";
  options.tolerance = {0, 0};
  std::string summary;
  const Status status = simulate(options, summary);
  INFO((status.is_ok() ? "" : status.diagnostic().to_string()));
  REQUIRE(status.is_ok());
  CHECK(summary.find("outputs     agree") != std::string::npos);
  const auto report = nlohmann::json::parse(read_file(options.report).value());
  CHECK(report["dma"]["input_bytes"] == 128 * 64 * 4);
  CHECK(report["dma"]["const_bytes"] == 128 * 64 * 4);
  CHECK(report["dma"]["output_bytes"] == 128 * 64 * 4);
  CHECK(report["dma"]["scratch_bytes"] == 0);
  CHECK(report["roofline_ns"] == 1000.5);
  CHECK(report["instructions"] == 9);
  CHECK_FALSE(nlohmann::json::parse(read_file(options.trace).value())["traceEvents"].empty());
  const auto outputs = read_array_folder(options.output_dir);
  REQUIRE(outputs.is_ok());
  CHECK(outputs->at(0).name == "y");

  SECTION("a timing-only run takes the same time and needs no inputs") {
    SimOptions timing;
    timing.file = options.file;
    timing.timing_only = true;
    timing.report = dir / "timing.json";
    CHECK(failure(timing).empty());
    CHECK(nlohmann::json::parse(read_file(timing.report).value())["time_ns"] == report["time_ns"]);
  }
  SECTION("a wrong result is named and leaves the report") {
    REQUIRE(write_array_folder(dir / "expected", {{"y", filled(2.5, 1)}}).is_ok());
    CHECK(failure(options).find("output 0 'y' differs: element [0,0]: got 2, expected 2.5; 8192 of 8192") ==
          0);
  }
}

TEST_CASE("what is missing for a run is said before it starts", "[sim]") {
  const Case dir;
  SimOptions options;
  options.file = dir / "model.neff";
  CHECK(failure(options) == "input 0 of the program: no array is given for 'x' f32[128,64]");
  options.input_files = {dir / "inputs/000.npy", dir / "inputs/000.npy"};
  CHECK(failure(options) == "input 1 of the program: 2 arrays are given, the program has 1 parameters");
  options.functional = options.timing_only = true;
  CHECK(failure(options) == "--functional and --timing-only exclude each other");
  options = {};
  options.file = dir / "inputs/manifest.json";
  CHECK(failure(options).find("invalid BIR") != std::string::npos);
}

}  // namespace
}  // namespace ncc::sim
