// Protobuf wire format by hand: a key is field << 3 | type, type 0 a varint, type 2 a length and bytes.
#include "ir-formats/isa/debug_info.h"

#include <map>
#include <unordered_map>

namespace ncc::isa {
namespace {

constexpr size_t kMaxNameBytes = 509;
constexpr uint64_t kMaxSources = uint64_t{1} << 28;
constexpr uint32_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

void put_varint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}
void put_uint(std::string& out, uint32_t field, uint64_t value) {
  if (value == 0) return;  // proto3 leaves defaults out
  put_varint(out, field << 3 | kVarint);
  put_varint(out, value);
}
void put_bytes(std::string& out, uint32_t field, std::string_view bytes) {
  put_varint(out, field << 3 | kBytes);
  put_varint(out, bytes.size());
  out += bytes;
}

uint64_t engine_type(Engine engine) {
  switch (engine) {
    case Engine::PE:
      return 1;
    case Engine::Activation:
      return 2;
    case Engine::Pool:
      return 3;
    case Engine::DMA:
      return 4;
    case Engine::DVE:
      return 5;
    case Engine::SP:
      return 6;
    default:
      return 0;
  }
}

// Strings numbered from 1 in order of first use; "" is 0.
class StringIds {
 public:
  uint64_t id(std::string_view text) {
    if (text.empty()) return 0;
    const auto [found, is_new] = ids_.emplace(text, order_.size() + 1);
    if (is_new) order_.push_back(text);
    return found->second;
  }
  const std::vector<std::string_view>& in_order() const { return order_; }

 private:
  std::unordered_map<std::string_view, uint64_t> ids_;
  std::vector<std::string_view> order_;
};

// A field-by-field walk over one message. Failure is sticky.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}
  bool next() {
    if (!ok_ || rest_.empty()) return false;
    const uint64_t key = varint();
    field = static_cast<uint32_t>(key >> 3);
    const auto type = static_cast<uint32_t>(key & 7);
    value = 0;
    bytes = {};
    if (type == kVarint)
      value = varint();
    else if (type == kBytes)
      bytes = take(varint());
    else if (type == kFixed64 || type == kFixed32)
      take(type == kFixed64 ? 8 : 4);
    else
      ok_ = false;
    return ok_;
  }
  bool ok() const { return ok_; }

  uint32_t field = 0;
  uint64_t value = 0;
  std::string_view bytes;

 private:
  uint64_t varint() {
    uint64_t result = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<uint8_t>(rest_[0]);
      rest_.remove_prefix(1);
      result |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return result;
    }
    ok_ = false;
    return 0;
  }
  std::string_view take(uint64_t count) {
    if (count > rest_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
  bool ok_ = true;
};

struct FrameIndex {
  std::vector<std::string_view> files, functions;
  struct Location {
    uint64_t file = 0, function = 0, line = 0;
  };
  std::vector<Location> locations;
  std::vector<uint64_t> frames;  // location id
};

bool read_frame_index(std::string_view bytes, FrameIndex& index) {
  Fields fields(bytes);
  while (fields.next()) {
    if (fields.field == 1) index.files.push_back(fields.bytes);
    if (fields.field == 2) index.functions.push_back(fields.bytes);
    if (fields.field != 3 && fields.field != 4) continue;
    Fields inner(fields.bytes);
    FrameIndex::Location location;
    while (inner.next()) {
      if (inner.field == 1) location.file = inner.value;
      if (inner.field == 2) location.function = inner.value;
      if (inner.field == 3) location.line = inner.value;
    }
    if (!inner.ok()) return false;
    if (fields.field == 3)
      index.locations.push_back(location);
    else
      index.frames.push_back(location.file);  // field 1 of a frame is its location
  }
  return fields.ok();
}

// The 1-based element, or a default for 0; nullptr when the id is out of range.
template <class T>
const T* at_id(const std::vector<T>& values, uint64_t id) {
  static const T kNone{};
  if (id == 0) return &kNone;
  return id <= values.size() ? &values[id - 1] : nullptr;
}

bool locate(const FrameIndex& index, uint64_t frame, SourceInst& source) {
  const uint64_t* location_id = at_id(index.frames, frame);
  const FrameIndex::Location* location = location_id ? at_id(index.locations, *location_id) : nullptr;
  const std::string_view* file = location ? at_id(index.files, location->file) : nullptr;
  const std::string_view* function = location ? at_id(index.functions, location->function) : nullptr;
  if (!file || !function || location->line > INT32_MAX) return false;
  source.file = *file;
  source.op_name = *function;
  source.line = static_cast<int32_t>(location->line);
  return true;
}

Status bad(const std::string& what, std::string_view problem) {
  return error(Code::EISA001, fmt::format("{}: {}", what, problem));
}

}  // namespace

