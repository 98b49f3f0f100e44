// penguin_case CASE_FOLDER...: lowers a case's models, interprets the Penguin and compares with the expected
// outputs, by the rule of the case's meta.json. Prints one line per case; exits 1 when any differs.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files/files.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/penguin/interpret.h"
#include "ir-formats/penguin/io.h"
#include "ir-formats/penguin/verify.h"
#include "tools/hlo-opt/passes/cleanup/algebraic_identities.h"
#include "tools/hlo-opt/passes/cleanup/common_subexpression_elim.h"
#include "tools/hlo-opt/passes/cleanup/compose_accesses.h"
#include "tools/hlo-opt/passes/cleanup/dead_code_elim.h"
#include "tools/hlo-opt/passes/cleanup/fold.h"
#include "tools/hlo2penguin/lower.h"

namespace ncc {
namespace {

namespace fs = std::filesystem;

struct Rule {
  double rtol, atol;
  int64_t stride = 1;
  bool exact_ints = true;
};

std::string compare(const Array& got, const Array& want, const Rule& rule, double& worst) {
  Result<Array> expected = reinterpret(want, got.dtype, "expected output");
  if (!expected.is_ok()) return expected.status().diagnostic().cause;
  const int64_t size = size_bytes(got.dtype);
  int64_t bad = 0;
  std::string first;
  for (int64_t i = 0; i < expected->num_elements(); ++i) {
    const int64_t at = i * rule.stride;
    if (at >= got.num_elements()) return "the output is too small";
    const double a = load_as_double(got.dtype, got.bytes.data() + at * size),
                 e = load_as_double(got.dtype, expected->bytes.data() + i * size);
    const bool exact = !is_float(got.dtype) && rule.exact_ints;
    const double difference = std::fabs(a - e);
    const bool same = a == e || (std::isnan(a) && std::isnan(e)) ||
                      (!exact && difference <= rule.atol + rule.rtol * std::fabs(e));
    if (std::isfinite(difference)) worst = std::max(worst, difference);
    if (!same && bad++ == 0) first = fmt::format("element {}: got {}, expected {}", at, a, e);
  }
  return bad == 0 ? "" : fmt::format("{} of {} differ; {}", bad, expected->num_elements(), first);
}

Result<std::vector<Array>> read_inputs(const fs::path& folder) {
  std::vector<Array> inputs;
  for (int i = 0;; ++i) {
    const fs::path path = folder / fmt::format("{:03}.npy", i);
    if (!fs::exists(path)) return inputs;
    NCC_ASSIGN(Array array, read_npy(path.string()));
    inputs.push_back(std::move(array));
  }
}

Status clean_up(penguin::Module& module) {
  for (const auto pass : {hlo_opt::fold, hlo_opt::algebraic_identities, hlo_opt::compose_accesses,
                          hlo_opt::common_subexpression_elim, hlo_opt::dead_code_elim}) {
    NCC_TRY(pass(module));
    NCC_TRY(penguin::verify(module));
  }
  return Status::ok();
}

std::string check(const fs::path& folder, const std::string& model_name, bool cleans, double& worst) {
  const auto run = [&]() -> Result<std::vector<Array>> {
    NCC_ASSIGN(const std::unique_ptr<hlo::Module> model, hlo::read_module((folder / model_name).string()));
    penguin::Module module;
    hlo2penguin::ConstantStore constants;
    hlo2penguin::Lowering lowering(module, constants);
    NCC_TRY(lowering.run(*model));
    NCC_TRY(penguin::verify(module));
    if (cleans) NCC_TRY(clean_up(module));
    const fs::path work = fs::temp_directory_path() / fmt::format("penguin_case.{}", ::getpid());
    fs::create_directories(work);
    NCC_TRY(constants.write((work / "constants.bin").string()));
    NCC_TRY(penguin::write_module(module, (work / "penguin.pb").string()));
    NCC_ASSIGN(const std::vector<Array> inputs, read_inputs(folder / "inputs"));
    Result<std::vector<Array>> outputs = penguin::run_file((work / "penguin.pb").string(), inputs);
    fs::remove_all(work);
    return outputs;
  };
  Result<std::vector<Array>> outputs = run();
  if (!outputs.is_ok()) return outputs.status().diagnostic().to_string();
  const nlohmann::json meta = nlohmann::json::parse(read_file((folder / "meta.json").string()).value());
  Rule rule{meta.value("rtol", 0.0), meta.value("atol", 0.0), 1, true};
  for (size_t i = 0; i < outputs->size(); ++i) {
    const fs::path whole = folder / "expected" / fmt::format("{:03}.npy", i),
                   sample = folder / "expected" / fmt::format("{:03}.sample.npy", i);
    rule.stride = fs::exists(whole) ? 1 : meta.value("sample_stride", int64_t{1});
    Result<Array> want = read_npy((fs::exists(whole) ? whole : sample).string());
    if (!want.is_ok()) return want.status().diagnostic().to_string();
    const std::string difference = compare(outputs.value()[i], want.value(), rule, worst);
    if (!difference.empty()) return fmt::format("output {}: {}", i, difference);
  }
  return "";
}

}  // namespace
}  // namespace ncc

int main(int argc, char** argv) {
  int failed = 0;
  for (int i = 1; i < argc; ++i) {
    for (const char* model : {"model.hlo.pb", "model.mlir"}) {
      if (!ncc::fs::exists(ncc::fs::path(argv[i]) / model)) continue;
      double worst = 0;
      std::string result;
      try {
        for (const bool cleans : {false, true})
          if (result.empty()) result = ncc::check(argv[i], model, cleans, worst);
      } catch (const std::exception& failure) {
        result = failure.what();
      }
      failed += result.empty() ? 0 : 1;
      fmt::print("{:<28} {:<13} {}\n", ncc::fs::path(argv[i]).filename().string(), model,
                 result.empty() ? fmt::format("pass (worst {:.2g})", worst) : result);
      std::fflush(stdout);
    }
  }
  return failed == 0 ? 0 : 1;
}
