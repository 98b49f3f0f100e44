// penguin.proto -> Module. Every index is checked here, so that whatever is returned can be walked safely.
#include <unordered_map>

#include "ir-formats/penguin/io.h"
#include "ir-formats/penguin/names.h"
#include "ir-formats/penguin/penguin.pb.h"
#include "ir-formats/penguin/structure.h"
#include "ir-formats/penguin/tile_fields.h"
#include "ir-formats/penguin/wire.h"

namespace ncc::penguin {
namespace {

constexpr int kMaxNesting = 64;  // loops in loops; more is not something a tool writes

class Reader {
 public:
  explicit Reader(const proto::Module& in) : in_(in) {}

  Result<Module> run() {
    NCC_TRY(read_string(in_.name(), module_.name));
    for (const proto::Function& function : in_.functions())
      NCC_TRY(read(function, module_.functions.emplace_back()));
    for (const proto::IoBinding& binding : in_.inputs())
      NCC_TRY(read(binding, module_.inputs.emplace_back()));
    for (const proto::IoBinding& binding : in_.outputs())
      NCC_TRY(read(binding, module_.outputs.emplace_back()));
    NCC_TRY(check_structure(module_));
    return std::move(module_);
  }

 private:
  Status read_string(uint32_t id, std::string& out) {
    if (id >= static_cast<uint32_t>(in_.strings_size()))
      return error(Code::EPEN001, "string index out of range");
    out = in_.strings(static_cast<int>(id));
    return Status::ok();
  }

  template <class E, class Lookup>
  Status read_name(uint32_t id, const char* what, E& out, Lookup&& lookup) {
    std::string text;
    NCC_TRY(read_string(id, text));
    const std::optional<E> found = lookup(text);
    if (!found) return error(Code::EPEN001, fmt::format("unknown {} '{}'", what, text));
    out = *found;
    return Status::ok();
  }
  template <class E>
  Status read_name(uint32_t id, const char* what, E& out) {
    return read_name(id, what, out, [](std::string_view text) { return from_name<E>(text); });
  }
  template <class E>
  Status read_isa_name(uint32_t id, const char* what, E& out) {
    return read_name(id, what, out, [](std::string_view text) { return isa::from_name<E>(text); });
  }
  Status read(uint32_t id, Dtype& out) { return read_name(id, "element type", out, dtype_from_hlo); }

  Status read(const proto::Loc& in, SourceLoc& out) {
    NCC_TRY(read_string(in.op_name(), out.op_name));
    NCC_TRY(read_string(in.file(), out.file));
    out.line = static_cast<int>(in.line());
    return Status::ok();
  }

  Status read(const proto::IoBinding& in, IoBinding& out) {
    NCC_TRY(read_string(in.name(), out.name));
    NCC_TRY(read(in.declared_dtype(), out.declared_dtype));
    out.declared_shape.assign(in.declared_shape().begin(), in.declared_shape().end());
    out.tensor = in.tensor();
    return read_string(in.conversion(), out.conversion);
  }

  Status read(const proto::Expr& in, Ref& out) {
    if (in.axes_size() != in.coefs_size()) return error(Code::EPEN001, "an expression has unpaired terms");
    std::vector<affine::Term> terms;
    for (int i = 0; i < in.axes_size(); ++i) terms.push_back({in.axes(i), in.coefs(i)});
    out = module_.affine->make(in.constant(), std::move(terms));
    return Status::ok();
  }

  Status read(const proto::Tensor& in, Tensor& out) {
    NCC_TRY(read_string(in.name(), out.name));
    NCC_TRY(read(in.dtype(), out.dtype));
    out.shape.assign(in.shape().begin(), in.shape().end());
    NCC_TRY(read_name(in.role(), "tensor role", out.role));
    NCC_TRY(read_name(in.space(), "memory space", out.space));
    out.scope = in.scope() - 1;
    out.io_index = in.io_index() - 1;
    out.const_offset = in.const_offset() - 1;
    NCC_TRY(read_string(in.const_hash(), out.const_hash));
    out.alias_of = in.alias_of() - 1;
    return read(in.loc(), out.loc);
  }

  Status read(const proto::Operand& in, Operand& out) {
    if (in.kind() > static_cast<uint32_t>(Operand::Kind::Index))
      return error(Code::EPEN001, "unknown operand kind");
    out.kind = static_cast<Operand::Kind>(in.kind());
    NCC_TRY(read(in.dtype(), out.dtype));
    if (out.kind == Operand::Kind::Tensor) {
      out.tensor = in.tensor();
      for (const proto::Expr& expr : in.index()) NCC_TRY(read(expr, out.index.emplace_back()));
    } else if (out.kind == Operand::Kind::Scalar) {
      out.scalar = in.scalar();
    } else {
      NCC_TRY(read(in.value(), out.value));
    }
    return Status::ok();
  }

