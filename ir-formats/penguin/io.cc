#include "ir-formats/penguin/io.h"

#include "common/files/files.h"
#include "ir-formats/penguin/wire.h"

namespace ncc::penguin {

Result<Module> read_module(const std::string& path) {
  NCC_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  const std::string_view bytes = file->text();
  if (bytes.starts_with(kMagic)) return from_binary(bytes, path);
  return from_text(bytes, path);
}

Status write_module(const Module& module, const std::string& path) {
  const bool text = path.ends_with(".txt") || path.ends_with(".penguin");
  return write_file(path, text ? to_text(module) : to_binary(module));
}

}  // namespace ncc::penguin
