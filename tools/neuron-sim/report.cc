#include "tools/neuron-sim/report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace ncc::sim {
namespace {

using isa::Engine;
using nlohmann::ordered_json;

constexpr size_t kTopOps = 20, kTopOpsShown = 8;

struct OpUse {
  std::string op, file;
  int32_t line = 0;
  int64_t executions = 0;
  machine::Ticks ticks = 0;
};

// Time by the user's op, longest first; instructions without an op are gathered under "".
std::vector<OpUse> top_ops(const RunSummary& s) {
  std::map<std::tuple<std::string_view, std::string_view, int32_t>, OpUse> by_op;
  for (size_t i = 0; i < s.run->sources.size() && i < s.program->sources.size(); ++i) {
    const machine::SourceUse& use = s.run->sources[i];
    if (use.executions == 0) continue;
    const isa::SourceInst& source = s.program->sources[i];
    OpUse& op = by_op[{source.op_name, source.file, source.line}];
    op.op = source.op_name;
    op.file = source.file;
    op.line = source.line;
    op.executions += use.executions;
    op.ticks += use.ticks;
  }
  std::vector<OpUse> ops;
  for (auto& [key, op] : by_op) ops.push_back(std::move(op));
  std::stable_sort(ops.begin(), ops.end(), [](const OpUse& a, const OpUse& b) { return a.ticks > b.ticks; });
  if (ops.size() > kTopOps) ops.resize(kTopOps);
  return ops;
}

struct Figures {
  double time_ns = 0, efficiency = 0, pe_utilization = 0, hbm_utilization = 0;
  int64_t dram_bytes = 0;
};

Figures figures(const RunSummary& s) {
  Figures f;
  f.time_ns = static_cast<double>(s.run->time_ns);
  for (const int64_t bytes : s.run->dma.dram_bytes) f.dram_bytes += bytes;
  if (f.time_ns <= 0) return f;
  if (s.roofline_ns) f.efficiency = *s.roofline_ns / f.time_ns;
  const double peak_macs_per_ns = s.arch->peak_flops_16bit() / 2 / 1e9;
  f.pe_utilization = static_cast<double>(s.run->pe_macs) / (f.time_ns * peak_macs_per_ns);
  const double bytes_per_ns = static_cast<double>(s.arch->dma_bytes_per_ns) * s.arch->dma_engines;
  f.hbm_utilization = static_cast<double>(f.dram_bytes) / (f.time_ns * bytes_per_ns);
  return f;
}

int64_t ns(machine::Ticks ticks, const RunSummary& s) { return machine::ns_from_ticks(ticks, *s.arch); }

ordered_json engine_json(const RunSummary& s, Engine engine) {
  const machine::EngineUse& use = s.run->engine(engine);
  ordered_json stalls = ordered_json::object();
  for (int cause = 1; cause < machine::kNumStallCauses; ++cause)
    if (const machine::Ticks ticks = use.stall_ticks[static_cast<size_t>(cause)]; ticks > 0)
      stalls[std::string(machine::name(static_cast<machine::StallCause>(cause)))] = ns(ticks, s);
  return {{"busy_ns", ns(use.busy_ticks, s)}, {"instructions", use.instructions}, {"stalls_ns", stalls}};
}

int64_t dram_bytes(const RunSummary& s, isa::VariableKind kind) {
  return s.run->dma.dram_bytes[static_cast<size_t>(kind)];
}

void append_json_string(std::string& out, const std::string& text) {
  out += ordered_json(text).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string lane_name(const RunSummary& s, int lane) {
  if (lane < machine::TraceEvent::kFirstQueueLane) return std::string(name(static_cast<Engine>(lane)));
  const auto queue = static_cast<size_t>(lane - machine::TraceEvent::kFirstQueueLane);
  return queue < s.program->queues.size() ? "queue " + s.program->queues[queue].name
                                          : fmt::format("queue {}", queue);
}

std::string percent(double value) { return fmt::format("{:.1f} %", 100 * value); }

}  // namespace

std::string report_json(const RunSummary& s) {
  const Figures f = figures(s);
  ordered_json out;
  out["time_ns"] = s.run->time_ns;
  if (s.repetitions != 1) {
    out["repetitions"] = s.repetitions;
    out["total_time_ns"] = s.total_ns;
  }
  out["roofline_ns"] = s.roofline_ns ? ordered_json(*s.roofline_ns) : ordered_json(nullptr);
  out["efficiency"] = s.roofline_ns ? ordered_json(f.efficiency) : ordered_json(nullptr);
  out["pe_utilization"] = f.pe_utilization;
  out["hbm_utilization"] = f.hbm_utilization;
  for (const Engine engine : isa::kStreamEngines)
    out["engines"][std::string(isa::info(engine).package_token)] = engine_json(s, engine);
  out["dma"] = {{"bytes", f.dram_bytes},
                {"input_bytes", dram_bytes(s, isa::VariableKind::Input)},
                {"output_bytes", dram_bytes(s, isa::VariableKind::Output)},
                {"const_bytes", dram_bytes(s, isa::VariableKind::Const)},
                {"scratch_bytes", dram_bytes(s, isa::VariableKind::Internal)},
                {"moved_bytes", s.run->dma.bytes},
                {"transfers", s.run->dma.transfers}};
  out["instructions"] = s.run->instructions;
  out["top_ops"] = ordered_json::array();
  for (const OpUse& op : top_ops(s))
    out["top_ops"].push_back({{"op", op.op},
                              {"file", op.file},
                              {"line", op.line},
                              {"ns", ns(op.ticks, s)},
                              {"instructions", op.executions}});
  return out.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string summary_text(const RunSummary& s) {
  const Figures f = figures(s);
  std::string out = fmt::format("time        {:.3f} us on {}\n", f.time_ns / 1e3, s.arch->name);
  if (s.repetitions != 1)
    out += fmt::format("repetition  {} times, {:.3f} us in all\n", s.repetitions,
                       static_cast<double>(s.total_ns) / 1e3);
  if (s.roofline_ns)
    out +=
        fmt::format("roofline    {:.3f} us, {} of it reached\n", *s.roofline_ns / 1e3, percent(f.efficiency));
  else
    out += "roofline    unknown\n";
  out += fmt::format(
      "PE          {} of the 16-bit peak\nHBM         {} of the planning rate, {} bytes: input {}, const {}, "
      "output {}, "
      "scratch {}\n",
      percent(f.pe_utilization), percent(f.hbm_utilization), f.dram_bytes,
      dram_bytes(s, isa::VariableKind::Input), dram_bytes(s, isa::VariableKind::Const),
      dram_bytes(s, isa::VariableKind::Output), dram_bytes(s, isa::VariableKind::Internal));
  out += fmt::format("{:10} {:>12} {:>12} {:>7}  {}\n", "engine", "instructions", "busy us", "busy",
                     "longest stall");
  for (const Engine engine : isa::kStreamEngines) {
    const machine::EngineUse& use = s.run->engine(engine);
    const auto longest = std::max_element(use.stall_ticks.begin() + 1, use.stall_ticks.end());
    const double busy = static_cast<double>(ns(use.busy_ticks, s));
    out += fmt::format("{:10} {:12} {:12.3f} {:>7}", name(engine), use.instructions, busy / 1e3,
                       f.time_ns > 0 ? percent(busy / f.time_ns) : "-");
    if (*longest > 0)
      out += fmt::format("  {} {:.3f} us",
                         machine::name(static_cast<machine::StallCause>(longest - use.stall_ticks.begin())),
                         static_cast<double>(ns(*longest, s)) / 1e3);
    out += '\n';
  }
  const std::vector<OpUse> ops = top_ops(s);
  if (!ops.empty()) out += "longest ops (engine time)\n";
  for (size_t i = 0; i < ops.size() && i < kTopOpsShown; ++i) {
    const std::string where = to_string(SourceLoc{ops[i].op, ops[i].file, ops[i].line});
    out += fmt::format("{:12.3f} us  {}\n", static_cast<double>(ns(ops[i].ticks, s)) / 1e3,
                       where.empty() ? "(no op)" : where);
  }
  if (s.compared) out += "outputs     agree with the expected values\n";
  return out;
}

std::string chrome_trace(const RunSummary& s) {
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  std::map<int, bool> lanes;
  for (const machine::TraceEvent& event : s.run->events) lanes[event.lane] = true;
  const char* separator = "\n";
  for (const auto& [lane, used] : lanes) {
    out += separator;
    separator = ",\n";
    fmt::format_to(std::back_inserter(out),
                   R"({{"ph":"M","pid":0,"tid":{},"name":"thread_name","args":{{"name":)", lane);
    append_json_string(out, lane_name(s, lane));
    out += "}}";
  }
  const double us_per_tick = 1e6 / static_cast<double>(s.arch->ticks_per_second);
  for (const machine::TraceEvent& event : s.run->events) {
    out += separator;
    separator = ",\n";
    const bool has_source = event.source < s.program->sources.size();
    const isa::SourceInst none{}, &source = has_source ? s.program->sources[event.source] : none;
    const bool is_queue = event.lane >= machine::TraceEvent::kFirstQueueLane;
    fmt::format_to(std::back_inserter(out), R"({{"ph":"X","pid":0,"tid":{},"ts":{:.4f},"dur":{:.4f},"name":)",
                   event.lane, static_cast<double>(event.start) * us_per_tick,
                   static_cast<double>(event.end - event.start) * us_per_tick);
    append_json_string(out, is_queue ? "DMA" : std::string(isa::info(event.opcode).mnemonic));
    out += R"(,"args":{"inst":)";
    append_json_string(out, source.name);
    out += R"(,"op":)";
    append_json_string(out, to_string(SourceLoc{source.op_name, source.file, source.line}));
    out += "}}";
  }
  out += "]}\n";
  return out;
}

}  // namespace ncc::sim
