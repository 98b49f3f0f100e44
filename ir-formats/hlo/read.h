// Readers of HLO protos, HLO text and StableHLO text into one module.
// Every reader checks references, cycles, arities and sizes; `verify` (verify.h) re-derives shapes.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ir-formats/hlo/module.h"

namespace ncc {
class MappedFile;
}

namespace ncc::hlo {

/// Reads a file, choosing the format by content. Errors: EFIL001, EFIL003, EHLO001 (HLO text), EMLR001
/// (StableHLO text), EVRF001 (unknown op), EVRF002 (element type we do not have), EVRF003 (inconsistent
/// module).
Result<std::unique_ptr<Module>> read_module(const std::string& path);

/// Binary HloModuleProto, HloProto, HloSnapshot or HloUnoptimizedSnapshot. `what` names the input in errors.
/// With an `owner`, which keeps `bytes` alive, large constants refer to `bytes` instead of copying them.
Result<std::unique_ptr<Module>> read_hlo_proto(std::string_view bytes, const std::string& what,
                                               std::shared_ptr<const void> owner = nullptr);
/// The same protos in text form; fields that our schema lacks are dropped.
Result<std::unique_ptr<Module>> read_hlo_proto_text(std::string_view text, const std::string& what);
/// True when `text` begins as one, by the name of its first field.
bool is_proto_text(std::string_view text);
/// HLO text: module, headerless module or a single instruction. `file` goes into locations of ops without
/// metadata.
Result<std::unique_ptr<Module>> read_hlo_text(std::string_view text, const std::string& file);
/// One StableHLO module in MLIR text (a file split by `// -----` lines must be cut by the caller:
/// `split_mlir`). `mapped`: the file that `text` lies in, which then does not keep the memory of blobs that
/// were read.
Result<std::unique_ptr<Module>> read_stablehlo(std::string_view text, const std::string& file,
                                               const MappedFile* mapped = nullptr);
/// The pieces between `// -----` lines that hold more than comments; the text itself when there is none.
/// Positions are kept by leading newlines.
std::vector<std::string> split_mlir(std::string_view text);

}  // namespace ncc::hlo
