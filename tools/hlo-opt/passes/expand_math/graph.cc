#include "tools/hlo-opt/passes/expand_math/graph.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/diag/status.h"
#include "tools/hlo-opt/passes/expand_math/fold.h"
#include "tools/hlo-opt/passes/expand_math/range.h"

namespace ncc::hlo_opt::math_expansion {

using isa::AluOp;
using penguin::ScalarFunction;

Dtype Value::dtype() const { return graph->node(*this).dtype; }
Range Value::range() const { return graph->node(*this).range; }
bool Value::is_scalar() const { return graph->node(*this).kind == Node::Kind::Scalar; }

Value Graph::intern(Node node) {
  const Key key{static_cast<uint8_t>(node.kind),
                static_cast<uint8_t>(node.function),
                static_cast<uint8_t>(node.alu),
                static_cast<uint8_t>(node.activation),
                static_cast<uint8_t>(node.dtype),
                node.operands,
                node.scalar};
  const auto [it, is_new] = interned_.try_emplace(key, static_cast<uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back(std::move(node));
  return {this, it->second};
}

Value Graph::operand(const penguin::Operand& operand, Range range) {
  if (operand.kind == penguin::Operand::Kind::Scalar) return scalar_bits(operand.dtype, operand.scalar);
  Node node;
  node.kind = Node::Kind::Operand;
  node.dtype = operand.dtype;
  node.leaf = operand;
  node.range = range;
  nodes_.push_back(std::move(node));
  const Value leaf{this, static_cast<uint32_t>(nodes_.size() - 1)};
  if (operand.kind != penguin::Operand::Kind::Index) return leaf;
  Node copy;
  copy.dtype = operand.dtype;
  copy.operands = {leaf.node};
  copy.range = range;
  return intern(std::move(copy));
}

Value Graph::scalar_bits(Dtype dtype, uint64_t bits) {
  Node node;
  node.kind = Node::Kind::Scalar;
  node.dtype = dtype;
  node.scalar = bits;
  const double value =
      is_integer(dtype) ? static_cast<double>(load_as_int64(dtype, &bits)) : widen(dtype, bits);
  node.range = std::isnan(value) ? full_range(dtype) : Range{value, value};
  return intern(std::move(node));
}

Value Graph::f32(float value) { return scalar_bits(Dtype::F32, std::bit_cast<uint32_t>(value)); }

Value Graph::integer(Dtype dtype, int64_t value) {
  uint64_t bits = 0;
  store_from_int64(dtype, &bits, value);
  return scalar_bits(dtype, bits);
}

// Folds an operation on constants; where folding is left to the machine, the first operand becomes a tensor.
Value Graph::make_op(Node node) {
  std::vector<const Node*> operands;
  bool all_scalar = true;
  for (uint32_t id : node.operands) {
    operands.push_back(&nodes_[id]);
    all_scalar = all_scalar && nodes_[id].kind == Node::Kind::Scalar;
  }
  if (all_scalar) {
    if (const std::optional<uint64_t> bits = fold(node, operands)) return scalar_bits(node.dtype, *bits);
    Node fill;
    fill.dtype = operands[0]->dtype;
    fill.operands = {node.operands[0]};
    fill.range = operands[0]->range;
    node.operands[0] = intern(std::move(fill)).node;
    operands[0] = &nodes_[node.operands[0]];
    for (size_t i = 1; i < operands.size(); ++i) operands[i] = &nodes_[node.operands[i]];
  }
  node.range = result_range(node, operands);
  return intern(std::move(node));
}

Value Graph::alu(AluOp op, Value a, Value b, Dtype result) {
  NCC_CHECK(isa::info(op).domain != isa::AluDomain::Bits, "{} is a bit operation", isa::name(op));
  Node node;
  node.function = ScalarFunction::Alu;
  node.alu = op;
  node.dtype = result;
  node.operands = {a.node, b.node};
  return make_op(std::move(node));
}

Value Graph::alu(AluOp op, Value a, Dtype result) { return alu(op, a, f32(0), result); }

Value Graph::bits(AluOp op, Value a, Value b) {
  NCC_CHECK(info(a.dtype()).bits == info(b.dtype()).bits, "bit operation on {} and {}", info(a.dtype()).hlo,
            info(b.dtype()).hlo);
  Node node;
  node.function = ScalarFunction::Alu;
  node.alu = op;
  node.dtype = a.dtype();
  node.operands = {a.node, b.node};
  return make_op(std::move(node));
}

Value Graph::bit_not(Value a) { return bits(AluOp::BitwiseNot, a, integer(a.dtype(), 0)); }

Value Graph::int32(AluOp op, Value a, Value b) {
  NCC_CHECK(info(a.dtype()).bits == 32 && info(b.dtype()).bits == 32 && is_integer(a.dtype()) &&
                is_integer(b.dtype()),
            "32-bit arithmetic on {} and {}", info(a.dtype()).hlo, info(b.dtype()).hlo);
  Node node;
  node.function = ScalarFunction::Int32;
  node.alu = op;
  node.dtype = a.dtype();
  node.operands = {a.node, b.node};
  return make_op(std::move(node));
}

Value Graph::activation(isa::ActivationFunction function, Value a, Dtype result) {
  Node node;
  node.function = ScalarFunction::Activation;
  node.activation = function;
  node.dtype = result;
  node.operands = {a.node};
  return make_op(std::move(node));
}

Value Graph::copy(Value a, Dtype result) {
  if (a.dtype() == result) return a;
  Node node;
  node.dtype = result;
  node.operands = {a.node};
  return make_op(std::move(node));
}

Value Graph::select(Value predicate, Value on_true, Value on_false) {
  NCC_CHECK(on_true.dtype() == on_false.dtype(), "select between {} and {}", info(on_true.dtype()).hlo,
            info(on_false.dtype()).hlo);
  if (predicate.is_scalar()) return node(predicate).scalar != 0 ? on_true : on_false;
  if (on_true.node == on_false.node) return on_true;
  Node node;
  node.function = ScalarFunction::Select;
  node.dtype = on_true.dtype();
  node.operands = {predicate.node, on_true.node, on_false.node};
  return make_op(std::move(node));
}

Value Graph::bitcast(Value a, Dtype result) {
  if (a.dtype() == result) return a;
  NCC_CHECK(info(a.dtype()).bits == info(result).bits, "bitcast of {} to {}", info(a.dtype()).hlo,
            info(result).hlo);
  // A chain of reinterpretations is one.
  const Node& source = node(a);
  if (source.kind == Node::Kind::Op && source.function == ScalarFunction::Bitcast)
    return bitcast({this, source.operands[0]}, result);
  Node node;
  node.function = ScalarFunction::Bitcast;
  node.dtype = result;
  node.operands = {a.node};
  return make_op(std::move(node));
}

Value Graph::round_to(Value a, Dtype dtype) {
  if (a.dtype() == dtype) return a;
  const Node& source = node(a);
  const bool is_alu_float =
      source.function == ScalarFunction::Alu && isa::info(source.alu).domain != isa::AluDomain::Bits;
  if (source.kind != Node::Kind::Op || source.dtype != Dtype::F32 ||
      !(is_alu_float || source.function == ScalarFunction::Activation))
    return copy(a, dtype);
  Node node = source;
  node.dtype = dtype;
  return make_op(std::move(node));
}

void Graph::narrow_range(Value v, Range range) {
  Range& known = nodes_[v.node].range;
  known = {std::max(known.low, range.low), std::min(known.high, range.high)};
}

Value operator+(Value a, Value b) { return a.graph->alu(AluOp::Add, a, b); }
Value operator-(Value a, Value b) { return a.graph->alu(AluOp::Subtract, a, b); }
Value operator*(Value a, Value b) { return a.graph->alu(AluOp::Mult, a, b); }
Value operator/(Value a, Value b) { return a.graph->alu(AluOp::Divide, a, b); }
Value operator+(Value a, float b) { return a + a.graph->f32(b); }
Value operator-(Value a, float b) { return a - a.graph->f32(b); }
Value operator*(Value a, float b) { return a * a.graph->f32(b); }
Value operator/(Value a, float b) { return a / a.graph->f32(b); }
Value operator+(float a, Value b) { return b + a; }
Value operator-(float a, Value b) { return b.graph->f32(a) - b; }
Value operator*(float a, Value b) { return b * a; }
Value operator/(float a, Value b) { return b.graph->f32(a) / b; }
Value operator-(Value a) { return a * -1.0f; }
Value max(Value a, Value b) { return a.graph->alu(AluOp::Max, a, b); }
Value min(Value a, Value b) { return a.graph->alu(AluOp::Min, a, b); }
Value max(Value a, float b) { return max(a, a.graph->f32(b)); }
Value min(Value a, float b) { return min(a, a.graph->f32(b)); }
Value abs(Value a) { return a.graph->alu(AluOp::Abs, a); }
Value mod(Value a, Value b) { return a.graph->alu(AluOp::Mod, a, b); }
Value mod(Value a, float b) { return mod(a, a.graph->f32(b)); }
Value pow(Value a, Value b) { return a.graph->alu(AluOp::Pow, a, b); }
Value pow(Value a, float b) { return pow(a, a.graph->f32(b)); }
Value pow(float a, Value b) { return pow(b.graph->f32(a), b); }
Value activate(isa::ActivationFunction function, Value a) { return a.graph->activation(function, a); }
Value is(AluOp comparison, Value a, Value b) { return a.graph->alu(comparison, a, b); }
Value is(AluOp comparison, Value a, float b) { return is(comparison, a, a.graph->f32(b)); }
Value test(AluOp comparison, Value a, Value b) { return a.graph->alu(comparison, a, b, Dtype::Pred); }
Value test(AluOp comparison, Value a, float b) { return test(comparison, a, a.graph->f32(b)); }
Value select(Value predicate, Value on_true, Value on_false) {
  return predicate.graph->select(predicate, on_true, on_false);
}
Value select(Value predicate, Value on_true, float on_false) {
  Graph& graph = *predicate.graph;
  return graph.select(predicate, on_true, graph.copy(graph.f32(on_false), on_true.dtype()));
}
Value select(Value predicate, float on_true, Value on_false) {
  Graph& graph = *predicate.graph;
  return graph.select(predicate, graph.copy(graph.f32(on_true), on_false.dtype()), on_false);
}

Value polynomial(Value x, std::span<const float> coefficients) {
  Value sum = x.graph->f32(coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

namespace {

struct SignBits {
  Dtype unsigned_type;
  int64_t sign, one;
};

SignBits sign_bits(Dtype dtype) {
  switch (dtype) {
    case Dtype::F32:
      return {Dtype::U32, 0x80000000, 0x3F800000};
    case Dtype::BF16:
      return {Dtype::U16, 0x8000, 0x3F80};
    case Dtype::F16:
      return {Dtype::U16, 0x8000, 0x3C00};
    default:
      NCC_CHECK(false, "sign bit of {}", info(dtype).hlo);
  }
}

}  // namespace

Value with_sign_of(Value magnitude, Value sign) {
  Graph& graph = *sign.graph;
  const SignBits type = sign_bits(sign.dtype());
  const Value sign_bit = graph.bits(AluOp::BitwiseAnd, graph.bitcast(sign, type.unsigned_type),
                                    graph.integer(type.unsigned_type, type.sign));
  const Value joined = graph.bits(AluOp::BitwiseOr, graph.bitcast(magnitude, type.unsigned_type), sign_bit);
  const Value result = graph.bitcast(joined, sign.dtype());
  const Range range = magnitude.range();
  graph.narrow_range(result, {-std::max(std::fabs(range.low), std::fabs(range.high)),
                              std::max(std::fabs(range.low), std::fabs(range.high))});
  return result;
}

Value sign_as_one(Value sign) {
  Graph& graph = *sign.graph;
  const SignBits type = sign_bits(sign.dtype());
  const Value sign_bit = graph.bits(AluOp::BitwiseAnd, graph.bitcast(sign, type.unsigned_type),
                                    graph.integer(type.unsigned_type, type.sign));
  const Value one = graph.bits(AluOp::BitwiseOr, sign_bit, graph.integer(type.unsigned_type, type.one));
  const Value result = graph.bitcast(one, sign.dtype());
  graph.narrow_range(result, {-1, 1});
  return result;
}

}  // namespace ncc::hlo_opt::math_expansion
