#include "tools/walrus_driver/pipeline.h"

#include <chrono>
#include <new>

#include "common/diag/pass_failure.h"
#include "common/diag/suggest.h"

namespace ncc::walrus {

std::vector<std::string> default_passes() {
  std::vector<std::string> names;
  for (const PassInfo& row : all_passes()) names.emplace_back(row.name);
  return names;
}

Result<std::vector<const PassInfo*>> build_pipeline(const std::string& list) {
  std::vector<std::string> names;
  for (size_t at = 0; at < list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    if (comma > at) names.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  if (names.empty()) names = default_passes();
  std::vector<const PassInfo*> pipeline;
  for (const std::string& name : names) {
    const PassInfo* row = find_pass(name);
    if (!row) return error(Code::EDRV010, "pass", name, closest_name(name, default_passes()));
    pipeline.push_back(row);
  }
  return pipeline;
}

Status run_pipeline(const std::vector<const PassInfo*>& pipeline, bir::Module& module, PassContext& ctx,
                    std::vector<PassRecord>& records,
                    const std::function<Status(const PassInfo&, const bir::Module&)>& after,
                    const std::function<void(const PassInfo&)>& before) {
  for (const PassInfo* row : pipeline) {
    if (before) before(*row);
    const auto begin = std::chrono::steady_clock::now();
    try {
      NCC_TRY(row->make()->run(module, ctx));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& broken) {
      return pass_failure(row->name, broken);
    }
    const auto wall =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
    records.push_back({std::string(row->name), wall.count(), std::ssize(module.main().block.instructions)});
    if (after) NCC_TRY(after(*row, module));
  }
  return Status::ok();
}

}  // namespace ncc::walrus
