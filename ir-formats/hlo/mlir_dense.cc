// Dense literals: nested lists, splats, hex blobs, resources. Source: spec §1.7.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "ir-formats/hlo/mlir_parser.h"

namespace ncc::hlo::mlir {
namespace {

// Whether an integer fits: signed and unsigned ranges are accepted for either, as MLIR prints both.
bool fits(uint64_t magnitude, bool negative, int bits) {
  if (bits >= 64) return !negative || magnitude <= uint64_t{1} << 63;
  return negative ? magnitude <= uint64_t{1} << (bits - 1) : magnitude < uint64_t{1} << bits;
}

// Value of each hex digit; 0xFF for other characters.
constexpr std::array<uint8_t, 256> kHexDigits = [] {
  std::array<uint8_t, 256> table{};
  table.fill(0xFF);
  for (int i = 0; i < 10; ++i) table[static_cast<size_t>('0' + i)] = static_cast<uint8_t>(i);
  for (int i = 0; i < 6; ++i) {
    table[static_cast<size_t>('a' + i)] = static_cast<uint8_t>(10 + i);
    table[static_cast<size_t>('A' + i)] = static_cast<uint8_t>(10 + i);
  }
  return table;
}();

}  // namespace

size_t decode_hex(std::string_view digits, std::byte* to) {
  const auto value = [&](size_t i) { return kHexDigits[static_cast<unsigned char>(digits[i])]; };
  // Bad digits are looked for once a block, so that the block's loop has no branches.
  constexpr size_t kBlock = 256;
  for (size_t begin = 0; begin + 1 < digits.size(); begin += kBlock) {
    const size_t end = std::min(begin + kBlock, digits.size() & ~size_t{1});
    uint8_t seen = 0;
    for (size_t i = begin; i < end; i += 2) {
      const uint8_t high = value(i), low = value(i + 1);
      seen |= high | low;
      to[i / 2] = static_cast<std::byte>(high << 4 | low);
    }
    if (seen <= 15) continue;
    for (size_t i = begin; i < end; i += 2) {
      if ((value(i) | value(i + 1)) > 15) return i;
    }
  }
  return digits.size();
}

void clean_elements(Dtype dtype, std::byte* bytes, int64_t count) {
  // A packed splat of true is 0xFF.
  if (dtype == Dtype::Pred) {
    for (int64_t i = 0; i < count; ++i) bytes[i] = std::byte(bytes[i] != std::byte{0});
  } else if (const int bits = info(dtype).bits; bits < 8) {
    for (int64_t i = 0; i < count; ++i) bytes[i] &= std::byte((1 << bits) - 1);
  }
}

Status Parser::parse_element(Nested* nested) {
  if (accept('(')) {  // complex: two elements
    NCC_TRY(parse_element(nested));
    NCC_TRY(expect(','));
    NCC_TRY(parse_element(nested));
    return expect(')');
  }
  const bool negative = accept('-');
  const Token& t = token();
  const bool word = t.kind == Tok::BareId && (t.text == "true" || t.text == "false");
  if (t.kind != Tok::Integer && t.kind != Tok::Float && !word) return fail("expected an element");
  nested->elements.push_back({negative, t.kind, t.text});
  lexer_.advance();
  return Status::ok();
}

Status Parser::parse_nested(size_t level, Nested* nested) {
  if (!is('[')) {
    if (level != nested->dims.size()) return fail("lists of different depth");
    return parse_element(nested);
  }
  if (nested->elements.empty() && level == nested->dims.size()) nested->dims.push_back(-1);
  if (level >= nested->dims.size()) return fail("lists of different depth");
  NCC_TRY(enter());
  lexer_.advance();
  int64_t count = 0;
  if (!is(']')) {
    do {
      NCC_TRY(parse_nested(level + 1, nested));
      ++count;
    } while (accept(','));
  }
  NCC_TRY(expect(']'));
  leave();
  int64_t& expected = nested->dims[level];
  if (expected >= 0 && expected != count) return fail("lists of different length");
  expected = count;
  return Status::ok();
}

Status Parser::store_element(const Element& element, Dtype dtype, std::byte* to) const {
  const size_t offset = static_cast<size_t>(element.text.data() - lexer_.text().data());
  if (element.kind == Tok::BareId) {
    store_from_int64(dtype, to, element.text == "true");
    return Status::ok();
  }
  if (element.kind == Tok::Float) {
    if (!is_float(dtype)) return fail_at(offset, "a float among integers");
    double value = 0;
    std::from_chars(element.text.data(), element.text.data() + element.text.size(), value);
    store_from_double(dtype, to, element.negative ? -value : value);
    return Status::ok();
  }
  const bool hex = element.text.starts_with("0x");
  const std::string_view digits = hex ? element.text.substr(2) : element.text;
  uint64_t magnitude = 0;
  const auto [stop, problem] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, hex ? 16 : 10);
  if (problem != std::errc()) return fail_at(offset, "integer out of range");
  const int bits = info(dtype).bits;
  if (is_float(dtype)) {
    if (!hex) return fail_at(offset, "expected a float");
    if (element.negative || (bits < 64 && magnitude >> bits != 0))
      return fail_at(offset, "bit pattern does not fit the type");
    std::memcpy(to, &magnitude, static_cast<size_t>(size_bytes(dtype)));
    return Status::ok();
  }
  if (!fits(magnitude, element.negative, dtype == Dtype::Pred ? 1 : bits))
    return fail_at(offset, "integer does not fit the type");
  store_from_int64(dtype, to, static_cast<int64_t>(element.negative ? -magnitude : magnitude));
  return Status::ok();
}

