#include "tools/neff-packager/pack.h"

#include <unistd.h>

#include <map>

#include "ir-formats/isa/def_json.h"
#include "ir-formats/isa/program_files.h"
#include "ir-formats/neff/graph_json.h"
#include "ir-formats/neff/neff_file.h"

namespace ncc::packager {
namespace {

constexpr int64_t kConstantAlignment = 64;

class Packer {
 public:
  explicit Packer(const PackOptions& options) : options_(options) {}

  Status run() {
    NCC_TRY(add_definition());
    NCC_TRY(add_engines());
    NCC_TRY(add_io());
    if (const std::string metrics = options_.work_dir + "/hlo_metrics.json";
        ::access(metrics.c_str(), F_OK) == 0)
      NCC_TRY(add_file("hlo_metrics.json", metrics));
    neff::WriteOptions write;
    write.name = options_.name;
    write.compress = options_.compress && constant_bytes_ <= neff::kInPlaceConstantBytes;
    return neff::write_neff(options_.output, write, std::move(members_));
  }

 private:
  std::string in_subgraph(const std::string& name) const { return options_.work_dir + "/sg00/" + name; }

  // A member that is a file as it is.
  Status add_file(const std::string& member, const std::string& path) {
    NCC_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
    members_.emplace_back(member, file->text());
    files_.push_back(std::move(file));
    return Status::ok();
  }
  void add_text(const std::string& member, std::string text) {
    texts_.push_back(std::make_unique<std::string>(std::move(text)));
    members_.emplace_back(member, std::string_view(*texts_.back()));
  }

  // def.json is written again, with the offsets that constants have in the packed member.
  Status add_definition() {
    NCC_ASSIGN(const std::string text, read_file(in_subgraph("def.json")));
    NCC_ASSIGN(isa::Definition definition, isa::read_def_json(text));
    generation_ = definition.program.generation;
    NCC_TRY(place_constants(definition.program.variables));
    NCC_ASSIGN(std::string placed, isa::write_def_json(definition.program, definition.e4m3fn));
    add_text("sg00/def.json", std::move(placed));
    variables_ = std::move(definition.program.variables);
    return Status::ok();
  }

  // Only constants that a variable names travel, each once, in the order of the variables.
  Status place_constants(std::vector<isa::Variable>& variables) {
    static const std::string kPadding(kConstantAlignment, '\0');
    std::shared_ptr<const MappedFile> source;
    std::vector<std::string_view> pieces;
    std::map<std::pair<int64_t, int64_t>, int64_t>
        placed;  // (offset, size) in the work folder -> offset in the member
    for (isa::Variable& variable : variables) {
      if (variable.kind != isa::VariableKind::Const) continue;
      if (!source) {
        NCC_ASSIGN(source, MappedFile::open(options_.work_dir + "/" + std::string(isa::kConstantsFile)));
      }
      const auto available = static_cast<int64_t>(source->bytes().size());
      if (variable.const_offset < 0 || variable.const_offset > available ||
          variable.size_bytes > available - variable.const_offset)
        return error(Code::ENEF001, fmt::format("constant '{}' lies outside the {} bytes of {}",
                                                variable.name, available, isa::kConstantsFile));
      const auto [place, is_new] =
          placed.emplace(std::pair(variable.const_offset, variable.size_bytes), constant_bytes_);
      if (is_new) {
        pieces.push_back(source->text().substr(static_cast<size_t>(variable.const_offset),
                                               static_cast<size_t>(variable.size_bytes)));
        const int64_t padding =
            (kConstantAlignment - variable.size_bytes % kConstantAlignment) % kConstantAlignment;
        pieces.push_back(std::string_view(kPadding).substr(0, static_cast<size_t>(padding)));
        constant_bytes_ += variable.size_bytes + padding;
      }
      variable.const_offset = place->second;
    }
    if (!source) return Status::ok();
    files_.push_back(std::move(source));
    members_.emplace_back(fmt::format("sg00/{}", isa::kConstantsFile), std::move(pieces));
    return Status::ok();
  }

  Status add_engines() {
    for (const std::string& name : isa::program_file_names())
      if (name != "def.json") NCC_TRY(add_file("sg00/" + name, in_subgraph(name)));
    return Status::ok();
  }

  Status add_io() {
    NCC_ASSIGN(const std::string text, read_file(in_subgraph("io.json")));
    NCC_ASSIGN(const neff::ProgramIo io, neff::read_io(text));
    NCC_TRY(neff::verify_io(io, variables_));
    add_text("sg00/io.json", neff::write_io(io));
    add_text("sg00/tensor_map.json", neff::write_tensor_map(io));
    add_text("neff.json", neff::write_graph(io));
    add_text("kelf-0.json", neff::write_kelf(generation_, 1));
    add_text("info.json", neff::write_info(options_.name, generation_, 1, options_.repetitions));
    return Status::ok();
  }

  const PackOptions& options_;
  int generation_ = 0;
  int64_t constant_bytes_ = 0;
  std::vector<isa::Variable> variables_;
  std::vector<neff::Member> members_;
  std::vector<std::shared_ptr<const MappedFile>> files_;
  std::vector<std::unique_ptr<std::string>> texts_;
};

}  // namespace

Status pack(const PackOptions& options) { return Packer(options).run(); }

}  // namespace ncc::packager
