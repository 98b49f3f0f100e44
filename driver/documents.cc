#include "driver/documents.h"

#include <algorithm>

#include "driver/conditions.h"
#include "driver/options.h"
#include "driver/plan.h"
#include "driver/registry.h"

namespace ncc::driver {
namespace {

/// A table cell: bars would end it.
std::string cell(std::string text) {
  for (size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
    text.insert(at, "\\");
  return text;
}

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

std::string effect_text(const OptionRow& option) {
  switch (option.effect.kind) {
    case EffectKind::Driver:
      return "read by the driver";
    case EffectKind::Forward: {
      std::vector<std::string> targets;
      for (const To& to : option.effect.forwarded)
        targets.push_back(fmt::format("{} `{}`", to.job, to.spelling));
      return "forwarded: " + joined(targets, ", ");
    }
    case EffectKind::Alias:
      return fmt::format("deprecated, use `{}`", option.effect.stands_for.front());
    case EffectKind::Sets:
      return fmt::format("stands for `{}`", joined(option.effect.stands_for, " "));
    case EffectKind::Accepted:
      return "no effect";
    case EffectKind::Refused:
      return "refused unless default";
  }
  return "";
}

std::string options_document() {
  std::string text =
      "# Options of neuron-driver compile\n\n"
      "Written by `neuron-driver docs options` from `driver/options.def`.\n\n"
      "| option | owner | values | default | effect | meaning |\n|---|---|---|---|---|---|\n";
  for (const OptionRow& option : all_options()) {
    std::vector<std::string> names;
    for (const std::string& name : option.spellings()) names.push_back("`" + name + "`");
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", joined(names, " "), option.owner,
                        joined(option.choices, " "),
                        option.default_value.empty() ? "" : "`" + option.default_value + "`",
                        effect_text(option), cell(option.help));
  }
  return text;
}

std::string conditions_text(const CollectorEntry& entry) {
  std::vector<std::string> parts = entry.when;
  for (const std::string& name : entry.unless) parts.push_back("not " + name);
  return joined(parts, ", ");
}

/// The flows that options choose: what the collectors then list.
std::string flows_text(const Registry& registry) {
  const std::vector<std::vector<std::string>> flows = {{},
                                                       {"--verify"},
                                                       {"--meta-module=2"},
                                                       {"--enable-internal-neff-wrapper"},
                                                       {"--enable-internal-modular-compilation"},
                                                       {"--enable-internal-bir-linker"},
                                                       {"--enable-experimental-tensorized-scheduler"}};
  std::string text = "\n| options | jobs |\n|---|---|\n";
  for (const std::vector<std::string>& flow : flows) {
    std::vector<std::string> words = {"m.pb"};
    words.insert(words.end(), flow.begin(), flow.end());
    const Result<Options> options = parse_options(words, "/");
    const Result<Plan> plan = options.is_ok() ? plan_compile(options.value(), registry,
                                                             [](const std::string& tool) { return tool; })
                                              : Result<Plan>(options.status());
    if (!plan.is_ok()) return plan.status().diagnostic().to_string();
    std::vector<std::string> names;
    for (const Job& job : plan->jobs) names.push_back(job.name);
    text += fmt::format("| {} | {} |\n", flow.empty() ? "(default)" : "`" + joined(flow, " ") + "`",
                        joined(names, ", "));
  }
  return text;
}

/// What pipelines/passes.yaml says: per job and level. Levels with the same list share a row.
std::string pass_lists_text(const Registry& registry) {
  std::string text = "\nPass lists, of `pipelines/passes.yaml`:\n\n| job | level | passes |\n|---|---|---|\n";
  for (const auto& [name, job] : registry.jobs) {
    std::vector<std::pair<std::string, std::string>> rows;  // list, levels
    for (const char* level : {"0", "1", "2", "3"}) {
      Result<pipelines::PassList> list = pipelines::pass_list(name, level);
      if (!list.is_ok()) return list.status().diagnostic().to_string();
      std::string shown =
          list->run.empty() ? fmt::format("all of `{} --list-passes`", job.tool) : joined(list->run, ", ");
      if (!list->skip.empty()) shown += " without " + joined(list->skip, ", ");
      const auto same =
          std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.first == shown; });
      if (same == rows.end())
        rows.emplace_back(shown, fmt::format("O{}", level));
      else
        same->second += fmt::format(" O{}", level);
    }
    if (rows.size() == 1 && rows[0].first.starts_with("all of")) continue;  // the file does not speak of it
    for (const auto& [list, levels] : rows) text += fmt::format("| {} | {} | {} |\n", name, levels, list);
  }
  return text;
}

