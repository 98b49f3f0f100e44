// Module -> penguin.proto. Strings are interned in first-use order, so equal modules give equal bytes.
#include <unordered_map>

#include "ir-formats/penguin/io.h"
#include "ir-formats/penguin/names.h"
#include "ir-formats/penguin/penguin.pb.h"
#include "ir-formats/penguin/tile_fields.h"
#include "ir-formats/penguin/wire.h"

namespace ncc::penguin {
namespace {

class Writer {
 public:
  std::string run(const Module& module) {
    out_.set_version(kWireVersion);
    intern("");
    out_.set_name(intern(module.name));
    for (const Function& function : module.functions) write(function, *out_.add_functions());
    for (const IoBinding& binding : module.inputs) write(binding, *out_.add_inputs());
    for (const IoBinding& binding : module.outputs) write(binding, *out_.add_outputs());
    return std::string(kMagic) + out_.SerializeAsString();
  }

 private:
  uint32_t intern(std::string_view text) {
    const auto [entry, is_new] =
        strings_.try_emplace(std::string(text), static_cast<uint32_t>(strings_.size()));
    if (is_new) out_.add_strings(std::string(text));
    return entry->second;
  }
  uint32_t intern(Dtype dtype) { return intern(ncc::info(dtype).hlo); }

  void write(const IoBinding& binding, proto::IoBinding& out) {
    out.set_name(intern(binding.name));
    out.set_declared_dtype(intern(binding.declared_dtype));
    for (int64_t dim : binding.declared_shape) out.add_declared_shape(dim);
    out.set_tensor(binding.tensor);
    out.set_conversion(intern(binding.conversion));
  }

  void write(const SourceLoc& loc, proto::Loc& out) {
    out.set_op_name(intern(loc.op_name));
    out.set_file(intern(loc.file));
    out.set_line(static_cast<uint32_t>(loc.line));
  }

  static void write(Ref expr, proto::Expr& out) {
    out.set_constant(expr->constant);
    for (const affine::Term& term : expr->terms) {
      out.add_axes(term.axis);
      out.add_coefs(term.coef);
    }
  }

  void write(const Tensor& tensor, proto::Tensor& out) {
    out.set_name(intern(tensor.name));
    out.set_dtype(intern(tensor.dtype));
    for (int64_t dim : tensor.shape) out.add_shape(dim);
    out.set_role(intern(name(tensor.role)));
    out.set_space(intern(name(tensor.space)));
    out.set_scope(tensor.scope + 1);
    out.set_io_index(tensor.io_index + 1);
    out.set_const_offset(tensor.const_offset + 1);
    out.set_const_hash(intern(tensor.const_hash));
    out.set_alias_of(tensor.alias_of + 1);
    if (!tensor.loc.empty()) write(tensor.loc, *out.mutable_loc());
  }

  void write(const Operand& operand, proto::Operand& out) {
    out.set_kind(static_cast<uint32_t>(operand.kind));
    out.set_dtype(intern(operand.dtype));
    if (operand.kind == Operand::Kind::Tensor) {
      out.set_tensor(operand.tensor);
      for (Ref expr : operand.index) write(expr, *out.add_index());
    } else if (operand.kind == Operand::Kind::Scalar) {
      out.set_scalar(operand.scalar);
    } else {
      write(operand.value, *out.mutable_value());
    }
  }

  void write(const bir::Operand& operand, proto::TileOperand& out) {
    out.set_dtype(intern(operand.dtype));
    if (operand.kind == bir::OperandKind::Immediate) {
      out.set_immediate(true);
      out.set_bits(operand.bits);
      return;
    }
    NCC_CHECK(operand.kind == bir::OperandKind::SymbolicAp,
              "a tile operand is neither symbolic nor immediate");
    out.set_tensor(operand.set);
    write(operand.partition_expr, *out.mutable_partition());
    write(operand.offset_expr, *out.mutable_offset());
    for (int i = 0; i < operand.rank; ++i) {
      proto::Dim& dim = *out.add_ap();
      dim.set_step(operand.ap[i].step);
      dim.set_count(operand.ap[i].count);
    }
  }

  void write(const Inst::Tile& tile, proto::Tile& out) {
    out.set_opcode(intern(bir::info(tile.opcode).name));
    out.set_engine(intern(isa::name(tile.engine)));
    for (const bir::Operand& operand : tile.ins) write(operand, *out.add_ins());
    for (const bir::Operand& operand : tile.outs) write(operand, *out.add_outs());
    for (const auto& [key, value] : to_fields(tile.attributes)) {
      proto::Field& field = *out.add_fields();
      field.set_key(intern(key));
      field.set_value(intern(value));
    }
  }

  void write(const Inst& inst, proto::Inst& out) {
    out.set_name(intern(inst.name));
    for (const std::string& tag : inst.tags) out.add_tags(intern(tag));
    if (!inst.loc.empty()) write(inst.loc, *out.mutable_loc());
    if (inst.tile) return write(*inst.tile, *out.mutable_tile());
    out.set_op(intern(name(inst.op)));
    out.set_function(intern(name(inst.function)));
    const TensorAttributes& attributes = inst.attributes;
    proto::Attributes& written = *out.mutable_attributes();
    written.set_comparison(intern(name(attributes.comparison)));
    written.set_total_order(attributes.total_order);
    written.set_alu(intern(isa::name(attributes.alu)));
    written.set_activation(intern(isa::name(attributes.activation)));
    written.set_exponent_bits(attributes.exponent_bits);
    written.set_mantissa_bits(attributes.mantissa_bits);
    for (const IterationAxis& entry : inst.axes) {
      proto::IterationAxis& axis = *out.add_axes();
      axis.set_axis(entry.axis);
      axis.set_role(intern(name(entry.role)));
    }
    for (const Operand& operand : inst.operands) write(operand, *out.add_operands());
    write(inst.result, *out.mutable_result());
  }

  void write(const Stmt& stmt, proto::Stmt& out) {
    out.set_kind(static_cast<uint32_t>(stmt.kind));
    out.set_axis(stmt.axis + 1);
    if (stmt.inst) write(*stmt.inst, *out.mutable_inst());
    for (const Stmt& inner : stmt.body) write(inner, *out.add_body());
    for (const Stmt& inner : stmt.else_body) write(inner, *out.add_else_body());
  }

  void write(const Function& function, proto::Function& out) {
    out.set_name(intern(function.name));
    for (const Axis& axis : function.axes) {
      proto::Axis& written = *out.add_axes();
      written.set_name(intern(axis.name));
      written.set_extent(axis.extent);
    }
    for (const Tensor& tensor : function.tensors) write(tensor, *out.add_tensors());
    for (TensorId id : function.inputs) out.add_inputs(id);
    for (TensorId id : function.outputs) out.add_outputs(id);
    for (const Stmt& stmt : function.body) write(stmt, *out.add_body());
  }

  proto::Module out_;
  std::unordered_map<std::string, uint32_t> strings_;
};

}  // namespace

std::string to_binary(const Module& module) { return Writer().run(module); }

}  // namespace ncc::penguin
