// The comparison of one program's forms: what it may look through, and that it sees every other difference.
#include "tests/forms/equivalence.h"

#include <catch2/catch.hpp>

#include "ir-formats/hlo/read.h"

namespace ncc::hlo {
namespace {

std::unique_ptr<Module> parse(const std::string& body) {
  Result<std::unique_ptr<Module>> module = read_hlo_text(
      "HloModule m\nadd { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) "
      "}\nENTRY e {\n x = f32[4,6] parameter(0)\n y = f32[4,6] parameter(1)\n p = pred[4,6] "
      "parameter(2)\n k = s32[4,6] parameter(3)\n zero = f32[] constant(0)\n one = f32[] constant(1)\n" +
          body + "\n}",
      "m.hlo");
  if (!module.is_ok()) FAIL(module.status().diagnostic().to_string());
  return module.take();
}

bool equal(const std::string& a, const std::string& b) { return equivalent(*parse(a), *parse(b)).equal; }

}  // namespace

TEST_CASE("forms of one program may spell neutral operations and constants differently", "[forms]") {
  const std::string plain = "ROOT r = f32[4,6] add(x, y)";
  CHECK(equal(plain,
              "n = f32[4,6] broadcast(zero), dimensions={}\n z = f32[4,6] subtract(x, n)\n"
              "ROOT r = f32[4,6] add(z, y)"));
  CHECK(equal(plain,
              "t = f32[6,4] transpose(x), dimensions={1,0}\n u = f32[4,6] transpose(t), dimensions={1,0}\n"
              "ROOT r = f32[4,6] add(u, y)"));
  CHECK(equal(plain,
              "c = f32[8,6] concatenate(x, y), dimensions={0}\n s = f32[4,6] slice(c), slice={[4:8], [0:6]}\n"
              "ROOT r = f32[4,6] add(x, s)"));
  CHECK(
      equal(plain, "f = f32[4,6] reduce(x, zero), dimensions={}, to_apply=add\nROOT r = f32[4,6] add(f, y)"));
  CHECK(equal(plain, "s = f32[4,6] select(p, x, x)\nROOT r = f32[4,6] add(s, y)"));
  CHECK(equal(
      plain,
      "i = s32[] constant(0)\nd = f32[4,6] dynamic-update-slice(y, x, i, i)\nROOT r = f32[4,6] add(d, y)"));
  CHECK(equal("ROOT s = f32[2,6] slice(x), slice={[1:3], [0:6]}",
              "i = s32[] constant(1)\n j = s32[] constant(7)\nROOT d = f32[2,6] dynamic-slice(x, i, j), "
              "dynamic_slice_sizes={2,6}"));
  CHECK(equal("ROOT c = pred[4,6] compare(x, y), direction=LE",
              "l = pred[4,6] compare(x, y), direction=LT\n e = pred[4,6] compare(x, y), direction=EQ\n"
              "ROOT c = pred[4,6] or(l, e)"));
  CHECK(equal(
      "h = f32[] constant(2)\n b = f32[4,6] broadcast(h), dimensions={}\nROOT r = f32[4,6] multiply(x, b)",
      "s = f32[] add(one, one)\n b = f32[4,6] broadcast(s), dimensions={}\nROOT r = f32[4,6] multiply(b, "
      "x)"));
  CHECK(equal("t = f32[24] reshape(x)\nROOT r = f32[3,8] reshape(t)", "ROOT r = f32[3,8] reshape(x)"));
}

TEST_CASE("programs that compute something else are told apart", "[forms]") {
  const std::string plain = "ROOT r = f32[4,6] subtract(x, y)";
  for (const std::string other : {
           "ROOT r = f32[4,6] subtract(y, x)",
           "ROOT r = f32[4,6] add(x, y)",
           "n = f32[4,6] broadcast(one), dimensions={}\n z = f32[4,6] add(x, n)\nROOT r = f32[4,6] "
           "subtract(z, y)",
           "t = f32[6,4] reshape(x)\n u = f32[4,6] transpose(t), dimensions={1,0}\nROOT r = f32[4,6] "
           "subtract(u, y)",
           "c = f32[8,6] concatenate(x, y), dimensions={0}\n s = f32[4,6] slice(c), slice={[3:7], [0:6]}\n"
           "ROOT r = f32[4,6] subtract(x, s)",
           "c = f32[8,6] concatenate(x, y), dimensions={0}\n s = f32[4,6] slice(c), slice={[0:8:2], [0:6]}\n"
           "ROOT r = f32[4,6] subtract(x, s)",
           "f = f32[4,6] reduce(x, one), dimensions={}, to_apply=add\nROOT r = f32[4,6] subtract(f, y)",
           "s = f32[4,6] select(p, x, y)\nROOT r = f32[4,6] subtract(s, y)",
           "v = f32[4,6] reverse(x), dimensions={1}\nROOT r = f32[4,6] subtract(v, y)",
       })
    CHECK_FALSE(equal(plain, other));
  CHECK_FALSE(
      equal("ROOT s = f32[2,6] slice(x), slice={[1:3], [0:6]}",
            "i = s32[] constant(3)\nROOT d = f32[2,6] dynamic-slice(x, i, i), dynamic_slice_sizes={2,6}"));
  CHECK_FALSE(equal("ROOT c = pred[4,6] compare(x, y), direction=LE",
                    "l = pred[4,6] compare(x, y), direction=GT\n e = pred[4,6] compare(x, y), direction=EQ\n"
                    "ROOT c = pred[4,6] or(l, e)"));
  CHECK_FALSE(equal("t = f32[24] reshape(x)\nROOT r = f32[3,8] reshape(t)",
                    "t = f32[6,4] transpose(x), dimensions={1,0}\nROOT r = f32[3,8] reshape(t)"));
  CHECK_FALSE(equal("ROOT r = s32[4,6] and(k, k)",
                    "i = s32[] constant(0)\n b = s32[4,6] broadcast(i), dimensions={}\n"
                    "ROOT r = s32[4,6] and(k, b)"));
}

}  // namespace ncc::hlo
