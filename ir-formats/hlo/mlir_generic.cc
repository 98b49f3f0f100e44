// Modules and functions in generic form: what the pretty form says in its own syntax stands in properties
// there. Both end as the same tree. Source: spec/stablehlo-text.md §1.2, §1.4.
#include <algorithm>

#include "ir-formats/hlo/mlir_parser.h"

namespace ncc::hlo::mlir {
namespace {

// The dictionaries of a property like `arg_attrs`, one per argument or result.
std::vector<AttrDict> dictionaries(const Op& op, std::string_view property, size_t count) {
  std::vector<AttrDict> found(count);
  const Attr* list = op.attr(property);
  for (size_t i = 0; list && i < std::min(count, list->items.size()); ++i) found[i] = list->items[i].entries;
  return found;
}

void erase(AttrDict* attrs, std::string_view key) {
  attrs->erase(std::remove_if(attrs->begin(), attrs->end(), [&](const auto& e) { return e.first == key; }),
               attrs->end());
}

}  // namespace

// "func.func"() <{sym_name = "f", function_type = (…) -> …, arg_attrs = […], res_attrs = […]}> ({…})
Status Parser::complete_function(Op* op) {
  const Attr* name = op->attr("sym_name");
  if (!name || name->kind != Attr::Kind::String) return fail_at(op->offset, "expected a function name");
  const Attr* type = op->attr("function_type");
  if (!type || type->kind != Attr::Kind::Type || type->text != kFunctionType)
    return fail_at(op->offset, "expected a function type");
  if (op->regions.size() != 1) return fail_at(op->offset, "a function has one body");
  Region& body = op->regions[0];
  if (!body.ops.empty() && body.args.size() != type->inputs.size())
    return fail_at(op->offset, fmt::format("the body takes {} values, the function type has {}",
                                           body.args.size(), type->inputs.size()));
  for (size_t i = 0; i < body.args.size(); ++i) {
    if (!compatible(body.args[i].type, type->inputs[i]))
      return fail_at(op->offset, fmt::format("argument {} is a {}, the function type has {}", i,
                                             to_string(body.args[i].type), to_string(type->inputs[i])));
  }
  op->result_types = type->results;
  op->result_attrs = dictionaries(*op, "res_attrs", op->result_types.size());
  std::vector<AttrDict> arguments = dictionaries(*op, "arg_attrs", body.args.size());
  for (size_t i = 0; i < body.args.size(); ++i) body.args[i].attrs = std::move(arguments[i]);
  for (std::string_view key : {"function_type", "arg_attrs", "res_attrs"}) erase(&op->attrs, key);
  if (!op->attr("sym_visibility")) {
    Attr visible;
    visible.kind = Attr::Kind::String;
    visible.text = "public";
    op->attrs.emplace_back("sym_visibility", std::move(visible));
  }
  return Status::ok();
}

// "builtin.module"() <{sym_name = "m"}> ({…}) {attributes}: its operations are those of the file.
Status Parser::unwrap_module(std::unique_ptr<Op> op, File* file) {
  if (op->regions.size() != 1) return fail_at(op->offset, "a module has one body");
  if (const Attr* name = op->attr("sym_name")) file->module_name = name->text;
  erase(&op->attrs, "sym_name");
  for (auto& attr : op->attrs) file->module_attrs.push_back(std::move(attr));
  for (auto& inner : op->regions[0].ops) file->ops.push_back(std::move(inner));
  return Status::ok();
}

}  // namespace ncc::hlo::mlir
