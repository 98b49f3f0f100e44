// --io-config: what a framework says about the model's interface, held against the model itself.
//
//   {"inputs": {NAME: [[SIZE, ...], DTYPE], ...}, "outputs": [NAME, ...]}
//
// NAME of an input is the parameter's name in the model, or input<i> or input_<i> for parameter i; each may
// end in the ":0" of TensorFlow. SIZE null or -1 is any size. DTYPE is NumPy's, HLO's or StableHLO's name.
// Every parameter must be named once. "outputs" may be missing; results have no names here, so that only
// their number is compared.
#pragma once
#include <string>

#include "ir-formats/hlo/module.h"

namespace ncc::hlo2penguin {

/// `config` is the JSON text, or the path of a file that holds it. EARG001 naming the input, what is declared
/// and what the model has.
Status check_io_config(const std::string& config, const hlo::Module& model);

}  // namespace ncc::hlo2penguin
