#include "ir-formats/hlo/attributes.h"

namespace ncc::hlo {
namespace {

constexpr std::string_view kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr std::string_view kCompareTypes[] = {"", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
constexpr std::string_view kPrecisions[] = {"default", "high", "highest"};
constexpr std::string_view kFftTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
constexpr std::string_view kDistributions[] = {"rng_invalid", "rng_uniform", "rng_normal"};
constexpr std::string_view kAlgorithms[] = {"rng_default", "rng_three_fry", "rng_philox"};
constexpr std::string_view kTransposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};

}  // namespace

std::string_view name(CompareDirection direction) { return kDirections[static_cast<size_t>(direction)]; }
std::string_view name(CompareType type) { return kCompareTypes[static_cast<size_t>(type)]; }
std::string_view name(Precision precision) { return kPrecisions[static_cast<size_t>(precision)]; }
std::string_view name(FftType type) { return kFftTypes[static_cast<size_t>(type)]; }
std::string_view name(RngDistribution distribution) {
  return kDistributions[static_cast<size_t>(distribution)];
}
std::string_view name(RngAlgorithm algorithm) { return kAlgorithms[static_cast<size_t>(algorithm)]; }
std::string_view name(TransposeKind kind) { return kTransposes[static_cast<size_t>(kind)]; }

std::optional<std::string_view> Attributes::find(std::string_view key) const {
  for (const auto& [name, value] : frontend_attributes) {
    if (name == key) return value;
  }
  for (const auto& [name, value] : raw) {
    if (name == key) return value;
  }
  return std::nullopt;
}

}  // namespace ncc::hlo
