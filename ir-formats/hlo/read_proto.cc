// Binary HLO protos. Ids are opaque 64-bit numbers, resolved per computation; nothing relies on the order of
// the file. Source: spec/hlo-proto.md §2-§6, §14.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/unknown_field_set.h>

#include <unordered_map>

#include "ir-formats/hlo/proto_attributes.h"
#include "ir-formats/hlo/proto_payloads.h"
#include "ir-formats/hlo/proto_values.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/rewrite.h"
#include "ir-formats/hlo/structure.h"

namespace ncc::hlo {
namespace {

class ProtoReader {
 public:
  ProtoReader(wire::HloModuleProto* proto, const SlimModule& slim) : proto_(*proto), slim_(slim) {}

  Result<std::unique_ptr<Module>> read() {
    module_ = std::make_unique<Module>(proto_.name());
    read_stack_frames();
    NCC_TRY(index_computations());
    for (int i = 0; i < proto_.computations_size(); ++i) NCC_TRY(read_computation(i));
    const auto entry = computations_.find(proto_.entry_computation_id());
    if (entry == computations_.end())
      return error(Code::EVRF003, fmt::format("there is no computation with the entry id {}",
                                              proto_.entry_computation_id()));
    module_->set_entry(entry->second);
    NCC_TRY(read_module_facts());
    NCC_TRY(apply_schedule());
    NCC_TRY(finish_module(module_.get()));
    return std::move(module_);
  }

 private:
  Status index_computations() {
    for (const auto& computation : proto_.computations()) {
      if (computation.id() == -1)
        return error(Code::EVRF003, fmt::format("computation {} has no id", computation.name()));
      Computation* made = module_->add_computation(computation.name());
      if (!computations_.emplace(computation.id(), made).second)
        return error(Code::EVRF003, fmt::format("two computations have the id {}", computation.id()));
      if (computation.execution_thread() != "main") made->execution_thread = computation.execution_thread();
      made->is_fusion = computation.is_fusion_computation();
    }
    return Status::ok();
  }

  Status read_computation(int position) {
    wire::HloComputationProto& proto = *proto_.mutable_computations(position);
    Computation* computation = computations_.at(proto.id());
    std::unordered_map<int64_t, Instruction*> by_id;
    std::vector<Instruction*> made;
    for (int i = 0; i < proto.instructions_size(); ++i) {
      wire::HloInstructionProto& inst = *proto.mutable_instructions(i);
      Result<Instruction*> read = read_instruction(&inst, computation);
      if (!read.is_ok()) return at_byte(read.status(), position, i);
      Instruction* created = read.value();
      if (!by_id.emplace(inst.id(), created).second)
        return error(Code::EVRF003, fmt::format("two instructions of computation {} have the id {}",
                                                proto.name(), inst.id()));
      made.push_back(created);
    }
    for (int i = 0; i < proto.instructions_size(); ++i) {
      const Status status = resolve(proto.instructions(i), by_id, made[static_cast<size_t>(i)]);
      if (!status.is_ok()) return at_byte(status, position, i);
    }
    const auto root = by_id.find(proto.root_id());
    if (root == by_id.end())
      return error(Code::EVRF003, fmt::format("computation {} has no instruction with the root id {}",
                                              proto.name(), proto.root_id()));
    computation->set_root(root->second);
    for (Instruction* inst : made) NCC_TRY(split_index_operand(inst));
    instructions_.emplace(computation, std::move(by_id));
    return Status::ok();
  }

  // Says where in the file the instruction stands.
  Status at_byte(const Status& status, int computation, int instruction) const {
    const auto offset = slim_.offsets.find({computation, instruction});
    if (offset == slim_.offsets.end()) return status;
    Diagnostic diagnostic = status.diagnostic();
    diagnostic.cause += fmt::format(" (instruction at byte {})", offset->second);
    return Status(std::move(diagnostic));
  }

