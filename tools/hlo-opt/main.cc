// hlo-opt (job Frontend): Penguin at tensor level in; BIR, tensor map and I/O description out. Given an HLO
// module it runs HLO passes instead (hlo_level.h).
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <new>

#include "common/diag/pass_failure.h"
#include "common/files/files.h"
#include "common/tool/tool_main.h"
#include "ir-formats/bir/golden_check.h"
#include "ir-formats/bir/io.h"
#include "ir-formats/penguin/interpret.h"
#include "ir-formats/penguin/io.h"
#include "pipelines/pipelines.h"
#include "tools/hlo-opt/emit_bir.h"
#include "tools/hlo-opt/hlo/pass.h"
#include "tools/hlo-opt/hlo_level.h"
#include "tools/hlo-opt/io_description.h"
#include "tools/hlo-opt/pipeline.h"

namespace ncc::hlo_opt {
namespace {

struct Options {
  std::string input, output_dir = ".", target = "trn2", print_after, bir_format = "pb", verify_inputs,
                     verify_goldens;
  std::string check_after;
  std::vector<std::string> passes, skip;
  std::string opt_level = "2";
  bool list_passes = false, precise_transpose = false;
  HloOptions hlo;
};

struct PassTime {
  std::string_view name;
  int64_t wall_us;
};

std::string metrics_json(const std::vector<PassTime>& times) {
  std::string text = "{\"passes\": [";
  for (const PassTime& time : times)
    text += fmt::format("{}\n {{\"name\": \"{}\", \"wall_us\": {}}}", &time == times.data() ? "" : ",",
                        time.name, time.wall_us);
  return text + "\n]}\n";
}

Status write_outputs(const Compilation& c, const std::vector<PassTime>& times, const Options& options) {
  const std::filesystem::path dir(options.output_dir);
  std::error_code failed;
  std::filesystem::create_directories(dir / "sg00", failed);
  if (failed) return error(Code::EFIL002, (dir / "sg00").string(), failed.message());
  NCC_TRY(write_file((dir / "frontend_metrics.json").string(), metrics_json(times)));
  NCC_TRY(penguin::write_module(*c.module, (dir / "penguin.tile.pb").string()));
  if (!c.bir) return Status::ok();
  NCC_TRY(bir::write_module(*c.bir, (dir / "sg00" / ("bir." + options.bir_format)).string()));
  NCC_TRY(write_file((dir / "sg00" / "io.json").string(), io_json(*c.module)));
  NCC_TRY(write_file((dir / "tensor_map.json").string(), tensor_map_json(*c.module)));
  return write_file((dir / "io_transposes.json").string(), "[]\n");
}

// The Penguin and BIR rungs of the ladder of truth: executes what a pass left and compares with the goldens.
class Verifier {
 public:
  static Result<std::unique_ptr<Verifier>> load(const Options& options) {
    auto verifier = std::make_unique<Verifier>();
    if (options.verify_inputs.empty() || options.verify_goldens.empty()) return verifier;
    verifier->options_ = &options;
    NCC_ASSIGN(verifier->inputs_, read_array_folder(options.verify_inputs));
    NCC_ASSIGN(verifier->goldens_, read_array_folder(options.verify_goldens));
    const std::filesystem::path constants =
        std::filesystem::path(options.input).parent_path() / "constants.bin";
    verifier->constants_path_ = constants.string();
    std::error_code ignored;
    if (std::filesystem::exists(constants, ignored)) {
      NCC_ASSIGN(verifier->constants_, MappedFile::open(constants.string()));
    }
    return verifier;
  }

  Status check(const Compilation& c, const std::string& after) const {
    if (options_ == nullptr) return Status::ok();
    if (!c.is_tiled) return check_tensor_level(c, after);
    // A tile-level module is BIR in another container: it is executed as BIR.
    NCC_ASSIGN(bir::IoDescription io, bir::parse_io(io_json(*c.module), "the tiled module"));
    NCC_ASSIGN(const bir::GoldenCheck golden,
               bir::GoldenCheck::load(std::move(io), options_->verify_inputs, options_->verify_goldens,
                                      constants_path_));
    NCC_ASSIGN(const bir::Module module, emit_bir(*c.module, *c.arch));
    return golden.check(module, after);
  }

 private:
  Status check_tensor_level(const Compilation& c, const std::string& after) const {
    std::vector<Array> arrays;
    for (size_t n = 0; n < inputs_.size() && n < c.module->inputs.size(); ++n) {
      NCC_ASSIGN(Array typed, reinterpret(inputs_[n].array, c.module->inputs[n].declared_dtype,
                                          fmt::format("input {}", n)));
      arrays.push_back(std::move(typed));
    }
    const std::span<const std::byte> constants =
        constants_ ? constants_->bytes() : std::span<const std::byte>();
    NCC_ASSIGN(const std::vector<Array> results, penguin::interpret(*c.module, constants, arrays));
    std::vector<NamedArray> named;
    for (size_t n = 0; n < results.size(); ++n) named.push_back({c.module->outputs[n].name, results[n]});
    return compare_with_goldens(named, goldens_, after);
  }

