// Dispatch by op name and the building blocks that all handlers share.
#include <unordered_map>

#include "ir-formats/hlo/import.h"
#include "ir-formats/hlo/mlir_parser.h"
#include "ir-formats/hlo/print_attributes.h"
#include "ir-formats/hlo/wire_names.h"

namespace ncc::hlo::mlir {

Importer::Handler Importer::handler_of(std::string_view name) {
  using I = Importer;
  static const auto* table = new std::unordered_map<std::string_view, Handler>{
#define HANDLER(op, handler) {op, &I::handler},
#include "ir-formats/hlo/import_handlers.def"
  };
  const auto found = table->find(name);
  if (found != table->end()) return found->second;
  if (name.starts_with("check.")) return &I::check;
  if (name.starts_with("chlo.broadcast_")) return &I::chlo_broadcast;
  const std::optional<Opcode> opcode = opcode_from_mlir(name);
  if (!opcode) return nullptr;
  const OpKind kind = info(*opcode).kind;
  const bool simple = kind == OpKind::Unary || kind == OpKind::Binary || kind == OpKind::Quantize;
  return simple ? &I::plain : nullptr;
}

Instruction* Importer::make(OpContext& ctx, Opcode opcode, Shape shape, std::vector<Instruction*> operands) {
  Instruction* inst = ctx.computation()->add(opcode, std::move(shape), std::move(operands));
  inst->loc = ctx.loc;
  inst->loc_details = ctx.loc_details;
  return inst;
}

Status Importer::take_apart(OpContext& ctx, Instruction* inst) {
  for (size_t i = 0; i < inst->shape.elements.size(); ++i)
    ctx.out.push_back(ctx.computation()->add_get(inst, static_cast<int64_t>(i)));
  return Status::ok();
}

Instruction* Importer::make_op(OpContext& ctx, Opcode opcode, std::vector<Instruction*> operands) {
  if (ctx.op.result_types.size() == 1) {
    ctx.out.push_back(make(ctx, opcode, ctx.result(), std::move(operands)));
    return ctx.out.back();
  }
  Instruction* inst = make(ctx, opcode, Shape::make_tuple(ctx.op.result_types), std::move(operands));
  (void)take_apart(ctx, inst);
  return inst;
}

Status Importer::ints(const OpContext& ctx, std::string_view key, std::vector<int64_t>* values,
                      bool required) const {
  const Attr* attr = ctx.op.attr(key);
  if (!attr) return required ? fail(ctx, fmt::format("attribute '{}' is missing", key)) : Status::ok();
  if (!int_list(*attr, values).is_ok())
    return fail(ctx, fmt::format("attribute '{}' is no list of integers", key));
  return Status::ok();
}

Status Importer::integer(const OpContext& ctx, std::string_view key, int64_t* value, bool required) const {
  const Attr* attr = ctx.op.attr(key);
  if (!attr) return required ? fail(ctx, fmt::format("attribute '{}' is missing", key)) : Status::ok();
  if (attr->kind != Attr::Kind::Int && attr->kind != Attr::Kind::Bool)
    return fail(ctx, fmt::format("attribute '{}' is no integer", key));
  *value = attr->integer;
  return Status::ok();
}

// Bool attribute or unit attribute.
bool Importer::flag(const OpContext& ctx, std::string_view key) const {
  const Attr* attr = ctx.op.attr(key);
  return attr && (attr->kind == Attr::Kind::Unit || attr->integer != 0);
}

std::string Importer::word(const OpContext& ctx, std::string_view key) const {
  const Attr* attr = ctx.op.attr(key);
  return attr ? attr->text : std::string();
}

// Dense values as they are (a splat holds one element); resources are looked up in the file's metadata.
Result<Literal> Importer::literal(const OpContext& ctx, const Attr& attr) const {
  if (attr.kind == Attr::Kind::Dense) return attr.literal;
  if (attr.kind != Attr::Kind::Resource) return fail(ctx, "expected dense elements");
  const auto blob = file_.resources.find(attr.text);
  if (blob == file_.resources.end())
    return fail(ctx, attr.text == "__elided__"
                         ? "the value was left out of the file; write the model with its large constants"
                         : fmt::format("resource '{}' is not in the file", attr.text));
  const std::string_view hex = blob->second;
  // "0x", four bytes of alignment, then the data.
  const int64_t bytes = (static_cast<int64_t>(hex.size()) - 2) / 2 - 4;
  if (!hex.starts_with("0x") || hex.size() % 2 != 0 || bytes != attr.shape.size_bytes())
    return fail(ctx, fmt::format("resource '{}' has {} bytes, the type needs {}", attr.text, bytes,
                                 attr.shape.size_bytes()));
  Literal made = Literal::zeros(attr.shape);
  const std::string_view digits = hex.substr(10);
  if (decode_hex(digits, made.mutable_data()) != digits.size())
    return fail(ctx, fmt::format("resource '{}' has a bad hex digit", attr.text));
  lexer_.forget(digits);
  clean_elements(attr.shape.dtype, made.mutable_data(), bytes);
  return made;
}

// A splat of more than one element is a broadcast scalar: huge ones never take their size in memory.
Status Importer::constant(OpContext& ctx, const Attr& value, const Shape& shape, Instruction** made) {
  NCC_ASSIGN(Literal data, literal(ctx, value));
  const bool splat = value.splat && shape.num_elements() != data.num_elements();
  Shape own = splat ? Shape::array(shape.dtype) : shape;
  if (data.num_elements() != own.num_elements() || data.shape().dtype != shape.dtype)
    return fail(ctx, fmt::format("a value of type {} for {}", to_string(data.shape()), to_string(shape)));
  own.quantization = shape.quantization;
  Instruction* inst = make(ctx, Opcode::Constant, own, {});
  inst->literal = std::move(data);
  if (splat && shape.num_elements() == 0) {
    inst->literal = Literal::zeros(shape);
    inst->shape = shape;
  } else if (splat) {
    inst = make(ctx, Opcode::Broadcast, shape, {inst});
  }
  *made = inst;
  return Status::ok();
}

// Attributes of other dialects ("mhlo.sharding", "jax.…") say nothing about the value; they stay with the
// instruction.
void Importer::keep_attributes(const OpContext& ctx) {
  if (ctx.out.empty()) return;
  Instruction* inst = ctx.out[0]->is(Opcode::GetTupleElement) ? ctx.out[0]->operand(0) : ctx.out[0];
  for (const auto& [key, value] : ctx.op.attrs) {
    if (key.find('.') == std::string::npos) continue;
    if (key == "mhlo.frontend_attributes") {
      for (const auto& [name, text] : value.entries)
        inst->mutable_attrs().frontend_attributes.emplace_back(name, text.text);
    } else if (key == "mhlo.sharding" && is_json_group(value.text)) {
      inst->mutable_attrs().sharding = value.text;
    } else if (key == "sdy.sharding_rule") {
      inst->mutable_attrs().frontend_attributes.emplace_back("xla.sdy.sharding_rule", value.source);
    } else if (key != "mhlo.backend_config") {  // a custom call's own
      inst->mutable_attrs().raw.emplace_back(key, std::string(value.source));
    }
  }
}

Status Importer::plain(OpContext& ctx) {
  const std::string_view name =
      ctx.op.name == "stablehlo.create_token" ? "stablehlo.after_all" : std::string_view(ctx.op.name);
  const std::optional<Opcode> opcode = opcode_from_mlir(name);
  if (!opcode) return unsupported(ctx, "not a known operation");
  if (ctx.op.result_types.empty()) return fail(ctx, "no result type");
  Instruction* inst = make_op(ctx, *opcode, ctx.in);
  if (const Attr* accuracy = ctx.op.attr("result_accuracy")) {
    const Attr* mode = find(accuracy->entries, "mode");
    ResultAccuracy asked;
    if (mode && mode->text == "HIGHEST") asked.mode = "highest";
    if (mode && mode->text == "TOLERANCE") asked.mode = "tolerance";
    for (const auto& [key, value] : accuracy->entries) {
      if (key == "atol") asked.atol = value.real;
      if (key == "rtol") asked.rtol = value.real;
      if (key == "ulps") asked.ulps = value.integer;
    }
    if (!asked.mode.empty()) inst->mutable_attrs().accuracy = asked;
  }
  return Status::ok();
}

Status Importer::compare(OpContext& ctx) {
  const auto direction = enum_from_name<CompareDirection>(word(ctx, "comparison_direction"), 6);
  if (!direction) return fail(ctx, "unknown comparison direction");
  std::string type_name = word(ctx, "compare_type");
  if (type_name == "NOTYPE") type_name.clear();
  const auto type = enum_from_name<CompareType>(type_name, 5);
  if (!type) return fail(ctx, fmt::format("unknown comparison type '{}'", type_name));
  Instruction* inst = make_op(ctx, Opcode::Compare, ctx.in);
  inst->direction = *direction;
  inst->compare_type = *type;
  return Status::ok();
}

Status Importer::reduce_precision(OpContext& ctx) {
  int64_t exponent = 0, mantissa = 0;
  NCC_TRY(integer(ctx, "exponent_bits", &exponent));
  NCC_TRY(integer(ctx, "mantissa_bits", &mantissa));
  Instruction* inst = make_op(ctx, Opcode::ReducePrecision, ctx.in);
  inst->mutable_attrs().exponent_bits = exponent;
  inst->mutable_attrs().mantissa_bits = mantissa;
  return Status::ok();
}

Status Importer::constant_op(OpContext& ctx) {
  const Attr* value = ctx.op.attr("value");
  if (!value) return fail(ctx, "attribute 'value' is missing");
  if (ctx.op.result_types.size() != 1) return fail(ctx, "one result expected");
  ctx.out.resize(1);
  return constant(ctx, *value, ctx.result(), &ctx.out[0]);
}

}  // namespace ncc::hlo::mlir
