// Source: DESIGN §2 (F1), §14 H5; the roles of made-up inputs: spec/driver.md §8.2.
#include "tools/xla_infergoldens/goldens.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numbers>
#include <random>
#include <set>

#include "common/files/files.h"
#include "common/npy/array_folder.h"
#include "ir-formats/hlo/interpreter/literal_npy.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/verify.h"

namespace ncc::goldens {
namespace {

namespace fs = std::filesystem;
using hlo::Literal;
using hlo::Shape;
using Json = nlohmann::ordered_json;

Json describe_array(const Shape& shape, const std::string& file) {
  return {{"file", file}, {"dtype", std::string(info(shape.dtype).hlo)}, {"shape", shape.dims}};
}

Status make_dir(const std::string& dir) {
  std::error_code failure;
  fs::create_directories(dir, failure);
  return failure ? error(Code::EFIL002, dir, failure.message()) : Status::ok();
}

// The size of a dimension that a parameter leaves open, and the value of the parameters that state it.
constexpr int64_t kOpenSize = 4;

// Programs with open sizes take them as integer scalars before their arrays.
bool states_size(const std::vector<Shape>& parameters, size_t number) {
  const auto is_scalar = [](const Shape& shape) { return shape.is_scalar() && is_signed_int(shape.dtype); };
  const bool open = std::any_of(parameters.begin(), parameters.end(), [](const Shape& shape) {
    return std::find(shape.dims.begin(), shape.dims.end(), hlo::kUnbounded) != shape.dims.end();
  });
  return open &&
         std::all_of(parameters.begin(), parameters.begin() + static_cast<int64_t>(number) + 1, is_scalar);
}

Literal made_up_tree(const Shape& shape, int64_t& number) {
  if (!shape.is_tuple()) return made_up_input(shape, number++);
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements) elements.push_back(made_up_tree(element, number));
  return Literal::make_tuple(std::move(elements));
}

Result<std::vector<Literal>> made_up_inputs(const std::vector<Shape>& parameters, const std::string& dir) {
  NCC_TRY(make_dir(dir));
  std::vector<Literal> args = made_up_arguments(parameters), leaves;
  for (const Literal& arg : args) hlo::flatten(arg, leaves);
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].shape().is_array()) NCC_TRY(hlo::write_literal(dir + "/" + numbered_npy(i), leaves[i]));
  }
  return args;
}

// One file per array value of the entry; names are kept as far as a file system allows, the manifest has the
// rest.
class ValueWriter {
 public:
  explicit ValueWriter(std::string dir) : dir_(std::move(dir)) {}

  void write(const hlo::Instruction& inst, const Literal& value) {
    if (!failure_.is_ok() || !value.is_valid() || !value.shape().is_array()) return;
    std::string stem = inst.name;
    for (char& c : stem) {
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-' && c != '_') c = '_';
    }
    if (stem.size() > 200) stem.resize(200);
    if (!taken_.insert(stem).second) stem += fmt::format("#{}", inst.id);
    const std::string file = "values/" + stem + ".npy";
    failure_ = hlo::write_literal(dir_ + "/" + file, value);
    Json row = describe_array(value.shape(), file);
    row["name"] = inst.name;
    row["op"] = std::string(hlo::name(inst.opcode));
    rows_.push_back(std::move(row));
  }

  const Status& status() const { return failure_; }
  Json rows() const { return rows_; }

 private:
  std::string dir_;
  std::set<std::string> taken_;
  Json rows_ = Json::array();
  Status failure_;
};

}  // namespace

Literal made_up_input(const Shape& shape, int64_t number) {
  if (!shape.is_array()) return Literal::zeros(shape);
  std::vector<int64_t> dims = shape.dims;
  std::replace(dims.begin(), dims.end(), hlo::kUnbounded, kOpenSize);
  Literal out = Literal::zeros(Shape::array(shape.dtype, dims));
  std::mt19937_64 engine(static_cast<uint64_t>(number) + 1);
  const auto unit = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53; };
  const auto normal = [&] {
    const double radius = std::sqrt(-2 * std::log(1 - unit()));
    return radius * std::cos(2 * std::numbers::pi * unit());
  };
  const Dtype type = shape.dtype;
  const bool complex = is_complex(type);
  const Dtype part = type == Dtype::C64 ? Dtype::F32 : type == Dtype::C128 ? Dtype::F64 : type;
  const int64_t count = out.num_elements() * (complex ? 2 : 1);
  for (int64_t i = 0; i < count; ++i) {
    std::byte* at = out.mutable_data() + i * size_bytes(part);
    if (is_float(part)) {
      store_from_double(part, at, normal());
    } else if (part == Dtype::Pred) {
      store_from_int64(part, at, static_cast<int64_t>(engine() >> 63));
    } else {
      // Narrow types have fewer values than the usual range.
      const bool negative = is_signed_int(part);
      const int value_bits = std::min(info(part).bits - (negative ? 1 : 0), 32);
      const int64_t limit = int64_t{1} << value_bits;
      const int64_t low = negative ? std::max<int64_t>(-10, -limit) : 0,
                    high = std::min<int64_t>(10, limit - 1);
      store_from_int64(part, at, low + static_cast<int64_t>(unit() * static_cast<double>(high - low + 1)));
    }
  }
  return out;
}

std::vector<Literal> made_up_arguments(const std::vector<Shape>& parameters) {
  std::vector<Literal> args;
  int64_t number = 0;
  for (const Shape& shape : parameters) {
    args.push_back(made_up_tree(shape, number));
    if (states_size(parameters, args.size() - 1)) args.back() = Literal::scalar_int(shape.dtype, kOpenSize);
  }
  return args;
}

Status make_goldens(const Options& options) {
  NCC_ASSIGN(const std::unique_ptr<hlo::Module> module, hlo::read_module(options.hlo_module));
  NCC_TRY(hlo::verify(*module));
  NCC_TRY(make_dir(options.output_dir + (options.all_values ? "/values" : "")));
  std::vector<Shape> parameters;
  for (const hlo::Instruction* parameter : module->entry()->parameters()) {
    if (!parameter) return error(Code::EVRF003, std::string("a parameter number is missing"));
    parameters.push_back(parameter->shape);
  }
  NCC_ASSIGN(const std::vector<Literal> args, options.inputs.empty()
                                                  ? made_up_inputs(parameters, options.output_dir + "/inputs")
                                                  : hlo::read_arguments(options.inputs, parameters));
  ValueWriter values(options.output_dir);
  hlo::InterpretOptions interpret;
  if (options.all_values)
    interpret.observer = [&](const hlo::Instruction& inst, const Literal& value) {
      values.write(inst, value);
    };
  NCC_ASSIGN(const Literal result, hlo::interpret(*module, args, interpret));
  NCC_TRY(values.status());

  Json manifest;
  manifest["module"] = module->name();
  manifest["arrays"] = Json::array();
  std::vector<Literal> leaves;
  hlo::flatten(result, leaves);
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!leaves[i].shape().is_array()) continue;
    const std::string file = numbered_npy(i);
    NCC_TRY(hlo::write_literal(options.output_dir + "/" + file, leaves[i]));
    Json row = describe_array(leaves[i].shape(), file);
    if (i < module->result_names.size()) row["name"] = module->result_names[i];
    manifest["arrays"].push_back(std::move(row));
  }
  if (options.all_values) manifest["values"] = values.rows();
  return write_file(options.output_dir + "/manifest.json", manifest.dump(1) + "\n");
}

}  // namespace ncc::goldens