  const Options* options_ = nullptr;
  std::vector<NamedArray> inputs_, goldens_;
  std::string constants_path_;
  std::shared_ptr<const MappedFile> constants_;
};

bool is_listed(const std::string& list, std::string_view name) {
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    const std::string_view entry = std::string_view(list).substr(at, comma - at);
    if (entry == name || entry == "all") return true;
    at = comma + 1;
  }
  return false;
}

void list_passes() {
  fmt::print("HLO level (HLO or StableHLO in, HLO out):\n");
  list_hlo_passes();
  fmt::print("\nPenguin level (Penguin in, BIR out):\n");
  for (const PassInfo& pass : all_passes()) fmt::print("{:<28} {}\n", pass.name, pass.summary);
}

// What both levels share under one option.
Status run_hlo(const Options& options) {
  HloOptions hlo = options.hlo;
  hlo.input = options.input;
  hlo.passes = options.passes;
  hlo.skip = options.skip;
  hlo.print_after = options.print_after;
  hlo.check_after = options.check_after;
  for (const auto* names : {&options.passes, &options.skip}) {
    for (const std::string& name : *names) {
      if (find_pass(name) && !hlo_passes::find_pass(name))
        return error(Code::EARG001,
                     fmt::format("pass '{}' works on Penguin, but {} is HLO", name, options.input));
    }
  }
  return run_hlo_level(hlo);
}

Status run_penguin(const Options& options) {
  Compilation c;
  c.arch = find_arch(options.target);
  if (c.arch == nullptr) return error(Code::EARG001, fmt::format("unknown target '{}'", options.target));
  c.precise_transpose = options.precise_transpose;
  std::vector<const PassInfo*> order;
  const auto named = [&](const std::string& name) -> Result<const PassInfo*> {
    if (const PassInfo* pass = find_pass(name)) return pass;
    if (hlo_passes::find_pass(name) || hlo_passes::find_known_name(name))
      return error(Code::EARG001,
                   fmt::format("pass '{}' works on HLO, but {} is Penguin", name, options.input));
    return error(Code::EARG001, fmt::format("unknown pass '{}' (--list-passes shows them)", name));
  };
  pipelines::PassList list{options.passes, {}};
  if (options.passes.empty()) {
    NCC_ASSIGN(list, pipelines::pass_list("Frontend", options.opt_level));
  }
  list.skip.insert(list.skip.end(), options.skip.begin(), options.skip.end());
  for (const std::string& name : list.skip) NCC_TRY(named(name).status());
  if (list.run.empty())
    for (const PassInfo& pass : all_passes()) order.push_back(&pass);
  for (const std::string& name : list.run) {
    NCC_ASSIGN(const PassInfo* pass, named(name));
    order.push_back(pass);
  }
  std::erase_if(order, [&](const PassInfo* pass) {
    return std::find(list.skip.begin(), list.skip.end(), pass->name) != list.skip.end();
  });

  NCC_ASSIGN(penguin::Module module, penguin::read_module(options.input));
  c.module = std::make_unique<penguin::Module>(std::move(module));
  const std::filesystem::path constants =
      std::filesystem::path(options.input).replace_filename("constants.bin");
  if (std::filesystem::exists(constants)) {
    NCC_ASSIGN(c.constants, MappedFile::open(constants.string()));
  }
  NCC_ASSIGN(const std::unique_ptr<Verifier> verifier, Verifier::load(options));
  NCC_TRY(verifier->check(c, "stage HLOToTensorizer (Penguin as read)"));
  std::vector<PassTime> times;
  for (const PassInfo* pass : order) {
    try {
      tool_logger().write(log::Level::Info, "pass", fmt::format("Running {}", pass->name));
      const auto begin = std::chrono::steady_clock::now();
      NCC_TRY(pass->run(c));
      const auto wall = std::chrono::steady_clock::now() - begin;
      times.push_back({pass->name, std::chrono::duration_cast<std::chrono::microseconds>(wall).count()});
      if (options.check_after.empty() || is_listed(options.check_after, pass->name))
        NCC_TRY(verifier->check(c, fmt::format("stage Frontend, pass {}", pass->name)));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& failure) {
      return pass_failure(pass->name, failure);
    }
    if (is_listed(options.print_after, pass->name))
      fmt::print("; after {}\n{}", pass->name, penguin::to_text(*c.module));
  }
  return write_outputs(c, times, options);
}

Status run(const Options& options) {
  if (options.list_passes) {
    list_passes();
    return Status::ok();
  }
  if (options.input.empty()) return error(Code::EARG001, "--input is required");
  NCC_ASSIGN(const bool is_hlo, is_hlo_input(options.input));
  return is_hlo ? run_hlo(options) : run_penguin(options);
}

void declare_hlo_options(CLI::App& app, HloOptions& hlo) {
  app.add_option("-o,--output", hlo.output, "HLO: output file (default: standard output)");
  app.add_option("--emit", hlo.emit, "HLO: text, proto, or stats (counts by opcode)")
      ->check(CLI::IsMember({"text", "proto", "stats"}));
  app.add_flag("--no-metadata", hlo.no_metadata, "HLO: text without locations");
  app.add_flag("--no-passes", hlo.no_passes, "HLO: read, verify and write, nothing else");
  app.add_option("--check-inputs", hlo.check_inputs,
                 "HLO: folder of NNN.npy for --check-after (default: generated)");
  app.add_option("--check-seed", hlo.check_seed, "HLO: seed of generated inputs");
  app.add_flag(
      "--check-each", hlo.check_each,
      "HLO: run every pass alone, and the default order (or --passes, each alone), checked by execution");
  app.add_option("--check-seconds", hlo.check_seconds,
                 "HLO: --check-each starts no interpretation later than this");
  app.add_flag(
      "--check-specials", hlo.check_specials,
      "HLO: generated inputs include NaN, infinities, -0, subnormals and the extremes of every type");
  app.add_option("--max-folded-bytes", hlo.max_folded_bytes,
                 "HLO: constant_folding makes no larger constant");
  app.add_option("--max-unrolled-trips", hlo.max_unrolled_trips,
                 "HLO: loops with more iterations stay loops");
  app.add_option(
      "--fp32-cast", hlo.fp32_cast,
      "HLO: what auto-cast may narrow: none, or matmult or all, plain (bf16) or with -bf16, -fp16, "
      "-fp32r, -fp8e4");
  app.add_flag("--time-passes", hlo.time_passes, "HLO: print changes and time of each pass to stderr");
}

void declare_penguin_options(CLI::App& app, Options& options) {
  app.add_option("--output-dir", options.output_dir,
                 "work directory: sg00/bir.pb, sg00/io.json, tensor_map.json, io_transposes.json");
  app.add_option("--target", options.target, "trn1 or trn2");
  app.add_option("-O", options.opt_level,
                 "0..3: the pass list of pipelines/passes.yaml, unless --passes is given")
      ->check(CLI::IsMember({"0", "1", "2", "3"}));
  app.add_flag("--precise-transpose", options.precise_transpose,
               "trn1: no transpose is a product with an identity, so that nothing can spread");
  app.add_option("--verify-inputs", options.verify_inputs,
                 "folder of inputs: execute after passes and compare with the goldens");
  app.add_option("--verify-goldens", options.verify_goldens, "folder of expected results");
  app.add_option("--bir-format", options.bir_format, "pb or json")->check(CLI::IsMember({"pb", "json"}));
}

}  // namespace
}  // namespace ncc::hlo_opt

