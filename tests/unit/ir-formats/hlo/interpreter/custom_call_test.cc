// Custom calls with a meaning: linear algebra libraries, orders, ops with sizes as operands, annotations,
// refusals. Expected values are worked out by hand.
#include <cmath>

#include "tests/unit/ir-formats/hlo/interpreter/run_text.h"

using namespace ncc;
using namespace ncc::hlo;
using Values = std::vector<double>;

namespace {

std::string refusal(const std::string& text) {
  const auto result = try_run(text);
  return result.is_ok() ? "" : result.status().diagnostic().to_string();
}

Values rounded(const Literal& literal) {
  Values values = values_of(literal);
  for (double& value : values) value = std::round(value * 1e4) / 1e4 + 0.0;
  return values;
}

}  // namespace

TEST_CASE("potrf factors the triangle that its config names and reports what is not definite",
          "[interpreter]") {
  const std::string factor = R"(func.func @main() -> (tensor<2x2x2xf32>, tensor<2xi32>) {
    %a = stablehlo.constant dense<[[[4.0, 9.0], [2.0, 5.0]], [[1.0, 0.0], [2.0, 1.0]]]> : tensor<2x2x2xf32>
    %r:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}}
      : (tensor<2x2x2xf32>) -> (tensor<2x2x2xf32>, tensor<2xi32>)
    return %r#0, %r#1 : tensor<2x2x2xf32>, tensor<2xi32> })";
  const Literal result = run_text(factor);
  const Values values = values_of(result.elements()[0]);
  CHECK(Values(values.begin(), values.begin() + 4) ==
        Values{2, 9, 1, 2});  // the other triangle is left alone
  CHECK(values_of(result.elements()[1]) == Values{0, 2});
}

