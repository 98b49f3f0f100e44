#include "tools/walrus_driver/driver.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/files/files.h"
#include "ir-formats/bir/golden_check.h"
#include "ir-formats/bir/io.h"
#include "ir-formats/isa/program_files.h"
#include "pipelines/pipelines.h"
#include "tools/walrus_driver/pipeline.h"

namespace ncc::walrus {
namespace {

bool is_listed(const std::string& list, std::string_view name) {
  if (list == "all") return true;
  for (size_t at = 0; at < list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    if (std::string_view(list).substr(at, comma - at) == name) return true;
    at = comma + 1;
  }
  return false;
}

std::string metrics_json(const PassContext& ctx, const std::vector<PassRecord>& records) {
  nlohmann::json out;
  for (const auto& [name, value] : ctx.metrics) out["backend"][name] = value;
  out["nc_latency_ns"] =
      ctx.metrics.contains("PostSchedEstLatency") ? ctx.metrics.at("PostSchedEstLatency") : 0;
  for (const PassRecord& record : records)
    out["passes"].push_back(
        {{"name", record.name}, {"wall_us", record.wall_us}, {"instructions", record.instructions}});
  return out.dump(1) + "\n";
}

/// The pass list of the pipeline files when the command line has none.
Result<std::string> chosen_passes(const Options& options) {
  if (!options.passes.empty()) return options.passes;
  NCC_ASSIGN(const pipelines::PassList passes, pipelines::pass_list("WalrusDriver", options.optlevel));
  std::string list;
  for (const std::string& name : passes.run) list += (list.empty() ? "" : ",") + name;
  return list;
}

Status write_outputs(const bir::Module& module, const PassContext& ctx,
                     const std::vector<PassRecord>& records, const Options& options) {
  NCC_TRY(write_file(options.output_dir + "/metrics.json", metrics_json(ctx, records)));
  bool generated = false;
  for (const PassRecord& record : records) generated = generated || record.name == "codegen";
  if (generated) NCC_TRY(isa::write_program(ctx.program, options.output_dir));
  return bir::write_module(module, options.output_dir + "/walrus_bir.out.pb");
}

/// The check that --verify-inputs and --verify-goldens ask for.
Result<std::optional<bir::GoldenCheck>> golden_check(const Options& options) {
  std::optional<bir::GoldenCheck> check;
  if (options.verify_inputs.empty() || options.verify_goldens.empty()) return check;
  const std::filesystem::path folder = std::filesystem::path(options.input).parent_path();
  const std::string io_path = (folder / "io.json").string();
  NCC_ASSIGN(const std::string text, read_file(io_path));
  NCC_ASSIGN(bir::IoDescription io, bir::parse_io(text, io_path));
  NCC_ASSIGN(bir::GoldenCheck loaded,
             bir::GoldenCheck::load(std::move(io), options.verify_inputs, options.verify_goldens,
                                    (folder / ".." / "constants.bin").string()));
  check = std::move(loaded);
  return check;
}

}  // namespace

Status run(const Options& options) {
  if (options.list_passes) {
    for (const PassInfo& row : all_passes()) fmt::print("{:<32} {}\n", row.name, row.summary);
    return Status::ok();
  }
  NCC_ASSIGN(const std::string list, chosen_passes(options));
  NCC_ASSIGN(const std::vector<const PassInfo*> pipeline, build_pipeline(list));
  if (options.dry_run) {
    for (const PassInfo* row : pipeline) fmt::print("{}\n", row->name);
    return Status::ok();
  }
  if (options.input.empty() || options.output_dir.empty())
    return error(Code::EARG001, "--input and --output-dir are required");
  NCC_ASSIGN(bir::Module module, bir::read_module(options.input));
  const std::string target = options.target.empty() ? module.arch : options.target;
  const ArchModel* arch = find_arch(target);
  if (!arch) return error(Code::EARG001, fmt::format("unknown target '{}'", target));
  if (find_arch(module.arch) != arch)
    return error(Code::EARG001,
                 fmt::format("the module is for '{}', the target is '{}'", module.arch, target));
  PassContext ctx{*arch, options.max_instructions, {}, {}};
  NCC_ASSIGN(const std::optional<bir::GoldenCheck> check, golden_check(options));
  if (check) NCC_TRY(check->check(module, "stage Frontend (BIR as read)"));
  std::vector<PassRecord> records;
  const auto announce = [&](const PassInfo& row) {
    if (options.announce) options.announce(row.name);
  };
  const auto after = [&](const PassInfo& row, const bir::Module& now) {
    if (check) NCC_TRY(check->check(now, fmt::format("stage WalrusDriver, pass {}", row.name)));
    if (!is_listed(options.print_after, row.name)) return Status::ok();
    return bir::write_module(
        now, fmt::format("{}/bir.{:02}.{}.json", options.output_dir, records.size(), row.name));
  };
  NCC_TRY(run_pipeline(pipeline, module, ctx, records, after, announce));
  return write_outputs(module, ctx, records, options);
}

}  // namespace ncc::walrus
