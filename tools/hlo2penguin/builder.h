// Writes tensor-level Penguin: tensors, iteration axes and instructions out of views.
#pragma once
#include <string>
#include <unordered_set>
#include <vector>

#include "ir-formats/penguin/module.h"
#include "tools/hlo2penguin/view.h"

namespace ncc::hlo2penguin {

/// One instruction over a logical domain: operands and result are views that all have the domain's shape. The
/// digits that any of them needs become the iteration axes.
struct Emission {
  penguin::TensorOp op = penguin::TensorOp::Map;
  penguin::ScalarFunction function = penguin::ScalarFunction::Copy;
  penguin::TensorAttributes attributes;
  std::vector<penguin::AxisRole> roles;  // one per domain dimension; empty = all parallel
  std::vector<View> operands;
  std::string name;
  SourceLoc loc;
};

class Builder {
 public:
  explicit Builder(penguin::Module& module) : module_(module), function_(module.functions.emplace_back()) {}

  affine::Context& affine() { return *module_.affine; }
  penguin::Module& module() { return module_; }
  penguin::Function& function() { return function_; }

  /// A new tensor; its name is made unique.
  penguin::TensorId add_tensor(const std::string& name, Dtype dtype, const std::vector<int64_t>& shape,
                               const SourceLoc& loc);
  View whole(penguin::TensorId id);

  /// Appends an instruction that writes `result`. An operand whose digits have no common factoring with the
  /// others is copied to a tensor of its own first. Nothing is written for an empty domain.
  void emit(Emission emission, const View& result);
  /// The same into a new tensor whose shape is that of the domain's parallel dimensions, in order.
  View emit_new(Emission emission, Dtype dtype);

  /// The value as a tensor in its own row-major order: itself when it is one, else a copy.
  View materialise(const View& value, const std::string& name, const SourceLoc& loc);
  /// A reshape that always succeeds: as access when possible, else as view (`alias_of`) of the stored value.
  View reshape(const View& value, const std::vector<int64_t>& shape, const std::string& name,
               const SourceLoc& loc);
  /// View::window that always succeeds.
  View window(const View& value, int64_t dim, int64_t count, int64_t stride, int64_t taps, int64_t dilation,
              const std::string& name, const SourceLoc& loc);
  /// A slice that always succeeds.
  View slice(const View& value, int64_t dim, int64_t start, int64_t stride, int64_t count,
             const std::string& name, const SourceLoc& loc);

 private:
  std::vector<int64_t> common_radices(Emission& emission, const View& result, int64_t dim);
  std::string unique_name(const std::string& wanted);

  penguin::Module& module_;
  penguin::Function& function_;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int64_t> next_suffix_;
};

}  // namespace ncc::hlo2penguin
