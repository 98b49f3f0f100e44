// Matching by value instead of by shape: frameworks spell one function in many ways (XLA's erfc alone is two
// polynomials and a select), and every new spelling would need a new pattern. A sampled comparison needs
// none, and is strict where it matters: the samples cover every fp32 exponent, and the special values must
// agree exactly.
#include "tools/hlo-opt/passes/recognise_activations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "ir-formats/penguin/edit.h"
#include "ir-formats/penguin/interpret/functions.h"

namespace ncc::hlo_opt {

using namespace penguin;

namespace {

// Fewer operations than this are not worth a table function.
constexpr int kMinOps = 3;
// Bounds on the work for one tensor.
constexpr size_t kMaxCone = 96;
constexpr size_t kMaxBases = 6;
// Agreement: within `kRelative` of the value, or `kAbsolute` of the argument's own size (open forms cancel
// where the result is small).
constexpr double kRelative = 4e-6, kAbsolute = 5e-7;

constexpr isa::ActivationFunction kLibrary[] = {isa::ActivationFunction::Gelu,
                                                isa::ActivationFunction::GeluApprxTanh,
                                                isa::ActivationFunction::Silu,
                                                isa::ActivationFunction::Sigmoid,
                                                isa::ActivationFunction::Softplus,
                                                isa::ActivationFunction::Tanh,
                                                isa::ActivationFunction::Erf,
                                                isa::ActivationFunction::Mish,
                                                isa::ActivationFunction::GeluApprxSigmoid};

const std::vector<double>& samples() {
  static const std::vector<double> grid = [] {
    std::vector<double> points = {0.0, std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::quiet_NaN()};
    for (int exponent = -126; exponent <= 127; exponent += exponent < -12 || exponent >= 10 ? 9 : 1)
      for (int step = 0; step < 24; ++step)
        points.push_back(static_cast<float>(std::ldexp(1.0 + step / 24.0, exponent)));
    const size_t positive = points.size();
    for (size_t k = 0; k < positive; ++k) points.push_back(-points[k]);
    return points;
  }();
  return grid;
}

class Recogniser {
 public:
  explicit Recogniser(Module& module) : function_(module.main()) {}

  int64_t run() {
    index();
    for (uint32_t i = static_cast<uint32_t>(function_.body.size()); i-- > 0;) {
      const TensorId result = inst(i).result.tensor;
      if (source_[result] != kNone && source_[result] != result && !done_.contains(result) &&
          is_maximal(result))
        try_value(result);
    }
    return replaced_;
  }

 private:
  Inst& inst(uint32_t i) { return *function_.body[i].inst; }

  // A Map whose tensor operands are read exactly as the result is written: one element in, one element out.
  bool is_pointwise(const Inst& in) const {
    if (in.op != TensorOp::Map || in.tile) return false;
    bool reads = false;
    for (const Operand& operand : in.operands) {
      if (operand.kind == Operand::Kind::Index) return false;
      if (operand.kind != Operand::Kind::Tensor) continue;
      reads = true;
      if (operand.index != in.result.index ||
          function_.tensors[operand.tensor].shape != function_.tensors[in.result.tensor].shape)
        return false;
    }
    return reads;
  }

  void index() {
    source_.assign(function_.tensors.size(), kNone);
    producer_.assign(function_.tensors.size(), kNone);
    writers_.assign(function_.tensors.size(), 0);
    readers_.resize(function_.tensors.size());
    for (uint32_t i = 0; i < function_.body.size(); ++i) {
      const Inst& in = inst(i);
      producer_[in.result.tensor] = i;
      ++writers_[in.result.tensor];
      for (const Operand& operand : in.operands)
        if (operand.kind == Operand::Kind::Tensor) readers_[operand.tensor].push_back(i);
    }
    // The one tensor that each value is a function of: its own when it is not pointwise or mixes several.
    for (TensorId id = 0; id < function_.tensors.size(); ++id) source_[id] = id;
    for (uint32_t i = 0; i < function_.body.size(); ++i) {
      const Inst& in = inst(i);
      if (!is_pointwise(in) || writers_[in.result.tensor] != 1) continue;
      TensorId common = kNone;
      bool single = true;
      for (const Operand& operand : in.operands) {
        if (operand.kind != Operand::Kind::Tensor) continue;
        const TensorId from = source_[operand.tensor];
        single = single && (common == kNone || common == from);
        common = from;
      }
      if (single) source_[in.result.tensor] = common;
    }
  }

  bool is_maximal(TensorId id) {
    for (uint32_t reader : readers_[id])
      if (source_[inst(reader).result.tensor] == source_[id]) return false;
    return true;
  }

  // Values between base and root, in program order; false when some path to the root avoids the base.
  bool cone(TensorId base, TensorId root, std::vector<uint32_t>& order) {
    std::vector<TensorId> stack = {root};
    std::map<uint32_t, bool> seen;
    while (!stack.empty()) {
      const TensorId id = stack.back();
      stack.pop_back();
      if (id == base) continue;
      const uint32_t position = producer_[id];
      if (position == kNone || writers_[id] != 1 || !is_pointwise(inst(position)) || seen.size() > kMaxCone)
        return false;
      if (!seen.emplace(position, true).second) continue;
      for (const Operand& operand : inst(position).operands)
        if (operand.kind == Operand::Kind::Tensor) stack.push_back(operand.tensor);
    }
    for (const auto& [position, unused] : seen) order.push_back(position);
    return true;
  }

