// hlo2penguin (job HLOToTensorizer): a model in any HLO form in; Penguin at tensor level, constants and
// metrics out.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "common/files/files.h"
#include "common/tool/tool_main.h"
#include "ir-formats/hlo/device_part.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/stats.h"
#include "ir-formats/hlo/verify.h"
#include "ir-formats/hlo/write.h"
#include "ir-formats/penguin/io.h"
#include "ir-formats/penguin/verify.h"
#include "tools/hlo2penguin/complex_interface.h"
#include "tools/hlo2penguin/expansions.h"
#include "tools/hlo2penguin/interface.h"
#include "tools/hlo2penguin/io_config.h"
#include "tools/hlo2penguin/lower.h"
#include "tools/hlo2penguin/metrics.h"
#include "tools/hlo2penguin/model_passes.h"
#include "tools/hlo2penguin/operators.h"
#include "tools/hlo2penguin/strict_types.h"
#include "tools/hlo2penguin/word_pairs.h"

namespace ncc::hlo2penguin {
namespace {

struct Options {
  std::string input, output_dir = ".", target = "trn2", io_config;
  ModelPassOptions passes;
  int opt_level = 2;
  bool list_operators = false, markdown = false, text = false, strict_dtypes = false, native_int64 = false;
  bool spmd = false, print_stats = false;
};

/// hlo_module.pb: the model as it was read, without what nothing uses, with dense ids.
Status write_hlo(hlo::Module& model, const std::string& path) {
  model.remove_unreachable();
  for (const auto& computation : model.computations()) computation->remove_dead();
  model.renumber();
  NCC_ASSIGN(const std::string bytes, hlo::write_hlo_proto(model, {.text_lines = true}));
  return write_file(path, bytes);
}

/// A manual computation is a program for several devices; one core is compiled for.
Status check_devices(const hlo::Module& model) {
  const int64_t devices = hlo::manual_devices(model);
  if (devices <= 1) return Status::ok();
  SourceLoc loc;
  for (const auto& inst : model.entry()->instructions())
    if (loc.empty() && hlo::leads_to_part(*inst)) loc = inst->loc;
  return error(Code::EVRF001, loc, "manual computation",
               fmt::format("written for {} devices, and one core is compiled for", devices));
}

/// One physical core is compiled for: a program that is to be divided first is not one that can be.
Status check_spmd(const hlo::Module& model) {
  if (model.num_partitions <= 1) return Status::ok();
  return error(Code::EARG003, "--spmd",
               fmt::format("the module is to be divided into {} partitions, and one core is compiled for",
                           model.num_partitions));
}

/// What jax.debug.print and its like tell the host is not told by a device: the log says which calls are left
/// out.
void print_left_out(const hlo::Module& model) {
  for (const auto& computation : model.computations())
    for (const auto& inst : computation->instructions())
      if (inst->is(hlo::Opcode::CustomCall) && inst->shape.is_tuple() && inst->shape.elements.empty())
        fmt::print("left out: custom call '{}' {}, which gives the program nothing\n",
                   inst->attrs().custom_call_target, to_string(inst->loc));
}

Status run(const Options& options) {
  if (options.list_operators) {
    fmt::print("{}", options.markdown ? operators_markdown() : operators_text());
    return Status::ok();
  }
  if (options.input.empty()) return error(Code::EARG001, "--input is required");
  const ArchModel* arch = find_arch(options.target);
  if (arch == nullptr) return error(Code::EARG001, fmt::format("unknown target '{}'", options.target));
  NCC_ASSIGN(const std::unique_ptr<hlo::Module> model, hlo::read_module(options.input));
  NCC_TRY(hlo::verify(*model));
  if (options.strict_dtypes) NCC_TRY(check_strict_types(*model, options.native_int64));
  if (options.spmd) NCC_TRY(check_spmd(*model));
  NCC_TRY(check_devices(*model));
  if (!options.io_config.empty()) NCC_TRY(check_io_config(options.io_config, *model));
  NCC_TRY(run_model_passes(*model, options.passes));
  if (options.print_stats) fmt::print("{}", hlo::print_stats(*model));
  print_left_out(*model);

  // hlo_module.pb keeps the model's own types: goldens are what the host sees.
  const Interface interface = interface_of(*model);
  const bool expands = needs_expansion(*model);
  const std::unique_ptr<hlo::Module> own = options.native_int64 || expands ? model->clone() : nullptr;
  if (expands) NCC_TRY(expand(*own));
  if (options.native_int64) NCC_TRY(pair_words(*own));

  penguin::Module module;
  ConstantStore constants;
  Lowering lowering(module, constants);
  NCC_TRY(lowering.run(own ? *own : *model));
  declare_interface(interface, options.native_int64, module);
  NCC_TRY(penguin::verify(module));
  const std::filesystem::path dir(options.output_dir);
  std::error_code failed;
  std::filesystem::create_directories(dir, failed);
  if (failed) return error(Code::EFIL002, options.output_dir, failed.message());
  NCC_TRY(write_hlo(*model, (dir / "hlo_module.pb").string()));
  // Of the model, not of what expansions made of it: what those add is to show as time lost.
  Metrics metrics;
  metrics.count_model(*model);
  metrics.count_io(module);
  NCC_TRY(constants.write((dir / "constants.bin").string()));
  NCC_TRY(write_file((dir / "hlo_metrics.json").string(), metrics_json(metrics, *arch, module.name)));
  NCC_TRY(write_file((dir / "hlo_netlist.json").string(), netlist_json(module)));
  if (options.text) NCC_TRY(penguin::write_module(module, (dir / "penguin.txt").string()));
  return penguin::write_module(module, (dir / "penguin.pb").string());
}

}  // namespace
}  // namespace ncc::hlo2penguin

