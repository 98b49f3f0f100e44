#include "tools/hlo2penguin/io_config.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "common/files/files.h"

namespace ncc::hlo2penguin {
namespace {

using nlohmann::ordered_json;

Status bad(const std::string& problem) { return error(Code::EARG001, "--io-config: " + problem); }

struct TypeName {
  std::string_view name;
  Dtype dtype;
};
// Names that are neither HLO's, StableHLO's nor the machine's.
constexpr TypeName kTypeNames[] = {
    {"bool", Dtype::Pred}, {"float64", Dtype::F64}, {"complex64", Dtype::C64}, {"complex128", Dtype::C128},
    {"float", Dtype::F32}, {"half", Dtype::F16},    {"double", Dtype::F64}};

std::optional<Dtype> find_type(const std::string& name) {
  for (const TypeName& row : kTypeNames)
    if (row.name == name) return row.dtype;
  if (const std::optional<Dtype> found = dtype_from_hlo(name)) return found;
  if (const std::optional<Dtype> found = dtype_from_machine(name)) return found;
  return dtype_from_mlir(name);
}

std::string without_port(std::string name) {
  if (name.ends_with(":0")) name.resize(name.size() - 2);
  return name;
}

/// The parameter that a name stands for; -1 = none.
int64_t find_parameter(const std::string& declared, const std::vector<hlo::Instruction*>& parameters) {
  for (const std::string& name : {declared, without_port(declared)})
    for (size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i]->name == name || name == fmt::format("input{}", i) ||
          name == fmt::format("input_{}", i))
        return static_cast<int64_t>(i);
  return -1;
}

struct Declared {
  std::vector<int64_t> sizes;  // -1 = any
  Dtype dtype = Dtype::F32;
  std::string text;
};

Result<Declared> read_declared(const std::string& name, const ordered_json& value) {
  const auto malformed = [&] {
    return bad(fmt::format("input '{}' is {}, expected [[size, ...], \"type\"]", name, value.dump()));
  };
  if (!value.is_array() || value.size() != 2 || !value[0].is_array() || !value[1].is_string())
    return malformed();
  Declared declared;
  for (const ordered_json& size : value[0]) {
    if (!size.is_null() && !size.is_number_integer()) return malformed();
    declared.sizes.push_back(size.is_null() ? -1 : size.get<int64_t>());
    declared.text += fmt::format("{}{}", declared.text.empty() ? "" : ",",
                                 declared.sizes.back() < 0 ? "?" : std::to_string(declared.sizes.back()));
  }
  const std::optional<Dtype> dtype = find_type(value[1].get<std::string>());
  if (!dtype)
    return bad(fmt::format("input '{}' has the unknown type '{}'", name, value[1].get<std::string>()));
  declared.dtype = *dtype;
  declared.text = fmt::format("{}[{}]", info(*dtype).hlo, declared.text);
  return declared;
}

bool agrees(const Declared& declared, const hlo::Shape& shape) {
  if (!shape.is_array() || shape.dtype != declared.dtype || shape.dims.size() != declared.sizes.size())
    return false;
  for (size_t d = 0; d < shape.dims.size(); ++d)
    if (declared.sizes[d] >= 0 && !shape.is_dynamic_dim(static_cast<int64_t>(d)) &&
        declared.sizes[d] != shape.dims[d])
      return false;
  return true;
}

Status check_inputs(const ordered_json& inputs, const hlo::Module& model) {
  if (!inputs.is_object()) return bad("'inputs' is no object");
  const std::vector<hlo::Instruction*> parameters = model.entry()->parameters();
  std::vector<std::string> named(parameters.size());
  for (const auto& [name, value] : inputs.items()) {
    NCC_ASSIGN(const Declared declared, read_declared(name, value));
    const int64_t found = find_parameter(name, parameters);
    if (found < 0) {
      std::string known;
      for (const hlo::Instruction* parameter : parameters)
        known += fmt::format("{}'{}'", known.empty() ? "" : ", ", parameter->name);
      return bad(
          fmt::format("input '{}' is none of the model's {}", name, known.empty() ? "(it has none)" : known));
    }
    const auto index = static_cast<size_t>(found);
    if (!named[index].empty())
      return bad(fmt::format("inputs '{}' and '{}' are the same parameter", named[index], name));
    named[index] = name;
    if (!agrees(declared, parameters[index]->shape))
      return bad(fmt::format("input '{}' is declared as {}, the model has {}", name, declared.text,
                             to_string(parameters[index]->shape)));
  }
  for (size_t i = 0; i < parameters.size(); ++i)
    if (named[i].empty())
      return bad(fmt::format("input '{}' of the model, {}, is not declared", parameters[i]->name,
                             to_string(parameters[i]->shape)));
  return Status::ok();
}

Status check_outputs(const ordered_json& outputs, const hlo::Module& model) {
  if (!outputs.is_array()) return bad("'outputs' is no list");
  const int64_t results = hlo::leaf_count(model.entry()->root()->shape);
  if (static_cast<int64_t>(outputs.size()) != results)
    return bad(fmt::format("{} outputs are declared, the model has {}", outputs.size(), results));
  return Status::ok();
}

}  // namespace

Status check_io_config(const std::string& config, const hlo::Module& model) {
  std::string text = config;
  if (!text.starts_with('{')) {
    NCC_ASSIGN(text, read_file(config));
  }
  const ordered_json top = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!top.is_object()) return bad("it is neither a JSON object nor a file that holds one");
  for (const auto& [key, value] : top.items()) {
    if (key == "inputs")
      NCC_TRY(check_inputs(value, model));
    else if (key == "outputs")
      NCC_TRY(check_outputs(value, model));
    else
      return bad(fmt::format("unknown key '{}', expected inputs or outputs", key));
  }
  return Status::ok();
}

}  // namespace ncc::hlo2penguin
