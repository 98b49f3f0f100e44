#include "ir-formats/hlo/read.h"

#include "common/files/files.h"

namespace ncc::hlo {

Result<std::unique_ptr<Module>> read_module(const std::string& path) {
  NCC_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  return read_hlo_proto(file->text(), path);
}

}  // namespace ncc::hlo
