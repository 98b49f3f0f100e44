// Giving back the memory of a mapped file's parts.
#pragma once
#include <string_view>

#include "common/files/files.h"

namespace ncc {

/// The whole pages inside `part` of the file's text leave memory; they are read again when touched. A part of
/// something else is left alone.
void forget_pages(const MappedFile& file, std::string_view part);

}  // namespace ncc