Status Parser::build_dense(const Nested& nested, size_t offset, Attr* attr) {
  const Shape& shape = attr->shape;
  const bool complex = is_complex(shape.dtype);
  const Dtype part = shape.dtype == Dtype::C64    ? Dtype::F32
                     : shape.dtype == Dtype::C128 ? Dtype::F64
                                                  : shape.dtype;
  const int64_t per_element = complex ? 2 : 1;
  const int64_t given = static_cast<int64_t>(nested.elements.size());
  if (given % per_element != 0) return fail_at(offset, "a complex element needs two parts");
  if (nested.scalar) {
    attr->splat = given > 0 && shape.num_elements() != 1;
    if (given > per_element || (given == 0 && shape.num_elements() != 0))
      return fail_at(offset, "wrong number of elements");
  } else if (nested.dims != shape.dims && !(given == 0 && shape.num_elements() == 0)) {
    return fail_at(offset, fmt::format("lists of shape [{}] for the type {}", fmt::join(nested.dims, ","),
                                       to_string(shape)));
  }
  Shape stored = attr->splat ? Shape::array(shape.dtype) : shape;
  stored.minor_to_major.clear();
  if (stored.num_elements() * per_element != given) return fail_at(offset, "wrong number of elements");
  Literal literal = Literal::zeros(stored);
  std::byte* to = literal.mutable_data();
  for (const Element& element : nested.elements) {
    NCC_TRY(store_element(element, part, to));
    to += size_bytes(part);
  }
  attr->literal = std::move(literal);
  return Status::ok();
}

// Raw little-endian bytes; one element's worth is a splat; i1 may be packed, eight to a byte.
Status Parser::build_hex(std::string_view hex, size_t offset, Attr* attr) {
  if (!hex.starts_with("0x") || hex.size() % 2 != 0)
    return fail_at(offset, "expected \"0x…\" with whole bytes");
  hex.remove_prefix(2);
  const int64_t given = static_cast<int64_t>(hex.size() / 2);
  const Shape& shape = attr->shape;
  const int64_t count = shape.num_elements();
  const int64_t full = shape.size_bytes();
  const bool packed = shape.dtype == Dtype::Pred && given != full && given == (count + 7) / 8;
  attr->splat = !packed && given != full && given == size_bytes(shape.dtype);
  if (!packed && !attr->splat && given != full)
    return fail_at(offset,
                   fmt::format("{} bytes for the type {}, expected {}", given, to_string(shape), full));
  Literal literal = Literal::zeros(attr->splat ? Shape::array(shape.dtype) : shape);
  std::byte* to = literal.mutable_data();
  std::string bits(packed ? static_cast<size_t>(given) : 0, '\0');
  const size_t decoded = decode_hex(hex, packed ? reinterpret_cast<std::byte*>(bits.data()) : to);
  if (decoded != hex.size()) return fail_at(offset + 2 + decoded, "not a hex digit");
  lexer_.forget(hex);
  if (packed) {
    for (int64_t i = 0; i < count; ++i) to[i] = std::byte((bits[static_cast<size_t>(i / 8)] >> (i % 8)) & 1);
  } else {
    clean_elements(shape.dtype, to, given);
  }
  attr->literal = std::move(literal);
  return Status::ok();
}

// Behind `dense`: <elements> : type
Status Parser::parse_dense(Attr* attr) {
  attr->kind = Attr::Kind::Dense;
  const size_t offset = token().begin;
  NCC_TRY(expect('<'));
  Nested nested;
  std::string_view hex;
  size_t hex_offset = 0;
  if (token().kind == Tok::String) {
    hex = token().text;
    hex_offset = token().begin + 1;
    lexer_.advance();
  } else if (is('>')) {
    nested.scalar = true;
  } else {
    nested.scalar = !is('[');
    NCC_TRY(parse_nested(0, &nested));
  }
  NCC_TRY(expect('>'));
  NCC_TRY(expect(':'));
  NCC_TRY(parse_type(&attr->shape));
  if (attr->shape.is_tuple() || attr->shape.is_token()) return fail_at(offset, "expected a tensor type");
  if (attr->shape.is_dynamic()) return fail_at(offset, "a constant of dynamic shape");
  attr->shape.quantization.reset();
  return hex_offset != 0 ? build_hex(hex, hex_offset, attr) : build_dense(nested, offset, attr);
}

// Behind `dense_resource`: <key> : type. The bytes stand in the file's metadata, usually at its end.
Status Parser::parse_dense_resource(Attr* attr) {
  attr->kind = Attr::Kind::Resource;
  NCC_TRY(expect('<'));
  if (token().kind == Tok::String) {
    NCC_TRY(parse_string(&attr->text));
  } else {
    // Keys may hold characters that no token has: read up to the bracket.
    const size_t begin = token().begin;
    const size_t end = lexer_.text().find('>', begin);
    if (end == std::string_view::npos) return fail("expected '>'");
    attr->text = lexer_.text().substr(begin, end - begin);
    lexer_.restart(end);
  }
  NCC_TRY(expect('>'));
  NCC_TRY(expect(':'));
  return parse_type(&attr->shape);
}

}  // namespace ncc::hlo::mlir
