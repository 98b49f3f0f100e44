// BIR as JSON, keys sorted, defaults left out. Source: spec/bir.md §5; our additions: docs/decisions.md.
#include <nlohmann/json.hpp>

#include "ir-formats/bir/attributes.h"
#include "ir-formats/bir/enums.h"
#include "ir-formats/bir/io.h"

namespace ncc::bir {
namespace {

using nlohmann::json;

json number(double value) {
  if (value != value) return "nan";
  if (value == std::numeric_limits<double>::infinity()) return "inf";
  if (value == -std::numeric_limits<double>::infinity()) return "-inf";
  return value;
}

json dims(const Dim* begin, int rank) {
  json out = json::array();
  for (int i = 0; i < rank; ++i) out.push_back(json::array({begin[i].step, begin[i].count}));
  return out;
}

class Writer {
 public:
  explicit Writer(const Module& module) : module_(module) {}

  json write() {
    json out = {{"version", 2}, {"arch", module_.arch}, {"revision", "v1"}};
    json& functions = out["functions"] = json::array();
    for (const Function& fn : module_.functions) functions.push_back(function(fn));
    json& queues = out["queues"] = json::array();
    for (const Queue& queue : module_.queues)
      queues.push_back({{"name", queue.name},
                        {"type", isa::name(queue.type)},
                        {"num_dma_engines", queue.num_dma_engines},
                        {"trigger", isa::name(queue.trigger)}});
    json& sources = out["debug_info"] = json::array();
    for (const isa::SourceInst& source : module_.sources) {
      json row = json::object();
      if (!source.name.empty()) row["name"] = source.name;
      if (!source.op_name.empty()) row["op_name"] = source.op_name;
      if (!source.file.empty()) row["file"] = source.file;
      if (source.line) row["line"] = source.line;
      sources.push_back(std::move(row));
    }
    return out;
  }

 private:
  json expr(affine::Ref e) const {
    json terms = json::array();
    for (const affine::Term& term : e->terms)
      terms.push_back(
          {{"coeff", term.coef}, {"idx", {{"kind", "AffIVKind"}, {"axis", fn_->axes[term.axis].name}}}});
    return {{"kind", "AffExprKind"}, {"c", e->constant}, {"terms", std::move(terms)}};
  }

  json operand(const Operand& op) const {
    json out = {{"kind", name(op.kind)}, {"dtype", info(op.dtype).machine}};
    if (op.kind == OperandKind::Immediate) {
      out["value"] = op.bits;
      return out;
    }
    out["ap"] = dims(op.ap.data(), op.rank);
    if (op.set != kNone) out["memsetref"] = fn_->sets[op.set].name;
    if (op.kind == OperandKind::SymbolicAp) {
      out["addrs"] = json::array({expr(op.partition_expr), expr(op.offset_expr)});
    } else {
      if (op.location != kNone) out["memref"] = fn_->locations[op.location].name;
      out["offset"] = op.offset;
      if (op.partition) out["partition"] = op.partition;
    }
    return out;
  }

  struct AttributeWriter {
    json& out;
    const Function& fn;
    void operator()(uint32_t, const char* key, float value, float fallback) {
      // Compared as bits: -0 and NaN are values of their own.
      if (std::bit_cast<uint32_t>(value) != std::bit_cast<uint32_t>(fallback)) out[key] = number(value);
    }
    template <class T>
    void operator()(uint32_t, const char* key, const T& value, const T& fallback) {
      if (value == fallback) return;
      if constexpr (std::is_enum_v<T>) {
        out[key] = isa::name(value);
      } else {
        out[key] = value;
      }
    }
    void operator()(uint32_t, const char* key, const std::vector<affine::AxisId>& value,
                    const std::vector<affine::AxisId>&) {
      if (value.empty()) return;
      json& list = out[key] = json::array();
      for (affine::AxisId axis : value) list.push_back(fn.axes[axis].name);
    }
    void operator()(uint32_t, const char* key, const Pattern& value, const Pattern& fallback) {
      if (value != fallback) out[key] = dims(value.data(), static_cast<int>(value.size()));
    }
    void operator()(uint32_t, const char* key, const LaneMask& value, const LaneMask& fallback) {
      if (value != fallback) out[key] = value;
    }
  };

