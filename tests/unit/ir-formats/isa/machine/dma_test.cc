// DMA data movement: patterns, casts, transposes, read-only variables, unwritten reads.
#include "tests/unit/ir-formats/isa/machine/core_fixture.h"

namespace ncc::machine {
namespace {

struct DmaFixture {
  std::vector<float> input = std::vector<float>(24), output = std::vector<float>(24);
  std::vector<isa::Variable> variables = {{"in", isa::VariableKind::Input, 96, -1},
                                          {"out", isa::VariableKind::Output, 96, -1},
                                          {"scratch", isa::VariableKind::Internal, 96, -1}};
  HostMemory memory{3};
  DmaFixture() {
    for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i);
    memory.bind(0, bytes(input));
    memory.bind_writable(1, std::as_writable_bytes(std::span<float>(output)));
  }
  FunctionalCore core(const char* arch = "trn2") { return {*find_arch(arch), variables, memory}; }
};

TEST_CASE("a DMA pairs elements in visit order, partitions outermost on chip", "[machine]") {
  DmaFixture f;
  FunctionalCore core = f.core();
  REQUIRE(
      core.execute(isa::DmaDescriptor{dram(0, Dtype::F32, {{1, 24}}), sbuf(Dtype::F32, 4, 6, 0)}).is_ok());
  // Back with rows interleaved: out[c * 4 + p] = tile[p][c].
  REQUIRE(core.execute(isa::DmaDescriptor{sbuf(Dtype::F32, 4, 6, 0), dram(1, Dtype::F32, {{1, 4}, {4, 6}})})
              .is_ok());
  for (size_t p = 0; p < 4; ++p)
    for (size_t c = 0; c < 6; ++c) CHECK(f.output[c * 4 + p] == f.input[p * 6 + c]);
}

TEST_CASE("shapes without a common factoring still pair element by element", "[machine]") {
  DmaFixture f;
  FunctionalCore core = f.core();
  REQUIRE(core.execute(isa::DmaDescriptor{dram(0, Dtype::F32, {{12, 2}, {1, 6}}),
                                          dram(2, Dtype::F32, {{5, 4}, {1, 3}})})
              .is_ok());
  std::vector<std::byte> raw;
  REQUIRE(core.read(dram(2, Dtype::F32, {{5, 4}, {1, 3}}), raw).is_ok());
  std::vector<float> got(12);
  std::memcpy(got.data(), raw.data(), raw.size());
  CHECK(got == std::vector<float>{0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 17});
}

TEST_CASE("a DMA casts through fp32 and moves 64-bit elements raw", "[machine]") {
  DmaFixture f;
  FunctionalCore core = f.core();
  REQUIRE(
      core.execute(isa::DmaDescriptor{dram(0, Dtype::F32, {{2, 12}}), sbuf(Dtype::BF16, 1, 12, 0)}).is_ok());
  std::vector<std::byte> raw;
  REQUIRE(core.read(sbuf(Dtype::BF16, 1, 12, 0), raw).is_ok());
  uint16_t last;
  std::memcpy(&last, raw.data() + 22, 2);
  CHECK(last == bf16_from_f32(22));
  REQUIRE(core.execute(isa::DmaDescriptor{dram(0, Dtype::S64, {{1, 12}}), dram(1, Dtype::S64, {{1, 12}})})
              .is_ok());
  CHECK(f.output == f.input);
}

TEST_CASE("a transposing DMA swaps the destination's two innermost dims, on trn2 only", "[machine]") {
  DmaFixture f;
  FunctionalCore core = f.core();
  isa::DmaDescriptor load{dram(0, Dtype::F32, {{1, 24}}), sbuf(Dtype::F32, 6, 4, 0), true};
  REQUIRE(core.execute(load).is_ok());
  std::vector<std::byte> raw;
  REQUIRE(core.read(sbuf(Dtype::F32, 6, 4, 0), raw).is_ok());
  std::vector<float> got(24);
  std::memcpy(got.data(), raw.data(), raw.size());
  for (size_t p = 0; p < 6; ++p)
    for (size_t c = 0; c < 4; ++c) CHECK(got[p * 4 + c] == f.input[c * 6 + p]);
  CHECK_FALSE(f.core("trn1").execute(load).is_ok());
}

TEST_CASE("inputs are read only, scratch must be written before it is read", "[machine]") {
  DmaFixture f;
  FunctionalCore core = f.core();
  Status status =
      core.execute(isa::DmaDescriptor{dram(0, Dtype::F32, {{1, 4}}), dram(0, Dtype::F32, {{1, 4}}, 16)});
  REQUIRE_FALSE(status.is_ok());
  CHECK(status.diagnostic().cause.find("'in', which is read only") != std::string::npos);
  status = core.execute(isa::DmaDescriptor{dram(2, Dtype::F32, {{1, 4}}), dram(1, Dtype::F32, {{1, 4}})});
  REQUIRE_FALSE(status.is_ok());
  CHECK(status.diagnostic().code == Code::ESIM003);
  CHECK(core.first_unwritten(1) == 0);
  REQUIRE(
      core.execute(isa::DmaDescriptor{dram(0, Dtype::F32, {{1, 5}}), dram(1, Dtype::F32, {{1, 5}})}).is_ok());
  CHECK(core.first_unwritten(1) == 20);
}

}  // namespace
}  // namespace ncc::machine
