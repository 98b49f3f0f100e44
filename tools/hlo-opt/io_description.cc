#include "tools/hlo-opt/io_description.h"

#include <nlohmann/json.hpp>

namespace ncc::hlo_opt {

using nlohmann::ordered_json;

std::string io_json(const penguin::Module& module) {
  const auto list = [&](const std::vector<penguin::IoBinding>& bindings) {
    ordered_json rows = ordered_json::array();
    for (const penguin::IoBinding& binding : bindings) {
      const penguin::Tensor& tensor = module.main().tensors[binding.tensor];
      rows.push_back({{"name", binding.name},
                      {"dtype", info(binding.declared_dtype).hlo},
                      {"shape", binding.declared_shape},
                      {"variable", tensor.name},
                      {"device_dtype", info(tensor.dtype == Dtype::Pred ? Dtype::U8 : tensor.dtype).hlo},
                      {"device_shape", tensor.shape},
                      {"conversion", binding.conversion}});
    }
    return rows;
  };
  ordered_json root;
  root["inputs"] = list(module.inputs);
  root["outputs"] = list(module.outputs);
  return root.dump(1) + "\n";
}

std::string tensor_map_json(const penguin::Module& module) {
  ordered_json root = ordered_json::object();
  const auto add = [&](const std::vector<penguin::IoBinding>& bindings, const char* kind) {
    for (size_t n = 0; n < bindings.size(); ++n)
      root[module.main().tensors[bindings[n].tensor].name] = {
          {"name", bindings[n].name}, {"kind", kind}, {"index", n}};
  };
  add(module.inputs, "input");
  add(module.outputs, "output");
  return root.dump(1) + "\n";
}

}  // namespace ncc::hlo_opt
