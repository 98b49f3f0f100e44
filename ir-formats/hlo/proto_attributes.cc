#include "ir-formats/hlo/proto_attributes.h"

#include <google/protobuf/unknown_field_set.h>

#include <algorithm>

#include "ir-formats/hlo/device_groups.h"
#include "ir-formats/hlo/proto_sharding.h"
#include "ir-formats/hlo/proto_values.h"
#include "ir-formats/hlo/rewrite.h"
#include "ir-formats/hlo/wire_names.h"

namespace ncc::hlo {
namespace {

template <class Repeated>
std::vector<int64_t> list(const Repeated& field) {
  return {field.begin(), field.end()};
}
template <class Repeated>
void set_list(const std::vector<int64_t>& values, Repeated* field) {
  for (int64_t value : values) field->Add(static_cast<typename Repeated::value_type>(value));
}

Status bad(const Instruction& inst, std::string_view what, int64_t value) {
  return error(Code::EVRF003, inst.loc, fmt::format("{} has the unknown {} {}", describe(inst), what, value));
}

// Numbers outside the enum are refused: the value would change what the op means.
template <class E>
Status set_enum(const Instruction& inst, std::string_view what, int64_t value, E last, E* out) {
  if (value < 0 || value > static_cast<int64_t>(last)) return bad(inst, what, value);
  *out = static_cast<E>(value);
  return Status::ok();
}

// is_associative has a third value, 0: not stated.
enum { kAssociative = 1, kNotAssociative = 2 };

int64_t one_if_zero(int64_t value) { return value == 0 ? 1 : value; }

void window_from_wire(const wire::Window& proto, Window* window) {
  for (const wire::WindowDimension& d : proto.dimensions())
    window->push_back({d.size(), one_if_zero(d.stride()), d.padding_low(), d.padding_high(),
                       one_if_zero(d.window_dilation()), one_if_zero(d.base_dilation()),
                       d.window_reversal()});
}

ConvDims conv_from_wire(const wire::ConvolutionDimensionNumbers& p) {
  return {p.input_batch_dimension(),          p.input_feature_dimension(),
          p.kernel_input_feature_dimension(), p.kernel_output_feature_dimension(),
          p.output_batch_dimension(),         p.output_feature_dimension(),
          list(p.input_spatial_dimensions()), list(p.kernel_spatial_dimensions()),
          list(p.output_spatial_dimensions())};
}

DotDims dot_from_wire(const wire::DotDimensionNumbers& p) {
  return {list(p.lhs_contracting_dimensions()), list(p.rhs_contracting_dimensions()),
          list(p.lhs_batch_dimensions()), list(p.rhs_batch_dimensions())};
}

void indexing_from_wire(const wire::HloInstructionProto& p, Attributes* a) {
  for (const auto& d : p.slice_dimensions()) {
    a->slice_starts.push_back(d.start());
    a->slice_limits.push_back(d.limit());
    a->slice_strides.push_back(one_if_zero(d.stride()));
  }
  a->slice_sizes = list(p.dynamic_slice_sizes());
  if (p.gather_slice_sizes_size() != 0) a->slice_sizes = list(p.gather_slice_sizes());
  for (const auto& d : p.padding_config().dimensions())
    a->padding.push_back({d.edge_padding_low(), d.edge_padding_high(), d.interior_padding()});
  if (p.has_gather_dimension_numbers()) {
    const auto& g = p.gather_dimension_numbers();
    a->gather = {
        list(g.offset_dims()),           list(g.collapsed_slice_dims()),        list(g.start_index_map()),
        list(g.operand_batching_dims()), list(g.start_indices_batching_dims()), g.index_vector_dim()};
  }
  if (p.has_scatter_dimension_numbers()) {
    const auto& s = p.scatter_dimension_numbers();
    a->scatter = {list(s.update_window_dims()),
                  list(s.inserted_window_dims()),
                  list(s.scatter_dims_to_operand_dims()),
                  list(s.input_batching_dims()),
                  list(s.scatter_indices_batching_dims()),
                  s.index_vector_dim()};
  }
  a->indices_are_sorted = p.indices_are_sorted();
  a->unique_indices = p.unique_indices();
}

Status contraction_from_wire(const wire::HloInstructionProto& p, const Instruction& inst, Attributes* a) {
  window_from_wire(p.window(), &a->window);
  if (p.has_convolution_dimension_numbers()) a->conv = conv_from_wire(p.convolution_dimension_numbers());
  a->feature_group_count = one_if_zero(p.feature_group_count());
  a->batch_group_count = one_if_zero(p.batch_group_count());
  a->padding_type = p.padding_type();
  if (p.convolution_kind() < 0 || p.convolution_kind() >= static_cast<int>(kConvKindNames.size()))
    return bad(inst, "convolution kind", p.convolution_kind());
  a->conv_kind = p.convolution_kind();
  if (p.has_dot_dimension_numbers()) a->dot = dot_from_wire(p.dot_dimension_numbers());
  if (p.has_ragged_dot_dimension_numbers()) {
    a->dot = dot_from_wire(p.ragged_dot_dimension_numbers().dot_dimension_numbers());
    a->lhs_ragged_dims = list(p.ragged_dot_dimension_numbers().lhs_ragged_dimensions());
    a->rhs_group_dims = list(p.ragged_dot_dimension_numbers().rhs_group_dimensions());
  }
  const auto& asked = p.precision_config().operand_precision();
  // All-default says the same as nothing; keep one form.
  if (std::any_of(asked.begin(), asked.end(), [](int value) { return value != 0; })) {
    for (int value : asked) {
      Precision precision = Precision::Default;
      NCC_TRY(set_enum(inst, "precision", value, Precision::Highest, &precision));
      a->precision.push_back(precision);
    }
  }
  const int64_t algorithm = p.precision_config().algorithm();
  if (algorithm < 0 || algorithm >= static_cast<int64_t>(kAlgorithmNames.size()))
    return bad(inst, "algorithm", algorithm);
  if (algorithm != 0) a->algorithm = kAlgorithmNames[static_cast<size_t>(algorithm)];
  return Status::ok();
}

Status numeric_from_wire(const wire::HloInstructionProto& p, const Instruction& inst, Attributes* a) {
  a->is_reverse = p.is_reverse();
  a->num_carries = p.num_carries();
  a->is_associative = p.is_associative() == kAssociative;
  a->is_stable = p.is_stable();
  a->k = p.k();
  a->largest = inst.is(Opcode::TopK) ? p.largest() : true;
  a->exponent_bits = p.exponent_bits();
  a->mantissa_bits = p.mantissa_bits();
  a->epsilon = p.epsilon();
  a->feature_index = p.feature_index();
  NCC_TRY(set_enum(inst, "fft type", p.fft_type(), FftType::Irfft, &a->fft_type));
  a->fft_length = list(p.fft_length());
  const auto& solve = p.triangular_solve_options();
  a->left_side = solve.left_side();
  a->lower = solve.lower() || p.cholesky_options().lower();
  a->unit_diagonal = solve.unit_diagonal();
  NCC_TRY(set_enum(inst, "transpose kind", solve.transpose_a(), TransposeKind::Adjoint, &a->transpose_a));
  NCC_TRY(set_enum(inst, "distribution", p.distribution(), RngDistribution::Normal, &a->rng_distribution));
  NCC_TRY(set_enum(inst, "rng algorithm", p.rng_algorithm(), RngAlgorithm::Philox, &a->rng_algorithm));
  a->delta = p.delta();
  if (p.result_accuracy().has_tolerance()) {
    const auto& t = p.result_accuracy().tolerance();
    a->accuracy = {"tolerance", t.atol(), t.rtol(), t.ulps()};
  } else if (p.result_accuracy().mode() == 1) {
    a->accuracy.mode = "highest";
  }
  return Status::ok();
}

void call_from_wire(wire::HloInstructionProto* p, Attributes* a) {
  a->custom_call_target = std::move(*p->mutable_custom_call_target());
  a->backend_config = std::move(*p->mutable_backend_config());
  a->custom_call_has_side_effect = p->custom_call_has_side_effect();
  a->api_version = api_version_from_wire(p->custom_call_api_version());
  a->schedule = p->custom_call_schedule();
  a->constrain_layout = p->constrain_layout();
  for (const auto& alias : p->output_operand_aliasing())
    a->output_aliases.push_back(
        {list(alias.output_shape_index()), alias.operand_index(), list(alias.operand_shape_index())});
  a->is_composite = p->is_composite();
  a->fusion_kind = p->fusion_kind();
  if (p->async_execution_thread() != "main") a->async_execution_thread = p->async_execution_thread();
  if (p->optional_cross_program_prefetch_index_case() ==
      wire::HloInstructionProto::kCrossProgramPrefetchIndex) {
    a->cross_program_prefetch_index = p->cross_program_prefetch_index();
  } else if (p->is_cross_program_prefetch()) {
    a->cross_program_prefetch_index = 0;
  }
  a->infeed_config = std::move(*p->mutable_infeed_config());
  a->outfeed_config = std::move(*p->mutable_outfeed_config());
}

Status collective_from_wire(const wire::HloInstructionProto& p, Attributes* a) {
  a->channel_id = p.channel_id() != 0 ? p.channel_id() : p.all_reduce_id();
  const auto& devices = p.collective_device_list();
  const auto& groups = devices.replica_groups_size() != 0 ? devices.replica_groups() : p.replica_groups();
  if (devices.replica_groups_size() == 0 && devices.has_iota_replica_group_list()) {
    const auto& iota = devices.iota_replica_group_list();
    NCC_ASSIGN(a->replica_groups,
               expand_iota_groups(iota.num_replica_groups(), iota.num_devices_per_group(),
                                  list(iota.iota_reshape_dims()), list(iota.iota_transpose_perm())));
  } else {
    for (const auto& group : groups) a->replica_groups.push_back(list(group.replica_ids()));
  }
  for (const auto& pair : p.source_target_pairs())
    a->source_target_pairs.emplace_back(pair.source(), pair.target());
  a->use_global_device_ids = p.use_global_device_ids();
  a->is_host_transfer = p.is_host_transfer();
  return Status::ok();
}

// Fields that never change values and that we do not even keep: statistics (82), original values (88), the
// rolled-back group mode (92); and the sparsity of a dense convolution (98), which is empty.
bool is_ignored_field(const google::protobuf::UnknownField& field) {
  const int number = field.number();
  if (number == 98) return field.type() == field.TYPE_LENGTH_DELIMITED && field.length_delimited().empty();
  return number == 82 || number == 88 || number == 92;
}

Status unknown_from_wire(const wire::HloInstructionProto& p, const Instruction& inst, Attributes* a) {
  const auto& unknown = p.GetReflection()->GetUnknownFields(p);
  if (unknown.empty()) return Status::ok();
  google::protobuf::UnknownFieldSet kept;
  for (int i = 0; i < unknown.field_count(); ++i) {
    if (is_ignored_field(unknown.field(i))) continue;
    if (unknown.field(i).number() == 86) return error(Code::EVRF001, inst.loc, "sparse dot", describe(inst));
    kept.AddField(unknown.field(i));
  }
  kept.SerializeToString(&a->unknown_fields);
  return Status::ok();
}

Status compare_from_wire(const wire::HloInstructionProto& p, Instruction* inst) {
  if (!inst->is(Opcode::Compare)) return Status::ok();
  const auto direction = enum_from_name<CompareDirection>(p.comparison_direction(), 6);
  const auto type = enum_from_name<CompareType>(p.comparison_type(), 5);
  if (!direction)
    return error(Code::EVRF003, inst->loc,
                 fmt::format("{} has the unknown direction '{}'", describe(*inst), p.comparison_direction()));
  if (!type)
    return error(
        Code::EVRF003, inst->loc,
        fmt::format("{} has the unknown comparison type '{}'", describe(*inst), p.comparison_type()));
  inst->direction = *direction;
  inst->compare_type = *type;
  return Status::ok();
}

void map_from_wire(const wire::FrontendAttributes& proto, Attributes* a) {
  for (const auto& entry : proto.map()) a->frontend_attributes.emplace_back(entry.key(), entry.value());
  std::sort(a->frontend_attributes.begin(), a->frontend_attributes.end());
}

}  // namespace

Status attributes_from_wire(wire::HloInstructionProto* proto, Instruction* inst) {
  wire::HloInstructionProto& p = *proto;
  inst->dimensions = list(p.dimensions());
  inst->index = inst->is(Opcode::GetTupleElement) ? p.tuple_index() : p.parameter_number();
  NCC_TRY(compare_from_wire(p, inst));
  Attributes a;
  if (inst->is(Opcode::Reshape) || inst->is(Opcode::DynamicReshape)) {
    if (!inst->dimensions.empty()) a.inferred_dimension = inst->dimensions.front();
    inst->dimensions.clear();
  }
  indexing_from_wire(p, &a);
  NCC_TRY(contraction_from_wire(p, *inst, &a));
  NCC_TRY(numeric_from_wire(p, *inst, &a));
  call_from_wire(proto, &a);
  NCC_TRY(collective_from_wire(p, &a).with_loc(inst->loc));
  for (const auto& shape : p.operand_shapes_with_layout()) {
    NCC_ASSIGN(Shape with_layout, shape_from_wire(shape, describe(*inst)));
    a.operand_shapes_with_layout.push_back(std::move(with_layout));
  }
  if (p.has_outfeed_shape()) {
    NCC_ASSIGN(a.outfeed_shape, shape_from_wire(p.outfeed_shape(), describe(*inst)));
  }
  for (bool flag : p.parameter_replication().replicated_at_leaf_buffers())
    a.parameter_replication.push_back(flag);
  if (p.has_sharding()) a.sharding = sharding_to_text(p.sharding());
  if (p.has_domain_entry_sharding()) a.domain_entry_sharding = sharding_to_text(p.domain_entry_sharding());
  if (p.has_domain_exit_sharding()) a.domain_exit_sharding = sharding_to_text(p.domain_exit_sharding());
  map_from_wire(p.frontend_attributes(), &a);
  NCC_TRY(unknown_from_wire(p, *inst, &a));
  static const Attributes kNone;
  if (!(a == kNone)) inst->mutable_attrs() = std::move(a);
  return Status::ok();
}

namespace {

void window_to_wire(const Window& window, wire::Window* proto) {
  for (const WindowDim& d : window) {
    wire::WindowDimension* out = proto->add_dimensions();
    out->set_size(d.size);
    out->set_stride(d.stride);
    out->set_padding_low(d.padding_low);
    out->set_padding_high(d.padding_high);
    out->set_window_dilation(d.window_dilation);
    out->set_base_dilation(d.base_dilation);
    out->set_window_reversal(d.reversal);
  }
}

void conv_to_wire(const ConvDims& c, wire::ConvolutionDimensionNumbers* p) {
  p->set_input_batch_dimension(c.input_batch);
  p->set_input_feature_dimension(c.input_feature);
  p->set_kernel_input_feature_dimension(c.kernel_input_feature);
  p->set_kernel_output_feature_dimension(c.kernel_output_feature);
  p->set_output_batch_dimension(c.output_batch);
  p->set_output_feature_dimension(c.output_feature);
  set_list(c.input_spatial, p->mutable_input_spatial_dimensions());
  set_list(c.kernel_spatial, p->mutable_kernel_spatial_dimensions());
  set_list(c.output_spatial, p->mutable_output_spatial_dimensions());
}

void dot_to_wire(const DotDims& dot, wire::DotDimensionNumbers* p) {
  set_list(dot.lhs_contracting, p->mutable_lhs_contracting_dimensions());
  set_list(dot.rhs_contracting, p->mutable_rhs_contracting_dimensions());
  set_list(dot.lhs_batch, p->mutable_lhs_batch_dimensions());
  set_list(dot.rhs_batch, p->mutable_rhs_batch_dimensions());
}

void indexing_to_wire(const Instruction& inst, const Attributes& a, wire::HloInstructionProto* p) {
  for (size_t i = 0; i < a.slice_starts.size(); ++i) {
    auto* d = p->add_slice_dimensions();
    d->set_start(a.slice_starts[i]);
    d->set_limit(a.slice_limits[i]);
    d->set_stride(a.slice_strides[i]);
  }
  const bool gather = inst.is(Opcode::Gather);
  set_list(a.slice_sizes, gather ? p->mutable_gather_slice_sizes() : p->mutable_dynamic_slice_sizes());
  for (const PaddingDim& d : a.padding) {
    auto* out = p->mutable_padding_config()->add_dimensions();
    out->set_edge_padding_low(d.low);
    out->set_edge_padding_high(d.high);
    out->set_interior_padding(d.interior);
  }
  if (gather || inst.is(Opcode::DynamicGather)) {
    auto* g = p->mutable_gather_dimension_numbers();
    set_list(a.gather.offset_dims, g->mutable_offset_dims());
    set_list(a.gather.collapsed_slice_dims, g->mutable_collapsed_slice_dims());
    set_list(a.gather.start_index_map, g->mutable_start_index_map());
    set_list(a.gather.operand_batching_dims, g->mutable_operand_batching_dims());
    set_list(a.gather.start_indices_batching_dims, g->mutable_start_indices_batching_dims());
    g->set_index_vector_dim(a.gather.index_vector_dim);
  }
  if (inst.is(Opcode::Scatter)) {
    auto* s = p->mutable_scatter_dimension_numbers();
    set_list(a.scatter.update_window_dims, s->mutable_update_window_dims());
    set_list(a.scatter.inserted_window_dims, s->mutable_inserted_window_dims());
    set_list(a.scatter.scatter_dims_to_operand_dims, s->mutable_scatter_dims_to_operand_dims());
    set_list(a.scatter.input_batching_dims, s->mutable_input_batching_dims());
    set_list(a.scatter.scatter_indices_batching_dims, s->mutable_scatter_indices_batching_dims());
    s->set_index_vector_dim(a.scatter.index_vector_dim);
  }
  p->set_indices_are_sorted(a.indices_are_sorted);
  p->set_unique_indices(a.unique_indices);
}

void contraction_to_wire(const Instruction& inst, const Attributes& a, wire::HloInstructionProto* p) {
  const bool windowed = inst.is(Opcode::Convolution) || inst.info().kind == OpKind::Window;
  if (!a.window.empty() || windowed) window_to_wire(a.window, p->mutable_window());
  if (a.conv) {
    conv_to_wire(*a.conv, p->mutable_convolution_dimension_numbers());
    p->set_feature_group_count(a.feature_group_count);
    p->set_batch_group_count(a.batch_group_count);
  }
  p->set_padding_type(static_cast<int>(a.padding_type));
  p->set_convolution_kind(static_cast<int>(a.conv_kind));
  if (inst.is(Opcode::RaggedDot)) {
    auto* ragged = p->mutable_ragged_dot_dimension_numbers();
    dot_to_wire(a.dot, ragged->mutable_dot_dimension_numbers());
    set_list(a.lhs_ragged_dims, ragged->mutable_lhs_ragged_dimensions());
    set_list(a.rhs_group_dims, ragged->mutable_rhs_group_dimensions());
  } else if (inst.is(Opcode::Dot) || inst.is(Opcode::ScaledDot)) {
    dot_to_wire(a.dot, p->mutable_dot_dimension_numbers());
  }
  for (Precision precision : a.precision)
    p->mutable_precision_config()->add_operand_precision(static_cast<int>(precision));
  if (const auto algorithm = index_of(kAlgorithmNames, a.algorithm))
    p->mutable_precision_config()->set_algorithm(static_cast<int>(*algorithm));
}

void numeric_to_wire(const Instruction& inst, const Attributes& a, wire::HloInstructionProto* p) {
  if (inst.is(Opcode::Scan)) {
    p->set_is_reverse(a.is_reverse);
    p->set_num_carries(a.num_carries);
    p->set_is_associative(a.is_associative ? kAssociative : kNotAssociative);
  }
  p->set_is_stable(a.is_stable);
  p->set_k(a.k);
  if (inst.is(Opcode::TopK)) p->set_largest(a.largest);
  p->set_exponent_bits(static_cast<int32_t>(a.exponent_bits));
  p->set_mantissa_bits(static_cast<int32_t>(a.mantissa_bits));
  p->set_epsilon(a.epsilon);
  p->set_feature_index(a.feature_index);
  p->set_fft_type(static_cast<int>(a.fft_type));
  set_list(a.fft_length, p->mutable_fft_length());
  if (inst.is(Opcode::TriangularSolve)) {
    auto* solve = p->mutable_triangular_solve_options();
    solve->set_left_side(a.left_side);
    solve->set_lower(a.lower);
    solve->set_unit_diagonal(a.unit_diagonal);
    solve->set_transpose_a(static_cast<int>(a.transpose_a));
  }
  if (inst.is(Opcode::Cholesky)) p->mutable_cholesky_options()->set_lower(a.lower);
  p->set_distribution(static_cast<int>(a.rng_distribution));
  p->set_rng_algorithm(static_cast<int>(a.rng_algorithm));
  p->set_delta(a.delta);
  if (a.accuracy.mode == "tolerance") {
    auto* t = p->mutable_result_accuracy()->mutable_tolerance();
    t->set_atol(a.accuracy.atol);
    t->set_rtol(a.accuracy.rtol);
    t->set_ulps(a.accuracy.ulps);
  } else if (a.accuracy.mode == "highest") {
    p->mutable_result_accuracy()->set_mode(1);
  }
}

void call_to_wire(const Attributes& a, wire::HloInstructionProto* p) {
  p->set_custom_call_target(a.custom_call_target);
  p->set_backend_config(a.backend_config);
  p->set_custom_call_has_side_effect(a.custom_call_has_side_effect);
  const bool is_call = !a.custom_call_target.empty();
  p->set_custom_call_api_version(is_call && a.api_version == 0 ? kOriginalApiVersion
                                                               : static_cast<int>(a.api_version));
  p->set_custom_call_schedule(static_cast<int>(a.schedule));
  p->set_constrain_layout(a.constrain_layout);
  for (const Shape& shape : a.operand_shapes_with_layout)
    shape_to_wire(shape, p->add_operand_shapes_with_layout());
  for (const OutputAlias& alias : a.output_aliases) {
    auto* out = p->add_output_operand_aliasing();
    set_list(alias.output_index, out->mutable_output_shape_index());
    out->set_operand_index(alias.operand);
    set_list(alias.operand_index, out->mutable_operand_shape_index());
  }
  p->set_is_composite(a.is_composite);
  p->set_fusion_kind(a.fusion_kind);
  p->set_async_execution_thread(a.async_execution_thread);
  if (a.cross_program_prefetch_index)
    p->set_cross_program_prefetch_index(static_cast<int32_t>(*a.cross_program_prefetch_index));
  p->set_infeed_config(a.infeed_config);
  p->set_outfeed_config(a.outfeed_config);
  if (a.outfeed_shape) shape_to_wire(*a.outfeed_shape, p->mutable_outfeed_shape());
}

void collective_to_wire(const Attributes& a, wire::HloInstructionProto* p) {
  p->set_channel_id(a.channel_id);
  // Both the old field and the new one: readers of either age understand it.
  for (const auto& group : a.replica_groups) {
    set_list(group, p->add_replica_groups()->mutable_replica_ids());
    set_list(group, p->mutable_collective_device_list()->add_replica_groups()->mutable_replica_ids());
  }
  for (const auto& [source, target] : a.source_target_pairs) {
    auto* pair = p->add_source_target_pairs();
    pair->set_source(source);
    pair->set_target(target);
  }
  p->set_use_global_device_ids(a.use_global_device_ids);
  p->set_is_host_transfer(a.is_host_transfer);
  for (bool flag : a.parameter_replication)
    p->mutable_parameter_replication()->add_replicated_at_leaf_buffers(flag);
}

// False when the text cannot be said on the wire; it then travels as a carried attribute.
bool set_sharding(const std::string& text, wire::HloInstructionProto* p,
                  wire::OpSharding* (wire::HloInstructionProto::*field)()) {
  wire::OpSharding sharding;
  if (text.empty()) return true;
  if (!sharding_from_text(text, &sharding)) return false;
  *(p->*field)() = std::move(sharding);
  return true;
}

}  // namespace

void attributes_to_wire(const Instruction& inst, wire::HloInstructionProto* p) {
  set_list(inst.dimensions, p->mutable_dimensions());
  if (inst.is(Opcode::GetTupleElement)) p->set_tuple_index(inst.index);
  if (inst.is(Opcode::Parameter)) p->set_parameter_number(inst.index);
  if (inst.is(Opcode::Compare)) {
    p->set_comparison_direction(std::string(name(inst.direction)));
    p->set_comparison_type(std::string(name(inst.compare_type)));
  }
  const Attributes& a = inst.attrs();
  if (a.inferred_dimension >= 0) p->add_dimensions(a.inferred_dimension);
  indexing_to_wire(inst, a, p);
  contraction_to_wire(inst, a, p);
  numeric_to_wire(inst, a, p);
  call_to_wire(a, p);
  collective_to_wire(a, p);
  const bool sharded = set_sharding(a.sharding, p, &wire::HloInstructionProto::mutable_sharding);
  set_sharding(a.domain_entry_sharding, p, &wire::HloInstructionProto::mutable_domain_entry_sharding);
  set_sharding(a.domain_exit_sharding, p, &wire::HloInstructionProto::mutable_domain_exit_sharding);
  const auto add_entry = [p](std::string key, const std::string& value) {
    auto* entry = p->mutable_frontend_attributes()->add_map();
    entry->set_key(std::move(key));
    entry->set_value(value);
  };
  for (const auto& [key, value] : a.frontend_attributes) add_entry(key, value);
  for (const auto& [key, value] : carried_attributes(inst)) add_entry(key, value);
  if (!sharded) add_entry(std::string(kRawPrefix) + "sharding", a.sharding);
  if (!a.unknown_fields.empty())
    p->GetReflection()->MutableUnknownFields(p)->MergeFromCodedStream(
        std::make_unique<google::protobuf::io::CodedInputStream>(
            reinterpret_cast<const uint8_t*>(a.unknown_fields.data()),
            static_cast<int>(a.unknown_fields.size()))
            .get());
}

}  // namespace ncc::hlo
