// Reads BIR JSON: storages first, then instructions with their operands, then dependencies by name. Affine
// values in both wire formats as far as they are linear. Source: spec/bir.md §5.3, §6.
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "common/files/files.h"
#include "ir-formats/bir/attributes.h"
#include "ir-formats/bir/enums.h"
#include "ir-formats/bir/io.h"
#include "ir-formats/bir/verify.h"

namespace ncc::bir {
namespace {

using nlohmann::json;

constexpr int kMaxNesting = 64;

/// A defect of the document. Private to this file: parse_json turns it into EBIR001.
struct Malformed {
  std::string what;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> pattern, Args&&... args) {
  throw Malformed{fmt::format(pattern, std::forward<Args>(args)...)};
}

const json& at(const json& object, const char* key) {
  if (!object.is_object()) fail("an object with '{}' expected", key);
  const auto it = object.find(key);
  if (it == object.end()) fail("missing key '{}'", key);
  return *it;
}
const json* find(const json& object, const char* key) {
  if (!object.is_object()) fail("an object expected");
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}
const json& list(const json& value, const char* key) {
  if (!value.is_array()) fail("'{}' must be a list", key);
  return value;
}
int64_t integer(const json& value, const char* key) {
  if (value.is_boolean()) return value.get<bool>();
  if (!value.is_number_integer()) fail("'{}' must be an integer", key);
  return value.get<int64_t>();
}
int64_t integer_or(const json& object, const char* key, int64_t fallback) {
  const json* value = find(object, key);
  return value ? integer(*value, key) : fallback;
}
std::string text(const json& value, const char* key) {
  if (!value.is_string()) fail("'{}' must be a string", key);
  return value.get<std::string>();
}
float real(const json& value, const char* key) {
  if (value.is_string()) {
    const std::string s = value.get<std::string>();
    if (s == "inf") return std::numeric_limits<float>::infinity();
    if (s == "-inf") return -std::numeric_limits<float>::infinity();
    if (s == "nan") return std::numeric_limits<float>::quiet_NaN();
  }
  if (!value.is_number()) fail("'{}' must be a number", key);
  return static_cast<float>(value.get<double>());
}
template <class E>
E enumerator(const json& value, const char* key) {
  const std::string s = text(value, key);
  const auto found = isa::from_name<E>(s);
  if (!found) fail("'{}' is not a value of '{}'", s, key);
  return *found;
}
int read_dims(const json& value, const char* key, Dim* out, int max_rank) {
  list(value, key);
  if (static_cast<int>(value.size()) > max_rank) fail("'{}' has more than {} dims", key, max_rank);
  int rank = 0;
  for (const json& dim : value) {
    if (!dim.is_array() || dim.size() != 2) fail("'{}' must hold [step, count] pairs", key);
    out[rank++] = {integer(dim[0], key), integer(dim[1], key)};
  }
  return rank;
}

using NameMap = std::unordered_map<std::string, uint32_t>;

uint32_t resolve(const NameMap& names, const json& value, const char* key) {
  const std::string s = text(value, key);
  const auto it = names.find(s);
  if (it == names.end()) fail("'{}' names the unknown '{}'", key, s);
  return it->second;
}

class Reader {
 public:
  Module read(const json& root) {
    const int64_t version = integer(at(root, "version"), "version");
    if (version != 1 && version != 2) fail("version {} (1 or 2 expected)", version);
    module_.arch = text(at(root, "arch"), "arch");
    if (const json* queues = find(root, "queues"))
      for (const json& q : list(*queues, "queues")) {
        Queue queue;
        queue.name = text(at(q, "name"), "name");
        queue.type = enumerator<isa::QueueType>(at(q, "type"), "type");
        queue.num_dma_engines = static_cast<int32_t>(integer_or(q, "num_dma_engines", 16));
        if (const json* trigger = find(q, "trigger")) queue.trigger = enumerator<Engine>(*trigger, "trigger");
        enter(queue_names_, queue.name, module_.queues.size());
        module_.queues.push_back(std::move(queue));
      }
    if (const json* sources = find(root, "debug_info"))
      for (const json& s : list(*sources, "debug_info"))
        module_.sources.push_back({text_or(s, "name"), text_or(s, "op_name"), text_or(s, "file"),
                                   static_cast<int32_t>(integer_or(s, "line", 0))});
    for (const json& f : list(at(root, "functions"), "functions")) function(f);
    return std::move(module_);
  }

