#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Opcode;

std::string module_of(const std::string& lines) { return "HloModule m\n" + lines; }

TEST_CASE("a gather is a loop, whatever the type and the value of its indices", "[expanders]") {
  for (const char* type : {"s32", "u32", "s64", "s8", "u8", "s16"}) {
    const std::string t = type;
    for (const char* rows : {"[3,2]", "[40,2]"}) {
      const std::string n = std::string(rows) == "[3,2]" ? "3" : "40";
      const std::string text =
          module_of("ENTRY main {\n  x = f32[7,9,4] parameter(0)\n  i = " + t + rows +
                    " parameter(1)\n  ROOT r = f32[" + n +
                    ",5,4] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={0}, "
                    "start_index_map={1,0}, index_vector_dim=1, slice_sizes={1,5,4}\n}\n");
      INFO(text);
      const auto module = after("gather_expander", text);
      CHECK(count(*module, Opcode::Gather) == 0);
      CHECK(count(*module, Opcode::While) == (n == "40" ? 1 : 0));
    }
  }
}

TEST_CASE("a gather's window, batch and batching dimensions find their places", "[expanders]") {
  const auto first = after("gather_expander", module_of(R"(ENTRY main {
  x = f32[5,6] parameter(0)
  i = s32[2,3] parameter(1)
  ROOT r = f32[4,2,3] gather(x, i), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=2, slice_sizes={4,1}
})"));
  CHECK(count(*first, Opcode::Gather) == 0);
  const auto batching = after("gather_expander", module_of(R"(ENTRY main {
  x = f32[3,4,200] parameter(0)
  i = s8[1,4,3] parameter(1)
  ROOT r = f32[4,3,2] gather(x, i), offset_dims={2}, collapsed_slice_dims={}, start_index_map={2}, index_vector_dim=0, slice_sizes={1,1,2}, operand_batching_dims={0,1}, start_indices_batching_dims={2,1}
})"));
  CHECK(count(*batching, Opcode::Gather) == 0);
}

std::string scatter(const std::string& type, const std::string& index, const std::string& op) {
  return module_of("body { a = " + type + "[] parameter(0)\n  b = " + type +
                   "[] parameter(1)\n  ROOT r = " + type + "[] " + op +
                   "(a, b) }\nENTRY main {\n  x = " + type + "[6,5] parameter(0)\n  i = " + index +
                   "[4,2] parameter(1)\n  u = " + type + "[3,4,2] parameter(2)\n  ROOT r = " + type +
                   "[6,5] scatter(x, i, u), update_window_dims={0,2}, inserted_window_dims={}, "
                   "scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=body\n}\n");
}

TEST_CASE("a scatter drops what lies outside element by element and keeps its order", "[expanders]") {
  for (const char* type : {"f32", "bf16", "s32"})
    for (const char* index : {"s32", "u32", "s64", "u8", "s8"})
      for (const char* op : {"add", "subtract", "maximum"}) {
        INFO(type << " " << index << " " << op);
        CHECK(count(*after("scatter_expander", scatter(type, index, op)), Opcode::Scatter) == 0);
      }
}

TEST_CASE("a scatter of several operands, and one with batching dimensions", "[expanders]") {
  const auto pair = after("scatter_expander", module_of(R"(body { a = f32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  s = f32[] add(a, c)
  m = s32[] maximum(b, d)
  ROOT r = (f32[], s32[]) tuple(s, m) }
ENTRY main {
  x = f32[50] parameter(0)
  y = s32[50] parameter(1)
  i = s32[40,1] parameter(2)
  u = f32[40] parameter(3)
  v = s32[40] parameter(4)
  ROOT r = (f32[50], s32[50]) scatter(x, y, i, u, v), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=body
})"));
  CHECK(count(*pair, Opcode::Scatter) == 0);
  CHECK(count(*pair, Opcode::While) == 1);
  const auto batching = after("scatter_expander", module_of(R"(body { a = f32[] parameter(0)
  ROOT b = f32[] parameter(1) }
ENTRY main {
  x = f32[3,8] parameter(0)
  i = s32[3,2,1] parameter(1)
  u = f32[3,2,2] parameter(2)
  ROOT r = f32[3,8] scatter(x, i, u), update_window_dims={2}, inserted_window_dims={}, scatter_dims_to_operand_dims={1}, index_vector_dim=2, input_batching_dims={0}, scatter_indices_batching_dims={0}, to_apply=body
})"));
  CHECK(count(*batching, Opcode::Scatter) == 0);
}

