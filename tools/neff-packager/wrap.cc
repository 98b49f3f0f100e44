#include "tools/neff-packager/wrap.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/files/files.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/write.h"

namespace ncc::packager {
namespace {

using nlohmann::json;

constexpr const char* kTarget = "AwsNeuronNeff";

Status bad(const std::string& path, const std::string& problem) {
  return error(Code::EFIL003, path, "a list of I/O transposes", problem);
}

bool is_int_list(const json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_array() &&
         std::all_of(found->begin(), found->end(), [](const json& v) { return v.is_number_integer(); });
}

// Every element names a parameter, reshapes all of its elements and permutes the result's axes.
Status check_transposes(const std::string& path, const json& transposes, const hlo::Module& module) {
  if (!transposes.is_array()) return bad(path, "it is no list");
  for (const json& entry : transposes) {
    if (!entry.is_object() || !entry.contains("input_name") || !entry["input_name"].is_string() ||
        !is_int_list(entry, "reshape") || !is_int_list(entry, "transpose"))
      return bad(path, "an entry needs 'input_name', 'reshape' and 'transpose'");
    const std::string name = entry["input_name"].get<std::string>();
    const std::vector<hlo::Instruction*> parameters = module.entry()->parameters();
    const auto parameter = std::find_if(parameters.begin(), parameters.end(),
                                        [&](const hlo::Instruction* p) { return p->name == name; });
    if (parameter == parameters.end()) return bad(path, fmt::format("the model has no parameter '{}'", name));
    int64_t count = 1;
    for (const json& extent : entry["reshape"])
      if (__builtin_mul_overflow(count, extent.get<int64_t>(), &count))
        return bad(path, fmt::format("'{}': reshape is too large", name));
    if (!(*parameter)->shape.is_array() || count != (*parameter)->shape.num_elements())
      return bad(path,
                 fmt::format("'{}': reshape has {} elements, the parameter another number", name, count));
    std::vector<int64_t> axes = entry["transpose"].get<std::vector<int64_t>>();
    std::sort(axes.begin(), axes.end());
    std::vector<int64_t> all(entry["reshape"].size());
    std::iota(all.begin(), all.end(), 0);
    if (axes != all)
      return bad(path, fmt::format("'{}': transpose is no permutation of the reshaped axes", name));
  }
  return Status::ok();
}

bool is_empty(const hlo::Instruction& parameter) {
  return parameter.shape.is_array() && parameter.shape.num_elements() == 0;
}

std::unique_ptr<hlo::Module> build(const hlo::Module& model, const json& transposes,
                                   const std::string& neff) {
  auto module = std::make_unique<hlo::Module>(model.name());
  hlo::Computation* entry = module->add_computation("wrapped_neff");
  module->set_entry(entry);
  std::vector<hlo::Instruction*> operands;
  json names = json::array(), transposed = json::array();
  for (const hlo::Instruction* parameter : model.entry()->parameters()) {
    hlo::Instruction* copy = entry->add_parameter(parameter->index, parameter->shape, parameter->name);
    if (is_empty(*parameter)) continue;  // a NEFF has no empty inputs
    operands.push_back(copy);
    names.push_back(parameter->name);
  }
  for (const json& entry_json : transposes) transposed.push_back(entry_json["input_name"]);
  const hlo::Shape& result = model.entry()->root()->shape;
  hlo::Instruction* call = entry->add(hlo::Opcode::CustomCall, result, operands, "neff");
  hlo::Attributes& attributes = call->mutable_attrs();
  attributes.custom_call_target = kTarget;
  attributes.backend_config = neff;
  attributes.frontend_attributes = {{"neff_input_names", names.dump()},
                                    {"required_transpose", transposes.dump()},
                                    {"valid_inputs", transposed.dump()}};
  hlo::Instruction* root = call;
  if (result.is_tuple()) {
    std::vector<hlo::Instruction*> elements;
    for (size_t i = 0; i < result.elements.size(); ++i)
      elements.push_back(entry->add_get(call, static_cast<int64_t>(i)));
    root = entry->add_tuple(elements);
  }
  entry->set_root(root);
  return module;
}

}  // namespace

Status wrap(const WrapOptions& options, bool& wrote) {
  wrote = false;
  NCC_ASSIGN(const std::unique_ptr<hlo::Module> model, hlo::read_module(options.hlo));
  json transposes = json::array();
  if (!options.io_transposes.empty()) {
    NCC_ASSIGN(const std::string text, read_file(options.io_transposes));
    transposes = json::parse(text, nullptr, /*allow_exceptions=*/false);
    NCC_TRY(check_transposes(options.io_transposes, transposes, *model));
  }
  const std::vector<hlo::Instruction*> parameters = model->entry()->parameters();
  const bool has_empty = std::any_of(parameters.begin(), parameters.end(),
                                     [](const hlo::Instruction* p) { return is_empty(*p); });
  if (transposes.empty() && !has_empty) return Status::ok();
  NCC_ASSIGN(const std::string neff, read_file(options.neff));
  NCC_ASSIGN(const std::string bytes, hlo::write_hlo_proto(*build(*model, transposes, neff)));
  NCC_TRY(write_file(options.output, bytes));
  wrote = true;
  return Status::ok();
}

}  // namespace ncc::packager
