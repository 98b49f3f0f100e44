// HLO -> tensor-level Penguin. The entry computation is executed abstractly: every HLO value is a View (or a
// tuple of them), calls are followed in place, shape ops change views, constants stay scalars where they can,
// and whatever must be computed becomes one Penguin instruction.
#pragma once
#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "ir-formats/hlo/module.h"
#include "tools/hlo2penguin/builder.h"
#include "tools/hlo2penguin/constants.h"

namespace ncc::hlo2penguin {

/// An array or a tuple of values.
struct Value {
  std::optional<View> view;
  std::vector<Value> elements;

  Value() = default;
  Value(View array) : view(std::move(array)) {}
  static Value tuple(std::vector<Value> elements) {
    Value out;
    out.elements = std::move(elements);
    return out;
  }
};

class Lowering {
 public:
  Lowering(penguin::Module& out, ConstantStore& constants) : builder_(out), constants_(constants) {}

  /// Fills the module: main function, inputs, outputs. EVRF001, EVRF002 with the location of the op.
  Status run(const hlo::Module& module);

 private:
  using Instruction = hlo::Instruction;
  using Arguments = std::vector<Value>;

  /// The values of one computation that is being executed.
  struct Frame {
    const hlo::Computation& computation;
    const Arguments& arguments;
    std::unordered_map<const Instruction*, Value> values;
  };

  Result<Value> lower_computation(const hlo::Computation& computation, const Arguments& arguments);
  Result<Value> lower(const Instruction& inst);
  Status check_types(const Instruction& inst, const hlo::Shape& shape) const;
  const Value& operand(const Instruction& inst, int64_t i) const;
  const View& view(const Instruction& inst, int64_t i) const { return *operand(inst, i).view; }
  std::vector<View> views(const Instruction& inst) const;
  View empty(const Instruction& inst) {
    return View::scalar(builder_.affine(), inst.shape.dtype, 0, inst.shape.dims);
  }
  /// Prefilled name and location.
  Emission emission(const Instruction& inst) const;

