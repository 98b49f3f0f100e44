#include "ir-formats/isa/program_files.h"

#include "common/files/files.h"
#include "ir-formats/isa/debug_info.h"
#include "ir-formats/isa/def_json.h"
#include "ir-formats/isa/descriptor_json.h"
#include "ir-formats/isa/wire.h"

namespace ncc::isa {
namespace {

std::string stream_file(Engine engine) { return fmt::format("{}.bin", info(engine).file_stem); }
std::string json_file(Engine engine) { return fmt::format("{}.json", info(engine).file_stem); }
std::string debug_file(std::string_view layer, Engine engine) {
  return fmt::format("debug_info_{}.{}.dbg", layer, info(engine).package_token);
}

// Which of the two e4m3 types the program uses; using both is refused by the encoder, which is given one.
bool uses_e4m3fn(const Program& program) {
  for (const auto& stream : program.streams)
    for (const MachineInst& inst : stream)
      for (const Access* access : {&inst.in0, &inst.in1, &inst.out, &inst.scalar0.pointer,
                                   &inst.scalar1.pointer, &inst.scalar2.pointer})
        if (access->present() && access->dtype == Dtype::F8E4M3FN) return true;
  return false;
}

Status at_bundle(const Status& status, Engine engine, size_t index) {
  Diagnostic diagnostic = status.diagnostic();
  diagnostic.cause += fmt::format(" ({} bundle {})", name(engine), index);
  return Status(std::move(diagnostic));
}

SourceLoc location(const Program& program, uint32_t source) {
  if (source >= program.sources.size()) return {};
  const SourceInst& inst = program.sources[source];
  return {inst.op_name, inst.file, inst.line};
}

Result<std::string> encode_stream(const Program& program, Engine engine, const WireContext& context) {
  const std::vector<MachineInst>& stream = program.stream(engine);
  std::string bytes(stream.size() * kBundleBytes, '\0');
  for (size_t i = 0; i < stream.size(); ++i) {
    auto* at = reinterpret_cast<std::byte*>(bytes.data() + i * kBundleBytes);
    MachineInst const* inst = &stream[i];
    if (inst->engine != engine)
      return error(
          Code::EISA002, info(inst->opcode).mnemonic,
          fmt::format("an instruction of {} stands in the stream of {}", name(inst->engine), name(engine)));
    const Status status = encode(*inst, context, std::span<std::byte, kBundleBytes>(at, kBundleBytes));
    if (!status.is_ok()) return at_bundle(status, engine, i).with_loc(location(program, inst->source));
  }
  return bytes;
}

// Marks the sources of one engine's bundles; for DMA those of descriptors, and those nothing refers to, so
// that the files together name every source.
std::vector<std::vector<bool>> used_sources(const Program& program) {
  const size_t count = program.sources.size();
  std::vector<std::vector<bool>> used(program.streams.size(), std::vector<bool>(count));
  std::vector<bool> anywhere(count);
  std::vector<bool>& dma = used[static_cast<size_t>(Engine::DMA)];
  for (const Engine engine : kStreamEngines)
    for (const MachineInst& inst : program.stream(engine))
      if (inst.source < count) used[static_cast<size_t>(engine)][inst.source] = anywhere[inst.source] = true;
  for (const DmaQueue& queue : program.queues)
    for (const DmaDescriptor& descriptor : queue.descriptors)
      if (descriptor.source < count) dma[descriptor.source] = anywhere[descriptor.source] = true;
  for (size_t i = 0; i < count; ++i)
    if (!anywhere[i]) dma[i] = true;
  return used;
}

constexpr std::array<Engine, 6> kDebugEngines = {Engine::PE,  Engine::Activation, Engine::Pool,
                                                 Engine::DVE, Engine::SP,         Engine::DMA};

Status read_stream(const FileSource& source, Engine engine, const WireContext& context, Program& program) {
  NCC_ASSIGN(const std::string_view bytes, source(stream_file(engine)));
  if (bytes.size() % kBundleBytes != 0)
    return error(Code::EISA001,
                 fmt::format("{} has {} bytes, not a multiple of 64", stream_file(engine), bytes.size()));
  std::vector<MachineInst>& stream = program.stream(engine);
  stream.resize(bytes.size() / kBundleBytes);
  for (size_t i = 0; i < stream.size(); ++i) {
    const auto* first = reinterpret_cast<const std::byte*>(bytes.data() + i * kBundleBytes);
    const std::span<const std::byte, kBundleBytes> bundle(first, kBundleBytes);
    const Status status = decode(bundle, engine, context, stream[i]);
    if (!status.is_ok()) return at_bundle(status, engine, i);
  }
  return Status::ok();
}

Status read_debug(const FileSource& source, Program& program) {
  std::array<std::string_view, kDebugEngines.size()> files;
  size_t total_bytes = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    NCC_ASSIGN(files[i], source(debug_file("backend", kDebugEngines[i])));
    total_bytes += files[i].size();
  }
  for (size_t i = 0; i < files.size(); ++i)
    NCC_TRY(
        read_backend_debug(files[i], debug_file("backend", kDebugEngines[i]), total_bytes, program.sources));
  for (const Engine engine : kStreamEngines) {
    const std::string file = debug_file("asm", engine);
    NCC_ASSIGN(const std::string_view bytes, source(file));
    NCC_TRY(read_asm_debug(bytes, file, program.stream(engine)));
  }
  return Status::ok();
}

// Bytes that a DRAM access touches must lie in its variable.
Status verify_dram(const Program& program, const Access& access, std::string_view operand) {
  if (access.space != Space::Dram) return Status::ok();
  if (access.variable < 0 || static_cast<size_t>(access.variable) >= program.variables.size())
    return error(Code::EISA001, fmt::format("{}: variable {} of {} does not exist", operand, access.variable,
                                            program.variables.size()));
  const Variable& variable = program.variables[static_cast<size_t>(access.variable)];
  // 128-bit: steps and counts come from a file.
  const __int128 size = ncc::size_bytes(access.dtype);
  __int128 first = access.offset, last = first + size;
  for (int i = 0; i < access.rank; ++i) {
    const Dim& dim = access.dims[static_cast<size_t>(i)];
    const __int128 reach = static_cast<__int128>(dim.step) * (dim.count - 1) * size;
    (reach < 0 ? first : last) += reach;
  }
  if (first >= 0 && last <= variable.size_bytes) return Status::ok();
  return error(Code::EISA001,
               fmt::format("{}: the access {} leaves variable '{}' of {} bytes", operand,
                           to_string(access, &program.variables), variable.name, variable.size_bytes));
}

Status verify_inst(const Program& program, const MachineInst& inst, size_t stream_size) {
  NCC_TRY(check(inst, program.generation));
  if (inst.source != 0 && inst.source >= program.sources.size())
    return error(Code::EISA001,
                 fmt::format("source instruction {} of {}", inst.source, program.sources.size()));
  NCC_TRY(verify_dram(program, inst.in0, "in0"));
  NCC_TRY(verify_dram(program, inst.out, "out"));
  if (inst.opcode == Opcode::CompareBranch && inst.target >= stream_size)
    return error(Code::EISA001, fmt::format("branch to bundle {} of {}", inst.target, stream_size));
  if (inst.opcode != Opcode::DmaTrigger) return Status::ok();
  if (inst.dma_queue >= program.queues.size())
    return error(Code::EISA001,
                 fmt::format("trigger of queue {} of {}", inst.dma_queue, program.queues.size()));
  const DmaQueue& queue = program.queues[inst.dma_queue];
  if (queue.trigger != inst.engine)
    return error(Code::EISA001, fmt::format("queue '{}' belongs to {}", queue.name, name(queue.trigger)));
  if (inst.dma_block >= queue.descriptors.size())
    return error(Code::EISA001, fmt::format("block {} of {} in queue '{}'", inst.dma_block,
                                            queue.descriptors.size(), queue.name));
  return Status::ok();
}

Status verify_descriptor(const Program& program, const DmaDescriptor& descriptor) {
  if (descriptor.source != 0 && descriptor.source >= program.sources.size())
    return error(Code::EISA001,
                 fmt::format("source instruction {} of {}", descriptor.source, program.sources.size()));
  NCC_TRY(verify_dram(program, descriptor.src, "from"));
  NCC_TRY(verify_dram(program, descriptor.dst, "to"));
  if (descriptor.src.num_elements() != descriptor.dst.num_elements())
    return error(Code::EISA001, fmt::format("{} elements go to {}", descriptor.src.num_elements(),
                                            descriptor.dst.num_elements()));
  return Status::ok();
}

}  // namespace

