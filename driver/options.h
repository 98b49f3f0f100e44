// The driver's own command line: a table of options (options.def), a parser, typed access.
//
// Globals work anywhere; the word after them is the subcommand. Later occurrences win, except for lists,
// which grow. No abbreviations, no response files, no environment. Source: spec/driver.md §1.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/diag/status.h"

namespace ncc::driver {

enum class Opt : uint8_t {
#define OPTION(id, ...) id,
#include "driver/options.def"
};

enum class OptionKind : uint8_t { Public, Hidden, Earg, Internal, Harg };
enum class OptionAction : uint8_t {
  Flag,
  Noable,
  EnableDisable,
  Text,
  Int,
  Real,
  Size,
  Path,
  List,
  NamedPaths,
  Words,
  OptionalText,
  JsonList,
  Paths,
  JsonOrPath
};
enum class EffectKind : uint8_t { Driver, Forward, Alias, Sets, Accepted, Refused };

/// How a job's tool spells a forwarded option.
struct To {
  std::string job;
  std::string spelling;
};

struct OptionEffect {
  EffectKind kind;
  std::vector<To> forwarded = {};            // Forward: who gets it, and how
  std::vector<std::string> stands_for = {};  // Alias: one option; Sets: words of a command line
};

struct OptionRow {
  Opt id;
  std::string dest;  // the id as text
  std::string spelling;
  std::string alias;
  OptionKind kind;
  OptionAction action;
  std::string default_value;
  std::vector<std::string> choices;
  std::string owner;  // "global", "compile" or a job
  OptionEffect effect;
  std::string help;

  bool takes_value() const;  // always needs one, joined or as the next word
  bool is_boolean() const;
  bool is_list() const;  // repeatable
  /// Every spelling on the command line, e.g. {"--enable-dge", "--disable-dge"}.
  std::vector<std::string> spellings() const;
};
const std::vector<OptionRow>& all_options();
const OptionRow& row(Opt id);

/// The parsed values. Unset options answer with their default.
class Options {
 public:
  std::string text(Opt id) const;  // lists: the last one
  bool flag(Opt id) const;
  int64_t integer(Opt id) const;                // 0 when unset
  double real(Opt id) const;                    // 0 when unset
  int64_t bytes(Opt id) const;                  // of a Size; 0 when unset
  std::vector<std::string> list(Opt id) const;  // all occurrences
  bool used(Opt id) const;                      // given on the command line
  const std::vector<std::string>& models() const { return models_; }
  void set_models(std::vector<std::string> models) { models_ = std::move(models); }
  const std::vector<std::string>& warnings() const { return warnings_; }  // deprecated spellings
  /// Subgraphs that --state names: jobs for each subgraph run for these alone; empty = for all.
  const std::vector<std::string>& subgraphs() const { return subgraphs_; }
  void set_subgraphs(std::vector<std::string> names) { subgraphs_ = std::move(names); }
  const std::string& launch_dir() const { return launch_dir_; }
  /// The resolved options as an argv that parses to the same values from any folder; without those that say
  /// which part of a compile to run (--state, --from-job, --to-job, --pipeline, --dry-run).
  std::vector<std::string> to_argv() const;

 private:
  friend class Parser;
  std::map<Opt, std::vector<std::string>> values_;
  std::vector<std::string> models_;
  std::vector<std::string> subgraphs_;
  std::vector<std::string> warnings_;
  std::string launch_dir_;
};

/// Parses the argv of `compile` (with the globals in it). Relative paths resolve against `launch_dir`.
/// EARG001 for bad values, EARG002 for unknown options (all of them in one diagnostic), EARG003 for known
/// ones that are not implemented.
Result<Options> parse_options(const std::vector<std::string>& args, const std::string& launch_dir);

/// The help text of `compile`; `level` 0 = public options, 1 = hidden too, 2 = all as a list with defaults.
std::string options_help(int level);

/// A completion script for bash: subcommands, options and the choices of their values.
std::string bash_completion(const std::vector<std::string>& subcommands);

}  // namespace ncc::driver
