// sgNN/io.json: parameters and results of the program in order, as the user declared them and as the device
// holds them (DESIGN H1).
//   {"inputs":[{"name","dtype","shape","variable","device_dtype","device_shape","conversion"}],"outputs":[…,"alias"]}
// dtype: HLO spelling. variable: the DRAM variable of that name. conversion: a row of conversions.def. alias
// (outputs, optional): the input whose buffer the result may take.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/diag/status.h"
#include "common/dtype/dtype.h"
#include "ir-formats/isa/machine_inst.h"

namespace ncc::neff {

enum class Conversion : uint8_t {
#define CONVERSION(id, name) id,
#include "ir-formats/neff/conversions.def"
};
std::string_view name(Conversion conversion);

struct IoTensor {
  std::string name;
  Dtype dtype = Dtype::F32;
  std::vector<int64_t> shape;
  std::string variable;
  Dtype device_dtype = Dtype::F32;
  std::vector<int64_t> device_shape;
  Conversion conversion = Conversion::None;
  std::string alias;
};

struct ProgramIo {
  std::vector<IoTensor> inputs, outputs;
};

/// ENEF001.
Result<ProgramIo> read_io(std::string_view json);
std::string write_io(const ProgramIo& io);
/// Every tensor has its variable, of the kind and size that the device form needs; the conversion fits both
/// forms. ENEF001.
Status verify_io(const ProgramIo& io, const std::vector<isa::Variable>& variables);
/// The index of a variable; -1 when there is none.
int64_t find_variable(const std::vector<isa::Variable>& variables, std::string_view name);

int64_t num_elements(const std::vector<int64_t>& shape);

}  // namespace ncc::neff
