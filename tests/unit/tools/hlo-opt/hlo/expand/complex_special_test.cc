// Complex functions by parts against the interpreter on every combination of special values: zeros and units
// of both signs, the largest and the smallest numbers, infinities, NaN, and plain numbers beside them.
#include <cmath>
#include <complex>
#include <limits>

#include "ir-formats/hlo/interpreter/interpret.h"
#include "tests/unit/tools/hlo-opt/hlo/pass_case.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Literal;
using hlo::Shape;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Type {
  const char* name;
  Dtype dtype, part;
  double most, least_normal, least, last_place;
};
constexpr Type kTypes[] = {
    {"c64", Dtype::C64, Dtype::F32, 0x1.fffffep127, 0x1p-126, 0x1p-149, 0x1p-23},
    {"c128", Dtype::C128, Dtype::F64, std::numeric_limits<double>::max(), 0x1p-1022, 0x1p-1074, 0x1p-52}};

// All numbers whose parts are of `parts`.
std::vector<std::pair<double, double>> grid(const std::vector<double>& parts) {
  std::vector<std::pair<double, double>> all;
  for (double re : parts)
    for (double im : parts) all.emplace_back(re, im);
  return all;
}

Literal literal_of(const Type& type, const std::vector<std::pair<double, double>>& values) {
  Literal literal = Literal::zeros(Shape::array(type.dtype, {static_cast<int64_t>(values.size())}));
  const int64_t width = size_bytes(type.part);
  for (size_t i = 0; i < values.size(); ++i) {
    std::byte* at = literal.mutable_data() + static_cast<int64_t>(i) * 2 * width;
    store_from_double(type.part, at, values[i].first);
    store_from_double(type.part, at + width, values[i].second);
  }
  return literal;
}

Literal run(const hlo::Module& module, const std::vector<Literal>& args) {
  Result<Literal> result = hlo::interpret(module, args);
  INFO((result.is_ok() ? "" : result.status().diagnostic().to_string()));
  REQUIRE(result.is_ok());
  return result.take();
}

// What is compared of a value.
enum class Compared : uint8_t {
  All,      // infinity, NaN and the sign of zero as they are, other numbers within the slack
  Unsigned  // zeros of either sign are alike
};

bool agrees(double got, double want, double slack, Compared compared) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (std::isinf(want) || std::isinf(got)) return want == got;
  if (want == 0 && got == 0) return compared == Compared::Unsigned || std::signbit(want) == std::signbit(got);
  return std::fabs(got - want) <= slack;
}

using Complex = std::complex<double>;

// What the interpreter, which computes more precisely, does not decide: the sign of a zero that a product
// with tiny numbers, or a quotient of numbers far apart, was rounded to, and of zeros in powers, where a NaN
// may give it.
Compared compared_of(const std::string& op, const std::vector<Complex>& numbers) {
  const auto is_tiny = [&](double x) {
    return (x != 0 && std::fabs(x) < 1e-30) || (op == "divide" && std::isfinite(x) && std::fabs(x) > 1e30);
  };
  for (const Complex& z : numbers)
    if (op == "power" || is_tiny(z.real()) || is_tiny(z.imag())) return Compared::Unsigned;
  return Compared::All;
}

// exponent log(base), of which a power is the exponential; 0 for other functions.
Complex power_argument(const std::string& op, const std::vector<Complex>& numbers) {
  if (op != "power" || numbers[0] == 0.0) return 0;
  const Complex log = std::log(numbers[0]), exponent = numbers[1];
  return {exponent.real() * log.real() - exponent.imag() * log.imag(),
          exponent.real() * log.imag() + exponent.imag() * log.real()};
}

// A power of an angle so large that its rounding is all of it, or whose magnitude overflows on an axis, has
// no direction; one of a number so near to an axis that a part of its logarithm underflows has none either.
bool has_direction(const Complex& argument, const std::vector<Complex>& numbers) {
  const double angle = argument.imag();
  const bool finite = std::all_of(numbers.begin(), numbers.end(), [](const Complex& z) {
    return std::isfinite(z.real()) && std::isfinite(z.imag());
  });
  if (finite && !(std::fabs(angle) <= 1e5)) return false;
  const auto near_axis = [](double x, double y) {
    return std::isfinite(x) && y != 0 &&
           (std::fabs(y) < 1e-300 * std::fabs(x) || (std::fabs(x) == 1 && std::fabs(y) < 1e-150));
  };
  const Complex base = numbers[0];
  if (near_axis(base.real(), base.imag()) || near_axis(base.imag(), base.real())) return false;
  const bool on_axis = angle != 0 && std::min(std::fabs(std::sin(angle)), std::fabs(std::cos(angle))) < 1e-12;
  return !(on_axis && argument.real() > 700);
}

