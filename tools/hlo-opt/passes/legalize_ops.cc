#include "tools/hlo-opt/passes/legalize_ops.h"

#include <algorithm>
#include <unordered_map>

namespace ncc::hlo_opt {

using namespace penguin;

namespace {

// A reduction over fewer elements than this runs on whatever partitions it has.
constexpr int64_t kMinElementsToSplit = 512;
constexpr int64_t kLanes = 128;

class Legalizer {
 public:
  explicit Legalizer(Module& module) : function_(module.main()), context_(*module.affine) {}

  void run() {
    std::vector<Stmt> body = std::move(function_.body);
    function_.body.clear();
    for (Stmt& stmt : body) {
      drop_unit_axes(*stmt.inst);
      if (stmt.inst->op == TensorOp::Contract)
        contract(std::move(stmt));
      else if (stmt.inst->op == TensorOp::Reduce)
        reduce(std::move(stmt));
      else
        function_.body.push_back(std::move(stmt));
    }
    split_flat_maps();
  }

 private:
  int64_t extent(AxisId axis) const { return function_.axes[axis].extent; }

  static void substitute(affine::Context& context, Inst& inst, const std::unordered_map<AxisId, Ref>& map) {
    const auto rewrite = [&](Operand& operand) {
      for (Ref& expr : operand.index) expr = context.substitute(expr, map);
      if (operand.value != nullptr) operand.value = context.substitute(operand.value, map);
    };
    for (Operand& operand : inst.operands) rewrite(operand);
    rewrite(inst.result);
  }

  void drop_unit_axes(Inst& inst) {
    std::unordered_map<AxisId, Ref> map;
    for (const IterationAxis& entry : inst.axes)
      if (extent(entry.axis) == 1) map[entry.axis] = context_.constant(0);
    if (map.empty()) return;
    // A reduction over unit axes alone keeps one, so that it still says what it folds.
    std::erase_if(inst.axes, [&](const IterationAxis& entry) { return extent(entry.axis) == 1; });
    substitute(context_, inst, map);
    const bool folds = std::any_of(inst.axes.begin(), inst.axes.end(),
                                   [](const IterationAxis& e) { return e.role == AxisRole::Reduce; });
    if (inst.op == TensorOp::Reduce && !folds) {
      inst.op = TensorOp::Map;
      inst.function = ScalarFunction::Copy;
      inst.operands.resize(1);
    }
  }

  AxisId copy_axis(AxisId axis) {
    function_.axes.push_back(function_.axes[axis]);
    return static_cast<AxisId>(function_.axes.size() - 1);
  }

  TensorId temporary(const Inst& like, std::string_view suffix, Dtype dtype, std::vector<int64_t> shape) {
    Tensor tensor;
    tensor.name = fmt::format("{}.{}{}", like.name, suffix, function_.tensors.size());
    tensor.dtype = dtype;
    tensor.shape = std::move(shape);
    tensor.loc = like.loc;
    function_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(function_.tensors.size() - 1);
  }

  // A tensor-level instruction without its tile part (which does not exist yet).
  static Inst copy_of(const Inst& inst) {
    Inst copy;
    copy.name = inst.name;
    copy.op = inst.op;
    copy.function = inst.function;
    copy.attributes = inst.attributes;
    copy.axes = inst.axes;
    copy.operands = inst.operands;
    copy.result = inst.result;
    copy.tags = inst.tags;
    copy.loc = inst.loc;
    return copy;
  }

  Stmt statement(Inst inst) {
    Stmt stmt;
    stmt.inst = std::make_unique<Inst>(std::move(inst));
    return stmt;
  }

  Operand tensor_operand(TensorId id, std::vector<Ref> index) {
    Operand operand;
    operand.dtype = function_.tensors[id].dtype;
    operand.tensor = id;
    operand.index = std::move(index);
    return operand;
  }

