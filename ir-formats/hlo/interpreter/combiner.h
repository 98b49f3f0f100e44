// Applies a scalar computation to a few elements at arbitrary places: the inner step of scatter,
// select-and-scatter, sort and scan. One per evaluation; not thread-safe.
#pragma once
#include <optional>

#include "ir-formats/hlo/interpreter/evaluator.h"

namespace ncc::hlo {

class Combiner {
 public:
  Combiner(Evaluator& evaluator, const Computation& body)
      : evaluator_(evaluator), body_(body), program_(evaluator.lane_program(body)) {
    if (program_) scratch_.emplace(*program_);
  }

  /// out[j] = body(in…) for n consecutive elements of each array; an output may be one of the inputs.
  Status apply(std::span<const void* const> in, std::span<void* const> out, int64_t n) {
    if (program_) {
      program_->run(in, out, n, *scratch_);
      return Status::ok();
    }
    return apply_one_by_one(in, out, n);
  }
  std::optional<Opcode> binary_op() const { return program_ ? program_->binary_op() : std::nullopt; }

 private:
  Status apply_one_by_one(std::span<const void* const> in, std::span<void* const> out, int64_t n);

  Evaluator& evaluator_;
  const Computation& body_;
  const LaneProgram* program_;
  std::optional<LaneProgram::Scratch> scratch_;
};

}  // namespace ncc::hlo