// What differs, at most a few lines of it.
std::string differences(const Type& type, const std::string& op, const std::vector<Literal>& args) {
  std::string text = "HloModule m\nENTRY main {\n";
  const std::string shape = fmt::format("{}[{}]", type.name, args[0].num_elements());
  for (size_t i = 0; i < args.size(); ++i) text += fmt::format("  p{} = {} parameter({})\n", i, shape, i);
  // HLO text has no conj and no square.
  const std::string text_name = op == "conj" || op == "square" ? "negate" : op;
  const Dtype result_type = op == "abs" ? type.part : type.dtype;
  text += fmt::format("  ROOT y = {}[{}] {}({})\n}}\n", info(result_type).hlo, args[0].num_elements(),
                      text_name, args.size() == 1 ? "p0" : "p0, p1");
  const std::unique_ptr<hlo::Module> module = parse(text);
  for (const hlo::Opcode opcode : {hlo::Opcode::Conj, hlo::Opcode::Square})
    if (std::string(hlo::info(opcode).hlo) == op) module->entry()->root()->opcode = opcode;
  const Literal want = run(*module, args);
  PassContext context;
  REQUIRE(find_pass("lower-complex")->run(*module, context).is_ok());
  CHECK(context.changes > 0);
  const Literal got = run(*module, args);
  const int64_t width = size_bytes(type.part), parts = op == "abs" ? 1 : 2;
  const auto part = [&](const Literal& literal, int64_t i) {
    return load_as_double(type.part, literal.bytes().data() + i * width);
  };
  constexpr int kShown = 12;
  std::string report;
  int64_t found = 0;
  for (int64_t i = 0; i < args[0].num_elements(); ++i) {
    double size = 0;
    bool same = true;
    for (int64_t p = 0; p < parts; ++p)
      if (const double x = std::fabs(part(want, i * parts + p)); std::isfinite(x)) size = std::max(size, x);
    std::vector<Complex> numbers;
    for (const Literal& arg : args) numbers.emplace_back(part(arg, 2 * i), part(arg, 2 * i + 1));
    const Complex argument = power_argument(op, numbers);
    if (op == "power" && !has_direction(argument, numbers)) continue;
    // Relative errors of the argument become those of its exponential.
    const double steps = 16 * (1 + (std::isfinite(std::abs(argument)) ? std::abs(argument) : 0));
    // The C standard leaves the sign of a zero beside NaN open.
    const bool beside_nan =
        parts == 2 && (std::isnan(part(want, 2 * i)) || std::isnan(part(want, 2 * i + 1)));
    const Compared compared = beside_nan ? Compared::Unsigned : compared_of(op, numbers);
    const double slack = steps * type.last_place * size + 4 * type.least;
    for (int64_t p = 0; p < parts; ++p)
      same &= agrees(part(got, i * parts + p), part(want, i * parts + p), slack, compared);
    if (same || found++ >= kShown) continue;
    report += fmt::format("{}(", op);
    for (const Complex& z : numbers) report += fmt::format(" ({:g}, {:g})", z.real(), z.imag());
    report += " )";
    for (int64_t p = 0; p < parts; ++p)
      report +=
          fmt::format("; part {} is {:g}, was {:g}", p, part(got, i * parts + p), part(want, i * parts + p));
    report += "\n";
  }
  return found == 0 ? ""
                    : fmt::format("{} {}: {} of {} differ\n{}", op, type.name, found, args[0].num_elements(),
                                  report);
}

TEST_CASE("complex functions of special values are the interpreter's", "[expanders]") {
  for (const Type& type : kTypes) {
    const Literal z = literal_of(
        type, grid({0.0, -0.0, 1, -1, type.most, -type.most, type.least_normal, -type.least_normal,
                    type.least, -type.least, kInfinity, -kInfinity, kNan, 0.5, -2.5, 1e-4, 40, -800}));
    for (const char* op :
         {"abs", "negate", "conj", "square", "cosine", "cosh", "sinh", "exponential", "exponential-minus-one",
          "log", "log-plus-one", "logistic", "sign", "sine", "sqrt", "rsqrt", "cbrt", "tan", "tanh"})
      CHECK(differences(type, op, {z}) == "");
  }
}

TEST_CASE("complex arithmetic on special values is the interpreter's", "[expanders]") {
  for (const Type& type : kTypes) {
    const auto numbers =
        grid({0.0, -0.0, 1, -1, type.most, -type.most, type.least, kInfinity, -kInfinity, kNan, -2.5});
    std::vector<std::pair<double, double>> left, right;
    for (const auto& a : numbers) {
      for (const auto& b : numbers) {
        left.push_back(a);
        right.push_back(b);
      }
    }
    const Literal a = literal_of(type, left), b = literal_of(type, right);
    for (const char* op : {"add", "subtract", "multiply", "divide", "power"})
      CHECK(differences(type, op, {a, b}) == "");
  }
}

TEST_CASE("complex arithmetic on plain and special values is the interpreter's", "[expanders]") {
  for (const Type& type : kTypes) {
    const Shape shape = Shape::array(type.dtype, {4000});
    const Literal a = generated_input(shape, 11, true), b = generated_input(shape, 12, true);
    for (const char* op : {"add", "subtract", "multiply", "divide", "power"})
      CHECK(differences(type, op, {a, b}) == "");
  }
}

}  // namespace
}  // namespace ncc::hlo_passes
