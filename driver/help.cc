// Help texts of the driver, derived from the option and subcommand tables.
#include "driver/options.h"

namespace ncc::driver {
namespace {

std::string_view kind_name(OptionKind kind) {
  switch (kind) {
    case OptionKind::Public:
      return "PUBLIC";
    case OptionKind::Hidden:
      return "HIDDEN";
    case OptionKind::Earg:
      return "EARG";
    case OptionKind::Internal:
      return "INTERNAL";
    case OptionKind::Harg:
      return "HARG";
  }
  return "";
}

std::string left_column(const OptionRow& option) {
  std::string text;
  for (const std::string& name : option.spellings()) text += (text.empty() ? "" : ", ") + name;
  if (!option.choices.empty()) {
    std::string choices;
    for (const std::string& choice : option.choices) choices += (choices.empty() ? "" : "|") + choice;
    return text + " {" + choices + "}";
  }
  if (option.action == OptionAction::OptionalText) return text + "[=TEXT]";
  if (option.action == OptionAction::Words) return text + " NAME...";
  if (option.action == OptionAction::JsonList) return text + " STATE...";
  if (option.action == OptionAction::JsonOrPath) return text + " JSON|PATH";
  if (option.action == OptionAction::Int) return text + " N";
  if (option.action == OptionAction::Real) return text + " X";
  if (option.action == OptionAction::Size) return text + " SIZE";
  if (option.action == OptionAction::Path || option.action == OptionAction::Paths) return text + " PATH";
  if (option.action == OptionAction::NamedPaths) return text + " NAME=PATH";
  return option.takes_value() ? text + " TEXT" : text;
}

std::string right_column(const OptionRow& option) {
  std::string text = option.help.empty() ? "MISSING HELP" : option.help;
  if (option.effect.kind == EffectKind::Accepted) text += " (accepted, no effect)";
  if (option.effect.kind == EffectKind::Refused) text += " (not implemented)";
  if (option.effect.kind == EffectKind::Alias)
    text += fmt::format(" (deprecated, use {})", option.effect.stands_for.front());
  if (!option.default_value.empty() && !option.is_boolean())
    text += fmt::format(" (default {})", option.default_value);
  return text;
}

}  // namespace

std::string options_help(int level) {
  std::string text;
  for (const OptionRow& option : all_options()) {
    const OptionKind deepest = level == 0   ? OptionKind::Public
                               : level == 1 ? OptionKind::Earg
                                            : OptionKind::Internal;
    if (option.kind > deepest) continue;
    if (level == 2) {
      text += fmt::format("{:<15} {:<8} {}: {}\n", option.owner, kind_name(option.kind), left_column(option),
                          right_column(option));
      continue;
    }
    const std::string left = left_column(option);
    if (left.size() <= 30)
      text += fmt::format("  {:<30} {}\n", left, right_column(option));
    else
      text += fmt::format("  {}\n  {:<30} {}\n", left, "", right_column(option));
  }
  return text;
}

std::string bash_completion(const std::vector<std::string>& subcommands) {
  std::string words, cases;
  for (const OptionRow& option : all_options()) {
    if (option.kind == OptionKind::Harg) continue;
    std::string names, choices;
    for (const std::string& name : option.spellings()) names += (names.empty() ? "" : "|") + name;
    // Hidden options complete their values but are not offered themselves.
    if (option.kind == OptionKind::Public)
      for (const std::string& name : option.spellings()) words += " " + name;
    for (const std::string& choice : option.choices) choices += (choices.empty() ? "" : " ") + choice;
    if (!choices.empty())
      cases +=
          fmt::format("    {}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n", names, choices);
    else if (option.action == OptionAction::Path || option.action == OptionAction::Paths ||
             option.action == OptionAction::NamedPaths || option.action == OptionAction::JsonOrPath)
      cases += fmt::format("    {}) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", names);
  }
  std::string commands;
  for (const std::string& name : subcommands) commands += (commands.empty() ? "" : " ") + name;
  return fmt::format(
      "# source <(neuron-driver completion)\n"
      "_neuron_driver() {{\n"
      "  local word=\"${{COMP_WORDS[COMP_CWORD]}}\" before=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "  [ \"$before\" = \"=\" ] && before=\"${{COMP_WORDS[COMP_CWORD-2]}}\"\n"
      "  [ \"$word\" = \"=\" ] && {{ before=\"${{COMP_WORDS[COMP_CWORD-1]}}\"; word=\"\"; }}\n"
      "  case \"$before\" in\n{}  esac\n"
      "  case \"$word\" in\n"
      "    -*) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")) ;;\n"
      "    *) if [ \"$COMP_CWORD\" = 1 ]; then COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); else "
      "COMPREPLY=($(compgen -f -- \"$word\")); fi ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o filenames -F _neuron_driver neuron-driver\n",
      cases, words.substr(1), commands);
}

}  // namespace ncc::driver
