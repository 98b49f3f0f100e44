// The host side of neuron-sim: conversions, comparison, reports. The machine has its own tests.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/compare/compare.h"
#include "common/npy/array_folder.h"
#include "tests/unit/ir-formats/isa/sample_program.h"
#include "tools/neuron-sim/host_arrays.h"
#include "tools/neuron-sim/report.h"

namespace ncc::sim {
namespace {

template <class T>
Array array_of(Dtype dtype, const std::vector<T>& values) {
  Array array = Array::zeros(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    const T value = values[i];
    std::memcpy(array.mutable_data() + i * sizeof(T), &value, sizeof(T));
  }
  return array;
}

template <class T>
std::vector<T> values_of(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

neff::IoTensor tensor(Dtype dtype, int64_t count, Dtype device, std::vector<int64_t> device_shape,
                      neff::Conversion conversion) {
  return {"p", dtype, {count}, "v", device, std::move(device_shape), conversion, ""};
}

TEST_CASE("an array that needs no conversion is used in place", "[sim]") {
  const Array array = array_of<float>(Dtype::F32, {1, 2, 3});
  const auto device = to_device(tensor(Dtype::F32, 3, Dtype::F32, {3}, neff::Conversion::None), 0, array, 12);
  REQUIRE(device.is_ok());
  CHECK(device->bytes.data() == array.bytes.data());
  const auto padded = to_device(tensor(Dtype::F32, 3, Dtype::F32, {3}, neff::Conversion::None), 0, array, 64);
  REQUIRE(padded.is_ok());
  CHECK(padded->bytes.size() == 64);
  CHECK(values_of<float>(padded->bytes)[2] == 3);
  CHECK(values_of<float>(padded->bytes)[3] == 0);
}

TEST_CASE("raw bits stand for types that numpy lacks", "[sim]") {
  const Array bits = array_of<uint16_t>(Dtype::U16, {0x3F80});
  CHECK(to_device(tensor(Dtype::BF16, 1, Dtype::BF16, {1}, neff::Conversion::None), 0, bits, 2).is_ok());
  const auto wrong = to_device(tensor(Dtype::BF16, 1, Dtype::BF16, {1}, neff::Conversion::None), 3,
                               array_of<float>(Dtype::F32, {1}), 2);
  REQUIRE_FALSE(wrong.is_ok());
  CHECK(wrong.status().diagnostic().cause == "input 3 of the program: 'p' is bf16[1], found f32[1]");
}

TEST_CASE("a 64-bit value that does not survive demotion is an error of the run", "[sim]") {
  const auto s64 = tensor(Dtype::S64, 3, Dtype::S32, {3}, neff::Conversion::Demote);
  const auto fits = to_device(s64, 0, array_of<int64_t>(Dtype::S64, {-5, 7, INT32_MIN}), 12);
  REQUIRE(fits.is_ok());
  CHECK(values_of<int32_t>(fits->bytes) == std::vector<int32_t>{-5, 7, INT32_MIN});
  CHECK(values_of<int64_t>(from_device(s64, fits->bytes).bytes) == std::vector<int64_t>{-5, 7, INT32_MIN});
  const auto lost = to_device(s64, 1, array_of<int64_t>(Dtype::S64, {0, int64_t{1} << 31, 0}), 12);
  CHECK(lost.status().diagnostic().cause ==
        "input 1 of the program: 'p' element [1] does not fit s32, which the program computes in");
  const auto f64 = tensor(Dtype::F64, 2, Dtype::F32, {2}, neff::Conversion::Demote);
  CHECK(to_device(f64, 0, array_of<double>(Dtype::F64, {0.1, INFINITY}), 8).is_ok());
  CHECK_FALSE(to_device(f64, 0, array_of<double>(Dtype::F64, {0.1, 1e300}), 8).is_ok());
}

TEST_CASE("predicates are zero or one on the device", "[sim]") {
  const auto pred = tensor(Dtype::Pred, 3, Dtype::U8, {3}, neff::Conversion::Pred);
  const auto device = to_device(pred, 0, array_of<uint8_t>(Dtype::Pred, {0, 2, 1}), 3);
  REQUIRE(device.is_ok());
  CHECK(values_of<uint8_t>(device->bytes) == std::vector<uint8_t>{0, 1, 1});
}

TEST_CASE("complex arrays travel as two planes", "[sim]") {
  const auto c64 = tensor(Dtype::C64, 2, Dtype::F32, {2, 2}, neff::Conversion::ComplexPlanes);
  Array array = Array::zeros(Dtype::C64, {2});
  const float parts[] = {1, 2, 3, 4};
  std::memcpy(array.mutable_data(), parts, sizeof(parts));
  const auto device = to_device(c64, 0, array, 16);
  REQUIRE(device.is_ok());
  CHECK(values_of<float>(device->bytes) == std::vector<float>{1, 3, 2, 4});
  CHECK(values_of<float>(from_device(c64, device->bytes).bytes) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("comparison follows the tolerance and treats special values apart", "[sim]") {
  const Tolerance tolerance{0.1, 0.01};
  const auto wrong = [&](std::vector<float> a, std::vector<float> e) {
    return compare(array_of(Dtype::F32, a), array_of(Dtype::F32, e), tolerance).num_wrong;
  };
  CHECK(wrong({1.1F, NAN, INFINITY, -0.0F}, {1.0F, NAN, INFINITY, 0.0F}) == 0);
  CHECK(wrong({1.2F}, {1.0F}) == 1);
  CHECK(wrong({INFINITY, 1, NAN}, {-INFINITY, NAN, 1}) == 3);
  CHECK(compare(array_of<int32_t>(Dtype::S32, {5}), array_of<int32_t>(Dtype::S32, {6}), {10, 10}).num_wrong ==
        1);
}

TEST_CASE("a mismatch names output, index and values", "[sim]") {
  Array actual = array_of<float>(Dtype::F32, {1, 2, 3, 4}),
        expected = array_of<float>(Dtype::F32, {1, 2, 3, 5});
  actual.shape = expected.shape = {2, 2};
  const Status status = compare_output(1, "result", actual, expected, {0, 0});
  CHECK(status.diagnostic().exit_status() == 2);
  CHECK(status.diagnostic().cause ==
        "output 1 'result' differs: element [1,1]: got 4, expected 5; 1 of 4 elements differ, largest "
        "difference 1, relative 0.2");
  expected.shape = {4};
  CHECK(compare_output(1, "result", actual, expected, {0, 0}).diagnostic().cause ==
        "output 1 'result' differs: its shape is [2,2], expected [4]");
}

TEST_CASE("an expected array may be raw bits or a wider type", "[sim]") {
  Array actual = array_of<uint16_t>(Dtype::BF16, {0x3F80, 0x4000});
  CHECK(compare(actual, array_of<uint16_t>(Dtype::U16, {0x3F80, 0x4000}), {0, 0}).num_wrong == 0);
  CHECK(compare(actual, array_of<float>(Dtype::F32, {1.0F, 2.25F}), {0, 0}).num_wrong == 1);
}

TEST_CASE("the report has the agreed keys", "[sim]") {
  const isa::Program program = isa::sample_program();
  machine::RunReport run;
  run.time_ns = 2000;
  run.instructions = 9;
  run.dma.dram_bytes = {100, 50, 25, 0};
  run.sources.resize(program.sources.size());
  run.sources[1] = {3, 4800};
  run.events = {{static_cast<int>(isa::Engine::DVE), isa::Opcode::TensorTensorArith, 48, 96, 1},
                {17, isa::Opcode::Nop, 0, 48, 0}};
  const RunSummary summary{&program, &run, find_arch("trn2"), 1000.0, true};
  const auto report = nlohmann::json::parse(report_json(summary));
  CHECK(report["time_ns"] == 2000);
  CHECK(report["efficiency"] == 0.5);
  CHECK(report["dma"]["bytes"] == 175);
  CHECK(report["dma"]["scratch_bytes"] == 0);
  for (const char* engine : {"pe", "act", "pool", "dve", "sp"})
    CHECK(report["engines"][engine]["busy_ns"] == 0);
  CHECK(report["top_ops"][0]["op"] == "jit(f)/add");
  CHECK(report["top_ops"][0]["ns"] == 1000);
  CHECK(summary_text(summary).find("outputs     agree") != std::string::npos);
  const auto trace = nlohmann::json::parse(chrome_trace(summary));
  CHECK(trace["traceEvents"].size() == 4);
  CHECK(trace["traceEvents"][1]["args"]["name"] == "queue q_in");
  CHECK(trace["traceEvents"][2]["ts"] == 0.01);
}

TEST_CASE("folders of arrays keep names and real types", "[sim]") {
  std::string folder = (std::filesystem::temp_directory_path() / "sim_test_XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const std::vector<NamedArray> arrays = {{"a", array_of<uint16_t>(Dtype::BF16, {0x3F80})},
                                          {"b", array_of<float>(Dtype::F32, {1, 2})}};
  REQUIRE(write_array_folder(folder, arrays).is_ok());
  const auto back = read_array_folder(folder);
  REQUIRE(back.is_ok());
  REQUIRE(back->size() == 2);
  CHECK(back->at(0).name == "a");
  CHECK(back->at(0).array.dtype == Dtype::BF16);
  std::filesystem::remove(folder + "/manifest.json");
  const auto bare = read_array_folder(folder);
  REQUIRE(bare.is_ok());
  CHECK(bare->at(0).array.dtype == Dtype::U16);
  std::filesystem::remove_all(folder);
  CHECK_FALSE(read_array_folder(folder).is_ok());
}

}  // namespace
}  // namespace ncc::sim
