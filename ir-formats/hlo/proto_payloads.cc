#include "ir-formats/hlo/proto_payloads.h"

#include <fmt/format.h>

#include <climits>

namespace ncc::hlo {
namespace {

// Smaller values are not worth the detour.
constexpr size_t kMinPayload = 4096;
constexpr int kMaxDepth = 100;  // as protobuf's own limit

// Field numbers that this file looks into.
enum ModuleField { kComputations = 3 };
enum ComputationField { kInstructions = 2 };
enum InstructionField { kLiteral = 8 };
enum LiteralField { kShape = 1, kTupleLiterals = 10, kSparseIndices = 14, kPayload = 2000 };
// Packed varints have to be decoded one by one: protobuf does that.
bool is_varint_list(int field) { return field >= 4 && field <= 7; }

struct Field {
  int number = 0, type = 0;
  size_t begin = 0;          // offset of the tag
  std::string_view payload;  // of a length-delimited field
  std::string_view raw;      // tag and all
};

// Walks the fields of one message that starts at `base` of the input.
class Fields {
 public:
  Fields(std::string_view message, size_t base) : message_(message), base_(base) {}

  /// False at the end, and when the message is malformed (then `problem` says where).
  bool next(Field* field) {
    if (at_ == message_.size()) return false;
    const size_t begin = at_;
    uint64_t tag = 0, length = 0;
    if (!varint(&tag) || tag >> 3 == 0 || tag >> 3 > INT_MAX) return fail(begin);
    *field = {static_cast<int>(tag >> 3), static_cast<int>(tag & 7), base_ + begin, {}, {}};
    switch (field->type) {
      case 0:
        if (!varint(&length)) return fail(begin);
        break;
      case 1:
      case 5:
        length = field->type == 1 ? 8 : 4;
        if (message_.size() - at_ < length) return fail(begin);
        at_ += length;
        break;
      case 2:
        if (!varint(&length) || message_.size() - at_ < length) return fail(begin);
        field->payload = message_.substr(at_, length);
        at_ += length;
        break;
      default:
        return fail(begin);
    }
    field->raw = message_.substr(begin, at_ - begin);
    return true;
  }
  bool is_valid() const { return valid_; }
  size_t problem() const { return problem_; }

 private:
  bool varint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 70 && at_ < message_.size(); shift += 7) {
      const unsigned char byte = static_cast<unsigned char>(message_[at_++]);
      if (shift < 64) *value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool fail(size_t begin) {
    valid_ = false;
    problem_ = base_ + begin;
    return false;
  }

  std::string_view message_;
  size_t base_, at_ = 0, problem_ = 0;
  bool valid_ = true;
};

void put_varint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

void put_message(int number, std::string_view message, std::string* out) {
  put_varint(static_cast<uint64_t>(number) << 3 | 2, out);
  put_varint(message.size(), out);
  out->append(message);
}

class Slimmer {
 public:
  explicit Slimmer(std::string_view input) : input_(input) {}

  bool module(std::string_view message, SlimModule* out) {
    module_ = out;
    int computation = 0;
    return rewrite(message, &out->message, [&](const Field& field, std::string* to) {
      if (field.number != kComputations || field.type != 2) return false;
      std::string inner;
      ok_ = ok_ && this->computation(field.payload, computation++, &inner);
      put_message(field.number, inner, to);
      return true;
    });
  }
  size_t problem() const { return problem_; }

 private:
  size_t offset_of(std::string_view part) const { return static_cast<size_t>(part.data() - input_.data()); }

  // Copies a message, but for the fields that `replace` has written itself.
  template <class Replace>
  bool rewrite(std::string_view message, std::string* out, const Replace& replace) {
    Fields fields(message, offset_of(message));
    Field field;
    while (ok_ && fields.next(&field)) {
      if (!replace(field, out)) out->append(field.raw);
    }
    if (ok_ && !fields.is_valid()) {
      problem_ = fields.problem();
      ok_ = false;
    }
    return ok_;
  }