  json block(const Block& in) const {
    json list = json::array();
    for (const Instruction& inst : in.instructions) list.push_back(instruction(inst, in));
    return {{"name", in.name}, {"instructions", std::move(list)}};
  }

  json instruction(const Instruction& inst, const Block& parent) const {
    json out = {{"name", inst.name}, {"opcode", name(inst.opcode)}, {"engine", isa::name(inst.engine)}};
    json& ins = out["ins"] = json::array();
    for (const Operand& op : inst.ins) ins.push_back(operand(op));
    json& outs = out["outs"] = json::array();
    for (const Operand& op : inst.outs) outs.push_back(operand(op));
    if (inst.attributes) visit_attributes(*inst.attributes, AttributeWriter{out, *fn_});
    if (!inst.dependencies.empty()) {
      json& list = out["dependencies"] = json::array();
      for (const Dependency& dep : inst.dependencies) {
        const std::string& predecessor = parent.instructions[dep.predecessor].name;
        if (dep.kind == EdgeKind::Flow) {
          list.push_back(predecessor);
        } else {
          list.push_back(json::array({predecessor, name(dep.kind)}));
        }
      }
    }
    if (inst.queue != kNone) out["queue"] = module_.queues[inst.queue].name;
    if (inst.source) out["debug"] = inst.source;
    if (inst.scheduled_start) out["scheduled_start"] = inst.scheduled_start;
    if (inst.scheduled_end) out["scheduled_end"] = inst.scheduled_end;
    if (!inst.waits.empty() || !inst.updates.empty()) {
      json& info = out["sync_info"];
      for (const isa::Wait& wait : inst.waits)
        info["on_wait"].push_back(
            {{"mode", isa::name(wait.mode)}, {"semaphore", wait.semaphore}, {"value", wait.value}});
      for (const isa::Update& update : inst.updates)
        info["on_update"].push_back(
            {{"mode", isa::name(update.mode)}, {"semaphore", update.semaphore}, {"value", update.value}});
    }
    if (inst.opcode == Opcode::Loop) {
      out["LoopAxis"] = fn_->axes[inst.axis].name;
      out["blocks"] = json::array({block(*inst.body)});
    }
    return out;
  }

  json function(const Function& fn) {
    fn_ = &fn;
    json allocations = json::array();
    for (const MemoryLocationSet& set : fn.sets) {
      json s = {{"name", set.name},
                {"type", static_cast<int>(set.memory)},
                {"kind", name(set.kind)},
                {"dtype", info(set.dtype).machine},
                {"tensor_shape", set.shape}};
      if (set.scope != kNone) s["scope"] = fn.axes[set.scope].name;
      if (set.const_offset >= 0) s["const_offset"] = set.const_offset;
      if (!set.const_hash.empty()) s["const_hash"] = set.const_hash;
      if (!set.loc.empty())
        s["debug"] = {{"op_name", set.loc.op_name}, {"file", set.loc.file}, {"line", set.loc.line}};
      json& list = s["memorylocations"] = json::array();
      for (uint32_t id : set.locations) list.push_back(location(fn.locations[id]));
      allocations.push_back(std::move(s));
    }
    json axes = json::array();
    for (const LoopAxis& axis : fn.axes) {
      json a = {{"name", axis.name}, {"lower", axis.lower}, {"upper", axis.upper}};
      if (axis.step != 1) a["step"] = axis.step;
      if (axis.parallel) a["isParallel"] = true;
      axes.push_back(std::move(a));
    }
    return {{"name", fn.name},
            {"allocations", std::move(allocations)},
            {"loop_axes", std::move(axes)},
            {"blocks", json::array({block(fn.block)})}};
  }

  static json location(const MemoryLocation& l) {
    json out = {{"name", l.name},
                {"type", static_cast<int>(l.memory)},
                {"partitions", l.partitions},
                {"bytes_per_partition", l.bytes_per_partition}};
    if (l.allocated) {
      out["allocated"] = true;
      out["base"] = l.base;
      out["addr"] = l.address;
      if (l.memory == Memory::Psum) out["bank"] = l.bank;
    }
    if (l.base_alignment != MemoryLocation{}.base_alignment) out["base_alignment"] = l.base_alignment;
    return out;
  }

  const Module& module_;
  const Function* fn_ = nullptr;
};

}  // namespace

std::string to_json(const Module& module) { return Writer(module).write().dump(1) + "\n"; }

}  // namespace ncc::bir
