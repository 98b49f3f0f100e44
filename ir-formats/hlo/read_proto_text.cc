// Protos in text form (`name: "m" computations { … }`), as XLA's own tools and PyTorch/XLA print them. XLA's
// enums are integers in hlo.proto; here they get their names back in a second schema that is made at run
// time, and what was read goes on as bytes. Source: spec/hlo-proto.md §1, §13, §15.
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <limits>

#include "ir-formats/hlo/hlo.pb.h"
#include "ir-formats/hlo/read.h"

namespace ncc::hlo {
namespace {

namespace pb = google::protobuf;

constexpr int kMaxDepth = 100;  // of nested messages, as in binary protos

struct EnumField {
  std::string_view message, field, values;
};
constexpr EnumField kEnumFields[] = {
#define ENUM(message, field, values) {#message, #field, values},
#include "ir-formats/hlo/proto_enums.def"
};

void give_names(const EnumField& row, pb::DescriptorProto* message) {
  for (pb::FieldDescriptorProto& field : *message->mutable_field()) {
    if (field.name() != row.field) continue;
    // Names of enum values are siblings of their enum, so each enum has a message of its own around it.
    pb::DescriptorProto* scope = message->add_nested_type();
    scope->set_name("Names_" + field.name());
    pb::EnumDescriptorProto* made = scope->add_enum_type();
    made->set_name("Enum");
    for (size_t at = 0; at < row.values.size();) {
      const size_t end = std::min(row.values.find(' ', at), row.values.size());
      pb::EnumValueDescriptorProto* value = made->add_value();
      value->set_number(made->value_size() - 1);
      value->set_name(std::string(row.values.substr(at, end - at)));
      at = end + 1;
    }
    field.set_type(pb::FieldDescriptorProto::TYPE_ENUM);
    field.set_type_name(scope->name() + ".Enum");
  }
}

void give_names(pb::DescriptorProto* message) {
  for (const EnumField& row : kEnumFields)
    if (row.message == message->name()) give_names(row, message);
  for (pb::DescriptorProto& inner : *message->mutable_nested_type()) give_names(&inner);
}

// hlo.proto with XLA's enums, and messages of it.
struct NamedSchema {
  pb::DescriptorPool pool;
  pb::DynamicMessageFactory factory;
  const pb::FileDescriptor* file = nullptr;

  NamedSchema() {
    pb::FileDescriptorProto schema;
    wire::HloModuleProto::descriptor()->file()->CopyTo(&schema);
    for (pb::DescriptorProto& message : *schema.mutable_message_type()) give_names(&message);
    file = pool.BuildFile(schema);
    NCC_CHECK(file, "the schema with names of enums is not consistent");
  }
};

class FirstProblem : public pb::io::ErrorCollector {
 public:
  void AddError(int line, pb::io::ColumnNumber column, const std::string& message) override {
    if (text_.empty()) text_ = fmt::format("{}:{}: {}", line + 1, column + 1, message);
  }
  // A field that the schema leaves out.
  void AddWarning(int, pb::io::ColumnNumber, const std::string&) override {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The first field's name and the mark behind it, behind comment lines.
std::pair<std::string_view, char> first_field(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  size_t at = text.find_first_not_of(kBlank);
  while (at != std::string_view::npos && text[at] == '#' && text.substr(at + 1).find_first_of(" \n") == 0)
    at = text.find_first_not_of(kBlank, std::min(text.find('\n', at), text.size()));
  if (at == std::string_view::npos) return {};
  const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at);
  const size_t mark = text.find_first_not_of(kBlank, end);
  if (end == std::string_view::npos || mark == std::string_view::npos) return {};
  return {text.substr(at, end - at), text[mark]};
}

// The container whose first field this is; null when it is none. A module may begin with any of its fields.
const char* message_of(std::string_view text) {
  const auto [name, mark] = first_field(text);
  if (mark != ':' && mark != '{') return nullptr;
  if (name == "hlo") return "HloSnapshot";
  if (name == "hlo_module") return "HloProto";
  const pb::Descriptor* module = wire::HloModuleProto::descriptor();
  const pb::FieldDescriptor* field = module->FindFieldByName(std::string(name));
  const bool fits = field && (mark == '{' || field->type() != pb::FieldDescriptor::TYPE_MESSAGE);
  return fits && (mark == ':' || field->type() == pb::FieldDescriptor::TYPE_MESSAGE) ? "HloModuleProto"
                                                                                     : nullptr;
}

}  // namespace

bool is_proto_text(std::string_view text) { return message_of(text) != nullptr; }

Result<std::unique_ptr<Module>> read_hlo_proto_text(std::string_view text, const std::string& what) {
  constexpr const char* kKind = "an HLO proto in text form";
  const char* kind = message_of(text);
  if (!kind) return error(Code::EFIL003, what, kKind, "it begins with no field of one");
  if (text.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return error(Code::EFIL003, what, kKind, "larger than 2 GiB");
  NamedSchema schema;
  const std::unique_ptr<pb::Message> message(
      schema.factory.GetPrototype(schema.file->FindMessageTypeByName(kind))->New());
  FirstProblem problem;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&problem);
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(kMaxDepth);
  pb::io::ArrayInputStream in(text.data(), static_cast<int>(text.size()));
  std::string bytes;
  if (!parser.Parse(&in, message.get()) || !message->SerializeToString(&bytes))
    return error(Code::EFIL003, what, kKind, problem.text().empty() ? "malformed" : problem.text());
  return read_hlo_proto(bytes, what);
}

}  // namespace ncc::hlo
