// Builds small BIR modules by hand for the tests of BIR and walrus_driver.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ir-formats/bir/module.h"

namespace ncc::bir::testing {

class Builder {
 public:
  explicit Builder(std::string arch = "gen3") {
    module_.arch = std::move(arch);
    module_.functions.emplace_back();
    module_.sources.emplace_back();
    module_.sources.push_back({"", "jit(f)/op", "model.py", 7});
    fn().block.name = "entry";
    blocks_.push_back(&fn().block);
  }

  Function& fn() { return module_.functions.front(); }
  affine::Context& affine() { return *module_.affine; }

  uint32_t set(const std::string& name, Memory memory, Dtype dtype, std::vector<int64_t> shape,
               TensorKind kind = TensorKind::Internal, affine::AxisId scope = kNone) {
    MemoryLocationSet s;
    s.name = name;
    s.memory = memory;
    s.kind = kind;
    s.dtype = dtype;
    s.shape = std::move(shape);
    s.scope = scope;
    s.loc = {"jit(f)/" + name, "model.py", 7};
    fn().sets.push_back(std::move(s));
    return static_cast<uint32_t>(fn().sets.size() - 1);
  }

  affine::AxisId axis(const std::string& name, int64_t upper) {
    fn().axes.push_back({name, 0, upper, 1, false});
    return static_cast<affine::AxisId>(fn().axes.size() - 1);
  }
  void begin_loop(affine::AxisId axis) {
    Instruction& loop = add("loop_" + fn().axes[axis].name, Opcode::Loop, Engine::Unassigned, {}, {});
    loop.axis = axis;
    loop.body = std::make_unique<Block>();
    blocks_.push_back(loop.body.get());
  }
  void end_loop() { blocks_.pop_back(); }

  /// dims: outermost first; on chip dims[0] is the partition entry.
  Operand ap(uint32_t set, std::vector<Dim> dims, affine::Ref offset = nullptr,
             affine::Ref partition = nullptr) {
    Operand op;
    op.kind = OperandKind::SymbolicAp;
    op.set = set;
    op.dtype = fn().sets[set].dtype;
    op.rank = static_cast<uint8_t>(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) op.ap[i] = dims[i];
    op.offset_expr = offset ? offset : affine().constant(0);
    op.partition_expr = partition ? partition : affine().constant(0);
    return op;
  }
  /// The whole of an on-chip set.
  Operand all(uint32_t set) {
    const MemoryLocationSet& s = fn().sets[set];
    int64_t free = 1;
    for (size_t i = 1; i < s.shape.size(); ++i) free *= s.shape[i];
    return ap(set, {{1, s.shape[0]}, {1, free}});
  }
  static Operand immediate(float value) {
    Operand op;
    op.kind = OperandKind::Immediate;
    op.bits = std::bit_cast<uint32_t>(value);
    return op;
  }
  static Operand immediate_bits(uint32_t bits) {
    Operand op;
    op.kind = OperandKind::Immediate;
    op.dtype = Dtype::S32;
    op.bits = bits;
    return op;
  }

  Instruction& add(const std::string& name, Opcode opcode, Engine engine, std::vector<Operand> ins,
                   std::vector<Operand> outs) {
    Instruction inst;
    inst.name = name;
    inst.opcode = opcode;
    inst.engine = engine;
    inst.ins = std::move(ins);
    inst.outs = std::move(outs);
    inst.source = opcode == Opcode::Loop ? 0 : 1;
    blocks_.back()->instructions.push_back(std::move(inst));
    return blocks_.back()->instructions.back();
  }

  Module take() { return std::move(module_); }

 private:
  Module module_;
  std::vector<Block*> blocks_;
};

/// y[m, n] = relu(sum_k w[k, m] * x[k, n] + b[m]): x [128*tiles, 64], w [128*tiles, 32], b [32], y [32, 64],
/// f32. A loop over k loads and multiplies; one activation evicts PSUM.
inline Module linear_layer(int64_t tiles, const std::string& arch = "gen3") {
  Builder b(arch);
  const int64_t k = 128 * tiles, m = 32, n = 64;
  const uint32_t x = b.set("x", Memory::Dram, Dtype::F32, {k, n}, TensorKind::ExternalInput);
  const uint32_t w = b.set("w", Memory::Dram, Dtype::F32, {k, m}, TensorKind::ExternalInput);
  const uint32_t bias = b.set("b", Memory::Dram, Dtype::F32, {m}, TensorKind::ExternalInput);
  const uint32_t y = b.set("y", Memory::Dram, Dtype::F32, {m, n}, TensorKind::ExternalOutput);
  const affine::AxisId i = b.axis("k", tiles);
  const uint32_t xs = b.set("xs", Memory::Sbuf, Dtype::F32, {128, n}, TensorKind::Internal, i);
  const uint32_t ws = b.set("ws", Memory::Sbuf, Dtype::F32, {128, m}, TensorKind::Internal, i);
  const uint32_t bs = b.set("bs", Memory::Sbuf, Dtype::F32, {m, 1});
  const uint32_t ys = b.set("ys", Memory::Sbuf, Dtype::F32, {m, n});
  const uint32_t acc = b.set("acc", Memory::Psum, Dtype::F32, {m, n});
  b.add("load_b", Opcode::Load, Engine::DMA, {b.ap(bias, {{1, m}, {1, 1}})}, {b.all(bs)});
  b.begin_loop(i);
  b.add("load_x", Opcode::Load, Engine::DMA, {b.ap(x, {{n, 128}, {1, n}}, b.affine().axis(i, 128 * n))},
        {b.all(xs)});
  b.add("load_w", Opcode::Load, Engine::DMA, {b.ap(w, {{m, 128}, {1, m}}, b.affine().axis(i, 128 * m))},
        {b.all(ws)});
  Instruction& mm = b.add("mm", Opcode::Matmult, Engine::PE, {b.all(xs), b.all(ws)}, {b.all(acc)});
  mm.mutable_attrs().k_axes = {i};
  mm.mutable_attrs().group = 0;
  b.end_loop();
  Instruction& act =
      b.add("act", Opcode::Activation, Engine::Activation, {b.all(acc), b.all(bs)}, {b.all(ys)});
  act.mutable_attrs().function = ActivationFunction::Relu;
  b.add("save_y", Opcode::Save, Engine::DMA, {b.all(ys)}, {b.ap(y, {{n, m}, {1, n}})});
  return b.take();
}

}  // namespace ncc::bir::testing
