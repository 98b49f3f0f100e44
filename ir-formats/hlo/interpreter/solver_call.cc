#include "ir-formats/hlo/interpreter/solver_call.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

namespace ncc::hlo {
namespace {

// The numbers in `dense<[1, 2]> : tensor<2xi64>` before its type.
std::vector<int64_t> integers_in(std::string_view text) {
  std::vector<int64_t> numbers;
  text = text.substr(0, text.find('>'));
  for (size_t at = 0; (at = text.find_first_of("0123456789", at)) != std::string_view::npos;) {
    int64_t number = 0;
    const char* end = std::from_chars(text.data() + at, text.data() + text.size(), number).ptr;
    numbers.push_back(number);
    at = static_cast<size_t>(end - text.data());
  }
  return numbers;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

}  // namespace

std::optional<int64_t> config_value(std::string_view config, std::string_view key) {
  for (size_t at = config.find(key); at != std::string_view::npos; at = config.find(key, at + 1)) {
    size_t next = at + key.size();
    if ((at > 0 && is_word(config[at - 1])) || (next < config.size() && is_word(config[next]))) continue;
    while (next < config.size() && (config[next] == '"' || config[next] == ' ')) ++next;
    if (next >= config.size() || (config[next] != '=' && config[next] != ':')) continue;
    ++next;
    while (next < config.size() && (config[next] == '"' || config[next] == ' ')) ++next;
    const std::string_view value = config.substr(next);
    if (value.starts_with("true")) return 1;
    if (value.starts_with("false")) return 0;
    int64_t number = 0;
    if (std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc()) return number;
  }
  return std::nullopt;
}

SolverCall::SolverCall(const Instruction& inst, const Operands& operands, std::string_view signature,
                       bool square)
    : inst_(inst), operands_(operands) {
  check_operands(signature, square);
  if (!status_.is_ok()) return;
  const std::vector<int64_t> sizes = integers_in(inst.attrs().find("indices_of_shape_operands").value_or(""));
  const auto add = [&](const Shape& shape) {
    const size_t number = results_.size();
    Shape known = Shape::array(shape.dtype, shape.dims);
    if (shape.is_dynamic()) known.dims = integers_of_operand(number < sizes.size() ? sizes[number] : -1);
    if (!shape.is_array() || known.dims.size() != shape.dims.size())
      return fail("a result is not an array of known size");
    results_.push_back(Literal::zeros(known));
  };
  if (!inst.shape.is_tuple()) add(inst.shape);
  for (const Shape& shape : inst.shape.elements) add(shape);
}

void SolverCall::fail(const std::string& what) {
  if (status_.is_ok()) status_ = unsupported(inst_, what);
}

// Empty when the operand is no short list of sizes.
std::vector<int64_t> SolverCall::integers_of_operand(int64_t number) const {
  if (number < 0 || number >= static_cast<int64_t>(operands_.size())) return {};
  const Literal& operand = operands_[static_cast<size_t>(number)];
  if (!is_integer(operand.shape().dtype) || operand.num_elements() > 64) return {};
  std::vector<int64_t> values;
  for (int64_t i = 0; i < operand.num_elements(); ++i)
    values.push_back(std::max<int64_t>(0, operand.as_int64(i)));
  return values;
}

// Every operand has the leading dimensions of the first one.
void SolverCall::check_operands(std::string_view signature, bool square) {
  if (operands_.size() < signature.size()) return fail(fmt::format("{} operands expected", signature.size()));
  const auto rank_of = [](char kind) { return kind == 'm' ? size_t{2} : size_t{1}; };
  for (const Literal& operand : operands_)
    if (operand.is_tuple() || !operand.is_valid()) return fail("an operand is not an array");
  const Shape& first = operands_[0].shape();
  const Dtype type = first.dtype;
  if (type != Dtype::F32 && type != Dtype::F64 && type != Dtype::C64 && type != Dtype::C128)
    return fail(fmt::format("element type {} is none of LAPACK's", info(type).hlo));
  if (first.dims.size() < rank_of(signature[0])) return fail("operand 0 is not a matrix");
  const std::vector<int64_t> batch(first.dims.begin(),
                                   first.dims.end() - static_cast<int64_t>(rank_of(signature[0])));
  for (int64_t size : batch) batches_ *= size;
  for (size_t i = 0; i < signature.size(); ++i) {
    const Shape& shape = operands_[i].shape();
    const Dtype wanted = signature[i] == 'p' ? Dtype::S32 : type;
    if (shape.dtype != wanted || shape.dims.size() != batch.size() + rank_of(signature[i]) ||
        !std::equal(batch.begin(), batch.end(), shape.dims.begin()))
      return fail(fmt::format("operand {} has shape {}", i, to_string(shape)));
    for (int64_t size : shape.dims)
      if (size > std::numeric_limits<int>::max()) return fail(fmt::format("operand {} is too large", i));
  }
  if (square && rows(0) != cols(0)) fail("operand 0 is not square");
}

int SolverCall::trailing(const Shape& shape, size_t from_end) {
  return shape.dims.size() < from_end ? 1 : static_cast<int>(shape.dims[shape.dims.size() - from_end]);
}

int64_t SolverCall::option(std::string_view key, int64_t fallback) const {
  return config_value(inst_.attrs().backend_config, key).value_or(fallback);
}

char SolverCall::uplo() const {
  const int64_t lower = option("lower", 1);
  return static_cast<char>(option("uplo", lower != 0 ? 'L' : 'U'));
}

Result<Literal> SolverCall::take() {
  NCC_TRY(status_);
  return inst_.shape.is_tuple() ? Literal::make_tuple(std::move(results_)) : std::move(results_[0]);
}

}  // namespace ncc::hlo
