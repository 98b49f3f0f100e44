#include "tools/hlo-opt/passes/expand_math/emit.h"

#include <algorithm>

#include "common/diag/status.h"

namespace ncc::hlo_opt::math_expansion {
namespace {

using penguin::Inst;
using penguin::Operand;
using penguin::ScalarFunction;
using penguin::Stmt;

std::string operation_name(const Node& node) {
  switch (node.function) {
    case ScalarFunction::Alu:
    case ScalarFunction::Int32:
      return std::string(isa::name(node.alu));
    case ScalarFunction::Activation: {
      std::string name(isa::name(node.activation));
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      return name;
    }
    default:
      return std::string(penguin::info(node.function).name);
  }
}

class Emitter {
 public:
  Emitter(const Graph& graph, const Inst& original, penguin::Module& module, penguin::Function& function,
          Names& names)
      : graph_(graph), original_(original), module_(module), function_(function), names_(names) {}

  void run(Value root, std::vector<Stmt>& out) {
    const std::span<const Node> nodes = graph_.nodes();
    std::vector<bool> needed(nodes.size(), false);
    needed[root.node] = true;
    for (uint32_t id = root.node + 1; id-- > 0;)
      if (needed[id])
        for (uint32_t operand : nodes[id].operands) needed[operand] = true;

    values_.resize(nodes.size());
    for (uint32_t id = 0; id <= root.node; ++id) {
      if (!needed[id]) continue;
      if (nodes[id].kind != Node::Kind::Op) {
        values_[id] = leaf(nodes[id]);
        if (id == root.node) out.push_back(statement(copy_of(id), true));
      } else {
        if (id != root.node) values_[id] = intermediate(nodes[id]);
        out.push_back(statement(operation(id), id == root.node));
      }
    }
  }

 private:
  static Operand leaf(const Node& node) {
    if (node.kind == Node::Kind::Operand) return node.leaf;
    Operand operand;
    operand.kind = Operand::Kind::Scalar;
    operand.dtype = node.dtype;
    operand.scalar = node.scalar;
    return operand;
  }

  Operand intermediate(const Node& node) {
    penguin::Tensor tensor;
    tensor.name = names_.make(base_name(original_, function_), operation_name(node));
    tensor.dtype = node.dtype;
    tensor.loc = original_.loc;
    Operand operand;
    operand.dtype = node.dtype;
    for (const penguin::IterationAxis& entry : original_.axes) {
      tensor.shape.push_back(function_.axes[entry.axis].extent);
      operand.index.push_back(module_.affine->axis(entry.axis));
    }
    operand.tensor = static_cast<penguin::TensorId>(function_.tensors.size());
    function_.tensors.push_back(std::move(tensor));
    return operand;
  }

  std::unique_ptr<Inst> operation(uint32_t id) {
    const Node& node = graph_.nodes()[id];
    auto inst = std::make_unique<Inst>();
    inst->function = node.function;
    inst->attributes.alu = node.alu;
    inst->attributes.activation = node.activation;
    for (uint32_t operand : node.operands) inst->operands.push_back(values_[operand]);
    inst->result = values_[id];
    return inst;
  }

  std::unique_ptr<Inst> copy_of(uint32_t id) {
    auto inst = std::make_unique<Inst>();
    inst->operands = {values_[id]};
    return inst;
  }

  Stmt statement(std::unique_ptr<Inst> inst, bool is_last) {
    if (is_last) inst->result = original_.result;
    inst->name = is_last ? original_.name : function_.tensors[inst->result.tensor].name;
    inst->axes = original_.axes;
    inst->tags = original_.tags;
    inst->loc = original_.loc;
    Stmt stmt;
    stmt.inst = std::move(inst);
    return stmt;
  }

  const Graph& graph_;
  const Inst& original_;
  penguin::Module& module_;
  penguin::Function& function_;
  Names& names_;
  std::vector<Operand> values_;
};

}  // namespace

const std::string& base_name(const Inst& inst, const penguin::Function& function) {
  return inst.name.empty() ? function.tensors[inst.result.tensor].name : inst.name;
}

Names::Names(const penguin::Function& function) {
  for (const penguin::Tensor& tensor : function.tensors) taken_.insert(tensor.name);
}

std::string Names::make(const std::string& base, const std::string& suffix) {
  std::string name = base + "." + suffix;
  for (int number = 2; !taken_.insert(name).second; ++number)
    name = fmt::format("{}.{}{}", base, suffix, number);
  return name;
}

void emit(const Graph& graph, Value root, const penguin::Inst& original, penguin::Module& module,
          penguin::Function& function, Names& names, std::vector<penguin::Stmt>& out) {
  Emitter(graph, original, module, function, names).run(root, out);
}

}  // namespace ncc::hlo_opt::math_expansion