TEST_CASE("potrf of a NaN reports it", "[interpreter]") {
  CHECK(values_of(run_text(R"(HloModule m
ENTRY main {
  a = f32[2,2] constant({{nan, 0}, {1, 1}})
  f = (f32[2,2], s32[]) custom-call(a), custom_call_target="lapack_spotrf_ffi", backend_config={uplo = 76 : ui8}
  ROOT i = s32[] get-tuple-element(f), index=1
})")) == Values{1});
}

TEST_CASE("getrf swaps rows, and its pivots become a permutation", "[interpreter]") {
  const Literal result = run_text(R"(HloModule m
ENTRY main {
  a = f64[2,2] constant({{1, 2}, {4, 2}})
  lu = (f64[2,2], s32[2], s32[]) custom-call(a), custom_call_target="lapack_dgetrf_ffi", api_version=API_VERSION_TYPED_FFI
  p = s32[2] get-tuple-element(lu), index=1
  one = s32[] constant(1)
  ones = s32[2] broadcast(one), dimensions={}
  from_zero = s32[2] subtract(p, ones)
  rows = s32[3] custom-call(from_zero), custom_call_target="cu_lu_pivots_to_permutation", api_version=API_VERSION_TYPED_FFI
  f = f64[2,2] get-tuple-element(lu), index=0
  ROOT t = (f64[2,2], s32[2], s32[3]) tuple(f, p, rows)
})");
  CHECK(values_of(result.elements()[0]) == Values{4, 2, 0.25, 1.5});
  CHECK(values_of(result.elements()[1]) == Values{2, 2});
  CHECK(values_of(result.elements()[2]) == Values{1, 0, 2});
}

TEST_CASE("LuDecomposition counts pivots from zero", "[interpreter]") {
  const Literal result = run_text(R"(HloModule m
ENTRY main {
  a = f32[2,2] constant({{1, 2}, {4, 2}})
  ROOT lu = (f32[2,2], s32[2], s32[2]) custom-call(a), custom_call_target="LuDecomposition"
})");
  CHECK(values_of(result.elements()[1]) == Values{1, 1});
  CHECK(values_of(result.elements()[2]) == Values{1, 0});
}

TEST_CASE("Qr and the product of its reflectors give the matrix back", "[interpreter]") {
  CHECK(rounded(run_text(R"(HloModule m
ENTRY main {
  a = f32[3,2] constant({{1, 2}, {3, 4}, {5, 6}})
  qr = (f32[3,2], f32[2]) custom-call(a), custom_call_target="Qr"
  h = f32[3,2] get-tuple-element(qr), index=0
  tau = f32[2] get-tuple-element(qr), index=1
  q = f32[3,2] custom-call(h, tau), custom_call_target="ProductOfElementaryHouseholderReflectors"
  i = s32[2,2] iota(), iota_dimension=0
  j = s32[2,2] iota(), iota_dimension=1
  upper = pred[2,2] compare(i, j), direction=LE
  top = f32[2,2] slice(h), slice={[0:2], [0:2]}
  zero = f32[] constant(0)
  zeros = f32[2,2] broadcast(zero), dimensions={}
  r = f32[2,2] select(upper, top, zeros)
  ROOT back = f32[3,2] dot(q, r), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})")) == Values{1, 2, 3, 4, 5, 6});
}

TEST_CASE("eigenvalues and singular values come in LAPACK's order", "[interpreter]") {
  CHECK(rounded(run_text(R"(HloModule m
ENTRY main {
  a = f32[2,2] constant({{2, 99}, {1, 2}})
  r = (f32[2,2], f32[2], s32[]) custom-call(a), custom_call_target="lapack_ssyevd_ffi", backend_config={mode = 86 : ui8, uplo = 76 : ui8}
  ROOT w = f32[2] get-tuple-element(r), index=1
})")) == Values{1, 3});
  CHECK(rounded(run_text(R"(HloModule m
ENTRY main {
  a = c64[2,1] constant({{(3, 0)}, {(0, 4)}})
  r = (c64[2,1], f32[1], c64[2,2], c64[1,1], s32[]) custom-call(a), custom_call_target="lapack_cgesdd_ffi", backend_config={mode = 65 : ui8}
  ROOT s = f32[1] get-tuple-element(r), index=1
})")) == Values{5});
  const Literal rotation = run_text(R"(HloModule m
ENTRY main {
  a = f64[2,2] constant({{0, -1}, {1, 0}})
  ROOT r = (f64[2], f64[2], c128[2,2], c128[2,2], s32[]) custom-call(a), custom_call_target="lapack_dgeev_ffi",
    backend_config={compute_left = 78 : ui8, compute_right = 86 : ui8}
})");
  CHECK(rounded(rotation.elements()[0]) == Values{0, 0});
  CHECK(rounded(rotation.elements()[1]) == Values{1, -1});
}

TEST_CASE("trsm reads side, triangle and transposition from its config", "[interpreter]") {
  CHECK(values_of(run_text(R"(HloModule m
ENTRY main {
  a = f32[2,2] constant({{2, 7}, {1, 4}})
  b = f32[1,2] constant({{4, 10}})
  ROOT x = f32[1,2] custom-call(a, b), custom_call_target="lapack_strsm_ffi",
    backend_config={diag = 78 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}
})")) == Values{2, 2});
}

TEST_CASE("a custom call of a linear algebra library with wrong operands is refused", "[interpreter]") {
  const auto call = [](const std::string& shape, const std::string& target, const std::string& result,
                       const std::string& config) {
    return refusal("HloModule m\nENTRY main {\n  z = f32[] constant(1)\n  a = f32" + shape +
                   " broadcast(z), dimensions={}\n  ROOT r = " + result +
                   " custom-call(a), custom_call_target=\"" + target + "\", backend_config={" + config +
                   "}\n}");
  };
  CHECK(call("[2,3]", "lapack_spotrf_ffi", "(f32[2,3], s32[])", "").find("not square") != std::string::npos);
  CHECK(call("[3]", "lapack_spotrf_ffi", "(f32[3], s32[])", "").find("not a matrix") != std::string::npos);
  CHECK(call("[2,2]", "lapack_spotrf_ffi", "(f64[2,2], s32[])", "").find("result 0 has shape") !=
        std::string::npos);
  CHECK(call("[2,2]", "lapack_spotrf_ffi", "(f32[2,2], s32[])", "uplo = 7 : ui8").find("neither L nor U") !=
        std::string::npos);
  CHECK(call("[2,2]", "lapack_strsm_ffi", "f32[2,2]", "").find("2 operands expected") != std::string::npos);
  CHECK(call("[2,2]", "lapack_sgehrd_ffi", "(f32[2,2], f32[1], s32[])", "low = 0 : i32, high = 2 : i32")
            .find("no range of rows") != std::string::npos);
}

TEST_CASE("ApproxTopK selects exactly, by its comparator", "[interpreter]") {
  const Literal result = run_text(
      R"(func.func @less(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %0 : tensor<i1>
  }
  func.func @main() -> (tensor<2x2xf32>, tensor<2x2xi32>) {
    %x = stablehlo.constant dense<[[3.0, 1.0], [2.0, 5.0], [1.0, 4.0]]> : tensor<3x2xf32>
    %i = stablehlo.iota dim = 0 : tensor<3x2xi32>
    %inf = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %none = stablehlo.constant dense<-1> : tensor<i32>
    %r:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %inf, %none) {backend_config = "", called_computations = [@less],
      mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.95 : f32, reduction_dim = 0 : i64, top_k = 2 : i64}}
      : (tensor<3x2xf32>, tensor<3x2xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
    return %r#0, %r#1 : tensor<2x2xf32>, tensor<2x2xi32> })");
  CHECK(values_of(result.elements()[0]) == Values{1, 1, 2, 4});
  CHECK(values_of(result.elements()[1]) == Values{2, 0, 1, 2});
}

TEST_CASE("dynamic forms take their sizes from operands", "[interpreter]") {
  const Literal top = run_text(R"(func.func @main() -> (tensor<?xf32>, tensor<?xi32>) {
    %x = stablehlo.constant dense<[3.0, 1.0, 2.0]> : tensor<3xf32>
    %k = stablehlo.constant dense<2> : tensor<i32>
    %r:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) : (tensor<3xf32>, tensor<i32>) -> (tensor<?xf32>, tensor<?xi32>)
    return %r#0, %r#1 : tensor<?xf32>, tensor<?xi32> })");
  CHECK(values_of(top.elements()[0]) == Values{3, 2});
  CHECK(values_of(top.elements()[1]) == Values{0, 2});
  CHECK(values_of(run_text(R"(func.func @add(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.add %a, %b : tensor<i32>
    return %0 : tensor<i32>
  }
  func.func @main() -> tensor<?xi32> {
    %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<1xi32>
    %one = stablehlo.constant dense<1> : tensor<1xi32>
    %p = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi32>
    %r = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %z, %two, %two, %one, %one, %p) {called_computations = [@add]}
      : (tensor<4xi32>, tensor<i32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xi32>
    return %r : tensor<?xi32> })")) == Values{1, 5});
}

TEST_CASE("results of open size of a solver have the sizes that its last operands say", "[interpreter]") {
  const Literal result = run_text(R"(func.func @main() -> (tensor<?x2x2xf32>, tensor<?xi32>) {
    %x = stablehlo.constant dense<[[[4.0, 0.0], [2.0, 2.0]]]> : tensor<1x2x2xf32>
    %a = stablehlo.constant dense<[1, 2, 2]> : tensor<3xi32>
    %b = stablehlo.constant dense<1> : tensor<1xi32>
    %r:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x, %a, %b) {indices_of_shape_operands = dense<[1, 2]> : tensor<2xi64>,
      mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<1x2x2xf32>, tensor<3xi32>, tensor<1xi32>) -> (tensor<?x2x2xf32>, tensor<?xi32>)
    return %r#0, %r#1 : tensor<?x2x2xf32>, tensor<?xi32> })");
  CHECK(result.elements()[0].shape().dims == std::vector<int64_t>{1, 2, 2});
  CHECK(values_of(result.elements()[0]) == Values{2, 0, 1, 1});
  CHECK(values_of(result.elements()[1]) == Values{0});
}

TEST_CASE("rows in compressed form times a dense array", "[interpreter]") {
  const auto product = [](const std::string& starts, const std::string& type) {
    return "HloModule m\nENTRY main {\n  v = " + type + "[3] constant({1, 2, 3})\n  s = s32[4] constant({" +
           starts + "})\n  c = s32[3] constant({1, 0, 1})\n  d = " + type +
           "[2,2] constant({{1, 2}, {10, 20}})\n  ROOT r = " + type +
           "[3,2] custom-call(v, s, c, d), custom_call_target=\"cpu_csr_sparse_dense_ffi\"\n}";
  };
  for (const std::string type : {"f32", "s8"})
    CHECK(values_of(run_text(product("0, 1, 1, 3", type))) == Values{10, 20, 0, 0, 32, 64});
  CHECK(refusal(product("0, 2, 1, 3", "f32")).find("row start 2 is out of order") != std::string::npos);
}

TEST_CASE("a singular tridiagonal system has a finite solution when its pivots may be perturbed",
          "[interpreter]") {
  const auto solve = [](const std::string& diagonal) {
    return values_of(run_text(
        "HloModule m\nENTRY main {\n  l = f32[3] constant({0, 1, 4})\n  d = f32[3] constant({" + diagonal +
        "})\n  u = f32[3] constant({1, 1, 0})\n  b = f32[3,1] constant({{4}, {8}, {17}})\n  ROOT r = "
        "f32[3,1] "
        "custom-call(l, d, u, b), custom_call_target=\"tridiagonal_solve_perturbed_ffi\"\n}"));
  };
  CHECK(solve("2, 2, 3") == Values{1, 2, 3});
  for (double value : solve("0, 0, 0")) CHECK(std::isfinite(value));
}

TEST_CASE("the functions that frameworks keep whole are computed", "[interpreter]") {
  const auto call = [](const std::string& target, const std::string& operands, const std::string& config) {
    return rounded(run_text(
        "HloModule m\nENTRY main {\n  x = f32[1,2] constant({{0, 1}})\n  g = f32[2] constant({1, 2})\n"
        "  e = f32[] constant(0.5)\n  ROOT r = f32[1,2] custom-call(" +
        operands + "), custom_call_target=\"" + target + "\", backend_config=\"" + config + "\"\n}"));
  };
  CHECK(call("AwsNeuronGelu", "x", "") == Values{0, 0.8413});
  CHECK(call("AwsNeuronSilu", "x", "") == Values{0, 0.7311});
  CHECK(call("AwsNeuronErf", "x", "") == Values{0, 0.8427});
  CHECK(call("AwsNeuronSoftmax", "x", "1") == Values{0.2689, 0.7311});
  CHECK(call("AwsNeuronSoftmaxBackward", "x, x", "1") == Values{0, 0});
  CHECK(call("AwsNeuronRmsNorm", "x, g, e", "1") == Values{0, 2});
}

TEST_CASE("a custom call that runs elsewhere is refused with the reason", "[interpreter]") {
  const auto call = [](const std::string& target) {
    return refusal(
        "HloModule m\nENTRY main {\n  z = f32[2] constant({1, 2})\n  ROOT r = f32[2] custom-call(z), "
        "custom_call_target=\"" +
        target + "\"\n}");
  };
  CHECK(call("xla_ffi_python_cpu_callback").find("calls back into Python") != std::string::npos);
  CHECK(call("tpu_custom_call").find("kernel for another machine") != std::string::npos);
  CHECK(call("lapack_snothing_ffi").find("custom-call lapack_snothing_ffi") != std::string::npos);
  CHECK(call("MoveToHost").empty());
}

TEST_CASE("a call that tells the host something and gives the program nothing is passed over",
          "[interpreter]") {
  const Literal result = run_text(R"(HloModule m
ENTRY main {
  z = f32[2] constant({1, 2})
  t = token[] after-all()
  said = () custom-call(z), custom_call_target="xla_ffi_python_cpu_callback", custom_call_has_side_effect=true, api_version=API_VERSION_TYPED_FFI
  after = (token[]) custom-call(t, z), custom_call_target="xla_ffi_python_cpu_callback", custom_call_has_side_effect=true
  ROOT r = f32[2] negate(z)
})");
  CHECK(values_of(result) == std::vector<double>{-1, -2});
}

TEST_CASE("a call that is named like an MHLO op is the op, as PyTorch/XLA writes it", "[interpreter]") {
  const auto mhlo = [](const std::string& name) {
    return values_of(run_text(
        "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = stablehlo.custom_call @mhlo." + name +
            "(%a) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2xf32>) -> "
            "tensor<2xf32>\n  return %0 : tensor<2xf32>\n}",
        {literal_of<float>(Dtype::F32, {2}, {0.5f, -0.25f})}));
  };
  const auto same = [](const std::vector<double>& values, double (*function)(double)) {
    CHECK(values[0] == Approx(function(0.5)));
    CHECK(values[1] == Approx(function(-0.25)));
  };
  same(mhlo("erf"), std::erf);
  same(mhlo("tan"), std::tan);
  same(mhlo("asin"), std::asin);
  same(mhlo("sinh"), std::sinh);
  const Literal top = run_text(R"(func.func @main(%a: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%a) {mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
})",
                               {literal_of<float>(Dtype::F32, {4}, {1, 9, 3, 7})});
  CHECK(values_of(top.elements()[0]) == std::vector<double>{9, 7});
  CHECK(values_of(top.elements()[1]) == std::vector<double>{1, 3});
}

TEST_CASE("an annotation that changes sizes needs several devices", "[interpreter]") {
  CHECK(refusal(R"(HloModule m
ENTRY main {
  z = f32[4] constant({1, 2, 3, 4})
  ROOT r = f32[2] custom-call(z), custom_call_target="xla.sdy.GlobalToLocalShape"
})")
            .find("split over several devices") != std::string::npos);
}