int main(int argc, char** argv) {
  using namespace ncc;
  using hlo_opt::declare_hlo_options;
  using hlo_opt::declare_penguin_options;
  hlo_opt::Options options;
  return tool_main(
      {"hlo-opt", "runs passes on HLO, or optimises Penguin, tiles it for the machine and emits BIR",
       "Examples:\n  hlo-opt --input wd/penguin.pb --output-dir wd --target trn2\n  hlo-opt --input "
       "wd/penguin.pb --print-after layout\n  hlo-opt model.mlir --passes cse,dce --check-after all -o "
       "model.hlo.txt\n"},
      argc, argv,
      [&](CLI::App& app) {
        app.add_option("--input,input", options.input,
                       "Penguin module at tensor level (.pb or .txt), or HLO proto, HLO text or StableHLO "
                       "text; the content decides");
        app.add_option("--passes", options.passes, "passes to run, in order (default: the default order)")
            ->delimiter(',');
        app.add_option("--skip-pass", options.skip, "passes to leave out")->delimiter(',');
        app.add_option("--print-after", options.print_after,
                       "print the module after these passes ('all': after each)");
        app.add_option("--check-after", options.check_after,
                       "passes to check after by execution ('all': each). HLO: before and after on generated "
                       "inputs; Penguin: with --verify-* (default there: all)");
        app.add_flag("--list-passes", options.list_passes, "list the passes of both levels and stop");
        declare_hlo_options(app, options.hlo);
        declare_penguin_options(app, options);
      },
      [&] { return hlo_opt::run(options); });
}
