// From
//     main() { x = call @inputs(); e = call @expected(); y = f(x); check(y, e) }
// to the program  main(x) -> (y)  with inputs x and the expected value e, both evaluated on the host. A test
// without
// @inputs has its operands as constants of main: those become parameters instead, so that no compiler can
// fold the test away; shape operands of dynamic ops stay constants. Source: DESIGN §5, §12;
// spec/stablehlo-text.md §2.10.
#include "tools/hlo-check/stablehlo_case.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>

#include "common/files/files.h"
#include "ir-formats/hlo/interpreter/interpret.h"
#include "ir-formats/hlo/interpreter/literal_npy.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/verify.h"

namespace ncc::check {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::Literal;
using hlo::Module;
using hlo::Opcode;

bool is_check(const Instruction& inst) {
  // expect_serialized_eq looks at a probe, so it is the interpreter's to make.
  const std::string& target = inst.is(Opcode::CustomCall) ? inst.attrs().custom_call_target : inst.name;
  return inst.is(Opcode::CustomCall) && target.rfind("check.", 0) == 0 &&
         target != "check.expect_serialized_eq";
}

bool calls(const Instruction& inst, std::string_view function) {
  return inst.is(Opcode::Call) && inst.body()->name() == function;
}

double number_attribute(const Instruction& inst, std::string_view key, double otherwise) {
  const auto text = inst.attrs().find(key);
  return text ? std::strtod(std::string(*text).c_str(), nullptr) : otherwise;
}

// Tolerances of the custom-call form are fixed by its target; the op form states its own.
Result<Rule> rule_of(const Instruction& inst) {
  const std::string& target = inst.attrs().custom_call_target;
  const Dtype type = inst.operand_shape(0).dtype;
  const bool inexact = is_float(type) || is_complex(type);
  Rule rule;
  if (target == "check.expect_eq" || target == "check.expect_eq_const") return rule;
  if (target == "check.eq") {
    if (inexact) rule = {.kind = Rule::Kind::Absolute, .tolerance = 1e-4};
    return rule;
  }
  if (target == "check.expect_close") {
    rule.kind = inexact ? Rule::Kind::Ulp : Rule::Kind::Exact;
    rule.max_ulp = static_cast<int64_t>(number_attribute(inst, "max_ulp_difference", 3));
    rule.min_ulp = static_cast<int64_t>(number_attribute(inst, "min_ulp_difference", 0));
    return rule;
  }
  if (target == "check.expect_almost_eq" || target == "check.expect_almost_eq_const") {
    rule.kind = inexact ? Rule::Kind::Absolute : Rule::Kind::Exact;
    rule.tolerance = number_attribute(inst, "tolerance", target.ends_with("_const") ? 1e-4 : 1e-3);
    return rule;
  }
  return error(Code::EVRF001, inst.loc, target, std::string("no such check"));
}

bool is_transcendental(const Instruction& inst) {
  static const std::unordered_set<Opcode> kOps = {
      Opcode::Acos, Opcode::Acosh,  Opcode::Asin,     Opcode::Asinh,     Opcode::Atan,      Opcode::Atanh,
      Opcode::Cbrt, Opcode::Cos,    Opcode::Cosh,     Opcode::Erf,       Opcode::Exp,       Opcode::Expm1,
      Opcode::Log,  Opcode::Log1p,  Opcode::Logistic, Opcode::Rsqrt,     Opcode::Sin,       Opcode::Sinh,
      Opcode::Sqrt, Opcode::Tan,    Opcode::Tanh,     Opcode::BesselI1e, Opcode::Digamma,   Opcode::ErfInv,
      Opcode::Erfc, Opcode::Lgamma, Opcode::Atan2,    Opcode::Power,     Opcode::Polygamma, Opcode::Zeta,
  };
  return kOps.count(inst.opcode) > 0 && inst.shape.dtype == Dtype::F32;
}

bool has_transcendental(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& inst : computation->instructions()) {
      if (is_transcendental(*inst)) return true;
    }
  }
  return false;
}