  // elementwise
  Result<Value> lower_elementwise(const Instruction& inst);
  Result<Value> lower_bitcast_convert(const Instruction& inst);
  Result<Value> lower_map(const Instruction& inst);
  View emit_elementwise(Emission emission, Dtype dtype);
  // sources
  Result<Value> lower_constant(const Instruction& inst);
  Result<Value> lower_iota(const Instruction& inst);
  Result<Value> lower_parameter(const Instruction& inst);
  Value constant(const hlo::Literal& literal, const Instruction& inst);
  // shape and data movement
  Result<Value> lower_identity(const Instruction& inst);
  Result<Value> lower_broadcast(const Instruction& inst);
  Result<Value> lower_reshape(const Instruction& inst);
  Result<Value> lower_transpose(const Instruction& inst);
  Result<Value> lower_slice(const Instruction& inst);
  Result<Value> lower_reverse(const Instruction& inst);
  Result<Value> lower_concatenate(const Instruction& inst);
  Result<Value> lower_pad(const Instruction& inst);
  Result<Value> lower_get_dimension_size(const Instruction& inst);
  Result<Value> lower_dynamic_slice(const Instruction& inst);
  Result<Value> lower_dynamic_update_slice(const Instruction& inst);
  View pad(const View& data, const View& value, const std::vector<hlo::PaddingDim>& padding,
           const Emission& like);
  void fill_outside(const View& target, const std::vector<int64_t>& starts, const std::vector<int64_t>& sizes,
                    const View& source, const Emission& like);
  std::optional<std::vector<int64_t>> constant_starts(const Instruction& inst, int64_t first,
                                                      const std::vector<int64_t>& limits) const;
  // data-dependent indexing
  /// A dimension addressed by data: `window` elements from start[point] on.
  struct IndexedDim {
    int64_t dim, size, window;
    View start;  // s32 over the points
  };
  struct Selection {
    std::vector<int64_t> points;  // sizes of the index array's dimensions
    std::vector<IndexedDim> dims;
    std::optional<View> valid;  // pred over the points: the others select nothing
  };
  /// A scatter over one domain: points, windows of the indexed dimensions, dimensions of the operand. Each
  /// map gives the domain dimension of an array's dimension.
  struct ScatterPlan {
    Selection selection;
    std::vector<int64_t> update_perm, point_of_dim, windows, sizes, operand_map, selector_map, update_map;
  };
  View compute(const Emission& like, penguin::ScalarFunction function, std::vector<View> operands,
               Dtype dtype, penguin::Comparison comparison = penguin::Comparison::Eq);
  View integer_constant(Dtype dtype, int64_t value, const std::vector<int64_t>& shape);
  /// EVRF001 when the positions of the indexed dimensions do not fit the selector's index arithmetic.
  Status check_selection(const Instruction& inst, const Selection& selection) const;
  /// [points..., windows..., positions...]: 1 where start + window index is the position.
  View selector(const Selection& selection, Dtype dtype, const Emission& like);
  View contract(const Emission& like, const View& lhs, const View& rhs, const std::vector<int64_t>& lhs_map,
                const std::vector<int64_t>& rhs_map, const std::vector<int64_t>& result_map,
                const std::vector<int64_t>& sizes, Dtype dtype);
  /// For each result element the one value whose `chosen` (pred) is set, bit by bit; 0 where none is. At most
  /// one may be. The maps give the dimension of `sizes` of each array's dimension.
  View select_bytes(const Emission& like, const View& chosen, const View& values,
                    const std::vector<int64_t>& chosen_map, const std::vector<int64_t>& values_map,
                    const std::vector<int64_t>& result_map, const std::vector<int64_t>& sizes);
  /// [points..., windows or whole dimensions...]; point_of_dim: the point dimension that a batching operand
  /// dimension is, or -1.
  Result<View> indexed_read(const Instruction& inst, const View& operand, const Selection& selection,
                            const std::vector<int64_t>& point_of_dim);
  View start_index(const Instruction& inst, const View& indices, int64_t vector_dim, int64_t k);
  View clamp_index(const Emission& like, const View& index, int64_t limit);
  Result<Value> lower_gather(const Instruction& inst);
  Result<Value> lower_scatter(const Instruction& inst);
  Result<Value> dynamic_slice(const Instruction& inst);
  Result<Value> dynamic_update_slice(const Instruction& inst);
  ScatterPlan plan_scatter(const Instruction& inst);
  View scatter_add(const ScatterPlan& plan, const View& base, const View& updates, const Emission& like);
  View scatter_replace(const ScatterPlan& plan, const View& base, const View& updates, const Emission& like);
  // reductions and contractions
  Result<Value> lower_reduce(const Instruction& inst);
  Result<Value> lower_reduce_window(const Instruction& inst);
  std::pair<View, View> factors(const Instruction& inst);
  Result<Value> lower_dot(const Instruction& inst);
  Result<Value> lower_convolution(const Instruction& inst);
  // control flow and tuples
  Result<Value> lower_call(const Instruction& inst);
  Result<Value> lower_conditional(const Instruction& inst);
  Result<Value> lower_while(const Instruction& inst);
  Result<Value> lower_custom_call(const Instruction& inst);
  Result<Value> lower_tuple(const Instruction& inst);
  Result<Value> lower_get_tuple_element(const Instruction& inst);
  Value select(const View& predicate, const Value& on_true, const Value& on_false, const Instruction& inst);
  std::optional<int64_t> known_scalar(const Value& value) const;

  // inputs and outputs
  Value add_input(const hlo::Shape& shape, const std::string& name, const SourceLoc& loc);
  void add_outputs(const hlo::Module& module, const Value& result, const SourceLoc& loc);

  Builder builder_;
  ConstantStore& constants_;
  Frame* frame_ = nullptr;
  int call_depth_ = 0;
};

inline bool contains(const std::vector<int64_t>& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}
inline int64_t product(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}
/// The fold that a reduction body of two scalar parameters applies; nullopt when it is not one known
/// operation.
std::optional<penguin::ScalarFunction> fold_of(const hlo::Computation& body);
/// Whether hlo2penguin lowers the opcode (some forms of it may still be refused).
bool has_lowering(hlo::Opcode opcode);
/// EVRF001 at the op.
Status unsupported(const hlo::Instruction& inst, const std::string& reason);

}  // namespace ncc::hlo2penguin
