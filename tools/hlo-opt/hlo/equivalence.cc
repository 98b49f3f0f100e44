#include "tools/hlo-opt/hlo/equivalence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "ir-formats/hlo/device_part.h"
#include "ir-formats/hlo/interpreter/literal_npy.h"
#include "ir-formats/hlo/interpreter/process_grid.h"
#include "tools/hlo-opt/hlo/draws.h"
#include "tools/hlo-opt/hlo/editor.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

using hlo::Instruction;
using hlo::Literal;
using hlo::Shape;

// SplitMix64: the same inputs on every host.
uint64_t next_random(uint64_t& state) {
  uint64_t z = (state += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

Dtype part_type(Dtype dtype) {
  if (dtype == Dtype::C64) return Dtype::F32;
  if (dtype == Dtype::C128) return Dtype::F64;
  return dtype;
}

// The smallest and the largest positive number of a type.
std::pair<double, double> limits_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::F64:
      return {0x1p-1074, std::numeric_limits<double>::max()};
    case Dtype::F32:
      return {0x1p-149, 0x1.fffffep127};
    case Dtype::BF16:
      return {0x1p-133, 0x1.fep127};
    case Dtype::F16:
      return {0x1p-24, 65504};
    default:
      return {0x1p-6, 1};
  }
}

double special_value(Dtype dtype, uint64_t random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto [least, most] = limits_of(dtype);
  const double specials[] = {std::numeric_limits<double>::quiet_NaN(),
                             kInfinity,
                             -kInfinity,
                             -0.0,
                             0.0,
                             least,
                             -least,
                             most,
                             -most,
                             1.0};
  return specials[random % std::size(specials)];
}

// The least and the largest value of an integer type, and -1 or its bits.
int64_t special_integer(Dtype dtype, uint64_t random) {
  const int bits = info(dtype).bits;
  const uint64_t ones = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  if (!is_signed_int(dtype)) return random % 2 == 0 ? static_cast<int64_t>(ones) : 0;
  const int64_t most = static_cast<int64_t>(ones >> 1);
  const int64_t specials[] = {most, -most - 1, -1};
  return specials[random % std::size(specials)];
}

bool is_number(Dtype dtype) {
  return dtype == Dtype::Pred || is_integer(dtype) || is_float(dtype) || is_complex(dtype);
}

// One part in the last place of a type's numbers near 1.
double last_place(Dtype dtype) {
  switch (dtype) {
    case Dtype::F64:
      return 0x1p-52;
    case Dtype::F32:
      return 0x1p-23;
    case Dtype::F16:
      return 0x1p-10;
    case Dtype::BF16:
      return 0x1p-7;
    default:
      return 0x1p-2;
  }
}

// A grid of more is not run: one thread each.
constexpr int64_t kMostProcesses = 64;

// Elements of a dimension whose size is known at run time only.
constexpr int64_t kOpenSize = 4;

// Places that another order of summation may cost, against the largest value of the array.
constexpr double kRoundedPlaces = 64;

std::optional<std::string> difference(const Literal& now, const Literal& then, Rounding rounding) {
  if (!compatible(now.shape(), then.shape()))
    return fmt::format("shape is {}, was {}", to_string(now.shape()), to_string(then.shape()));
  if (rounding == Rounding::Draws || rounding == Rounding::Other) return std::nullopt;
  const bool may_round = rounding == Rounding::May;
  const Dtype type = part_type(then.shape().dtype);
  if (now == then || !is_number(type)) return std::nullopt;
  const int64_t parts = is_complex(then.shape().dtype) ? 2 : 1;
  const int64_t width = size_bytes(type);
  const auto value = [&](const Literal& literal, int64_t i) {
    return load_as_double(type, literal.bytes().data() + i * width);
  };
  const int64_t count = then.num_elements() * parts;
  double largest = 0;
  for (int64_t i = 0; may_round && is_float(type) && i < count; ++i) {
    const double magnitude = std::fabs(value(then, i));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  const double slack = kRoundedPlaces * last_place(type) * largest;
  for (int64_t i = 0; i < count; ++i) {
    if (std::memcmp(now.bytes().data() + i * width, then.bytes().data() + i * width,
                    static_cast<size_t>(width)) == 0)
      continue;
    const double a = value(now, i), b = value(then, i);
    if (is_float(type) && std::isnan(a) && std::isnan(b)) continue;
    if (is_float(type) && may_round && std::fabs(a - b) <= slack) continue;
    if (is_integer(type))
      return fmt::format("element {} is {}, was {}", i / parts,
                         load_as_int64(type, now.bytes().data() + i * width),
                         load_as_int64(type, then.bytes().data() + i * width));
    return fmt::format("element {} is {}, was {}", i / parts, a, b);
  }
  return std::nullopt;
}

bool is_observed(const Instruction& inst) {
  return inst.is(hlo::Opcode::CustomCall) && inst.attrs().custom_call_target.starts_with("check.");
}

}  // namespace