TEST_CASE("index vectors without components point to the beginning, once each", "[expanders]") {
  const std::string gather = module_of(R"(ENTRY main {
  x = f32[5,6] parameter(0)
  i = s32[3,0] parameter(1)
  ROOT r = f32[3,4,2] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={}, index_vector_dim=1, slice_sizes={4,2}
})");
  const std::string scatter_of = R"(body { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY main {
  x = f32[5,6] parameter(0)
  i = s32[SIZES0] parameter(1)
  u = f32[SIZES4,2] parameter(2)
  ROOT r = f32[5,6] scatter(x, i, u), update_window_dims={AXES}, inserted_window_dims={}, scatter_dims_to_operand_dims={}, index_vector_dim=RANK, to_apply=body
})";
  const auto scatter_with = [&](const std::string& sizes, const std::string& axes, const std::string& rank) {
    std::string text = scatter_of;
    for (const auto& [word, value] : {std::pair<std::string, std::string>{"SIZES", sizes},
                                      {"SIZES", sizes},
                                      {"AXES", axes},
                                      {"RANK", rank}})
      text.replace(text.find(word), word.size(), value);
    return module_of(text);
  };
  CHECK(count(*after("gather_expander", gather), Opcode::Gather) == 0);
  for (const std::string& text : {scatter_with("3,", "1,2", "1"), scatter_with("", "0,1", "0")}) {
    INFO(text);
    CHECK(count(*after("scatter_expander", text), Opcode::Scatter) == 0);
    after("scatter-simplifier", text);
  }
  after("gather-simplifier", gather);
}

TEST_CASE("slices at run-time places need no address", "[expanders]") {
  for (const char* type : {"s32", "u32", "s64", "u64", "s8", "u8"}) {
    const std::string t = type;
    INFO(type);
    const std::string starts = "  i = " + t + "[] parameter(1)\n  j = " + t + "[] parameter(2)\n";
    const auto slice =
        after("dynamic-slice-expander", module_of("ENTRY main {\n  x = f32[9,6,300] parameter(0)\n" + starts +
                                                  "  ROOT r = f32[4,6,70] dynamic-slice(x, i, j, j), "
                                                  "dynamic_slice_sizes={4,6,70}\n}\n"));
    CHECK(count(*slice, Opcode::DynamicSlice) == 0);
    const auto update = after("dynamic-slice-expander",
                              module_of("ENTRY main {\n  x = f32[9,6,300] parameter(0)\n" + starts +
                                        "  u = f32[4,6,70] parameter(3)\n"
                                        "  ROOT r = f32[9,6,300] dynamic-update-slice(x, u, i, j, j)\n}\n"));
    CHECK(count(*update, Opcode::DynamicUpdateSlice) == 0);
  }
}

TEST_CASE("every start of a slice is reached by its bits, and starts outside are clamped", "[expanders]") {
  for (const int length : {2, 3, 4, 5, 8, 9})
    for (int size = 1; size < length; ++size)
      for (int start = -1; start <= length; ++start) {
        INFO(size << " of " << length << " at " << start);
        const std::string array = "f32[" + std::to_string(length) + ",2]";
        const std::string part = "f32[" + std::to_string(size) + ",2]";
        const std::string sizes = "{" + std::to_string(size) + ",2}";
        after("dynamic-slice-expander",
              module_of("ENTRY main {\n  x = " + array + " parameter(0)\n  u = " + part +
                        " parameter(1)\n  i = s32[] constant(" + std::to_string(start) +
                        ")\n  z = s32[] constant(0)\n  s = " + part +
                        " dynamic-slice(x, i, z), dynamic_slice_sizes=" + sizes + "\n  d = " + array +
                        " dynamic-update-slice(x, u, i, z)\n  ROOT r = (" + part + ", " + array +
                        ") tuple(s, d)\n}\n"));
      }
}

