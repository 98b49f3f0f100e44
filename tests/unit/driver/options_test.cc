#include "driver/options.h"

#include <catch2/catch.hpp>
#include <set>

namespace ncc::driver {
namespace {

Options parsed(const std::vector<std::string>& args) {
  Result<Options> options = parse_options(args, "/launch");
  INFO((options.is_ok() ? "" : options.status().diagnostic().to_string()));
  REQUIRE(options.is_ok());
  return options.take();
}

std::string code_of(const std::vector<std::string>& args) {
  const Result<Options> options = parse_options(args, "/launch");
  return options.is_ok() ? "" : std::string(info(options.status().diagnostic().code).name);
}

TEST_CASE("the four spellings of the optimisation level are equal", "[driver]") {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"-O1"}, {"-O", "1"}, {"--optlevel", "1"}, {"--optlevel=1"}})
    CHECK(parsed(args).text(Opt::optlevel) == "1");
}

TEST_CASE("later occurrences win and lists grow", "[driver]") {
  const Options options = parsed({"--target=trn1", "--tool", "a=b", "--target", "trn2", "--tool=c=d"});
  CHECK(options.text(Opt::target) == "trn2");
  CHECK(options.list(Opt::tool) == std::vector<std::string>{"a=/launch/b", "c=/launch/d"});
}

TEST_CASE("paths resolve against the launch folder", "[driver]") {
  const Options options = parsed({"m.pb", "-o", "../x.neff"});
  CHECK(options.models() == std::vector<std::string>{"/launch/m.pb"});
  CHECK(options.text(Opt::output) == "/x.neff");
  CHECK(options.text(Opt::logfile) == "/launch/log-neuron-cc.txt");
}

TEST_CASE("an optional value is never taken from the next word", "[driver]") {
  const Options options = parsed({"--verify", "m.pb"});
  CHECK(options.used(Opt::verify));
  CHECK(options.text(Opt::verify).empty());
  CHECK(options.models().size() == 1);
  CHECK(parsed({"--verify=Frontend"}).text(Opt::verify) == "Frontend");
}

TEST_CASE("enable and disable are two spellings of one option", "[driver]") {
  CHECK(parsed({}).flag(Opt::dge));
  CHECK_FALSE(parsed({"--disable-dge"}).flag(Opt::dge));
  CHECK(parsed({"--disable-dge", "--enable-dge"}).flag(Opt::dge));
  CHECK(parsed({"--save-temps=Yes"}).flag(Opt::save_temps));
}

TEST_CASE("bad options are named", "[driver]") {
  CHECK(code_of({"--optlevel", "7"}) == "EARG001");
  CHECK(code_of({"--job-timeout=soon"}) == "EARG001");
  CHECK(code_of({"--target"}) == "EARG001");
  CHECK(code_of({"--dry-run=perhaps"}) == "EARG001");
  CHECK(code_of({"--no-such-option"}) == "EARG002");
  CHECK(code_of({"-x"}) == "EARG002");
  CHECK(code_of({"--partition"}) == "EARG003");
  CHECK(code_of({"--neuroncore-pipeline-cores=1"}).empty());
  CHECK(code_of({"--neuroncore-pipeline-cores=2"}) == "EARG003");
  CHECK(code_of({"--io-config="}) == "EARG001");
}

TEST_CASE("deprecated spellings mean another option and warn", "[driver]") {
  const Options options = parsed({"--num-neuroncores=2"});
  CHECK(options.text(Opt::lnc) == "2");
  CHECK(options.used(Opt::lnc));
  REQUIRE(options.warnings().size() == 1);
  CHECK(options.warnings()[0] == "--num-neuroncores is deprecated, use --lnc");
}

TEST_CASE("an option may stand for others, and later words still win", "[driver]") {
  CHECK(parsed({"--distribution-type-llm-training"}).text(Opt::distribution_strategy) == "llm-training");
  const Options legacy = parsed({"--enable-experimental-tensorized-scheduler"});
  CHECK(legacy.flag(Opt::standalone_legacy));
  CHECK_FALSE(legacy.flag(Opt::new_backend));
  const Options undone =
      parsed({"--enable-experimental-tensorized-scheduler", "--disable-internal-standalone-legacy"});
  CHECK_FALSE(undone.flag(Opt::standalone_legacy));
  CHECK(parsed(undone.to_argv()).to_argv() == undone.to_argv());
}

