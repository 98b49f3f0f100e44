// Control flow, calls and checks. HLO computations see only their parameters, so what a region captures is
// handed in: as further loop state of a while, as the branch operand of a conditional.
#include <algorithm>

#include "ir-formats/hlo/import.h"
#include "ir-formats/hlo/rewrite.h"
#include "ir-formats/hlo/wire_names.h"

namespace ncc::hlo::mlir {
namespace {

// The state of a loop or branch in one value: itself when it is one, else a tuple.
Shape packed_shape(const std::vector<Shape>& shapes) {
  return shapes.size() == 1 ? shapes[0] : Shape::make_tuple(shapes);
}

Instruction* pack(Computation* computation, const std::vector<Instruction*>& values, const SourceLoc& loc) {
  if (values.size() == 1) return values[0];
  Instruction* tuple = computation->add_tuple(values);
  tuple->loc = loc;
  return tuple;
}

std::vector<Instruction*> unpack(Computation* computation, Instruction* packed, size_t count) {
  if (count == 1) return {packed};
  std::vector<Instruction*> values;
  for (size_t i = 0; i < count; ++i) values.push_back(computation->add_get(packed, static_cast<int64_t>(i)));
  return values;
}

std::vector<Shape> shapes_of(const std::vector<Instruction*>& values) {
  std::vector<Shape> shapes;
  for (const Instruction* value : values) shapes.push_back(value->shape);
  return shapes;
}

}  // namespace

Status Importer::while_op(OpContext& ctx) {
  if (ctx.op.regions.size() != 2) return fail(ctx, "two regions expected");
  const Region& cond = ctx.op.regions[0];
  const Region& body = ctx.op.regions[1];
  if (cond.args.size() != ctx.in.size() || body.args.size() != ctx.in.size() ||
      ctx.op.result_types.size() != ctx.in.size())
    return fail(ctx, "operands, results and region arguments must be as many");
  std::vector<Instruction*> state = ctx.in;
  NCC_ASSIGN(std::vector<ValueRef> captured, threaded_captures(ctx, {&cond, &body}, &state));
  const Shape shape = packed_shape(shapes_of(state));
  const auto import_side = [&](const Region& region, const char* name,
                               bool returns_state) -> Result<Computation*> {
    Computation* computation = module_->add_computation(name);
    Instruction* parameter = computation->add_parameter(0, shape, "state");
    parameter->loc = ctx.loc;
    const std::vector<Instruction*> values = unpack(computation, parameter, state.size());
    Scope scope{computation, &ctx.scope, {}};
    for (size_t i = 0; i < region.args.size(); ++i) {
      if (!compatible(region.args[i].type, values[i]->shape))
        return error(Code::EVRF004, ctx.loc,
                     fmt::format("{} (line {}): type of region argument {}", ctx.op.name, ctx.op.line, i),
                     to_string(region.args[i].type), to_string(values[i]->shape));
      scope.values[region.args[i].name] = {values[i]};
    }
    for (size_t i = 0; i < captured.size(); ++i) {
      // Packs are bound whole; members that are not captured stay unbound.
      auto& slot = scope.values[captured[i].name];
      const size_t index = static_cast<size_t>(captured[i].index);
      if (slot.size() <= index) slot.resize(index + 1);
      slot[index] = values[region.args.size() + i];
    }
    std::vector<Instruction*> returned;
    NCC_TRY(import_ops(region, &scope, &returned));
    if (returns_state) {
      if (returned.size() != ctx.in.size())
        return fail(
            ctx, fmt::format("the body returns {} values for {} operands", returned.size(), ctx.in.size()));
      returned.insert(returned.end(), values.begin() + static_cast<long>(region.args.size()), values.end());
    }
    set_result(computation, std::move(returned));
    return computation;
  };
  NCC_ASSIGN(Computation * condition, import_side(cond, "while_cond", false));
  NCC_ASSIGN(Computation * loop, import_side(body, "while_body", true));
  Instruction* inst = make(ctx, Opcode::While, shape, {pack(ctx.computation(), state, ctx.loc)});
  inst->called = {loop, condition};
  std::vector<Instruction*> results = unpack(ctx.computation(), inst, state.size());
  results.resize(ctx.in.size());
  ctx.out = std::move(results);
  return Status::ok();
}

// if and case: the predicate's branches are true, then false.
Status Importer::conditional(OpContext& ctx) {
  if (ctx.in.size() != 1 || ctx.op.regions.empty())
    return fail(ctx, "one operand and at least one region expected");
  std::vector<Instruction*> operands = {ctx.in[0]};
  std::vector<Computation*> branches;
  for (const Region& region : ctx.op.regions) {
    std::vector<Instruction*> values;
    NCC_ASSIGN(std::vector<ValueRef> captured, threaded_captures(ctx, {&region}, &values));
    Computation* computation = module_->add_computation("branch");
    Instruction* parameter = computation->add_parameter(0, packed_shape(shapes_of(values)), "captured");
    parameter->loc = ctx.loc;
    Scope scope{computation, &ctx.scope, {}};
    const std::vector<Instruction*> inside = unpack(computation, parameter, values.size());
    for (size_t i = 0; i < captured.size(); ++i) {
      auto& slot = scope.values[captured[i].name];
      const size_t index = static_cast<size_t>(captured[i].index);
      if (slot.size() <= index) slot.resize(index + 1);
      slot[index] = inside[i];
    }
    std::vector<Instruction*> returned;
    NCC_TRY(import_ops(region, &scope, &returned));
    if (returned.size() != ctx.op.result_types.size())
      return fail(ctx, fmt::format("a branch returns {} values for {} results", returned.size(),
                                   ctx.op.result_types.size()));
    set_result(computation, std::move(returned));
    branches.push_back(computation);
    operands.push_back(pack(ctx.computation(), values, ctx.loc));
  }
  make_op(ctx, Opcode::Conditional, std::move(operands));
  Instruction* inst =
      ctx.op.result_types.size() == 1 ? ctx.out[0] : ctx.computation()->instructions().back().get();
  while (!inst->is(Opcode::Conditional)) inst = inst->operand(0);
  inst->called = std::move(branches);
  return Status::ok();
}

Result<Computation*> Importer::function(const OpContext& ctx, std::string_view name) const {
  const auto found = functions_.find(std::string(name));
  if (found == functions_.end()) return fail(ctx, fmt::format("unknown function @{}", name));
  if (!found->second.second) return unsupported(ctx, fmt::format("function @{} has no body", name));
  return found->second.second;
}

Status Importer::call(OpContext& ctx) {
  NCC_ASSIGN(Computation * callee, function(ctx, word(ctx, "callee")));
  const Op& func = *functions_.at(word(ctx, "callee")).first;
  if (func.regions[0].args.size() != ctx.in.size())
    return fail(ctx, fmt::format("{} operands for {} arguments", ctx.in.size(), func.regions[0].args.size()));
  for (size_t i = 0; i < ctx.in.size(); ++i) {
    if (!compatible(func.regions[0].args[i].type, ctx.in[i]->shape))
      return error(
          Code::EVRF004, ctx.loc,
          fmt::format("call of @{} (line {}): type of operand {}", word(ctx, "callee"), ctx.op.line, i),
          to_string(ctx.in[i]->shape), to_string(func.regions[0].args[i].type));
  }
  make_op(ctx, Opcode::Call, ctx.in)->called = {callee};
  return Status::ok();
}

Status Importer::composite(OpContext& ctx) {
  NCC_ASSIGN(Computation * callee, function(ctx, word(ctx, "decomposition")));
  Instruction* inst = make_op(ctx, Opcode::Call, ctx.in);
  inst->called = {callee};
  Attributes& a = inst->mutable_attrs();
  a.is_composite = true;
  const Attr* attributes = ctx.op.attr("composite_attributes");
  const Attr* version = ctx.op.attr("version");
  a.frontend_attributes = {{"composite.attributes", attributes ? std::string(attributes->source) : "{}"},
                           {"composite.name", word(ctx, "name")},
                           {"composite.version", fmt::format("{}", version ? version->integer : 0)}};
  return Status::ok();
}

namespace {

// Layouts of operands or results: dense index lists, minor to major.
bool operand_layouts(const Attr& attr, const std::vector<Instruction*>& operands, Attributes* a) {
  if (attr.items.size() != operands.size()) return false;
  for (size_t i = 0; i < operands.size(); ++i) {
    Shape shape = operands[i]->shape;
    const Attr& item = attr.items[i];
    if (item.kind == Attr::Kind::Dense && shape.is_array() && item.shape.num_elements() == shape.rank()) {
      std::vector<int64_t> order;
      for (int64_t d = 0; d < shape.rank(); ++d) order.push_back(item.literal.as_int64(item.splat ? 0 : d));
      shape.set_minor_to_major(std::move(order));
      if (!check_shape(shape, "operand layout").is_ok()) return false;
    }
    a->operand_shapes_with_layout.push_back(std::move(shape));
  }
  a->constrain_layout = true;
  return true;
}

constexpr int64_t kTypedApi = 4;  // API_VERSION_TYPED_FFI

// Attributes of a custom call with a place of their own.
constexpr std::string_view kCallAttributes[] = {
    "call_target_name",    "has_side_effect", "backend_config", "api_version",
    "called_computations", "operand_layouts", "result_layouts", "output_operand_aliases"};

std::string own_text(const Attr& attr) {
  return attr.kind == Attr::Kind::String ? attr.text : std::string(attr.source);
}

// The integer list `key` of a struct attribute; an absent one is empty.
bool integers(const Attr& attr, std::string_view key, std::vector<int64_t>* values) {
  const Attr* list = find(attr.entries, key);
  if (!list) return true;
  for (const Attr& item : list->items) {
    if (item.kind != Attr::Kind::Int) return false;
    values->push_back(item.integer);
  }
  return true;
}

}  // namespace

Status Importer::custom_call(OpContext& ctx) {
  if (word(ctx, "call_target_name") == "ragged_all_to_all" && ctx.in.size() == 6)
    return ragged_all_to_all(ctx);
  Instruction* inst = make_op(ctx, Opcode::CustomCall, ctx.in);
  Attributes& a = inst->mutable_attrs();
  a.custom_call_target = word(ctx, "call_target_name");
  // Checks have no result that anybody needs; they must survive all the same.
  a.custom_call_has_side_effect = flag(ctx, "has_side_effect") || a.custom_call_target.starts_with("check.");
  // A config that is a dictionary stands apart, beside an empty text.
  const Attr* config = ctx.op.attr("mhlo.backend_config");
  if (!config) config = ctx.op.attr("backend_config");
  if (config) a.backend_config = own_text(*config);
  NCC_TRY(integer(ctx, "api_version", &a.api_version, false));
  a.api_version = api_version_from_wire(a.api_version);
  // Such a config belongs to typed calls, whose version is not always spelled.
  if (ctx.op.attr("mhlo.backend_config") && !ctx.op.attr("api_version")) a.api_version = kTypedApi;
  if (const Attr* aliases = ctx.op.attr("output_operand_aliases")) {
    for (const Attr& item : aliases->items) {
      OutputAlias alias;
      if (!integers(item, "output_tuple_indices", &alias.output_index) ||
          !integers(item, "operand_tuple_indices", &alias.operand_index))
        return fail(ctx, "bad output aliases");
      if (const Attr* operand = find(item.entries, "operand_index")) alias.operand = operand->integer;
      a.output_aliases.push_back(std::move(alias));
    }
  }
  if (const Attr* called = ctx.op.attr("called_computations")) {
    for (const Attr& item : called->items) {
      NCC_ASSIGN(Computation * callee, function(ctx, item.text));
      inst->called.push_back(callee);
    }
  }
  if (const Attr* layouts = ctx.op.attr("operand_layouts")) {
    if (!operand_layouts(*layouts, ctx.in, &a)) return fail(ctx, "bad operand layouts");
  }
  if (const Attr* carried = ctx.op.attr("mhlo.attributes")) {
    for (const auto& [key, value] : carried->entries) {
      if (key == "k") a.k = value.integer;
      if (key == "largest") a.largest = value.integer != 0;
    }
  }
  // What else a target's own attributes say; those with a dot are kept for every op.
  for (const auto& [key, value] : ctx.op.attrs) {
    const bool named =
        std::find(std::begin(kCallAttributes), std::end(kCallAttributes), key) != std::end(kCallAttributes);
    if (!named && key.find('.') == std::string::npos) a.raw.emplace_back(key, own_text(value));
  }
  restore_opcode(inst);
  return Status::ok();
}

// check.* ops become custom-calls of the same name; numbers stay with them as raw attributes.
Status Importer::check(OpContext& ctx) {
  std::vector<Instruction*> operands = ctx.in;
  if (const Attr* value = ctx.op.attr("value")) {
    Instruction* expected = nullptr;
    NCC_TRY(constant(ctx, *value, value->shape, &expected));
    operands.push_back(expected);
  }
  Instruction* inst = make(ctx, Opcode::CustomCall, Shape::make_tuple({}), std::move(operands));
  Attributes& a = inst->mutable_attrs();
  a.custom_call_target = ctx.op.name;
  a.custom_call_has_side_effect = true;
  for (const auto& [key, value] : ctx.op.attrs) {
    if (key == "value") continue;
    std::string text(value.source);
    // Numbers without their type: "0.1 : f64" says nothing more than "0.1".
    if (const size_t colon = text.find(" :"); colon != std::string::npos && value.kind != Attr::Kind::String)
      text.resize(colon);
    while (!text.empty() && text.back() == ' ') text.pop_back();
    a.raw.emplace_back(key, value.kind == Attr::Kind::String ? value.text : text);
  }
  return Status::ok();
}

// The value itself; the interpreter keeps what passes for a later check.
Status Importer::probe(OpContext& ctx) {
  Instruction* inst = make_op(ctx, Opcode::CustomCall, ctx.in);
  Attributes& a = inst->mutable_attrs();
  a.custom_call_target = ctx.op.name;
  a.custom_call_has_side_effect = true;
  a.raw.emplace_back("probe_id", word(ctx, "probe_id"));
  return Status::ok();
}

// A custom-call of all programs of the grid, row by row (a row per replica), then of the functions that make
// infeed values; "grid" says how many rows and columns.
Status Importer::run_parallel(OpContext& ctx) {
  const Attr* programs = ctx.op.attr("programs");
  if (!programs || programs->items.empty()) return fail(ctx, "attribute 'programs' is missing");
  Instruction* inst = make_op(ctx, Opcode::CustomCall, ctx.in);
  const size_t columns = programs->items[0].items.size();
  for (const Attr& row : programs->items) {
    if (row.items.size() != columns || columns == 0)
      return fail(ctx, "rows of 'programs' must be equally long");
    for (const Attr& item : row.items) {
      NCC_ASSIGN(Computation * callee, function(ctx, item.text));
      inst->called.push_back(callee);
    }
  }
  if (const Attr* infeed = ctx.op.attr("infeed")) {
    for (const Attr& item : infeed->items) {
      NCC_ASSIGN(Computation * callee, function(ctx, item.text));
      inst->called.push_back(callee);
    }
  }
  Attributes& a = inst->mutable_attrs();
  a.custom_call_target = ctx.op.name;
  a.custom_call_has_side_effect = true;
  a.raw.emplace_back("grid", fmt::format("{}x{}", programs->items.size(), columns));
  return Status::ok();
}

// The body of a named computation stands where it is used.
Status Importer::named_computation(OpContext& ctx) {
  if (ctx.op.regions.size() != 1) return fail(ctx, "one region expected");
  const Region& region = ctx.op.regions[0];
  if (region.args.size() != ctx.in.size()) return fail(ctx, "one argument per operand expected");
  for (size_t i = 0; i < ctx.in.size(); ++i) {
    if (!compatible(region.args[i].type, ctx.in[i]->shape))
      return fail(ctx, fmt::format("operand {} has another type than its argument", i));
    ctx.scope.values[region.args[i].name] = {ctx.in[i]};
  }
  return import_ops(region, &ctx.scope, &ctx.out);
}

// As XLA writes it: the operands' parts, the body on one device's parts, the whole of its results.
Status Importer::manual_computation(OpContext& ctx) {
  if (ctx.op.regions.size() != 1) return fail(ctx, "one region expected");
  const Region& region = ctx.op.regions[0];
  if (region.args.size() != ctx.in.size()) return fail(ctx, "one argument per operand expected");
  const auto text = [&](std::string_view key, std::string_view open, std::string_view close) {
    const Attr* attr = ctx.op.attr(key);
    const std::string_view source = !attr ? "" : attr->text.empty() ? attr->source : attr->text;
    return source.starts_with('#') ? std::string(source) : fmt::format("{}{}{}", open, source, close);
  };
  const auto between = [&](std::string_view target, std::string_view key, std::string_view shardings,
                           std::vector<Instruction*> values, const std::vector<Shape>& shapes) {
    Instruction* inst = make(ctx, Opcode::CustomCall, packed_shape(shapes), std::move(values));
    Attributes& a = inst->mutable_attrs();
    a.custom_call_target = target;
    a.custom_call_has_side_effect = true;
    a.frontend_attributes = {{std::string(key), text(shardings, "#sdy.sharding_per_value<", ">")},
                             {"xla.sdy.manual_axes", text("manual_axes", "#sdy<manual_axes", ">")}};
    std::sort(a.frontend_attributes.begin(), a.frontend_attributes.end());
    return inst;
  };
  const auto elements = [&](Instruction* inst) {
    std::vector<Instruction*> values;
    if (!inst->shape.is_tuple()) return std::vector{inst};
    for (size_t i = 0; i < inst->shape.elements.size(); ++i)
      values.push_back(ctx.computation()->add_get(inst, static_cast<int64_t>(i)));
    return values;
  };
  std::vector<Shape> parts;
  for (const BlockArg& arg : region.args) parts.push_back(arg.type);
  std::vector<Instruction*> values = ctx.in;
  if (!values.empty())
    values = elements(
        between("xla.sdy.GlobalToLocalShape", "xla.sdy.in_shardings", "in_shardings", values, parts));
  NCC_ASSIGN(Computation * body, import_region(ctx, region, "xla.sdy.manual_computation_body"));
  Instruction* call = make(ctx, Opcode::Call, body->root()->shape, std::move(values));
  call->called = {body};
  call->mutable_attrs().frontend_attributes = {{"inlineable", "false"}};
  if (ctx.op.result_types.empty()) return Status::ok();
  ctx.out = elements(between("xla.sdy.LocalToGlobalShape", "xla.sdy.out_shardings", "out_shardings",
                             elements(call), ctx.op.result_types));
  return Status::ok();
}

Status Importer::async_start(OpContext& ctx) {
  if (ctx.op.regions.size() != 1) return fail(ctx, "one region expected");
  NCC_ASSIGN(Computation * body, import_region(ctx, ctx.op.regions[0], "async_body"));
  make_op(ctx, Opcode::AsyncStart, ctx.in)->called = {body};
  return Status::ok();
}

}  // namespace ncc::hlo::mlir