 private:
  static std::string text_or(const json& object, const char* key) {
    const json* value = find(object, key);
    return value ? text(*value, key) : std::string();
  }
  static void enter(NameMap& names, const std::string& name, size_t id) {
    if (!names.emplace(name, static_cast<uint32_t>(id)).second) fail("the name '{}' occurs twice", name);
  }
  static Dtype dtype(const json& value) {
    const std::string s = text(value, "dtype");
    const auto found = dtype_from_machine(s);
    if (!found) fail("'{}' is not an element type", s);
    return *found;
  }

  // ---- affine values ----

  affine::Ref expr(const json& e, int depth = 0) {
    if (depth > kMaxNesting) fail("an expression nested deeper than {}", kMaxNesting);
    if (e.is_number_integer()) return module_.affine->constant(e.get<int64_t>());
    const json* kind = find(e, "kind");
    if (!kind) return format1(e);
    const std::string k = text(*kind, "kind");
    if (k == "AffExprKind") {
      std::vector<affine::Term> terms;
      for (const json& term : list(at(e, "terms"), "terms")) {
        const json& idx = at(term, "idx");
        if (text(at(idx, "kind"), "kind") != "AffIVKind") fail("an index other than a loop axis");
        terms.push_back({resolve(axis_names_, at(idx, "axis"), "axis"), integer(at(term, "coeff"), "coeff")});
      }
      return module_.affine->make(integer(at(e, "c"), "c"), std::move(terms));
    }
    if (k == "AffIVKind") return module_.affine->axis(resolve(axis_names_, at(e, "axis"), "axis"));
    if (k == "MultKind")
      return module_.affine->mul(expr(at(e, "var"), depth + 1), integer(at(e, "scale"), "scale"));
    if (k == "SumKind") {
      affine::Ref sum = module_.affine->constant(0);
      for (const json& term : list(at(e, "terms"), "terms"))
        sum = module_.affine->add(sum, expr(term, depth + 1));
      return sum;
    }
    fail("the expression kind '{}' is not linear: not supported", k);
  }

  affine::Ref format1(const json& e) {
    if (find(e, "op")) fail("an expression of format 1 with an operator is not supported");
    std::vector<affine::Term> terms;
    for (const json& term : list(at(e, "terms"), "terms"))
      terms.push_back(
          {resolve(axis_names_, at(term, "AxisLabel"), "AxisLabel"), integer(at(term, "coef"), "coef")});
    return module_.affine->make(integer(at(e, "c"), "c"), std::move(terms));
  }

  // ---- instructions ----

  Operand operand(const json& in) {
    Operand op;
    const std::string kind = text(at(in, "kind"), "kind");
    const auto found = operand_kind_from_name(kind);
    if (!found) fail("the operand kind '{}' is not supported", kind);
    op.kind = *found;
    op.dtype = dtype(at(in, "dtype"));
    if (op.kind == OperandKind::Immediate) {
      op.bits = static_cast<uint32_t>(integer(at(in, "value"), "value"));
      return op;
    }
    op.rank = static_cast<uint8_t>(read_dims(at(in, "ap"), "ap", op.ap.data(), kMaxPatternDims));
    if (op.kind == OperandKind::SymbolicAp) {
      op.set = resolve(set_names_, at(in, "memsetref"), "memsetref");
      const json& addrs = list(at(in, "addrs"), "addrs");
      if (addrs.size() != 2) fail("'addrs' must hold the start partition and the offset");
      op.partition_expr = expr(addrs[0]);
      op.offset_expr = expr(addrs[1]);
    } else {
      op.location = resolve(location_names_, at(in, "memref"), "memref");
      op.set = fn_->locations[op.location].set;
      op.offset = integer(at(in, "offset"), "offset");
      op.partition = static_cast<int32_t>(integer_or(in, "partition", 0));
    }
    return op;
  }

  struct AttributeReader {
    Reader& reader;
    const json& in;
    void operator()(uint32_t, const char* key, float& value, float) {
      if (const json* j = find(in, key)) value = real(*j, key);
    }
    template <class T>
    void operator()(uint32_t, const char* key, T& value, const T&) {
      const json* j = find(in, key);
      if (!j) return;
      if constexpr (std::is_enum_v<T>) {
        value = enumerator<T>(*j, key);
      } else {
        value = static_cast<T>(integer(*j, key));
      }
    }
    void operator()(uint32_t, const char* key, std::vector<affine::AxisId>& value,
                    const std::vector<affine::AxisId>&) {
      if (const json* j = find(in, key))
        for (const json& axis : list(*j, key)) value.push_back(resolve(reader.axis_names_, axis, key));
    }
    void operator()(uint32_t, const char* key, Pattern& value, const Pattern&) {
      if (const json* j = find(in, key)) read_dims(*j, key, value.data(), static_cast<int>(value.size()));
    }
    void operator()(uint32_t, const char* key, LaneMask& value, const LaneMask&) {
      const json* j = find(in, key);
      if (!j) return;
      if (list(*j, key).size() != value.size()) fail("'{}' must have {} entries", key, value.size());
      for (size_t i = 0; i < value.size(); ++i) value[i] = static_cast<uint8_t>(integer((*j)[i], key));
    }
  };

