#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <span>

#include "tests/unit/tools/hlo-opt/expand_math/sweep.h"
#include "tools/hlo-opt/passes/expand_math/expand_math.h"

namespace ncc::hlo_opt::testing {
namespace {

using penguin::AxisRole;
using penguin::Inst;
using penguin::Operand;
using penguin::ScalarFunction;

/// A module of one Reduce or Contract under construction.
struct Program {
  penguin::Module module;
  std::vector<Array> values;

  Program() { module.functions.emplace_back(); }
  penguin::AxisId axis(int64_t extent) {
    module.main().axes.push_back({fmt::format("a{}", module.main().axes.size()), extent});
    return static_cast<penguin::AxisId>(module.main().axes.size() - 1);
  }
  Operand tensor(const std::string& name, Dtype dtype, const std::vector<penguin::AxisId>& axes,
                 penguin::Role role) {
    penguin::Tensor tensor;
    tensor.name = name;
    tensor.dtype = dtype;
    tensor.role = role;
    Operand operand;
    operand.dtype = dtype;
    for (penguin::AxisId axis : axes) {
      tensor.shape.push_back(module.main().axes[axis].extent);
      operand.index.push_back(module.affine->axis(axis));
    }
    operand.tensor = static_cast<penguin::TensorId>(module.main().tensors.size());
    module.main().tensors.push_back(tensor);
    values.push_back({dtype, std::vector<uint64_t>(static_cast<size_t>(tensor.num_elements()))});
    return operand;
  }
  Array& of(const Operand& operand) { return values[operand.tensor]; }
  void add(std::unique_ptr<Inst> inst) {
    penguin::Stmt stmt;
    stmt.inst = std::move(inst);
    module.main().body.push_back(std::move(stmt));
  }
  void run(const char* target, std::span<const std::byte> constants = {}) {
    const Status status = expand_math(module, *find_arch(target), constants);
    INFO((status.is_ok() ? std::string() : status.diagnostic().to_string()));
    REQUIRE(status.is_ok());
    evaluate(module, *find_arch(target), values);
  }
};

void fill(Array& array, uint64_t seed, int64_t low_bits = 64) {
  std::mt19937_64 random(seed);
  const Array samples = is_float(array.dtype) ? Array{} : sample_integers(array.dtype, seed, 100);
  for (uint64_t& bits : array.bits) {
    if (is_float(array.dtype)) {
      bits = floats(array.dtype, {std::ldexp(static_cast<double>(random() % 2000) - 1000, -6)}).bits[0];
    } else {
      bits = samples.bits[random() % samples.bits.size()];
      if (low_bits < 64) bits &= (uint64_t{1} << low_bits) - 1;
    }
  }
}

int64_t fold(ScalarFunction function, int64_t a, int64_t b) {
  switch (function) {
    case ScalarFunction::Add:
      return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    case ScalarFunction::Multiply:
      return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    case ScalarFunction::Maximum:
      return std::max(a, b);
    case ScalarFunction::Minimum:
      return std::min(a, b);
    case ScalarFunction::And:
      return a & b;
    case ScalarFunction::Or:
      return a | b;
    default:
      return a ^ b;
  }
}

int64_t identity(ScalarFunction function, Dtype type) {
  const int width = info(type).bits;
  switch (function) {
    case ScalarFunction::Multiply:
      return 1;
    case ScalarFunction::Maximum:
      return is_signed_int(type) ? -(int64_t{1} << (width - 1)) : 0;
    case ScalarFunction::Minimum:
      return is_signed_int(type) ? (int64_t{1} << (width - 1)) - 1 : (int64_t{1} << width) - 1;
    case ScalarFunction::And:
      return -1;
    default:
      return 0;
  }
}

constexpr ScalarFunction kFolds[] = {
    ScalarFunction::Add, ScalarFunction::Multiply, ScalarFunction::Maximum, ScalarFunction::Minimum,
    ScalarFunction::And, ScalarFunction::Or,       ScalarFunction::Xor};

TEST_CASE("integer reductions are exact for every fold, type and init value", "[expand_math]") {
  for (Dtype type : kIntegerTypes)
    for (ScalarFunction function : kFolds)
      for (int64_t extent : {1, 2, 7, 600})
        for (int init_kind = 0; init_kind < 3; ++init_kind) {
          Program program;
          const penguin::AxisId i = program.axis(3), j = program.axis(extent), k = program.axis(2);
          const Operand x = program.tensor("x", type, {j, i, k}, penguin::Role::Input);
          Operand init = program.tensor("init", type, {}, penguin::Role::Input);
          const Operand y = program.tensor("y", type, {i}, penguin::Role::Output);
          fill(program.of(x), 7);
          int64_t start = init_kind == 0 ? identity(function, type) : 5;
          program.of(init).bits[0] = integers(type, {start}).bits[0];
          start = as_int64(type, program.of(init).bits[0]);
          if (init_kind < 2) {
            init.kind = Operand::Kind::Scalar;
            init.scalar = program.of(init).bits[0];
            init.index.clear();
          }
          auto inst = std::make_unique<Inst>();
          inst->name = "y";
          inst->op = penguin::TensorOp::Reduce;
          inst->function = function;
          inst->axes = {{i, AxisRole::Parallel}, {j, AxisRole::Reduce}, {k, AxisRole::Reduce}};
          inst->operands = {x, init};
          inst->result = y;
          program.add(std::move(inst));
          const Array data = program.of(x);
          program.run(extent == 7 ? "trn2" : "trn1");
          for (int64_t row = 0; row < 3; ++row) {
            int64_t expected = start;
            for (int64_t n = 0; n < extent; ++n)
              for (int64_t m = 0; m < 2; ++m)
                expected = fold(function, expected,
                                as_int64(type, data.bits[static_cast<size_t>((n * 3 + row) * 2 + m)]));
            INFO(info(type).hlo << " " << penguin::info(function).name << " extent " << extent << " init "
                                << init_kind);
            CHECK(program.of(y).bits[static_cast<size_t>(row)] == integers(type, {expected}).bits[0]);
          }
        }
}

TEST_CASE("float reductions round once, from fp32", "[expand_math]") {
  for (Dtype type : kFloatTypes)
    for (double start : {0.0, 3.0}) {
      Program program;
      const penguin::AxisId i = program.axis(4), j = program.axis(300);
      const Operand x = program.tensor("x", type, {i, j}, penguin::Role::Input);
      const Operand y = program.tensor("y", type, {i}, penguin::Role::Output);
      fill(program.of(x), 3);
      auto inst = std::make_unique<Inst>();
      inst->name = "y";
      inst->op = penguin::TensorOp::Reduce;
      inst->function = ScalarFunction::Add;
      inst->axes = {{i, AxisRole::Parallel}, {j, AxisRole::Reduce}};
      Operand init;
      init.kind = Operand::Kind::Scalar;
      init.dtype = type;
      init.scalar = floats(type, {start}).bits[0];
      inst->operands = {x, init};
      inst->result = y;
      program.add(std::move(inst));
      const Array data = program.of(x);
      program.run("trn1");
      for (size_t row = 0; row < 4; ++row) {
        double expected = start;
        for (size_t n = 0; n < 300; ++n) expected += as_double(type, data.bits[row * 300 + n]);
        CHECK(ulp_distance(type, program.of(y).bits[row], floats(type, {expected}).bits[0]) == 0);
      }
    }
}

TEST_CASE("predicate reductions are boolean", "[expand_math]") {
  for (ScalarFunction function :
       {ScalarFunction::Add, ScalarFunction::Or, ScalarFunction::And, ScalarFunction::Minimum}) {
    const bool is_and = function == ScalarFunction::And || function == ScalarFunction::Minimum;
    Program program;
    const penguin::AxisId i = program.axis(3), j = program.axis(4);
    const Operand x = program.tensor("x", Dtype::Pred, {i, j}, penguin::Role::Input);
    const Operand y = program.tensor("y", Dtype::Pred, {i}, penguin::Role::Output);
    program.of(x).bits = {0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1};
    auto inst = std::make_unique<Inst>();
    inst->name = "y";
    inst->op = penguin::TensorOp::Reduce;
    inst->function = function;
    inst->axes = {{i, AxisRole::Parallel}, {j, AxisRole::Reduce}};
    Operand init;
    init.kind = Operand::Kind::Scalar;
    init.dtype = Dtype::Pred;
    init.scalar = is_and;
    inst->operands = {x, init};
    inst->result = y;
    program.add(std::move(inst));
    program.run("trn1");
    CHECK(program.of(y).bits == (is_and ? std::vector<uint64_t>{0, 0, 1} : std::vector<uint64_t>{0, 1, 1}));
  }
}

struct Product {
  Dtype lhs, rhs, result;
  int64_t terms, second_terms;
};

TEST_CASE("integer contractions are exact modulo the result type", "[expand_math]") {
  for (const Product& shape : {Product{Dtype::S8, Dtype::S8, Dtype::S32, 40, 1},
                               {Dtype::S8, Dtype::S8, Dtype::S8, 3000, 1},
                               {Dtype::U8, Dtype::U8, Dtype::U32, 700, 1},
                               {Dtype::S16, Dtype::S16, Dtype::S16, 300, 1},
                               {Dtype::S16, Dtype::S8, Dtype::S32, 20, 30},
                               {Dtype::S32, Dtype::S32, Dtype::S32, 5, 1},
                               {Dtype::S32, Dtype::S32, Dtype::S32, 600, 1},
                               {Dtype::U32, Dtype::U32, Dtype::U32, 7, 300},
                               {Dtype::U32, Dtype::U32, Dtype::U32, 300, 5},
                               {Dtype::U16, Dtype::U16, Dtype::U16, 2, 9}}) {
    Program program;
    const penguin::AxisId b = program.axis(2), m = program.axis(3), n = program.axis(2),
                          k = program.axis(shape.terms), l = program.axis(shape.second_terms);
    const Operand lhs = program.tensor("lhs", shape.lhs, {b, m, k, l}, penguin::Role::Input);
    const Operand rhs = program.tensor("rhs", shape.rhs, {b, k, l, n}, penguin::Role::Input);
    const Operand y = program.tensor("y", shape.result, {b, m, n}, penguin::Role::Output);
    fill(program.of(lhs), 1);
    fill(program.of(rhs), 2);
    auto inst = std::make_unique<Inst>();
    inst->name = "y";
    inst->op = penguin::TensorOp::Contract;
    inst->axes = {{b, AxisRole::Batch},
                  {m, AxisRole::LhsFree},
                  {n, AxisRole::RhsFree},
                  {k, AxisRole::Contract},
                  {l, AxisRole::Contract}};
    inst->operands = {lhs, rhs};
    inst->result = y;
    program.add(std::move(inst));
    const Array a = program.of(lhs), c = program.of(rhs);
    program.run("trn1");
    const int64_t depth = shape.terms * shape.second_terms;
    int wrong = 0;
    for (int64_t batch = 0; batch < 2; ++batch)
      for (int64_t row = 0; row < 3; ++row)
        for (int64_t column = 0; column < 2; ++column) {
          uint64_t sum = 0;
          for (int64_t t = 0; t < depth; ++t)
            sum += static_cast<uint64_t>(
                       as_int64(shape.lhs, a.bits[static_cast<size_t>((batch * 3 + row) * depth + t)])) *
                   static_cast<uint64_t>(
                       as_int64(shape.rhs, c.bits[static_cast<size_t>((batch * depth + t) * 2 + column)]));
          wrong += program.of(y).bits[static_cast<size_t>((batch * 3 + row) * 2 + column)] !=
                   integers(shape.result, {static_cast<int64_t>(sum)}).bits[0];
        }
    INFO(info(shape.lhs).hlo << " " << info(shape.rhs).hlo << " -> " << info(shape.result).hlo << " over "
                             << depth);
    CHECK(wrong == 0);
  }
}

TEST_CASE("small known integers compare and reduce in fp32", "[expand_math]") {
  // An iota below 2^24 stays one instruction per comparison and keeps its maximum as one Reduce.
  Program program;
  const penguin::AxisId i = program.axis(100);
  const Operand iota = program.tensor("iota", Dtype::S32, {i}, penguin::Role::Internal);
  const Operand limit = program.tensor("limit", Dtype::S32, {i}, penguin::Role::Input);
  const Operand less = program.tensor("less", Dtype::Pred, {i}, penguin::Role::Output);
  const Operand largest = program.tensor("largest", Dtype::S32, {}, penguin::Role::Output);
  auto make = std::make_unique<Inst>();
  make->name = "iota";
  make->axes = {{i, AxisRole::Parallel}};
  Operand index;
  index.kind = Operand::Kind::Index;
  index.dtype = Dtype::S32;
  index.value = program.module.affine->axis(i);
  make->operands = {index};
  make->result = iota;
  program.add(std::move(make));
  auto compare = std::make_unique<Inst>();
  compare->name = "less";
  compare->function = ScalarFunction::Compare;
  compare->attributes.comparison = penguin::Comparison::Lt;
  compare->axes = {{i, AxisRole::Parallel}};
  compare->operands = {iota, limit};
  compare->result = less;
  program.add(std::move(compare));
  auto reduce = std::make_unique<Inst>();
  reduce->name = "largest";
  reduce->op = penguin::TensorOp::Reduce;
  reduce->function = ScalarFunction::Maximum;
  reduce->axes = {{i, AxisRole::Reduce}};
  Operand init;
  init.kind = Operand::Kind::Scalar;
  init.dtype = Dtype::S32;
  init.scalar = 0x80000000;
  reduce->operands = {iota, init};
  reduce->result = largest;
  program.add(std::move(reduce));
  for (size_t n = 0; n < 100; ++n) program.of(limit).bits[n] = n % 2 == 0 ? 0x7FFFFFFF : 17;
  program.run("trn1");
  CHECK(program.module.main().body.size() == 3);
  CHECK(program.of(largest).bits[0] == 99);
  for (size_t n = 0; n < 100; ++n) CHECK(program.of(less).bits[n] == (n % 2 == 0 || n < 17));
}

TEST_CASE("constants bound the arguments computed from them", "[expand_math]") {
  // Rotary embedding: positions times constant frequencies need no reduction of huge arguments.
  Program program;
  const penguin::AxisId i = program.axis(50), j = program.axis(3);
  const Operand frequency = program.tensor("frequency", Dtype::F32, {j}, penguin::Role::Const);
  const Operand angle = program.tensor("angle", Dtype::F32, {i, j}, penguin::Role::Internal);
  const Operand y = program.tensor("y", Dtype::F32, {i, j}, penguin::Role::Output);
  const std::vector<float> data = {1.0f, 0.1f, 0.01f};
  program.module.main().tensors[frequency.tensor].const_offset = 0;
  program.of(frequency) = floats(Dtype::F32, {1.0f, 0.1f, 0.01f});
  Operand position;
  position.kind = Operand::Kind::Index;
  position.dtype = Dtype::F32;
  position.value = program.module.affine->axis(i);
  auto add = [&](const std::string& name, ScalarFunction function, std::vector<Operand> operands,
                 const Operand& result) {
    auto inst = std::make_unique<Inst>();
    inst->name = name;
    inst->function = function;
    inst->axes = {{i, AxisRole::Parallel}, {j, AxisRole::Parallel}};
    inst->operands = std::move(operands);
    inst->result = result;
    program.add(std::move(inst));
  };
  add("angle", ScalarFunction::Multiply, {position, frequency}, angle);
  add("y", ScalarFunction::Sine, {angle}, y);
  program.run("trn2", std::as_bytes(std::span(data)));
  CHECK(program.module.main().body.size() < 25);
  for (size_t row = 0; row < 50; ++row)
    for (size_t column = 0; column < 3; ++column) {
      const float argument = static_cast<float>(row) * data[column];
      CHECK(as_double(Dtype::F32, program.of(y).bits[row * 3 + column]) ==
            Approx(std::sin(double{argument})).margin(1e-7));
    }
}

}  // namespace
}  // namespace ncc::hlo_opt::testing