  void contract(Stmt stmt) {
    Inst& inst = *stmt.inst;
    bool has_free = false, has_contract = false;
    for (const IterationAxis& entry : inst.axes) {
      has_free = has_free || entry.role == AxisRole::LhsFree || entry.role == AxisRole::RhsFree;
      has_contract = has_contract || entry.role == AxisRole::Contract;
    }
    if (has_free && has_contract) {
      function_.body.push_back(std::move(stmt));
      return;
    }
    Inst product;
    product.name = inst.name + ".product";
    product.loc = inst.loc;
    product.op = TensorOp::Map;
    product.function = ScalarFunction::Alu;
    product.attributes.alu = isa::AluOp::Mult;
    product.axes = inst.axes;
    product.operands = inst.operands;
    for (IterationAxis& entry : product.axes) entry.role = AxisRole::Parallel;
    if (!has_contract) {
      product.name = inst.name;
      product.result = inst.result;
      function_.body.push_back(statement(std::move(product)));
      return;
    }
    // Products in fp32, then a fold in fp32 and one rounding.
    std::vector<int64_t> shape;
    std::vector<Ref> index;
    for (const IterationAxis& entry : inst.axes) {
      shape.push_back(extent(entry.axis));
      index.push_back(context_.axis(entry.axis));
    }
    const TensorId products = temporary(inst, "p", Dtype::F32, shape);
    product.result = tensor_operand(products, index);
    function_.body.push_back(statement(std::move(product)));

    Inst sum;
    sum.name = inst.name;
    sum.loc = inst.loc;
    sum.op = TensorOp::Reduce;
    sum.function = ScalarFunction::Add;
    std::unordered_map<AxisId, Ref> map;
    std::vector<Ref> sum_index;
    for (const IterationAxis& entry : inst.axes) {
      const AxisId axis = copy_axis(entry.axis);
      sum.axes.push_back({axis, entry.role == AxisRole::Contract ? AxisRole::Reduce : AxisRole::Parallel});
      map[entry.axis] = context_.axis(axis);
      sum_index.push_back(context_.axis(axis));
    }
    Operand zero;
    zero.kind = Operand::Kind::Scalar;
    zero.dtype = Dtype::F32;
    sum.operands = {tensor_operand(products, sum_index), zero};
    sum.result = inst.result;
    for (Ref& expr : sum.result.index) expr = context_.substitute(expr, map);
    reduce(statement(std::move(sum)));
  }

  void reduce(Stmt stmt) {
    Inst& inst = *stmt.inst;
    int64_t kept_lanes = 1, points = 1;
    AxisId widest = kNone;
    for (const IterationAxis& entry : inst.axes) {
      points *= extent(entry.axis);
      if (entry.role == AxisRole::Reduce) {
        if (widest == kNone || extent(entry.axis) > extent(widest)) widest = entry.axis;
      } else {
        kept_lanes = std::max(kept_lanes, std::min(kLanes, extent(entry.axis)));
      }
    }
    const int64_t wide = widest == kNone ? 1 : extent(widest);
    if (points < kMinElementsToSplit || kept_lanes * 8 > std::min(kLanes, wide)) {
      function_.body.push_back(std::move(stmt));
      return;
    }
    // Keep `lanes` of the widest folded axis: the whole axis when it fits, else its largest suitable factor.
    int64_t lanes = std::min(wide, kLanes);
    while (wide % lanes != 0) --lanes;
    if (lanes * 2 < kept_lanes * 3 || lanes < 2) {
      function_.body.push_back(std::move(stmt));
      return;
    }
    const Dtype partial_dtype = function_.tensors[inst.result.tensor].dtype;
    std::unordered_map<AxisId, Ref> split;
    Inst first = copy_of(inst);
    first.name = inst.name + ".partial";
    if (lanes < wide) {
      function_.axes.push_back({function_.axes[widest].name + ".l", lanes});
      const AxisId lane = static_cast<AxisId>(function_.axes.size() - 1);
      function_.axes.push_back({function_.axes[widest].name + ".r", wide / lanes});
      const AxisId rest = static_cast<AxisId>(function_.axes.size() - 1);
      split[widest] = context_.add(context_.axis(lane, wide / lanes), context_.axis(rest));
      for (size_t k = 0; k < first.axes.size(); ++k)
        if (first.axes[k].axis == widest) {
          first.axes[k] = {lane, AxisRole::Parallel};
          first.axes.push_back({rest, AxisRole::Reduce});
          break;
        }
      substitute(context_, first, split);
      widest = lane;
    }
    Inst second;
    second.name = inst.name;
    second.loc = inst.loc;
    second.op = TensorOp::Reduce;
    second.function = inst.function;
    second.attributes = inst.attributes;
    second.result = inst.result;
    std::vector<int64_t> shape;
    std::vector<Ref> first_index, second_index;
    std::unordered_map<AxisId, Ref> map;
    bool folds = false;
    for (IterationAxis& entry : first.axes) {
      if (entry.axis == widest) entry.role = AxisRole::Parallel;
      folds = folds || entry.role == AxisRole::Reduce;
      if (entry.role == AxisRole::Reduce) continue;
      const AxisId axis = copy_axis(entry.axis);
      shape.push_back(extent(entry.axis));
      first_index.push_back(context_.axis(entry.axis));
      second_index.push_back(context_.axis(axis));
      map[entry.axis] = context_.axis(axis);
      second.axes.push_back({axis, entry.axis == widest ? AxisRole::Reduce : AxisRole::Parallel});
    }
    const TensorId partial = temporary(inst, "r", partial_dtype, shape);
    first.result = tensor_operand(partial, first_index);
    for (Ref& expr : second.result.index) expr = context_.substitute(expr, map);
    second.operands = {tensor_operand(partial, second_index)};
    if (inst.operands.size() > 1) second.operands.push_back(inst.operands[1]);
    if (!folds) {
      first.op = TensorOp::Map;
      first.function = ScalarFunction::Copy;
      first.operands.resize(1);
    }
    function_.body.push_back(statement(std::move(first)));
    function_.body.push_back(statement(std::move(second)));
  }

