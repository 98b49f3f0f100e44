#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Opcode;

// A well-conditioned matrix out of any input: the diagonal is raised above the sum of the others.
std::string dominant(const std::string& type, const std::string& n) {
  const std::string square = type + "[2," + n + "," + n + "]";
  return "HloModule m\nENTRY main {\n  p = " + square + " parameter(0)\n  i = s32[2," + n + "," + n +
         "] iota(), iota_dimension=1\n  j = s32[2," + n + "," + n +
         "] iota(), iota_dimension=2\n  d = pred[2," + n + "," + n +
         "] compare(i, j), direction=EQ\n  c = " + type + "[] constant(" +
         (type[0] == 'c' ? "(40, 0)" : "40") + ")\n  cs = " + square +
         " broadcast(c), dimensions={}\n  q = " + square + " add(p, cs)\n  a = " + square +
         " select(d, q, p)\n";
}

TEST_CASE("triangular systems are solved for every side, triangle and transposition", "[expanders]") {
  for (const char* type : {"f32", "f64", "c64", "bf16"}) {
    for (const char* left : {"true", "false"}) {
      for (const char* lower : {"true", "false"}) {
        for (const char* op : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
          const std::string t = type;
          const std::string b = t + (std::string(left) == "true" ? "[2,5,3]" : "[2,3,5]");
          const std::string text = dominant(t, "5") + "  b = " + b + " parameter(1)\n  ROOT x = " + b +
                                   " triangular-solve(a, b), left_side=" + left + ", lower=" + lower +
                                   ", unit_diagonal=false, transpose_a=" + op + "\n}\n";
          INFO(text);
          CHECK(count(*plain_after("triangular-solve-expander", text), Opcode::TriangularSolve) == 0);
        }
      }
    }
  }
}

TEST_CASE("a unit diagonal and the other triangle are not read", "[expanders]") {
  const std::string text =
      "HloModule m\nENTRY main {\n  p = f32[4,4] parameter(0)\n  i = s32[4,4] iota(), iota_dimension=0\n"
      "  j = s32[4,4] iota(), iota_dimension=1\n  above = pred[4,4] compare(i, j), direction=LE\n"
      "  nan = f32[] constant(nan)\n  nans = f32[4,4] broadcast(nan), dimensions={}\n"
      "  a = f32[4,4] select(above, nans, p)\n  b = f32[4,2] parameter(1)\n"
      "  ROOT x = f32[4,2] triangular-solve(a, b), left_side=true, lower=true, unit_diagonal=true, "
      "transpose_a=NO_TRANSPOSE\n}\n";
  CHECK(count(*plain_after("triangular-solve-expander", text), Opcode::TriangularSolve) == 0);
}

TEST_CASE("long systems become a loop, empty ones their right side", "[expanders]") {
  const std::string text = dominant("f32", "40") +
                           "  b = f32[2,40,3] parameter(1)\n  ROOT x = f32[2,40,3] triangular-solve(a, b), "
                           "left_side=true, lower=false, unit_diagonal=false, transpose_a=NO_TRANSPOSE\n}\n";
  const auto module = plain_after("triangular-solve-expander", text);
  CHECK(count(*module, Opcode::While) == 1);
  const auto empty =
      after("triangular-solve-expander",
            "HloModule m\nENTRY main {\n  a = f32[0,0] parameter(0)\n  b = f32[0,3] parameter(1)\n"
            "  ROOT x = f32[0,3] triangular-solve(a, b), left_side=true, lower=true, "
            "unit_diagonal=false, transpose_a=NO_TRANSPOSE\n}\n");
  CHECK(root(*empty).is(Opcode::Parameter));
}

TEST_CASE("cholesky reads one triangle, and NaN stands where a matrix is not positive", "[expanders]") {
  for (const char* type : {"f32", "f64", "c64", "bf16"}) {
    for (const char* n : {"1", "6", "36"}) {
      for (const char* lower : {"true", "false"}) {
        const std::string square = std::string(type) + "[2," + n + "," + n + "]";
        const std::string text =
            dominant(type, n) + "  ROOT x = " + square + " cholesky(a), lower=" + lower + "\n}\n";
        INFO(text);
        CHECK(count(*plain_after("cholesky-expander", text), Opcode::Cholesky) == 0);
      }
    }
  }
  const auto indefinite = plain_after("cholesky-expander",
                                      "HloModule m\nENTRY main {\n  a = f32[3,4,4] parameter(0)\n  ROOT x = "
                                      "f32[3,4,4] cholesky(a), lower=true\n}\n");
  CHECK(count(*indefinite, Opcode::Cholesky) == 0);
}

std::string fft(const std::string& in, const std::string& out, const std::string& kind,
                const std::string& length) {
  return "HloModule m\nENTRY main {\n  x = " + in + " parameter(0)\n  ROOT y = " + out +
         " fft(x), fft_type=" + kind + ", fft_length={" + length + "}\n}\n";
}

TEST_CASE("transforms of every kind and of lengths with and without small factors", "[expanders]") {
  struct Row {
    const char *in, *out, *kind, *length;
  };
  const Row rows[] = {
      {"c64[3,8]", "c64[3,8]", "FFT", "8"},
      {"c64[3,7]", "c64[3,7]", "IFFT", "7"},
      {"c128[2,4,6]", "c128[2,4,6]", "FFT", "4,6"},
      {"c64[2,3,4,5]", "c64[2,3,4,5]", "IFFT", "3,4,5"},
      {"f32[3,9]", "c64[3,5]", "RFFT", "9"},
      {"f32[2,4,8]", "c64[2,4,5]", "RFFT", "4,8"},
      {"f64[8]", "c128[5]", "RFFT", "8"},
      {"c64[3,5]", "f32[3,9]", "IRFFT", "9"},
      {"c64[3,5]", "f32[3,8]", "IRFFT", "8"},
      {"c64[2,6,5]", "f32[2,6,8]", "IRFFT", "6,8"},
      {"c64[1]", "f32[1]", "IRFFT", "1"},
      {"c64[2]", "f32[2]", "IRFFT", "2"},
      {"c64[2,240]", "c64[2,240]", "FFT", "240"},
      {"c64[1,6000]", "c64[1,6000]", "IFFT", "6000"},
      {"f32[2,1,202]", "c64[2,1,102]", "RFFT", "202"},
  };
  for (const Row& row : rows) {
    INFO(row.in << " " << row.kind);
    CHECK(count(*plain_after("fft-expander", fft(row.in, row.out, row.kind, row.length)), Opcode::Fft) == 0);
  }
  const auto large_prime = plain_after("fft-expander", fft("c64[2053]", "c64[2053]", "FFT", "2053"));
  CHECK(count(*large_prime, Opcode::Fft) == 1);
}

}  // namespace
}  // namespace ncc::hlo_passes
