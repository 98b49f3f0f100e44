// Executes BIR on given inputs and compares its results with goldens: the BIR rung of the ladder of truth
// (DESIGN section 5).
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/compare/compare.h"
#include "common/files/files.h"
#include "common/npy/array_folder.h"
#include "ir-formats/bir/interpret.h"

namespace ncc::bir {

/// A model's parameters or results as io.json lists them.
struct IoRow {
  std::string name, variable;
  Dtype dtype, device_dtype;
  std::vector<int64_t> shape;
};
struct IoDescription {
  std::vector<IoRow> inputs, outputs;
};
/// EFIL003 when the text is not an I/O description.
Result<IoDescription> parse_io(std::string_view json, const std::string& what);

/// Runs main on arrays in parameter order; results in result order. ERUN001 for a missing array or one of the
/// wrong size.
Result<std::vector<NamedArray>> run_arrays(const Module& module, const IoDescription& io,
                                           std::span<const std::byte> constants,
                                           const std::vector<NamedArray>& inputs);

class GoldenCheck {
 public:
  /// Folders as common/npy/array_folder.h says; `constants_path` may be missing.
  static Result<GoldenCheck> load(IoDescription io, const std::string& inputs_dir,
                                  const std::string& goldens_dir, const std::string& constants_path);
  /// EVFY001 naming `after` when a result differs from its golden.
  Status check(const Module& module, std::string_view after) const;

 private:
  IoDescription io_;
  std::vector<NamedArray> inputs_, goldens_;
  std::shared_ptr<const MappedFile> constants_;
};

}  // namespace ncc::bir