  bool computation(std::string_view message, int number, std::string* out) {
    int instruction = 0;
    return rewrite(message, out, [&](const Field& field, std::string* to) {
      if (field.number != kInstructions || field.type != 2) return false;
      module_->offsets[{number, instruction++}] = field.begin;
      std::string inner;
      ok_ = ok_ && rewrite(field.payload, &inner, [&](const Field& part, std::string* part_to) {
              if (part.number != kLiteral || part.type != 2) return false;
              std::string slim;
              ok_ = ok_ && literal(part.payload, 0, &slim);
              put_message(part.number, slim, part_to);
              return true;
            });
      put_message(field.number, inner, to);
      return true;
    });
  }

  // Values that come in several chunks stay: protobuf joins them.
  static bool is_chunked(std::string_view message, int number) {
    Fields fields(message, 0);
    Field field;
    int chunks = 0;
    while (fields.next(&field)) chunks += field.number == number;
    return chunks > 1;
  }

  bool literal(std::string_view message, int depth, std::string* out) {
    if (depth > kMaxDepth) {
      problem_ = offset_of(message);
      return ok_ = false;
    }
    return rewrite(message, out, [&](const Field& field, std::string* to) {
      if (field.number == kPayload) return true;  // ours alone
      if (field.type != 2) return false;
      if (field.number == kTupleLiterals) {
        std::string inner;
        ok_ = ok_ && literal(field.payload, depth + 1, &inner);
        put_message(field.number, inner, to);
        return true;
      }
      if (field.number == kShape || field.number == kSparseIndices || is_varint_list(field.number) ||
          field.payload.size() < kMinPayload || is_chunked(message, field.number))
        return false;
      module_->payloads.push_back({field.number, field.payload});
      put_varint(static_cast<uint64_t>(kPayload) << 3, to);
      put_varint(module_->payloads.size(), to);
      return true;
    });
  }

  std::string_view input_;
  SlimModule* module_ = nullptr;
  bool ok_ = true;
  size_t problem_ = 0;
};

// What the top level of a message looks like: enough to tell the containers apart.
struct TopLevel {
  bool valid = true;
  size_t problem = 0;
  bool has_varint = false;        // any varint field
  int computations = 0;           // field 3, length-delimited
  std::string_view first_field1;  // payload of the first field 1
};

TopLevel scan(std::string_view bytes, size_t base) {
  TopLevel seen;
  Fields fields(bytes, base);
  Field field;
  while (fields.next(&field)) {
    seen.has_varint = seen.has_varint || field.type == 0;
    if (field.type != 2) continue;
    if (field.number == 1 && seen.first_field1.data() == nullptr) seen.first_field1 = field.payload;
    seen.computations += field.number == kComputations;
  }
  seen.valid = fields.is_valid();
  seen.problem = fields.problem();
  return seen;
}

}  // namespace

Result<SlimModule> slim_module(std::string_view bytes, const std::string& what) {
  const auto malformed = [&](std::string_view why) {
    return error(Code::EFIL003, what, "an HLO proto", why);
  };
  std::string_view message = bytes;
  for (int depth = 0; depth < 3; ++depth) {
    const TopLevel top = scan(message, static_cast<size_t>(message.data() - bytes.data()));
    // A file that is cut off or damaged at its own top level says where; below that, field 1 was no message.
    if (!top.valid) {
      return depth == 0 ? malformed(fmt::format("malformed at byte {}", top.problem))
                        : malformed("no HloModuleProto found in it");
    }
    if (top.has_varint && top.computations > 0) {
      SlimModule made;
      Slimmer slimmer(bytes);
      if (!slimmer.module(message, &made))
        return malformed(fmt::format("malformed at byte {}", slimmer.problem()));
      if (made.message.size() > INT_MAX) return malformed("larger than 2 GiB without its constants");
      return made;
    }
    message = top.first_field1;
    if (message.empty()) break;
  }
  return malformed("no HloModuleProto found in it");
}

}  // namespace ncc::hlo
