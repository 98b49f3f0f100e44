// Convolutions with explicit edges:
//   padding of the input            -> pad(input, 0), no padding (negative padding cuts)
//   stride with a window of size 1  -> strided slice of the input, stride 1
// The first adds products with 0, as the definition does; libraries may sum in another order: results may
// round differently. Source: spec/hlo-front-half.md §4.8.
#include <algorithm>

#include "tools/hlo-opt/hlo/match.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

size_t at(int64_t i) { return static_cast<size_t>(i); }

Instruction* with_input(ComputationEditor& edit, const Instruction& inst, Instruction* input,
                        const hlo::Window& window) {
  Instruction* made = edit.clone(&inst, {input, inst.operand(1)});
  made->mutable_attrs().window = window;
  return made;
}

Instruction* canonicalize(ComputationEditor& edit, Instruction* inst) {
  if (!inst->is(Opcode::Convolution) || !is_plain_array(inst) || !is_plain_array(inst->operand(0)) ||
      !inst->attrs().conv || inst->shape.num_elements() == 0)
    return nullptr;
  Instruction* input = inst->operand(0);
  const hlo::ConvDims& dims = *inst->attrs().conv;
  hlo::Window window = inst->attrs().window;
  std::vector<hlo::PaddingDim> padding(input->shape.dims.size());
  bool pads = false;
  for (size_t k = 0; k < window.size(); ++k) {
    // Padding counts dilated positions: it is the input's own only without base dilation.
    if (window[k].base_dilation != 1) continue;
    if (window[k].padding_low == 0 && window[k].padding_high == 0) continue;
    padding[at(dims.input_spatial[k])] = {window[k].padding_low, window[k].padding_high, 0};
    window[k].padding_low = window[k].padding_high = 0;
    pads = true;
  }
  if (pads) {
    Instruction* zero = edit.constant(Literal::scalar_int(input->shape.dtype, 0));
    return with_input(edit, *inst, edit.pad(input, zero, padding), window);
  }
  Dims starts(input->shape.dims.size(), 0), limits = input->shape.dims, strides(input->shape.dims.size(), 1);
  bool strided = false;
  for (size_t k = 0; k < window.size(); ++k) {
    if (window[k].size != 1 || window[k].stride == 1 || window[k].base_dilation != 1) continue;
    strides[at(dims.input_spatial[k])] = window[k].stride;
    window[k].stride = 1;
    strided = true;
  }
  if (!strided) return nullptr;
  return with_input(edit, *inst, edit.slice(input, starts, limits, strides), window);
}

}  // namespace

Status canonicalize_conv(hlo::Module& module, PassContext& context) {
  return rewrite_each(module, context.changes, canonicalize);
}

}  // namespace ncc::hlo_passes
