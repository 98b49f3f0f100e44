#include <algorithm>
#include <set>
#include <unordered_set>

#include "ir-formats/hlo/import.h"
#include "ir-formats/hlo/print_attributes.h"
#include "ir-formats/hlo/structure.h"
#include "ir-formats/hlo/unique_names.h"

namespace ncc::hlo::mlir {
namespace {

std::string string_attr(const Op& op, std::string_view key) {
  const Attr* attr = op.attr(key);
  return attr ? attr->text : std::string();
}

// A constant small enough to be repeated inside a region instead of being carried into it.
bool is_cheap_constant(const Instruction* inst, int depth = 0) {
  constexpr int64_t kMaxBytes = 64;
  switch (inst->opcode) {
    case Opcode::Constant:
      return !inst->literal.is_tuple() && inst->shape.size_bytes() <= kMaxBytes;
    case Opcode::Iota:
      return true;
    case Opcode::Broadcast:
    case Opcode::Reshape:
    case Opcode::Convert:
      return depth < 4 && is_cheap_constant(inst->operand(0), depth + 1);
    default:
      return false;
  }
}

Instruction* clone_constant(const Instruction* inst, Computation* to) {
  std::vector<Instruction*> operands;
  for (const Instruction* operand : inst->operands) operands.push_back(clone_constant(operand, to));
  return to->add_clone(*inst, std::move(operands));
}

}  // namespace

Status Importer::fail_at(size_t offset, std::string_view why) const {
  return error(Code::EMLR001, lexer_.position(offset), why);
}

Status Importer::fail(const OpContext& ctx, std::string_view why) const {
  return error(Code::EMLR001, ctx.loc, lexer_.position(ctx.op.offset),
               fmt::format("{}: {}", ctx.op.name, why));
}

Status Importer::unsupported(const OpContext& ctx, std::string_view why) const {
  return error(Code::EVRF001, ctx.loc, ctx.op.name, fmt::format("{} (line {})", why, ctx.op.line));
}

Result<Instruction*> Importer::lookup(Scope* scope, const ValueRef& value) {
  for (Scope* from = scope; from; from = from->outer) {
    const auto found = from->values.find(value.name);
    if (found == from->values.end()) continue;
    if (value.index < 0 || value.index >= static_cast<int64_t>(found->second.size()))
      return fail_at(value.offset, fmt::format("%{} has no result #{}", value.name, value.index));
    Instruction* inst = found->second[static_cast<size_t>(value.index)];
    if (from == scope) return inst;
    if (!is_cheap_constant(inst))
      return error(
          Code::EVRF001, inst->loc, "capture",
          fmt::format("the region at {} uses %{} from outside", lexer_.position(value.offset), value.name));
    Instruction* copy = clone_constant(inst, scope->computation);
    if (found->second.size() == 1) scope->values[value.name] = {copy};
    return copy;
  }
  return fail_at(value.offset, fmt::format("unknown value %{}", value.name));
}

Status Importer::declare_functions() {
  for (const auto& op : file_.ops) {
    if (op->name == "sdy.mesh") {
      const Attr* mesh = op->attr("mesh");
      if (!mesh) return fail_at(op->offset, "a mesh has axes");
      const std::string_view axes = mesh->text.empty() ? mesh->source : mesh->text;
      meshes_ += fmt::format("{}{} = {}{}", meshes_.empty() ? "" : ", ", string_attr(*op, "sym_name"),
                             axes.starts_with('#') ? "" : "#sdy.mesh", axes);
      continue;
    }
    if (op->name != "func.func")
      return error(Code::EVRF001, location(op->loc, op->line), op->name, "not expected outside a function");
    if (op->regions.size() != 1) return fail_at(op->offset, "a function has one body");
    const std::string name = string_attr(*op, "sym_name");
    if (functions_.count(name))
      return fail_at(op->offset, fmt::format("function @{} is defined twice", name));
    Computation* computation = nullptr;
    if (!op->regions[0].ops.empty()) {
      computation = module_->add_computation(name);
      function_order_.push_back(op.get());
    }
    functions_[name] = {op.get(), computation};
  }
  return Status::ok();
}

// main, else the only public function, else the only one.
Status Importer::choose_entry() {
  const Op* entry = nullptr;
  std::vector<const Op*> visible;
  for (const Op* op : function_order_) {
    if (string_attr(*op, "sym_name") == "main") entry = op;
    if (string_attr(*op, "sym_visibility") != "private") visible.push_back(op);
  }
  if (!entry && visible.size() == 1) entry = visible[0];
  if (!entry && function_order_.size() == 1) entry = function_order_[0];
  if (!entry && !visible.empty()) entry = visible[0];
  if (!entry) return error(Code::EVRF003, "there is no function with a body");
  module_->set_entry(functions_[string_attr(*entry, "sym_name")].second);
  return Status::ok();
}

Status Importer::argument_attributes(const BlockArg& arg, Instruction* parameter, bool entry) {
  for (const auto& [key, value] : arg.attrs) {
    if (key == "mhlo.sharding" && is_json_group(value.text)) {
      parameter->mutable_attrs().sharding = value.text;
    } else if (key == "tf.aliasing_output" && entry) {
      module_->aliases.push_back({{value.integer}, parameter->index, {}, false});
    } else if (key == "jax.buffer_donor" && entry) {
      if (value.integer) module_->donors.push_back({parameter->index, {}});
    } else {
      parameter->mutable_attrs().raw.emplace_back(key, std::string(value.source));
    }
  }
  return Status::ok();
}

Status Importer::import_arguments(const Op& func, Scope* scope) {
  const bool entry = scope->computation->is_entry();
  int64_t number = 0;
  for (const BlockArg& arg : func.regions[0].args) {
    // JAX puts the argument's own name into its location; that is the name people know.
    const SourceLoc loc = location(arg.loc, func.line);
    std::string name = loc.op_name.empty() || !entry ? std::string(arg.name) : loc.op_name;
    if (name.empty()) name = fmt::format("arg{}", number);
    Instruction* parameter = scope->computation->add_parameter(number++, arg.type, name);
    parameter->loc = loc;
    NCC_TRY(argument_attributes(arg, parameter, entry));
    if (!arg.name.empty() && !scope->values.emplace(arg.name, std::vector<Instruction*>{parameter}).second)
      return fail_at(func.offset, fmt::format("argument %{} occurs twice", arg.name));
  }
  return Status::ok();
}

void Importer::set_result(Computation* computation, std::vector<Instruction*> values) {
  computation->set_root(values.size() == 1 ? values[0] : computation->add_tuple(std::move(values)));
}

Status Importer::import_function(const Op& func, Computation* computation) {
  Scope scope{computation, nullptr, {}};
  NCC_TRY(import_arguments(func, &scope));
  std::vector<Instruction*> returned;
  NCC_TRY(import_ops(func.regions[0], &scope, &returned));
  if (returned.size() != func.result_types.size())
    return fail_at(func.offset, fmt::format("the function returns {} values, its type has {}",
                                            returned.size(), func.result_types.size()));
  for (size_t i = 0; i < returned.size(); ++i) {
    if (!compatible(returned[i]->shape, func.result_types[i]))
      return error(Code::EVRF004, returned[i]->loc,
                   fmt::format("result {} of function @{}", i, computation->name()),
                   to_string(returned[i]->shape), to_string(func.result_types[i]));
  }
  if (computation->is_entry()) {
    for (const AttrDict& attrs : func.result_attrs) {
      const Attr* name = find(attrs, "jax.result_info");
      module_->result_names.push_back(name ? name->text : "");
    }
  }
  set_result(computation, std::move(returned));
  return Status::ok();
}

Status Importer::check_operand_types(const OpContext& ctx) const {
  if (ctx.op.operand_types.size() != ctx.in.size()) return Status::ok();
  for (size_t i = 0; i < ctx.in.size(); ++i) {
    if (!compatible(ctx.in[i]->shape, ctx.op.operand_types[i]) && !ctx.op.operand_types[i].is_tuple())
      return error(
          Code::EVRF004, ctx.loc,
          fmt::format("{} at {}: type of operand {}", ctx.op.name, lexer_.position(ctx.op.offset), i),
          to_string(ctx.op.operand_types[i]), to_string(ctx.in[i]->shape));
  }
  return Status::ok();
}

Status Importer::bind_results(OpContext& ctx) {
  size_t next = 0;
  for (const ResultDef& result : ctx.op.results) {
    std::vector<Instruction*> pack;
    for (int64_t i = 0; i < result.count; ++i) {
      if (next >= ctx.out.size()) return fail(ctx, "more results named than the op has");
      pack.push_back(ctx.out[next++]);
    }
    ctx.scope.values[result.name] = std::move(pack);
  }
  return Status::ok();
}

Status Importer::import_op(const Op& op, Scope* scope) {
  OpContext ctx{*scope, op, location(op.loc, op.line), location_details(op.loc), {}, {}};
  const Handler handler = handler_of(op.name);
  if (!handler) return unsupported(ctx, "not a known operation");
  for (const ValueRef& value : op.operands) {
    NCC_ASSIGN(Instruction * inst, lookup(scope, value));
    ctx.in.push_back(inst);
  }
  NCC_TRY(check_operand_types(ctx));
  if (++depth_ > 300) return fail(ctx, "nested too deeply");
  NCC_TRY((this->*handler)(ctx).with_loc(ctx.loc));
  --depth_;
  for (Instruction* out : ctx.out) {
    if (!out->loc_details && out->loc == ctx.loc) out->loc_details = ctx.loc_details;
  }
  keep_attributes(ctx);
  return bind_results(ctx);
}

Status Importer::import_ops(const Region& region, Scope* scope, std::vector<Instruction*>* returned) {
  for (const auto& op : region.ops) {
    const bool last = op == region.ops.back();
    if (op->name != "stablehlo.return" && op->name != "func.return" && op->name != "sdy.return") {
      NCC_TRY(import_op(*op, scope));
      continue;
    }
    if (!last) return fail_at(op->offset, "operations behind a return");
    for (const ValueRef& value : op->operands) {
      NCC_ASSIGN(Instruction * inst, lookup(scope, value));
      returned->push_back(inst);
    }
    return Status::ok();
  }
  return region.ops.empty() ? error(Code::EVRF003, "a region without a return")
                            : fail_at(region.ops.back()->offset, "the region does not end in a return");
}

Result<Computation*> Importer::import_region(OpContext& ctx, const Region& region, std::string name) {
  Computation* computation = module_->add_computation(std::move(name));
  Scope scope{computation, &ctx.scope, {}};
  int64_t number = 0;
  for (const BlockArg& arg : region.args) {
    Instruction* parameter = computation->add_parameter(number++, arg.type, std::string(arg.name));
    parameter->loc = ctx.loc;
    scope.values[arg.name] = {parameter};
  }
  std::vector<Instruction*> returned;
  NCC_TRY(import_ops(region, &scope, &returned));
  set_result(computation, std::move(returned));
  return computation;
}

namespace {

using ValueKey = std::pair<std::string_view, int64_t>;
ValueKey key_of(const ValueRef& value) { return {value.name, value.index}; }

}  // namespace

// Values used in a region, or below it, that are defined outside, in order of first use.
void Importer::free_values(const Region& region, std::vector<ValueRef>* free) {
  std::unordered_set<std::string_view> defined;
  std::set<ValueKey> seen;
  for (const ValueRef& value : *free) seen.insert(key_of(value));
  for (const BlockArg& arg : region.args) defined.insert(arg.name);
  const auto use = [&](const ValueRef& value) {
    if (!defined.count(value.name) && seen.insert(key_of(value)).second) free->push_back(value);
  };
  for (const auto& op : region.ops) {
    for (const ValueRef& value : op->operands) use(value);
    for (const Region& inner : op->regions) {
      std::vector<ValueRef> below;
      free_values(inner, &below);
      for (const ValueRef& value : below) use(value);
    }
    for (const ResultDef& result : op->results) defined.insert(result.name);
  }
}

// The captured values that have to be handed into the regions; cheap constants are repeated inside instead.
Result<std::vector<ValueRef>> Importer::threaded_captures(OpContext& ctx,
                                                          const std::vector<const Region*>& regions,
                                                          std::vector<Instruction*>* values) {
  std::vector<ValueRef> threaded, free;
  for (const Region* region : regions) free_values(*region, &free);
  for (const ValueRef& value : free) {
    NCC_ASSIGN(Instruction * inst, lookup(&ctx.scope, value));
    if (is_cheap_constant(inst)) continue;
    threaded.push_back(value);
    values->push_back(inst);
  }
  return threaded;
}

Status Importer::module_attributes() {
  for (const auto& [key, value] : file_.module_attrs) {
    if (key == "mhlo.num_replicas") {
      module_->replica_count = value.integer;
    } else if (key == "mhlo.num_partitions") {
      module_->num_partitions = value.integer;
    } else if (key == "mhlo.frontend_attributes") {
      for (const auto& [name, text] : value.entries)
        module_->frontend_attributes.emplace_back(name, text.text);
    }
  }
  if (!meshes_.empty()) module_->frontend_attributes.emplace_back("xla.sdy.meshes", "{" + meshes_ + "}");
  std::sort(module_->frontend_attributes.begin(), module_->frontend_attributes.end());
  return Status::ok();
}

Result<std::unique_ptr<Module>> Importer::run() {
  module_ = std::make_unique<Module>(file_.module_name.empty() ? "module" : file_.module_name);
  module_->text_file = file_name_;
  frames_.emplace(&module_->stack_frames);
  NCC_TRY(declare_functions());
  NCC_TRY(choose_entry());
  NCC_TRY(module_attributes());
  for (const Op* func : function_order_) {
    Computation* computation = functions_[string_attr(*func, "sym_name")].second;
    NCC_TRY(import_function(*func, computation));
  }
  // A result of one array is itself the output that `tf.aliasing_output = 0` names; only a tuple has
  // elements.
  if (!module_->entry()->root()->shape.is_tuple())
    for (InputOutputAlias& alias : module_->aliases)
      if (alias.output_index == std::vector<int64_t>{0}) alias.output_index.clear();
  NCC_TRY(finish_module(module_.get()));
  for (const auto& [inst, name] : unique_names(*module_)) const_cast<Instruction*>(inst)->name = name;
  return std::move(module_);
}

}  // namespace ncc::hlo::mlir
