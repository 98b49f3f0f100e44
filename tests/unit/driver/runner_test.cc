#include "driver/runner.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/unit/driver/fake_host.h"

namespace ncc::driver {
namespace {

/// Three jobs in a row, a -> b -> c, where b has a condition on a's output.
class Fixture {
 public:
  Fixture() {
    plan.model = "/launch/m.pb";
    plan.target = "trn2";
    plan.jobs = {{"A", "a", "/bin/a", {"--x"}, {"/launch/m.pb"}, {"a.out"}, {}, ""},
                 {"B", "b", "/bin/b", {}, {"a.out"}, {}, {"has_io_transposes"}, ""},
                 {"C", "c", "/bin/c", {}, {"a.out"}, {"c.out"}, {}, ""}};
    host.files["/launch/m.pb"] = "model";
    host.tools["a"].writes = {"a.out"};
    host.tools["c"].writes = {"c.out"};
  }
  Outcome run() { return run_plan(plan, {"/w", {"-O1"}, "/bin", options}, host, logger); }
  nlohmann::json json(const std::string& path) { return nlohmann::json::parse(host.files.at(path)); }

  Plan plan;
  FakeHost host;
  Options options = parse_options({"m.pb"}, "/launch").take();
  log::Logger logger{{log::Level::Off}};
};

using Names = std::vector<std::string>;

TEST_CASE("jobs run in order and unmet conditions skip them", "[driver]") {
  Fixture f;
  const Outcome outcome = f.run();
  CHECK_FALSE(outcome.failure.failed());
  CHECK(f.host.started == Names{"a", "c"});
  CHECK(outcome.records[1].status == JobStatus::NotStarted);
  CHECK(outcome.records[1].reason == "io_transposes.json holds no transposes");
}

TEST_CASE("a run-time condition is looked at when the job's turn comes", "[driver]") {
  Fixture f;
  f.host.files["/w/io_transposes.json"] = "[]";
  f.run();
  CHECK(f.host.started == Names{"a", "c"});
  f.host.files["/w/io_transposes.json"] = R"([{"input_name":"x"}])";
  f.run();
  CHECK(f.host.started == Names{"a", "c", "a", "b", "c"});
}

TEST_CASE("a killed job stops the plan and is reported as F137", "[driver]") {
  Fixture f;
  f.host.tools["a"].exit = {process::ExitKind::Signaled, SIGKILL, 1, 1 << 20, ""};
  const Outcome outcome = f.run();
  CHECK(f.host.started == Names{"a"});
  CHECK(outcome.failure.code == "F137");
  CHECK(outcome.failed_job == "A");
  CHECK(outcome.records[2].status == JobStatus::Pending);
}

TEST_CASE("a job that leaves no output fails although it ended well", "[driver]") {
  Fixture f;
  f.host.tools["c"].writes = {};
  f.host.files["/w/c.out"] = "stale";
  const Outcome outcome = f.run();
  CHECK(outcome.failure.code == "EDRV003");
  CHECK(outcome.failure.exit_status == 70);
  CHECK_FALSE(f.host.files.contains("/w/c.out"));
}

TEST_CASE("a job whose input is missing is not started", "[driver]") {
  Fixture f;
  f.plan.jobs.erase(f.plan.jobs.begin());
  const Outcome outcome = f.run();
  CHECK(f.host.started.empty());
  CHECK(outcome.failure.code == "EDRV012");
  CHECK(outcome.failure.exit_status == 1);
}

TEST_CASE("imports are copied before the first job, optional ones only when they are there", "[driver]") {
  Fixture f;
  f.plan.imports = {{"/launch/m.pb", "penguin.pb", true}, {"/launch/constants.bin", "constants.bin", false}};
  CHECK_FALSE(f.run().failure.failed());
  CHECK(f.host.files.at("/w/penguin.pb") == "model");
  CHECK_FALSE(f.host.files.contains("/w/constants.bin"));
  f.plan.imports[1].required = true;
  CHECK(f.run().failure.code == "EFIL001");
}

TEST_CASE("an optional output may be missing but is never a stale one", "[driver]") {
  Fixture f;
  f.plan.jobs[2].may_write = {"extra"};
  f.host.files["/w/extra"] = "stale";
  CHECK_FALSE(f.run().failure.failed());
  CHECK_FALSE(f.host.files.contains("/w/extra"));
}

TEST_CASE("a job for each subgraph runs once per folder", "[driver]") {
  Fixture f;
  f.plan.jobs[2].for_each_subgraph = true;
  f.plan.jobs[2].args = {"--in", "{sg}/x"};
  f.plan.jobs[2].reads = {"{sg}/x"};
  f.plan.jobs[2].writes = {};
  f.host.files["/w/sg00/x"] = "1";
  f.host.files["/w/sg01/x"] = "1";
  f.host.files["/w/sgLnk/x"] = "1";
  f.host.tools["c"].stdout_lines = {"a line"};
  const Outcome outcome = f.run();
  CHECK_FALSE(outcome.failure.failed());
  CHECK(f.host.started == Names{"a", "c", "c"});
  CHECK(f.host.files.at("/w/replay_C.sg01.sh").find("--in sg01/x") != std::string::npos);
  CHECK(f.host.files.contains("/w/log/C.sg00.log"));
}

/// A job for each subgraph that may be cached: c reads x and writes y.
struct SubgraphFixture : Fixture {
  SubgraphFixture() {
    plan.jobs = {{"C", "c", "/bin/c", {"--in", "{sg}/x"}, {"{sg}/x"}, {}, {}, ""}};
    plan.jobs[0].for_each_subgraph = true;
    plan.jobs[0].may_write = {"{sg}/y"};
    host.tools["c"].stdout_lines = {"a line"};
  }
};

TEST_CASE("equal subgraphs are compiled once and share the result", "[driver]") {
  SubgraphFixture f;
  f.plan.jobs[0].cacheable = true;
  f.host.tools["c"].writes = {"sg00/y"};
  f.host.files["/w/sg00/x"] = "layer";
  f.host.files["/w/sg01/x"] = "head";
  f.host.files["/w/sg02/x"] = "layer";
  f.host.files["/w/sg02/y"] = "stale";
  const Outcome outcome = f.run();
  CHECK_FALSE(outcome.failure.failed());
  CHECK(f.host.started == Names{"c", "c"});
  CHECK(f.host.files.at("/w/sg02/y") == "content");
  CHECK(f.host.files.contains("/w/replay_C.sg02.sh"));
  // What depends on more than its inputs runs each time.
  f.plan.jobs[0].cacheable = false;
  f.host.started.clear();
  f.run();
  CHECK(f.host.started == Names{"c", "c", "c"});
}

TEST_CASE("subgraphs of several cores lie in the folders of the cores", "[driver]") {
  SubgraphFixture f;
  f.host.files["/w/nc00/sg00/x"] = "1";
  f.host.files["/w/nc01/sg00/x"] = "2";
  f.host.files["/w/ncx/x"] = "no core";
  CHECK_FALSE(f.run().failure.failed());
  CHECK(f.host.started == Names{"c", "c"});
  CHECK(f.host.files.contains("/w/log/C.nc01.sg00.log"));
  CHECK(f.host.files.at("/w/replay_C.nc00.sg00.sh").find("--in nc00/sg00/x") != std::string::npos);
  f.host.files["/w/nc02/tensor_map.json"] = "{}";
  const Outcome outcome = f.run();
  CHECK(outcome.failure.code == "EDRV080");
  CHECK(outcome.failure.headline.find("'nc02'") != std::string::npos);
  CHECK(outcome.failed_job == "C");
}

TEST_CASE("a job can be run for some of the subgraphs", "[driver]") {
  SubgraphFixture f;
  for (const char* name : {"sg00", "sg01", "sg02"}) f.host.files[fmt::format("/w/{}/x", name)] = "1";
  f.plan.subgraphs = {"sg02", "sg00"};
  CHECK_FALSE(f.run().failure.failed());
  CHECK(f.host.files.contains("/w/replay_C.sg02.sh"));
  CHECK_FALSE(f.host.files.contains("/w/replay_C.sg01.sh"));
}

TEST_CASE("a result that is cut off is blamed on the job that left it", "[driver]") {
  Fixture f;
  f.plan.jobs[0].writes = {"a.out"};
  f.plan.jobs[0].may_write = {"a.json"};
  f.plan.jobs[0].reads.push_back("a.json");  // so that it is not removed first
  f.host.files["/w/a.json"] = "{\"a\": [";
  const Outcome outcome = f.run();
  CHECK(outcome.failure.code == "EDRV003");
  CHECK(outcome.failure.headline.find("a.json (it is cut off)") != std::string::npos);
  CHECK(outcome.failed_job == "A");
}

TEST_CASE("without subgraphs the missing input is named", "[driver]") {
  Fixture f;
  f.plan.jobs[2].for_each_subgraph = true;
  f.plan.jobs[2].reads = {"{sg}/x"};
  const Outcome outcome = f.run();
  CHECK(outcome.failure.code == "EDRV012");
  CHECK(outcome.failure.headline.find("'sg00/x'") != std::string::npos);
}

TEST_CASE("a job whose exit is not propagated does not stop the plan", "[driver]") {
  Fixture f;
  f.plan.jobs[0].propagate_exit = false;
  f.plan.jobs[2].reads = {};
  f.host.tools["a"].exit.value = 3;
  const Outcome outcome = f.run();
  CHECK_FALSE(outcome.failure.failed());
  CHECK(outcome.records[0].status == JobStatus::Ignored);
  CHECK(f.host.started == Names{"a", "c"});
}

TEST_CASE("a failure on a full disk is the disk's", "[driver]") {
  Fixture f;
  f.host.free = 100;
  f.host.tools["a"].exit.value = 1;
  CHECK(f.run().failure.code == "EDRV009");
  f.host.tools["a"].exit.value = 0;
  f.host.tools["a"].writes = {};
  CHECK(f.run().failure.code == "EDRV009");
}

TEST_CASE("an empty output fails the job unless it may be empty", "[driver]") {
  Fixture f;
  f.host.tools["a"].writes = {};
  f.plan.jobs[0].reads.push_back("a.out");  // so that it is not removed first
  f.host.files["/w/a.out"] = "";
  CHECK(f.run().failure.code == "EDRV012");
  f.plan.jobs[0].reads = {};
  f.host.empty_writes = {"a.out"};
  CHECK(f.run().failure.headline.find("a.out (it is empty)") != std::string::npos);
  f.plan.jobs[0].may_be_empty = {"a.out"};
  f.plan.jobs[2].reads = {};
  CHECK_FALSE(f.run().failure.failed());
}

TEST_CASE("results out of the cache start no process", "[driver]") {
  struct Always : JobCache {
    bool restore(const Job&, const std::string&) override { return true; }
    void store(const Job&, const std::string&) override {}
  } cache;
  Fixture f;
  f.plan.jobs[0].cacheable = true;
  f.host.files["/w/a.out"] = "1";
  f.plan.jobs[2].reads = {};
  const Outcome outcome = run_plan(f.plan, {"/w", {}, "/bin", f.options, &cache}, f.host, f.logger);
  CHECK(outcome.records[0].status == JobStatus::Cached);
  CHECK(f.host.started == Names{"c"});
}

TEST_CASE("an interruption between jobs starts no further one", "[driver]") {
  Fixture f;
  f.host.signal = SIGTERM;
  const Outcome outcome = f.run();
  CHECK(f.host.started.empty());
  CHECK(outcome.failure.exit_status == 143);
}

TEST_CASE("state and metrics tell every job's fate", "[driver]") {
  Fixture f;
  f.host.tools["a"].exit.wall_s = 0.5;
  f.host.tools["a"].exit.peak_rss_bytes = 4096;
  f.host.tools["c"].exit.value = 70;
  f.run();
  const nlohmann::json state = f.json("/w/state.json");
  CHECK(state["work_dir"] == "/w");
  CHECK(state["command"] == Names{"-O1"});
  CHECK(state["jobs"][0]["status"] == "done");
  CHECK(state["jobs"][0]["argv"] == Names{"/bin/a", "--x"});
  CHECK(state["jobs"][1]["status"] == "not started");
  CHECK(state["jobs"][2]["status"] == "failed");
  const nlohmann::json metrics = f.json("/w/global_metric_store.json");
  CHECK(metrics["exit_status"] == 70);
  CHECK(metrics["jobs"][0]["wall_s"] == 0.5);
  CHECK(metrics["jobs"][0]["peak_rss_bytes"] == 4096);
}

TEST_CASE("a restart keeps the records of the jobs before it", "[driver]") {
  Fixture f;
  f.run();
  f.plan.jobs.erase(f.plan.jobs.begin(), f.plan.jobs.begin() + 2);
  f.run();
  const nlohmann::json jobs = f.json("/w/state.json")["jobs"];
  REQUIRE(jobs.size() == 3);
  CHECK(jobs[0]["name"] == "A");
  CHECK(jobs[2]["name"] == "C");
}

TEST_CASE("both outputs of a job are in its log", "[driver]") {
  Fixture f;
  f.host.tools["a"].stdout_lines = {"one"};
  f.host.tools["a"].stderr_lines = {"two"};
  f.run();
  CHECK(f.host.files.at("/w/log/A.log") == "one\ntwo\n");
  CHECK(f.host.files.at("/w/replay_A.sh").find("exec /bin/a --x") != std::string::npos);
}

}  // namespace
}  // namespace ncc::driver