TEST_CASE("the selections of a slice touch twice the array, not log2(n) times", "[expanders]") {
  const auto slice = after(
      "dynamic-slice-expander",
      module_of("ENTRY main {\n  x = f32[1000] parameter(0)\n  i = s32[] parameter(1)\n  ROOT r = f32[1] "
                "dynamic-slice(x, i), dynamic_slice_sizes={1}\n}\n"));
  int64_t places = 0;
  for (const auto& computation : slice->computations())
    for (const auto& inst : computation->instructions())
      if (inst->is(Opcode::Select)) places += inst->shape.num_elements();
  CHECK(places < 2 * 1000);
}

std::string window(const std::string& type, const std::string& op, const std::string& init,
                   const std::string& in, const std::string& out, const std::string& attributes) {
  return module_of("body { a = " + type + "[] parameter(0)\n  b = " + type + "[] parameter(1)\n  ROOT r = " +
                   type + "[] " + op + "(a, b) }\nENTRY main {\n  x = " + type + in +
                   " parameter(0)\n  z = " + type + "[] constant(" + init + ")\n  ROOT r = " + type + out +
                   " reduce-window(x, z), window={" + attributes + "}, to_apply=body\n}\n");
}

TEST_CASE("a reduce-window is one step per tap, for every stride, dilation and padding", "[expanders]") {
  struct Row {
    const char *in, *out, *attributes;
  };
  const Row rows[] = {
      {"[7,8]", "[3,4]", "size=3x2 stride=2x2"},  {"[7,8]", "[7,9]", "size=3x2 pad=1_1x1_1"},
      {"[5,4]", "[5,4]", "size=2x1 pad=1_0x0_0"}, {"[9]", "[4]", "size=3 stride=2 rhs_dilate=2 pad=1_1"},
      {"[4]", "[5]", "size=3 lhs_dilate=2"},      {"[6]", "[4]", "size=2 pad=-1_0"},
      {"[3]", "[7]", "size=1 pad=2_2"},
  };
  for (const Row& row : rows)
    for (const char* type : {"f32", "bf16", "s32"})
      for (const auto& [op, init] :
           {std::pair("add", "0"), std::pair("maximum", "-3"), std::pair("subtract", "1")}) {
        INFO(row.attributes << " " << type << " " << op);
        const auto module =
            after("reduce-window-expander", window(type, op, init, row.in, row.out, row.attributes));
        CHECK(count(*module, Opcode::ReduceWindow) == 0);
      }
}

TEST_CASE("a reduce-window of several operands, and one with too many taps", "[expanders]") {
  const auto pair = after("reduce-window-expander", module_of(R"(body { a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  ge = pred[] compare(a, b), direction=GE
  v = f32[] select(ge, a, b)
  n = s32[] select(ge, i, j)
  ROOT r = (f32[], s32[]) tuple(v, n) }
ENTRY main {
  x = f32[6,6] parameter(0)
  n = s32[6,6] parameter(1)
  f = f32[] constant(-inf)
  z = s32[] constant(-1)
  ROOT r = (f32[3,3], s32[3,3]) reduce-window(x, n, f, z), window={size=2x2 stride=2x2}, to_apply=body
})"));
  CHECK(count(*pair, Opcode::ReduceWindow) == 0);
  const auto large =
      after("reduce-window-expander", window("f32", "add", "0", "[300]", "[300]", "size=300 pad=299_0"));
  CHECK(count(*large, Opcode::ReduceWindow) == 1);
}

