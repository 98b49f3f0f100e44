// Results of earlier compiles. Two kinds of entry in one store: a job's files, by its argv, its tool's bytes
// and the bytes of what it reads; and a whole compile's, by the model (without metadata), every job's argv
// and every tool's bytes. Paths do not enter a key: a user's path in an argv is replaced by its content's
// digest.
#pragma once
#include <map>
#include <string>

#include "driver/cache/store.h"
#include "driver/plan.h"
#include "driver/runner.h"

namespace ncc::driver::cache {

class CompileCache final : public JobCache {
 public:
  CompileCache(const Plan& plan, const std::string& folder, bool read_only)
      : plan_(plan), store_(folder, read_only) {}

  bool restore(const Job& job, const std::string& work_dir) override;
  void store(const Job& job, const std::string& work_dir) override;

  /// A verified or partial compile is not answered as a whole.
  bool answers_whole() const;
  /// Puts the results of the whole compile (NEFF, wrapper, metrics of the model) into a folder.
  bool restore_whole(const std::string& work_dir);
  void store_whole(const std::string& work_dir);

  /// The text of `cache explain`: hit or miss, the key, and in which parts the nearest entry differs.
  std::string explain();

 private:
  const Parts& whole_parts();
  Parts job_parts(const Job& job, const std::string& work_dir);
  Parts tool_and_argv(const Job& job);
  std::string tool_digest(const std::string& executable);

  const Plan& plan_;
  Store store_;
  std::map<std::string, std::string> tool_digests_;
  std::string model_digest_;
  Parts whole_parts_;
};

}  // namespace ncc::driver::cache