int main(int argc, char** argv) {
  using namespace ncc;
  hlo2penguin::Options options;
  return tool_main(
      {"hlo2penguin", "lowers a model to tensor-level Penguin",
       "Examples:\n  hlo2penguin --input model.hlo.pb --output-dir wd --target trn2\n  hlo2penguin --input "
       "model.mlir --output-dir wd "
       "--text\n  hlo2penguin --list-operators\n"},
      argc, argv,
      [&](CLI::App& app) {
        app.add_option("--input", options.input, "HLO proto, HLO text or StableHLO text");
        app.add_option(
            "--output-dir", options.output_dir,
            "work directory: penguin.pb, constants.bin, hlo_module.pb, hlo_netlist.json, hlo_metrics.json");
        app.add_option("--target", options.target, "trn1 or trn2");
        app.add_option("-O", options.opt_level, "optimisation level");
        app.add_option("--fp32-cast", options.passes.fp32_cast,
                       "compute f32 in a narrower type: none, or matmult or all, plain (bf16) or with -bf16, "
                       "-fp16, -fp32r, -fp8e4");
        for (const hlo2penguin::ModelPassRow& row : hlo2penguin::kModelPasses)
          if (!row.flag.empty())
            app.add_flag(std::string(row.flag), options.passes.wanted[static_cast<size_t>(row.id)],
                         std::string(row.help));
        app.add_flag("--native-int64", options.native_int64,
                     "compute 64-bit integers exactly, on pairs of 32-bit words");
        app.add_flag("--strict-dtypes", options.strict_dtypes,
                     "refuse element types that the device would compute in a narrower one");
        app.add_option("--io-config", options.io_config,
                       "the interface that the model is expected to have, as JSON or a file of it");
        app.add_flag("--spmd", options.spmd, "refuse a module that is to be divided into partitions");
        app.add_flag("--print-module-stats", options.print_stats,
                     "print what the module that is compiled holds and costs");
        app.add_flag("--text", options.text, "also write penguin.txt");
        app.add_flag("--list-operators", options.list_operators,
                     "print the operators and whether they are supported, and stop");
        app.add_flag("--markdown", options.markdown, "with --list-operators: print docs/operators.md");
      },
      [&] { return hlo2penguin::run(options); });
}
