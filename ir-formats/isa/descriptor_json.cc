#include "ir-formats/isa/descriptor_json.h"

#include <unordered_map>

#include "ir-formats/isa/json_cursor.h"
#include "ir-formats/isa/wire_tags.h"

namespace ncc::isa {
namespace {

constexpr int kMaxDescriptorDims = 4;  // DESIGN M3, the partition included

std::string_view dtype_name(Dtype dtype) {
  if (dtype == Dtype::S64) return "int64";
  if (dtype == Dtype::U64) return "uint64";
  return info(dtype).machine.empty() ? info(dtype).hlo : info(dtype).machine;
}

std::optional<Dtype> dtype_from_name(std::string_view name) {
  if (name == "int64") return Dtype::S64;
  if (name == "uint64") return Dtype::U64;
  const std::optional<Dtype> machine = dtype_from_machine(name);
  return machine ? machine : dtype_from_hlo(name);
}

void append_int(std::string& out, int64_t value) {
  fmt::format_to(std::back_inserter(out), FMT_STRING("{}"), value);
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

int64_t partition_step(Space space) {
  return int64_t{1} << (space == Space::Psum ? kPsumPartitionShift : kSbufPartitionShift);
}

// One side as bytes: steps[0] = 1 and sizes[0] = the adjacent bytes, then outward.
struct Walk {
  int rank = 0;
  std::array<int64_t, kMaxFreeDims + 2> steps{}, sizes{};
  void push(int64_t step, int64_t size) {
    if (rank < static_cast<int>(steps.size())) {
      steps[static_cast<size_t>(rank)] = step;
      sizes[static_cast<size_t>(rank)] = size;
    }
    ++rank;
  }
};

Walk walk_of(const Access& access) {
  const int64_t size = ncc::size_bytes(access.dtype);
  Walk walk;
  int inner = access.rank - 1;
  if (inner >= 0 && access.dims[static_cast<size_t>(inner)].step == 1)
    walk.push(1, size * access.dims[static_cast<size_t>(inner--)].count);
  else
    walk.push(1, size);
  for (; inner >= 0; --inner) {
    const Dim& dim = access.dims[static_cast<size_t>(inner)];
    if (dim.count != 1) walk.push(dim.step * size, dim.count);
  }
  if (access.space != Space::Dram && access.num_partitions > 1)
    walk.push(partition_step(access.space), access.num_partitions);
  return walk;
}

class Writer {
 public:
  explicit Writer(const Program& program)
      : program_(program), state_buffer_(state_buffer_name(program.variables)) {}

  Status append(std::string& out, const DmaDescriptor& descriptor) const {
    out += transposes(descriptor) ? R"({"op":"transpose")"
           : casts(descriptor)    ? R"({"op":"cast")"
                                  : R"({"op":"copy")";
    NCC_TRY(append_side(out, "from", descriptor.src));
    NCC_TRY(append_side(out, "to", descriptor.dst));
    out += '}';
    return Status::ok();
  }

 private:
  static bool transposes(const DmaDescriptor& d) { return d.transpose; }
  static bool casts(const DmaDescriptor& d) { return d.src.dtype != d.dst.dtype; }

  Status append_side(std::string& out, std::string_view side, Access access) const {
    canonicalize(access);
    const auto bad = [&](const std::string& problem) {
      return error(Code::EISA002, fmt::format("DMA descriptor '{}' side", side), problem);
    };
    const bool on_chip = access.space == Space::Sbuf || access.space == Space::Psum;
    if (!on_chip && (access.space != Space::Dram || access.variable < 0 ||
                     static_cast<size_t>(access.variable) >= program_.variables.size()))
      return bad(fmt::format("names variable {} of {}", access.variable, program_.variables.size()));
    const int dims = (access.dims[0].count == 1 ? 0 : access.rank) + (on_chip && access.num_partitions > 1);
    if (dims > kMaxDescriptorDims)
      return bad(fmt::format("{} dimensions, the format holds {}", dims, kMaxDescriptorDims));
    if (on_chip && (access.offset < 0 || access.offset >= kSbufPartitionBytes))
      return bad(fmt::format("byte offset {} is outside a partition", access.offset));
    const Walk walk = walk_of(access);
    fmt::format_to(std::back_inserter(out), FMT_STRING(",\"{}\":"), side);
    append_string(out,
                  on_chip ? state_buffer_ : program_.variables[static_cast<size_t>(access.variable)].name);
    fmt::format_to(
        std::back_inserter(out), FMT_STRING(",\"{}_off\":{},\"{}_steps\":["), side,
        on_chip ? int64_t{pack_address(access.space, access.start_partition, access.offset)} : access.offset,
        side);
    append_list(out, walk.steps, walk.rank);
    fmt::format_to(std::back_inserter(out), FMT_STRING("],\"{}_sizes\":["), side);
    append_list(out, walk.sizes, walk.rank);
    fmt::format_to(std::back_inserter(out), FMT_STRING("],\"{}_dtype\":\"{}\""), side,
                   dtype_name(access.dtype));
    return Status::ok();
  }
  static void append_list(std::string& out, const std::array<int64_t, kMaxFreeDims + 2>& values, int count) {
    for (int i = 0; i < count; ++i) {
      if (i) out += ',';
      append_int(out, values[static_cast<size_t>(i)]);
    }
  }

  const Program& program_;
  std::string state_buffer_;
};

class Reader {
 public:
  Reader(std::string_view text, Engine engine, Program& program)
      : cursor_(text), engine_(engine), program_(program) {
    for (size_t i = 0; i < program.queues.size(); ++i) queues_.emplace(program.queues[i].name, i);
    for (size_t i = 0; i < program.variables.size(); ++i) variables_.emplace(program.variables[i].name, i);
    state_buffer_ = state_buffer_name(program.variables);
  }

  Status read() {
    bool first = true;
    std::string_view key;
    cursor_.enter_object();
    while (cursor_.next_key(first, key)) {
      if (key == "dma")
        NCC_TRY(read_blocks());
      else
        cursor_.skip_value();
    }
    return cursor_.at_end() ? Status::ok() : bad("malformed JSON");
  }

 private:
  struct Side {
    std::string name;
    int64_t offset = 0;
    Walk steps, sizes;
    std::string dtype = "uint8";
  };

  Status bad(const std::string& problem) const {
    return error(Code::EISA001, fmt::format("{}.json near byte {}: {}", info(engine_).file_stem,
                                            cursor_.position(), problem));
  }

  Status read_blocks() {
    bool first = true;
    cursor_.enter_array();
    while (cursor_.next_element(first)) NCC_TRY(read_block());
    return Status::ok();
  }

  Status read_block() {
    bool first = true;
    std::string_view key;
    std::string queue;
    int64_t id = -1, debug_id = 0, semaphore = -1;
    std::vector<DmaDescriptor> descriptors;
    cursor_.enter_object();
    while (cursor_.next_key(first, key)) {
      if (key == "id")
        id = cursor_.integer();
      else if (key == "queue")
        queue = cursor_.string();
      else if (key == "semaphore")
        semaphore = cursor_.integer();
      else if (key == "debug_id")
        debug_id = cursor_.integer();
      else if (key == "desc")
        NCC_TRY(read_descriptors(descriptors));
      else
        cursor_.skip_value();
    }
    if (!cursor_.ok()) return bad("malformed JSON");
    const auto found = queues_.find(queue);
    if (found == queues_.end()) return bad(fmt::format("no queue is called '{}'", queue));
    DmaQueue& target = program_.queues[found->second];
    if (target.trigger != engine_)
      return bad(fmt::format("queue '{}' belongs to {}", queue, name(target.trigger)));
    if (id != static_cast<int64_t>(target.descriptors.size()))
      return bad(
          fmt::format("block {} of queue '{}' stands where {} is due", id, queue, target.descriptors.size()));
    if (descriptors.size() != 1)
      return bad(fmt::format("block {} has {} descriptors, expected one", id, descriptors.size()));
    if (semaphore >= 0 && semaphore != target.semaphore)
      return bad(
          fmt::format("block {} counts semaphore {}, its queue {}", id, semaphore, int{target.semaphore}));
    if (debug_id < 0 || debug_id > UINT32_MAX) return bad("bad debug id");
    descriptors[0].source = static_cast<uint32_t>(debug_id);
    target.descriptors.push_back(descriptors[0]);
    return Status::ok();
  }

  Status read_descriptors(std::vector<DmaDescriptor>& out) {
    bool first = true;
    cursor_.enter_array();
    while (cursor_.next_element(first)) {
      DmaDescriptor descriptor;
      NCC_TRY(read_descriptor(descriptor));
      out.push_back(descriptor);
    }
    return Status::ok();
  }

  Status read_descriptor(DmaDescriptor& descriptor) {
    bool first = true;
    std::string_view key;
    Side from, to;
    cursor_.enter_object();
    while (cursor_.next_key(first, key)) {
      if (key == "op") {
        const std::string_view op = cursor_.string();
        if (op != "copy" && op != "cast" && op != "transpose")
          return bad(fmt::format("operation '{}' is not implemented", op));
        descriptor.transpose = op == "transpose";
      } else if (key.substr(0, 4) == "from") {
        NCC_TRY(read_side(key.substr(4), from));
      } else if (key.substr(0, 2) == "to") {
        NCC_TRY(read_side(key.substr(2), to));
      } else {
        cursor_.skip_value();
      }
    }
    if (!cursor_.ok()) return bad("malformed JSON");
    NCC_TRY(resolve(from, "from", descriptor.src));
    return resolve(to, "to", descriptor.dst);
  }

  Status read_side(std::string_view part, Side& side) {
    if (part.empty())
      side.name = cursor_.string();
    else if (part == "_off")
      side.offset = cursor_.integer();
    else if (part == "_steps")
      read_list(side.steps);
    else if (part == "_sizes")
      read_list(side.sizes);
    else if (part == "_dtype")
      side.dtype = cursor_.string();
    else
      return bad(fmt::format("unknown descriptor key with '{}'", part));
    return Status::ok();
  }

  void read_list(Walk& list) {
    bool first = true;
    cursor_.enter_array();
    while (cursor_.next_element(first)) list.push(cursor_.integer(), 0);
  }

  Status resolve(const Side& side, std::string_view which, Access& access) const {
    const auto wrong = [&](std::string_view problem) {
      return bad(fmt::format("'{}' side: {}", which, problem));
    };
    const std::optional<Dtype> dtype = dtype_from_name(side.dtype);
    if (!dtype) return wrong("unknown element type");
    access.dtype = *dtype;
    const int64_t size = ncc::size_bytes(*dtype);
    int rank = side.steps.rank;
    const auto step = [&](int i) { return side.steps.steps[static_cast<size_t>(i)]; };
    const auto count = [&](int i) { return side.sizes.steps[static_cast<size_t>(i)]; };
    if (rank < 1 || rank > kMaxDescriptorDims + 1 || side.sizes.rank != rank)
      return wrong("steps and sizes must have the same 1 to 5 entries");
    if (size <= 0 || step(0) != 1 || count(0) <= 0 || count(0) % size != 0)
      return wrong("the first step must be 1 and the first size a multiple of the element size");
    if (side.name == state_buffer_) {
      if (side.offset < 0 || side.offset > UINT32_MAX ||
          !unpack_address(static_cast<uint32_t>(side.offset), access))
        return wrong("the offset is no on-chip address");
      if (rank > 1 && step(rank - 1) == partition_step(access.space)) {
        --rank;
        if (count(rank) < 1 || access.start_partition + count(rank) > kNumPartitions)
          return wrong("partitions are not in 0..127");
        access.num_partitions = static_cast<uint8_t>(count(rank));
      }
    } else {
      const auto found = variables_.find(side.name);
      if (found == variables_.end()) return wrong(fmt::format("no variable is called '{}'", side.name));
      access.space = Space::Dram;
      access.variable = static_cast<int32_t>(found->second);
      access.offset = side.offset;
    }
    std::array<Dim, kMaxFreeDims + 1> dims;  // innermost first
    int kept = 0;
    if (count(0) != size || rank == 1) dims[static_cast<size_t>(kept++)] = {1, count(0) / size};
    for (int i = 1; i < rank; ++i) {
      if (count(i) < 1 || step(i) % size != 0) return wrong("a step is no multiple of the element size");
      dims[static_cast<size_t>(kept++)] = {step(i) / size, count(i)};
    }
    if (kept > kMaxFreeDims) return wrong("more than four dimensions");
    access.rank = static_cast<uint8_t>(kept);
    for (int i = 0; i < kept; ++i)
      access.dims[static_cast<size_t>(kept - 1 - i)] = dims[static_cast<size_t>(i)];
    canonicalize(access);
    return Status::ok();
  }

  JsonCursor cursor_;
  Engine engine_;
  Program& program_;
  std::unordered_map<std::string, size_t> queues_, variables_;
  std::string state_buffer_;
};

}  // namespace

std::string state_buffer_name(const std::vector<Variable>& variables) {
  std::string name = "sb";
  for (size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].name != name) continue;
    name += '_';
    i = static_cast<size_t>(-1);  // from the start again
  }
  return name;
}

Result<std::string> write_engine_json(const Program& program, Engine engine) {
  const Writer writer(program);
  const std::string_view stem = info(engine).file_stem;
  std::string out = fmt::format("{{\"name\":\"{}\",\"instr\":\"{}.bin\",\"dma\":[", stem, stem);
  const char* separator = "\n";
  for (const DmaQueue& queue : program.queues) {
    if (queue.trigger != engine) continue;
    for (size_t id = 0; id < queue.descriptors.size(); ++id) {
      const DmaDescriptor& descriptor = queue.descriptors[id];
      out += separator;
      separator = ",\n";
      fmt::format_to(std::back_inserter(out), FMT_STRING("{{\"id\":{},\"queue\":"), id);
      append_string(out, queue.name);
      fmt::format_to(std::back_inserter(out), FMT_STRING(",\"semaphore\":{},\"debug_id\":{},\"desc\":["),
                     int{queue.semaphore}, descriptor.source);
      NCC_TRY(writer.append(out, descriptor));
      out += "]}";
    }
  }
  out += "]}\n";
  return out;
}

Status read_engine_json(std::string_view text, Engine engine, Program& program) {
  return Reader(text, engine, program).read();
}

}  // namespace ncc::isa