  static bool has_attribute(const json& in) {
    static const Attributes defaults;
    bool found = false;
    visit_attributes(defaults,
                     [&](uint32_t, const char* key, const auto&, const auto&) { found |= in.contains(key); });
    return found;
  }

  void sync(const json& in, Instruction& out) {
    const json* info = find(in, "sync_info");
    if (!info) return;
    if (const json* waits = find(*info, "on_wait"))
      for (const json& w : list(*waits, "on_wait"))
        out.waits.push_back({enumerator<isa::WaitMode>(at(w, "mode"), "mode"),
                             static_cast<uint8_t>(integer_or(w, "semaphore", integer_or(w, "id", 0))),
                             static_cast<int32_t>(integer(at(w, "value"), "value"))});
    if (const json* updates = find(*info, "on_update"))
      for (const json& u : list(*updates, "on_update"))
        out.updates.push_back({enumerator<isa::UpdateMode>(at(u, "mode"), "mode"),
                               static_cast<uint8_t>(integer_or(u, "semaphore", integer_or(u, "id", 0))),
                               static_cast<int32_t>(integer_or(u, "value", 1))});
  }

  Instruction instruction(const json& in, int depth) {
    Instruction out;
    out.name = text(at(in, "name"), "name");
    const std::string opcode = text(at(in, "opcode"), "opcode");
    const auto found = opcode_from_name(opcode);
    if (!found) fail("'{}': the opcode '{}' is not supported", out.name, opcode);
    out.opcode = *found;
    out.engine = enumerator<Engine>(at(in, "engine"), "engine");
    if (const json* ins = find(in, "ins"))
      for (const json& op : list(*ins, "ins")) out.ins.push_back(operand(op));
    if (const json* outs = find(in, "outs"))
      for (const json& op : list(*outs, "outs")) out.outs.push_back(operand(op));
    if (has_attribute(in)) visit_attributes(out.mutable_attrs(), AttributeReader{*this, in});
    if (const json* queue = find(in, "queue")) out.queue = resolve(queue_names_, *queue, "queue");
    out.source = static_cast<uint32_t>(integer_or(in, "debug", 0));
    out.scheduled_start = integer_or(in, "scheduled_start", 0);
    out.scheduled_end = integer_or(in, "scheduled_end", 0);
    sync(in, out);
    if (out.opcode == Opcode::Loop) {
      out.axis = resolve(axis_names_, at(in, "LoopAxis"), "LoopAxis");
      const json& blocks = list(at(in, "blocks"), "blocks");
      if (blocks.size() != 1) fail("loop '{}' must have one block", out.name);
      out.body = std::make_unique<Block>(block(blocks[0], depth + 1));
    }
    return out;
  }

  Block block(const json& in, int depth) {
    if (depth > kMaxNesting) fail("loops nested deeper than {}", kMaxNesting);
    Block out;
    out.name = text_or(in, "name");
    const json& instructions = list(at(in, "instructions"), "instructions");
    NameMap names;
    for (const json& i : instructions) {
      out.instructions.push_back(instruction(i, depth));
      enter(names, out.instructions.back().name, out.instructions.size() - 1);
    }
    for (size_t i = 0; i < instructions.size(); ++i) {
      const json* dependencies = find(instructions[i], "dependencies");
      if (!dependencies) continue;
      for (const json& d : list(*dependencies, "dependencies")) {
        Dependency dep{0, EdgeKind::Flow};
        if (d.is_array() && d.size() == 2) {
          const auto kind = edge_from_name(text(d[1], "dependencies"));
          if (!kind) fail("an unknown edge kind in '{}'", out.instructions[i].name);
          dep.kind = *kind;
          dep.predecessor = resolve(names, d[0], "dependencies");
        } else {
          dep.predecessor = resolve(names, d, "dependencies");
        }
        out.instructions[i].dependencies.push_back(dep);
      }
    }
    return out;
  }

  // ---- storages ----

