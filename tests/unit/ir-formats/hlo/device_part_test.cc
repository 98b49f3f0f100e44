#include "ir-formats/hlo/device_part.h"

#include <catch2/catch.hpp>

#include "ir-formats/hlo/read.h"

using namespace ncc;
using namespace ncc::hlo;
using Dims = std::vector<int64_t>;

namespace {

constexpr const char* kMeshes =
    R"({grid = #sdy.mesh<["x"=2, "y"=4]>, "turned one" = #sdy.mesh<["x"=2], device_ids=[1, 0]>})";

DevicePart tile(const char* sharding, size_t rank, int64_t device) {
  const auto part = part_of_sharding(sharding, rank, device);
  REQUIRE(part.has_value());
  return *part;
}

std::vector<DevicePart> axes(const std::string& shardings, const std::string& manual, int64_t device) {
  const auto parts = parts_of_shardy(kMeshes, "#sdy.sharding_per_value<[" + shardings + "]>",
                                     "#sdy<manual_axes{" + manual + "}>", device);
  REQUIRE(parts.has_value());
  return *parts;
}

}  // namespace

TEST_CASE("a device's tile is where the sharding's list of devices has it", "[sharding]") {
  const DevicePart rows = tile("{devices=[4,1]<=[4]}", 2, 3);
  CHECK(rows.place == Dims{3, 0});
  CHECK(rows.count == Dims{4, 1});
  CHECK(tile("{devices=[2,4]<=[8]}", 2, 6).place == Dims{1, 2});
  CHECK(tile("{devices=[8,1]<=[2,4]T(1,0)}", 2, 1).place == Dims{2, 0});
  CHECK(tile("{devices=[2,2]3,1,2,0}", 2, 1).place == Dims{0, 1});
}

TEST_CASE("tiles behind the value's own dimensions are copies", "[sharding]") {
  for (const char* text : {"{devices=[2,1,4]<=[8] last_tile_dim_replicate}",
                           "{devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated}}"}) {
    CHECK(tile(text, 2, 3).place == Dims{0, 0});
    CHECK(tile(text, 2, 4).place == Dims{1, 0});
    CHECK(tile(text, 2, 4).count == Dims{2, 1});
  }
  for (const char* text : {"{replicated}", "{manual}"}) CHECK(tile(text, 1, 5).count == Dims{1});
}

TEST_CASE("an HLO sharding may name the axes of a mesh", "[sharding]") {
  const DevicePart part = tile("{mesh['x'=2,'y'=4], [{'y':(1)2}, {'x'}]}", 2, 6);
  CHECK(part.place == Dims{1, 1});
  CHECK(part.count == Dims{2, 2});
}

TEST_CASE("a sharding without a part for the device has none", "[sharding]") {
  for (const char* text :
       {"", "{maximal device=1}", "{devices=[2,2]<=[4]}", "{devices=[4]<=[4]}", "{devices=[2,2]0,1}",
        "{{replicated}, {replicated}}", "{mesh['x'=2], [{'x'}, {}]}"})
    CHECK_FALSE(part_of_sharding(text, 2, 7).has_value());
}

TEST_CASE("Shardy's axes divide a dimension, the first one outermost", "[sharding]") {
  const auto parts = axes(
      R"(<@grid, [{"y", "x"}, {}]>, <@grid, [{"x", ?}p1], replicated={"y"}>, <@grid, []>)", R"("x", "y")", 6);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].place == Dims{2 * 2 + 1, 0});
  CHECK(parts[0].count == Dims{8, 1});
  CHECK(parts[1].place == Dims{1});
  CHECK(parts[1].count == Dims{2});
  CHECK(parts[2].count.empty());
}

TEST_CASE("an axis may be split, a mesh turned or written in place", "[sharding]") {
  // y = 4 as 2 x 2: the first factor tells 0, 1 from 2, 3.
  CHECK(axes(R"(<@grid, [{"y":(1)2}]>)", R"("y")", 6)[0].place == Dims{1});
  CHECK(axes(R"(<@grid, [{"y":(2)2}]>)", R"("y")", 6)[0].place == Dims{0});
  CHECK(axes(R"(<@"turned one", [{"x"}]>)", R"("x")", 0)[0].place == Dims{1});
  CHECK(axes(R"(<mesh<["x"=8]>, [{"x"}]>)", R"("x")", 6)[0].place == Dims{6});
}

TEST_CASE("axes that are not manual do not divide", "[sharding]") {
  const auto parts = axes(R"(<@grid, [{"x", "y"}]>)", R"("x")", 6);
  CHECK(parts[0].place == Dims{1});
  CHECK(parts[0].count == Dims{2});
}

TEST_CASE("Shardy's text that cannot be read gives no parts", "[sharding]") {
  for (const char* text :
       {"", "[", "[<@other, [{\"x\"}]>]", "[<@grid, [{\"z\"}]>]", "[<@grid, [{\"y\":(3)2}]>]",
        "[<@grid, [{\"x\"}]", "[<@grid>]", "[<@grid, [{\"x\":(4611686018427387904)4}]>]",
        "[<@grid, [{\"y\",\"y\",\"y\",\"y\",\"y\",\"y\",\"y\",\"y\",\"y\",\"y\",\"y\"}]>]"})
    CHECK_FALSE(parts_of_shardy(kMeshes, text, R"({"x", "y"})", 0).has_value());
  CHECK_FALSE(
      parts_of_shardy("{grid = #sdy.mesh<[\"x\"=0]>}", "[<@grid, [{\"x\"}]>]", "{\"x\"}", 0).has_value());
}

TEST_CASE("the devices of a module are those that its manual computations name", "[sharding]") {
  const auto devices = [](const std::string& header, const std::string& call) {
    const auto module = read_hlo_text(
        "HloModule m" + header + "\nENTRY e {\n  x = f32[8] parameter(0)\n  " + call + "\n}\n", "test.hlo");
    if (!module.is_ok()) FAIL(module.status().diagnostic().to_string());
    return manual_devices(*module.value());
  };
  const std::string shardy =
      "ROOT y = f32[2] custom-call(x), custom_call_target=\"xla.sdy.GlobalToLocalShape\"";
  CHECK(devices(R"(, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=4]>}})", shardy) == 4);
  CHECK(devices(", num_partitions=2", shardy) == 2);
  CHECK(devices("", shardy) == 1);
  CHECK(devices(R"(, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=4]>}})",
                "ROOT y = f32[8] negate(x)") == 1);
  CHECK(devices("",
                "ROOT y = f32[48] custom-call(x), custom_call_target=\"SPMDShardToFullShape\", "
                "sharding={devices=[6]<=[6]}") == 6);
}
