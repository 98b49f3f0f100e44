// Linear algebra and Fourier transforms, expanded, against the interpreter on zeros, infinities and NaN.
#include <cmath>
#include <limits>
#include <random>

#include "ir-formats/hlo/interpreter/interpret.h"
#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Literal;
using hlo::Shape;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSpecials[] = {0.0, -0.0, kInfinity, -kInfinity, kNan};

Dtype part_of(Dtype dtype) {
  if (dtype == Dtype::C64) return Dtype::F32;
  return dtype == Dtype::C128 ? Dtype::F64 : dtype;
}

// An array whose parts are set and read one by one.
class Parts {
 public:
  Parts(Dtype dtype, std::vector<int64_t> dims)
      : part_(part_of(dtype)), literal_(Literal::zeros(Shape::array(dtype, std::move(dims)))) {}
  explicit Parts(Literal literal) : part_(part_of(literal.shape().dtype)), literal_(std::move(literal)) {}

  int64_t count() const { return literal_.num_elements() * per_element(); }
  int64_t per_element() const { return is_complex(literal_.shape().dtype) ? 2 : 1; }
  double at(int64_t i) const {
    return load_as_double(part_, literal_.bytes().data() + i * size_bytes(part_));
  }
  void set(int64_t i, double value) {
    store_from_double(part_, literal_.mutable_data() + i * size_bytes(part_), value);
  }
  const Literal& literal() const { return literal_; }

 private:
  Dtype part_;
  Literal literal_;
};

struct Results {
  Parts want, got;
};

// The program before and after a pass, which must leave nothing of `opcode`.
Results results(const std::string& pass, hlo::Opcode opcode, const std::string& text,
                const std::vector<Literal>& args) {
  const std::unique_ptr<hlo::Module> module = parse(text);
  const auto run = [&] {
    Result<Literal> result = hlo::interpret(*module, args);
    INFO((result.is_ok() ? "" : result.status().diagnostic().to_string()));
    REQUIRE(result.is_ok());
    return Parts(result.take());
  };
  Parts want = run();
  PassContext context;
  REQUIRE(find_pass(pass)->run(*module, context).is_ok());
  CHECK(count(*module, opcode) == 0);
  return {std::move(want), run()};
}

// NaN, infinity with its sign, or a number within `slack`; of a complex number only whether it is finite.
bool agrees(const Results& r, int64_t element, double slack) {
  const int64_t parts = r.want.per_element();
  bool finite_want = true, finite_got = true, same = true;
  for (int64_t i = element * parts; i < (element + 1) * parts; ++i) {
    const double want = r.want.at(i), got = r.got.at(i);
    finite_want &= std::isfinite(want);
    finite_got &= std::isfinite(got);
    same &= std::isnan(want)   ? std::isnan(got)
            : std::isinf(want) ? want == got
                               : std::fabs(want - got) <= slack;
  }
  if (parts == 2 && !finite_want) return !finite_got;
  return same;
}