  Result<Instruction*> read_instruction(wire::HloInstructionProto* proto, Computation* computation) {
    const SourceLoc loc = location(proto->metadata());
    std::optional<Opcode> opcode = opcode_from_hlo(proto->opcode());
    CompareDirection direction = CompareDirection::EQ;
    if (legacy_compare(proto->opcode(), &direction)) {
      opcode = Opcode::Compare;
      proto->set_comparison_direction(std::string(name(direction)));
    }
    if (!opcode)
      return error(Code::EVRF001, loc, proto->opcode(),
                   fmt::format("instruction {} of computation {}", proto->name(), computation->name()));
    const std::string what = fmt::format("%{} = {}", proto->name(), proto->opcode());
    Result<Shape> shape = shape_from_wire(proto->shape(), what);
    if (!shape.is_ok()) return shape.status().with_loc(loc);
    Instruction* inst = computation->add(*opcode, shape.take(), {}, proto->name());
    inst->loc = loc;
    inst->loc_details = details(proto->metadata());
    NCC_TRY(attributes_from_wire(proto, inst).with_loc(loc));
    if (proto->has_literal()) {
      Result<Literal> literal = literal_from_wire(proto->mutable_literal(), what, slim_);
      if (!literal.is_ok()) return literal.status().with_loc(loc);
      inst->literal = literal.take();
    }
    restore_opcode(inst);
    return inst;
  }

  Status resolve(const wire::HloInstructionProto& proto,
                 const std::unordered_map<int64_t, Instruction*>& by_id, Instruction* inst) {
    const auto unknown = [&](std::string_view role, int64_t id) {
      return error(Code::EVRF003, inst->loc,
                   fmt::format("{}: {} {} does not exist", describe(*inst), role, id));
    };
    for (int64_t id : proto.operand_ids()) {
      const auto found = by_id.find(id);
      if (found == by_id.end()) return unknown("operand id", id);
      inst->operands.push_back(found->second);
    }
    for (int64_t id : proto.control_predecessor_ids()) {
      const auto found = by_id.find(id);
      if (found == by_id.end()) return unknown("control predecessor id", id);
      inst->control_predecessors.push_back(found->second);
    }
    for (int64_t id : proto.called_computation_ids()) {
      const auto found = computations_.find(id);
      if (found == computations_.end()) return unknown("called computation id", id);
      inst->called.push_back(found->second);
    }
    return Status::ok();
  }

  SourceLoc location(const wire::OpMetadata& metadata) const {
    SourceLoc loc{metadata.op_name(), metadata.source_file(), metadata.source_line()};
    if (loc.op_name.empty()) loc.op_name = metadata.op_type();
    if (!loc.file.empty()) return loc;
    SourceLoc frame = module_->stack_frames.location(metadata.stack_frame_id());
    frame.op_name = std::move(loc.op_name);
    return frame;
  }

  static std::shared_ptr<const LocationDetails> details(const wire::OpMetadata& metadata) {
    LocationDetails made{metadata.op_type(),         metadata.deduplicated_name(),
                         metadata.scheduling_name(), metadata.source_end_line(),
                         metadata.source_column(),   metadata.source_end_column(),
                         metadata.stack_frame_id(),  ""};
    metadata.GetReflection()->GetUnknownFields(metadata).SerializeToString(&made.unknown_fields);
    return share_details(std::move(made));
  }

  void read_stack_frames() {
    const wire::StackFrameIndexProto& index = proto_.stack_frame_index();
    StackFrames& frames = module_->stack_frames;
    frames.files.assign(index.file_names().begin(), index.file_names().end());
    frames.functions.assign(index.function_names().begin(), index.function_names().end());
    // All of them count from 1; what is no such number means "unknown", as 0 does.
    const auto known = [](int32_t number) { return number > 0 && number < INT32_MAX ? number : 0; };
    for (const auto& place : index.file_locations())
      frames.places.push_back({known(place.file_name_id()), known(place.function_name_id()),
                               known(place.line()), known(place.column()), known(place.end_line()),
                               known(place.end_column())});
    for (const auto& frame : index.stack_frames())
      frames.frames.push_back({known(frame.file_location_id()), known(frame.parent_frame_id())});
  }

