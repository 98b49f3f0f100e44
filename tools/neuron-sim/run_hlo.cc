// The HLO level: the reference interpreter on the model as read.
#include "ir-formats/hlo/interpreter/interpret.h"
#include "ir-formats/hlo/interpreter/literal_npy.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/verify.h"
#include "tools/neuron-sim/levels.h"

namespace ncc::sim {
namespace {

// Array leaves of a parameter, in order.
Result<hlo::Literal> next_argument(const hlo::Shape& shape, const Inputs& inputs, size_t& next) {
  if (shape.is_tuple()) {
    std::vector<hlo::Literal> elements;
    for (const hlo::Shape& element : shape.elements) {
      NCC_ASSIGN(hlo::Literal leaf, next_argument(element, inputs, next));
      elements.push_back(std::move(leaf));
    }
    return hlo::Literal::make_tuple(std::move(elements));
  }
  if (!shape.is_array()) return hlo::Literal::zeros(shape);
  if (next >= inputs.size()) return error(Code::ERUN001, next, std::string("no array is given"));
  const size_t number = next++;
  return hlo::literal_from_array(inputs[number].array, shape, static_cast<int64_t>(number));
}

}  // namespace

Result<Outcome> run_hlo(const SimOptions& options, const Inputs& inputs) {
  if (options.timing_only) return error(Code::ERUN003, std::string("an HLO module has no simulated time"));
  NCC_ASSIGN(const std::unique_ptr<hlo::Module> module, hlo::read_module(options.file));
  NCC_TRY(hlo::verify(*module));
  std::vector<hlo::Literal> args;
  size_t next = 0;
  for (const hlo::Instruction* parameter : module->entry()->parameters()) {
    NCC_ASSIGN(hlo::Literal arg, next_argument(parameter->shape, inputs, next));
    args.push_back(std::move(arg));
  }
  if (next != inputs.size())
    return error(Code::ERUN001, next, fmt::format("{} arrays are given", inputs.size()));
  NCC_ASSIGN(const hlo::Literal result, hlo::interpret(*module, args));
  std::vector<hlo::Literal> leaves;
  hlo::flatten(result, leaves);
  Outcome outcome;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!leaves[i].shape().is_array()) continue;
    const std::string name = i < module->result_names.size() ? module->result_names[i] : "";
    outcome.outputs.push_back({name, hlo::array_from_literal(leaves[i])});
  }
  return outcome;
}

}  // namespace ncc::sim
