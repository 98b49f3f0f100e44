// Ops that few models use, and programs whose sizes are known at run time. Expected values are worked out by
// hand.
#include <cmath>

#include "tests/unit/ir-formats/hlo/interpreter/run_text.h"

using namespace ncc;
using namespace ncc::hlo;
using Values = std::vector<double>;

TEST_CASE("einsum sums over letters that the result lacks, diagonals included", "[interpreter]") {
  CHECK(values_of(run_text(R"(func.func @main() -> tensor<2x2xi32> {
    %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %b = stablehlo.constant dense<[[1, 0], [0, 1], [1, 1]]> : tensor<3x2xi32>
    %r = stablehlo.einsum %a, %b, config = "ij,jk->ki" : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<2x2xi32>
    return %r : tensor<2x2xi32> })")) == Values{4, 10, 5, 11});
  CHECK(values_of(run_text(R"(func.func @main() -> tensor<f32> {
    %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %r = "stablehlo.unary_einsum"(%a) <{einsum_config = "ii->"}> : (tensor<2x2xf32>) -> tensor<f32>
    return %r : tensor<f32> })")) == Values{5});
}

TEST_CASE("torch_index_select picks along one dimension, batch by batch", "[interpreter]") {
  CHECK(values_of(run_text(R"(func.func @main() -> tensor<2x2xi32> {
    %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %i = stablehlo.constant dense<[[2, 0], [1, 1]]> : tensor<2x2xi32>
    %r = "stablehlo.torch_index_select"(%a, %i) <{dim = 1 : i64, batch_dims = 1 : i64}>
      : (tensor<2x3xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    return %r : tensor<2x2xi32> })")) == Values{3, 1, 5, 5});
}

TEST_CASE("ragged_dot multiplies each group of rows with its own matrix", "[interpreter]") {
  CHECK(values_of(run_text(R"(func.func @main() -> tensor<3x1xf32> {
    %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
    %b = stablehlo.constant dense<[[[1.0], [1.0]], [[10.0], [0.0]]]> : tensor<2x2x1xf32>
    %g = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
    %r = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
      : (tensor<3x2xf32>, tensor<2x2x1xf32>, tensor<2xi32>) -> tensor<3x1xf32>
    return %r : tensor<3x1xf32> })")) == Values{3, 7, 50});
}

TEST_CASE("stochastic-convert rounds up below the fraction and saturates", "[interpreter]") {
  CHECK(values_of(run_text(R"(HloModule m
ENTRY main {
  x = f32[5] constant({1.25, 1.25, -1.25, 1e20, nan})
  r = u32[5] constant({1, 3000000000, 1, 0, 0})
  ROOT y = s32[5] stochastic-convert(x, r)
})")) == Values{2, 1, -2, 2147483647, 0});
}

TEST_CASE("rng-get-and-update-state counts on by delta", "[interpreter]") {
  const Literal states = run_text(R"(HloModule m
ENTRY main {
  a = u64[2] rng-get-and-update-state(), delta=5
  b = u64[2] rng-get-and-update-state(), delta=5, control-predecessors={a}
  ROOT t = (u64[2], u64[2]) tuple(a, b)
})");
  CHECK(states.elements()[1].as_int64(0) - states.elements()[0].as_int64(0) == 5);
}

TEST_CASE("an asynchronous call gives its result when it is done", "[interpreter]") {
  CHECK(values_of(run_text(R"(HloModule m
double {
  p = f32[2] parameter(0)
  ROOT s = f32[2] add(p, p)
}
ENTRY main {
  x = f32[2] constant({1, 2})
  start = ((f32[2]), f32[2], s32[]) async-start(x), calls=double
  ROOT done = f32[2] async-done(start)
})")) == Values{2, 4});
}

TEST_CASE("a bitcast keeps the bytes in memory, in the order of both layouts", "[interpreter]") {
  const auto bitcast = [](const std::string& from, const std::string& to) {
    return values_of(run_text("HloModule m\nENTRY main {\n  x = s32[2,3]{" + from +
                              "} constant({{1, 2, 3}, {4, 5, 6}})\n  ROOT r = s32[3,2]{" + to +
                              "} bitcast(x)\n}"));
  };
  CHECK(bitcast("1,0", "1,0") == Values{1, 2, 3, 4, 5, 6});
  CHECK(bitcast("1,0", "0,1") == Values{1, 4, 2, 5, 3, 6});  // a transpose
  CHECK(bitcast("0,1", "1,0") == Values{1, 4, 2, 5, 3, 6});
  CHECK(bitcast("0,1", "0,1") == Values{1, 5, 4, 3, 2, 6});
}

TEST_CASE("sizes of a dynamic program come from its arguments", "[interpreter]") {
  const std::string text = R"(func.func @main(%n: tensor<i64>, %x: tensor<?x2xf32>) -> tensor<?xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1]
      : (tensor<?x2xf32>, tensor<f32>) -> tensor<?xf32>
    %m = stablehlo.reshape %n : (tensor<i64>) -> tensor<1xi64>
    %i = stablehlo.dynamic_iota %m, dim = 0 : (tensor<1xi64>) -> tensor<?xf32>
    %r = stablehlo.add %s, %i : tensor<?xf32>
    return %r : tensor<?xf32> })";
  const Literal x = literal_of<float>(Dtype::F32, {3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(values_of(run_text(text, {Literal::scalar_int(Dtype::S64, 3), x})) == Values{3, 8, 13});
  // Two sizes that do not go together.
  CHECK(!try_run(text, {Literal::scalar_int(Dtype::S64, 2), x}).is_ok());
}

TEST_CASE("scaled-dot takes one scale a block, in either order of its operands", "[interpreter]") {
  const auto run = [](const std::string& operands) {
    return values_of(run_text(R"(HloModule m
ENTRY main {
  a = f8e4m3fn[1,4] constant({{1, 2, 3, 4}})
  s = f8e8m0fnu[1,2] constant({{2, 0.5}})
  b = f8e4m3fn[2,4] constant({{1, 1, 1, 1}, {0, 0, 0, 2}})
  t = f8e8m0fnu[2,1] constant({{1}, {4}})
  ROOT r = f32[1,2] scaled-dot()" +
                              operands + "), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n}"));
  };
  CHECK(run("a, s, b, t") == Values{9.5, 16});
  CHECK(run("a, b, s, t") == Values{9.5, 16});
}

TEST_CASE("ragged_all_to_all lays rows where their sender says", "[interpreter]") {
  CHECK(values_of(run_text(R"(func.func @p() -> tensor<3xf32> {
    %id = stablehlo.partition_id : tensor<ui32>
    %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
    %ten = stablehlo.constant dense<10.0> : tensor<f32>
    %m = stablehlo.multiply %f, %ten : tensor<f32>
    %ms = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %i = stablehlo.iota dim = 0 : tensor<3xf32>
    %x = stablehlo.add %i, %ms : tensor<3xf32>
    %none = stablehlo.constant dense<-1.0> : tensor<3xf32>
    %from = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
    %send = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %me = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %to = stablehlo.broadcast_in_dim %me, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %recv = stablehlo.constant dense<[1, 1]> : tensor<2xi32>
    %r = stablehlo.custom_call @ragged_all_to_all(%x, %none, %from, %send, %to, %recv) {api_version = 4 : i32,
      backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}
      : (tensor<3xf32>, tensor<3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3xf32>
    return %r : tensor<3xf32>
  }
  func.func @main() -> tensor<3xf32> {
    %r:2 = "interpreter.run_parallel"() {programs = [[@p, @p]]} : () -> (tensor<3xf32>, tensor<3xf32>)
    return %r#1 : tensor<3xf32> })")) == Values{1, 11, 12});
}

TEST_CASE("a bounded dimension has the size that it is given at run time", "[interpreter]") {
  const std::string text = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[4] constant({1, 2, 4, 8})
  n = s32[] parameter(0)
  d = f32[<=4] set-dimension-size(x, n), dimensions={0}
  z = f32[] constant(0)
  sum = f32[] reduce(d, z), dimensions={0}, to_apply=add
  ROOT r = f32[] negate(sum)
})";
  for (const auto& [size, sum] : {std::pair{0, 0.0}, {1, -1.0}, {3, -7.0}, {4, -15.0}})
    CHECK(values_of(run_text(text, {Literal::scalar_int(Dtype::S32, size)})) == Values{sum});
  for (const int size : {-1, 5}) CHECK_FALSE(try_run(text, {Literal::scalar_int(Dtype::S32, size)}).is_ok());
}

TEST_CASE("replica groups follow the axes of a mesh", "[interpreter]") {
  const auto sums = [](const std::string& groups) {
    return values_of(run_text(
        R"(sdy.mesh @grid = <["x"=2, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}]}} loc(unknown)
  func.func @p() -> tensor<1xi64> {
    %id = stablehlo.partition_id : tensor<ui32>
    %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<i64>
    %x = stablehlo.reshape %f : (tensor<i64>) -> tensor<1xi64>
    %r = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids,
      replica_groups = #stablehlo.replica_group_mesh_axes<)" +
        groups + R"(>}> ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
    }) : (tensor<1xi64>) -> tensor<1xi64>
    return %r : tensor<1xi64>
  }
  func.func @main() -> tensor<4xi64> {
    %r:4 = "interpreter.run_parallel"() {programs = [[@p, @p, @p, @p]]} : () -> (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>)
    %c = stablehlo.concatenate %r#0, %r#1, %r#2, %r#3, dim = 0 : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi64>
    return %c : tensor<4xi64> })"));
  };
  CHECK(sums(R"(mesh = @grid, axes = [#stablehlo.axis_ref<name = "x">])") == Values{2, 4, 2, 4});
  CHECK(sums(R"(mesh = @grid, axes = [#stablehlo.axis_ref<name = "y">])") == Values{1, 1, 5, 5});
  CHECK(sums(R"(mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = "d", size = 4>]>,
    axes = [#stablehlo.axis_ref<name = "d", sub_axis_info = (1)2>])") == Values{2, 4, 2, 4});
}

TEST_CASE("the default generator is Philox, its counter above the key when the state has two words",
          "[interpreter]") {
  const Literal result = run_text(R"(HloModule m
ENTRY main {
  s = u64[2] constant({18364758542507840052, 18364758542507840052})
  ROOT r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_default
})");
  const uint64_t key = 18364758542507840052u;
  CHECK(result.elements()[0].at<uint64_t>(0) == key);
  CHECK(result.elements()[0].at<uint64_t>(1) == key + 1);
  CHECK(values_of(result.elements()[1]) ==
        Values{2250463629, 1322343046, 2795172303, 2445418337});  // XLA:CPU's
}

TEST_CASE("annotations of shardy change nothing on one device", "[interpreter]") {
  CHECK(values_of(run_text(R"(sdy.mesh @mesh = <["x"=1]>
  func.func @main() -> tensor<2xf32> {
    %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    sdy.sharding_group %a group_id=3 : tensor<2xf32>
    %0 = sdy.propagation_barrier %a allowed_direction=NONE : tensor<2xf32>
    %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<2xf32>
    %2 = sdy.named_computation<"f">(%1) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] (%b: tensor<2xf32>) {
      %3 = stablehlo.add %b, %b : tensor<2xf32>
      sdy.return %3 : tensor<2xf32>
    } : (tensor<2xf32>) -> tensor<2xf32>
    return %2 : tensor<2xf32> })")) == Values{2, 4});
}

TEST_CASE("a sum of negative zeros from a negative zero is a negative zero", "[interpreter]") {
  for (const char* dimensions : {"0", "1"}) {
    const Literal sums = run_text(std::string(R"(HloModule m
sum { x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y) }
ENTRY main {
  z = f32[] constant(-0)
  a = f32[10,10] broadcast(z), dimensions={}
  ROOT r = f32[10] reduce(a, z), dimensions={)") +
                                  dimensions + "}, to_apply=sum\n}");
    for (const double value : values_of(sums)) CHECK(std::signbit(value));
  }
}