std::string jobs_document() {
  const Result<Registry> registry = load_registry(pipelines::built_in_files());
  if (!registry.is_ok()) return registry.status().diagnostic().to_string();
  std::string text =
      "# Jobs\n\nWritten by `neuron-driver docs jobs` from `pipelines/jobs.yaml` and "
      "`pipelines/default.yaml`.\n\n"
      "| job | listed when | tool | started when | reads | writes |\n|---|---|---|---|---|---|\n";
  std::vector<std::string> listed;
  const auto add_row = [&](const JobTemplate& job, const std::string& when) {
    std::vector<std::string> writes = job.writes;
    for (const std::string& path : job.may_write) writes.push_back("(" + path + ")");
    std::vector<std::string> reads = job.reads;
    for (const std::string& path : job.may_read) reads.push_back("(" + path + ")");
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", job.name, when,
                        job.tool.empty() ? job.action : job.tool, joined(job.run_if, ", "),
                        joined(reads, ", "), joined(writes, ", "));
    listed.push_back(job.name);
  };
  for (const CollectorEntry& entry : registry->entries)
    add_row(registry->jobs.at(entry.job),
            entry.when.empty() && entry.unless.empty() ? "always" : conditions_text(entry));
  for (const auto& [name, job] : registry->jobs)
    if (std::find(listed.begin(), listed.end(), name) == listed.end())
      add_row(job, "on request (`--pipeline`)");
  text += flows_text(registry.value());
  text += pass_lists_text(registry.value());
  text +=
      "\nFiles in parentheses may be missing. Conditions:\n\n| condition | known | false means "
      "|\n|---|---|---|\n";
  for (const ConditionRow& row : all_conditions())
    text += fmt::format("| {} | {} | {} |\n", row.name,
                        row.time == ConditionTime::Plan ? "when planning" : "at the job's turn", row.reason);
  return text;
}

std::string_view kind_text(DiagKind kind) {
  switch (kind) {
    case DiagKind::User:
      return "user, 1";
    case DiagKind::Mismatch:
      return "mismatch, 2";
    case DiagKind::Internal:
      return "internal, 70";
    case DiagKind::Host:
      return "host, 70";
  }
  return "";
}

std::string diagnostics_document() {
  std::string text =
      "# Diagnostics\n\nWritten by `neuron-driver docs diagnostics` from `common/diag/codes.def`. A line "
      "reads "
      "`[ERROR] [NCC_<code>] cause - what to do`; F codes stand for a job's death by signal.\n\n"
      "| code | kind, exit status | cause | what to do |\n|---|---|---|---|\n";
  for (const CodeInfo& row : all_codes())
    text += fmt::format("| {} | {} | {} | {} |\n", row.name, kind_text(row.kind),
                        cell(std::string(row.cause)), cell(std::string(row.advice)));
  return text;
}

}  // namespace

std::vector<std::string> document_topics() { return {"options", "jobs", "diagnostics"}; }

std::string document(const std::string& topic) {
  if (topic == "options") return options_document();
  if (topic == "jobs") return jobs_document();
  if (topic == "diagnostics") return diagnostics_document();
  return "";
}

}  // namespace ncc::driver
