#include "ir-formats/isa/program_files.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "ir-formats/isa/debug_info.pb.h"
#include "tests/unit/ir-formats/isa/sample_program.h"

namespace ncc::isa {
namespace {

std::map<std::string, std::string> files_of(const Program& program) {
  const Result<std::vector<NamedBytes>> files = serialize_program(program);
  INFO((files.is_ok() ? "" : files.status().diagnostic().cause));
  REQUIRE(files.is_ok());
  std::map<std::string, std::string> map;
  for (const NamedBytes& file : files.value()) map[file.name] = file.bytes;
  return map;
}

Result<Program> read(const std::map<std::string, std::string>& files) {
  return read_program([&](const std::string& name) -> Result<std::string_view> {
    const auto found = files.find(name);
    if (found == files.end()) return error(Code::EISA001, "missing " + name);
    return std::string_view(found->second);
  });
}

std::string failure(const std::map<std::string, std::string>& files) {
  const Result<Program> program = read(files);
  return program.is_ok() ? "" : program.status().diagnostic().cause;
}

TEST_CASE("a program survives being written to files and read back", "[isa]") {
  const Program program = sample_program();
  const std::map<std::string, std::string> files = files_of(program);
  const Result<Program> back = read(files);
  INFO((back.is_ok() ? "" : back.status().diagnostic().cause));
  REQUIRE(back.is_ok());
  CHECK(back->generation == program.generation);
  CHECK(back->variables == program.variables);
  CHECK(back->streams == program.streams);
  REQUIRE(back->queues.size() == program.queues.size());
  for (size_t i = 0; i < program.queues.size(); ++i) {
    CHECK(back->queues[i].name == program.queues[i].name);
    CHECK(back->queues[i].type == program.queues[i].type);
    CHECK(back->queues[i].semaphore == program.queues[i].semaphore);
    CHECK(back->queues[i].completion_count == program.queues[i].completion_count);
    CHECK(back->queues[i].descriptors == program.queues[i].descriptors);
  }
  REQUIRE(back->sources.size() == program.sources.size());
  for (size_t i = 0; i < program.sources.size(); ++i) {
    CHECK(back->sources[i].name == program.sources[i].name);
    CHECK(back->sources[i].op_name == program.sources[i].op_name);
    CHECK(back->sources[i].file == program.sources[i].file);
    CHECK(back->sources[i].line == program.sources[i].line);
  }
  CHECK(files_of(back.value()) == files);
}

TEST_CASE("descriptors are byte walks over named memories", "[isa]") {
  const std::map<std::string, std::string> files = files_of(sample_program());
  CHECK(files.at("Pool.json") == "{\"name\":\"Pool\",\"instr\":\"Pool.bin\",\"dma\":[]}\n");
  CHECK(files.at("SP.json") ==
        R"({"name":"SP","instr":"SP.bin","dma":[
{"id":0,"queue":"q_w","semaphore":5,"debug_id":1,"desc":[{"op":"copy","from":"c \"quoted\"","from_off":0,"from_steps":[1,256],"from_sizes":[256,128],"from_dtype":"float32","to":"sb","to_off":256,"to_steps":[1,262144],"to_sizes":[256,128],"to_dtype":"float32"}]},
{"id":0,"queue":"q_in","semaphore":4,"debug_id":0,"desc":[{"op":"copy","from":"x","from_off":0,"from_steps":[1,256],"from_sizes":[256,128],"from_dtype":"float32","to":"sb","to_off":0,"to_steps":[1,262144],"to_sizes":[256,128],"to_dtype":"float32"}]},
{"id":0,"queue":"q_out","semaphore":6,"debug_id":2,"desc":[{"op":"copy","from":"sb","from_off":512,"from_steps":[1,262144],"from_sizes":[256,128],"from_dtype":"float32","to":"y","to_off":0,"to_steps":[1,256],"to_sizes":[256,128],"to_dtype":"float32"}]}]}
)");
}

