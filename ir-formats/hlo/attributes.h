// Attributes of HLO instructions beyond `dimensions`, `index` and the comparison fields, which live in the
// instruction itself. One struct covers every op; the head comment of each group names its ops. Source:
// spec/hlo-proto.md §5, §10.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir-formats/hlo/shape.h"

namespace ncc::hlo {

enum class CompareDirection : uint8_t { EQ, NE, GE, GT, LE, LT };
/// Default means: FLOAT for float and complex, SIGNED for s*, UNSIGNED for u* and pred.
enum class CompareType : uint8_t { Default, Float, TotalOrder, Signed, Unsigned };
enum class Precision : uint8_t { Default, High, Highest };
enum class FftType : uint8_t { Fft, Ifft, Rfft, Irfft };
enum class RngDistribution : uint8_t { Invalid, Uniform, Normal };
enum class RngAlgorithm : uint8_t { Default, ThreeFry, Philox };
enum class TransposeKind : uint8_t { Invalid, NoTranspose, Transpose, Adjoint };

struct PaddingDim {
  int64_t low = 0, high = 0, interior = 0;  // low and high may be negative
  bool operator==(const PaddingDim&) const = default;
};

struct WindowDim {
  int64_t size = 1, stride = 1, padding_low = 0, padding_high = 0;
  int64_t window_dilation = 1;  // rhs dilation: distance of the window's taps
  int64_t base_dilation = 1;    // lhs dilation: distance of the input's elements
  bool reversal = false;
  bool operator==(const WindowDim&) const = default;
};
using Window = std::vector<WindowDim>;

struct DotDims {
  std::vector<int64_t> lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
  bool operator==(const DotDims&) const = default;
};

struct ConvDims {
  int64_t input_batch = 0, input_feature = 0;
  int64_t kernel_input_feature = 0, kernel_output_feature = 0;
  int64_t output_batch = 0, output_feature = 0;
  std::vector<int64_t> input_spatial, kernel_spatial, output_spatial;  // entry k goes with window dimension k
  bool operator==(const ConvDims&) const = default;
};

struct GatherDims {
  std::vector<int64_t> offset_dims, collapsed_slice_dims, start_index_map;
  std::vector<int64_t> operand_batching_dims, start_indices_batching_dims;
  int64_t index_vector_dim = 0;
  bool operator==(const GatherDims&) const = default;
};

struct ScatterDims {
  std::vector<int64_t> update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims;
  std::vector<int64_t> input_batching_dims, scatter_indices_batching_dims;
  int64_t index_vector_dim = 0;
  bool operator==(const ScatterDims&) const = default;
};

struct OutputAlias {
  std::vector<int64_t> output_index;  // path of tuple positions
  int64_t operand = 0;
  std::vector<int64_t> operand_index;
  bool operator==(const OutputAlias&) const = default;
};

/// Asked accuracy of a transcendental; `mode` is "", "highest" or "tolerance".
struct ResultAccuracy {
  std::string mode;
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  bool operator==(const ResultAccuracy&) const = default;
};

struct Attributes {
  // slice
  std::vector<int64_t> slice_starts, slice_limits, slice_strides;
  // dynamic-slice, gather (also in-place collective-permute)
  std::vector<int64_t> slice_sizes;
  // pad
  std::vector<PaddingDim> padding;
  // reduce-window, select-and-scatter, convolution, custom-call
  Window window;
  // convolution, custom-call
  std::optional<ConvDims> conv;
  int64_t feature_group_count = 1, batch_group_count = 1;
  int64_t conv_kind = 0;     // wire number: 0 not stated, 1 fprop, 2 dgrad, 3 wgrad
  int64_t padding_type = 0;  // 0 invalid, 1 valid, 2 same
  // dot, scaled-dot, ragged-dot
  DotDims dot;
  std::vector<int64_t> lhs_ragged_dims, rhs_group_dims;
  std::vector<Precision> precision;  // one per operand, or empty
  std::string algorithm;             // text form without "ALG_", lower case: "dot_bf16_bf16_f32"
  std::string einsum_config;
  // gather, scatter
  GatherDims gather;
  ScatterDims scatter;
  bool indices_are_sorted = false, unique_indices = false;
  // sort, topk
  bool is_stable = false;
  int64_t k = 0;
  bool largest = true;
  // reduce-precision
  int64_t exponent_bits = 0, mantissa_bits = 0;
  // batch-norm-*
  float epsilon = 0;
  int64_t feature_index = 0;
  // fft, triangular-solve, cholesky
  FftType fft_type = FftType::Fft;
  std::vector<int64_t> fft_length;
  bool left_side = false, lower = false, unit_diagonal = false;
  TransposeKind transpose_a = TransposeKind::Invalid;
  // rng, rng-bit-generator, rng-get-and-update-state
  RngDistribution rng_distribution = RngDistribution::Invalid;
  RngAlgorithm rng_algorithm = RngAlgorithm::Default;
  int64_t delta = 0;
  // scan
  int64_t num_carries = 0;
  bool is_reverse = false, is_associative = false;
  // reshape of a dynamic shape; -1 = none
  int64_t inferred_dimension = -1;
  // transcendental unary ops
  ResultAccuracy accuracy;
  // custom-call; backend_config belongs to any op (raw bytes, often JSON)
  std::string custom_call_target;
  std::string backend_config;
  bool custom_call_has_side_effect = false;
  int64_t api_version = 0;  // 0 original, else the wire number: 2 status, 3 status unified, 4 typed FFI
  int64_t schedule = 0;     // wire number: 0 none, 1 latest, 2 earliest
  bool constrain_layout = false;
  std::vector<Shape> operand_shapes_with_layout;
  std::vector<OutputAlias> output_aliases;  // also fusion, async-start
  // call, fusion, async-*, copy-start
  bool is_composite = false;
  std::string fusion_kind;             // "kLoop", "kInput", "kOutput", "kCustom"
  std::string async_execution_thread;  // "" = main
  std::optional<int64_t> cross_program_prefetch_index;
  // collectives, send, recv
  int64_t channel_id = 0;  // <= 0: none
  std::vector<std::vector<int64_t>>
      replica_groups;  // iota lists are expanded; empty = one group of everybody
  std::vector<std::pair<int64_t, int64_t>> source_target_pairs;
  bool use_global_device_ids = false, is_host_transfer = false;
  int64_t split_dimension = -1, concat_dimension = -1, split_count = 0;  // all-to-all read from StableHLO
  bool has_dynamic_root = false;
  // infeed, outfeed
  std::string infeed_config, outfeed_config;
  std::optional<Shape> outfeed_shape;
  // parameter: one flag per leaf, or empty
  std::vector<bool> parameter_replication;
  // Any op. Shardings are kept in the HLO text syntax, braces included; "" = none.
  std::string sharding, domain_entry_sharding, domain_exit_sharding;
  std::vector<std::pair<std::string, std::string>> frontend_attributes;  // sorted by key
  // What we do not interpret: named attributes as their source text, and unread proto fields as wire bytes.
  std::vector<std::pair<std::string, std::string>> raw;
  std::string unknown_fields;

  /// The value of a frontend or raw attribute, or nothing.
  std::optional<std::string_view> find(std::string_view key) const;
  bool operator==(const Attributes&) const = default;
};

std::string_view name(CompareDirection direction);    // "EQ"
std::string_view name(CompareType type);              // "", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"
std::string_view name(Precision precision);           // "default", "high", "highest"
std::string_view name(FftType type);                  // "FFT"
std::string_view name(RngDistribution distribution);  // "rng_uniform"
std::string_view name(RngAlgorithm algorithm);        // "rng_three_fry"
std::string_view name(TransposeKind kind);            // "NO_TRANSPOSE"

}  // namespace ncc::hlo