  Status read(const proto::TileOperand& in, bir::Operand& out) {
    NCC_TRY(read(in.dtype(), out.dtype));
    if (in.immediate()) {
      out.kind = bir::OperandKind::Immediate;
      out.bits = in.bits();
      return Status::ok();
    }
    out.kind = bir::OperandKind::SymbolicAp;
    out.set = in.tensor();
    NCC_TRY(read(in.partition(), out.partition_expr));
    NCC_TRY(read(in.offset(), out.offset_expr));
    if (in.ap_size() > bir::kMaxPatternDims)
      return error(Code::EPEN001, "an access pattern has too many dimensions");
    for (const proto::Dim& dim : in.ap()) out.ap[out.rank++] = {dim.step(), dim.count()};
    return Status::ok();
  }

  Status read(const proto::Tile& in, Inst::Tile& out) {
    NCC_TRY(read_name(in.opcode(), "BIR opcode", out.opcode, bir::opcode_from_name));
    NCC_TRY(read_isa_name(in.engine(), "engine", out.engine));
    for (const proto::TileOperand& operand : in.ins()) NCC_TRY(read(operand, out.ins.emplace_back()));
    for (const proto::TileOperand& operand : in.outs()) NCC_TRY(read(operand, out.outs.emplace_back()));
    for (const proto::Field& field : in.fields()) {
      std::string key, value;
      NCC_TRY(read_string(field.key(), key));
      NCC_TRY(read_string(field.value(), value));
      NCC_TRY(set_field(out.attributes, key, value));
    }
    return Status::ok();
  }

  Status read(const proto::Inst& in, Inst& out) {
    NCC_TRY(read_string(in.name(), out.name));
    for (uint32_t tag : in.tags()) NCC_TRY(read_string(tag, out.tags.emplace_back()));
    NCC_TRY(read(in.loc(), out.loc));
    if (in.has_tile()) {
      out.tile = std::make_unique<Inst::Tile>();
      return read(in.tile(), *out.tile);
    }
    NCC_TRY(read_name(in.op(), "op", out.op));
    NCC_TRY(read_name(in.function(), "function", out.function));
    NCC_TRY(read(in.attributes(), out.attributes));
    for (const proto::IterationAxis& entry : in.axes()) {
      out.axes.push_back({entry.axis()});
      NCC_TRY(read_name(entry.role(), "axis role", out.axes.back().role));
    }
    for (const proto::Operand& operand : in.operands()) NCC_TRY(read(operand, out.operands.emplace_back()));
    return read(in.result(), out.result);
  }

  Status read(const proto::Attributes& in, TensorAttributes& out) {
    NCC_TRY(read_name(in.comparison(), "comparison", out.comparison));
    out.total_order = in.total_order();
    NCC_TRY(read_isa_name(in.alu(), "ALU operation", out.alu));
    NCC_TRY(read_isa_name(in.activation(), "activation function", out.activation));
    out.exponent_bits = in.exponent_bits();
    out.mantissa_bits = in.mantissa_bits();
    return Status::ok();
  }

  Status read(const proto::Stmt& in, Stmt& out, int depth) {
    if (depth > kMaxNesting) return error(Code::EPEN001, "statements are nested too deeply");
    if (in.kind() > static_cast<uint32_t>(Stmt::Kind::While))
      return error(Code::EPEN001, "unknown statement kind");
    out.kind = static_cast<Stmt::Kind>(in.kind());
    out.axis = in.axis() - 1;
    if (in.has_inst()) {
      out.inst = std::make_unique<Inst>();
      NCC_TRY(read(in.inst(), *out.inst));
    }
    for (const proto::Stmt& inner : in.body()) NCC_TRY(read(inner, out.body.emplace_back(), depth + 1));
    for (const proto::Stmt& inner : in.else_body())
      NCC_TRY(read(inner, out.else_body.emplace_back(), depth + 1));
    return Status::ok();
  }

  Status read(const proto::Function& in, Function& out) {
    NCC_TRY(read_string(in.name(), out.name));
    for (const proto::Axis& axis : in.axes()) {
      out.axes.push_back({"", axis.extent()});
      NCC_TRY(read_string(axis.name(), out.axes.back().name));
    }
    for (const proto::Tensor& tensor : in.tensors()) NCC_TRY(read(tensor, out.tensors.emplace_back()));
    out.inputs.assign(in.inputs().begin(), in.inputs().end());
    out.outputs.assign(in.outputs().begin(), in.outputs().end());
    for (const proto::Stmt& stmt : in.body()) NCC_TRY(read(stmt, out.body.emplace_back(), 0));
    return Status::ok();
  }

  const proto::Module& in_;
  Module module_;
};

}  // namespace

Result<Module> from_binary(std::string_view bytes, const std::string& what) {
  proto::Module message;
  if (!bytes.starts_with(kMagic))
    return error(Code::EFIL003, what, "Penguin IR", "it does not start with its magic");
  bytes.remove_prefix(kMagic.size());
  if (bytes.size() > INT32_MAX || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return error(Code::EFIL003, what, "Penguin IR", "the message is damaged");
  if (message.version() != kWireVersion)
    return error(Code::EFIL003, what, "Penguin IR",
                 fmt::format("version {}, this program reads version {}", message.version(), kWireVersion));
  return Reader(message).run();
}

}  // namespace ncc::penguin
