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
  if (option.action == OptionAction::Int) return text + " N";
  if (option.action == OptionAction::Real) return text + " X";
  if (option.action == OptionAction::Path) return text + " PATH";
  if (option.action == OptionAction::NamedPaths) return text + " NAME=PATH";
  return option.takes_value() ? text + " TEXT" : text;
}

std::string right_column(const OptionRow& option) {
  std::string text = option.help.empty() ? "MISSING HELP" : option.help;
  if (option.effect.kind == EffectKind::Accepted) text += " (accepted, no effect)";
  if (option.effect.kind == EffectKind::Refused) text += " (not implemented)";
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
      const bool is_global = option.id <= Opt::fork_subcommand;
      text += fmt::format("{:<15}{:<9}{}: {}\n", is_global ? "global" : "compile", kind_name(option.kind),
                          left_column(option), right_column(option));
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

}  // namespace ncc::driver
