// Binary HloModuleProto. Computations are numbered from 1, callees first; instruction ids are positive and
// unique in the module, operands first: what readers of every age accept. Source: spec/hlo-proto.md §6.
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/unknown_field_set.h>
#include <climits>

#include <unordered_map>

#include "ir-formats/hlo/proto_attributes.h"
#include "ir-formats/hlo/proto_values.h"
#include "ir-formats/hlo/rewrite.h"
#include "ir-formats/hlo/unique_names.h"
#include "ir-formats/hlo/wire_names.h"
#include "ir-formats/hlo/write.h"

namespace ncc::hlo {
namespace {

using Ids = std::unordered_map<const Instruction*, int64_t>;

void write_location(const Instruction& inst, const WriteOptions& options, wire::HloInstructionProto* proto) {
  const SourceLoc loc = stated_location(inst, options.text_lines);
  if (loc.empty() && !inst.loc_details) return;
  wire::OpMetadata* metadata = proto->mutable_metadata();
  metadata->set_op_name(loc.op_name);
  metadata->set_source_file(loc.file);
  metadata->set_source_line(loc.line);
  if (!inst.loc_details) return;
  const LocationDetails& details = *inst.loc_details;
  metadata->set_op_type(details.op_type);
  metadata->set_deduplicated_name(details.deduplicated_name);
  metadata->set_scheduling_name(details.scheduling_name);
  metadata->set_source_end_line(details.end_line);
  metadata->set_source_column(details.column);
  metadata->set_source_end_column(details.end_column);
  metadata->set_stack_frame_id(details.stack_frame);
  if (!details.unknown_fields.empty())
    metadata->GetReflection()->MutableUnknownFields(metadata)->ParseFromString(details.unknown_fields);
}

void write_instruction(const Instruction& inst, const Ids& ids,
                       const std::unordered_map<const Computation*, int64_t>& computations,
                       const WriteOptions& options, wire::HloInstructionProto* proto) {
  proto->set_name(inst.name);
  const bool carried = inst.info().origin != OpOrigin::Hlo;
  proto->set_opcode(std::string(carried ? "custom-call" : inst.info().hlo));
  shape_to_wire(inst.shape, proto->mutable_shape());
  write_location(inst, options, proto);
  attributes_to_wire(inst, proto);
  if (carried) {
    proto->set_custom_call_target(std::string(inst.info().mlir));
    proto->set_custom_call_api_version(kOriginalApiVersion);
  }
  if (inst.literal.is_valid()) {
    // XLA compares the literal's shape with one that has the order of dimensions alone.
    Shape shape = inst.is(Opcode::Constant) ? inst.shape : inst.literal.shape();
    shape.layout_extras.reset();
    literal_to_wire(inst.literal, shape, proto->mutable_literal());
  }
  proto->set_id(ids.at(&inst));
  for (const Instruction* operand : inst.operands) proto->add_operand_ids(ids.at(operand));
  for (const Instruction* before : inst.control_predecessors)
    proto->add_control_predecessor_ids(ids.at(before));
  for (const Computation* callee : inst.called) proto->add_called_computation_ids(computations.at(callee));
}

// XLA wants a name for each parameter.
void write_program_shape(const Computation& computation, const std::vector<Shape>& parameters,
                         const Shape& result, wire::ProgramShapeProto* proto) {
  for (const Shape& parameter : parameters) shape_to_wire(parameter, proto->add_parameters());
  for (const Instruction* parameter : computation.parameters()) proto->add_parameter_names(parameter->name);
  shape_to_wire(result, proto->mutable_result());
}

void write_entry(const Module& module, wire::HloModuleProto* proto) {
  const auto [parameters, result] = module.program_shape();
  write_program_shape(*module.entry(), parameters, result, proto->mutable_host_program_shape());
}

void write_stack_frames(const StackFrames& frames, wire::HloModuleProto* proto) {
  if (frames == StackFrames{}) return;
  wire::StackFrameIndexProto* index = proto->mutable_stack_frame_index();
  for (const std::string& file : frames.files) index->add_file_names(file);
  for (const std::string& function : frames.functions) index->add_function_names(function);
  for (const StackFrames::Place& place : frames.places) {
    auto* out = index->add_file_locations();
    out->set_file_name_id(place.file);
    out->set_function_name_id(place.function);
    out->set_line(place.line);
    out->set_column(place.column);
    out->set_end_line(place.end_line);
    out->set_end_column(place.end_column);
  }
  for (const StackFrames::Frame& frame : frames.frames) {
    auto* out = index->add_stack_frames();
    out->set_file_location_id(frame.place);
    out->set_parent_frame_id(frame.parent);
  }
}

// Devices are numbered row by row, a row of partitions per replica. XLA wants the list of them, which a file
// that only claims many is not given.
void write_device_assignment(const Module& module, wire::DeviceAssignmentProto* proto) {
  constexpr int64_t kMostDevices = 1 << 16;
  const int64_t replicas = module.replica_count, partitions = module.num_partitions;
  proto->set_replica_count(static_cast<int32_t>(replicas));
  proto->set_computation_count(static_cast<int32_t>(partitions));
  if (replicas < 1 || partitions < 1 || replicas > kMostDevices / partitions) return;
  for (int64_t partition = 0; partition < partitions; ++partition) {
    auto* devices = proto->add_computation_devices();
    for (int64_t replica = 0; replica < replicas; ++replica)
      devices->add_replica_device_ids(replica * partitions + partition);
  }
}

void write_module_facts(const Module& module, wire::HloModuleProto* proto) {
  for (const InputOutputAlias& alias : module.aliases) {
    auto* entry = proto->mutable_input_output_alias()->add_entries();
    for (int64_t i : alias.output_index) entry->add_output_shape_index(i);
    entry->set_parameter_number(alias.parameter);
    for (int64_t i : alias.parameter_index) entry->add_parameter_shape_index(i);
    entry->set_kind(alias.must_alias ? 2 : 1);
  }
  for (const BufferDonor& donor : module.donors) {
    auto* entry = proto->mutable_buffer_donor()->add_entries();
    entry->set_parameter_number(donor.parameter);
    for (int64_t i : donor.parameter_index) entry->add_parameter_shape_index(i);
  }
  const auto add_entry = [proto](std::string key, const std::string& value) {
    auto* entry = proto->mutable_frontend_attributes()->add_map();
    entry->set_key(std::move(key));
    entry->set_value(value);
  };
  for (const auto& [key, value] : module.frontend_attributes) add_entry(key, value);
  for (size_t i = 0; i < module.result_names.size(); ++i)
    add_entry(fmt::format("{}{}", kResultNamePrefix, i), module.result_names[i]);
  proto->set_is_dynamic(module.is_dynamic);
  if (module.replica_count != 1 || module.num_partitions != 1)
    write_device_assignment(module, proto->mutable_device_assignment());
}

// Rough size of the constants: protobuf cannot hold more than 2 GiB in one message.
int64_t constant_bytes(const Module& module) {
  int64_t bytes = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& inst : computation->instructions())
      bytes += inst->literal.is_valid() ? inst->shape.size_bytes() : 0;
  }
  return bytes;
}

