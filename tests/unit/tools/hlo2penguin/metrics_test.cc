#include "tools/hlo2penguin/metrics.h"

#include <catch2/catch.hpp>

#include "ir-formats/hlo/read.h"

namespace ncc::hlo2penguin {
namespace {

Metrics metrics_of(const std::string& text) {
  auto model = hlo::read_hlo_text(text, "m.hlo");
  REQUIRE(model.is_ok());
  Metrics metrics;
  metrics.count_model(*model.value());
  return metrics;
}

const ArchModel& arch() { return *find_arch("trn2"); }

TEST_CASE("an op that is expanded for the machine counts as the model has it", "[metrics]") {
  const Metrics metrics = metrics_of(R"(HloModule m
ENTRY main {
  x = c64[4,64] parameter(0)
  y = c64[4,64] fft(x), fft_type=FFT, fft_length={64}
  ROOT z = c64[4,64] multiply(y, x)
})");
  CHECK(metrics.flops.empty());
  CHECK(metrics.vector_elements == 4 * 64);
}

TEST_CASE("a loop's body counts once for each trip, its counter not", "[metrics]") {
  const Metrics metrics = metrics_of(R"(HloModule m
body {
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8,8] get-tuple-element(s), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
  y = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[8,8] add(y, x)
  ROOT t = (s32[], f32[8,8]) tuple(n, z)
}
more {
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  five = s32[] constant(5)
  ROOT c = pred[] compare(i, five), direction=LT
}
ENTRY main {
  x = f32[8,8] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[8,8]) tuple(zero, x)
  w = (s32[], f32[8,8]) while(t), condition=more, body=body
  ROOT y = f32[8,8] get-tuple-element(w), index=1
})");
  CHECK(metrics.flops.at("f32") == 5 * 2 * 8 * 8 * 8);
  CHECK(metrics.vector_elements == 5 * 8 * 8);
  CHECK(metrics.roofline_ns(arch()).has_value());
}

TEST_CASE("a loop that runs as long as data say has no roofline", "[metrics]") {
  const Metrics metrics = metrics_of(R"(HloModule m
body {
  x = f32[] parameter(0)
  ROOT y = f32[] multiply(x, x)
}
more {
  x = f32[] parameter(0)
  ten = f32[] constant(10)
  ROOT c = pred[] compare(x, ten), direction=LT
}
ENTRY main {
  x = f32[] parameter(0)
  ROOT w = f32[] while(x), condition=more, body=body
})");
  CHECK(!metrics.roofline_ns(arch()).has_value());
}

TEST_CASE("what is known in advance counts neither as work nor as constants to load", "[metrics]") {
  const Metrics metrics = metrics_of(R"(HloModule m
ENTRY main {
  x = f32[2,3] parameter(0)
  two = f32[] constant(2)
  wide = f32[2,3] broadcast(two), dimensions={}
  four = f32[2,3] add(wide, wide)
  table = f32[2,3] constant({{1,2,3},{4,5,6}})
  scaled = f32[2,3] multiply(x, four)
  ROOT y = f32[2,3] add(scaled, table)
})");
  CHECK(metrics.vector_elements == 2 * 6);
  CHECK(metrics.model_constant_bytes == 24);
}

}  // namespace
}  // namespace ncc::hlo2penguin