std::vector<std::string> program_file_names() {
  std::vector<std::string> names = {"def.json"};
  for (const Engine engine : kStreamEngines)
    for (std::string name : {stream_file(engine), json_file(engine), debug_file("asm", engine)})
      names.push_back(std::move(name));
  for (const Engine engine : kDebugEngines) names.push_back(debug_file("backend", engine));
  return names;
}

Result<std::vector<NamedBytes>> serialize_program(const Program& program) {
  std::vector<NamedBytes> files;
  const bool e4m3fn = uses_e4m3fn(program);
  const WireContext context(program.generation, &program.queues, e4m3fn);
  NCC_ASSIGN(std::string def, write_def_json(program, e4m3fn));
  files.push_back({"def.json", std::move(def)});
  for (const Engine engine : kStreamEngines) {
    NCC_ASSIGN(std::string stream, encode_stream(program, engine, context));
    files.push_back({stream_file(engine), std::move(stream)});
    NCC_ASSIGN(std::string descriptors, write_engine_json(program, engine));
    files.push_back({json_file(engine), std::move(descriptors)});
    files.push_back({debug_file("asm", engine), write_asm_debug(program, engine)});
  }
  const std::vector<std::vector<bool>> used = used_sources(program);
  for (const Engine engine : kDebugEngines)
    files.push_back({debug_file("backend", engine),
                     write_backend_debug(program, used[static_cast<size_t>(engine)], engine)});
  return files;
}

