#include "ir-formats/neff/io.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace ncc::neff {
namespace {

using nlohmann::json;

struct ConversionRow {
  Conversion conversion;
  std::string_view name;
};
constexpr ConversionRow kConversions[] = {
#define CONVERSION(id, name) {Conversion::id, name},
#include "ir-formats/neff/conversions.def"
};

constexpr int64_t kMaxElements = int64_t{1} << 44;

Status bad(const std::string& problem) { return error(Code::ENEF001, "io.json: " + problem); }

Result<std::string> get_string(const json& record, const char* key, const std::string& where) {
  const auto found = record.find(key);
  if (found == record.end() || !found->is_string())
    return bad(fmt::format("{}: '{}' is no string", where, key));
  return found->get<std::string>();
}

Result<Dtype> get_dtype(const json& record, const char* key, const std::string& where) {
  NCC_ASSIGN(const std::string text, get_string(record, key, where));
  const std::optional<Dtype> dtype = dtype_from_hlo(text);
  if (!dtype || info(*dtype).kind == DtypeKind::Opaque)
    return bad(fmt::format("{}: element type '{}'", where, text));
  return *dtype;
}

Result<std::vector<int64_t>> get_shape(const json& record, const char* key, const std::string& where) {
  const auto found = record.find(key);
  if (found == record.end() || !found->is_array()) return bad(fmt::format("{}: '{}' is no list", where, key));
  std::vector<int64_t> shape;
  int64_t count = 1;
  for (const json& extent : *found) {
    if (!extent.is_number_integer() || extent.get<int64_t>() < 0 || extent.get<int64_t>() > kMaxElements)
      return bad(fmt::format("{}: '{}' has a bad extent", where, key));
    shape.push_back(extent.get<int64_t>());
    if (shape.back() != 0 && count > kMaxElements / shape.back())
      return bad(fmt::format("{}: '{}' is too large", where, key));
    count *= shape.back();
  }
  return shape;
}

Result<std::vector<IoTensor>> read_list(const json& top, const char* key) {
  const auto list = top.find(key);
  if (list == top.end() || !list->is_array()) return bad(fmt::format("'{}' is no list", key));
  std::vector<IoTensor> tensors;
  for (const json& record : *list) {
    const std::string where = fmt::format("{} {}", key, tensors.size());
    if (!record.is_object()) return bad(where + " is no object");
    IoTensor tensor;
    NCC_ASSIGN(tensor.name, get_string(record, "name", where));
    NCC_ASSIGN(tensor.variable, get_string(record, "variable", where));
    NCC_ASSIGN(tensor.dtype, get_dtype(record, "dtype", where));
    NCC_ASSIGN(tensor.shape, get_shape(record, "shape", where));
    NCC_ASSIGN(tensor.device_dtype, get_dtype(record, "device_dtype", where));
    NCC_ASSIGN(tensor.device_shape, get_shape(record, "device_shape", where));
    NCC_ASSIGN(const std::string conversion, get_string(record, "conversion", where));
    const auto* row = std::find_if(std::begin(kConversions), std::end(kConversions),
                                   [&](const ConversionRow& r) { return r.name == conversion; });
    if (row == std::end(kConversions))
      return bad(fmt::format("{}: conversion '{}' is unknown", where, conversion));
    tensor.conversion = row->conversion;
    if (record.contains("alias") && record.at("alias").is_string())
      tensor.alias = record.at("alias").get<std::string>();
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

json list_json(const std::vector<IoTensor>& tensors) {
  json list = json::array();
  for (const IoTensor& tensor : tensors) {
    json record = {{"name", tensor.name},
                   {"dtype", info(tensor.dtype).hlo},
                   {"shape", tensor.shape},
                   {"variable", tensor.variable},
                   {"device_dtype", info(tensor.device_dtype).hlo},
                   {"device_shape", tensor.device_shape},
                   {"conversion", name(tensor.conversion)}};
    if (!tensor.alias.empty()) record["alias"] = tensor.alias;
    list.push_back(std::move(record));
  }
  return list;
}

// Whether the device form is what the conversion makes of the declared one.
bool conversion_fits(const IoTensor& t) {
  const DtypeInfo &host = info(t.dtype), &device = info(t.device_dtype);
  const int64_t host_count = num_elements(t.shape), device_count = num_elements(t.device_shape);
  switch (t.conversion) {
    case Conversion::None:
      return host_count * size_bytes(t.dtype) == device_count * size_bytes(t.device_dtype);
    case Conversion::Pred:
      return host_count == device_count && host.kind == DtypeKind::Pred && size_bytes(t.device_dtype) == 1;
    case Conversion::Demote:
      return host_count == device_count && host.bits == 64 && device.bits == 32 && host.kind == device.kind;
    case Conversion::ComplexPlanes:
      return 2 * host_count == device_count && host.kind == DtypeKind::Complex &&
             t.device_dtype == Dtype::F32;
  }
  return false;
}

Status verify_list(const std::vector<IoTensor>& tensors, isa::VariableKind kind, const char* what,
                   const std::vector<isa::Variable>& variables) {
  std::unordered_map<std::string_view, const isa::Variable*> by_name;
  for (const isa::Variable& variable : variables) by_name.emplace(variable.name, &variable);
  for (const IoTensor& tensor : tensors) {
    const std::string where = fmt::format("{} '{}'", what, tensor.name);
    const auto found = by_name.find(tensor.variable);
    if (found == by_name.end())
      return bad(fmt::format("{}: there is no variable '{}'", where, tensor.variable));
    const isa::Variable& variable = *found->second;
    if (variable.kind != kind)
      return bad(fmt::format("{}: variable '{}' is of another kind", where, tensor.variable));
    const int64_t bytes = num_elements(tensor.device_shape) * size_bytes(tensor.device_dtype);
    if (variable.size_bytes < bytes)
      return bad(fmt::format("{}: variable '{}' has {} bytes, expected {}", where, tensor.variable,
                             variable.size_bytes, bytes));
    if (!conversion_fits(tensor))
      return bad(fmt::format("{}: conversion '{}' does not lead from {} to {}", where,
                             name(tensor.conversion), info(tensor.dtype).hlo, info(tensor.device_dtype).hlo));
  }
  return Status::ok();
}

}  // namespace

std::string_view name(Conversion conversion) { return kConversions[static_cast<size_t>(conversion)].name; }

int64_t num_elements(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

Result<ProgramIo> read_io(std::string_view text) {
  const json top = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!top.is_object()) return bad("malformed JSON");
  ProgramIo io;
  NCC_ASSIGN(io.inputs, read_list(top, "inputs"));
  NCC_ASSIGN(io.outputs, read_list(top, "outputs"));
  return io;
}

std::string write_io(const ProgramIo& io) {
  const json top = {{"inputs", list_json(io.inputs)}, {"outputs", list_json(io.outputs)}};
  return top.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Status verify_io(const ProgramIo& io, const std::vector<isa::Variable>& variables) {
  NCC_TRY(verify_list(io.inputs, isa::VariableKind::Input, "input", variables));
  return verify_list(io.outputs, isa::VariableKind::Output, "output", variables);
}

int64_t find_variable(const std::vector<isa::Variable>& variables, std::string_view name) {
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i].name == name) return static_cast<int64_t>(i);
  return -1;
}

}  // namespace ncc::neff
