#include "driver/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "common/diag/suggest.h"

namespace ncc::driver {
namespace {

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  size_t at = 0;
  while ((at = text.find_first_not_of(' ', at)) != std::string_view::npos) {
    const size_t end = std::min(text.find(' ', at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

template <class... Targets>
OptionEffect Forward(Targets... targets) {
  return {EffectKind::Forward, {targets...}, {}};
}
OptionEffect Alias(const char* option) { return {EffectKind::Alias, {}, {option}}; }
OptionEffect Sets(const char* words) { return {EffectKind::Sets, {}, split_words(words)}; }

/// Bytes of "1536", "512M", "8G"; nullopt when it is no size or too large.
std::optional<int64_t> parse_size(std::string_view text) {
  int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(parsed.ptr, static_cast<size_t>(text.data() + text.size() - parsed.ptr));
  if (parsed.ec != std::errc{} || number < 0 || unit.size() > 1) return std::nullopt;
  const size_t power = unit.empty() ? 0 : std::string_view("KMGT").find(unit) + 1;
  if (!unit.empty() && power == 0) return std::nullopt;
  for (size_t i = 0; i < power; ++i)
    if (__builtin_mul_overflow(number, int64_t{1024}, &number)) return std::nullopt;
  return number;
}

std::optional<bool> parse_bool(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* yes : {"true", "t", "yes", "y", "1", "on"})
    if (lower == yes) return true;
  for (const char* no : {"false", "f", "no", "n", "0", "off"})
    if (lower == no) return false;
  return std::nullopt;
}

/// What a spelling on the command line means: its row and, for booleans, the value it stands for.
struct Spelling {
  const OptionRow* row;
  bool value;
};

const std::map<std::string, Spelling, std::less<>>& spelling_map() {
  static const std::map<std::string, Spelling, std::less<>> spellings = [] {
    std::map<std::string, Spelling, std::less<>> all;
    for (const OptionRow& option : all_options()) {
      const std::vector<std::string> names = option.spellings();
      const bool has_negative =
          option.action == OptionAction::Noable || option.action == OptionAction::EnableDisable;
      for (size_t i = 0; i < names.size(); ++i) {
        const bool negative = has_negative && i == 1;
        NCC_CHECK(all.emplace(names[i], Spelling{&option, !negative}).second, "option '{}' has two rows",
                  names[i]);
      }
    }
    return all;
  }();
  return spellings;
}

std::string absolute_path(const std::string& base, const std::string& path) {
  return (std::filesystem::path(base) / path).lexically_normal().string();
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

const std::vector<OptionRow>& all_options() {
  const OptionEffect Driver{EffectKind::Driver};
  const OptionEffect Accepted{EffectKind::Accepted};
  const OptionEffect Refused{EffectKind::Refused};
  static const std::vector<OptionRow> rows = {
#define OPTION(id, spelling, alias, kind, action, default_value, choices, owner, effect, help) \
  {Opt::id,                                                                                    \
   #id,                                                                                        \
   spelling,                                                                                   \
   alias,                                                                                      \
   OptionKind::kind,                                                                           \
   OptionAction::action,                                                                       \
   default_value,                                                                              \
   split_words(choices),                                                                       \
   owner,                                                                                      \
   effect,                                                                                     \
   help},
#include "driver/options.def"
  };
  return rows;
}

const OptionRow& row(Opt id) { return all_options()[static_cast<size_t>(id)]; }

bool OptionRow::is_boolean() const {
  return action == OptionAction::Flag || action == OptionAction::Noable ||
         action == OptionAction::EnableDisable;
}

bool OptionRow::is_list() const {
  return action == OptionAction::List || action == OptionAction::NamedPaths ||
         action == OptionAction::JsonList || action == OptionAction::Paths;
}

bool OptionRow::takes_value() const {
  return !is_boolean() && action != OptionAction::OptionalText && action != OptionAction::Words;
}

std::vector<std::string> OptionRow::spellings() const {
  std::vector<std::string> names;
  if (action == OptionAction::EnableDisable)
    names = {"--enable-" + spelling, "--disable-" + spelling};
  else if (action == OptionAction::Noable)
    names = {spelling, "--no-" + spelling.substr(2)};
  else
    names = {spelling};
  if (!alias.empty()) names.push_back(alias);
  return names;
}

std::string Options::text(Opt id) const {
  const auto found = values_.find(id);
  if (found != values_.end() && !found->second.empty()) return found->second.back();
  const OptionRow& option = row(id);
  if (option.action != OptionAction::Path || option.default_value.empty()) return option.default_value;
  return absolute_path(launch_dir_, option.default_value);
}

bool Options::flag(Opt id) const { return text(id) == "true"; }

int64_t Options::integer(Opt id) const {
  const std::string value = text(id);
  int64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

double Options::real(Opt id) const {
  const std::string value = text(id);
  return value.empty() ? 0.0 : std::strtod(value.c_str(), nullptr);
}

int64_t Options::bytes(Opt id) const { return parse_size(text(id)).value_or(0); }

std::vector<std::string> Options::list(Opt id) const {
  const auto found = values_.find(id);
  if (found != values_.end()) return found->second;
  return split_words(row(id).default_value);
}

bool Options::used(Opt id) const { return values_.contains(id); }

std::vector<std::string> Options::to_argv() const {
  std::vector<std::string> argv;
  for (const auto& [id, values] : values_) {
    if (id == Opt::state || id == Opt::dry_run || id == Opt::from_job || id == Opt::to_job ||
        id == Opt::pipeline)
      continue;
    const OptionRow& option = row(id);
    if (option.effect.kind == EffectKind::Sets) continue;  // what it stands for is stored by itself
    const std::vector<std::string> names = option.spellings();
    if (option.is_boolean()) {
      if (option.action == OptionAction::EnableDisable)
        argv.push_back(names[values.back() == "true" ? 0 : 1]);
      else
        argv.push_back(fmt::format("{}={}", names[0], values.back()));
    } else if (option.action == OptionAction::Words) {
      argv.push_back(names[0]);
      argv.insert(argv.end(), values.begin(), values.end());
    } else if (option.is_list()) {
      for (const std::string& value : values) argv.push_back(fmt::format("{}={}", names[0], value));
    } else if (option.action == OptionAction::OptionalText && values.back().empty()) {
      argv.push_back(names[0]);
    } else {
      argv.push_back(fmt::format("{}={}", names[0], values.back()));
    }
  }
  if (!models_.empty()) argv.push_back("--");
  argv.insert(argv.end(), models_.begin(), models_.end());
  return argv;
}

class Parser {
 public:
  Parser(const std::vector<std::string>& args, const std::string& launch_dir) : args_(args) {
    options_.launch_dir_ = launch_dir;
  }

  Result<Options> parse() {
    bool only_models = false;
    while (at_ < args_.size()) {
      const std::string& word = args_[at_++];
      if (only_models || word == "-" || !word.starts_with('-'))
        options_.models_.push_back(absolute(word));
      else if (word == "--")
        only_models = true;
      else
        NCC_TRY(parse_option(word));
    }
    if (!unknown_.empty()) return error(Code::EARG002, joined(unknown_), joined(suggestions_));
    return std::move(options_);
  }

 private:
  Status parse_option(const std::string& word) {
    const auto& spellings = spelling_map();
    const size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    auto found = spellings.find(name);
    if (found == spellings.end() && !word.starts_with("--") && word.size() > 2) {
      name = word.substr(0, 2);  // -O2, -ofile
      value = word.substr(2);
      found = spellings.find(name);
    }
    if (found == spellings.end()) {
      std::vector<std::string> known;
      for (const auto& [spelling, _] : spellings) known.push_back(spelling);
      unknown_.push_back(word.substr(0, equals));
      suggestions_.push_back(closest_name(unknown_.back(), known));
      return Status::ok();
    }
    return take(*found->second.row, found->second.value, name, value);
  }

  Status take(const OptionRow& option, bool positive, const std::string& name,
              std::optional<std::string> value) {
    if (option.effect.kind == EffectKind::Alias) return take_alias(option, name, value);
    if (option.is_boolean()) {
      bool on = true;
      if (value) {
        const std::optional<bool> given = parse_bool(*value);
        if (!given) return bad_value(name, *value, "on or off");
        on = *given;
      }
      return store(option, name, on == positive ? "true" : "false");
    }
    if (option.action == OptionAction::OptionalText) return store(option, name, value.value_or(""));
    if (option.action == OptionAction::Words) return take_words(option, name, value);
    if (!value) {
      if (at_ == args_.size()) return error(Code::EARG001, fmt::format("option '{}' needs a value", name));
      value = args_[at_++];
    }
    NCC_TRY(store(option, name, *value));
    while (option.action == OptionAction::JsonList && at_ < args_.size() && args_[at_].starts_with('{'))
      NCC_TRY(store(option, name, args_[at_++]));
    return Status::ok();
  }

  Status take_alias(const OptionRow& option, const std::string& name,
                    const std::optional<std::string>& value) {
    const std::string& meant = option.effect.stands_for.front();
    options_.warnings_.push_back(fmt::format("{} is deprecated, use {}", name, meant));
    return take(*spelling_map().find(meant)->second.row, true, name, value);
  }

  Status take_words(const OptionRow& option, const std::string& name,
                    const std::optional<std::string>& value) {
    std::vector<std::string> words;
    if (value) words.push_back(*value);
    while (at_ < args_.size() && !args_[at_].starts_with('-')) words.push_back(args_[at_++]);
    if (words.empty()) return error(Code::EARG001, fmt::format("option '{}' needs a value", name));
    options_.values_[option.id] = std::move(words);
    return Status::ok();
  }

  Status store(const OptionRow& option, const std::string& name, std::string value) {
    NCC_TRY(check_value(option, name, value));
    if (option.effect.kind == EffectKind::Refused && value != option.default_value)
      return error(Code::EARG003, name, option.help);
    if (option.action == OptionAction::Path || option.action == OptionAction::Paths) {
      if (value.empty()) return bad_value(name, value, "a path");
      value = absolute(value);
    }
    if (option.action == OptionAction::JsonOrPath && !value.starts_with('{')) {
      if (value.empty()) return bad_value(name, value, "JSON or a path");
      value = absolute(value);
    }
    if (option.action == OptionAction::NamedPaths) {
      const size_t equals = value.find('=');
      if (equals == std::string::npos || equals == 0 || equals + 1 == value.size())
        return bad_value(name, value, "NAME=PATH");
      value = value.substr(0, equals + 1) + absolute(value.substr(equals + 1));
    }
    std::vector<std::string>& values = options_.values_[option.id];
    if (!option.is_list()) values.clear();
    values.push_back(std::move(value));
    if (option.effect.kind == EffectKind::Sets && values.back() == "true")
      for (const std::string& word : option.effect.stands_for) NCC_TRY(parse_option(word));
    return Status::ok();
  }

  static Status bad_value(const std::string& name, const std::string& value, const std::string& expected) {
    return error(Code::EARG001,
                 fmt::format("option '{}' has value '{}', expected {}", name, value, expected));
  }

  static Status check_value(const OptionRow& option, const std::string& name, const std::string& value) {
    const std::vector<std::string>& choices = option.choices;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end())
      return bad_value(name, value, "one of " + joined(choices));
    const char* end = value.data() + value.size();
    if (option.action == OptionAction::Int) {
      int64_t number = 0;
      const auto parsed = std::from_chars(value.data(), end, number);
      if (parsed.ec != std::errc{} || parsed.ptr != end || number < 0)
        return bad_value(name, value, "a whole number of at least 0");
    }
    if (option.action == OptionAction::Size && !parse_size(value))
      return bad_value(name, value, "a number of bytes, as 512M");
    if (option.action == OptionAction::Real) {
      double number = 0;
      const auto parsed = std::from_chars(value.data(), end, number);
      if (parsed.ec != std::errc{} || parsed.ptr != end || !std::isfinite(number) || number < 0)
        return bad_value(name, value, "a number of at least 0");
    }
    return Status::ok();
  }

  std::string absolute(const std::string& path) const { return absolute_path(options_.launch_dir_, path); }

  const std::vector<std::string>& args_;
  size_t at_ = 0;
  Options options_;
  std::vector<std::string> unknown_, suggestions_;
};

Result<Options> parse_options(const std::vector<std::string>& args, const std::string& launch_dir) {
  return Parser(args, launch_dir).parse();
}

}  // namespace ncc::driver