// The parameterised copy under construction.
class Parameteriser {
 public:
  explicit Parameteriser(const Module& test) : module_(test.clone()), entry_(module_->entry()) {}

  Result<std::optional<Program>> run() {
    for (const auto& inst : entry_->instructions()) {
      if (is_check(*inst)) checks_.push_back(inst.get());
    }
    if (checks_.empty()) return std::optional<Program>();
    if (!entry_->parameters().empty())
      return error(Code::EVRF003, std::string("the test function takes arguments of its own"));
    NCC_TRY(inputs_become_parameters());
    mark_dependences();
    NCC_TRY(read_checks());
    NCC_TRY(evaluate_expected());
    finish();
    for (Check& check : program_.checks) check.transcendental = has_transcendental(*module_);
    program_.module = std::move(module_);
    return std::optional<Program>(std::move(program_));
  }

 private:
  Instruction* new_parameter(Literal value) {
    Instruction* parameter =
        entry_->add_parameter(static_cast<int64_t>(program_.inputs.size()), value.shape(),
                              fmt::format("input.{}", program_.inputs.size()));
    program_.inputs.push_back(std::move(value));
    return parameter;
  }

  Status inputs_become_parameters() {
    std::vector<Instruction*> sources;
    for (const auto& inst : entry_->instructions()) {
      if (calls(*inst, "inputs")) sources.push_back(inst.get());
    }
    if (sources.empty()) sources = operand_constants();
    std::unordered_map<Instruction*, Instruction*> replacements;
    for (Instruction* source : sources) {
      Literal value = source->literal;
      if (source->is(Opcode::Call)) {
        NCC_ASSIGN(value, hlo::interpret(*source->body(), {}));
      }
      std::vector<Literal> leaves;
      hlo::flatten(value, leaves);
      std::vector<Instruction*> parameters;
      for (Literal& leaf : leaves) parameters.push_back(new_parameter(std::move(leaf)));
      replacements[source] = value.is_tuple() ? entry_->add_tuple(std::move(parameters)) : parameters.front();
    }
    entry_->replace_uses(replacements);
    return entry_->sort();
  }

  // Constants that something other than a check or a shape operand uses.
  std::vector<Instruction*> operand_constants() {
    std::unordered_set<const Instruction*> used, needed_constant;
    for (const auto& inst : entry_->instructions()) {
      if (is_check(*inst)) continue;
      const bool dynamic = inst->info().kind == hlo::OpKind::Dynamic;
      for (size_t i = 0; i < inst->operands.size(); ++i) {
        used.insert(inst->operands[i]);
        if (dynamic && i > 0) needed_constant.insert(inst->operands[i]);
      }
      if (dynamic && inst->operands.size() == 1) needed_constant.insert(inst->operands[0]);
    }
    std::vector<Instruction*> constants;
    for (const auto& inst : entry_->instructions()) {
      if (inst->is(Opcode::Constant) && used.count(inst.get()) && !needed_constant.count(inst.get()))
        constants.push_back(inst.get());
    }
    return constants;
  }

  void mark_dependences() {
    for (const auto& inst : entry_->instructions()) {
      bool input = inst->is(Opcode::Parameter), expected = calls(*inst, "expected");
      for (const Instruction* operand : inst->operands) {
        input |= on_input_.count(operand) > 0;
        expected |= on_expected_.count(operand) > 0;
      }
      if (input) on_input_.insert(inst.get());
      if (expected) on_expected_.insert(inst.get());
    }
  }

  bool is_host_value(const Instruction* value) const { return on_input_.count(value) == 0; }

  // Which operand of a check is the value under test: the one that depends on inputs; if both or neither do,
  // the first unless it is a constant or comes from @expected.
  size_t actual_operand(const Instruction& check) const {
    const Instruction *a = check.operand(0), *b = check.operand(1);
    if (is_host_value(a) != is_host_value(b)) return is_host_value(a) ? 1 : 0;
    const auto given = [&](const Instruction* v) {
      return v->is(Opcode::Constant) || on_expected_.count(v) > 0;
    };
    return given(a) && !given(b) ? 1 : 0;
  }

