#include "driver/plan.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "common/diag/suggest.h"
#include "common/process/process.h"
#include "driver/conditions.h"
#include "driver/precision.h"

namespace ncc::driver {
namespace {

constexpr const char* kNeff = "model.neff";
constexpr const char* kImages = "images";

struct TargetRow {
  std::string name;
  std::string family;
  bool supported;
};

const std::vector<TargetRow>& all_targets() {
  constexpr bool Supported = true, Known = false;
  static const std::vector<TargetRow> rows = {
#define TARGET(name, family, kind) {name, family, kind},
#include "driver/targets.def"
  };
  return rows;
}

/// The family of --arch, or of --target when --arch is not given.
Result<std::string> resolve_target(const Options& options) {
  const Opt source = options.used(Opt::arch) ? Opt::arch : Opt::target;
  const std::string name = options.text(source);
  std::vector<std::string> supported;
  for (const TargetRow& row : all_targets()) {
    if (row.name == name && row.supported) return row.family;
    if (row.name == name)
      return error(Code::EARG003, fmt::format("{}={}", driver::row(source).spelling, name),
                   std::string("there is no model of this machine"));
    if (row.supported) supported.push_back(row.name);
  }
  return error(Code::EARG001,
               fmt::format("unknown target '{}', did you mean '{}'", name, closest_name(name, supported)));
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t end = std::min(text.find(separator, start), text.size());
    if (end > start) parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::string join(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

/// Fills in one job template at a time.
class JobBuilder {
 public:
  JobBuilder(const Options& options, const Registry& registry, const FindTool& find_tool, const Plan& plan)
      : options_(options), registry_(registry), find_tool_(find_tool), plan_(plan) {}

  Result<Job> build(const JobTemplate& from) {
    NCC_ASSIGN(const pipelines::PassList list, passes_of(from.name));
    const std::vector<std::string>& passes = list.run;
    const std::vector<std::string>& skipped = list.skip;
    const ConditionContext context{options_, from.name, !passes.empty(), passes.empty() && !skipped.empty(),
                                   nullptr};
    variables_ = {{"model", plan_.model},
                  {"target", plan_.target},
                  {"optlevel", options_.text(Opt::optlevel)},
                  {"inputs", options_.used(Opt::inputs)   ? options_.text(Opt::inputs)
                             : options_.used(Opt::images) ? kImages
                                                          : "goldens/inputs"},
                  {"penguin", plan_.penguin},
                  {"neff", plan_.neff},
                  {"fp32_cast", fp32_cast_mode(options_)},
                  {"io_config", options_.text(Opt::io_config)},
                  {"skipped", join(skipped, ",")},
                  {"passes", join(passes, ",")}};
    const std::string given = given_executable(from);
    Job job{from.name, from.tool, given, {}, {}, {}, {}, "", given.empty() ? from.tool : given};
    if (given.empty() && from.kind == JobKind::Process) job.executable = find_tool_(from.tool);
    NCC_TRY(take_settings(from, job));
    for (const std::string& name : from.run_if) {
      const ConditionRow& condition = *find_condition(name);
      if (condition.time == ConditionTime::Run)
        job.run_conditions.push_back(name);
      else if (!condition.holds(context))
        job.skip_reason = condition.reason;
      if (!job.skip_reason.empty()) return job;
    }
    for (const ArgvPart& part : from.argv) {
      if (!part.condition.empty() && !find_condition(part.condition)->holds(context)) continue;
      for (const std::string& arg : part.args) NCC_TRY(append(arg, job.args));
    }
    append_forwarded(from.name, job.args);
    for (const std::string& path : from.reads) NCC_TRY(append(path, job.reads));
    for (const std::string& path : from.writes) NCC_TRY(append(path, job.writes));
    for (const std::string& path : from.may_read) NCC_TRY(append(path, job.may_read));
    for (const std::string& path : from.may_write) NCC_TRY(append(path, job.may_write));
    return job;
  }

 private:
  /// What a template says beyond argv and files; the user's limits come before the template's.
  Status take_settings(const JobTemplate& from, Job& job) {
    job.kind = from.kind;
    job.action = from.action;
    job.for_each_subgraph = from.for_each_subgraph;
    job.stderr_policy = from.stderr_policy;
    job.propagate_exit = from.propagate_exit;
    job.timeout_s = options_.used(Opt::job_timeout) ? options_.real(Opt::job_timeout) : from.timeout_s;
    job.memory_limit_bytes =
        options_.used(Opt::job_memory) ? options_.bytes(Opt::job_memory) : from.memory_limit_bytes;
    job.pass_metrics = from.pass_metrics;
    job.cacheable = from.cacheable;
    job.may_be_empty = from.may_be_empty;
    for (const auto& [key, path] : from.state) {
      std::vector<std::string> filled;
      NCC_TRY(append(path, filled));
      job.state[key] = filled.front();
    }
    return Status::ok();
  }

  /// The list of the first file that has one for the job, later files first.
  Result<pipelines::PassList> listed_passes(const std::string& job) {
    for (const pipelines::File& file : registry_.sources) {
      NCC_ASSIGN(pipelines::PassList passes, pipelines::pass_list(file, job, options_.text(Opt::optlevel)));
      if (!passes.empty()) return passes;
    }
    return pipelines::PassList{};
  }

  /// The job's list without what --skip-pass names; the tool must know names that are in no list.
  Result<pipelines::PassList> passes_of(const std::string& job) {
    NCC_ASSIGN(pipelines::PassList passes, listed_passes(job));
    for (const std::string& name : options_.list(Opt::skip_pass)) std::erase(passes.run, name);
    NCC_ASSIGN(const std::vector<std::string> unlisted, unlisted_skips());
    passes.skip.insert(passes.skip.end(), unlisted.begin(), unlisted.end());
    return passes;
  }

  /// --skip-pass names that no job's list holds.
  Result<std::vector<std::string>> unlisted_skips() {
    std::vector<std::string> names = options_.list(Opt::skip_pass);
    for (const auto& [job, _] : registry_.jobs) {
      if (names.empty()) break;
      NCC_ASSIGN(const pipelines::PassList listed, listed_passes(job));
      std::erase_if(names, [&](const std::string& name) {
        return std::find(listed.run.begin(), listed.run.end(), name) != listed.run.end();
      });
    }
    return names;
  }

  /// What --tool says for the job or its tool; "" = nothing.
  std::string given_executable(const JobTemplate& job) {
    std::string path;
    for (const std::string& entry : options_.list(Opt::tool)) {
      const size_t equals = entry.find('=');
      const std::string name = entry.substr(0, equals);
      if (name == job.name || name == job.tool) path = entry.substr(equals + 1);
    }
    return path;
  }

  Status append(const std::string& pattern, std::vector<std::string>& to) {
    std::string text = pattern;
    for (const auto& [name, value] : variables_) {
      const std::string slot = "{" + name + "}";
      for (size_t at = text.find(slot); at != std::string::npos; at = text.find(slot, at + value.size()))
        text.replace(at, slot.size(), value);
    }
    // A slot without a variable stays as written; one whose variable is unset would leave an empty word.
    if (text.empty())
      return error(Code::EARG001, fmt::format("'{}' is needed here and has no value", pattern));
    to.push_back(std::move(text));
    return Status::ok();
  }

  /// Options that the user gave and whose row forwards to this job, and the job's own raw words.
  void append_forwarded(const std::string& job, std::vector<std::string>& args) {
    for (const OptionRow& option : all_options()) {
      const std::vector<To>& targets = option.effect.forwarded;
      const auto target =
          std::find_if(targets.begin(), targets.end(), [&](const To& to) { return to.job == job; });
      if (!options_.used(option.id) || target == targets.end()) continue;
      if (options_.text(option.id) == option.default_value) continue;
      const std::string& spelling = target->spelling;
      if (option.is_boolean()) {
        args.push_back(spelling);
        continue;
      }
      for (const std::string& value : options_.list(option.id))
        args.push_back(fmt::format("{}={}", spelling, value));
    }
    static const std::map<std::string, Opt> kRawWords = {{"HLOToTensorizer", Opt::hlo2tensorizer_options},
                                                         {"Frontend", Opt::frontend_options},
                                                         {"WalrusDriver", Opt::backend_options}};
    if (const auto raw = kRawWords.find(job); raw != kRawWords.end())
      for (const std::string& words : options_.list(raw->second))
        for (std::string& word : split(words, ' ')) args.push_back(std::move(word));
  }

  const Options& options_;
  const Registry& registry_;
  const FindTool& find_tool_;
  const Plan& plan_;
  std::map<std::string, std::string> variables_;
};

Result<std::string> single_model(const Options& options) {
  const std::vector<std::string>& models = options.models();
  if (models.empty()) return error(Code::EARG001, std::string("no model file is given"));
  if (models.size() > 1)
    return error(Code::EARG001, fmt::format("one model file is expected, found {}: {}", models.size(),
                                            process::shell_join(models)));
  return models.front();
}

Status check_lnc(const Options& options, Plan& plan) {
  int64_t lnc = options.integer(Opt::lnc);
  if (options.integer(Opt::meta_module) != 0) lnc = 1;
  if (lnc > 1 && plan.target == "trn1")
    return error(Code::EARG001, fmt::format("--lnc {} is not supported by target {}", lnc, plan.target));
  if (lnc > 1) plan.warnings.push_back("--lnc 2: the program uses one physical core");
  return Status::ok();
}

Status check_tool_overrides(const Options& options, const Registry& registry) {
  std::vector<std::string> names = registry.job_names();
  for (const auto& [name, job] : registry.jobs)
    if (!job.tool.empty()) names.push_back(job.tool);
  for (const std::string& entry : options.list(Opt::tool)) {
    const std::string name = entry.substr(0, entry.find('='));
    if (std::find(names.begin(), names.end(), name) == names.end())
      return error(Code::EDRV010, std::string("job or tool"), name, closest_name(name, names));
  }
  return Status::ok();
}

Status check_values(const Options& options) {
  if (options.flag(Opt::static_weights) && options.flag(Opt::fast_loading))
    return error(
        Code::EARG001,
        std::string("--static-weights and --enable-fast-loading-neuron-binaries exclude each other"));
  if (options.integer(Opt::execute_repetition) < 1)
    return error(Code::EARG001, std::string("--execute-repetition is 0, expected at least 1"));
  return Status::ok();
}

/// Options that the job which reads the model would have acted on.
std::string options_for_hlo(const Options& options) {
  std::string names;
  for (const OptionRow& option : all_options()) {
    const bool acts = option.owner == "HLOToTensorizer" &&
                      (option.effect.kind == EffectKind::Driver || option.effect.kind == EffectKind::Forward);
    if (acts && options.used(option.id) && options.text(option.id) != option.default_value)
      names += (names.empty() ? "" : ", ") + option.spellings().front();
  }
  return names;
}

/// Names that --verify may not silently miss.
Status check_verify_stages(const Options& options) {
  const std::vector<std::string> stages = {"Frontend", "WalrusDriver", "NeuronSim"};
  for (const std::string& stage : split(options.text(Opt::verify), ','))
    if (std::find(stages.begin(), stages.end(), stage) == stages.end())
      return error(Code::EDRV010, std::string("verification stage"), stage, closest_name(stage, stages));
  return Status::ok();
}

std::string limits(const Job& job) {
  std::string text;
  if (job.timeout_s > 0) text += fmt::format(" at most {:g} s", job.timeout_s);
  if (job.memory_limit_bytes > 0) text += fmt::format(" at most {} bytes of memory", job.memory_limit_bytes);
  return text;
}

bool gate_is_open(const CollectorEntry& entry, const ConditionContext& context) {
  const auto holds = [&](const std::string& name) { return find_condition(name)->holds(context); };
  return std::all_of(entry.when.begin(), entry.when.end(), holds) &&
         std::none_of(entry.unless.begin(), entry.unless.end(), holds);
}

/// The first job needs nothing that an earlier one leaves.
bool reads_model_only(const Plan& plan) {
  if (plan.jobs.empty()) return false;
  const std::vector<std::string>& reads = plan.jobs.front().reads;
  return std::all_of(reads.begin(), reads.end(), [&](const std::string& path) {
    return path == plan.model || (!plan.imports.empty() && path == plan.penguin);
  });
}

/// The jobs that --pipeline names: the collectors' list for `compile`, further names after it; or single
/// jobs.
Result<std::vector<std::string>> named_jobs(const Options& options, const Registry& registry) {
  std::vector<std::string> names;
  for (const std::string& name : options.list(Opt::pipeline)) {
    if (name == "compile") {
      for (const CollectorEntry& entry : registry.entries)
        if (gate_is_open(entry, {options, entry.job, false, false, nullptr})) names.push_back(entry.job);
      continue;
    }
    if (!registry.jobs.contains(name)) {
      std::vector<std::string> known = registry.job_names();
      known.push_back("compile");
      return error(Code::EDRV010, std::string("job"), name, closest_name(name, known));
    }
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

/// Which part of the list --from-job and --to-job leave: everything before is done already, everything after
/// is not wanted.
Status narrow(const Options& options, Plan& plan) {
  const std::string from = options.text(Opt::from_job);
  const std::string to = options.text(Opt::to_job);
  const auto find = [&](const std::string& name) {
    return std::find_if(plan.jobs.begin(), plan.jobs.end(), [&](const Job& job) { return job.name == name; });
  };
  std::vector<std::string> names;
  for (const Job& job : plan.jobs) names.push_back(job.name);
  for (const std::string& name : {from, to})
    if (!name.empty() && find(name) == plan.jobs.end())
      return error(Code::EDRV010, std::string("job"), name, closest_name(name, names));
  if (!to.empty()) {
    plan.jobs.erase(find(to) + 1, plan.jobs.end());
    plan.keep_work_dir = true;
  }
  if (!from.empty()) {
    if (find(from) == plan.jobs.end())
      return error(Code::EARG001, fmt::format("--from-job {} comes after --to-job {}", from, to));
    plan.jobs.erase(plan.jobs.begin(), find(from));
    plan.imports.clear();  // a restart works on what the folder holds
  }
  const std::vector<std::string> pipeline = options.list(Opt::pipeline);
  const bool is_whole = std::find(pipeline.begin(), pipeline.end(), "compile") != pipeline.end();
  if (!is_whole) plan.keep_work_dir = true;
  if ((!from.empty() || (!is_whole && !reads_model_only(plan))) && plan.work_dir.empty())
    return error(Code::EARG001,
                 fmt::format("{} {} needs --temp-dir or --state of an earlier compile",
                             from.empty() ? "--pipeline" : "--from-job", plan.jobs.front().name));
  return Status::ok();
}

/// A Penguin model brings along what HLOToTensorizer would have left beside it.
std::vector<Import> imports_of(const std::string& model) {
  const std::filesystem::path path(model);
  std::vector<Import> imports = {{model, "penguin" + path.extension().string(), true}};
  for (const char* name : {"constants.bin", "hlo_metrics.json", "hlo_module.pb", "hlo_netlist.json"})
    imports.push_back({(path.parent_path() / name).string(), name, false});
  return imports;
}

/// Arrays that lie anywhere become a folder of inputs in the work folder.
Status import_images(const Options& options, Plan& plan) {
  if (!options.used(Opt::images)) return Status::ok();
  if (options.used(Opt::inputs))
    return error(Code::EARG001, std::string("--images and --inputs are both given"));
  size_t number = 0;
  for (const std::string& image : options.list(Opt::images))
    plan.imports.push_back({image, fmt::format("{}/{:03}.npy", kImages, number++), true});
  return Status::ok();
}

}  // namespace

Result<Plan> plan_compile(const Options& options, const Registry& registry, const FindTool& find_tool) {
  Plan plan;
  NCC_ASSIGN(plan.model, single_model(options));
  NCC_ASSIGN(plan.target, resolve_target(options));
  plan.neff = kNeff;
  plan.output = options.text(Opt::output);
  plan.work_dir = options.text(Opt::temp_dir);
  plan.keep_work_dir =
      options.flag(Opt::save_temps) || options.flag(Opt::compiler_debug_mode) || options.used(Opt::temp_dir);
  plan.is_verified = options.used(Opt::verify);
  plan.subgraphs = options.subgraphs();
  plan.warnings = options.warnings();
  NCC_TRY(check_lnc(options, plan));
  NCC_TRY(check_values(options));
  NCC_TRY(check_tool_overrides(options, registry));
  NCC_TRY(check_verify_stages(options));
  if (options.text(Opt::optlevel) == "3") plan.warnings.push_back("-O3 runs the passes of -O2");
  for (const OptionRow& option : all_options())
    if (option.effect.kind == EffectKind::Accepted && options.used(option.id))
      plan.notes.push_back(fmt::format("{} has no effect: {}", option.spellings().front(), option.help));

  if (ConditionContext{options, "", false, false, nullptr}.model_is_penguin()) {
    plan.imports = imports_of(plan.model);
    plan.penguin = plan.imports.front().to;
    if (const std::string names = options_for_hlo(options); !names.empty())
      plan.warnings.push_back(
          fmt::format("a Penguin model is compiled as it is, without {}: HLO is not read", names));
  }
  NCC_TRY(import_images(options, plan));
  JobBuilder builder(options, registry, find_tool, plan);
  NCC_ASSIGN(const std::vector<std::string> names, named_jobs(options, registry));
  for (const std::string& name : names) {
    NCC_ASSIGN(Job job, builder.build(registry.jobs.at(name)));
    if (job.action == "keep_work_folder") plan.keep_work_dir = true;
    plan.jobs.push_back(std::move(job));
  }
  NCC_TRY(narrow(options, plan));
  const bool makes_neff = std::any_of(plan.jobs.begin(), plan.jobs.end(), [&](const Job& job) {
    return std::find(job.writes.begin(), job.writes.end(), plan.neff) != job.writes.end();
  });
  if (!makes_neff) plan.output.clear();
  return plan;
}

Job for_subgraph(const Job& job, const std::string& subgraph) {
  const auto fill = [&](std::string& text) {
    constexpr std::string_view kSlot = "{sg}";
    for (size_t at = text.find(kSlot); at != std::string::npos; at = text.find(kSlot, at + subgraph.size()))
      text.replace(at, kSlot.size(), subgraph);
  };
  Job filled = job;
  for (std::vector<std::string>* list : {&filled.args, &filled.reads, &filled.writes, &filled.may_read,
                                         &filled.may_write, &filled.may_be_empty})
    for (std::string& text : *list) fill(text);
  for (auto& [key, path] : filled.state) fill(path);
  fill(filled.pass_metrics);
  return filled;
}

std::string print_plan(const Plan& plan) {
  std::vector<std::string> names;
  for (const Job& job : plan.jobs) names.push_back(job.name);
  std::string text = fmt::format("Pipeline: {}\n", join(names, " "));
  text += fmt::format("Work folder: {}{}\n", plan.work_dir.empty() ? "neuronxcc-XXXXXXXX" : plan.work_dir,
                      plan.keep_work_dir ? "" : ", removed on success");
  for (const Import& import : plan.imports)
    text +=
        fmt::format("Copy: {} -> {}{}\n", import.from, import.to, import.required ? "" : " (if it exists)");
  for (const Job& job : plan.jobs) {
    if (!job.skip_reason.empty()) {
      text += fmt::format("{}: not started, {}\n", job.name, job.skip_reason);
      continue;
    }
    std::string conditions;
    for (const std::string& name : job.run_conditions)
      conditions +=
          fmt::format("{}not started if {}", conditions.empty() ? " " : ", ", find_condition(name)->reason);
    std::vector<std::string> words = {job.shown_tool};
    if (job.kind == JobKind::InProcess) {
      text += fmt::format("{}: {}\n", job.name, job.action);
      continue;
    }
    words.insert(words.end(), job.args.begin(), job.args.end());
    text += fmt::format("{}:{}{}{}\n  {}\n", job.name, job.for_each_subgraph ? " for each subgraph {sg}" : "",
                        conditions, limits(job), process::shell_join(words));
  }
  if (!plan.output.empty()) text += fmt::format("Publish: {} -> {}\n", plan.neff, plan.output);
  return text;
}

}  // namespace ncc::driver