TEST_CASE("descriptor patterns of every rank survive", "[isa]") {
  std::mt19937 rng(11);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); };
  Program program = sample_program();
  program.variables[0].size_bytes = program.variables[2].size_bytes = 1 << 30;
  std::vector<DmaDescriptor>& descriptors = program.queues[1].descriptors;
  for (int round = 0; round < 200; ++round) {
    DmaDescriptor d;
    d.src = {Space::Dram,
             pick(0, 1) ? Dtype::BF16 : Dtype::S64,
             0,
             1,
             static_cast<uint8_t>(pick(1, 4)),
             0,
             1 << 20,
             {}};
    int64_t elements = 1;
    for (int i = 0; i < d.src.rank; ++i) {
      d.src.dims[static_cast<size_t>(i)] = {pick(-50, 50), pick(2, 4)};
      elements *= d.src.dims[static_cast<size_t>(i)].count;
    }
    d.dst = {pick(0, 1) ? Space::Sbuf : Space::Psum, Dtype::BF16, 32, 1, 1, -1, 128, {Dim{1, elements}}};
    d.transpose = pick(0, 3) == 0;
    d.source = static_cast<uint32_t>(pick(0, 3));
    descriptors.push_back(d);
  }
  const Result<Program> back = read(files_of(program));
  INFO((back.is_ok() ? "" : back.status().diagnostic().cause));
  REQUIRE(back.is_ok());
  CHECK(back->queues[1].descriptors == descriptors);
}

TEST_CASE("debug files follow their protobuf schema", "[isa]") {
  const std::map<std::string, std::string> files = files_of(sample_program());
  debug::IrDebugInfo backend, bundles;
  REQUIRE(backend.ParseFromString(files.at("debug_info_backend.dve.dbg")));
  REQUIRE(bundles.ParseFromString(files.at("debug_info_asm.dve.dbg")));
  REQUIRE(backend.instructions_size() == 2);
  CHECK(backend.instructions(1).name() == "I-2");
  const auto& frame = backend.stack_frame_index().stack_frames(
      static_cast<int>(backend.instructions(1).stack_frame_id()) - 1);
  const auto& location =
      backend.stack_frame_index().file_locations(static_cast<int>(frame.file_location_id()) - 1);
  CHECK(location.line() == 12);
  CHECK(backend.stack_frame_index().function_names(static_cast<int>(location.function_name_id()) - 1) ==
        "jit(f)/add");
  REQUIRE(bundles.instructions_size() == 3);
  CHECK(bundles.instructions(1).parent_ids(0) == 2);
}

TEST_CASE("a program that refers to what it does not have is refused", "[isa]") {
  std::map<std::string, std::string> files = files_of(sample_program());
  files["SP.bin"].resize(70);
  CHECK(failure(files) == "invalid instruction stream: SP.bin has 70 bytes, not a multiple of 64");
  files = files_of(sample_program());
  files["SP.bin"][0x30] = 9;
  CHECK(failure(files) == "invalid instruction stream: block 9 of 1 in queue 'q_in' (SP bundle 0)");
  files = files_of(sample_program());
  const size_t size_at = files["SP.json"].find("[256,128]");
  files["SP.json"].replace(size_at, 9, "[256,129]");
  CHECK(failure(files) ==
        "invalid instruction stream: from: the access c \"quoted\"+0x0 f32 <129:64,64:1> leaves variable "
        "'c \"quoted\"' of 32768 bytes (queue 'q_w' block 0)");
  files = files_of(sample_program());
  files["debug_info_asm.dve.dbg"].clear();
  CHECK(failure(files) == "invalid instruction stream: debug_info_asm.dve.dbg: 0 records for 3 bundles");
  files.erase("DVE.bin");
  CHECK_FALSE(failure(files).empty());
}

TEST_CASE("no damaged file crashes the reader", "[isa]") {
  const std::map<std::string, std::string> good = files_of(sample_program());
  std::vector<std::string> names;
  for (const auto& [name, bytes] : good)
    if (!bytes.empty()) names.push_back(name);
  std::mt19937 rng(3);
  for (int round = 0; round < 5000; ++round) {
    std::map<std::string, std::string> files = good;
    std::string& bytes = files[names[rng() % names.size()]];
    if (rng() % 4 == 0) {
      bytes.resize(rng() % bytes.size());
    } else {
      for (uint32_t flips = rng() % 4 + 1; flips > 0; --flips)
        bytes[rng() % bytes.size()] ^= static_cast<char>(1 << rng() % 8);
    }
    (void)read(files);
  }
}

}  // namespace
}  // namespace ncc::isa
