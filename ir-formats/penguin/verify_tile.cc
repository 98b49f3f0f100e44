// Rules of the tile level:
//   penguin_l1  every tensor is placed; on chip its shape is [partitions, free...] with at most 128
//   partitions penguin_l2  operand counts fit the opcode (bir::info) penguin_l3  every access stays inside
//   its tensor for all iterations of the enclosing loops penguin_l4  expressions use enclosing loops only,
//   and a scoped tensor is used inside its loop only penguin_l5  a matmul's result is in PSUM, its operands
//   are in SBUF; transfers touch DRAM or SBUF
#include <unordered_set>

#include "ir-formats/penguin/names.h"
#include "ir-formats/penguin/verify.h"

namespace ncc::penguin {
namespace {

constexpr int64_t kMaxPartitions = 128;

class TileLevel {
 public:
  explicit TileLevel(const Function& function) : function_(function) {}

  Status run() {
    for (const Tensor& tensor : function_.tensors) NCC_TRY(check(tensor));
    return check(function_.body);
  }

 private:
  Status fail(const std::string& text) const {
    return error(Code::EPEN001, inst_ == nullptr ? fmt::format("function '{}': {}", function_.name, text)
                                                 : fmt::format("'{}': {}", inst_->name, text));
  }

  Status check(const Tensor& tensor) const {  // penguin_l1
    if (tensor.space == Space::Unplaced) return fail(fmt::format("tensor '{}' is not placed", tensor.name));
    if (tensor.space == Space::Dram) return Status::ok();
    if (tensor.shape.empty() || tensor.shape[0] < 1 || tensor.shape[0] > kMaxPartitions)
      return fail(
          fmt::format("tensor '{}' takes no or more than {} partitions", tensor.name, kMaxPartitions));
    return Status::ok();
  }

  Status check_loops(Ref e) const {  // penguin_l4
    for (const affine::Term& term : e->terms)
      if (loops_.count(term.axis) == 0)
        return fail(fmt::format("axis '{}' does not enclose it", function_.axes[term.axis].name));
    return Status::ok();
  }

  Status check_range(const char* what, Ref start, const isa::Dim* dims, int rank, int64_t size,
                     const Tensor& tensor) const {
    affine::Interval range =
        affine::bounds(start, [this](AxisId axis) { return function_.axes[axis].extent; });
    for (int i = 0; i < rank; ++i) {
      if (dims[i].count < 1) return fail(fmt::format("an access to '{}' is empty", tensor.name));
      const int64_t reach = dims[i].step * (dims[i].count - 1);
      (reach < 0 ? range.low : range.high) += reach;
    }
    if (range.low >= 0 && range.high < size) return Status::ok();
    return fail(fmt::format("{} [{}, {}] of '{}' are accessed, it has {}", what, range.low, range.high,
                            tensor.name, size));
  }

  Status check(const bir::Operand& operand) const {
    if (operand.kind == bir::OperandKind::Immediate) return Status::ok();
    const Tensor& tensor = function_.tensors[operand.set];
    if (tensor.scope != kNone && loops_.count(tensor.scope) == 0)
      return fail(fmt::format("'{}' is used outside its loop", tensor.name));
    NCC_TRY(check_loops(operand.partition_expr));
    NCC_TRY(check_loops(operand.offset_expr));
    // Elements are counted in the access's own type, which may differ from the tensor's (a view of its bits).
    const int64_t per_element = ncc::size_bytes(operand.dtype);
    if (tensor.space == Space::Dram) {
      const int64_t size = tensor.num_elements() * ncc::size_bytes(tensor.dtype) / per_element;
      return check_range("elements", operand.offset_expr, operand.ap.data(), operand.rank, size, tensor);
    }
    if (operand.rank == 0)
      return fail(fmt::format("an access to '{}' lacks its partition entry", tensor.name));
    const int64_t partitions = tensor.shape[0];
    NCC_TRY(check_range("partitions", operand.partition_expr, operand.ap.data(), 1, partitions, tensor));
    const int64_t size = tensor.num_elements() / partitions * ncc::size_bytes(tensor.dtype) / per_element;
    return check_range("elements", operand.offset_expr, operand.ap.data() + 1, operand.rank - 1, size,
                       tensor);
  }

  Status check_spaces(const Inst::Tile& tile) const {  // penguin_l5
    const auto space = [&](const bir::Operand& operand) {
      return operand.kind == bir::OperandKind::Immediate ? Space::Unplaced
                                                         : function_.tensors[operand.set].space;
    };
    for (const bir::Operand& operand : tile.ins) {
      const Space at = space(operand);
      if (tile.opcode == bir::Opcode::Matmult && at != Space::Sbuf)
        return fail("a matmul operand is not in SBUF");
      if (!bir::is_dma(tile.opcode) && at == Space::Dram) return fail("an engine reads DRAM");
      if (bir::is_dma(tile.opcode) && at == Space::Psum) return fail("a transfer reads PSUM");
    }
    for (const bir::Operand& operand : tile.outs) {
      const Space at = space(operand);
      if (tile.opcode == bir::Opcode::Matmult && at != Space::Psum)
        return fail("a matmul result is not in PSUM");
      if (!bir::is_dma(tile.opcode) && at == Space::Dram) return fail("an engine writes DRAM");
      if (at == Space::Unplaced) return fail("a result is an immediate");
    }
    return Status::ok();
  }

  Status check(const Inst& inst) const {
    if (!inst.tile) return fail("a tensor-level instruction at tile level");
    const Inst::Tile& tile = *inst.tile;
    const bir::OpcodeInfo& row = bir::info(tile.opcode);
    const auto fits = [](size_t count, int low, int high) {
      return static_cast<int>(count) >= low && static_cast<int>(count) <= high;
    };
    if (!fits(tile.ins.size(), row.ins_min, row.ins_max) ||
        !fits(tile.outs.size(), row.outs_min, row.outs_max))  // penguin_l2
      return fail(
          fmt::format("{} with {} operands and {} results", row.name, tile.ins.size(), tile.outs.size()));
    for (const bir::Operand& operand : tile.ins) NCC_TRY(check(operand));  // penguin_l3
    for (const bir::Operand& operand : tile.outs) NCC_TRY(check(operand));
    return check_spaces(tile);
  }

  Status check(const std::vector<Stmt>& body) {
    for (const Stmt& stmt : body) {
      if (stmt.inst) {
        inst_ = stmt.inst.get();
        if (Status status = check(*inst_); !status.is_ok()) return status.with_loc(inst_->loc);
        inst_ = nullptr;
      }
      const bool enters = stmt.kind == Stmt::Kind::Loop && loops_.insert(stmt.axis).second;
      if (stmt.kind == Stmt::Kind::Loop && !enters)
        return fail(fmt::format("loop '{}' is inside itself", function_.axes[stmt.axis].name));
      NCC_TRY(check(stmt.body));
      NCC_TRY(check(stmt.else_body));
      if (enters) loops_.erase(stmt.axis);
    }
    return Status::ok();
  }

  const Function& function_;
  const Inst* inst_ = nullptr;
  std::unordered_set<AxisId> loops_;
};

}  // namespace

Status verify_tile_level(const Module&, const Function& function) { return TileLevel(function).run(); }

}  // namespace ncc::penguin
