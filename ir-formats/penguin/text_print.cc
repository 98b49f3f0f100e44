// Module -> text. The grammar is in docs/formats/penguin.md; text_parse.cc reads it back.
#include <cmath>
#include <unordered_map>

#include "ir-formats/penguin/io.h"
#include "ir-formats/penguin/names.h"
#include "ir-formats/penguin/text_lexer.h"
#include "ir-formats/penguin/tile_fields.h"
#include "ir-formats/penguin/wire.h"

namespace ncc::penguin {
namespace {

constexpr int kAxesPerLine = 10;

std::string shape_text(Dtype dtype, const std::vector<int64_t>& shape) {
  return fmt::format("{}[{}]", ncc::info(dtype).hlo, fmt::join(shape, ","));
}

std::string loc_text(const SourceLoc& loc) {
  if (loc.empty()) return "";
  return fmt::format(" at {} {}:{}", quote(loc.op_name), quote(loc.file), loc.line);
}

/// Exact: the shortest decimal that reads back, raw bits for what has none.
std::string scalar_text(Dtype dtype, uint64_t bits) {
  const std::string_view type = ncc::info(dtype).hlo;
  if (is_float(dtype)) {
    const double value = load_as_double(dtype, &bits);
    if (std::isfinite(value) && dtype == Dtype::F64) return fmt::format("{}({})", type, value);
    if (std::isfinite(value)) return fmt::format("{}({})", type, static_cast<float>(value));
  } else if (!is_complex(dtype)) {
    return fmt::format("{}({})", type, load_as_int64(dtype, &bits));
  }
  return fmt::format("{}(0x{:x})", type, bits);
}

class Printer {
 public:
  explicit Printer(const Function& function) : function_(function) {
    std::unordered_map<std::string, int> axes, tensors;
    for (const Axis& axis : function.axes) ++axes[axis.name];
    for (const Tensor& tensor : function.tensors) ++tensors[tensor.name];
    for (size_t i = 0; i < function.axes.size(); ++i) {
      const std::string& name = function.axes[i].name;
      axis_names_.push_back(reference(name, i, axes[name] == 1));
    }
    for (size_t i = 0; i < function.tensors.size(); ++i) {
      const std::string& name = function.tensors[i].name;
      tensor_names_.push_back("%" + reference(name, i, tensors[name] == 1));
    }
  }

  std::string run() {
    out_ = fmt::format("\nfunction {} {{\n", quote(function_.name));
    for (size_t i = 0; i < function_.axes.size(); ++i) {
      if (i % kAxesPerLine == 0) out_ += i == 0 ? "  axes" : "\n  axes";
      out_ += fmt::format(" {}={}", axis_names_[i], function_.axes[i].extent);
    }
    if (!function_.axes.empty()) out_ += "\n";
    for (size_t i = 0; i < function_.tensors.size(); ++i)
      out_ += print(function_.tensors[i], tensor_names_[i]);
    out_ += "  inputs" + tensor_list(function_.inputs) + "\n";
    out_ += "  outputs" + tensor_list(function_.outputs) + "\n";
    print(function_.body, 1);
    out_ += "}\n";
    return std::move(out_);
  }

  std::string print(const Inst& inst) const {
    std::string text = inst.tile ? print(*inst.tile) : print_tensor_op(inst);
    if (!inst.name.empty()) text += " name " + quote(inst.name);
    for (const std::string& tag : inst.tags) text += " tag " + quote(tag);
    return text + loc_text(inst.loc);
  }

 private:
  /// A name that is not unique carries its id: name#id.
  static std::string reference(const std::string& name, size_t id, bool unique) {
    const bool reserved = name == "axes" || name == "tensor" || name == "inputs";
    const std::string text = is_plain_word(name) && !reserved ? name : quote(name);
    return unique ? text : fmt::format("{}#{}", text, id);
  }
  std::string axis_name(AxisId id) const { return axis_names_[id]; }
  std::string print(Ref expr) const {
    return affine::to_string(expr, [this](AxisId id) { return axis_names_[id]; });
  }

  std::string tensor_list(const std::vector<TensorId>& ids) const {
    std::string text;
    for (TensorId id : ids) text += " " + tensor_names_[id];
    return text;
  }

  std::string print(const Tensor& tensor, const std::string& name) const {
    std::string text = fmt::format("  tensor {}: {}", name, shape_text(tensor.dtype, tensor.shape));
    if (tensor.role != Role::Internal) text += fmt::format(" {}", penguin::name(tensor.role));
    if (tensor.io_index >= 0) text += fmt::format(" io {}", tensor.io_index);
    if (tensor.const_offset >= 0)
      text += fmt::format(" offset {} hash {}", tensor.const_offset, quote(tensor.const_hash));
    if (tensor.space != Space::Unplaced) text += fmt::format(" {}", penguin::name(tensor.space));
    if (tensor.scope != kNone) text += " scope " + axis_name(tensor.scope);
    if (tensor.alias_of != kNone) text += " alias " + tensor_names_[tensor.alias_of];
    return text + loc_text(tensor.loc) + "\n";
  }

