#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Opcode;

std::string program(const std::string& lines) {
  return "HloModule m\nbody { u = f32[] parameter(0)\nROOT w = f32[] parameter(1) }\n"
         "ENTRY main {\na = f32[4,6] parameter(0)\nb = f32[4,6] parameter(1)\nh = bf16[4,6] parameter(2)\n"
         "i = s32[] parameter(3)\nj = s32[] parameter(4)\nk = s32[2] parameter(5)\nv = f32[4] "
         "parameter(6)\n" +
         lines + "\n}";
}

bool changes(const std::string& pass, const std::string& lines) {
  const auto module = after(pass, program(lines));
  PassContext context;
  const auto fresh = parse(program(lines));
  REQUIRE(find_pass(pass)->run(*fresh, context).is_ok());
  return context.changes != 0;
}

TEST_CASE("gathers of one window clamp like a dynamic-slice", "[hlo-passes]") {
  const std::string gather =
      "ROOT r = f32[3] gather(a, k), offset_dims={0}, collapsed_slice_dims={0}, start_index_map={1,0}, "
      "index_vector_dim=0, slice_sizes={1,3}";
  CHECK(changes("gather-simplifier", gather));
  CHECK(changes("gather-simplifier",
                "c = s32[2] constant({-3, 100})\nROOT r = f32[3] gather(a, c), offset_dims={0}, "
                "collapsed_slice_dims={0}, start_index_map={1,0}, index_vector_dim=0, slice_sizes={1,3}"));
}

TEST_CASE("scatters outside of their operand stay", "[hlo-passes]") {
  const auto scatter = [](const std::string& row) {
    return "c = s32[1] constant({" + row +
           "})\nu = f32[6] slice(f32[24] reshape(a)), slice={[0:6]}\nROOT r = f32[4,6] scatter(b, c, u), "
           "update_window_dims={0}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
           "index_vector_dim=0, to_apply=body";
  };
  const auto flat = [&](const std::string& row) {
    std::string lines = scatter(row);
    const std::string nested = "f32[24] reshape(a)";
    lines.replace(lines.find(nested), nested.size(), "flat");
    return "flat = f32[24] reshape(a)\n" + lines;
  };
  CHECK(changes("scatter-simplifier", flat("3")));
  CHECK_FALSE(changes("scatter-simplifier", flat("4")));
  CHECK_FALSE(changes("scatter-simplifier", flat("-1")));
}

TEST_CASE("dynamic slices before movements keep their clamping", "[hlo-passes]") {
  CHECK(changes("dynamic-slice-transpose",
                "t = f32[6,4] transpose(a), dimensions={1,0}\n"
                "ROOT r = f32[5,2] dynamic-slice(t, i, j), dynamic_slice_sizes={5,2}"));
  CHECK(changes("aws_neuron_dynamic_slice_reshape_canonicalizer",
                "t = f32[1,4,1,6] reshape(a)\n"
                "ROOT r = f32[1,2,1,3] dynamic-slice(t, i, j, i, j), dynamic_slice_sizes={1,2,1,3}"));
  CHECK_FALSE(changes("aws_neuron_dynamic_slice_reshape_canonicalizer",
                      "t = f32[2,2,6] reshape(a)\n"
                      "ROOT r = f32[1,1,6] dynamic-slice(t, i, j, i), dynamic_slice_sizes={1,1,6}"));
}

TEST_CASE("update chains with gaps or overlaps are no concatenate", "[hlo-passes]") {
  const auto chain = [](const std::string& second) {
    return "z = s32[] constant(0)\nc = s32[] constant(" + second +
           ")\nu = f32[2,6] slice(b), slice={[0:2], [0:6]}\nw = f32[2,6] slice(b), slice={[2:4], [0:6]}\n"
           "x = f32[4,6] dynamic-update-slice(a, u, z, z)\nROOT y = f32[4,6] dynamic-update-slice(x, w, c, "
           "z)";
  };
  CHECK(changes("neuron_repeated_dus_to_concat", chain("2")));
  CHECK(changes("neuron_repeated_dus_to_concat", chain("7")));  // clamps to 2
  CHECK_FALSE(changes("neuron_repeated_dus_to_concat", chain("1")));
  CHECK_FALSE(changes("neuron_repeated_dus_to_concat", chain("0")));
}

TEST_CASE("movers leave what has other users or other sources", "[hlo-passes]") {
  CHECK(
      changes("reshape-mover", "x = f32[24] reshape(a)\ny = f32[24] reshape(b)\nROOT r = f32[24] add(x, y)"));
  CHECK_FALSE(changes("reshape-mover",
                      "x = f32[24] reshape(a)\ny = f32[24] reshape(b)\ns = f32[24] add(x, y)\n"
                      "ROOT r = (f32[24], f32[24]) tuple(s, x)"));
  CHECK(changes("broadcast-mover",
                "x = f32[4,3] broadcast(v), dimensions={0}\nROOT r = f32[4,3] multiply(x, x)"));
  CHECK(changes("convert-mover", "x = f32[4,6] convert(h)\nROOT r = f32[24] reshape(x)"));
  CHECK_FALSE(changes("convert-mover", "x = bf16[4,6] convert(a)\nROOT r = bf16[24] reshape(x)"));
}

TEST_CASE("rounding passes stay within rounding", "[hlo-passes]") {
  const std::string dot =
      "t = f32[6,4] transpose(a), dimensions={1,0}\n"
      "ROOT r = f32[6,6] dot(t, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  CHECK(changes("transpose-folding", dot));
  CHECK(changes("dot_decomposer",
                "ROOT r = f32[6,6] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}"));
}

TEST_CASE("a sort drops what its comparator and users do not need", "[hlo-passes]") {
  const auto module = after("simplify-sorts", R"(HloModule m
greater { a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT l = pred[] compare(c, d), direction=GT }
ENTRY main { k = f32[8] parameter(0)
  v = s32[8] parameter(1)
  s = (f32[8], s32[8]) sort(k, v), dimensions={0}, is_stable=true, to_apply=greater
  ROOT r = s32[8] get-tuple-element(s), index=1 })");
  REQUIRE(root(*module).is(Opcode::Sort));
  CHECK(root(*module).num_operands() == 1);
}

TEST_CASE("equal subexpressions merge, effects do not", "[hlo-passes]") {
  const auto module = after("cse", program("x = f32[4,6] add(a, b)\ny = f32[4,6] add(b, a)\n"
                                           "ROOT r = f32[4,6] multiply(x, y)"));
  CHECK(count(*module, Opcode::Add) == 1);
  const auto random = parse(
      "HloModule m\nENTRY main { l = f32[] constant(0)\nh = f32[] constant(1)\n"
      "x = f32[8] rng(l, h), distribution=rng_uniform\n"
      "y = f32[8] rng(l, h), distribution=rng_uniform\nROOT r = f32[8] add(x, y) }");
  PassContext context;
  REQUIRE(find_pass("cse")->run(*random, context).is_ok());
  CHECK(context.changes == 0);
}

}  // namespace
}  // namespace ncc::hlo_passes
