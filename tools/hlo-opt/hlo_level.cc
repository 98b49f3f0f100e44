#include "tools/hlo-opt/hlo_level.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "common/files/files.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/stats.h"
#include "ir-formats/hlo/verify.h"
#include "ir-formats/hlo/write.h"
#include "ir-formats/penguin/wire.h"
#include "tools/hlo-opt/hlo/passes/auto_cast.h"
#include "tools/hlo-opt/hlo/run.h"

namespace ncc::hlo_opt {
namespace {

using hlo_passes::PassInfo;

// A comma-separated list of pass names, or "all".
class Selection {
 public:
  static Result<Selection> parse(const std::string& list) {
    Selection selection;
    for (size_t at = 0; at < list.size();) {
      const size_t comma = std::min(list.find(',', at), list.size());
      const std::string name = list.substr(at, comma - at);
      if (name == "all") {
        selection.all_ = true;
      } else {
        NCC_ASSIGN(const PassInfo* pass, hlo_passes::require_pass(name));
        selection.passes_.push_back(pass);
      }
      at = comma + 1;
    }
    return selection;
  }
  bool holds(const PassInfo& pass) const {
    return all_ || std::find(passes_.begin(), passes_.end(), &pass) != passes_.end();
  }
  bool empty() const { return !all_ && passes_.empty(); }

 private:
  bool all_ = false;
  std::vector<const PassInfo*> passes_;
};

Result<std::vector<const PassInfo*>> passes_of(const std::vector<std::string>& names) {
  std::vector<const PassInfo*> passes;
  for (const std::string& name : names) {
    NCC_ASSIGN(const PassInfo* pass, hlo_passes::require_pass(name));
    passes.push_back(pass);
  }
  return passes;
}

hlo::PrintOptions print_options(const HloOptions& options) {
  hlo::PrintOptions print;
  print.metadata = !options.no_metadata;
  return print;
}

Result<std::string> emitted(const hlo::Module& module, const HloOptions& options) {
  if (options.emit == "stats") return hlo::print_stats(module);
  if (options.emit == "proto") return hlo::write_hlo_proto(module);
  return hlo::print_hlo(module, print_options(options));
}

Status write_result(const std::string& bytes, const std::string& path) {
  if (!path.empty() && path != "-") return write_file(path, bytes);
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size())
    return error(Code::EFIL002, std::string("standard output"), std::string("write failed"));
  return Status::ok();
}

// The modules of a file: one, or the pieces of a StableHLO test file.
Result<std::vector<std::unique_ptr<hlo::Module>>> read_all(const std::string& path) {
  std::vector<std::unique_ptr<hlo::Module>> modules;
  NCC_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  const std::vector<std::string> pieces =
      path.ends_with(".mlir") ? hlo::split_mlir(file->text()) : std::vector<std::string>();
  if (pieces.size() < 2) {
    NCC_ASSIGN(std::unique_ptr<hlo::Module> module, hlo::read_module(path));
    modules.push_back(std::move(module));
    return modules;
  }
  for (const std::string& piece : pieces) {
    NCC_ASSIGN(std::unique_ptr<hlo::Module> module, hlo::read_stablehlo(piece, path));
    modules.push_back(std::move(module));
  }
  return modules;
}

// One line per failure and a last line of totals; ERUN002 when something failed.
Status check_each(const HloOptions& options, const hlo_passes::RunOptions& run) {
  using hlo_passes::Outcome;
  NCC_ASSIGN(const auto modules, read_all(options.input));
  const hlo_passes::EachOptions each{run, options.check_seconds};
  int64_t counts[4] = {};
  std::string first;
  const auto report = [&](std::string_view pass, Outcome outcome, const Status& status) {
    ++counts[static_cast<size_t>(outcome)];
    if (status.is_ok()) return;
    if (first.empty()) first = pass;
    fmt::print("{}: {}: {}\n", options.input, pass, status.diagnostic().cause);
  };
  for (const auto& module : modules) {
    NCC_TRY(hlo::verify(*module));
    NCC_ASSIGN(
        std::vector<hlo::Literal> args,
        hlo_passes::check_arguments(*module, {options.check_inputs, static_cast<uint64_t>(options.check_seed),
                                              options.check_specials}));
    NCC_TRY(hlo_passes::check_each_pass(*module, args, each, report));
    // A program without inputs folds to its result: once more with its constants as inputs.
    if (!args.empty()) continue;
    NCC_ASSIGN(const int64_t outlined, hlo_passes::constants_to_parameters(*module, args));
    if (outlined == 0) continue;
    NCC_TRY(hlo_passes::check_each_pass(*module, args, each, report));
    if (!options.check_specials) continue;
    // And with special values in place of its floats; integers may be places and sizes.
    for (size_t n = 0; n < args.size(); ++n)
      if (is_float(args[n].shape().dtype) || is_complex(args[n].shape().dtype))
        args[n] =
            hlo_passes::generated_input(args[n].shape(), static_cast<uint64_t>(options.check_seed) + n, true);
    NCC_TRY(hlo_passes::check_each_pass(*module, args, each, report));
  }
  const auto count = [&](Outcome outcome) { return counts[static_cast<size_t>(outcome)]; };
  const int64_t failed = count(Outcome::Wrong);
  const int64_t done = failed + count(Outcome::Unchanged) + count(Outcome::Equal);
  fmt::print("{}: {} runs checked, {} failed, {} left the values alone, {} not tested in time\n",
             options.input, done, failed, count(Outcome::Unchanged), count(Outcome::Untested));
  if (failed == 0) return Status::ok();
  return error(Code::ERUN002, 0, fmt::format("{} of {} runs, the first is HLO pass {}", failed, done, first));
}

}  // namespace

