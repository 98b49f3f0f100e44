// Folding elements into accumulators with a combiner computation: shared by reduce, reduce-window, scatter,
// scan.
#pragma once
#include "ir-formats/hlo/interpreter/evaluator.h"

namespace ncc::hlo {

/// accumulators[i][lane] = body(accumulators…, elements…) for step 0, 1, … of elements[i][step, lane].
/// Accumulators are arrays of `lanes` elements that the caller owns; element types are those of the body.
Status fold_lanes(Evaluator& evaluator, const Computation& body, std::vector<Literal>& accumulators,
                  const std::vector<Literal>& elements, int64_t steps, int64_t lanes);
/// The same through the evaluator, for bodies that are no lane program.
Status fold_one_by_one(Evaluator& evaluator, const Computation& body, std::vector<Literal>& accumulators,
                       const std::vector<Literal>& elements, int64_t steps, int64_t lanes);

/// Converts values and inits to the element types of the body's parameters (accumulators first, then
/// elements).
void promote_to_body(const Computation& body, std::vector<Literal>& values, std::vector<Literal>& inits);

}  // namespace ncc::hlo
