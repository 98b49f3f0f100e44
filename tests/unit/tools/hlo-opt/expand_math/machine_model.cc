#include "tests/unit/tools/hlo-opt/expand_math/machine_model.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "common/math/math.h"
#include "tools/hlo-opt/passes/expand_math/expand_math.h"

namespace ncc::hlo_opt::testing {
namespace {

using isa::AluOp;
using penguin::Inst;
using penguin::Operand;
using penguin::ScalarFunction;

uint64_t mask_of(Dtype dtype) { return (uint64_t{1} << info(dtype).bits) - 1; }

float widen(Dtype dtype, uint64_t bits) {
  if (dtype == Dtype::F32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (is_float(dtype)) return static_cast<float>(load_as_double(dtype, &bits));
  return static_cast<float>(as_int64(dtype, bits));
}

uint64_t narrow(Dtype dtype, float value) {
  uint64_t bits = 0;
  if (dtype == Dtype::F32) return std::bit_cast<uint32_t>(value);
  if (is_float(dtype)) {
    store_from_double(dtype, &bits, value);
    return bits;
  }
  const bool is_signed = is_signed_int(dtype);
  const double high = static_cast<double>(is_signed ? mask_of(dtype) >> 1 : mask_of(dtype));
  const double low = is_signed ? -high - 1 : 0;
  double rounded =
      std::isnan(value) ? (std::signbit(value) ? low : high) : std::rint(static_cast<double>(value));
  rounded = std::clamp(rounded, low, high);
  return static_cast<uint64_t>(static_cast<int64_t>(rounded)) & mask_of(dtype);
}

float extreme(float a, float b, bool is_max) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  if (a == 0 && b == 0)
    return (is_max ? std::signbit(a) && std::signbit(b) : std::signbit(a) || std::signbit(b)) ? -0.0f : 0.0f;
  return is_max ? std::max(a, b) : std::min(a, b);
}

float alu(AluOp op, float a, float b) {
  switch (op) {
    case AluOp::Add:
      return a + b;
    case AluOp::Subtract:
      return a - b;
    case AluOp::Mult:
      return a * b;
    case AluOp::Divide:
      return a / b;
    case AluOp::Max:
      return extreme(a, b, true);
    case AluOp::Min:
      return extreme(a, b, false);
    case AluOp::Pow:
      return math::pow(a, b);
    case AluOp::Mod:
      return math::floor_mod(a, b);
    case AluOp::Rsqrt:
      return math::rsqrt(a);
    case AluOp::Abs:
      return std::fabs(a);
    case AluOp::IsEqual:
      return a == b;
    case AluOp::NotEqual:
      return a != b;
    case AluOp::IsGt:
      return a > b;
    case AluOp::IsGe:
      return a >= b;
    case AluOp::IsLt:
      return a < b;
    case AluOp::IsLe:
      return a <= b;
    case AluOp::LogicalAnd:
      return a != 0 && b != 0;
    case AluOp::LogicalOr:
      return a != 0 || b != 0;
    case AluOp::LogicalXor:
      return (a != 0) != (b != 0);
    default:
      FAIL("no fp32 operation " << isa::name(op));
      return 0;
  }
}

uint64_t bit_alu(AluOp op, Dtype dtype, uint64_t a, uint64_t b) {
  const uint64_t mask = mask_of(dtype);
  const uint64_t width = static_cast<uint64_t>(info(dtype).bits);
  switch (op) {
    case AluOp::BitwiseNot:
      return ~a & mask;
    case AluOp::BitwiseAnd:
      return a & b;
    case AluOp::BitwiseOr:
      return a | b;
    case AluOp::BitwiseXor:
      return a ^ b;
    case AluOp::LogicalShiftLeft:
    case AluOp::ArithShiftLeft:
      return b >= width ? 0 : (a << b) & mask;
    case AluOp::LogicalShiftRight:
      return b >= width ? 0 : a >> b;
    case AluOp::ArithShiftRight: {
      const int spare = 64 - info(dtype).bits;
      return static_cast<uint64_t>((static_cast<int64_t>(a << spare) >> spare) >> std::min(b, width - 1)) &
             mask;
    }
    default:
      FAIL("no bit operation " << isa::name(op));
      return 0;
  }
}

float activation(isa::ActivationFunction function, float x) {
  const isa::ActivationInfo& row = isa::info(function);
  const bool is_restricted = row.low != row.high && std::isfinite(x);
  // Checking mode of the simulator: leaving the published range is an error, not only a NaN.
  if (is_restricted && !(x >= row.low && x <= row.high)) {
    FAIL(row.name << " outside its range: " << x);
    return NAN;
  }
  switch (function) {
    case isa::ActivationFunction::Exp:
      return math::exp(x);
    case isa::ActivationFunction::Ln:
      return math::log(x);
    case isa::ActivationFunction::Tanh:
      return math::tanh(x);
    case isa::ActivationFunction::Erf:
      return math::erf(x);
    case isa::ActivationFunction::Sigmoid:
      return math::sigmoid(x);
    case isa::ActivationFunction::Sin:
      return std::isfinite(x) ? math::sin(x) : NAN;
    case isa::ActivationFunction::Arctan:
      return math::atan(x);
    case isa::ActivationFunction::Sign:
      return x > 0 ? 1.0f : x < 0 ? -1.0f : x;
    default:
      FAIL("no activation " << row.name);
      return 0;
  }
}

// What the types of one instruction must be.
void check_types(const Inst& inst, const std::vector<Dtype>& types, const ArchModel& arch) {
  const Dtype result = inst.result.dtype;
  switch (inst.function) {
    case ScalarFunction::Alu:
      if (isa::info(inst.attributes.alu).domain != isa::AluDomain::Bits) break;
      REQUIRE(!is_float(result));
      REQUIRE(info(types[0]).bits == info(types[1]).bits);
      REQUIRE(info(types[0]).bits == info(result).bits);
      break;
    case ScalarFunction::Int32:
      for (Dtype type : {types[0], types[1], result}) REQUIRE((type == Dtype::S32 || type == Dtype::U32));
      REQUIRE((inst.attributes.alu == AluOp::Add || inst.attributes.alu == AluOp::Mult ||
               (arch.pool_int32_sub_div_mod &&
                (inst.attributes.alu == AluOp::Subtract || inst.attributes.alu == AluOp::Divide))));
      break;
    case ScalarFunction::Select:
      REQUIRE(types[1] == types[2]);
      REQUIRE(types[1] == result);
      break;
    case ScalarFunction::Bitcast:
      REQUIRE(info(types[0]).bits == info(result).bits);
      break;
    default:
      break;
  }
}

uint64_t compute(const Inst& inst, const std::vector<Dtype>& types, const std::vector<uint64_t>& x) {
  const Dtype result = inst.result.dtype;
  const AluOp op = inst.attributes.alu;
  switch (inst.function) {
    case ScalarFunction::Alu:
      if (isa::info(op).domain == isa::AluDomain::Bits) return bit_alu(op, types[0], x[0], x[1]);
      return narrow(result, alu(op, widen(types[0], x[0]), widen(types[1], x[1])));
    case ScalarFunction::Int32: {
      const uint32_t a = static_cast<uint32_t>(x[0]), b = static_cast<uint32_t>(x[1]);
      if (op == AluOp::Add) return uint32_t{a + b};
      if (op == AluOp::Mult) return uint32_t{a * b};
      if (op == AluOp::Subtract) return uint32_t{a - b};
      // Pool's division: truncating, with these results where C has none.
      if (types[0] == Dtype::U32) return b == 0 ? ~0u : a / b;
      if (b == 0 || b == ~0u) return b == 0 ? ~0u : uint32_t{0 - a};
      return static_cast<uint32_t>(static_cast<int32_t>(a) / static_cast<int32_t>(b));
    }
    case ScalarFunction::Activation:
      return narrow(result, activation(inst.attributes.activation, widen(types[0], x[0])));
    case ScalarFunction::Copy:
      return types[0] == result ? x[0] : narrow(result, widen(types[0], x[0]));
    case ScalarFunction::Select:
      return x[0] != 0 ? x[1] : x[2];
    case ScalarFunction::Bitcast:
      return x[0];
    default:
      FAIL("not a machine function: " << penguin::info(inst.function).name);
      return 0;
  }
}

int64_t position(const penguin::Module& module, const Operand& operand, const std::vector<int64_t>& point) {
  const penguin::Tensor& tensor = module.main().tensors[operand.tensor];
  int64_t flat = 0;
  for (size_t dim = 0; dim < tensor.shape.size(); ++dim)
    flat = flat * tensor.shape[dim] + affine::evaluate(operand.index[dim], point);
  return flat;
}

// Visits every point of the axes, the last one fastest; other coordinates of `point` stay.
void for_each_point(const penguin::Function& function, const std::vector<penguin::IterationAxis>& axes,
                    std::vector<int64_t>& point, const std::function<void()>& visit) {
  for (const penguin::IterationAxis& entry : axes) point[entry.axis] = 0;
  while (true) {
    visit();
    size_t axis = axes.size();
    for (; axis > 0; --axis) {
      const penguin::AxisId id = axes[axis - 1].axis;
      if (++point[id] < function.axes[id].extent) break;
      point[id] = 0;
    }
    if (axis == 0) return;
  }
}

uint64_t read(const penguin::Module& module, const Operand& operand, const std::vector<int64_t>& point,
              const std::vector<Array>& values) {
  uint64_t bits = 0;
  switch (operand.kind) {
    case Operand::Kind::Scalar:
      return operand.scalar;
    case Operand::Kind::Index:
      store_from_int64(operand.dtype, &bits, affine::evaluate(operand.value, point));
      return bits;
    case Operand::Kind::Tensor:
      return values[operand.tensor].bits[static_cast<size_t>(position(module, operand, point))];
  }
  return bits;
}

void check_operands(const penguin::Module& module, const Inst& inst, const ArchModel& arch) {
  std::vector<Dtype> types;
  int tensors = 0;
  for (const Operand& operand : inst.operands) {
    types.push_back(operand.dtype);
    tensors += operand.kind == Operand::Kind::Tensor;
    if (operand.kind == Operand::Kind::Tensor)
      REQUIRE(operand.dtype == module.main().tensors[operand.tensor].dtype);
  }
  REQUIRE(inst.result.dtype == module.main().tensors[inst.result.tensor].dtype);
  if (inst.op != penguin::TensorOp::Map) return;
  if (inst.function != ScalarFunction::Copy) REQUIRE(tensors > 0);
  check_types(inst, types, arch);
}

void evaluate_map(const penguin::Module& module, const Inst& inst, std::vector<Array>& values) {
  std::vector<Dtype> types;
  for (const Operand& operand : inst.operands) types.push_back(operand.dtype);
  std::vector<int64_t> point(module.main().axes.size(), 0);
  std::vector<uint64_t> x(inst.operands.size());
  for_each_point(module.main(), inst.axes, point, [&] {
    for (size_t i = 0; i < x.size(); ++i) x[i] = read(module, inst.operands[i], point, values);
    values[inst.result.tensor].bits[static_cast<size_t>(position(module, inst.result, point))] =
        compute(inst, types, x);
  });
}

uint64_t fold_step(ScalarFunction function, Dtype type, uint64_t bits, bool is_first, float& sum,
                   uint64_t acc) {
  const float x = widen(type, bits);
  switch (function) {
    case ScalarFunction::Add:
      sum = is_first ? x : sum + x;
      return 0;
    case ScalarFunction::Multiply:
      sum = is_first ? x : sum * x;
      return 0;
    case ScalarFunction::Maximum:
      sum = is_first ? x : extreme(sum, x, true);
      return 0;
    case ScalarFunction::Minimum:
      sum = is_first ? x : extreme(sum, x, false);
      return 0;
    case ScalarFunction::And:
      return is_first ? bits : acc & bits;
    case ScalarFunction::Or:
      return is_first ? bits : acc | bits;
    case ScalarFunction::Xor:
      return is_first ? bits : acc ^ bits;
    default:
      FAIL("no fold by " << penguin::info(function).name);
      return 0;
  }
}

// Reduce and Contract: a left fold in fp32 (or of bits), converted to the result type once.
void evaluate_fold(const penguin::Module& module, const Inst& inst, std::vector<Array>& values) {
  std::vector<penguin::IterationAxis> outer, inner;
  for (const penguin::IterationAxis& entry : inst.axes) {
    const bool is_folded =
        entry.role == penguin::AxisRole::Reduce || entry.role == penguin::AxisRole::Contract;
    (is_folded ? inner : outer).push_back(entry);
  }
  const bool is_contract = inst.op == penguin::TensorOp::Contract;
  const ScalarFunction function = is_contract ? ScalarFunction::Add : inst.function;
  const bool is_bits =
      function == ScalarFunction::And || function == ScalarFunction::Or || function == ScalarFunction::Xor;
  const Dtype type = is_contract ? Dtype::F32 : inst.operands[0].dtype;
  if (is_contract)
    for (const Operand& operand : inst.operands) REQUIRE(is_float(operand.dtype));
  std::vector<int64_t> point(module.main().axes.size(), 0);
  for_each_point(module.main(), outer, point, [&] {
    bool is_first = true;
    float sum = 0;
    uint64_t acc = 0;
    for_each_point(module.main(), inner, point, [&] {
      uint64_t bits = read(module, inst.operands[0], point, values);
      if (is_contract)
        bits = narrow(Dtype::F32,
                      widen(inst.operands[0].dtype, bits) *
                          widen(inst.operands[1].dtype, read(module, inst.operands[1], point, values)));
      acc = fold_step(function, type, bits, is_first, sum, acc);
      is_first = false;
    });
    values[inst.result.tensor].bits[static_cast<size_t>(position(module, inst.result, point))] =
        is_bits ? acc : narrow(inst.result.dtype, sum);
  });
}

}  // namespace

double as_double(Dtype dtype, uint64_t bits) { return load_as_double(dtype, &bits); }

int64_t as_int64(Dtype dtype, uint64_t bits) {
  if (is_signed_int(dtype)) {
    const int spare = 64 - info(dtype).bits;
    return static_cast<int64_t>(bits << spare) >> spare;
  }
  return static_cast<int64_t>(bits & mask_of(dtype));
}

Array floats(Dtype dtype, const std::vector<double>& values) {
  Array array{dtype, {}};
  for (double value : values) {
    uint64_t bits = 0;
    store_from_double(dtype, &bits, value);
    array.bits.push_back(bits);
  }
  return array;
}

Array integers(Dtype dtype, const std::vector<int64_t>& values) {
  Array array{dtype, {}};
  for (int64_t value : values) array.bits.push_back(static_cast<uint64_t>(value) & mask_of(dtype));
  return array;
}

Array scalar(Dtype dtype, double value) {
  Array array = is_float(dtype) ? floats(dtype, {value}) : integers(dtype, {static_cast<int64_t>(value)});
  array.is_scalar = true;
  return array;
}

penguin::Module build(const Call& call) {
  penguin::Module module;
  module.functions.emplace_back();
  penguin::Function& function = module.main();
  size_t count = 1;
  for (const Array& operand : call.operands) count = std::max(count, operand.bits.size());
  function.axes.push_back({"i", static_cast<int64_t>(count)});
  auto inst = std::make_unique<Inst>();
  inst->name = "y";
  inst->function = call.function;
  inst->attributes = call.attributes;
  inst->axes = {{0, penguin::AxisRole::Parallel}};
  auto add_tensor = [&](const std::string& name, Dtype dtype, penguin::Role role) {
    penguin::Tensor tensor;
    tensor.name = name;
    tensor.dtype = dtype;
    tensor.shape = {static_cast<int64_t>(count)};
    tensor.role = role;
    function.tensors.push_back(tensor);
    Operand operand;
    operand.dtype = dtype;
    operand.tensor = static_cast<penguin::TensorId>(function.tensors.size() - 1);
    operand.index = {module.affine->axis(0)};
    return operand;
  };
  for (const Array& array : call.operands) {
    if (array.is_scalar) {
      Operand operand;
      operand.kind = Operand::Kind::Scalar;
      operand.dtype = array.dtype;
      operand.scalar = array.bits[0];
      inst->operands.push_back(operand);
    } else {
      const Operand operand =
          add_tensor(fmt::format("x{}", inst->operands.size()), array.dtype, penguin::Role::Input);
      function.inputs.push_back(operand.tensor);
      inst->operands.push_back(operand);
    }
  }
  inst->result = add_tensor("y", call.result, penguin::Role::Output);
  function.outputs.push_back(inst->result.tensor);
  penguin::Stmt stmt;
  stmt.inst = std::move(inst);
  function.body.push_back(std::move(stmt));
  return module;
}

void evaluate(const penguin::Module& module, const ArchModel& arch, std::vector<Array>& values) {
  const penguin::Function& function = module.main();
  for (size_t id = values.size(); id < function.tensors.size(); ++id) values.push_back({});
  for (size_t id = 0; id < values.size(); ++id) {
    values[id].dtype = function.tensors[id].dtype;
    values[id].bits.resize(static_cast<size_t>(function.tensors[id].num_elements()));
  }
  for (const penguin::Stmt& stmt : function.body) {
    check_operands(module, *stmt.inst, arch);
    if (stmt.inst->op == penguin::TensorOp::Map)
      evaluate_map(module, *stmt.inst, values);
    else
      evaluate_fold(module, *stmt.inst, values);
  }
}

Outcome run(const Call& call, const ArchModel& arch) {
  penguin::Module module = build(call);
  std::vector<Array> values;
  for (const Array& operand : call.operands)
    if (!operand.is_scalar) values.push_back(operand);
  const Status status = expand_math(module, arch);
  INFO((status.is_ok() ? std::string() : status.diagnostic().to_string()));
  REQUIRE(status.is_ok());
  evaluate(module, arch, values);
  Outcome outcome{values[module.main().outputs[0]]};
  for (const penguin::Stmt& stmt : module.main().body)
    outcome.instructions += stmt.inst->function != ScalarFunction::Bitcast;
  return outcome;
}

int64_t ulp_distance(Dtype dtype, uint64_t a, uint64_t b) {
  const double x = as_double(dtype, a), y = as_double(dtype, b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) == std::isnan(y) ? 0 : int64_t{1} << 60;
  if (std::isinf(x) != std::isinf(y) &&
      (std::isinf(x) ? std::fabs(y) : std::fabs(x)) < (dtype == Dtype::F16 ? 65000.0 : 3.3e38))
    return int64_t{1} << 59;
  const int sign_position = info(dtype).bits - 1;
  auto ordered = [&](uint64_t bits) {
    const int64_t magnitude = static_cast<int64_t>(bits & ((uint64_t{1} << sign_position) - 1));
    return bits >> sign_position ? -magnitude : magnitude;
  };
  return std::abs(ordered(a) - ordered(b));
}

}  // namespace ncc::hlo_opt::testing
