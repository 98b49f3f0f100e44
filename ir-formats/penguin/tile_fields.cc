#include "ir-formats/penguin/tile_fields.h"

#include <bit>
#include <charconv>
#include <type_traits>

namespace ncc::penguin {
namespace {

/// Calls visit(name, member) for every field of bir::Attributes.
template <class A, class Visit>
void visit_fields(A& a, Visit&& visit) {
  visit("op0", a.op0);
  visit("op1", a.op1);
  visit("reduce_op", a.reduce_op);
  visit("reverse0", a.reverse0);
  visit("reverse1", a.reverse1);
  visit("negate", a.negate);
  visit("function", a.function);
  visit("scale", a.scale);
  visit("alpha", a.alpha);
  visit("accumulate", a.accumulate);
  visit("axis", a.axis);
  visit("is_scalar_tensor_tensor", a.is_scalar_tensor_tensor);
  visit("is_tensor_tensor_scan", a.is_tensor_tensor_scan);
  visit("constant", a.constant);
  visit("base", a.base);
  visit("channel_multiplier", a.channel_multiplier);
  visit("pattern_rank", a.pattern_rank);
  visit("pattern", a.pattern);
  visit("compare_op", a.compare_op);
  visit("fill", a.fill);
  visit("accumulation_flag", a.accumulation_flag);
  visit("is_transpose", a.is_transpose);
  visit("perf_mode", a.perf_mode);
  visit("k_axes", a.k_axes);
  visit("group", a.group);
  visit("dma_transpose", a.dma_transpose);
  visit("mask", a.mask);
  visit("table_set", a.table_set);
}

template <class T>
struct IsList : std::false_type {};
template <class T, size_t N>
struct IsList<std::array<T, N>> : std::true_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};

std::string hex(uint32_t bits) { return fmt::format("0x{:x}", bits); }

template <class T>
std::string print(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(isa::name(value));
  } else if constexpr (std::is_same_v<T, float>) {
    return hex(std::bit_cast<uint32_t>(value));
  } else if constexpr (std::is_same_v<T, isa::Dim>) {
    return fmt::format("{}:{}", value.step, value.count);
  } else if constexpr (IsList<T>::value) {
    std::string text;
    for (const auto& entry : value) text += (text.empty() ? "" : "/") + print(entry);
    return text.empty() ? "-" : text;
  } else {
    return fmt::format("{}", static_cast<int64_t>(value));
  }
}

bool parse_int(std::string_view text, int64_t& value) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
  return ec == std::errc() && end == text.data() + text.size();
}

template <class T>
bool parse(std::string_view text, T& value) {
  if constexpr (std::is_enum_v<T>) {
    const std::optional<T> found = isa::from_name<T>(text);
    if (found) value = *found;
    return found.has_value();
  } else if constexpr (std::is_same_v<T, isa::Dim>) {
    const size_t colon = text.find(':');
    return colon != std::string_view::npos && parse_int(text.substr(0, colon), value.step) &&
           parse_int(text.substr(colon + 1), value.count);
  } else if constexpr (IsList<T>::value) {
    size_t count = 0;
    for (; text != "-" && !text.empty(); ++count) {
      const size_t slash = text.find('/');
      if constexpr (requires { value.resize(1); })
        value.resize(count + 1);
      else if (count == value.size())
        return false;
      if (!parse(text.substr(0, slash), value[count])) return false;
      text = slash == std::string_view::npos ? "" : text.substr(slash + 1);
    }
    return true;
  } else {
    int64_t number = 0;
    if (!parse_int(text, number)) return false;
    if constexpr (std::is_same_v<T, float>)
      value = std::bit_cast<float>(static_cast<uint32_t>(number));
    else
      value = static_cast<T>(number);
    return true;
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> to_fields(const bir::Attributes& attributes) {
  static const bir::Attributes kDefaults;
  std::vector<std::string> defaults;
  visit_fields(kDefaults, [&](const char*, const auto& value) { defaults.push_back(print(value)); });
  std::vector<std::pair<std::string, std::string>> fields;
  size_t position = 0;
  visit_fields(attributes, [&](const char* key, const auto& value) {
    std::string text = print(value);
    if (text != defaults[position++]) fields.emplace_back(key, std::move(text));
  });
  return fields;
}

Status set_field(bir::Attributes& attributes, std::string_view key, std::string_view value) {
  bool known = false, well_formed = true;
  visit_fields(attributes, [&](const char* name, auto& member) {
    if (key != name) return;
    known = true;
    well_formed = parse(value, member);
  });
  if (!known) return error(Code::EPEN001, fmt::format("unknown attribute '{}'", key));
  if (!well_formed) return error(Code::EPEN001, fmt::format("bad value '{}' of attribute '{}'", value, key));
  return Status::ok();
}

}  // namespace ncc::penguin