  Status read_module_facts() {
    if (proto_.has_host_program_shape()) {
      for (const auto& shape : proto_.host_program_shape().parameters()) {
        NCC_ASSIGN(Shape parameter, shape_from_wire(shape, "program shape"));
        module_->entry_parameter_shapes.push_back(std::move(parameter));
      }
      NCC_ASSIGN(module_->entry_result_shape,
                 shape_from_wire(proto_.host_program_shape().result(), "program shape"));
      module_->has_entry_layout = true;
    }
    for (const auto& alias : proto_.input_output_alias().entries())
      module_->aliases.push_back(
          {{alias.output_shape_index().begin(), alias.output_shape_index().end()},
           alias.parameter_number(),
           {alias.parameter_shape_index().begin(), alias.parameter_shape_index().end()},
           alias.kind() == 2});
    for (const auto& donor : proto_.buffer_donor().entries())
      module_->donors.push_back(
          {donor.parameter_number(),
           {donor.parameter_shape_index().begin(), donor.parameter_shape_index().end()}});
    for (const auto& entry : proto_.frontend_attributes().map())
      module_->frontend_attributes.emplace_back(entry.key(), entry.value());
    std::sort(module_->frontend_attributes.begin(), module_->frontend_attributes.end());
    restore_result_names(module_.get());
    module_->is_dynamic = proto_.is_dynamic();
    proto_.GetReflection()->GetUnknownFields(proto_).SerializeToString(&module_->unknown_fields);
    if (proto_.device_assignment().replica_count() > 0)
      module_->replica_count = proto_.device_assignment().replica_count();
    if (proto_.device_assignment().computation_count() > 0)
      module_->num_partitions = proto_.device_assignment().computation_count();
    return Status::ok();
  }

  // A schedule becomes the storage order. Ids may be written in full (computation id in the high half) or
  // local.
  Status apply_schedule() {
    module_->is_scheduled = proto_.has_schedule();
    for (const auto& [id, sequence] : proto_.schedule().sequences()) {
      const auto computation = computations_.find(id);
      if (computation == computations_.end()) continue;
      const auto& by_id = instructions_[computation->second];
      std::vector<Instruction*> order;
      for (int64_t wanted : sequence.instruction_ids()) {
        auto found = by_id.find(wanted);
        if (found == by_id.end()) found = by_id.find(wanted & 0xFFFFFFFF);
        if (found == by_id.end())
          return error(Code::EVRF003, fmt::format("the schedule of computation {} lists the unknown id {}",
                                                  computation->second->name(), wanted));
        order.push_back(found->second);
      }
      computation->second->set_order(order);
    }
    return Status::ok();
  }

  wire::HloModuleProto& proto_;
  const SlimModule& slim_;
  std::unique_ptr<Module> module_;
  std::unordered_map<int64_t, Computation*> computations_;
  std::unordered_map<const Computation*, std::unordered_map<int64_t, Instruction*>> instructions_;
};

// Where the message inside stops being an HloInstructionProto, when one of them is at fault.
std::string malformed_where(const SlimModule& slim) {
  wire::HloModuleProto module;
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(slim.message.data()),
                                            static_cast<int>(slim.message.size()));
  (void)module.MergePartialFromCodedStream(&in);
  // Parsing stops inside the last instruction it has begun.
  const int computation = module.computations_size() - 1;
  const int instruction = computation < 0 ? -1 : module.computations(computation).instructions_size() - 1;
  const auto found = slim.offsets.find({computation, instruction});
  return found == slim.offsets.end() ? "malformed"
                                     : fmt::format("malformed in the instruction at byte {}", found->second);
}

}  // namespace

Result<std::unique_ptr<Module>> read_hlo_proto(std::string_view bytes, const std::string& what,
                                               std::shared_ptr<const void> owner) {
  NCC_ASSIGN(SlimModule slim, slim_module(bytes, what));
  slim.owner = std::move(owner);
  wire::HloModuleProto proto;
  if (!proto.ParseFromString(slim.message))
    return error(Code::EFIL003, what, "an HLO proto", malformed_where(slim));
  slim.message = {};
  return ProtoReader(&proto, slim).read();
}

}  // namespace ncc::hlo
