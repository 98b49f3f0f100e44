// Format: the corpus README; DESIGN §12.
#include "tools/hlo-check/corpus_case.h"

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files/files.h"
#include "common/npy/array_folder.h"
#include "common/process/process.h"
#include "ir-formats/hlo/interpreter/literal_npy.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/verify.h"

namespace ncc::check {
namespace {

namespace fs = std::filesystem;
using hlo::Literal;
using hlo::Shape;

Status bad_case(const std::string& dir, const std::string& why) {
  return error(Code::EFIL003, dir, "a corpus case", why);
}

struct Form {
  const char* name;
  const char* file;
};
constexpr Form kForms[] = {{"pb", "model.hlo.pb"}, {"mlir", "model.mlir"}, {"txt", "model.hlo.txt"}};

std::vector<std::string> model_paths(const std::string& dir, const std::string& form) {
  std::vector<std::string> paths;
  for (const Form& known : kForms) {
    const std::string path = dir + "/" + known.file;
    const bool wanted = form.empty() ? paths.empty() : form == "all" || form == known.name;
    if (wanted && fs::exists(path)) paths.push_back(path);
  }
  return paths;
}

// Every python3 of PATH, then the system's own: the first one may lack numpy.
std::vector<std::string> installed_pythons() {
  std::vector<std::string> found;
  std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  path += ":/usr/bin";
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const std::string candidate = path.substr(begin, end - begin) + "/python3";
    if (end > begin && fs::exists(candidate)) found.push_back(candidate);
    begin = end + 1;
  }
  return found;
}

// Runs materialize.py of the corpus with the first interpreter that has numpy.
Status make_inputs(const std::string& dir, const std::string& out_root) {
  std::string script;
  fs::path folder = fs::absolute(dir).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "case/"
  const fs::path root = folder.parent_path();
  for (const fs::path& candidate :
       {root / "materialize.py", root.parent_path() / "corpus" / "materialize.py"}) {
    if (fs::exists(candidate)) script = candidate.string();
  }
  if (script.empty()) return bad_case(dir, "inputs are not stored and materialize.py is not beside it");
  process::SignalGate gate;
  std::string last_line = "no python3 with numpy";
  for (const std::string& python : installed_pythons()) {
    const process::Exit exit =
        process::run({python, {script, dir, "--out", out_root}, "", 600}, gate,
                     {[&](process::Stream, std::string_view line) { last_line = std::string(line); }, {}});
    if (exit.ok()) return Status::ok();
  }
  return bad_case(dir, "cannot make its inputs: " + last_line);
}

Rule rule_from(const nlohmann::json& meta, Dtype type) {
  if (!is_float(type) && !is_complex(type)) return {};
  Rule rule{.kind = Rule::Kind::Relative};
  rule.tolerance = meta.value("atol", 0.0);
  rule.rtol = meta.value("rtol", 0.0);
  return rule;
}

// True when a stored input is int64 and its parameter is not (numpy integers given to JAX without 64-bit
// types).
bool has_wider_integers(const nlohmann::json& meta, const std::vector<Shape>& parameters) {
  if (!meta.contains("inputs") || !meta["inputs"].is_array()) return false;
  for (size_t i = 0; i < parameters.size() && i < meta["inputs"].size(); ++i) {
    const nlohmann::json& input = meta["inputs"][i];
    if (input.is_object() && input.value("dtype", "") == "int64" && parameters[i].dtype != Dtype::S64)
      return true;
  }
  return false;
}

// Leaves of a result shape, tuples flattened.
void leaf_shapes(const Shape& shape, std::vector<Shape>& leaves) {
  if (!shape.is_tuple()) return leaves.push_back(shape);
  for (const Shape& element : shape.elements) leaf_shapes(element, leaves);
}

Status load_checks(const std::string& dir, const nlohmann::json& meta, Program& program) {
  std::vector<Shape> leaves;
  leaf_shapes(program.module->entry()->root()->shape, leaves);
  const int64_t stride = meta.value("sample_stride", int64_t{1});
  size_t number = 0;  // of the file: tokens have none, as among the inputs
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!leaves[i].is_array()) continue;
    const std::string full = dir + "/expected/" + numbered_npy(number);
    const std::string sampled = dir + "/expected/" + fmt::format("{:03}.sample.npy", number);
    ++number;
    Check check{.actual = static_cast<int64_t>(i), .rule = rule_from(meta, leaves[i].dtype)};
    const bool is_sample = !fs::exists(full) && fs::exists(sampled);
    if (is_sample) check.sample_stride = stride;
    NCC_ASSIGN(check.expected, hlo::read_literal(is_sample ? sampled : full, leaves[i].dtype));
    program.checks.push_back(std::move(check));
  }
  return Status::ok();
}

}  // namespace

namespace {

Result<Program> load_form(const std::string& dir, const nlohmann::json& meta, const std::string& model) {
  Program program;
  program.module_path = model;
  NCC_ASSIGN(std::unique_ptr<hlo::Module> module, hlo::read_module(model));
  NCC_TRY(hlo::verify(*module));
  program.module = std::move(module);
  if (meta.value("timing_only", false)) {
    program.measure = Measure::Time;
    return program;
  }
  std::vector<Shape> parameters;
  for (const hlo::Instruction* parameter : program.module->entry()->parameters())
    parameters.push_back(parameter->shape);
  program.inputs_dir = dir;
  NCC_ASSIGN(program.inputs, hlo::read_arguments(program.inputs_dir, parameters));
  // Files in another integer type than the parameter's are rewritten for the compiled program.
  if (has_wider_integers(meta, parameters)) program.inputs_dir.clear();
  return program;
}

}  // namespace

Result<std::vector<Program>> load_corpus_case(const std::string& dir, const std::string& scratch_dir,
                                              const std::string& form) {
  NCC_ASSIGN(const std::string text, read_file(dir + "/meta.json"));
  const nlohmann::json meta = nlohmann::json::parse(text, nullptr, false);
  if (!meta.is_object()) return bad_case(dir, "meta.json is not a JSON object");
  const std::vector<std::string> models = model_paths(dir, form);
  if (models.empty())
    return bad_case(dir, form.empty() || form == "all" ? "no model.hlo.pb, model.mlir or model.hlo.txt"
                                                       : fmt::format("no model of form '{}'", form));
  std::string inputs = dir + "/inputs";
  const bool has_inputs = !meta.contains("inputs") || !meta["inputs"].is_array() || !meta["inputs"].empty();
  if (!meta.value("timing_only", false) && has_inputs && !fs::exists(inputs)) {
    NCC_TRY(make_inputs(dir, scratch_dir));
    inputs = scratch_dir + "/" + meta.value("name", "") + "/inputs";
  }
  std::vector<Program> programs;
  for (const std::string& model : models) {
    NCC_ASSIGN(Program program, load_form(inputs, meta, model));
    if (program.measure == Measure::Checks) NCC_TRY(load_checks(dir, meta, program));
    if (models.size() > 1) program.label = fs::path(model).filename().string() + ": ";
    programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace ncc::check