namespace {

// The shape of an argument: open dimensions get kOpenSize elements.
Shape closed(const Shape& shape) {
  std::vector<int64_t> dims = shape.dims;
  std::replace(dims.begin(), dims.end(), hlo::kUnbounded, kOpenSize);
  return Shape::array(shape.dtype, std::move(dims));
}

bool has_open_sizes(const std::vector<Shape>& shapes) {
  return std::any_of(shapes.begin(), shapes.end(), [](const Shape& shape) {
    return std::find(shape.dims.begin(), shape.dims.end(), hlo::kUnbounded) != shape.dims.end();
  });
}

}  // namespace

Literal generated_input(const Shape& shape, uint64_t seed, bool specials) {
  uint64_t state = seed;
  if (shape.is_tuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements)
      elements.push_back(generated_input(element, next_random(state), specials));
    return Literal::make_tuple(std::move(elements));
  }
  Literal literal = Literal::zeros(shape.is_array() ? closed(shape) : shape);
  const Dtype type = part_type(shape.dtype);
  if (!is_number(type)) return literal;
  const int64_t width = size_bytes(type);
  const int64_t count = literal.num_elements() * (is_complex(shape.dtype) ? 2 : 1);
  for (int64_t i = 0; i < count; ++i) {
    std::byte* element = literal.mutable_data() + i * width;
    const uint64_t random = next_random(state);
    if (type == Dtype::Pred) {
      store_from_int64(type, element, static_cast<int64_t>(random & 1));
    } else if (is_integer(type) && specials && random % 8 == 0) {
      store_from_int64(type, element, special_integer(type, random >> 8));
    } else if (is_integer(type)) {
      const int64_t low = is_signed_int(type) ? -4 : 0;
      store_from_int64(type, element, low + static_cast<int64_t>(random % 12));
    } else if (specials && random % 8 == 0) {
      store_from_double(type, element, special_value(type, random >> 8));
    } else {
      store_from_double(type, element, static_cast<double>(random >> 11) * 0x1p-51 - 2);
    }
  }
  return literal;
}

Result<std::vector<Literal>> check_arguments(const hlo::Module& module, const CheckOptions& options) {
  std::vector<Shape> shapes;
  for (const Instruction* parameter : module.entry()->parameters()) shapes.push_back(parameter->shape);
  if (!options.inputs.empty()) return hlo::read_arguments(options.inputs, shapes);
  std::vector<Literal> args;
  const bool states_sizes = has_open_sizes(shapes);
  for (size_t n = 0; n < shapes.size(); ++n) {
    // Scalars beside open dimensions are their sizes.
    const bool is_size = states_sizes && shapes[n].is_scalar() && is_integer(shapes[n].dtype);
    args.push_back(is_size ? Literal::scalar_int(shapes[n].dtype, kOpenSize)
                           : generated_input(shapes[n], options.seed * 1000003 + n, options.specials));
  }
  return args;
}

Result<int64_t> constants_to_parameters(hlo::Module& module, std::vector<Literal>& args) {
  PassContext context;
  NCC_TRY(call_inliner(module, context));
  int64_t number = 0;
  for (const auto& inst : module.entry()->instructions()) {
    if (!inst->is(hlo::Opcode::Constant) || !inst->shape.is_array() || inst->shape.num_elements() < 2)
      continue;
    inst->opcode = hlo::Opcode::Parameter;
    inst->index = static_cast<int64_t>(args.size());
    args.push_back(std::move(inst->literal));
    inst->literal = Literal();
    if (!module.entry_parameter_shapes.empty() || args.size() == 1)
      module.entry_parameter_shapes.push_back(inst->shape);
    ++number;
  }
  module.remove_unreachable();
  return number;
}

namespace {

int64_t count_leaves(const Shape& shape) {
  if (!shape.is_tuple()) return 1;
  int64_t count = 0;
  for (const Shape& element : shape.elements) count += count_leaves(element);
  return count;
}

// Of each result, whether it may depend on random numbers: the elements of the root apart where it is a
// tuple.
std::vector<bool> drawn_leaves(const hlo::Module& module) {
  std::vector<const Instruction*> values{module.entry()->root()};
  if (values[0]->is(hlo::Opcode::Tuple))
    values.assign(values[0]->operands.begin(), values[0]->operands.end());
  for (const auto& inst : module.entry()->instructions())
    if (is_observed(*inst)) values.insert(values.end(), inst->operands.begin(), inst->operands.end());
  const std::vector<bool> drawn = depend_on_draws(module, values);
  std::vector<bool> leaves;
  for (size_t i = 0; i < values.size(); ++i)
    leaves.insert(leaves.end(), static_cast<size_t>(count_leaves(values[i]->shape)), drawn[i]);
  return leaves;
}

}  // namespace