TEST_CASE("sizes have units", "[driver]") {
  CHECK(parsed({"--job-memory-limit=1536"}).bytes(Opt::job_memory) == 1536);
  CHECK(parsed({"--job-memory-limit", "2G"}).bytes(Opt::job_memory) == int64_t{2} << 30);
  for (const char* bad : {"", "G", "-1", "1Q", "1GB", "9999999999T"})
    CHECK(code_of({std::string("--job-memory-limit=") + bad}) == "EARG001");
}

TEST_CASE("all unknown options are named, each with the nearest known one", "[driver]") {
  const Result<Options> options = parse_options({"--verbos=1", "m.pb", "--targt", "trn2"}, "/launch");
  REQUIRE_FALSE(options.is_ok());
  const std::string text = options.status().diagnostic().to_string();
  CHECK(text.find("'--verbos, --targt'") != std::string::npos);
  CHECK(text.find("'--verbose, --target'") != std::string::npos);
}

TEST_CASE("internal options are those that say so in their name", "[driver]") {
  for (const OptionRow& option : all_options()) {
    std::string name = option.spelling;
    while (name.starts_with('-')) name = name.substr(1);
    INFO(name);
    if (name.starts_with("internal-")) CHECK(option.kind == OptionKind::Internal);
  }
}

TEST_CASE("completion offers public options and the choices of all", "[driver]") {
  const std::string script = bash_completion({"compile", "run"});
  CHECK(script.find(" --target ") != std::string::npos);
  CHECK(script.find("--optlevel|-O) COMPREPLY=($(compgen -W \"0 1 2 3\"") != std::string::npos);
  CHECK(script.find("compgen -W \"compile run\"") != std::string::npos);
  CHECK(script.find(" --fork-subcommand ") == std::string::npos);
}

TEST_CASE("the frameworks' command lines are accepted", "[driver]") {
  CHECK(code_of({"--target=trn1", "--framework=XLA", "M.hlo_module.pb", "--output", "M.neff",
                 "--model-type=transformer", "--auto-cast=none", "--execute-repetition=1", "--verbose=35"})
            .empty());
  CHECK(code_of({"g.hlo", "--framework", "XLA", "--target", "trn1", "--output", "g.neff",
                 "--tensorizer-options=--a --b=2 ", "-O1", "--internal-num-neuroncores-per-sengine=1",
                 "--logfile=L", "--enable-internal-neff-wrapper", "--verbose=35"})
            .empty());
  const Options options = parsed({"penguin.py", "--pipeline", "compile", "SaveTemps", "--target", "trn2"});
  CHECK(options.list(Opt::pipeline) == std::vector<std::string>{"compile", "SaveTemps"});
}

TEST_CASE("resolved options parse to themselves", "[driver]") {
  const Options first = parsed({"m.pb", "-O1", "--verify=Frontend", "--inputs=in", "--disable-dge",
                                "--save-temps", "--tool=a=b", "--tool=c=d", "--dry-run"});
  const Options second = parsed(first.to_argv());
  CHECK(first.to_argv() == second.to_argv());
  CHECK(second.text(Opt::inputs) == "/launch/in");
  CHECK_FALSE(second.flag(Opt::dry_run));
}

TEST_CASE("a Penguin file of the NKI flow is accepted", "[driver]") {
  CHECK(code_of({"--framework", "XLA", "penguin.py", "--internal-tensorizer-opt-level=nki", "--pipeline",
                 "compile", "SaveTemps", "--target", "trn2"})
            .empty());
}

TEST_CASE("every row has help and a legal default", "[driver]") {
  std::set<std::string> seen;
  for (const OptionRow& option : all_options()) {
    INFO(option.spelling);
    CHECK_FALSE(option.help.empty());
    for (const std::string& name : option.spellings()) CHECK(seen.insert(name).second);
    const auto& choices = option.choices;
    if (!choices.empty() && !option.default_value.empty())
      CHECK(std::find(choices.begin(), choices.end(), option.default_value) != choices.end());
    if (option.is_boolean()) CHECK((option.default_value == "true" || option.default_value == "false"));
  }
}

}  // namespace
}  // namespace ncc::driver
