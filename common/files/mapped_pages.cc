#include "common/files/mapped_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <functional>

namespace ncc {

void forget_pages(const MappedFile& file, std::string_view part) {
  const std::string_view all = file.text();
  const char *all_end = all.data() + all.size(), *part_end = part.data() + part.size();
  if (std::less<>()(part.data(), all.data()) || std::less<>()(all_end, part_end)) return;
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t from = static_cast<size_t>(part.data() - all.data());  // mappings begin on a page
  const size_t begin = (from + page - 1) / page * page, end = (from + part.size()) / page * page;
  if (begin < end) ::madvise(const_cast<char*>(all.data()) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace ncc