Result<bool> is_hlo_input(const std::string& path) {
  NCC_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  const std::string_view bytes = file->text();
  if (bytes.starts_with(penguin::kMagic)) return false;
  // Penguin text may begin with comments.
  size_t at = 0;
  while (at < bytes.size()) {
    if (bytes[at] == ';') {
      at = std::min(bytes.find('\n', at), bytes.size());
    } else if (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == '\n' || bytes[at] == '\r') {
      ++at;
    } else {
      break;
    }
  }
  return !bytes.substr(at).starts_with("penguin ");
}

Status run_hlo_level(const HloOptions& options) {
  hlo_passes::RunOptions run;
  NCC_ASSIGN(run.passes, passes_of(options.passes));
  NCC_ASSIGN(run.skip, passes_of(options.skip));
  NCC_ASSIGN(const Selection printed, Selection::parse(options.print_after));
  NCC_ASSIGN(const Selection checked, Selection::parse(options.check_after));
  if (options.max_folded_bytes >= 0) run.limits.max_folded_bytes = options.max_folded_bytes;
  if (options.max_unrolled_trips >= 0) run.limits.max_unrolled_trips = options.max_unrolled_trips;
  if (options.check_each) return check_each(options, run);

  NCC_ASSIGN(const std::unique_ptr<hlo::Module> module, hlo::read_module(options.input));
  NCC_TRY(hlo::verify(*module));
  NCC_TRY(hlo_passes::allow_fp32_cast(*module, options.fp32_cast));
  std::optional<hlo_passes::EquivalenceCheck> check;
  if (!checked.empty()) {
    NCC_ASSIGN(check, hlo_passes::EquivalenceCheck::prepare(
                          *module, {options.check_inputs, static_cast<uint64_t>(options.check_seed),
                                    options.check_specials}));
    run.check = &*check;
    run.is_checked = [&](const PassInfo& pass) { return checked.holds(pass); };
  }
  run.after = [&](const PassInfo& pass, const hlo::Module& now, int64_t changes, int64_t wall_us) {
    if (options.time_passes)
      fmt::print(stderr, "{:<32} {:>8} changes {:>10} us\n", pass.name, changes, wall_us);
    if (printed.holds(pass))
      fmt::print("// after {}\n{}", pass.name, hlo::print_hlo(now, print_options(options)));
  };
  if (!options.no_passes) NCC_TRY(hlo_passes::run_passes(*module, run));
  NCC_ASSIGN(const std::string bytes, emitted(*module, options));
  return write_result(bytes, options.output);
}

void list_hlo_passes() {
  for (const PassInfo& pass : hlo_passes::all_passes())
    fmt::print("{:<40} {:<10} {:<6} {}\n", pass.name, hlo_passes::name(pass.stage),
               hlo_passes::name(pass.rounding), pass.summary);
}

}  // namespace ncc::hlo_opt