TEST_CASE("cumulative windows take log2(n) steps from either end", "[expanders]") {
  struct Row {
    const char *type, *op, *init;
  };
  const Row rows[] = {{"f32", "add", "0"},
                      {"s32", "add", "0"},
                      {"f32", "maximum", "-inf"},
                      {"f32", "minimum", "inf"},
                      {"s32", "maximum", "-2147483648"},
                      {"u8", "minimum", "255"},
                      {"s8", "minimum", "127"},
                      {"s32", "multiply", "1"},
                      {"s32", "and", "-1"},
                      {"u32", "or", "0"},
                      {"s64", "maximum", "-9223372036854775808"}};
  for (const Row& row : rows)
    for (const char* padding : {"size=1x13 pad=0_0x12_0", "size=1x13 pad=0_0x0_12"}) {
      INFO(row.type << " " << row.op << " " << padding);
      const auto module = plain_after("reduce-window-rewriter",
                                      window(row.type, row.op, row.init, "[2,13]", "[2,13]", padding));
      CHECK(count(*module, Opcode::ReduceWindow) == 0);
      CHECK(count(*module, Opcode::Pad) == 4);
    }
  for (const char* init : {"1", "-5"})
    CHECK(count(*after("reduce-window-rewriter", window("s32", "add", init, "[4]", "[4]", "size=4 pad=3_0")),
                Opcode::ReduceWindow) == 1);
  CHECK(count(*after("reduce-window-rewriter", window("f32", "add", "0", "[4]", "[4]", "size=3 pad=2_0")),
              Opcode::ReduceWindow) == 1);
}

TEST_CASE("extremes and exact sums are cumulated bit for bit, special values too", "[expanders]") {
  for (const auto& [type, op, init] :
       {std::tuple("f32", "maximum", "-inf"), std::tuple("bf16", "minimum", "inf"),
        std::tuple("s32", "add", "0"), std::tuple("s64", "multiply", "1")})
    after_on(true, "reduce-window-rewriter",
             window(type, op, init, "[3,40]", "[3,40]", "size=1x40 pad=0_0x39_0"));
}

TEST_CASE("map is its body on arrays", "[expanders]") {
  const auto module = after("map-inline", module_of(R"(body { a = f32[] parameter(0)
  b = f32[] parameter(1)
  two = f32[] constant(2)
  m = f32[] multiply(a, two)
  ROOT r = f32[] add(m, b) }
ENTRY main {
  x = f32[4,5] parameter(0)
  y = f32[4,5] parameter(1)
  ROOT r = f32[4,5] map(x, y), dimensions={0,1}, to_apply=body
})"));
  CHECK(count(*module, Opcode::Map) == 0);
}

TEST_CASE("stochastic conversion rounds as the op does", "[expanders]") {
  for (const auto& [from, random] :
       {std::pair("f32", "u32"), std::pair("bf16", "u16"), std::pair("f16", "u16"), std::pair("f64", "u64")})
    for (const char* to : {"s8", "s16", "s32", "s64"}) {
      const std::string text = module_of(
          std::string("ENTRY main {\n  x = ") + from + "[200] parameter(0)\n  k = u64[2] constant({7, 9})\n" +
          "  g = (u64[2], " + random + "[200]) rng-bit-generator(k), algorithm=rng_philox\n  n = " + random +
          "[200] get-tuple-element(g), index=1\n  c = " + from + "[] constant(60)\n  s = " + from +
          "[200] broadcast(c), dimensions={}\n  y = " + from + "[200] multiply(x, s)\n  ROOT r = " + to +
          "[200] stochastic-convert(y, n)\n}\n");
      INFO(text);
      CHECK(count(*after("stochastic-convert-decomposer", text), Opcode::StochasticConvert) == 0);
    }
}

