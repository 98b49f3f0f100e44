#include <algorithm>
#include <filesystem>

#include "ir-formats/hlo/import.h"
#include "ir-formats/hlo/mlir_parser.h"
#include "ir-formats/hlo/read.h"

namespace ncc::hlo {

Result<std::unique_ptr<Module>> read_stablehlo(std::string_view text, const std::string& file,
                                               const MappedFile* mapped) {
  mlir::Parser parser(text, mapped);
  NCC_ASSIGN(mlir::File parsed, parser.parse_file());
  return mlir::Importer(parsed, parser.lexer(), std::filesystem::path(file).filename().string()).run();
}

namespace {

// Nothing but comments and blank lines.
bool is_commentary(std::string_view piece) {
  while (!piece.empty()) {
    const size_t end = std::min(piece.find('\n'), piece.size());
    const std::string_view line = piece.substr(0, end);
    const size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && !line.substr(first).starts_with("//")) return false;
    piece.remove_prefix(std::min(end + 1, piece.size()));
  }
  return true;
}

}  // namespace

std::vector<std::string> split_mlir(std::string_view text) {
  constexpr std::string_view kMark = "// -----";
  std::vector<std::string> pieces;
  std::string lines;  // newlines of what came before, so that positions stay those of the file
  size_t begin = 0;
  while (begin <= text.size()) {
    size_t end = text.size(), next = text.size() + 1;
    for (size_t at = begin; (at = text.find(kMark, at)) != std::string_view::npos; at += kMark.size()) {
      if (at != 0 && text[at - 1] != '\n') continue;
      const size_t line_end = text.find('\n', at);
      if (text.substr(at, line_end - at).find_first_not_of("/- \r") != std::string_view::npos) continue;
      end = at;
      next = line_end == std::string_view::npos ? text.size() + 1 : line_end;
      break;
    }
    const std::string_view piece = text.substr(begin, end - begin);
    if (!is_commentary(piece)) pieces.push_back(lines + std::string(piece));
    for (char c : piece) {
      if (c == '\n') lines += '\n';
    }
    begin = next;
  }
  if (pieces.empty()) pieces.emplace_back(text);
  return pieces;
}

}  // namespace ncc::hlo
