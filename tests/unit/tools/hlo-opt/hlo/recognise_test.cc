#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"
#include "tools/hlo-opt/hlo/recognise/pattern.h"

namespace ncc::hlo_passes {
namespace {

const char* const kBodies =
    "HloModule m\nsum { x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y) }\n"
    "most { x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] maximum(x, y) }\n";

// The tags of a module after these passes, in the order of its instructions.
std::vector<std::string> tags(const std::vector<std::string>& passes, const std::string& lines) {
  std::string text = kBodies + lines;
  std::unique_ptr<hlo::Module> module = parse(text);
  for (const std::string& pass : passes) {
    PassContext context;
    REQUIRE(find_pass(pass));
    REQUIRE(find_pass(pass)->run(*module, context).is_ok());
  }
  CHECK(hlo::verify(*module).is_ok());
  std::vector<std::string> found;
  for (const Instruction* inst : module->entry()->post_order())
    if (!pattern_of(inst).empty()) found.emplace_back(pattern_of(inst));
  return found;
}

using Tags = std::vector<std::string>;

std::string reduced(const std::string& name, const std::string& of, const std::string& body,
                    const std::string& axes, const std::string& rest, const std::string& kept) {
  return "  " + name + "r = f32[" + rest + "] reduce(" + of + ", " + (body == "sum" ? "zero" : "lowest") +
         "), dimensions={" + axes + "}, to_apply=" + body + "\n  " + name + " = f32[4,6,8] broadcast(" +
         name + "r), dimensions={" + kept + "}\n";
}

std::string softmax(const std::string& axes, const std::string& rest, const std::string& kept) {
  return "ENTRY main {\n  x = f32[4,6,8] parameter(0)\n  dy = f32[4,6,8] parameter(1)\n  zero = f32[] "
         "constant(0)\n"
         "  lowest = f32[] constant(-inf)\n" +
         reduced("m", "x", "most", axes, rest, kept) +
         "  c = f32[4,6,8] subtract(x, m)\n  e = f32[4,6,8] exponential(c)\n" +
         reduced("s", "e", "sum", axes, rest, kept) + "  y = f32[4,6,8] divide(e, s)\n";
}

TEST_CASE("softmax is recognised along one and along several dimensions", "[recognise]") {
  CHECK(tags({"recognise-softmax"}, softmax("2", "4,6", "0,1") + "  ROOT r = f32[4,6,8] negate(y)\n}\n") ==
        Tags{"softmax axis=2"});
  CHECK(tags({"recognise-softmax"}, softmax("2,1", "4", "0") + "  ROOT r = f32[4,6,8] negate(y)\n}\n") ==
        Tags{"softmax axis=1,2"});
}

TEST_CASE("the gradient of a softmax is recognised, that of something else is not", "[recognise]") {
  const std::string tail = "  p = f32[4,6,8] multiply(dy, y)\n" +
                           reduced("t", "p", "sum", "2", "4,6", "0,1") + "  d = f32[4,6,8] subtract(dy, t)\n";
  CHECK(tags({"recognise-softmax"},
             softmax("2", "4,6", "0,1") + tail + "  ROOT r = f32[4,6,8] multiply(y, d)\n}\n") ==
        Tags{"softmax axis=2", "softmax-grad axis=2"});
  CHECK(tags({"recognise-softmax"},
             softmax("2", "4,6", "0,1") + tail + "  ROOT r = f32[4,6,8] multiply(e, d)\n}\n") ==
        Tags{"softmax axis=2"});
}

TEST_CASE("a sum over other axes than the shift's is still a softmax, a sum of something else is not",
          "[recognise]") {
  CHECK(tags({"recognise-softmax"},
             "ENTRY main {\n  x = f32[4,6,8] parameter(0)\n  zero = f32[] constant(0)\n  e = f32[4,6,8] "
             "exponential(x)\n" +
                 reduced("s", "x", "sum", "2", "4,6", "0,1") + "  ROOT y = f32[4,6,8] divide(e, s)\n}\n") ==
        Tags{});
}

// Of a square array: op(e, the sum along dimension 1 spread over `along`), e made by `lines` from x.
std::string square(const std::string& lines, const std::string& along, const std::string& root) {
  return "ENTRY main {\n  x = f32[6,6] parameter(0)\n  zero = f32[] constant(0)\n  lowest = f32[] "
         "constant(-inf)\n" +
         lines +
         "  sr = f32[6] reduce(e, zero), dimensions={1}, to_apply=sum\n  s = f32[6,6] broadcast(sr), "
         "dimensions={" +
         along + "}\n" + root + "}\n";
}

TEST_CASE("a sum that is spread over the dimension it was taken along is no part of a pattern",
          "[recognise]") {
  const std::string exponential = "  e = f32[6,6] exponential(x)\n",
                    quotient = "  ROOT y = f32[6,6] divide(e, s)\n";
  CHECK(tags({"recognise-softmax"}, square(exponential, "0", quotient)) == Tags{"softmax axis=1"});
  CHECK(tags({"recognise-softmax"}, square(exponential, "1", quotient)) == Tags{});
  const std::string transposed =
      "  t = f32[6,6] transpose(e), dimensions={1,0}\n  ROOT y = f32[6,6] divide(t, s)\n";
  CHECK(tags({"recognise-softmax"}, square(exponential, "1", transposed)) == Tags{"softmax axis=1"});
  CHECK(tags({"recognise-softmax"}, square(exponential, "0", transposed)) == Tags{});
  const std::string inverse =
      "  o = f32[] constant(1)\n  ones = f32[6,6] broadcast(o), dimensions={}\n  i = f32[6,6] divide(ones, "
      "s)\n  ROOT y = "
      "f32[6,6] multiply(e, i)\n";
  CHECK(tags({"recognise-softmax"}, square(exponential, "0", inverse)) == Tags{"softmax axis=1"});
  CHECK(tags({"recognise-softmax"}, square(exponential, "1", inverse)) == Tags{});
  // Rows and columns that a reshape joined are the same rows and columns.
  const std::string joined =
      "  sj = f32[36] reshape(s)\n  ej = f32[36] reshape(e)\n  ROOT y = f32[36] divide(ej, sj)\n";
  CHECK(tags({"recognise-softmax"}, square(exponential, "0", joined)) == Tags{"softmax axis=1"});
}

TEST_CASE("a deviation that is spread over the normalised dimension is no norm", "[recognise]") {
  const std::string squares = "  e = f32[6,6] multiply(x, x)\n";
  const std::string norm_of =
      "  n = f32[] constant(6)\n  ns = f32[6,6] broadcast(n), dimensions={}\n  small = f32[] "
      "constant(1e-5)\n  eps = "
      "f32[6,6] broadcast(small), dimensions={}\n  m = f32[6,6] divide(s, ns)\n  w = f32[6,6] add(m, eps)\n  "
      "f = f32[6,6] "
      "rsqrt(w)\n  ROOT y = f32[6,6] multiply(x, f)\n";
  CHECK(tags({"recognise-norm"}, square(squares, "0", norm_of)) == Tags{"rms-norm axis=1"});
  CHECK(tags({"recognise-norm"}, square(squares, "1", norm_of)) == Tags{});
}

TEST_CASE("logsumexp of a maximum that is not of the elements it is taken from", "[recognise]") {
  const auto shifted = [](const std::string& along) {
    return square(
        "  mr = f32[6] reduce(x, lowest), dimensions={1}, to_apply=most\n  m = f32[6,6] broadcast(mr), "
        "dimensions={" +
            along + "}\n  c = f32[6,6] subtract(x, m)\n  e = f32[6,6] exponential(c)\n",
        "0", "  l = f32[6] log(sr)\n  ROOT y = f32[6] add(l, mr)\n");
  };
  CHECK(tags({"recognise-logsumexp"}, shifted("0")) == Tags{"logsumexp axis=1"});
  CHECK(tags({"recognise-logsumexp"}, shifted("1")) == Tags{});
}

TEST_CASE("a contraction of a softmax along another dimension is no attention", "[recognise]") {
  const auto contracted = [](const std::string& dimension) {
    return square(
        "  l = f32[6,6] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n  e = f32[6,6] "
        "exponential(l)\n",
        "0",
        "  y = f32[6,6] divide(e, s)\n  ROOT o = f32[6,6] dot(y, x), lhs_contracting_dims={" + dimension +
            "}, rhs_contracting_dims={0}\n");
  };
  CHECK(tags({"recognise-softmax", "recognise-attention"}, contracted("1")) ==
        Tags{"softmax axis=1", "attention"});
  CHECK(tags({"recognise-softmax", "recognise-attention"}, contracted("0")) == Tags{"softmax axis=1"});
}

TEST_CASE("logsumexp of an array and of two values", "[recognise]") {
  CHECK(tags({"recognise-logsumexp"},
             "ENTRY main {\n  x = f32[4,6,8] parameter(0)\n  zero = f32[] constant(0)\n  lowest = f32[] "
             "constant(-inf)\n" +
                 reduced("m", "x", "most", "1,2", "4", "0") +
                 "  c = f32[4,6,8] subtract(x, m)\n  e = f32[4,6,8] exponential(c)\n"
                 "  s = f32[4] reduce(e, zero), dimensions={1,2}, to_apply=sum\n  l = f32[4] log(s)\n  ROOT "
                 "r = f32[4] add(l, mr)\n}\n") == Tags{"logsumexp axis=1,2"});
  CHECK(
      tags({"recognise-logsumexp"},
           "ENTRY main {\n  a = f32[4] parameter(0)\n  b = f32[4] parameter(1)\n  m = f32[4] maximum(a, b)\n"
           "  c = f32[4] subtract(a, m)\n  d = f32[4] subtract(b, m)\n  e = f32[4] exponential(c)\n  f = "
           "f32[4] exponential(d)\n"
           "  s = f32[4] add(e, f)\n  l = f32[4] log(s)\n  ROOT r = f32[4] add(m, l)\n}\n") ==
      Tags{"logaddexp"});
  const auto distance = [](const char* second) {
    return std::string(
               "ENTRY main {\n  a = f32[4] parameter(0)\n  b = f32[4] parameter(1)\n  m = f32[4] maximum(a, "
               "b)\n  c = f32[4] subtract(a, ") +
           second +
           ")\n  d = f32[4] abs(c)\n  n = f32[4] negate(d)\n  e = f32[4] exponential(n)\n  l = f32[4] "
           "log-plus-one(e)\n"
           "  ROOT r = f32[4] add(m, l)\n}\n";
  };
  CHECK(tags({"recognise-logsumexp"}, distance("b")) == Tags{"logaddexp"});
  CHECK(tags({"recognise-logsumexp"}, distance("m")) == Tags{});
}

// mean(of) over axes, broadcast again; count is the number that the sum is divided by.
std::string mean(const std::string& name, const std::string& of, const std::string& axes,
                 const std::string& rest, const std::string& kept, const std::string& count) {
  return reduced(name + "s", of, "sum", axes, rest, kept) + "  " + name + "n = f32[] constant(" + count +
         ")\n  " + name + "c = f32[4,6,8] broadcast(" + name + "n), dimensions={}\n  " + name +
         " = f32[4,6,8] divide(" + name + "s, " + name + "c)\n";
}

std::string norm(bool centred, const std::string& axes, const std::string& rest, const std::string& kept,
                 const std::string& count) {
  const std::string start =
      "ENTRY main {\n  x = f32[4,6,8] parameter(0)\n  zero = f32[] constant(0)\n  small = f32[] "
      "constant(1e-5)\n"
      "  eps = f32[4,6,8] broadcast(small), dimensions={}\n";
  const std::string centre = mean("u", "x", axes, rest, kept, count) + "  c = f32[4,6,8] subtract(x, u)\n";
  const std::string base = centred ? "c" : "x";
  return start + (centred ? centre : "") + "  q = f32[4,6,8] multiply(" + base + ", " + base + ")\n" +
         mean("v", "q", axes, rest, kept, count) +
         "  w = f32[4,6,8] add(v, eps)\n  f = f32[4,6,8] rsqrt(w)\n  ROOT r = f32[4,6,8] multiply(" + base +
         ", f)\n}\n";
}

TEST_CASE("layer and RMS normalisation over one and several dimensions", "[recognise]") {
  CHECK(tags({"recognise-norm"}, norm(true, "2", "4,6", "0,1", "8")) == Tags{"layer-norm axis=2"});
  CHECK(tags({"recognise-norm"}, norm(true, "1,2", "4", "0", "48")) == Tags{"layer-norm axis=1,2"});
  CHECK(tags({"recognise-norm"}, norm(false, "2", "4,6", "0,1", "8")) == Tags{"rms-norm axis=2"});
  CHECK(tags({"recognise-norm"}, norm(false, "0,2", "6", "1", "32")) == Tags{"rms-norm axis=0,2"});
}

TEST_CASE("a sum divided by another number than its elements' is no mean", "[recognise]") {
  CHECK(tags({"recognise-norm"}, norm(false, "2", "4,6", "0,1", "6")) == Tags{});
  CHECK(tags({"recognise-norm"}, norm(true, "1,2", "4", "0", "8")) == Tags{});
}

TEST_CASE("GELU and SiLU in their open forms", "[recognise]") {
  const auto activation = [](const std::string& lines) {
    return tags({"recognise-activation"},
                "ENTRY main {\n  x = f32[4] parameter(0)\n  h = f32[] constant(0.5)\n  half = f32[4] "
                "broadcast(h), dimensions={}\n"
                "  o = f32[] constant(1)\n  one = f32[4] broadcast(o), dimensions={}\n  r = f32[] "
                "constant(0.70710678)\n"
                "  root = f32[4] broadcast(r), dimensions={}\n" +
                    lines + "}\n");
  };
  CHECK(activation("  s = f32[4] multiply(x, root)\n  e = f32[4] erf(s)\n  g = f32[4] add(e, one)\n  p = "
                   "f32[4] multiply(x, g)\n"
                   "  ROOT y = f32[4] multiply(p, half)\n") == Tags{"gelu"});
  CHECK(activation("  s = f32[4] multiply(x, root)\n  e = f32[4] erf(s)\n  g = f32[4] add(e, one)\n  p = "
                   "f32[4] multiply(x, g)\n"
                   "  ROOT y = f32[4] multiply(p, root)\n") == Tags{});
  CHECK(activation("  l = f32[4] logistic(x)\n  ROOT y = f32[4] multiply(l, x)\n") == Tags{"silu"});
  CHECK(activation("  n = f32[4] negate(x)\n  e = f32[4] exponential(n)\n  d = f32[4] add(e, one)\n  ROOT y "
                   "= f32[4] divide(x, d)\n") == Tags{"silu"});
  CHECK(activation("  l = f32[4] logistic(half)\n  ROOT y = f32[4] multiply(l, x)\n") == Tags{});
}

TEST_CASE("attention is a contraction of a tagged softmax of a contraction", "[recognise]") {
  const std::string scores =
      "ENTRY main {\n  q = f32[4,6,5] parameter(0)\n  k = f32[4,8,5] parameter(1)\n  v = f32[4,8,3] "
      "parameter(2)\n"
      "  mask = f32[4,6,8] parameter(3)\n  zero = f32[] constant(0)\n  lowest = f32[] constant(-inf)\n"
      "  d = f32[4,6,8] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
      "rhs_contracting_dims={2}\n";
  const auto rest = [](const std::string& logits) {
    return reduced("m", logits, "most", "2", "4,6", "0,1") + "  c = f32[4,6,8] subtract(" + logits +
           ", m)\n  e = f32[4,6,8] exponential(c)\n" + reduced("s", "e", "sum", "2", "4,6", "0,1") +
           "  y = f32[4,6,8] divide(e, s)\n" +
           "  ROOT o = f32[4,6,3] dot(y, v), lhs_batch_dims={0}, rhs_batch_dims={0}, "
           "lhs_contracting_dims={2}, rhs_contracting_dims={1}\n}\n";
  };
  CHECK(tags({"recognise-softmax", "recognise-attention"}, scores + rest("d")) ==
        Tags{"softmax axis=2", "attention"});
  CHECK(tags({"recognise-softmax", "recognise-attention"},
             scores + "  l = f32[4,6,8] add(d, mask)\n" + rest("l")) ==
        Tags{"softmax axis=2", "attention masked"});
  CHECK(tags({"recognise-softmax", "recognise-attention"}, scores + rest("mask")) == Tags{"softmax axis=2"});
}

}  // namespace
}  // namespace ncc::hlo_passes
