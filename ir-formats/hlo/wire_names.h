// Names that the wire numbers and the HLO text spells out: dot algorithms, padding kinds, custom-call
// schedules and API versions. Row position = wire number. Source: spec/hlo-proto.md §13.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ncc::hlo {

inline constexpr std::array<std::string_view, 14> kAlgorithmNames = {"unset",
                                                                     "dot_any_f8_any_f8_f32",
                                                                     "dot_any_f8_any_f8_f32_fast_accum",
                                                                     "dot_f16_f16_f16",
                                                                     "dot_f16_f16_f32",
                                                                     "dot_bf16_bf16_bf16",
                                                                     "dot_bf16_bf16_f32",
                                                                     "dot_bf16_bf16_f32_x3",
                                                                     "dot_bf16_bf16_f32_x6",
                                                                     "dot_tf32_tf32_f32",
                                                                     "dot_tf32_tf32_f32_x3",
                                                                     "dot_f32_f32_f32",
                                                                     "dot_f64_f64_f64",
                                                                     "dot_bf16_bf16_f32_x9"};
inline constexpr std::array<std::string_view, 3> kPaddingTypeNames = {"PADDING_INVALID", "PADDING_VALID",
                                                                      "PADDING_SAME"};
inline constexpr std::array<std::string_view, 4> kConvKindNames = {"unset", "fprop", "dgrad", "wgrad"};
inline constexpr std::array<std::string_view, 3> kScheduleNames = {"SCHEDULE_NONE", "SCHEDULE_LATEST",
                                                                   "SCHEDULE_EARLIEST"};
inline constexpr std::array<std::string_view, 5> kApiVersionNames = {
    "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
/// What text without a version means; the module keeps it as 0, as it does the version that a proto leaves
/// out.
inline constexpr int kOriginalApiVersion = 1;
inline int64_t api_version_from_wire(int64_t version) { return version == kOriginalApiVersion ? 0 : version; }

/// Position of `name` in a table, or nothing.
template <size_t N>
std::optional<int64_t> index_of(const std::array<std::string_view, N>& names, std::string_view name) {
  for (size_t i = 0; i < N; ++i) {
    if (!name.empty() && names[i] == name) return static_cast<int64_t>(i);
  }
  return std::nullopt;
}

/// The enumerator of E whose `name()` is `text`, trying count values from 0.
template <class E>
std::optional<E> enum_from_name(std::string_view text, int count) {
  for (int i = 0; i < count; ++i) {
    if (name(static_cast<E>(i)) == text) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace ncc::hlo
