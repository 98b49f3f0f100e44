// Elementwise functions and reductions, one machine instruction per tile wherever the function allows.
#include <algorithm>
#include <bit>
#include <cstring>

#include "tools/hlo-opt/tile/lowering.h"

namespace ncc::hlo_opt {

using namespace penguin;

namespace {

float scalar_as_float(Dtype dtype, uint64_t bits) { return static_cast<float>(load_as_double(dtype, &bits)); }

// Relative cost of an elementwise instruction per element on DVE and Pool (arch.md §6.3): two streamed fp32
// operands take two cycles.
double tensor_tensor_cycles(Dtype a, Dtype b) { return size_bytes(a) == 4 || size_bytes(b) == 4 ? 2.0 : 1.0; }

bool is_bits(isa::AluOp op) { return isa::info(op).domain == isa::AluDomain::Bits; }

int64_t count_elements(const std::vector<FreeAxis>& axes) {
  int64_t count = 1;
  for (const FreeAxis& axis : axes) count *= axis.count;
  return count;
}

}  // namespace

void TileLowering::emit_fill(const TileAccess& to, Dtype dtype, uint64_t bits,
                             const std::vector<FreeAxis>& axes) {
  TileInst fill;
  fill.opcode = bir::Opcode::Memset;
  fill.engine = pick_engine("PV", count_elements(axes), 1.0, to.space == Space::Psum);
  fill.attributes.constant = static_cast<uint32_t>(
      bits & (size_bytes(dtype) >= 4 ? 0xFFFFFFFFull : (1ull << (8 * size_bytes(dtype))) - 1));
  fill.outs = {TileOperand::tile(to)};
  fill.axes = axes;
  fill.max_dims = 4;
  builder_.emit(fill);
}

void TileLowering::emit_copy(const TileAccess& from, const TileAccess& to,
                             const std::vector<FreeAxis>& axes) {
  TileInst copy;
  copy.opcode = bir::Opcode::TensorCopy;
  const bool psum = from.space == Space::Psum || to.space == Space::Psum;
  // Activation copies go through its fp32 datapath: exact for floats, not for wide integers.
  const bool wide_integer = !is_float(from.dtype) && size_bytes(from.dtype) == 4;
  copy.engine = pick_engine(wide_integer ? "PV" : "PVA", count_elements(axes), 1.0, psum);
  copy.ins = {TileOperand::tile(from)};
  copy.outs = {TileOperand::tile(to)};
  copy.axes = axes;
  copy.max_dims = 4;
  builder_.emit(copy);
}

TileLowering::MapOperand TileLowering::map_operand(uint32_t i, const Operand& operand) {
  MapOperand result;
  result.dtype = operand.dtype;
  switch (operand.kind) {
    case Operand::Kind::Scalar:
      result.scalar = operand.scalar;
      return result;
    case Operand::Kind::Index:
      result.access = index_tile(i, operand, plan_.insts[i].partition);
      result.dtype = Dtype::S32;
      break;
    case Operand::Kind::Tensor:
      result.access = operand_tile(i, operand, plan_.insts[i].partition);
      break;
  }
  result.kind = result.access.is_per_partition() ? MapOperand::Kind::PerPartition : MapOperand::Kind::Tile;
  return result;
}

TileAccess TileLowering::as_tile(const MapOperand& operand, int64_t lanes) {
  return operand.kind == MapOperand::Kind::Scalar ? constant_tile(operand.dtype, operand.scalar, lanes)
                                                  : operand.access;
}

Status TileLowering::emit_alu(uint32_t i, const MapOperand& a, const MapOperand& b, const TileAccess& out,
                              const std::vector<FreeAxis>& axes) {
  const isa::AluOp op = inst(i).attributes.alu;
  const bool bits = is_bits(op);
  const bool unary = isa::info(op).arity == 1;
  const auto is_scalar = [&](const MapOperand& operand) {
    // A per-partition scalar must be fp32 for arithmetic; of other types it is read as a broadcast tile.
    return operand.kind == MapOperand::Kind::Scalar ||
           (operand.kind == MapOperand::Kind::PerPartition && !bits && operand.dtype == Dtype::F32 &&
            count_elements(axes) > 1);
  };
  const auto scalar_operand = [&](const MapOperand& operand) {
    if (operand.kind == MapOperand::Kind::PerPartition) return TileOperand::per_partition(operand.access);
    if (bits)
      return TileOperand::immediate_bits(
          Dtype::S32, static_cast<uint32_t>(load_as_int64(operand.dtype, &operand.scalar)));
    return TileOperand::immediate(scalar_as_float(operand.dtype, operand.scalar));
  };
  TileInst alu;
  alu.axes = axes;
  alu.attributes.op0 = op;
  alu.outs = {TileOperand::tile(out)};
  const int64_t elements = count_elements(axes);
  const bool psum = a.access.space == Space::Psum || b.access.space == Space::Psum;
  if (unary || is_scalar(b) || is_scalar(a)) {
    const bool reversed = !unary && !is_scalar(b);
    const MapOperand& data = reversed ? b : a;
    alu.opcode = bir::Opcode::TensorScalarPtr;
    alu.ins = {TileOperand::tile(as_tile(data, out.lanes)),
               unary ? TileOperand::immediate(0.0f) : scalar_operand(reversed ? a : b)};
    if (unary && bits) alu.ins[1] = TileOperand::immediate_bits(Dtype::S32, 0);
    alu.attributes.reverse0 = reversed;
    alu.engine = pick_engine("PV", elements, 1.0, psum);
  } else {
    alu.opcode = bir::Opcode::TensorTensor;
    alu.ins = {TileOperand::tile(as_tile(a, out.lanes)), TileOperand::tile(as_tile(b, out.lanes))};
    alu.engine = pick_engine("PV", elements, tensor_tensor_cycles(a.dtype, b.dtype), psum);
    // All-integer operands on Pool would select its exact 32-bit arithmetic; fp32 semantics are asked for
    // here.
    const auto is_int32 = [](Dtype dtype) { return dtype == Dtype::S32 || dtype == Dtype::U32; };
    if (!bits && is_int32(a.dtype) && is_int32(b.dtype)) alu.engine = isa::Engine::DVE;
  }
  builder_.emit(alu);
  return Status::ok();
}

TileOperand TileLowering::stage_scalar(uint32_t i, const Operand& operand, bool negate) {
  const MapOperand scalar = map_operand(i, operand);
  if (scalar.kind == MapOperand::Kind::Scalar) {
    const float value = scalar_as_float(scalar.dtype, scalar.scalar);
    return TileOperand::immediate(negate ? -value : value);
  }
  if (!negate) return TileOperand::per_partition(scalar.access);
  TileAccess negated = scalar.access;
  negated.space = Space::Sbuf;
  negated.offset = builder_.constant(0);
  negated.tensor = builder_.new_tile("negated", Space::Sbuf, Dtype::F32, negated.lanes, 1, builder_.level());
  TileInst times;
  times.opcode = bir::Opcode::TensorScalarPtr;
  times.engine = pick_engine("PV", 1, 1.0, scalar.access.space == Space::Psum);
  times.attributes.op0 = isa::AluOp::Mult;
  times.ins = {TileOperand::tile(scalar.access), TileOperand::immediate(-1.0f)};
  times.outs = {TileOperand::tile(negated)};
  builder_.emit(times);
  return TileOperand::per_partition(negated);
}

void TileLowering::add_scale_and_bias(uint32_t i, int64_t lanes, TileInst& act) {
  std::optional<TileOperand> scale, bias;
  for (const Stage& stage : plan_.insts[i].stages) {
    if (stage.op == isa::AluOp::Mult)
      scale = stage_scalar(i, stage.scalar, false);
    else
      bias = stage_scalar(i, stage.scalar, stage.op == isa::AluOp::Subtract);
  }
  if (!bias) bias = TileOperand::immediate(0.0f);
  if (bias->is_immediate && !arch_.has_activation_bias_immediate)
    bias = TileOperand::per_partition(constant_tile(Dtype::F32, bias->bits, lanes));
  act.ins.push_back(*bias);
  if (!scale) return;
  if (scale->is_immediate)
    act.attributes.scale = std::bit_cast<float>(scale->bits);
  else
    act.ins.push_back(*scale);
}

// op1(op0(x, s0), other): tensor_scalar when the other operand is a scalar too, else scalar_tensor_tensor.
void TileLowering::emit_staged_alu(uint32_t i, const MapOperand& data, const MapOperand& other,
                                   const TileAccess& out, const std::vector<FreeAxis>& axes) {
  const InstPlan& plan = plan_.insts[i];
  const Stage& stage = plan.stages.front();
  TileInst alu;
  alu.opcode = bir::Opcode::TensorScalarPtr;
  alu.axes = axes;
  alu.attributes.op0 = stage.op;
  alu.attributes.reverse0 = stage.reversed;
  alu.attributes.op1 = inst(i).attributes.alu;
  alu.attributes.reverse1 = plan.staged_operand == 1;
  alu.outs = {TileOperand::tile(out)};
  alu.ins = {TileOperand::tile(as_tile(data, out.lanes)), stage_scalar(i, stage.scalar, false)};
  double cycles = 1.0;
  if (other.kind == MapOperand::Kind::Scalar) {
    alu.ins.push_back(TileOperand::immediate(scalar_as_float(other.dtype, other.scalar)));
  } else if (other.kind == MapOperand::Kind::PerPartition && other.dtype == Dtype::F32) {
    alu.ins.push_back(TileOperand::per_partition(other.access));
  } else {
    alu.attributes.is_scalar_tensor_tensor = true;
    alu.ins.push_back(TileOperand::tile(other.access));
    alu.max_dims = 2;
    cycles = tensor_tensor_cycles(data.dtype, other.dtype);
  }
  const bool psum = data.access.space == Space::Psum || other.access.space == Space::Psum;
  alu.engine = pick_engine("PV", count_elements(axes), cycles, psum);
  builder_.emit(alu);
}

Status TileLowering::lower_map(uint32_t i) {
  const Inst& in = inst(i);
  if (in.function == ScalarFunction::Bitcast && in.operands[0].kind == Operand::Kind::Tensor) {
    const TileAccess out = result_access(i);
    TileAccess from = operand_tile(i, in.operands[0], plan_.insts[i].partition), to = out;
    // Equal integer types on both sides: the bits move unchanged.
    const Dtype raw = size_bytes(to.dtype) == 4   ? Dtype::S32
                      : size_bytes(to.dtype) == 2 ? Dtype::S16
                                                  : Dtype::S8;
    from.dtype = to.dtype = raw;
    emit_copy(from, to, free_axes(i));
    finish_result(i, out);
    return Status::ok();
  }
  std::vector<MapOperand> operands;
  const InstPlan& plan = plan_.insts[i];
  for (size_t k = 0; k < in.operands.size(); ++k)
    operands.push_back(
        map_operand(i, static_cast<int>(k) == plan.staged_operand ? plan.staged_data : in.operands[k]));
  const TileAccess out = result_access(i);
  const std::vector<FreeAxis> axes = free_axes(i);
  const int64_t elements = count_elements(axes);
  switch (in.function) {
    case ScalarFunction::Alu:
      if (!plan.stages.empty())
        emit_staged_alu(i, operands[plan.staged_operand], operands[1 - plan.staged_operand], out, axes);
      else
        NCC_TRY(emit_alu(i, operands[0], operands.size() > 1 ? operands[1] : operands[0], out, axes));
      break;
    case ScalarFunction::Int32: {
      TileInst add;
      add.opcode = bir::Opcode::TensorTensor;
      add.engine = isa::Engine::Pool;
      add.attributes.op0 = in.attributes.alu;
      add.ins = {TileOperand::tile(as_tile(operands[0], out.lanes)),
                 TileOperand::tile(as_tile(operands[1], out.lanes))};
      add.outs = {TileOperand::tile(out)};
      add.axes = axes;
      builder_.emit(add);
      break;
    }
    case ScalarFunction::Activation: {
      TileInst act;
      act.opcode = bir::Opcode::Activation;
      act.engine = isa::Engine::Activation;
      engine_ns_[static_cast<size_t>(act.engine)] += std::max(64.0, static_cast<double>(elements)) *
                                                     arch_.activation_ticks *
                                                     static_cast<double>(builder_.trips());
      act.attributes.function = in.attributes.activation;
      act.ins = {TileOperand::tile(as_tile(operands[0], out.lanes))};
      add_scale_and_bias(i, out.lanes, act);
      act.outs = {TileOperand::tile(out)};
      act.axes = axes;
      if (plan.accumulated_by >= 0) {
        const uint32_t sum = static_cast<uint32_t>(plan.accumulated_by);
        const Environment saved = environment_;
        enter(sum);
        const TileAccess total = result_access(sum);
        act.attributes.accumulate = isa::AccumulateCommand::ZeroAccumulate;
        act.outs.push_back(TileOperand::per_partition(total));
        builder_.emit(act);
        finish_result(sum, total);
        environment_ = saved;
        break;
      }
      builder_.emit(act);
      break;
    }
    case ScalarFunction::Copy:
    case ScalarFunction::Bitcast:
      if (operands[0].kind == MapOperand::Kind::Scalar) {
        uint64_t bits = operands[0].scalar;
        if (in.function == ScalarFunction::Copy && operands[0].dtype != out.dtype) {
          bits = 0;
          if (is_float(out.dtype))
            store_from_double(out.dtype, &bits, load_as_double(operands[0].dtype, &operands[0].scalar));
          else
            store_from_double(out.dtype, &bits,
                              std::nearbyint(load_as_double(operands[0].dtype, &operands[0].scalar)));
        }
        emit_fill(out, out.dtype, bits, axes);
      } else {
        emit_copy(operands[0].access, out, axes);
      }
      break;
    case ScalarFunction::Select: {
      // out = on_false, then on_true where the mask holds.
      if (operands[2].kind == MapOperand::Kind::Scalar) {
        emit_fill(out, out.dtype, operands[2].scalar, axes);
      } else {
        emit_copy(operands[2].access, out, axes);
      }
      TileInst put;
      put.opcode = bir::Opcode::CopyPredicated;
      put.ins = {TileOperand::tile(as_tile(operands[1], out.lanes)),
                 TileOperand::tile(as_tile(operands[0], out.lanes))};
      put.outs = {TileOperand::tile(out)};
      put.axes = axes;
      const bool psum = put.ins[0].access.space == Space::Psum || put.ins[1].access.space == Space::Psum;
      put.engine = pick_engine("PV", elements, 2.0, psum);
      builder_.emit(put);
      break;
    }
    default:
      return error(Code::EVRF001, in.loc, info(in.function).name,
                   "no instruction computes it on this target");
  }
  finish_result(i, out);
  return Status::ok();
}

Status TileLowering::lower_reduce(uint32_t i) {
  const Inst& in = inst(i);
  struct Fold {
    ScalarFunction function;
    isa::AluOp arithmetic, bitwise;
  };
  static constexpr Fold kFolds[] = {
      {ScalarFunction::Add, isa::AluOp::Add, isa::AluOp::Bypass},
      {ScalarFunction::Multiply, isa::AluOp::Mult, isa::AluOp::Bypass},
      {ScalarFunction::Maximum, isa::AluOp::Max, isa::AluOp::Bypass},
      {ScalarFunction::Minimum, isa::AluOp::Min, isa::AluOp::Bypass},
      {ScalarFunction::And, isa::AluOp::Min, isa::AluOp::BitwiseAnd},
      {ScalarFunction::Or, isa::AluOp::Max, isa::AluOp::BitwiseOr},
      {ScalarFunction::Xor, isa::AluOp::NotEqual, isa::AluOp::BitwiseXor},
  };
  const Fold* fold = std::find_if(std::begin(kFolds), std::end(kFolds),
                                  [&](const Fold& row) { return row.function == in.function; });
  if (fold == std::end(kFolds))
    return error(Code::EVRF001, in.loc, "reduce", fmt::format("a fold by {}", info(in.function).name));
  const MapOperand data = map_operand(i, in.operands[0]);
  const TileAccess out = result_access(i);
  std::vector<FreeAxis> axes = free_axes(i);
  TileInst reduce;
  reduce.opcode = bir::Opcode::TensorReduce;
  reduce.attributes.op0 =
      data.dtype != Dtype::Pred && is_integer(data.dtype) && fold->bitwise != isa::AluOp::Bypass
          ? fold->bitwise
          : fold->arithmetic;
  int64_t elements = count_elements(axes);
  // Folded axes in the order that the data has them, so that they join into few dims.
  std::vector<FreeAxis> folded = axes_with_role(i, AxisRole::Reduce);
  std::stable_sort(folded.begin(), folded.end(), [&](const FreeAxis& a, const FreeAxis& b) {
    const auto step = [&](AxisId axis) {
      const auto found = data.access.stride.find(axis);
      return found == data.access.stride.end() ? 0 : std::abs(found->second);
    };
    return step(a.axis) > step(b.axis);
  });
  for (const FreeAxis& axis : folded) {
    axes.push_back(axis);
    elements *= axis.count;
  }
  reduce.reduce_axes = folded.size();
  reduce.ins = {TileOperand::tile(as_tile(data, out.lanes))};
  reduce.outs = {TileOperand::tile(out)};
  reduce.axes = axes;
  reduce.max_dims = 4;
  reduce.engine = pick_engine("PV", elements, 1.0, data.access.space == Space::Psum);
  if (count_elements(folded) == 1)
    emit_copy(reduce.ins[0].access, out, free_axes(i));
  else
    builder_.emit(reduce);
  finish_result(i, out);
  return Status::ok();
}

}  // namespace ncc::hlo_opt