  std::string print(const Operand& operand) const {
    if (operand.kind == Operand::Kind::Scalar) return scalar_text(operand.dtype, operand.scalar);
    if (operand.kind == Operand::Kind::Index)
      return fmt::format("index {}({})", ncc::info(operand.dtype).hlo, print(operand.value));
    std::string text = tensor_names_[operand.tensor] + "[";
    for (size_t i = 0; i < operand.index.size(); ++i) text += (i > 0 ? ", " : "") + print(operand.index[i]);
    return text + "]";
  }

  static std::string attribute_text(const Inst& inst) {
    const TensorAttributes& a = inst.attributes;
    switch (inst.function) {
      case ScalarFunction::Compare:
        return fmt::format("({}{})", penguin::name(a.comparison), a.total_order ? " total_order" : "");
      case ScalarFunction::Alu:
      case ScalarFunction::Int32:
        return fmt::format("({})", isa::name(a.alu));
      case ScalarFunction::Activation:
        return fmt::format("({})", isa::name(a.activation));
      case ScalarFunction::ReducePrecision:
        return fmt::format("({} {})", a.exponent_bits, a.mantissa_bits);
      default:
        return "";
    }
  }

  std::string print_tensor_op(const Inst& inst) const {
    std::string text = fmt::format("{}", penguin::name(inst.op));
    if (inst.op != TensorOp::Contract)
      text += fmt::format(" {}{}", penguin::name(inst.function), attribute_text(inst));
    text += " " + print(inst.result) + " =";
    for (size_t i = 0; i < inst.operands.size(); ++i) text += (i > 0 ? ", " : " ") + print(inst.operands[i]);
    if (!inst.axes.empty()) text += " for";
    for (const IterationAxis& entry : inst.axes) {
      text += fmt::format(" {}:{}", axis_name(entry.axis), function_.axes[entry.axis].extent);
      if (entry.role != AxisRole::Parallel) text += fmt::format(" {}", penguin::name(entry.role));
      if (&entry != &inst.axes.back()) text += ",";
    }
    return text;
  }

  std::string print(const bir::Operand& operand) const {
    if (operand.kind == bir::OperandKind::Immediate)
      return fmt::format("imm {}(0x{:x})", ncc::info(operand.dtype).hlo, operand.bits);
    std::string text = fmt::format("{}({}, {}", tensor_names_[operand.set], print(operand.partition_expr),
                                   print(operand.offset_expr));
    text += fmt::format(" : {}", ncc::info(operand.dtype).hlo);
    for (int i = 0; i < operand.rank; ++i)
      text += fmt::format(" {}*{}", operand.ap[i].count, operand.ap[i].step);
    return text + ")";
  }

  std::string print(const Inst::Tile& tile) const {
    std::string text = fmt::format("tile {} {}", bir::info(tile.opcode).name, isa::name(tile.engine));
    for (const bir::Operand& operand : tile.outs) text += " " + print(operand);
    text += " =";
    for (const bir::Operand& operand : tile.ins) text += " " + print(operand);
    const auto fields = to_fields(tile.attributes);
    if (fields.empty()) return text;
    text += " {";
    for (const auto& [key, value] : fields) text += fmt::format(" {}={}", key, quote(value));
    return text + " }";
  }

  void print(const std::vector<Stmt>& body, int depth) {
    const std::string indent(static_cast<size_t>(2 * depth), ' ');
    for (const Stmt& stmt : body) {
      if (stmt.kind == Stmt::Kind::Inst) {
        out_ += indent + print(*stmt.inst) + "\n";
        continue;
      }
      if (stmt.kind == Stmt::Kind::Loop)
        out_ +=
            fmt::format("{}loop {}:{} {{\n", indent, axis_name(stmt.axis), function_.axes[stmt.axis].extent);
      else
        out_ += fmt::format("{}{} {{\n", indent, stmt.kind == Stmt::Kind::If ? "if" : "while");
      print(stmt.body, depth + 1);
      if (stmt.kind == Stmt::Kind::If && !stmt.else_body.empty()) {
        out_ += indent + "} else {\n";
        print(stmt.else_body, depth + 1);
      }
      out_ += indent + "}\n";
    }
  }

  const Function& function_;
  std::vector<std::string> axis_names_, tensor_names_;
  std::string out_;
};

std::string print(const IoBinding& binding, const char* keyword, const Function& main) {
  const Tensor& tensor = main.tensors[binding.tensor];
  return fmt::format("{} {} {} tensor {} {} conversion {}\n", keyword, quote(binding.name),
                     shape_text(binding.declared_dtype, binding.declared_shape), binding.tensor,
                     quote(tensor.name), binding.conversion);
}

}  // namespace

std::string to_text(const Module& module) {
  std::string text = fmt::format("{} {} {}\n", kTextMagic, kWireVersion, quote(module.name));
  for (const IoBinding& binding : module.inputs) text += print(binding, "input", module.main());
  for (const IoBinding& binding : module.outputs) text += print(binding, "output", module.main());
  for (const Function& function : module.functions) text += Printer(function).run();
  return text;
}

std::string to_text(const Function& function, const Inst& inst) { return Printer(function).print(inst); }

}  // namespace ncc::penguin