// Batches that differ, at most a few of them.
std::string differences(const Results& r, int64_t batch_elements, double relative) {
  std::string report;
  int found = 0;
  const int64_t parts = r.want.per_element();
  for (int64_t batch = 0; batch * batch_elements * parts < r.want.count(); ++batch) {
    double largest = 0;
    for (int64_t i = 0; i < batch_elements * parts; ++i) {
      const double value = std::fabs(r.want.at(batch * batch_elements * parts + i));
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
    for (int64_t i = 0; i < batch_elements; ++i) {
      const int64_t element = batch * batch_elements + i;
      if (agrees(r, element, relative * largest) || ++found > 5) continue;
      report += fmt::format("batch {} element {}: {}, was {}\n", batch, i, r.got.at(element * parts),
                            r.want.at(element * parts));
    }
  }
  return report;
}

constexpr int64_t kBatches = 200, kSize = 4;

// Well-conditioned matrices with 0, 1 or 2 special values in what is read and NaN in all that is not.
template <class IsRead>
Parts matrices(Dtype dtype, std::mt19937& random, const IsRead& is_read) {
  std::uniform_real_distribution<double> plain(-1, 1);
  Parts a(dtype, {kBatches, kSize, kSize});
  const int64_t parts = a.per_element();
  for (int64_t i = 0; i < a.count(); ++i) {
    const int64_t row = i / parts / kSize % kSize, column = i / parts % kSize;
    const bool diagonal = row == column && i % parts == 0;
    a.set(i, !is_read(row, column) ? kNan : plain(random) + (diagonal ? 6 : 0));
  }
  for (int64_t batch = 0; batch < kBatches; ++batch) {
    for (int64_t special = 0; special < batch % 3; ++special) {
      const int64_t row = random() % kSize, column = random() % kSize;
      if (!is_read(row, column)) continue;
      const int64_t element = (batch * kSize + row) * kSize + column;
      a.set(element * parts + static_cast<int64_t>(random() % static_cast<size_t>(parts)),
            kSpecials[random() % 5]);
    }
  }
  return a;
}

struct Kind {
  const char* name;
  Dtype dtype;
  double relative;
};
constexpr Kind kKinds[] = {{"f32", Dtype::F32, 1e-5},
                           {"f64", Dtype::F64, 1e-13},
                           {"bf16", Dtype::BF16, 2e-2},
                           {"c64", Dtype::C64, 1e-5}};

TEST_CASE("triangular systems with zeros, infinities and NaN, and NaN in all that is not read",
          "[expanders]") {
  std::mt19937 random(5);
  for (const Kind& kind : kKinds) {
    for (int variant = 0; variant < 24; ++variant) {
      const bool left = variant % 2 != 0, lower = variant / 2 % 2 != 0, unit = variant / 4 % 2 != 0;
      const char* transpose = std::array{"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}[variant / 8];
      const Parts a = matrices(kind.dtype, random, [&](int64_t row, int64_t column) {
        return row == column ? !unit : (row > column) == lower;
      });
      constexpr int64_t kLines = 3;
      Parts b(kind.dtype, {kBatches, left ? kSize : kLines, left ? kLines : kSize});
      std::uniform_real_distribution<double> plain(-1, 1);
      for (int64_t i = 0; i < b.count(); ++i)
        b.set(i, random() % 40 == 0 ? kSpecials[random() % 5] : plain(random));
      const std::string shape =
          fmt::format("{}[{},{},{}]", kind.name, kBatches, left ? kSize : kLines, left ? kLines : kSize);
      const std::string text = fmt::format(
          "HloModule m\nENTRY main {{\n  a = {0}[{1},{2},{2}] parameter(0)\n  b = {3} parameter(1)\n  ROOT x "
          "= {3} "
          "triangular-solve(a, b), left_side={4}, lower={5}, unit_diagonal={6}, transpose_a={7}\n}}\n",
          kind.name, kBatches, kSize, shape, left, lower, unit, transpose);
      INFO(text);
      const Results r = results("triangular-solve-expander", hlo::Opcode::TriangularSolve, text,
                                {a.literal(), b.literal()});
      CHECK(differences(r, kSize * kLines, kind.relative) == "");
    }
  }
}

TEST_CASE("cholesky of matrices with zeros, infinities and NaN, and NaN in the other triangle",
          "[expanders]") {
  std::mt19937 random(6);
  for (const Kind& kind : kKinds) {
    for (const bool lower : {false, true}) {
      const Parts a = matrices(kind.dtype, random, [&](int64_t row, int64_t column) {
        return row == column || (row > column) == lower;
      });
      const std::string shape = fmt::format("{}[{},{},{}]", kind.name, kBatches, kSize, kSize);
      const std::string text = fmt::format(
          "HloModule m\nENTRY main {{\n  a = {0} parameter(0)\n  ROOT x = {0} cholesky(a), lower={1}\n}}\n",
          shape, lower);
      INFO(text);
      const Results r = results("cholesky-expander", hlo::Opcode::Cholesky, text, {a.literal()});
      CHECK(differences(r, kSize * kSize, kind.relative) == "");
    }
  }
}

struct Transform {
  const char *in, *out, *kind, *length;
  Dtype dtype;
  std::vector<int64_t> dims;
};

// One transform per element of the first dimension.
TEST_CASE("an infinity or NaN spoils its own transform and no other", "[expanders]") {
  const Transform rows[] = {
      {"c64[60,1]", "c64[60,1]", "FFT", "1", Dtype::C64, {60, 1}},
      {"c64[60,1]", "c64[60,1]", "IFFT", "1", Dtype::C64, {60, 1}},
      {"f32[60,1]", "c64[60,1]", "RFFT", "1", Dtype::F32, {60, 1}},
      {"c64[60,1]", "f32[60,1]", "IRFFT", "1", Dtype::C64, {60, 1}},
      {"c64[60,2]", "c64[60,2]", "FFT", "2", Dtype::C64, {60, 2}},
      {"c64[60,7]", "c64[60,7]", "IFFT", "7", Dtype::C64, {60, 7}},
      {"c128[60,4,6]", "c128[60,4,6]", "FFT", "4,6", Dtype::C128, {60, 4, 6}},
      {"f32[60,9]", "c64[60,5]", "RFFT", "9", Dtype::F32, {60, 9}},
      {"f64[60,4,8]", "c128[60,4,5]", "RFFT", "4,8", Dtype::F64, {60, 4, 8}},
      {"c64[60,5]", "f32[60,9]", "IRFFT", "9", Dtype::C64, {60, 5}},
      {"c64[60,5]", "f32[60,8]", "IRFFT", "8", Dtype::C64, {60, 5}},
      {"c64[60,240]", "c64[60,240]", "FFT", "240", Dtype::C64, {60, 240}},
      {"f32[60,202]", "c64[60,102]", "RFFT", "202", Dtype::F32, {60, 202}},
  };
  std::mt19937 random(7);
  std::uniform_real_distribution<double> plain(-1, 1);
  for (const Transform& row : rows) {
    Parts x(row.dtype, row.dims);
    for (int64_t i = 0; i < x.count(); ++i) x.set(i, plain(random));
    const int64_t lines = row.dims[0], line = x.count() / lines;
    for (int64_t l = 0; l < lines; l += 3)
      x.set(l * line + static_cast<int64_t>(random() % static_cast<size_t>(line)), kSpecials[random() % 5]);
    const std::string text = fmt::format(
        "HloModule m\nENTRY main {{\n  x = {} parameter(0)\n  ROOT y = {} fft(x), fft_type={}, "
        "fft_length={{{}}}\n}}\n",
        row.in, row.out, row.kind, row.length);
    INFO(text);
    const Results r = results("fft-expander", hlo::Opcode::Fft, text, {x.literal()});
    const int64_t out_line = r.want.count() / lines;
    int64_t spoiled = 0, wrong = 0;
    for (int64_t l = 0; l < lines; ++l) {
      double largest = 0;
      bool all_finite = true;
      for (int64_t i = l * out_line; i < (l + 1) * out_line; ++i) {
        all_finite &= std::isfinite(r.want.at(i));
        if (std::isfinite(r.want.at(i))) largest = std::max(largest, std::fabs(r.want.at(i)));
      }
      spoiled += !all_finite;
      for (int64_t i = l * out_line; i < (l + 1) * out_line; ++i) {
        const double want = r.want.at(i), got = r.got.at(i);
        // In a spoiled line more elements may be lost than the interpreter loses.
        wrong += all_finite || std::string(row.length) == "1" ? !(std::fabs(got - want) <= 1e-5 * largest ||
                                                                  got == want || (got != got && want != want))
                                                              : !std::isfinite(want) && std::isfinite(got);
      }
    }
    CHECK(wrong == 0);
    CHECK(spoiled > 0);
    CHECK(spoiled <= lines / 3);
  }
}

TEST_CASE("transforms without elements", "[expanders]") {
  for (const char* shape : {"c64[0,8]", "c64[3,0]"}) {
    const std::string text = fmt::format(
        "HloModule m\nENTRY main {{\n  x = {0} parameter(0)\n  ROOT y = {0} fft(x), fft_type=FFT, "
        "fft_length={{{1}}}\n}}\n",
        shape, shape[6]);
    INFO(text);
    CHECK(count(*after("fft-expander", text), hlo::Opcode::Fft) == 0);
  }
}

}  // namespace
}  // namespace ncc::hlo_passes
