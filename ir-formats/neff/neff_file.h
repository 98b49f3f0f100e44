// A NEFF as a file: opened as a memory map with lazily decoded members, or written in one pass. Source:
// spec/neff.md §1-§4, §11; DESIGN section 14 H1, H2. Constants stand in one member per subgraph,
// sgNN/constants.bin; a file that carries more than 16 MiB of them is not compressed, so that they are used
// in place.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/diag/status.h"
#include "common/files/files.h"
#include "ir-formats/isa/program_files.h"
#include "ir-formats/neff/archive.h"
#include "ir-formats/neff/header.h"
#include "ir-formats/neff/io.h"

namespace ncc::neff {

inline constexpr int64_t kInPlaceConstantBytes = 16 << 20;

class NeffFile {
 public:
  /// Maps and indexes the file. ENEF001 with the first thing that is wrong; `verify_hash` reads the whole
  /// payload.
  static Result<std::shared_ptr<const NeffFile>> open(const std::string& path, bool verify_hash = true);

  const Header& header() const { return header_; }
  const std::map<std::string, std::string_view, std::less<>>& members() const { return archive_.members; }
  /// ENEF001 when there is no such member.
  Result<std::string_view> member(const std::string& name) const;
  /// "sg00", …
  const std::vector<std::string>& subgraphs() const { return subgraphs_; }

  /// The decoded, verified program of a subgraph; its constants lie inside constants().
  Result<isa::Program> read_program(const std::string& subgraph) const;
  /// Parameters and results, verified against the program's variables.
  Result<ProgramIo> read_io(const std::string& subgraph, const isa::Program& program) const;
  /// The constants member; empty when the subgraph has none. Valid as long as the file.
  std::span<const std::byte> constants(const std::string& subgraph) const;

 private:
  std::shared_ptr<const MappedFile> file_;
  Header header_;
  Archive archive_;
  std::vector<std::string> subgraphs_;
};

struct WriteOptions {
  std::string name = "file.neff";
  bool compress = true;  // pkg_version 2, else 1
  int num_subgraphs = 1;
};
/// Writes header and payload under a temporary name and renames; equal members give equal bytes. EFIL002.
Status write_neff(const std::string& path, const WriteOptions& options, std::vector<Member> members);

}  // namespace ncc::neff
