#include "common/arch/arch.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace ncc {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

// Engine clocks as divisors of the common time base: trn1 5.6 GHz / {2, 4, 5} = {2.8, 1.4, 1.12}; trn2 4.8
// GHz / {2, 4, 5} = {2.4, 1.2, 0.96} (§4.2). PE moves one column per cycle of its 2.8 / 2.4 GHz clock, which
// gives the published 92 / 79 TFLOPS.
constexpr ArchModel kArchitectures[] = {
    {.name = "trn1",
     .model_name = "sunda",
     .level = 20,
     .generation = 2,
     .sbuf_bytes_per_partition = 196608,
     .hbm_bytes = 16 * kGiB,
     .ticks_per_second = 5'600'000'000,
     .pe_ticks = 2,
     .activation_ticks = 4,
     .dve_ticks = 5,
     .pool_ticks = 4,
     .sp_ticks = 4,
     .dma_bytes_per_ns = 17,
     .has_dma_transpose = false,
     .has_pe_transpose = false,
     .has_dve_fast_modes = false,
     .has_activation_bias_immediate = false,
     .pool_int32_sub_div_mod = false,
     .shares_pool_dve_port = true,
     .shares_activation_dve_psum_port = true},
    {.name = "trn2",
     .model_name = "gen3",
     .level = 30,
     .generation = 3,
     .sbuf_bytes_per_partition = 229376,
     .hbm_bytes = 24 * kGiB,
     .ticks_per_second = 4'800'000'000,
     .pe_ticks = 2,
     .activation_ticks = 4,
     .dve_ticks = 5,
     .pool_ticks = 4,
     .sp_ticks = 4,
     .dma_bytes_per_ns = 23,
     .has_dma_transpose = true,
     .has_pe_transpose = true,
     .has_dve_fast_modes = true,
     .has_activation_bias_immediate = true,
     .pool_int32_sub_div_mod = true,
     .shares_pool_dve_port = false,
     .shares_activation_dve_psum_port = false},
};

struct Alias {
  std::string_view alias, name;
};
constexpr Alias kAliases[] = {
    {"sunda", "trn1"}, {"trainium", "trn1"}, {"trn1n", "trn1"}, {"inf2", "trn1"},
    {"gen2", "trn1"},  {"cayman", "trn2"},   {"gen3", "trn2"},  {"trn2n", "trn2"},
};

}  // namespace

const ArchModel* find_arch(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  std::string_view wanted = lower;
  for (const Alias& row : kAliases)
    if (row.alias == wanted) wanted = row.name;
  for (const ArchModel& row : kArchitectures)
    if (row.name == wanted) return &row;
  return nullptr;
}

}  // namespace ncc