  int64_t result_of(Instruction* value) {
    const auto found = std::find(results_.begin(), results_.end(), value);
    if (found == results_.end()) {
      results_.push_back(value);
      return static_cast<int64_t>(results_.size()) - 1;
    }
    return found - results_.begin();
  }

  Status read_checks() {
    for (Instruction* inst : checks_) {
      if (inst->num_operands() < 2)
        return error(Code::EVRF001, inst->loc, inst->attrs().custom_call_target,
                     std::string("only checks of two values are run"));
      const size_t actual = actual_operand(*inst);
      Instruction* expected = inst->operands[1 - actual];
      Check check;
      check.actual = result_of(inst->operands[actual]);
      NCC_ASSIGN(check.rule, rule_of(*inst));
      if (is_host_value(expected)) {
        host_values_.push_back(expected);
      } else {
        check.expected_result = result_of(expected);
      }
      program_.checks.push_back(std::move(check));
    }
    return Status::ok();
  }

  // Expected values are computed by a module of their own: the entry with them as results.
  Status evaluate_expected() {
    Instruction* test_root = entry_->root();
    entry_->set_root(entry_->add_tuple(host_values_));
    const std::unique_ptr<Module> host = module_->clone();
    entry_->set_root(test_root);
    drop_checks(host->entry());
    host->entry()->remove_dead();
    std::vector<Literal> unused_inputs = program_.inputs;
    NCC_ASSIGN(const Literal values, hlo::interpret(*host->entry(), std::move(unused_inputs)));
    size_t next = 0;
    for (Check& check : program_.checks) {
      if (!check.expected_result) check.expected = values.elements()[next++];
    }
    return Status::ok();
  }

  static void drop_checks(Computation* entry) {
    for (const auto& inst : entry->instructions()) {
      if (is_check(*inst)) inst->mutable_attrs().custom_call_has_side_effect = false;
    }
  }

  void finish() {
    entry_->set_root(entry_->add_tuple(results_));
    drop_checks(entry_);
    entry_->remove_dead();
    module_->remove_unreachable();
    module_->renumber();
    module_->has_entry_layout = false;
    module_->entry_parameter_shapes.clear();
    module_->entry_result_shape = {};
    module_->aliases.clear();
    module_->donors.clear();
    module_->result_names.clear();
  }

  std::unique_ptr<Module> module_;
  Computation* entry_;
  Program program_;
  std::vector<Instruction*> checks_, results_, host_values_;
  std::unordered_set<const Instruction*> on_input_, on_expected_;
};

}  // namespace

Result<std::optional<Program>> parameterise(const Module& test) { return Parameteriser(test).run(); }

namespace {

// Process grids, probes and prints are the interpreter's own.
bool uses_interpreter_ops(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& inst : computation->instructions()) {
      if (inst->is(Opcode::CustomCall) && inst->attrs().custom_call_target.rfind("interpreter.", 0) == 0)
        return true;
    }
  }
  return false;
}

}  // namespace

Result<std::vector<Program>> load_stablehlo_case(const std::string& path) {
  NCC_ASSIGN(const std::string text, read_file(path));
  std::vector<Program> programs;
  const std::vector<std::string> pieces = hlo::split_mlir(text);
  for (size_t i = 0; i < pieces.size(); ++i) {
    NCC_ASSIGN(std::unique_ptr<Module> module, hlo::read_stablehlo(pieces[i], path));
    NCC_TRY(hlo::verify(*module));
    const bool is_grid = uses_interpreter_ops(*module);
    NCC_ASSIGN(std::optional<Program> program, parameterise(*module));
    if (!program) {
      program.emplace();
      program->measure = Measure::ReadsBack;
      program->module = std::move(module);
      if (pieces.size() == 1) program->module_path = path;
    }
    program->is_grid = is_grid;
    if (pieces.size() > 1) program->label = fmt::format("module {}: ", i + 1);
    programs.push_back(std::move(*program));
  }
  return programs;
}

}  // namespace ncc::check