Result<EquivalenceCheck> EquivalenceCheck::prepare(hlo::Module& module, const CheckOptions& options) {
  NCC_ASSIGN(std::vector<Literal> args, check_arguments(module, options));
  return prepare(module, std::move(args));
}

Result<EquivalenceCheck> EquivalenceCheck::prepare(hlo::Module& module, std::vector<Literal> args) {
  mark_draws(module);
  EquivalenceCheck check;
  check.drawn_ = drawn_leaves(module);
  check.args_ = std::move(args);
  NCC_ASSIGN(check.before_, check.results(module));
  if (!check.drawn_.empty() && check.before_.size() % check.drawn_.size() != 0) check.drawn_.clear();
  return check;
}

// The first process has the given arguments, the others generated ones.
Result<std::vector<Literal>> EquivalenceCheck::grid_results(const hlo::Module& module) const {
  hlo::ProcessGrid grid(module.replica_count, module.num_partitions);
  const size_t processes = static_cast<size_t>(module.replica_count * module.num_partitions);
  std::vector<std::vector<Literal>> args(processes, args_);
  for (size_t p = 1; p < processes; ++p) {
    for (size_t n = 0; n < args_.size(); ++n)
      args[p][n] = generated_input(args_[n].shape(), (p << 32) + n, false);
  }
  const std::vector<const hlo::Computation*> programs(processes, module.entry());
  NCC_ASSIGN(const std::vector<Literal> roots, hlo::run_processes(grid, programs, std::move(args)));
  std::vector<Literal> leaves;
  for (const Literal& root : roots) hlo::flatten(root, leaves);
  return leaves;
}

Result<std::vector<Literal>> EquivalenceCheck::results(const hlo::Module& given) const {
  std::unique_ptr<hlo::Module> fixed;
  if (has_draws(given)) {
    fixed = given.clone();
    NCC_TRY(fix_draws(*fixed));
  }
  const hlo::Module& module = fixed ? *fixed : given;
  const int64_t processes = module.replica_count * module.num_partitions;
  // A module with manual computations is one program for all devices; others have arguments of their own on
  // each.
  if (processes > 1 && processes <= kMostProcesses && hlo::manual_devices(module) <= 1)
    return grid_results(module);
  std::vector<const Instruction*> observed;
  std::unordered_map<const Instruction*, Literal> values;
  for (const auto& inst : module.entry()->instructions()) {
    if (!is_observed(*inst)) continue;
    observed.push_back(inst.get());
    for (const Instruction* operand : inst->operands) values[operand] = Literal();
  }
  hlo::InterpretOptions options;
  if (!observed.empty())
    options.observer = [&](const Instruction& inst, const Literal& value) {
      const auto found = values.find(&inst);
      if (found != values.end()) found->second = value;
    };
  NCC_ASSIGN(const Literal root, hlo::interpret(module, args_, options));
  std::vector<Literal> leaves;
  hlo::flatten(root, leaves);
  for (const Instruction* inst : observed) {
    for (const Instruction* operand : inst->operands) hlo::flatten(values[operand], leaves);
  }
  return leaves;
}

Status EquivalenceCheck::compare(const hlo::Module& module, const PassInfo& pass) {
  Result<std::vector<Literal>> run = results(module);
  if (!run.is_ok())
    return error(Code::EINT901, run.status().diagnostic().loc, fmt::format("pass {}", pass.name),
                 "the module does not run any more: " + run.status().diagnostic().cause);
  std::vector<Literal> now = run.take();
  if (now.size() != before_.size())
    return error(Code::EINT901, fmt::format("pass {}", pass.name),
                 fmt::format("the module has {} results, had {}", now.size(), before_.size()));
  for (size_t n = 0; n < now.size(); ++n) {
    const bool is_drawn = drawn_.empty() || drawn_[n % drawn_.size()];
    // Passes that round may have run since the last comparison, too.
    const Rounding rounding = pass.rounding == Rounding::Draws && !is_drawn ? Rounding::May : pass.rounding;
    const auto found = difference(now[n], before_[n], rounding);
    if (found) return error(Code::ERUN002, n, fmt::format("after HLO pass {}: {}", pass.name, *found));
  }
  before_ = std::move(now);
  return Status::ok();
}

Status EquivalenceCheck::tell_apart_draws(hlo::Module& module) {
  if (!has_repeated_draws(module)) return Status::ok();
  mark_draws(module);
  NCC_ASSIGN(before_, results(module));
  return Status::ok();
}

}  // namespace ncc::hlo_passes
