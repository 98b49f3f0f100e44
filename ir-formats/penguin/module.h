// Penguin in memory: one object graph at two levels (DESIGN section 4).
//   Tensor level: an Inst maps, reduces or contracts whole tensors over named iteration axes; each operand is
//   an access function from
//     those axes to the tensor's dims, so transpose, broadcast, slice, reverse and factorable reshape are
//     accesses, not ops.
//   Tile level: explicit loops; tensors are placed (DRAM, SBUF, PSUM); an Inst is one machine instruction in
//   BIR's terms.
// Dependences are recomputed from accesses. Ids are dense indices into the function's tables.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/diag/source_loc.h"
#include "common/dtype/dtype.h"
#include "ir-formats/affine/expr.h"
#include "ir-formats/bir/module.h"
#include "ir-formats/isa/enums.h"

namespace ncc::penguin {

using affine::AxisId;
using affine::Ref;
using TensorId = uint32_t;
inline constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

enum class ScalarFunction : uint8_t {
#define FUNCTION(id, name, arity, level) id,
#include "ir-formats/penguin/functions.def"
};
enum class FunctionLevel : uint8_t { Model, Machine };
struct FunctionInfo {
  ScalarFunction function;
  std::string_view name;
  int arity;
  FunctionLevel level;
};
const FunctionInfo& info(ScalarFunction function);

enum class Role : uint8_t { Internal, Input, Output, Const };
enum class Space : uint8_t { Unplaced, Dram, Sbuf, Psum };

/// A half-open iteration range [0, extent).
struct Axis {
  std::string name;
  int64_t extent = 1;
};

struct Tensor {
  std::string name;  // unique in the function
  Dtype dtype = Dtype::F32;
  std::vector<int64_t> shape;  // tile level, on chip: [partitions <= 128, free...]
  Role role = Role::Internal;
  Space space = Space::Unplaced;
  AxisId scope =
      kNone;  // tile level: the loop whose body owns it (fresh per iteration); kNone = the function
  int32_t io_index = -1;      // Input / Output: parameter or result number
  int64_t const_offset = -1;  // Const: bytes from the start of constants.bin, row-major data of `shape`
  std::string const_hash;
  // Tensor level: a read-only view of another tensor's row-major elements under this shape (a reshape that no
  // access function expresses). The viewed tensor is no view itself and lives in DRAM as a whole; nothing
  // writes a view.
  TensorId alias_of = kNone;
  SourceLoc loc;

  int64_t num_elements() const {
    int64_t count = 1;
    for (int64_t dim : shape) count *= dim;
    return count;
  }
};

// --- tensor level ---

enum class TensorOp : uint8_t { Map, Reduce, Contract };

/// What an iteration axis does in its Inst; tilers ask for this, never for the op's class.
enum class AxisRole : uint8_t { Parallel, Reduce, Contract, LhsFree, RhsFree, Batch };

struct IterationAxis {
  AxisId axis;
  AxisRole role = AxisRole::Parallel;
};

/// A value read at each point of the iteration domain.
struct Operand {
  enum class Kind : uint8_t {
    Tensor,  // element `index` of `tensor`
    Scalar,  // the constant `scalar` (its own dtype)
    Index,   // the integer value of `value`, as an element of `dtype` (iota)
  };
  Kind kind = Kind::Tensor;
  Dtype dtype = Dtype::F32;
  TensorId tensor = kNone;
  std::vector<Ref>
      index;  // one expression per tensor dim, over the Inst's axes and enclosing loops; always in bounds
  uint64_t scalar = 0;  // raw bits of one element of dtype, little-endian
  Ref value = nullptr;
};

enum class Comparison : uint8_t { Eq, Ne, Ge, Gt, Le, Lt };

struct TensorAttributes {
  Comparison comparison = Comparison::Eq;  // Compare
  bool total_order = false;                // Compare on floats with TOTALORDER
  isa::AluOp alu = isa::AluOp::Bypass;     // Alu, Int32
  isa::ActivationFunction activation = isa::ActivationFunction::Identity;
  int exponent_bits = 8, mantissa_bits = 23;  // ReducePrecision
};

// --- statements ---

struct Inst;

struct Stmt {
  enum class Kind : uint8_t { Inst, Loop, If, While };
  Kind kind = Kind::Inst;
  std::unique_ptr<Inst> inst;
  AxisId axis = kNone;          // Loop
  std::vector<Stmt> body;       // Loop, If (then), While
  std::vector<Stmt> else_body;  // If
};

/// One statement's work.
///   Map       result[access] = function(operands...) at every point; the result access is injective over the
///   axes.
///             Several Maps may fill disjoint parts of one tensor (concatenate, pad).
///   Reduce    result = fold of operand 0 over the Reduce axes with `function`, starting from operand 1 (the
///             init value)
///   Contract  result = sum over the Contract axes of operand 0 * operand 1 (lhs, rhs),
///   accumulated in fp32 for floats and exactly
///             modulo 2^32 for integers, then converted to the result dtype
///   tile != null: a tile-level instruction; ins/outs are `tile->ins`, `tile->outs`, whose `set` fields are
///   TensorIds.
struct Inst {
  std::string name;
  TensorOp op = TensorOp::Map;
  ScalarFunction function = ScalarFunction::Copy;
  TensorAttributes attributes;
  std::vector<IterationAxis> axes;
  std::vector<Operand> operands;
  Operand result;
  std::vector<std::string> tags;  // recognised patterns, e.g. "softmax.max"
  SourceLoc loc;

  struct Tile {
    bir::Opcode opcode;
    isa::Engine engine = isa::Engine::Unassigned;
    std::vector<bir::Operand> ins,
        outs;  // SymbolicAp (set = TensorId, offsets over enclosing loop axes) or Immediate
    bir::Attributes attributes;
  };
  std::unique_ptr<Tile> tile;

  AxisRole role(AxisId axis) const;
};

struct Function {
  std::string name = "main";
  std::vector<Tensor> tensors;
  std::vector<Axis> axes;
  std::vector<TensorId> inputs, outputs;  // in parameter / result order; one tensor may be listed as several
                                          // outputs' source only through copies
  std::vector<Stmt> body;
};

/// How one declared parameter or result of the model maps to a device tensor (DESIGN H1).
struct IoBinding {
  std::string name;
  Dtype declared_dtype = Dtype::F32;
  std::vector<int64_t> declared_shape;
  TensorId tensor = kNone;
  std::string conversion = "none";  // none, pred
};

struct Module {
  std::string name;
  std::vector<Function> functions;  // main first
  std::vector<IoBinding> inputs, outputs;
  std::shared_ptr<affine::Context> affine = std::make_shared<affine::Context>();

  Function& main() { return functions.front(); }
  const Function& main() const { return functions.front(); }
};

}  // namespace ncc::penguin