  void location(const json& in, uint32_t set) {
    MemoryLocation l;
    l.name = text(at(in, "name"), "name");
    l.set = set;
    const auto memory = memory_from_wire(integer(at(in, "type"), "type"));
    if (!memory) fail("location '{}': the memory type is not supported", l.name);
    l.memory = *memory;
    const MemoryLocationSet& owner = fn_->sets[set];
    int64_t bytes = size_bytes(owner.dtype);
    for (size_t i = l.memory == Memory::Dram ? 0 : 1; i < owner.shape.size(); ++i) bytes *= owner.shape[i];
    const int64_t rows = l.memory == Memory::Dram || owner.shape.empty() ? 1 : owner.shape[0];
    l.partitions = static_cast<int32_t>(integer_or(in, "partitions", rows));
    l.bytes_per_partition = integer_or(in, "bytes_per_partition", bytes);
    l.allocated = integer_or(in, "allocated", 0) != 0;
    l.base = static_cast<int32_t>(integer_or(in, "base", 0));
    l.bank = static_cast<int32_t>(integer_or(in, "bank", 0));
    l.address = integer_or(in, "addr", 0);
    l.base_alignment = static_cast<int32_t>(integer_or(in, "base_alignment", l.base_alignment));
    enter(location_names_, l.name, fn_->locations.size());
    fn_->sets[set].locations.push_back(static_cast<uint32_t>(fn_->locations.size()));
    fn_->locations.push_back(std::move(l));
  }

  void storage(const json& in) {
    MemoryLocationSet set;
    set.name = text(at(in, "name"), "name");
    const json& locations = list(at(in, "memorylocations"), "memorylocations");
    const json* type = find(in, "type");
    if (!type && !locations.empty()) type = &at(locations[0], "type");
    if (!type) fail("set '{}' has no memory type", set.name);
    const auto memory = memory_from_wire(integer(*type, "type"));
    if (!memory) fail("set '{}': the memory type is not supported", set.name);
    set.memory = *memory;
    const auto kind = kind_from_name(text(at(in, "kind"), "kind"));
    if (!kind) fail("set '{}': the kind is not supported", set.name);
    set.kind = *kind;
    set.dtype = dtype(at(in, "dtype"));
    for (const json& dim : list(at(in, "tensor_shape"), "tensor_shape"))
      set.shape.push_back(integer(dim, "tensor_shape"));
    if (const json* scope = find(in, "scope")) set.scope = resolve(axis_names_, *scope, "scope");
    set.const_offset = integer_or(in, "const_offset", -1);
    set.const_hash = text_or(in, "const_hash");
    if (const json* debug = find(in, "debug"))
      set.loc = {text_or(*debug, "op_name"), text_or(*debug, "file"),
                 static_cast<int>(integer_or(*debug, "line", 0))};
    enter(set_names_, set.name, fn_->sets.size());
    fn_->sets.push_back(std::move(set));
    for (const json& l : locations) location(l, static_cast<uint32_t>(fn_->sets.size() - 1));
  }

  void function(const json& in) {
    Function fn;
    fn_ = &fn;
    set_names_.clear();
    location_names_.clear();
    axis_names_.clear();
    fn.name = text(at(in, "name"), "name");
    if (const json* axes = find(in, "loop_axes"))
      for (const json& a : list(*axes, "loop_axes")) {
        LoopAxis axis{text(at(a, "name"), "name"), integer_or(a, "lower", 0),
                      integer(at(a, "upper"), "upper"), integer_or(a, "step", 1),
                      integer_or(a, "isParallel", 0) != 0};
        enter(axis_names_, axis.name, fn.axes.size());
        fn.axes.push_back(std::move(axis));
      }
    const json* storages = find(in, "allocations");
    if (!storages) storages = &at(in, "storages");
    for (const json& s : list(*storages, "allocations")) storage(s);
    const json* blocks = find(in, "blocks");
    if (!blocks) blocks = &at(in, "basic_blocks");
    if (list(*blocks, "blocks").size() != 1) fail("function '{}' must have one block", fn.name);
    fn.block = block((*blocks)[0], 0);
    fn_ = nullptr;
    module_.functions.push_back(std::move(fn));
  }

  Module module_;
  Function* fn_ = nullptr;
  NameMap queue_names_, set_names_, location_names_, axis_names_;
};

}  // namespace

Result<Module> parse_json(std::string_view text) {
  try {
    Module module = Reader().read(json::parse(text));
    NCC_TRY(verify_structure(module));
    return module;
  } catch (const Malformed& defect) {
    return error(Code::EBIR001, defect.what);
  } catch (const json::exception& defect) {
    return error(Code::EBIR001, defect.what());
  }
}

namespace {
bool is_json(const std::string& path) { return path.size() > 5 && path.substr(path.size() - 5) == ".json"; }
}  // namespace

Result<Module> read_module(const std::string& path) {
  NCC_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  return is_json(path) ? parse_json(file->text()) : parse_binary(file->text());
}

Status write_module(const Module& module, const std::string& path) {
  return write_file(path, is_json(path) ? to_json(module) : to_binary(module));
}

}  // namespace ncc::bir
