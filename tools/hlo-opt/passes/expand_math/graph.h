// The expression graph in which one elementwise instruction is rewritten: nodes are single machine
// operations, hash-consed (equal operations are one node) and folded when their operands are constants. A
// formula is written with Values and ordinary operators; `emit` then turns the nodes that the result needs
// into Maps.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "common/arch/arch.h"
#include "ir-formats/penguin/module.h"

namespace ncc::hlo_opt::math_expansion {

/// What is known of a value: every non-NaN element lies in [low, high].
struct Range {
  double low, high;
};

struct Node {
  enum class Kind : uint8_t { Operand, Scalar, Op };
  Kind kind = Kind::Op;
  penguin::ScalarFunction function = penguin::ScalarFunction::Copy;
  isa::AluOp alu = isa::AluOp::Bypass;
  isa::ActivationFunction activation = isa::ActivationFunction::Identity;
  Dtype dtype = Dtype::F32;
  std::vector<uint32_t> operands;  // node numbers
  uint64_t scalar = 0;             // Scalar: raw bits of dtype
  penguin::Operand leaf;           // Operand
  Range range{};
};

class Graph;

/// A node of a graph; cheap to copy.
struct Value {
  Graph* graph = nullptr;
  uint32_t node = 0;

  Dtype dtype() const;
  Range range() const;
  bool is_scalar() const;
};

class Graph {
 public:
  explicit Graph(const ArchModel& arch) : arch_(arch) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  const ArchModel& arch() const { return arch_; }
  const Node& node(Value v) const { return nodes_[v.node]; }
  std::span<const Node> nodes() const { return nodes_; }

  /// An operand of the instruction as it is; an Index operand becomes a copy into a tensor, since no
  /// arithmetic reads indices.
  Value operand(const penguin::Operand& operand, Range range);
  Value scalar_bits(Dtype dtype, uint64_t bits);
  Value f32(float value);
  /// An integer constant of a 32-bit or narrower type, modulo 2^bits.
  Value integer(Dtype dtype, int64_t value);

  /// Float, Compare and Logical domains: operands widened to fp32, result rounded to `result`.
  Value alu(isa::AluOp op, Value a, Value b, Dtype result = Dtype::F32);
  Value alu(isa::AluOp op, Value a, Dtype result = Dtype::F32);
  /// Bits domain: both operands and the result of the type of `a`.
  Value bits(isa::AluOp op, Value a, Value b);
  Value bit_not(Value a);
  /// add, mult (and, where the machine has it, subtract) modulo 2^32.
  Value int32(isa::AluOp op, Value a, Value b);
  Value activation(isa::ActivationFunction function, Value a, Dtype result = Dtype::F32);
  Value copy(Value a, Dtype result);
  Value select(Value predicate, Value on_true, Value on_false);
  Value bitcast(Value a, Dtype result);

  /// `a` as a float value of `dtype`, rounded once: the operation that made it writes the narrower type
  /// itself where it can.
  Value round_to(Value a, Dtype dtype);
  /// Says what is known of a value from outside its operation.
  void narrow_range(Value v, Range range);

 private:
  using Key = std::tuple<uint8_t, uint8_t, uint8_t, uint8_t, uint8_t, std::vector<uint32_t>, uint64_t>;
  Value intern(Node node);
  Value make_op(Node node);

  const ArchModel& arch_;
  std::vector<Node> nodes_;
  std::map<Key, uint32_t> interned_;
};

// Formulas in fp32. Every operator is one Alu instruction.
Value operator+(Value a, Value b);
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
Value operator/(Value a, Value b);
Value operator+(Value a, float b);
Value operator-(Value a, float b);
Value operator*(Value a, float b);
Value operator/(Value a, float b);
Value operator+(float a, Value b);
Value operator-(float a, Value b);
Value operator*(float a, Value b);
Value operator/(float a, Value b);
Value operator-(Value a);
Value max(Value a, Value b);
Value min(Value a, Value b);
Value max(Value a, float b);
Value min(Value a, float b);
Value abs(Value a);
Value mod(Value a, Value b);
Value mod(Value a, float b);
Value pow(Value a, Value b);
Value pow(Value a, float b);
Value pow(float a, Value b);
Value activate(isa::ActivationFunction function, Value a);
/// 1.0 or 0.0 in fp32.
Value is(isa::AluOp comparison, Value a, Value b);
Value is(isa::AluOp comparison, Value a, float b);
/// The same as a Pred, for select.
Value test(isa::AluOp comparison, Value a, Value b);
Value test(isa::AluOp comparison, Value a, float b);
Value select(Value predicate, Value on_true, Value on_false);
Value select(Value predicate, Value on_true, float on_false);
Value select(Value predicate, float on_true, Value on_false);
/// c[0] + c[1] x + c[2] x^2 + ...
Value polynomial(Value x, std::span<const float> coefficients);
/// `magnitude` (not negative, or NaN) with the sign bit of `sign`; both are floats of one type.
Value with_sign_of(Value magnitude, Value sign);
/// +1 or -1 in fp32 with the sign bit of `sign`.
Value sign_as_one(Value sign);

}  // namespace ncc::hlo_opt::math_expansion
