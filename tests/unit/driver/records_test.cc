#include "driver/records.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "driver/crash_bundle.h"
#include "driver/documents.h"
#include "driver/progress.h"

namespace ncc::driver {
namespace {

struct Finished {
  Finished() {
    plan.model = "/m.pb";
    plan.target = "trn2";
    plan.jobs = {{"A", "a", "/bin/a", {}, {}, {}, {}, ""}, {"B", "b", "/bin/b", {}, {}, {}, {}, ""}};
    plan.jobs[0].state = {{"penguin", "penguin.pb"}};
    plan.jobs[1].state = {{"bir", "{sg}/bir.pb"}};
    outcome.records.resize(2);
    outcome.records[0].status = JobStatus::Done;
    outcome.records[0].exit.wall_s = 0.5;
    outcome.records[0].passes = {{"layout", 0.25}};
    outcome.records[1].status = JobStatus::Cached;
    outcome.wall_s = 0.75;
  }
  Plan plan;
  Outcome outcome;
  Options options = parse_options({"m.pb", "--tool=a=x", "-O1"}, "/launch").take();
};

TEST_CASE("the state lists root and subgraphs with what jobs added", "[driver]") {
  const Finished f;
  const RunContext context{"/w", {"-O1"}, "/bin", f.options};
  const auto json =
      nlohmann::json::parse(state_text(f.plan, context, f.outcome, std::nullopt, {"sg00", "sg01"}));
  REQUIRE(json["states"].size() == 3);
  CHECK(json["states"][0]["state_id"] == "root");
  CHECK(json["states"][0]["penguin"] == "penguin.pb");
  CHECK(json["states"][2]["bir"] == "sg01/bir.pb");
  CHECK(json["states"][2]["state_dir"] == "/w/sg01");
  CHECK(json["options"]["optlevel"] == "1");
  CHECK(json["options"]["optlevel_Used"] == true);
  CHECK_FALSE(json["options"].contains("target_Used"));
}

TEST_CASE("an earlier state of any shape is survived", "[driver]") {
  const Finished f;
  const RunContext context{"/w", {}, "/bin", f.options};
  for (const char* earlier :
       {"", "[]", "{\"jobs\": 3}", "{\"jobs\": [1, {\"name\": 4}, {\"name\": \"Z\"}]}", "{"})
    CHECK_FALSE(
        nlohmann::json::parse(state_text(f.plan, context, f.outcome, std::string(earlier), {})).is_null());
}

TEST_CASE("the time report has a line per job and pass", "[driver]") {
  const Finished f;
  const std::string text = time_report(f.plan, f.outcome);
  CHECK(text.find("A ") != std::string::npos);
  CHECK(text.find("  layout ") != std::string::npos);
  CHECK(text.find("B (cached)") != std::string::npos);
  CHECK(text.find("driver") != std::string::npos);
  const auto json = nlohmann::json::parse(metrics_text(f.plan, f.outcome));
  CHECK(json["jobs"][0]["passes"][0]["name"] == "layout");
  CHECK(json["driver_overhead_s"] == 0.25);
}

TEST_CASE("pass times are read from what a tool left, and from nothing else", "[driver]") {
  CHECK(read_pass_times(R"({"passes": [{"name": "x", "wall_us": 1500}]})")[0].wall_s == 0.0015);
  for (const char* bad : {"", "[]", "{}", R"({"passes": 1})", R"({"passes": [{"name": 1, "wall_us": 2}]})"})
    CHECK(read_pass_times(bad).empty());
}

TEST_CASE("the progress line names job, pass and time", "[driver]") {
  CHECK(progress_line(2, 6, "Frontend", "layout", 1.25) == "[3/6] Frontend: layout 1.2 s");
  CHECK(progress_line(0, 6, "Kelper", "", 0) == "[1/6] Kelper 0.0 s");
}

TEST_CASE("a bundle that cannot be written is a named failure", "[driver]") {
  const Finished f;
  const Status status = write_crash_bundle("/no/such/folder/b.tar", f.plan, "A", "/w", "c", "v");
  REQUIRE_FALSE(status.is_ok());
  CHECK(status.diagnostic().code == Code::EFIL002);
}

TEST_CASE("the documents have a row for every option, job and code", "[driver]") {
  const std::string options = document("options");
  for (const OptionRow& option : all_options())
    for (const std::string& name : option.spellings())
      CHECK(options.find("`" + name + "`") != std::string::npos);
  const std::string codes = document("diagnostics");
  for (const CodeInfo& code : all_codes())
    CHECK(codes.find("| " + std::string(code.name) + " |") != std::string::npos);
  const Result<Registry> registry = load_registry(pipelines::built_in_files());
  for (const std::string& name : registry.value().job_names())
    CHECK(document("jobs").find("| " + name + " |") != std::string::npos);
  CHECK(document("weather").empty());
}

}  // namespace
}  // namespace ncc::driver