// Element types that the wire has no number for cannot be written.
Status check_writable(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& inst : computation->instructions()) {
      if (inst->shape.is_array() && inst->shape.dtype == Dtype::F32R)
        return error(Code::EVRF002, inst->loc, "f32r", fmt::format("{} in an HLO file", describe(*inst)));
    }
  }
  return Status::ok();
}

}  // namespace

Result<std::string> write_hlo_proto(const Module& module, const WriteOptions& options) {
  NCC_TRY(check_writable(module));
  if (constant_bytes(module) > INT_MAX)
    return error(Code::EVRF003, "constants of more than 2 GiB do not fit an HLO file");
  wire::HloModuleProto proto;
  proto.set_name(module.name());
  proto.set_id(1);
  std::unordered_map<const Computation*, int64_t> computations;
  Ids ids;
  const std::vector<Computation*> order = module.post_order();
  const auto renamed = unique_names(module);
  for (const Computation* computation : order) {
    computations.emplace(computation, static_cast<int64_t>(computations.size()) + 1);
    for (const Instruction* inst : computation->post_order())
      ids.emplace(inst, static_cast<int64_t>(ids.size()) + 1);
  }
  for (const Computation* computation : order) {
    wire::HloComputationProto* out = proto.add_computations();
    out->set_name(computation->name());
    out->set_id(computations.at(computation));
    out->set_root_id(ids.at(computation->root()));
    out->set_is_fusion_computation(computation->is_fusion);
    out->set_execution_thread(computation->execution_thread);
    std::vector<Shape> parameters;
    for (const Instruction* parameter : computation->parameters()) parameters.push_back(parameter->shape);
    write_program_shape(*computation, parameters, computation->root()->shape, out->mutable_program_shape());
    for (const Instruction* inst : computation->post_order()) {
      wire::HloInstructionProto* written = out->add_instructions();
      write_instruction(*inst, ids, computations, options, written);
      if (const auto name = renamed.find(inst); name != renamed.end()) written->set_name(name->second);
      if (module.is_scheduled)
        (*proto.mutable_schedule()->mutable_sequences())[out->id()].add_instruction_ids(ids.at(inst));
    }
  }
  proto.set_entry_computation_name(module.entry()->name());
  proto.set_entry_computation_id(computations.at(module.entry()));
  write_entry(module, &proto);
  write_stack_frames(module.stack_frames, &proto);
  write_module_facts(module, &proto);
  if (!module.unknown_fields.empty())
    proto.GetReflection()->MutableUnknownFields(&proto)->ParseFromString(module.unknown_fields);
  if (proto.ByteSizeLong() > INT_MAX)
    return error(Code::EVRF003, "the module does not fit the 2 GiB of an HLO file");
  // Maps are written in the order of their keys: the same module gives the same bytes.
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);
  proto.SerializeToCodedStream(&out);
  out.Trim();
  return bytes;
}

}  // namespace ncc::hlo