std::string write_backend_debug(const Program& program, const std::vector<bool>& used, Engine engine) {
  std::string out, record;
  StringIds files, functions;
  std::map<std::array<uint64_t, 3>, uint64_t> frame_ids;
  std::vector<std::array<uint64_t, 3>> frames;
  for (size_t i = 0; i < program.sources.size(); ++i) {
    if (i >= used.size() || !used[i]) continue;
    const SourceInst& source = program.sources[i];
    const std::array<uint64_t, 3> where = {files.id(source.file), functions.id(source.op_name),
                                           static_cast<uint64_t>(std::max(source.line, 0))};
    const auto [frame, is_new] = frame_ids.emplace(where, frames.size() + 1);
    if (is_new) frames.push_back(where);
    record.clear();
    put_uint(record, 1, i + 1);
    put_bytes(record, 2, std::string_view(source.name).substr(0, kMaxNameBytes));
    put_uint(record, 6, 1);
    put_uint(record, 8, frame->second);
    put_bytes(out, 3, record);
  }
  put_uint(out, 4, engine_type(engine));
  std::string index, location;
  for (const std::string_view file : files.in_order()) put_bytes(index, 1, file);
  for (const std::string_view function : functions.in_order()) put_bytes(index, 2, function);
  for (const auto& frame : frames) {
    location.clear();
    for (uint32_t field = 1; field <= 3; ++field) put_uint(location, field, frame[field - 1]);
    put_bytes(index, 3, location);
  }
  for (size_t i = 0; i < frames.size(); ++i) {
    location.clear();
    put_uint(location, 1, i + 1);
    put_bytes(index, 4, location);
  }
  put_bytes(out, 6, index);
  return out;
}

std::string write_asm_debug(const Program& program, Engine engine) {
  std::string out, record, ids;
  put_bytes(out, 2, fmt::format("debug_info_backend.{}.dbg", info(engine).package_token));
  for (const MachineInst& inst : program.stream(engine)) {
    ids.clear();
    record.clear();
    put_varint(ids, uint64_t{inst.source} + 1);
    put_bytes(record, 3, ids);
    put_bytes(out, 3, record);
  }
  put_uint(out, 4, engine_type(engine));
  return out;
}

Status read_backend_debug(std::string_view bytes, const std::string& what, size_t max_sources,
                          std::vector<SourceInst>& sources) {
  FrameIndex index;
  Fields top(bytes);
  while (top.next())
    if (top.field == 6 && !read_frame_index(top.bytes, index)) return bad(what, "malformed stack frames");
  if (!top.ok()) return bad(what, "malformed message");
  for (Fields fields(bytes); fields.next();) {
    if (fields.field != 3) continue;
    uint64_t id = 0, frame = 0;
    std::string_view name;
    Fields record(fields.bytes);
    while (record.next()) {
      if (record.field == 1) id = record.value;
      if (record.field == 2) name = record.bytes;
      if (record.field == 8) frame = record.value;
    }
    if (!record.ok() || id == 0 || id > max_sources) return bad(what, "malformed instruction record");
    if (sources.size() < id) sources.resize(id);
    SourceInst& source = sources[id - 1];
    source.name = name;
    if (!locate(index, frame, source)) return bad(what, "a stack frame does not exist");
  }
  return Status::ok();
}

Status read_asm_debug(std::string_view bytes, const std::string& what, std::vector<MachineInst>& stream) {
  size_t position = 0;
  Fields fields(bytes);
  while (fields.next()) {
    if (fields.field != 3) continue;
    if (position == stream.size()) return bad(what, "more records than bundles");
    Fields record(fields.bytes);
    uint64_t id = 0;
    while (record.next()) {
      if (record.field != 3) continue;
      id = record.value;  // 0 when the list is packed, as we write it: one varint in bytes
      for (int shift = 0; const char byte : record.bytes) {
        if (shift > 28) return bad(what, "malformed record");
        id |= static_cast<uint64_t>(byte & 0x7F) << shift;
        shift += 7;
      }
    }
    if (!record.ok() || id == 0 || id > kMaxSources) return bad(what, "malformed record");
    stream[position++].source = static_cast<uint32_t>(id - 1);
  }
  if (!fields.ok()) return bad(what, "malformed message");
  if (position != stream.size())
    return bad(what, fmt::format("{} records for {} bundles", position, stream.size()));
  return Status::ok();
}

}  // namespace ncc::isa