Status write_program(const Program& program, const std::string& folder) {
  NCC_ASSIGN(const std::vector<NamedBytes> files, serialize_program(program));
  for (const NamedBytes& file : files) NCC_TRY(write_file(folder + "/" + file.name, file.bytes));
  return Status::ok();
}

Result<Program> read_program(const FileSource& source) {
  NCC_ASSIGN(const std::string_view def, source("def.json"));
  NCC_ASSIGN(Definition definition, read_def_json(def));
  Program& program = definition.program;
  const WireContext context(program.generation, &program.queues, definition.e4m3fn);
  for (const Engine engine : kStreamEngines) {
    NCC_ASSIGN(const std::string_view descriptors, source(json_file(engine)));
    NCC_TRY(read_engine_json(descriptors, engine, program));
    NCC_TRY(read_stream(source, engine, context, program));
  }
  NCC_TRY(read_debug(source, program));
  NCC_TRY(verify_program(program));
  return std::move(program);
}

Result<Program> read_program(const std::string& folder) {
  std::vector<std::shared_ptr<const MappedFile>> open_files;
  const FileSource source = [&](const std::string& name) -> Result<std::string_view> {
    NCC_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(folder + "/" + name));
    open_files.push_back(file);
    return file->text();
  };
  return read_program(source);
}

Status verify_program(const Program& program) {
  for (const Engine engine : kStreamEngines) {
    const std::vector<MachineInst>& stream = program.stream(engine);
    for (size_t i = 0; i < stream.size(); ++i) {
      const Status status = verify_inst(program, stream[i], stream.size());
      if (!status.is_ok()) return at_bundle(status, engine, i).with_loc(location(program, stream[i].source));
    }
  }
  for (const DmaQueue& queue : program.queues) {
    for (size_t i = 0; i < queue.descriptors.size(); ++i) {
      const Status status = verify_descriptor(program, queue.descriptors[i]);
      if (status.is_ok()) continue;
      Diagnostic diagnostic = status.diagnostic();
      diagnostic.cause += fmt::format(" (queue '{}' block {})", queue.name, i);
      return Status(std::move(diagnostic)).with_loc(location(program, queue.descriptors[i].source));
    }
  }
  return Status::ok();
}

}  // namespace ncc::isa
