#include "driver/plan.h"

#include <catch2/catch.hpp>

namespace ncc::driver {
namespace {

Result<Plan> planned(const std::vector<std::string>& args, const std::string& pipeline_file = "") {
  std::vector<pipelines::File> files = pipelines::built_in_files();
  if (!pipeline_file.empty()) files.push_back({"mine.yaml", pipeline_file});
  Result<Registry> registry = load_registry(files);
  REQUIRE(registry.is_ok());
  const Result<Options> options = parse_options(args, "/launch");
  if (!options.is_ok()) return options.status();
  return plan_compile(options.value(), registry.value(),
                      [](const std::string& tool) { return "/bin/" + tool; });
}

std::vector<std::string> names(const std::vector<std::string>& args) {
  const Result<Plan> plan = planned(args);
  INFO((plan.is_ok() ? "" : plan.status().diagnostic().to_string()));
  REQUIRE(plan.is_ok());
  std::vector<std::string> jobs;
  for (const Job& job : plan.value().jobs) jobs.push_back(job.name);
  return jobs;
}

std::string failure(const std::vector<std::string>& args) {
  const Result<Plan> plan = planned(args);
  return plan.is_ok() ? "" : plan.status().diagnostic().to_string();
}

using Names = std::vector<std::string>;

TEST_CASE("the default list is front, walrus, backend", "[driver]") {
  CHECK(names({"m.pb"}) == Names{"HLOToTensorizer", "XLAInferGoldens", "Frontend", "StaticIOTranspose",
                                 "WalrusDriver", "Kelper"});
}

TEST_CASE("gates add and remove jobs", "[driver]") {
  CHECK(names({"m.pb", "--meta-module=4"}) == Names{"HLOToTensorizer", "Frontend", "WalrusDriver", "Kelper"});
  CHECK(names({"m.pb", "--enable-internal-neff-wrapper"}).back() == "NeffWrapper");
  CHECK(names({"m.pb", "--verify", "--inputs", "in"}).back() == "NeuronSim");
  CHECK(names({"m.pb", "--verify"}).back() == "NeuronSim");
  CHECK(names({"m.pb", "--verify=Frontend", "--inputs", "in"}).back() == "Kelper");
  CHECK(failure({"m.pb", "--verify=Neuronsim"}).find("EDRV010") != std::string::npos);
}

TEST_CASE("goldens are listed but not started without inputs", "[driver]") {
  CHECK_FALSE(planned({"m.pb"}).value().jobs[1].skip_reason.empty());
  CHECK(planned({"m.pb", "--inputs", "in"}).value().jobs[1].skip_reason.empty());
}

TEST_CASE("a Penguin model skips the front tools", "[driver]") {
  const Plan plan = planned({"dir/penguin.pb"}).take();
  CHECK(plan.jobs[0].skip_reason == "the model is Penguin IR already");
  CHECK(plan.jobs[2].args[1] == "penguin.pb");
  CHECK(plan.imports[0] == Import{"/launch/dir/penguin.pb", "penguin.pb", true});
  CHECK(plan.imports[1] == Import{"/launch/dir/constants.bin", "constants.bin", false});
  CHECK(planned({"penguin.py"}).value().jobs[2].args[1] == "penguin.py");
  CHECK(planned({"dir/penguin.pb", "--temp-dir=w", "--from-job=Frontend"}).value().imports.empty());
}

TEST_CASE("target aliases become the family", "[driver]") {
  CHECK(planned({"m.pb", "--target=inf2"}).value().target == "trn1");
  CHECK(planned({"m.pb", "--target=trn1", "--arch=gen3"}).value().target == "trn2");
  CHECK(failure({"m.pb", "--target=trn9"}).find("did you mean 'trn") != std::string::npos);
  CHECK(failure({"m.pb", "--target=inf1"}).find("EARG003") != std::string::npos);
}

TEST_CASE("two physical cores are refused on trn1 and warned about on trn2", "[driver]") {
  CHECK(failure({"m.pb", "--target=trn1", "--lnc=2"}).find("EARG001") != std::string::npos);
  CHECK(planned({"m.pb", "--target=trn2", "--lnc=2"}).value().warnings.size() == 1);
  CHECK(failure({"m.pb", "--target=trn1", "--lnc=2", "--meta-module=1"}).empty());
}

TEST_CASE("part of the list can be run", "[driver]") {
  CHECK(names({"m.pb", "--to-job=Frontend"}).back() == "Frontend");
  CHECK(planned({"m.pb", "--to-job=Frontend"}).value().output.empty());
  CHECK(names({"m.pb", "--temp-dir=w", "--from-job=WalrusDriver"}) == Names{"WalrusDriver", "Kelper"});
  CHECK(names({"m.pb", "--temp-dir=w", "--pipeline", "Kelper"}) == Names{"Kelper"});
  CHECK(names({"m.pb", "--temp-dir=w", "--pipeline", "Frontend", "Kelper"}) == Names{"Frontend", "Kelper"});
  CHECK(names({"m.pb", "--pipeline", "compile", "BIRVerifier"}).back() == "BIRVerifier");
  CHECK(names({"m.pb", "--pipeline", "HLOToTensorizer"}) == Names{"HLOToTensorizer"});
  CHECK(failure({"m.pb", "--pipeline", "Kelper"}).find("--pipeline Kelper needs --temp-dir") !=
        std::string::npos);
  CHECK(failure({"m.pb", "--pipeline", "Kelpr"}).find("did you mean 'Kelper'") != std::string::npos);
  CHECK(planned({"m.pb", "--pipeline", "compile", "SaveTemps"}).value().keep_work_dir);
  CHECK(failure({"m.pb", "--from-job=WalrusDriver"}).find("--temp-dir") != std::string::npos);
  CHECK(failure({"m.pb", "--temp-dir=w", "--from-job=Kelper", "--to-job=Frontend"}).find("comes after") !=
        std::string::npos);
  CHECK(failure({"m.pb", "--to-job=WalrusDrivr"}).find("did you mean 'WalrusDriver'") != std::string::npos);
}

TEST_CASE("a tool is overridden by its own or its job's name", "[driver]") {
  CHECK(planned({"m.pb", "--tool", "Kelper=/x/p"}).value().jobs[5].executable == "/x/p");
  CHECK(planned({"m.pb", "--tool", "neff-packager=p"}).value().jobs[5].executable == "/launch/p");
  CHECK(planned({"m.pb"}).value().jobs[5].executable == "/bin/neff-packager");
  CHECK(failure({"m.pb", "--tool", "kelper=/x"}).find("did you mean 'Kelper'") != std::string::npos);
  CHECK(failure({"m.pb", "--tool", "Kelper"}).find("NAME=PATH") != std::string::npos);
}

TEST_CASE("options are forwarded to the jobs of their row", "[driver]") {
  const Plan plan = planned({"m.pb", "--internal-max-instruction-limit=7", "--internal-print-after=x",
                             "--internal-print-after=y", "--internal-backend-options=--a  --b=1"})
                        .take();
  const std::vector<std::string>& walrus = plan.jobs[4].args;
  CHECK(std::vector<std::string>(walrus.end() - 4, walrus.end()) ==
        Names{"--print-after=y", "--max-instructions=7", "--a", "--b=1"});
  const Plan unchanged = planned({"m.pb", "--auto-cast=none"}).take();
  for (const std::string& arg : unchanged.jobs[0].args) CHECK(arg.find("auto-cast") == std::string::npos);
}

TEST_CASE("pass lists follow the level and lose skipped passes", "[driver]") {
  const std::string file = "passes: {Frontend: {O1: [a], O2: [a, b, c], O3: O2}}";
  CHECK(planned({"m.pb"}, file).value().jobs[2].args.back() == "--passes=a,b,c");
  CHECK(planned({"m.pb", "-O1"}, file).value().jobs[2].args.back() == "--passes=a");
  CHECK(planned({"m.pb", "-O3", "--skip-pass=b"}, file).value().jobs[2].args.back() == "--passes=a,c");
  CHECK(planned({"m.pb", "--skip-pass=unlisted"}).value().jobs[2].args.back() == "--skip-pass=unlisted");
  CHECK(planned({"m.pb", "--skip-pass=birverifier"}).value().jobs[2].args.back() == "--verbose=info");
}

TEST_CASE("a model is needed, and one only", "[driver]") {
  CHECK(failure({}).find("no model file") != std::string::npos);
  CHECK(failure({"a.pb", "b.pb"}).find("found 2") != std::string::npos);
}

}  // namespace
}  // namespace ncc::driver
