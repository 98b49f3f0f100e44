// Shapes of host transfers, tokens and asynchronous forms.
#include "ir-formats/hlo/infer.h"

namespace ncc::hlo {
namespace {

Status check_token(const Instruction& inst, int64_t operand, std::string_view label) {
  const Shape& shape = inst.operand_shape(operand);
  if (shape.is_token()) return Status::ok();
  return mismatch(inst, label, fmt::format("operand {}", operand), to_string(shape), "a token");
}

// Results of recv and infeed are free but for the token at the end.
Result<Shape> values_and_token(const Instruction& inst, std::string_view label) {
  NCC_TRY(check_token(inst, 0, label));
  const Shape& shape = inst.shape;
  if (shape.is_token() || (shape.is_tuple() && !shape.elements.empty() && shape.elements.back().is_token()))
    return shape;
  return mismatch(inst, label, "result", to_string(shape), "values and, last, a token");
}

// send and recv of HLO are pairs: (data, u32[], token) between start and done. StableHLO's are one op.
Result<Shape> infer_send(const Instruction& inst) {
  NCC_TRY(check_token(inst, 1, "send_i2"));
  if (!inst.shape.is_tuple()) return Shape::token();
  return Shape::make_tuple({inst.operand_shape(0), Shape::array(Dtype::U32), Shape::token()});
}

Result<Shape> infer_recv(const Instruction& inst) {
  const Shape& shape = inst.shape;
  const bool start = shape.is_tuple() && shape.elements.size() == 3 &&
                     compatible(shape.elements[1], Shape::array(Dtype::U32)) && shape.elements[2].is_token();
  if (!start) return values_and_token(inst, "recv_c4");
  NCC_TRY(check_token(inst, 0, "recv_i1"));
  return shape;
}

Result<Shape> infer_transfer_done(const Instruction& inst) {
  const Shape& start = inst.operand_shape(0);
  if (!start.is_tuple() || start.elements.size() != 3 || !start.elements[2].is_token())
    return mismatch(inst, "start", "operand", to_string(start), "(data, u32[], token[])");
  if (inst.is(Opcode::SendDone)) return Shape::token();
  return Shape::make_tuple({start.elements[0], start.elements[2]});
}

// ((operands…), result, state…)
Result<Shape> infer_async(const Instruction& inst) {
  if (inst.is(Opcode::AsyncUpdate)) return inst.operand_shape(0);
  if (inst.is(Opcode::AsyncDone)) {
    const Shape& start = inst.operand_shape(0);
    if (start.is_tuple() && start.elements.size() >= 2) return start.elements[1];
    // StableHLO's future stands for the result itself.
    return inst.shape;
  }
  const Computation& body = *inst.body();
  const Shape& shape = inst.shape;
  if (!shape.is_tuple() || shape.elements.size() < 2 || !shape.elements[0].is_tuple()) return shape;
  if (!compatible(shape.elements[0], Shape::make_tuple(operand_shapes(inst))))
    return mismatch(inst, "async_start", "operands in the result", to_string(shape.elements[0]),
                    to_string(Shape::make_tuple(operand_shapes(inst))));
  if (!compatible(shape.elements[1], body.root()->shape))
    return mismatch(inst, "async_start", "result of the computation", to_string(body.root()->shape),
                    to_string(shape.elements[1]));
  return shape;
}

}  // namespace

Result<Shape> infer_effect(const Instruction& inst) {
  switch (inst.opcode) {
    case Opcode::AfterAll:
      return Shape::token();
    case Opcode::AddDependency:
      NCC_TRY(check_token(inst, 1, "add_dependency"));
      return inst.operand_shape(0);
    case Opcode::OptBarrier:
    case Opcode::Domain:
      return inst.operand_shape(0);
    case Opcode::Infeed:
      return values_and_token(inst, "infeed_c3");
    case Opcode::Outfeed:
      NCC_TRY(check_token(inst, 1, "outfeed_i2"));
      return Shape::token();
    case Opcode::Send:
      return infer_send(inst);
    case Opcode::Recv:
      return infer_recv(inst);
    case Opcode::SendDone:
    case Opcode::RecvDone:
      return infer_transfer_done(inst);
    case Opcode::CopyStart:
      return inst.shape;
    case Opcode::CopyDone: {
      const Shape& start = inst.operand_shape(0);
      if (!start.is_tuple() || start.elements.empty())
        return mismatch(inst, "start", "operand", to_string(start), "the tuple of a copy-start");
      return start.elements[0];
    }
    default:
      return infer_async(inst);
  }
}

}  // namespace ncc::hlo
