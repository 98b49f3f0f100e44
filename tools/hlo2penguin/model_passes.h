// What the user allows or asks for beyond what the model says is done to the model first, by HLO passes: the
// module that is compiled, and that every later check is held against, says what is computed.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "ir-formats/hlo/module.h"

namespace ncc::hlo2penguin {

enum class ModelPass : uint8_t {
#define MODEL_PASS(id, flag, passes, help) id,
#include "tools/hlo2penguin/model_passes.def"
};

struct ModelPassRow {
  ModelPass id;
  std::string_view flag;    // "" = none of its own
  std::string_view passes;  // space separated
  std::string_view help;
};

constexpr std::array kModelPasses = {
#define MODEL_PASS(id, flag, passes, help) ModelPassRow{ModelPass::id, flag, passes, help},
#include "tools/hlo2penguin/model_passes.def"
};

struct ModelPassOptions {
  std::array<bool, kModelPasses.size()> wanted{};  // by ModelPass
  std::string fp32_cast = "none";                  // mode of auto-cast (spec/driver.md §1.7)
};

/// Runs the passes that are wanted, in table order. EARG001 for an unknown cast mode; else those of the
/// passes.
Status run_model_passes(hlo::Module& model, const ModelPassOptions& options);

}  // namespace ncc::hlo2penguin
