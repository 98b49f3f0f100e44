// The machine description: one constexpr row per generation. Every capacity, clock, rate and capability gate
// is a column here. Source: spec/arch.md (sections in the comments), DESIGN section 14 M3, M6, N3.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace ncc {

struct ArchModel {
  std::string_view name;        // "trn1"; --target spelling
  std::string_view model_name;  // "sunda"; spelling in BIR
  int level;                    // 20, 30
  int generation;               // 2, 3

  // Memories (§2.1)
  int num_partitions = 128;
  int64_t sbuf_bytes_per_partition;
  int psum_banks = 8;
  int64_t psum_bank_bytes = 2048;  // per partition
  int64_t hbm_bytes;               // per core (§2.2)

  // PE limits (§4.3)
  int max_stationary_free = 128;
  int max_moving_free = 512;

  // Clocks, as whole ticks per cycle of a common time base (§4.2, M6)
  int64_t ticks_per_second;                                         // 5.6e9 (trn1), 4.8e9 (trn2)
  int pe_ticks, activation_ticks, dve_ticks, pool_ticks, sp_ticks;  // ticks per cycle of each engine

  // DMA (§5, M3)
  int dma_engines = 16;
  int dma_bytes_per_ns;  // planning rate of one engine: 17, 23
  int64_t dma_start_latency_ns = 1300;
  int dma_overlap_per_ring = 16;
  int64_t dma_min_run_bytes = 512;

  // Semaphores, registers
  int num_semaphores = 256;
  int num_registers = 64;

  // Capability gates (§1)
  bool has_dma_transpose;                // trn2
  bool has_pe_transpose;                 // bit-exact pass-through mode, trn2
  bool has_dve_fast_modes;               // trn2
  bool has_activation_bias_immediate;    // gen3+: bias may be an immediate
  bool pool_int32_sub_div_mod;           // gen3: 0xC6..0xC8 (C5)
  bool shares_pool_dve_port;             // trn1 (M6)
  bool shares_activation_dve_psum_port;  // trn1 (M6)

  /// Peak multiply-accumulate rate of 16-bit operands, FLOP/s: 2 * 128 * 128 * f_PE; fp32 is a quarter (N3).
  double peak_flops_16bit() const {
    return 2.0 * 128 * 128 * static_cast<double>(ticks_per_second) / pe_ticks;
  }
};

/// By --target spelling or any alias of spec/arch.md §1 ("trn1", "inf2", "sunda", "trn2", "cayman", "gen3",
/// …); nullptr when unknown or without code generation.
const ArchModel* find_arch(std::string_view name);

}  // namespace ncc
