#include "ir-formats/hlo/read.h"

#include "common/files/files.h"

namespace ncc::hlo {
namespace {

// The first word of a text, behind blanks and line comments.
std::string_view first_word(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r') {
      ++at;
    } else {
      break;
    }
  }
  const size_t end = text.find_first_of(" \t\r\n({=,", at);
  return text.substr(at, end == std::string_view::npos ? std::string_view::npos : end - at);
}

constexpr std::string_view kBytecodeMagic = "ML\xEFR";

// Text has no control characters but blanks; protos begin with a field tag and a length that nearly always
// are ones.
bool is_text(std::string_view bytes) {
  if (bytes.starts_with(kBytecodeMagic)) return false;
  for (char c : bytes.substr(0, 4096)) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 32 && c != '\n' && c != '\t' && c != '\r') return false;
  }
  return true;
}

bool is_mlir(std::string_view text) {
  const std::string_view word = first_word(text);
  return word == "module" || word == "builtin.module" || word == "func.func" || word.starts_with("#") ||
         word.starts_with("!") || word.starts_with("\"") || word.starts_with("sdy.");
}

// MLIR's binary form, bare or inside what jax.export serialises. Null when it is neither.
const char* bytecode_reason(std::string_view bytes) {
  if (bytes.starts_with(kBytecodeMagic)) return "it is MLIR bytecode; give the module as MLIR text";
  if (bytes.find(kBytecodeMagic) != std::string_view::npos)
    return "it holds MLIR bytecode, as jax.export serialises it; give the module as MLIR text "
           "(mlir_module())";
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<Module>> read_module(const std::string& path) {
  NCC_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  const std::string_view text = file->text();
  if (!is_text(text)) {
    Result<std::unique_ptr<Module>> read = read_hlo_proto(text, path, file);
    const char* why = read.is_ok() ? nullptr : bytecode_reason(text);
    if (why) return error(Code::EFIL003, path, "an HLO proto, HLO text or StableHLO text", why);
    return read;
  }
  if (is_proto_text(text)) return read_hlo_proto_text(text, path);
  if (is_mlir(text)) return read_stablehlo(text, path, file.get());
  return read_hlo_text(text, path);
}

}  // namespace ncc::hlo