TEST_CASE("narrow floats are computed in f32", "[expanders]") {
  for (const char* type : {"bf16", "f16"}) {
    const std::string t = type;
    const auto module = after(
        "float-normalization",
        module_of("sum { a = " + t + "[] parameter(0)\n  b = " + t + "[] parameter(1)\n  ROOT r = " + t +
                  "[] add(a, b) }\nENTRY main {\n  x = " + t + "[4,8] parameter(0)\n  y = " + t +
                  "[4,8] parameter(1)\n  m = " + t + "[4,8] multiply(x, y)\n  e = " + t +
                  "[4,8] tanh(m)\n  n = " + t + "[4,8] negate(e)\n  z = " + t + "[] constant(0)\n  r = " + t +
                  "[4] reduce(n, z), dimensions={1}, to_apply=sum\n  d = " + t +
                  "[4,4] dot(e, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
                  "  ROOT o = (" +
                  t + "[4], " + t + "[4,4], " + t + "[4,8]) tuple(r, d, n)\n}\n"));
    for (const auto& inst : module->entry()->instructions()) {
      INFO(inst->name);
      if (inst->is(Opcode::Multiply) || inst->is(Opcode::Tanh) || inst->is(Opcode::Reduce) ||
          inst->is(Opcode::Dot))
        CHECK(inst->shape.dtype == Dtype::F32);
      if (inst->is(Opcode::Negate)) CHECK(inst->shape.dtype != Dtype::F32);
    }
  }
}

TEST_CASE("elementwise narrow floats keep their bits in f32", "[expanders]") {
  // Only sums may round otherwise: here the pass must be exact.
  for (const char* op : {"add", "subtract", "multiply", "divide", "maximum"}) {
    const std::string text =
        module_of(std::string("ENTRY main {\n  x = bf16[500] parameter(0)\n  y = bf16[500] parameter(1)\n"
                              "  ROOT r = bf16[500] ") +
                  op + "(x, y)\n}\n");
    INFO(op);
    const std::unique_ptr<hlo::Module> before = parse(text);
    Result<EquivalenceCheck> check = EquivalenceCheck::prepare(*before, {"", 3, true});
    REQUIRE(check.is_ok());
    const auto now = after("float-normalization", text);
    PassInfo exact = *find_pass("float-normalization");
    exact.rounding = Rounding::Exact;
    CHECK(check->compare(*now, exact).is_ok());
  }
}

// The mean and the extremes of what an rng yields after expansion.
struct Sample {
  double mean = 0, least = 0, most = 0;
};

Sample drawn(const std::string& type, const std::string& a, const std::string& b,
             const std::string& distribution) {
  const auto module = plain_after(
      "rng-expander",
      module_of("ENTRY main {\n  a = " + type + "[] constant(" + a + ")\n  b = " + type + "[] constant(" + b +
                ")\n  ROOT r = " + type + "[100,50] rng(a, b), distribution=" + distribution + "\n}\n"));
  CHECK(count(*module, Opcode::Rng) == 0);
  const Result<hlo::Literal> result = hlo::interpret(*module, {});
  REQUIRE(result.is_ok());
  Sample sample;
  sample.least = sample.most = result.value().as_double(0);
  for (int64_t i = 0; i < 5000; ++i) {
    const double value = result.value().as_double(i);
    sample.mean += value / 5000;
    sample.least = std::min(sample.least, value);
    sample.most = std::max(sample.most, value);
  }
  return sample;
}

TEST_CASE("rng draws from its distribution", "[expanders]") {
  for (const char* type : {"f32", "f64", "bf16", "f16"}) {
    INFO(type);
    const Sample uniform = drawn(type, "-1", "3", "rng_uniform");
    CHECK(uniform.least >= -1);
    CHECK(uniform.most < 3);
    CHECK(std::abs(uniform.mean - 1) < 0.1);
    const Sample normal = drawn(type, "2", "0.5", "rng_normal");
    CHECK(std::abs(normal.mean - 2) < 0.05);
    CHECK(normal.most > 3);
    CHECK(normal.most < 5);
  }
  for (const char* type : {"s32", "u8", "s64"}) {
    INFO(type);
    const Sample uniform = drawn(type, "3", "10", "rng_uniform");
    CHECK(uniform.least == 3);
    CHECK(uniform.most == 9);
  }
  CHECK(std::abs(drawn("pred", "false", "true", "rng_uniform").mean - 0.5) < 0.05);
}

}  // namespace
}  // namespace ncc::hlo_passes
