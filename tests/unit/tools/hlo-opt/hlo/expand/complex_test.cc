#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Opcode;

// Complex values are left only where they enter and leave.
bool is_lowered(const hlo::Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& inst : computation->instructions()) {
      if (!inst->shape.is_array() || !is_complex(inst->shape.dtype)) continue;
      if (!inst->is(Opcode::Parameter) && !inst->is(Opcode::Complex) && !inst->is(Opcode::GetTupleElement))
        return false;
    }
  }
  return true;
}

TEST_CASE("complex functions agree by parts, on special values too", "[expanders]") {
  for (const char* type : {"c64", "c128"}) {
    for (const char* op : {"negate", "cosine", "exponential", "exponential-minus-one", "log", "log-plus-one",
                           "logistic", "sign", "sine", "sqrt", "rsqrt", "cbrt", "tan", "tanh"}) {
      const std::string t = std::string(type) + "[4,150]";
      INFO(op << " " << type);
      const auto module =
          after("lower-complex", "HloModule m\nENTRY main {\n  z = " + t + " parameter(0)\n  ROOT y = " + t +
                                     " " + op + "(z)\n}\n");
      CHECK(is_lowered(*module));
    }
  }
}

TEST_CASE("complex arithmetic agrees by parts", "[expanders]") {
  for (const char* op : {"add", "subtract", "multiply", "divide", "power"}) {
    INFO(op);
    const auto module = plain_after(
        "lower-complex", std::string("HloModule m\nENTRY main {\n  a = c64[4,50] parameter(0)\n  b = "
                                     "c64[4,50] parameter(1)\n  ROOT y = c64[4,50] ") +
                             op + "(a, b)\n}\n");
    CHECK(is_lowered(*module));
  }
}

TEST_CASE("sums, magnitudes and quotients of special complex values", "[expanders]") {
  for (const char* line :
       {"c64[400] add(a, b)", "c64[400] divide(a, b)", "f32[400] abs(a)", "c64[400] negate(b)",
        "pred[400] compare(a, b), direction=EQ", "pred[400] compare(a, b), direction=NE", "f32[400] real(a)",
        "f64[400] convert(a)", "c128[400] convert(b)"}) {
    INFO(line);
    const auto module = after(
        "lower-complex", std::string("HloModule m\nENTRY main {\n  a = c64[400] parameter(0)\n  b = c64[400] "
                                     "parameter(1)\n  ROOT y = ") +
                             line + "\n}\n");
    CHECK(is_lowered(*module));
  }
}

TEST_CASE("data movement, constants, selection and contractions keep parts apart", "[expanders]") {
  const auto module = plain_after("lower-complex", R"(HloModule m
sum { a = c64[] parameter(0)
  b = c64[] parameter(1)
  ROOT s = c64[] add(a, b) }
ENTRY main {
  a = c64[4,6] parameter(0)
  b = c64[6,4] parameter(1)
  p = pred[6,4] parameter(2)
  i = s32[] parameter(3)
  t = c64[6,4] transpose(a), dimensions={1,0}
  s = c64[6,4] select(p, t, b)
  c = c64[] constant((1.5, -2))
  k = c64[6,4] broadcast(c), dimensions={}
  m = c64[6,4] multiply(s, k)
  d = c64[4,4] dot(a, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  w = c64[2,4] dynamic-slice(d, i, i), dynamic_slice_sizes={2,4}
  u = c64[4,4] dynamic-update-slice(d, w, i, i)
  padded = c64[6,4] pad(u, c), padding=1_1x0_0
  e = c64[6,8] concatenate(padded, b), dimensions={1}
  r = c64[6,8] reverse(e), dimensions={0}
  z = c64[] constant((0, 1))
  ROOT total = c64[8] reduce(e, z), dimensions={0}, to_apply=sum
}
)");
  CHECK(count(*module, Opcode::Dot) == 4);
}

TEST_CASE("values cross loops and tuples whole", "[expanders]") {
  const auto module = plain_after("lower-complex", R"(HloModule m
body {
  s = (s32[], c64[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  z = c64[3] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  zz = c64[3] multiply(z, z)
  y = c64[3] add(zz, z)
  ROOT r = (s32[], c64[3]) tuple(next, y)
}
goes_on {
  s = (s32[], c64[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY main {
  z = c64[3] parameter(0)
  quarter = c64[] constant((0.25, 0.125))
  qs = c64[3] broadcast(quarter), dimensions={}
  small = c64[3] multiply(z, qs)
  zero = s32[] constant(0)
  s = (s32[], c64[3]) tuple(zero, small)
  ROOT w = (s32[], c64[3]) while(s), condition=goes_on, body=body
}
)");
  CHECK(is_lowered(*module));
}

}  // namespace
}  // namespace ncc::hlo_passes