  // The values of every instruction in `order` when the base takes the samples.
  std::map<TensorId, Lanes> evaluate_cone(TensorId base, const std::vector<uint32_t>& order) {
    const int64_t count = static_cast<int64_t>(samples().size());
    std::map<TensorId, Lanes> values;
    Lanes grid(Dtype::F32, count);
    for (int64_t k = 0; k < count; ++k) grid.real[k] = static_cast<float>(samples()[k]);
    values[base] = std::move(grid);
    for (uint32_t position : order) {
      const Inst& in = inst(position);
      std::vector<Lanes> operands;
      for (const Operand& operand : in.operands) {
        const Dtype type = load_type(in.function, operand.dtype);
        if (operand.kind == Operand::Kind::Tensor) {
          const Lanes& held = values.at(operand.tensor);
          if (type == held.dtype) {
            operands.push_back(held);
            continue;
          }
          std::vector<std::byte> bytes(static_cast<size_t>(count * size_bytes(held.dtype)));
          store(held, held.dtype, Rounding::Model, bytes.data(), 1, count);
          Lanes raw(type, count);
          load(raw, bytes.data(), 1, count);
          operands.push_back(std::move(raw));
        } else {
          Lanes splat(type, count);
          load(splat, reinterpret_cast<const std::byte*>(&operand.scalar), 0, count);
          operands.push_back(std::move(splat));
        }
      }
      const Dtype dtype = function_.tensors[in.result.tensor].dtype;
      Lanes result(dtype, count);
      evaluate(in.function, in.attributes, operands, result, count);
      std::vector<std::byte> bytes(static_cast<size_t>(count * size_bytes(dtype)));
      store(result, dtype, rounding_of(in.function, in.attributes), bytes.data(), 1, count);
      Lanes rounded(dtype, count);
      load(rounded, bytes.data(), 1, count);
      values[in.result.tensor] = std::move(rounded);
    }
    return values;
  }

  static const Lanes& library_values(isa::ActivationFunction function) {
    static std::map<isa::ActivationFunction, Lanes> cache;
    const auto [entry, fresh] = cache.try_emplace(function);
    if (fresh) {
      const int64_t count = static_cast<int64_t>(samples().size());
      Lanes grid(Dtype::F32, count);
      for (int64_t k = 0; k < count; ++k) grid.real[k] = static_cast<float>(samples()[k]);
      TensorAttributes attributes;
      attributes.activation = function;
      Lanes result(Dtype::F32, count);
      evaluate(ScalarFunction::Activation, attributes, std::span<const Lanes>(&grid, 1), result, count);
      entry->second = std::move(result);
    }
    return entry->second;
  }

  static bool agrees(const Lanes& got, const Lanes& want) {
    for (size_t k = 0; k < samples().size(); ++k) {
      const double a = got.real[k], e = want.real[k], x = samples()[k];
      if (std::isnan(a) || std::isnan(e)) {
        if (std::isnan(a) != std::isnan(e)) return false;
        continue;
      }
      if (std::isinf(a) || std::isinf(e)) {
        if (a != e) return false;
        continue;
      }
      if (std::fabs(a - e) > kRelative * std::fabs(e) + kAbsolute * std::min(std::fabs(x), 16.0))
        return false;
    }
    return true;
  }

  void try_value(TensorId root) {
    // Bases from the farthest inwards: the source, then values that every path passes through.
    std::vector<TensorId> bases = {source_[root]};
    std::vector<uint32_t> whole;
    if (!cone(bases[0], root, whole)) return;
    if (static_cast<int>(whole.size()) < kMinOps) return;
    for (uint32_t position : whole) {
      if (bases.size() >= kMaxBases) break;
      bases.push_back(inst(position).result.tensor);
    }
    for (const TensorId base : bases) {
      if (function_.tensors[base].dtype != Dtype::F32) continue;
      std::vector<uint32_t> order;
      // Inner values may match where the root does not (a scaled or gated activation): all are tried,
      // outermost first.
      if (base != bases[0] && !cone(base, root, order)) continue;
      if (base == bases[0]) order = whole;
      const std::map<TensorId, Lanes> values = evaluate_cone(base, order);
      for (size_t k = order.size(); k-- > 0;) {
        if (static_cast<int>(k) + 1 < kMinOps) break;
        const TensorId id = inst(order[k]).result.tensor;
        if (function_.tensors[id].dtype != Dtype::F32 || done_.contains(id)) continue;
        for (const isa::ActivationFunction function : kLibrary) {
          if (!agrees(values.at(id), library_values(function))) continue;
          replace(order[k], base, function);
          return;
        }
      }
    }
  }

  void replace(uint32_t position, TensorId base, isa::ActivationFunction function) {
    Inst& in = inst(position);
    Operand operand;
    operand.dtype = Dtype::F32;
    operand.tensor = base;
    operand.index = in.result.index;
    in.function = ScalarFunction::Activation;
    in.attributes = {};
    in.attributes.activation = function;
    in.operands = {operand};
    in.tags.push_back(std::string(isa::name(function)));
    done_.emplace(in.result.tensor, true);
    ++replaced_;
  }

  Function& function_;
  std::vector<TensorId> source_;
  std::vector<uint32_t> producer_, writers_;
  std::vector<std::vector<uint32_t>> readers_;
  std::map<TensorId, bool> done_;
  int64_t replaced_ = 0;
};

}  // namespace

Status recognise_activations(Module& module) {
  if (Recogniser(module).run() > 0) remove_dead(module);
  return Status::ok();
}

}  // namespace ncc::hlo_opt
