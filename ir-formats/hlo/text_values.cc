// Shapes, layouts and literals of HLO text. Source: spec/hlo-text.md §5, §6.
#include <charconv>
#include <cmath>
#include <cstring>

#include "ir-formats/hlo/literal_text.h"
#include "ir-formats/hlo/text_parser.h"

namespace ncc::hlo {

Status TextParser::parse_shape(Shape* shape) {
  *shape = Shape{};
  const size_t begin = scan_.position();
  if (scan_.accept('(')) {
    shape->tuple = true;
    NCC_TRY(enter());
    while (!scan_.accept(')')) {
      NCC_TRY(parse_shape(&shape->elements.emplace_back()));
      if (!scan_.accept(',') && scan_.peek() != ')') return scan_.fail("expected ',' or ')'");
    }
    leave();
    return Status::ok();
  }
  std::string_view type;
  NCC_TRY(scan_.ident(&type));
  const std::optional<Dtype> dtype = dtype_from_hlo(type);
  if (!dtype) return scan_.fail_at(begin, fmt::format("unknown element type '{}'", type));
  shape->dtype = *dtype;
  NCC_TRY(scan_.expect('['));
  while (!scan_.accept(']')) {
    if (shape->rank() == kMaxRank) return scan_.fail("too many dimensions");
    const bool bounded = scan_.accept("<=");
    int64_t size = 0;
    if (!bounded && scan_.accept('?')) {
      shape->dims.push_back(0);
      shape->set_dynamic_dim(shape->rank() - 1, kUnbounded);
    } else {
      NCC_TRY(scan_.integer(&size));
      shape->dims.push_back(size);
      if (bounded) shape->set_dynamic_dim(shape->rank() - 1, size);
    }
    if (!scan_.accept(',') && scan_.peek() != ']') return scan_.fail("expected ',' or ']'");
  }
  // A brace is a layout only with a number or a colon in it; otherwise it opens a body.
  if (scan_.peek() == '{') NCC_TRY(parse_layout(shape));
  const Status size = check_shape(*shape, "the shape");
  return size.is_ok() ? size : scan_.fail_at(begin, size.diagnostic().cause);
}

Status TextParser::parse_layout(Shape* shape) {
  const size_t begin = scan_.position();
  scan_.accept('{');
  const char next = scan_.peek();
  if ((next < '0' || next > '9') && next != ':') {
    // f32[]{} is written by nobody, but harmless: an empty brace of a scalar before a name is dropped.
    const bool empty = scan_.accept('}');
    const bool operand = empty && shape->rank() == 0 && (scan_.peek() == '%' || !scan_.peek_ident().empty());
    if (!operand) scan_.seek(begin);
    return Status::ok();
  }
  std::vector<int64_t> order;
  while (scan_.peek() != ':' && scan_.peek() != '}') {
    NCC_TRY(scan_.integer(&order.emplace_back()));
    if (!scan_.accept(',')) break;
  }
  if (static_cast<int64_t>(order.size()) != shape->rank())
    return scan_.fail_at(
        begin, fmt::format("layout of {} dimensions for a shape of {}", order.size(), shape->rank()));
  shape->set_minor_to_major(std::move(order));
  if (scan_.accept(':')) {
    LayoutExtras extras;
    NCC_TRY(parse_layout_parts(&extras));
    if (!(extras == LayoutExtras{}))
      shape->layout_extras = std::make_shared<const LayoutExtras>(std::move(extras));
  }
  return scan_.expect('}');
}

// Dimension level types are parsed and dropped, as XLA does; index and pointer types belong to sparse arrays.
Status TextParser::parse_layout_parts(LayoutExtras* extras) {
  if (scan_.accept("D(")) {
    while (scan_.peek() != ')' && !scan_.at_end()) scan_.seek(scan_.position() + 1);
    NCC_TRY(scan_.expect(')'));
  }
  if (scan_.peek() == 'T' && scan_.peek_at(1) == '(') {
    scan_.accept('T');
    while (scan_.accept('(')) {
      std::vector<int64_t>& tile = extras->tiles.emplace_back();
      do {
        tile.push_back(kTileCombine);
        if (!scan_.accept('*')) NCC_TRY(scan_.integer(&tile.back()));
      } while (scan_.accept(','));
      NCC_TRY(scan_.expect(')'));
    }
  }
  const auto number = [&](std::string_view letter, int64_t* value) {
    if (!scan_.accept(letter)) return Status::ok();
    NCC_TRY(scan_.integer(value));
    return scan_.expect(')');
  };
  NCC_TRY(number("L(", &extras->tail_padding_alignment));
  if (extras->tail_padding_alignment == 1) extras->tail_padding_alignment = 0;
  if (scan_.peek() == '#' || scan_.peek() == '*') return scan_.fail("sparse layouts are not supported");
  NCC_TRY(number("E(", &extras->element_size_in_bits));
  NCC_TRY(number("S(", &extras->memory_space));
  if (scan_.starts_with("SC(")) {
    scan_.accept("SC");
    while (scan_.accept('(')) {
      auto& [dimension, points] = extras->split_configs.emplace_back();
      NCC_TRY(scan_.integer(&dimension));
      NCC_TRY(scan_.expect(':'));
      do {
        NCC_TRY(scan_.integer(&points.emplace_back()));
      } while (scan_.accept(','));
      NCC_TRY(scan_.expect(')'));
    }
  }
  if (scan_.starts_with("P(")) return scan_.fail("physical shapes are not supported");
  return number("M(", &extras->dynamic_metadata_bytes);
}

Status TextParser::parse_nan(std::string_view payload, bool negative, Dtype dtype, std::byte* to,
                             size_t position) {
  const double quiet = std::nan("");
  store_from_double(dtype, to, quiet);
  const int bits = nan_payload_bits(dtype);
  const int width = info(dtype).bits;
  uint64_t pattern = 0;
  std::memcpy(&pattern, to, static_cast<size_t>(size_bytes(dtype)));
  if (!payload.empty()) {
    uint64_t value = 0;
    if (!payload.starts_with("(0x") || payload.back() != ')')
      return scan_.fail_at(position, "expected nan(0x…)");
    const std::string_view digits = payload.substr(3, payload.size() - 4);
    const auto [stop, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (problem != std::errc() || stop != digits.data() + digits.size() || value == 0 || bits == 0 ||
        value >> bits != 0)
      return scan_.fail_at(position, "NaN payload does not fit the type");
    pattern = (pattern >> bits << bits) | value;
  }
  const uint64_t sign = uint64_t{1} << (width - 1);
  if (has_signed_nan(dtype)) pattern = negative ? pattern | sign : pattern & ~sign;
  std::memcpy(to, &pattern, static_cast<size_t>(size_bytes(dtype)));
  return Status::ok();
}

Status TextParser::parse_float(Dtype dtype, std::byte* to) {
  const size_t position = scan_.position();
  std::string_view text;
  NCC_TRY(scan_.number_text(&text));
  std::string_view digits = text;
  const bool negative = digits.starts_with("-");
  if (negative) digits.remove_prefix(1);
  if (digits.starts_with("nan")) return parse_nan(digits.substr(3), negative, dtype, to, position);
  double value = 0;
  if (digits == "inf") {
    value = HUGE_VAL;
  } else {
    const auto [stop, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    // Underflow to zero is a rounding like any other; overflow is an error.
    if (problem == std::errc::result_out_of_range && digits.find("e-") == std::string_view::npos &&
        digits.find("E-") == std::string_view::npos)
      return scan_.fail_at(position, "value out of range");
    if (problem == std::errc::invalid_argument || stop != digits.data() + digits.size())
      return scan_.fail_at(position, "expected a number");
  }
  store_from_double(dtype, to, negative ? -value : value);
  const double stored = load_as_double(dtype, to);
  if (std::isfinite(value) && !std::isfinite(stored)) return scan_.fail_at(position, "value out of range");
  return Status::ok();
}

Status TextParser::parse_element(Dtype dtype, std::string* bytes) {
  std::byte element[16] = {};
  const size_t position = scan_.position();
  if (is_complex(dtype)) {
    const Dtype part = dtype == Dtype::C64 ? Dtype::F32 : Dtype::F64;
    NCC_TRY(scan_.expect('('));
    NCC_TRY(parse_float(part, element));
    NCC_TRY(scan_.expect(','));
    NCC_TRY(parse_float(part, element + size_bytes(part)));
    NCC_TRY(scan_.expect(')'));
  } else if (is_float(dtype)) {
    NCC_TRY(parse_float(dtype, element));
  } else if (dtype == Dtype::Pred && (scan_.starts_with("true") || scan_.starts_with("false"))) {
    bool value = false;
    NCC_TRY(scan_.boolean(&value));
    store_from_int64(dtype, element, value);
  } else {
    uint64_t magnitude = 0;
    bool negative = false;
    NCC_TRY(scan_.wide_integer(&magnitude, &negative));
    const int bits = dtype == Dtype::Pred ? 1 : info(dtype).bits;
    const bool is_signed = is_signed_int(dtype);
    bool fits =
        negative ? is_signed && magnitude <= uint64_t{1} << (bits - 1)
                 : magnitude <= (is_signed ? (uint64_t{1} << (bits - 1)) - 1 : ~uint64_t{0} >> (64 - bits));
    if (dtype == Dtype::U64) fits = true;
    if (!fits) return scan_.fail_at(position, fmt::format("value out of range of {}", info(dtype).hlo));
    store_from_int64(dtype, element, static_cast<int64_t>(negative ? -magnitude : magnitude));
  }
  bytes->append(reinterpret_cast<const char*>(element), static_cast<size_t>(size_bytes(dtype)));
  return Status::ok();
}

// One level of braces; commas are optional.
Status TextParser::parse_elements(const Shape& shape, size_t level, std::string* bytes) {
  if (level == shape.dims.size()) return parse_element(shape.dtype, bytes);
  NCC_TRY(scan_.expect('{'));
  int64_t count = 0;
  while (!scan_.accept('}')) {
    if (count == shape.dims[level]) return scan_.fail(fmt::format("more than {} elements", count));
    NCC_TRY(parse_elements(shape, level + 1, bytes));
    ++count;
    while (scan_.accept(',')) {
    }
  }
  if (count != shape.dims[level])
    return scan_.fail(fmt::format("{} elements, expected {}", count, shape.dims[level]));
  return Status::ok();
}

Status TextParser::parse_literal(const Shape& shape, Literal* literal) {
  if (shape.is_tuple()) {
    NCC_TRY(enter());
    NCC_TRY(scan_.expect('('));
    std::vector<Literal> elements(shape.elements.size());
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i > 0) NCC_TRY(scan_.expect(','));
      NCC_TRY(parse_literal(shape.elements[i], &elements[i]));
    }
    NCC_TRY(scan_.expect(')'));
    leave();
    *literal = Literal::make_tuple(std::move(elements));
    return Status::ok();
  }
  if (!shape.is_array() || shape.is_dynamic()) return scan_.fail("a constant needs a static array shape");
  if (scan_.starts_with("{...}"))
    return scan_.fail("the values of this constant were left out; print the module with its large constants");
  std::string bytes;
  NCC_TRY(parse_elements(shape, 0, &bytes));
  *literal = Literal::copy(shape, std::as_bytes(std::span(bytes)));
  return Status::ok();
}

}  // namespace ncc::hlo