  // Elementwise work on one long axis would lie on partitions block by block, one element a lane; as lanes x
  // rest every lane has a contiguous run. Only where all that is connected on chip is such work: anything
  // else decides the layout itself.
  void split_flat_maps() {
    std::vector<uint32_t> component(function_.tensors.size() + function_.body.size());
    for (uint32_t i = 0; i < component.size(); ++i) component[i] = i;
    const auto find = [&](uint32_t x) {
      while (component[x] != x) x = component[x] = component[component[x]];
      return x;
    };
    const auto is_flat = [&](const Inst& inst, const Operand& operand) {
      return operand.index.size() == 1 && operand.index[0]->constant == 0 &&
             operand.index[0]->terms.size() == 1 &&
             operand.index[0]->terms[0] == affine::Term{inst.axes[0].axis, 1} &&
             function_.tensors[operand.tensor].shape[0] == extent(inst.axes[0].axis);
    };
    std::vector<bool> eligible(function_.body.size());
    for (uint32_t i = 0; i < function_.body.size(); ++i) {
      const Inst& inst = *function_.body[i].inst;
      bool flat = inst.op == TensorOp::Map && inst.axes.size() == 1 && is_flat(inst, inst.result);
      const uint32_t node = static_cast<uint32_t>(function_.tensors.size()) + i;
      const auto join = [&](const Operand& operand) {
        const Tensor& tensor = function_.tensors[operand.tensor];
        if (tensor.role != Role::Internal && tensor.role != Role::Output) return;
        component[find(node)] = find(operand.tensor);
      };
      join(inst.result);
      for (const Operand& operand : inst.operands) {
        if (operand.kind == Operand::Kind::Tensor) {
          join(operand);
          flat = flat && (is_flat(inst, operand) || (operand.index.size() <= 1 &&
                                                     function_.tensors[operand.tensor].num_elements() == 1));
        }
      }
      eligible[i] = flat;
    }
    std::vector<bool> refused(component.size());
    for (uint32_t i = 0; i < function_.body.size(); ++i)
      if (!eligible[i]) refused[find(static_cast<uint32_t>(function_.tensors.size()) + i)] = true;
    for (TensorId id = 0; id < function_.tensors.size(); ++id)
      if (function_.tensors[id].alias_of != kNone) refused[find(function_.tensors[id].alias_of)] = true;
    for (uint32_t i = 0; i < function_.body.size(); ++i) {
      Inst& inst = *function_.body[i].inst;
      if (!eligible[i] || refused[find(static_cast<uint32_t>(function_.tensors.size()) + i)]) continue;
      const AxisId axis = inst.axes[0].axis;
      const int64_t total = extent(axis);
      if (total < 2 * kLanes) continue;
      int64_t lanes = kLanes;
      while (total % lanes != 0) --lanes;
      if (lanes * 4 < kLanes) continue;
      function_.axes.push_back({function_.axes[axis].name + ".l", lanes});
      function_.axes.push_back({function_.axes[axis].name + ".r", total / lanes});
      const AxisId lane = static_cast<AxisId>(function_.axes.size() - 2), rest = lane + 1;
      substitute(context_, inst,
                 {{axis, context_.add(context_.axis(lane, total / lanes), context_.axis(rest))}});
      inst.axes = {{lane, AxisRole::Parallel}, {rest, AxisRole::Parallel}};
    }
  }

  Function& function_;
  affine::Context& context_;
};

}  // namespace

Status legalize_ops(Module& module) {
  Legalizer(module).run();
  return Status::ok();
}

}  // namespace ncc::hlo_opt
