#include "tools/neff-dump/dump.h"

#include <map>
#include <nlohmann/json.hpp>

#include "ir-formats/isa/wire.h"

namespace ncc::neff_dump {
namespace {

using isa::Engine;
using nlohmann::ordered_json;

std::string hex(std::span<const uint8_t> bytes) { return fmt::format("{:02x}", fmt::join(bytes, "")); }

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

std::string_view kind_name(isa::VariableKind kind) {
  constexpr std::string_view kNames[] = {"input", "output", "const", "internal"};
  return kNames[static_cast<size_t>(kind)];
}

int64_t hash_bytes(const neff::Header& header) {
  return header.package_version == neff::PackageVersion::Gzip ? 16 : 32;
}

struct Subgraph {
  std::string name;
  isa::Program program;
  neff::ProgramIo io;
};

std::map<std::string_view, int64_t> opcode_counts(const isa::Program& program, Engine engine) {
  std::map<std::string_view, int64_t> counts;
  for (const isa::MachineInst& inst : program.stream(engine)) ++counts[isa::info(inst.opcode).mnemonic];
  return counts;
}

std::string location(const isa::Program& program, uint32_t source) {
  if (source >= program.sources.size()) return "";
  const isa::SourceInst& inst = program.sources[source];
  std::string text = inst.name;
  if (const std::string where = to_string(SourceLoc{inst.op_name, inst.file, inst.line}); !where.empty())
    text += " " + where;
  return text.empty() ? "" : "  ; " + text;
}

std::string descriptor_text(const isa::Program& program, const isa::DmaDescriptor& descriptor) {
  return fmt::format("{} -> {}{}", isa::to_string(descriptor.src, &program.variables),
                     isa::to_string(descriptor.dst, &program.variables),
                     descriptor.transpose ? " transpose" : "");
}

void append_tensors(std::string& out, const char* what, const std::vector<neff::IoTensor>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const neff::IoTensor& t = tensors[i];
    out += fmt::format("  {} {}: {} {}{} in '{}'", what, i, t.name, info(t.dtype).hlo, shape_text(t.shape),
                       t.variable);
    if (t.conversion != neff::Conversion::None)
      out += fmt::format(" as {}{} ({})", info(t.device_dtype).hlo, shape_text(t.device_shape),
                         name(t.conversion));
    if (!t.alias.empty()) out += fmt::format(", may take the buffer of '{}'", t.alias);
    out += '\n';
  }
}

void append_listing(std::string& out, const isa::Program& program) {
  const isa::WireContext context(program.generation, &program.queues, false);
  for (const Engine engine : isa::kStreamEngines) {
    const auto& stream = program.stream(engine);
    out += fmt::format("\n{}:\n", name(engine));
    for (size_t i = 0; i < stream.size(); ++i)
      out += fmt::format("{:7}  {}{}\n", i, isa::disassemble(stream[i], context, &program.variables),
                         location(program, stream[i].source));
  }
  for (const isa::DmaQueue& queue : program.queues) {
    out += fmt::format("\nqueue {} ({}, triggered by {}, adds {} to s{}):\n", queue.name, name(queue.type),
                       name(queue.trigger), queue.completion_count, queue.semaphore);
    for (size_t i = 0; i < queue.descriptors.size(); ++i)
      out += fmt::format("{:7}  {}{}\n", i, descriptor_text(program, queue.descriptors[i]),
                         location(program, queue.descriptors[i].source));
  }
}

void append_subgraph(std::string& out, const Subgraph& sg, bool disassemble) {
  const isa::Program& program = sg.program;
  out += fmt::format("\nsubgraph {}: generation {}\n", sg.name, program.generation);
  append_tensors(out, "input", sg.io.inputs);
  append_tensors(out, "output", sg.io.outputs);
  std::map<isa::VariableKind, std::pair<int64_t, int64_t>> by_kind;
  for (const isa::Variable& variable : program.variables) {
    auto& [count, bytes] = by_kind[variable.kind];
    ++count;
    bytes += variable.size_bytes;
  }
  for (const auto& [kind, total] : by_kind)
    out += fmt::format("  {:8} variables {:6}  {:14} bytes\n", kind_name(kind), total.first, total.second);
  for (const isa::DmaQueue& queue : program.queues)
    out += fmt::format("  queue {:24} {:16} {:10} {:8} blocks\n", queue.name, name(queue.type),
                       name(queue.trigger), queue.descriptors.size());
  for (const Engine engine : isa::kStreamEngines) {
    out += fmt::format("  {:10} {:8} bundles", name(engine), program.stream(engine).size());
    for (const auto& [mnemonic, count] : opcode_counts(program, engine))
      out += fmt::format("  {} {}", mnemonic, count);
    out += '\n';
  }
  if (disassemble) append_listing(out, program);
}

std::string text(const neff::NeffFile& file, const std::vector<Subgraph>& subgraphs, bool disassemble) {
  const neff::Header& h = file.header();
  const auto hash = std::span(h.hash).first(static_cast<size_t>(hash_bytes(h)));
  std::string out = fmt::format(
      "NEFF '{}'\n  package version {}, format {}.{}, built by {}\n  payload {} bytes, hash {}, uuid {}\n",
      h.name, static_cast<uint64_t>(h.package_version), h.version_major, h.version_minor, h.build_version,
      h.payload_bytes, hex(hash), hex(h.uuid));
  out += fmt::format("  cores {}, lnc {}, feature bits 0x{:x}\n\nmembers:\n", h.num_tpb, h.lnc_size,
                     h.feature_bits);
  for (const auto& [name, bytes] : file.members()) out += fmt::format("  {:14} {}\n", bytes.size(), name);
  for (const Subgraph& sg : subgraphs) append_subgraph(out, sg, disassemble);
  return out;
}

ordered_json tensors_json(const std::vector<neff::IoTensor>& tensors) {
  ordered_json list = ordered_json::array();
  for (const neff::IoTensor& t : tensors)
    list.push_back({{"name", t.name},
                    {"dtype", info(t.dtype).hlo},
                    {"shape", t.shape},
                    {"variable", t.variable},
                    {"device_dtype", info(t.device_dtype).hlo},
                    {"device_shape", t.device_shape},
                    {"conversion", name(t.conversion)}});
  return list;
}

ordered_json source_json(const isa::Program& program, uint32_t source, ordered_json record) {
  if (source >= program.sources.size()) return record;
  const isa::SourceInst& inst = program.sources[source];
  record["name"] = inst.name;
  record["op"] = inst.op_name;
  record["file"] = inst.file;
  record["line"] = inst.line;
  return record;
}

ordered_json subgraph_json(const Subgraph& sg, bool disassemble) {
  const isa::Program& program = sg.program;
  const isa::WireContext context(program.generation, &program.queues, false);
  ordered_json out = {{"name", sg.name}, {"generation", program.generation}};
  out["inputs"] = tensors_json(sg.io.inputs);
  out["outputs"] = tensors_json(sg.io.outputs);
  out["variables"] = ordered_json::array();
  for (const isa::Variable& v : program.variables)
    out["variables"].push_back({{"name", v.name}, {"kind", kind_name(v.kind)}, {"size_bytes", v.size_bytes}});
  out["queues"] = ordered_json::array();
  for (const isa::DmaQueue& queue : program.queues) {
    ordered_json record = {{"name", queue.name},
                           {"type", name(queue.type)},
                           {"engine", name(queue.trigger)},
                           {"semaphore", queue.semaphore},
                           {"num_blocks", queue.descriptors.size()}};
    for (size_t i = 0; disassemble && i < queue.descriptors.size(); ++i)
      record["blocks"].push_back(source_json(program, queue.descriptors[i].source,
                                             {{"text", descriptor_text(program, queue.descriptors[i])}}));
    out["queues"].push_back(std::move(record));
  }
  for (const Engine engine : isa::kStreamEngines) {
    ordered_json record = {{"num_bundles", program.stream(engine).size()},
                           {"opcodes", ordered_json::object()}};
    for (const auto& [mnemonic, count] : opcode_counts(program, engine))
      record["opcodes"][std::string(mnemonic)] = count;
    if (disassemble) {
      record["bundles"] = ordered_json::array();
      for (const isa::MachineInst& inst : program.stream(engine))
        record["bundles"].push_back(source_json(
            program, inst.source, {{"text", isa::disassemble(inst, context, &program.variables)}}));
    }
    out["streams"][std::string(name(engine))] = std::move(record);
  }
  return out;
}

std::string json(const neff::NeffFile& file, const std::vector<Subgraph>& subgraphs, bool disassemble) {
  const neff::Header& h = file.header();
  ordered_json out;
  out["header"] = {{"name", h.name},
                   {"pkg_version", static_cast<uint64_t>(h.package_version)},
                   {"version_major", h.version_major},
                   {"version_minor", h.version_minor},
                   {"build_version", h.build_version},
                   {"data_size", h.payload_bytes},
                   {"hash", hex(std::span(h.hash).first(static_cast<size_t>(hash_bytes(h))))},
                   {"uuid", hex(h.uuid)},
                   {"num_tpb", h.num_tpb},
                   {"lnc_size", h.lnc_size},
                   {"feature_bits", h.feature_bits}};
  out["members"] = ordered_json::array();
  for (const auto& [name, bytes] : file.members())
    out["members"].push_back({{"name", name}, {"size_bytes", bytes.size()}});
  out["subgraphs"] = ordered_json::array();
  for (const Subgraph& sg : subgraphs) out["subgraphs"].push_back(subgraph_json(sg, disassemble));
  return out.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<std::string> dump(const DumpOptions& options) {
  NCC_ASSIGN(const std::shared_ptr<const neff::NeffFile> file, neff::NeffFile::open(options.path));
  std::vector<Subgraph> subgraphs;
  for (const std::string& name : file->subgraphs()) {
    NCC_ASSIGN(isa::Program program, file->read_program(name));
    NCC_ASSIGN(neff::ProgramIo io, file->read_io(name, program));
    subgraphs.push_back({name, std::move(program), std::move(io)});
  }
  return options.json ? json(*file, subgraphs, options.disassemble)
                      : text(*file, subgraphs, options.disassemble);
}

}  // namespace ncc::neff_dump
