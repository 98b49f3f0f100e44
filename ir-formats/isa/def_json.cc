#include "ir-formats/isa/def_json.h"

#include <nlohmann/json.hpp>
#include <set>

#include "common/arch/arch.h"
#include "ir-formats/isa/descriptor_json.h"

namespace ncc::isa {
namespace {

using nlohmann::json;

constexpr int64_t kStateBufferBytes = 32 << 20;  // the address window, so that strided offsets stay inside
constexpr int kAlignment = 64;
constexpr int kMaxQueueName = 31;
constexpr int kMaxCompletionCount = 16;

struct KindName {
  VariableKind kind;
  std::string_view name;
};
constexpr KindName kKindNames[] = {{VariableKind::Input, "input"},
                                   {VariableKind::Output, "output"},
                                   {VariableKind::Const, "file"},
                                   {VariableKind::Internal, "tmp-buf"}};

struct TypeName {
  QueueType type;
  std::string_view name;
};
// def.json spells some queue types its own way; the others keep their IR name.
constexpr TypeName kTypeNames[] = {{QueueType::Input, "in"}, {QueueType::Output, "out"}};

std::string_view queue_type_name(QueueType type) {
  for (const TypeName& row : kTypeNames)
    if (row.type == type) return row.name;
  return name(type);
}
std::optional<QueueType> queue_type_from(std::string_view text) {
  for (const TypeName& row : kTypeNames)
    if (row.name == text) return row.type;
  return from_name<QueueType>(text);
}

std::string_view target_name(int generation) {
  return generation == 2 ? "sunda" : generation == 3 ? "cayman" : "mariana";
}

Status bad(const std::string& problem) { return error(Code::EISA001, "def.json: " + problem); }
Status cannot(const std::string& what, const std::string& problem) {
  return error(Code::EISA002, what, problem);
}

Result<json> variables_json(const Program& program) {
  json var = json::object();
  var[state_buffer_name(program.variables)] = {
      {"type", "state-buffer"}, {"var_id", 0}, {"size", kStateBufferBytes}};
  std::set<std::string_view> names;
  int id = 1;
  for (const Variable& variable : program.variables) {
    if (variable.name.empty() || !names.insert(variable.name).second)
      return cannot("variable '" + variable.name + "'", "names must be unique and not empty");
    if (variable.size_bytes < 0) return cannot("variable '" + variable.name + "'", "its size is negative");
    json record;
    for (const KindName& row : kKindNames)
      if (row.kind == variable.kind) record["type"] = row.name;
    record["var_id"] = id++;
    record["size"] = variable.size_bytes;
    record["alignment"] = kAlignment;
    if (variable.kind == VariableKind::Const) {
      record["file_name"] = kConstantsFile;
      record["file_offset"] = variable.const_offset;
    }
    var[variable.name] = std::move(record);
  }
  return var;
}

Result<json> queues_json(const Program& program) {
  json queues = json::object();
  std::set<std::string_view> names;
  int id = 0;
  for (const DmaQueue& queue : program.queues) {
    const std::string what = "queue '" + queue.name + "'";
    if (queue.name.empty() || queue.name.size() > kMaxQueueName || !names.insert(queue.name).second)
      return cannot(what, "names must be unique and 1..31 characters long");
    if (queue.completion_count < 1 || queue.completion_count > kMaxCompletionCount)
      return cannot(what, fmt::format("completion count {} is not in 1..16", queue.completion_count));
    if (info(queue.trigger).package_token.empty() || info(queue.trigger).file_stem.empty())
      return cannot(what, fmt::format("engine {} has no stream to trigger it", name(queue.trigger)));
    queues[queue.name] = {{"queue_id", id++},
                          {"type", queue_type_name(queue.type)},
                          {"owner", info(queue.trigger).package_token},
                          {"num_queues", queue.completion_count},
                          {"semaphore", queue.semaphore}};
  }
  return queues;
}

// A typed member of a JSON object, or a diagnostic.
Result<int64_t> get_int(const json& object, const char* key, const std::string& where, int64_t low,
                        int64_t high, std::optional<int64_t> fallback = std::nullopt) {
  const auto found = object.find(key);
  if (found == object.end() && fallback) return *fallback;
  if (found == object.end() || !found->is_number_integer())
    return bad(fmt::format("{}: '{}' is no integer", where, key));
  if (found->is_number_unsigned() && found->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
    return bad(fmt::format("{}: '{}' is out of range", where, key));
  const auto value = found->get<int64_t>();
  if (value < low || value > high)
    return bad(fmt::format("{}: '{}' is {}, not in {}..{}", where, key, value, low, high));
  return value;
}
Result<std::string> get_string(const json& object, const char* key, const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string())
    return bad(fmt::format("{}: '{}' is no string", where, key));
  return found->get<std::string>();
}

Result<Variable> read_variable(const std::string& name, const json& record) {
  const std::string where = "variable '" + name + "'";
  Variable variable;
  variable.name = name;
  NCC_ASSIGN(const std::string type, get_string(record, "type", where));
  const KindName* kind = nullptr;
  for (const KindName& row : kKindNames)
    if (row.name == type) kind = &row;
  if (kind == nullptr) return bad(fmt::format("{}: type '{}' is not implemented", where, type));
  variable.kind = kind->kind;
  NCC_ASSIGN(variable.size_bytes, get_int(record, "size", where, 0, INT64_MAX / 4));
  if (variable.kind == VariableKind::Const) {
    NCC_ASSIGN(variable.const_offset, get_int(record, "file_offset", where, 0, INT64_MAX / 4, 0));
  }
  return variable;
}

Status read_variables(const json& var, Program& program) {
  if (!var.is_object()) return bad("'var' is no object");
  const auto count = static_cast<int64_t>(var.size());
  std::vector<std::optional<Variable>> by_id(var.size());
  std::string state_buffer;
  for (const auto& [name, record] : var.items()) {
    const std::string where = "variable '" + name + "'";
    if (!record.is_object()) return bad(where + " is no object");
    NCC_ASSIGN(const int64_t id, get_int(record, "var_id", where, 0, count - 1));
    if (id == 0) {
      NCC_ASSIGN(const std::string type, get_string(record, "type", where));
      if (type != "state-buffer" || !state_buffer.empty())
        return bad("variable id 0 must be the one state buffer");
      state_buffer = name;
      continue;
    }
    NCC_ASSIGN(Variable variable, read_variable(name, record));
    if (by_id[static_cast<size_t>(id)]) return bad(fmt::format("{}: variable id {} is taken", where, id));
    by_id[static_cast<size_t>(id)] = std::move(variable);
  }
  for (size_t id = 1; id < by_id.size(); ++id) {
    if (!by_id[id]) return bad(fmt::format("variable id {} is missing", id));
    program.variables.push_back(std::move(*by_id[id]));
  }
  if (state_buffer != state_buffer_name(program.variables))
    return bad("the state buffer is missing or has an unusual name");
  return Status::ok();
}

Status read_queues(const json& queues, Program& program) {
  if (!queues.is_object()) return bad("'dma_queue' is no object");
  std::vector<std::optional<DmaQueue>> by_id(queues.size());
  for (const auto& [name, record] : queues.items()) {
    const std::string where = "queue '" + name + "'";
    if (!record.is_object()) return bad(where + " is no object");
    DmaQueue queue;
    queue.name = name;
    NCC_ASSIGN(const std::string type, get_string(record, "type", where));
    const std::optional<QueueType> known = queue_type_from(type);
    if (!known) return bad(fmt::format("{}: type '{}' is unknown", where, type));
    queue.type = *known;
    NCC_ASSIGN(const std::string owner, get_string(record, "owner", where));
    bool owned = false;
    for (const Engine engine : kStreamEngines) {
      if (info(engine).package_token != owner) continue;
      queue.trigger = engine;
      owned = true;
    }
    if (!owned) return bad(fmt::format("{}: owner '{}' is no engine", where, owner));
    NCC_ASSIGN(const int64_t count, get_int(record, "num_queues", where, 1, kMaxCompletionCount, 1));
    queue.completion_count = static_cast<int32_t>(count);
    NCC_ASSIGN(const int64_t semaphore, get_int(record, "semaphore", where, 0, 255));
    queue.semaphore = static_cast<uint8_t>(semaphore);
    NCC_ASSIGN(const int64_t id,
               get_int(record, "queue_id", where, 0, static_cast<int64_t>(queues.size()) - 1));
    if (by_id[static_cast<size_t>(id)]) return bad(fmt::format("{}: queue id {} is taken", where, id));
    by_id[static_cast<size_t>(id)] = std::move(queue);
  }
  for (std::optional<DmaQueue>& queue : by_id) program.queues.push_back(std::move(*queue));
  return Status::ok();
}

}  // namespace

Result<std::string> write_def_json(const Program& program, bool e4m3fn) {
  json def = {{"name", "definition"}, {"version", "0.6"}, {"target", target_name(program.generation)}};
  for (const Engine engine : kStreamEngines) {
    const std::string token(info(engine).package_token), stem(info(engine).file_stem);
    def[token] = stem + ".json";
    def[token + "_instr"] = stem + ".bin";
    def[token + "_dbg"] = "debug_info_backend." + token + ".dbg";
    def[token + "_asm_dbg"] = "debug_info_asm." + token + ".dbg";
  }
  NCC_ASSIGN(def["var"], variables_json(program));
  NCC_ASSIGN(def["dma_queue"], queues_json(program));
  def["fp8_conversion_config"] = {{"ocp", e4m3fn}};
  def["neff_features"] = json::array();
  return def.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Definition> read_def_json(std::string_view text) {
  const json def = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!def.is_object()) return bad("malformed JSON");
  Definition definition;
  NCC_ASSIGN(const std::string target, get_string(def, "target", "top level"));
  const ArchModel* arch = find_arch(target);
  if (arch == nullptr) return bad(fmt::format("target '{}' is unknown", target));
  definition.program.generation = arch->generation;
  const auto section = [&](const char* key) { return def.contains(key) ? def.at(key) : json(); };
  NCC_TRY(read_variables(section("var"), definition.program));
  NCC_TRY(read_queues(section("dma_queue"), definition.program));
  const json fp8 = section("fp8_conversion_config");
  const auto ocp = fp8.is_object() ? fp8.find("ocp") : fp8.end();
  definition.e4m3fn = fp8.is_object() && ocp != fp8.end() && ocp->is_boolean() && ocp->get<bool>();
  return definition;
}

}  // namespace ncc::isa
