#include "ir-formats/hlo/literal_text.h"

#include <cmath>

namespace ncc::hlo {

int nan_payload_bits(Dtype dtype) {
  switch (dtype) {
    case Dtype::F64:
      return 52;
    case Dtype::F32:
      return 23;
    case Dtype::F16:
      return 10;
    case Dtype::BF16:
      return 7;
    case Dtype::F8E3M4:
      return 4;
    case Dtype::F8E4M3:
      return 3;
    case Dtype::F8E5M2:
      return 2;
    default:
      return 0;
  }
}

bool has_signed_nan(Dtype dtype) { return nan_payload_bits(dtype) > 0 || dtype == Dtype::F8E4M3FN; }

namespace {

// NaN bits: sign, quiet bit, payload. Only the wide formats have payloads to show.
std::string nan_text(Dtype dtype, const std::byte* element) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, static_cast<size_t>(size_bytes(dtype)));
  const int width = info(dtype).bits;
  const int mantissa = nan_payload_bits(dtype);
  const std::string_view sign = has_signed_nan(dtype) && (bits >> (width - 1)) & 1 ? "-" : "";
  if (mantissa == 0) return fmt::format("{}nan", sign);
  const uint64_t payload = bits & ((uint64_t{1} << mantissa) - 1);
  const uint64_t quiet = uint64_t{1} << (mantissa - 1);
  return payload == quiet ? fmt::format("{}nan", sign) : fmt::format("{}nan({:#x})", sign, payload);
}

std::string float_text(Dtype dtype, const std::byte* element) {
  const double value = load_as_double(dtype, element);
  if (std::isnan(value)) return nan_text(dtype, element);
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  // An integer token would lose the sign of zero in other parsers.
  if (value == 0) return std::signbit(value) ? "-0.0" : "0";
  // Shortest decimal of the type itself where that is a C++ type; narrower types print as f32, which holds
  // them exactly.
  return dtype == Dtype::F64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
}

std::string element_text(const Literal& literal, int64_t index) {
  const Dtype dtype = literal.shape().dtype;
  const std::byte* element = literal.bytes().data() + index * size_bytes(dtype);
  if (is_complex(dtype)) {
    const Dtype part = dtype == Dtype::C64 ? Dtype::F32 : Dtype::F64;
    return fmt::format("({}, {})", float_text(part, element), float_text(part, element + size_bytes(part)));
  }
  if (is_float(dtype)) return float_text(dtype, element);
  if (dtype == Dtype::Pred && literal.shape().dims.empty()) return literal.as_int64(index) ? "true" : "false";
  const int64_t value = literal.as_int64(index);
  return dtype == Dtype::U64 ? fmt::format("{}", static_cast<uint64_t>(value)) : fmt::format("{}", value);
}

void append(const Literal& literal, size_t level, int64_t* index, std::string* text) {
  const auto& dims = literal.shape().dims;
  if (level == dims.size()) {
    *text += element_text(literal, (*index)++);
    return;
  }
  const bool innermost = level + 1 == dims.size();
  *text += innermost ? "{" : "{ ";
  for (int64_t i = 0; i < dims[level]; ++i) {
    if (i > 0) *text += ", ";
    append(literal, level + 1, index, text);
  }
  *text += innermost ? "}" : " }";
}

}  // namespace

std::string literal_text(const Literal& literal) {
  std::string text;
  if (literal.is_tuple()) {
    text = "(";
    for (size_t i = 0; i < literal.elements().size(); ++i) {
      if (i > 0) text += ", ";
      text += literal_text(literal.elements()[i]);
    }
    return text + ")";
  }
  int64_t index = 0;
  append(literal, 0, &index, &text);
  return text;
}

}  // namespace ncc::hlo
