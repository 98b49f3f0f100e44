#include "ir-formats/neff/graph_json.h"

#include <nlohmann/json.hpp>

namespace ncc::neff {
namespace {

using nlohmann::json;

constexpr std::string_view kGraphVersion = "0.5";
constexpr const char* kRepetitionsKey = "execute_repetition";

std::string dump(const json& value) {
  return value.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

// The loader knows few names; 8-bit floats travel as bytes (§5.2).
std::string_view graph_dtype(Dtype dtype) {
  switch (dtype) {
    case Dtype::S64:
      return "int64";
    case Dtype::U64:
      return "uint64";
    case Dtype::F64:
      return "float64";
    case Dtype::C64:
      return "complex64";
    case Dtype::C128:
      return "complex128";
    default:
      if (is_float(dtype) && size_bytes(dtype) == 1) return "uint8";
      return info(dtype).machine.empty() ? "uint8" : info(dtype).machine;
  }
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

}  // namespace

std::string_view target_name(int generation) {
  return generation == 2 ? "sunda" : generation == 3 ? "cayman" : "mariana";
}

std::string write_info(const std::string& name, int generation, int num_subgraphs, int64_t repetitions) {
  json top = {{"name", name},
              {"tool_version", kToolVersion},
              {"version", kGraphVersion},
              {"target", target_name(generation)},
              {"lnc_size", 1},
              {"num_tpb", num_subgraphs},
              {"build", {{"flags", json::array()}}}};
  if (repetitions != 1) top[kRepetitionsKey] = repetitions;
  return dump(top);
}

Result<int64_t> read_repetitions(std::string_view text) {
  const json top = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!top.is_object()) return error(Code::ENEF001, "info.json: malformed JSON");
  const auto found = top.find(kRepetitionsKey);
  if (found == top.end()) return int64_t{1};
  if (!found->is_number_integer() || found->get<int64_t>() < 1)
    return error(Code::ENEF001, fmt::format("info.json: '{}' is {}, expected a whole number of at least 1",
                                            kRepetitionsKey, found->dump()));
  return found->get<int64_t>();
}

std::string write_graph(const ProgramIo& io) {
  json nodes = json::array(), arg_nodes = json::array(), inputs = json::array(), heads = json::array(),
       output_names = json::array(), rows = json::array(), dtypes = json::array(), shapes = json::array(),
       storage = json::array();
  const auto kelf_node = static_cast<int64_t>(io.inputs.size());
  int64_t entry = 0;
  const auto add_entry = [&](const IoTensor& tensor) {
    dtypes.push_back(graph_dtype(tensor.dtype));
    shapes.push_back(tensor.shape);
    storage.push_back(entry++);
  };
  for (const IoTensor& tensor : io.inputs) {
    const auto id = static_cast<int64_t>(nodes.size());
    rows.push_back(entry);
    nodes.push_back({{"op", "null"},
                     {"name", tensor.name},
                     {"inputs", json::array()},
                     {"attrs",
                      {{"is_param", "0"},
                       {"id", std::to_string(id)},
                       {"dtype", graph_dtype(tensor.dtype)},
                       {"shape", shape_text(tensor.shape)}}}});
    arg_nodes.push_back(id);
    inputs.push_back({id, 0, 0});
    add_entry(tensor);
  }
  rows.push_back(entry);
  for (const IoTensor& tensor : io.outputs) {
    heads.push_back({kelf_node, static_cast<int64_t>(heads.size()), 0});
    output_names.push_back(tensor.name);
    add_entry(tensor);
  }
  rows.push_back(entry);
  nodes.push_back({{"op", "tvm_op"},
                   {"name", "sg_coreV10"},
                   {"inputs", inputs},
                   {"output_names", output_names},
                   {"attrs",
                    {{"func_name", "__kelf"},
                     {"flatten_data", "0"},
                     {"num_inputs", std::to_string(io.inputs.size())},
                     {"num_outputs", std::to_string(io.outputs.size())},
                     {"kelf", "kelf-0.json"}}}});
  return dump({{"version", kGraphVersion},
               {"nodes", nodes},
               {"arg_nodes", arg_nodes},
               {"heads", heads},
               {"node_row_ptr", rows},
               {"attrs",
                {{"dltype", json::array({"list_str", dtypes})},
                 {"shape", json::array({"list_shape", shapes})},
                 {"storage_id", json::array({"list_int", storage})}}}});
}

std::string write_kelf(int generation, int num_subgraphs) {
  json graphs = json::array();
  for (int i = 0; i < num_subgraphs; ++i)
    graphs.push_back(
        {{"name", fmt::format("sg{:02}", i)}, {"definition", fmt::format("sg{:02}/def.json", i)}});
  return dump({{"version", kGraphVersion}, {"target", target_name(generation)}, {"graphs", graphs}});
}

std::string write_tensor_map(const ProgramIo& io) {
  json inputs = json::array(), outputs = json::array(), aliases = json::array();
  for (const IoTensor& tensor : io.inputs) inputs.push_back(tensor.name);
  for (const IoTensor& tensor : io.outputs) {
    outputs.push_back(tensor.name);
    if (!tensor.alias.empty())
      aliases.push_back({{"input_name", tensor.alias}, {"output_name", tensor.name}, {"must_alias", false}});
  }
  return dump({{"inputs", inputs}, {"outputs", outputs}, {"alias_map", aliases}});
}

Result<Kelf> read_kelf(std::string_view text) {
  const json top = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto bad = [](const std::string& problem) { return error(Code::ENEF001, "kelf-0.json: " + problem); };
  if (!top.is_object() || !top.contains("target") || !top["target"].is_string() || !top.contains("graphs") ||
      !top["graphs"].is_array())
    return bad("'target' and 'graphs' are missing");
  Kelf kelf{top["target"].get<std::string>(), {}};
  for (const json& graph : top["graphs"]) {
    if (!graph.is_object() || !graph.contains("definition") || !graph["definition"].is_string())
      return bad("a graph has no definition");
    kelf.definitions.push_back(graph["definition"].get<std::string>());
  }
  if (kelf.definitions.empty()) return bad("there is no graph");
  return kelf;
}

}  // namespace ncc::neff
