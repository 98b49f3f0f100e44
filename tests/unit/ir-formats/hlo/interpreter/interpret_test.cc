#include "ir-formats/hlo/interpreter/interpret.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace ncc;
using namespace ncc::hlo;

namespace {

template <class T>
Literal array(Dtype type, std::vector<int64_t> dims, const std::vector<T>& values) {
  return Literal::copy(Shape::array(type, std::move(dims)), std::as_bytes(std::span(values)));
}

template <class T>
std::vector<T> values_of(const Literal& literal) {
  std::vector<T> values;
  for (int64_t i = 0; i < literal.num_elements(); ++i) values.push_back(literal.at<T>(i));
  return values;
}

// A module of one op whose operands are the parameters.
struct OneOp {
  Module module{"test"};
  Computation* entry = module.add_computation("main");
  std::vector<Literal> args;
  Instruction* op = nullptr;

  OneOp(Opcode opcode, const Shape& result, std::vector<Literal> operands) : args(std::move(operands)) {
    std::vector<Instruction*> parameters;
    for (size_t i = 0; i < args.size(); ++i)
      parameters.push_back(entry->add_parameter(static_cast<int64_t>(i), args[i].shape()));
    op = entry->add(opcode, result, parameters);
    entry->set_root(op);
    module.set_entry(entry);
  }
  Literal run() {
    auto result = interpret(module, args);
    if (!result.is_ok()) FAIL(result.status().diagnostic().to_string());
    return result.take();
  }
};

Computation* binary_body(Module& module, Opcode opcode, Dtype type) {
  Computation* body = module.add_computation("body");
  Instruction* a = body->add_parameter(0, Shape::array(type));
  Instruction* b = body->add_parameter(1, Shape::array(type));
  body->set_root(body->add(opcode, Shape::array(type), {a, b}));
  return body;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("maximum propagates NaN from either side and orders -0 below +0", "[interpreter]") {
  OneOp test(Opcode::Maximum, Shape::array(Dtype::F32, {4}),
             {array<float>(Dtype::F32, {4}, {kNan, 1, -0.0F, 0.0F}),
              array<float>(Dtype::F32, {4}, {1, kNan, 0.0F, -0.0F})});
  const auto out = values_of<float>(test.run());
  CHECK(std::isnan(out[0]));
  CHECK(std::isnan(out[1]));
  CHECK_FALSE(std::signbit(out[2]));
  CHECK_FALSE(std::signbit(out[3]));
}

TEST_CASE("integer arithmetic wraps and division has XLA's corner values", "[interpreter]") {
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  const Shape shape = Shape::array(Dtype::S32, {4});
  const Literal a = array<int32_t>(Dtype::S32, {4}, {7, -7, kMin, 5});
  const Literal b = array<int32_t>(Dtype::S32, {4}, {2, 2, -1, 0});
  CHECK(values_of<int32_t>(OneOp(Opcode::Divide, shape, {a, b}).run()) ==
        std::vector<int32_t>{3, -3, kMin, -1});
  CHECK(values_of<int32_t>(OneOp(Opcode::Remainder, shape, {a, b}).run()) ==
        std::vector<int32_t>{1, -1, 0, 5});
  CHECK(values_of<int32_t>(OneOp(Opcode::Multiply, shape, {a, b}).run()) ==
        std::vector<int32_t>{14, -14, kMin, 0});
}

TEST_CASE("4-bit integers shift within their own width", "[interpreter]") {
  const Literal a = array<int8_t>(Dtype::S4, {3}, {0xF, 0x7, 0x8});  // -1, 7, -8
  const Literal b = array<int8_t>(Dtype::S4, {3}, {1, 5, 3});
  OneOp logical(Opcode::ShiftRightLogical, Shape::array(Dtype::S4, {3}), {a, b});
  CHECK(values_of<int8_t>(logical.run()) == std::vector<int8_t>{7, 0, 1});
  OneOp left(Opcode::ShiftLeft, Shape::array(Dtype::S4, {3}), {a, b});
  CHECK(values_of<int8_t>(left.run()) == std::vector<int8_t>{0xE, 0, 0});
}

TEST_CASE("bf16 arithmetic rounds once to bf16", "[interpreter]") {
  const Literal a = array<uint16_t>(Dtype::BF16, {1}, {bf16_from_f32(1.0F)});
  const Literal b =
      array<uint16_t>(Dtype::BF16, {1}, {bf16_from_f32(0.00390625F)});  // half an ulp: ties to even
  OneOp test(Opcode::Add, Shape::array(Dtype::BF16, {1}), {a, b});
  CHECK(values_of<uint16_t>(test.run())[0] == bf16_from_f32(1.0F));
}

TEST_CASE("convert truncates and saturates floats, keeps low bits of integers", "[interpreter]") {
  OneOp test(Opcode::Convert, Shape::array(Dtype::S8, {5}),
             {array<float>(Dtype::F32, {5}, {1.9F, -1.9F, 300, -kInf, kNan})});
  CHECK(values_of<int8_t>(test.run()) == std::vector<int8_t>{1, -1, 127, -128, 0});
  OneOp wrap(Opcode::Convert, Shape::array(Dtype::U8, {2}), {array<int32_t>(Dtype::S32, {2}, {-1, 257})});
  CHECK(values_of<uint8_t>(wrap.run()) == std::vector<uint8_t>{255, 1});
}

TEST_CASE("TOTALORDER puts NaN at the ends and separates the zeros", "[interpreter]") {
  OneOp test(Opcode::Compare, Shape::array(Dtype::Pred, {3}),
             {array<float>(Dtype::F32, {3}, {-kNan, -0.0F, kInf}),
              array<float>(Dtype::F32, {3}, {-kInf, 0.0F, kNan})});
  test.op->direction = CompareDirection::LT;
  test.op->compare_type = CompareType::TotalOrder;
  CHECK(values_of<uint8_t>(test.run()) == std::vector<uint8_t>{1, 1, 1});
}

TEST_CASE("transpose and broadcast place elements by dimension numbers", "[interpreter]") {
  const Literal a = array<int32_t>(Dtype::S32, {2, 3}, {0, 1, 2, 3, 4, 5});
  OneOp transpose(Opcode::Transpose, Shape::array(Dtype::S32, {3, 2}), {a});
  transpose.op->dimensions = {1, 0};
  CHECK(values_of<int32_t>(transpose.run()) == std::vector<int32_t>{0, 3, 1, 4, 2, 5});
  OneOp broadcast(Opcode::Broadcast, Shape::array(Dtype::S32, {3, 2, 2}), {a});
  broadcast.op->dimensions = {1, 0};
  CHECK(values_of<int32_t>(broadcast.run()) == std::vector<int32_t>{0, 0, 3, 3, 1, 1, 4, 4, 2, 2, 5, 5});
}

TEST_CASE("a large transpose moves every element once", "[interpreter]") {
  std::vector<int32_t> in(600 * 700);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int32_t>(i);
  OneOp test(Opcode::Transpose, Shape::array(Dtype::S32, {700, 600}),
             {array<int32_t>(Dtype::S32, {600, 700}, in)});
  test.op->dimensions = {1, 0};
  const auto out = values_of<int32_t>(test.run());
  bool same = true;
  for (int64_t r = 0; r < 700; ++r)
    for (int64_t c = 0; c < 600; ++c) same &= out[static_cast<size_t>(r * 600 + c)] == c * 700 + r;
  CHECK(same);
}

TEST_CASE("pad applies interior padding before edges, and negative edges crop", "[interpreter]") {
  OneOp test(Opcode::Pad, Shape::array(Dtype::S32, {5}),
             {array<int32_t>(Dtype::S32, {3}, {1, 2, 3}), array<int32_t>(Dtype::S32, {}, {9})});
  test.op->mutable_attrs().padding = {{-1, 1, 1}};  // 1 9 2 9 3 -> 9 2 9 3 -> 9 2 9 3 9
  CHECK(values_of<int32_t>(test.run()) == std::vector<int32_t>{9, 2, 9, 3, 9});
}

TEST_CASE("dot contracts any dimensions and widens bytes exactly", "[interpreter]") {
  OneOp test(Opcode::Dot, Shape::array(Dtype::S32, {2, 2}),
             {array<int8_t>(Dtype::S8, {2, 3}, {100, 100, 100, -100, 1, 2}),
              array<int8_t>(Dtype::S8, {2, 3}, {100, 100, 100, 1, 2, 3})});
  test.op->mutable_attrs().dot.lhs_contracting = {1};
  test.op->mutable_attrs().dot.rhs_contracting = {1};
  CHECK(values_of<int32_t>(test.run()) == std::vector<int32_t>{30000, 600, -9700, -92});
}

TEST_CASE("reduce folds init first along any dimensions, for known and unknown bodies", "[interpreter]") {
  const Literal a = array<float>(Dtype::F32, {2, 3}, {1, 2, 3, 4, 5, 6});
  for (const Opcode opcode : {Opcode::Add, Opcode::Multiply, Opcode::Maximum}) {
    for (const int64_t dim : {0, 1}) {
      OneOp test(Opcode::Reduce, Shape::array(Dtype::F32, {dim == 0 ? 3 : 2}),
                 {a, Literal::scalar(Dtype::F32, 4)});
      test.op->dimensions = {dim};
      test.op->called = {binary_body(test.module, opcode, Dtype::F32)};
      const auto out = values_of<float>(test.run());
      if (opcode == Opcode::Add)
        CHECK(out == (dim == 0 ? std::vector<float>{9, 11, 13} : std::vector<float>{10, 19}));
      if (opcode == Opcode::Multiply)
        CHECK(out == (dim == 0 ? std::vector<float>{16, 40, 72} : std::vector<float>{24, 480}));
      if (opcode == Opcode::Maximum)
        CHECK(out == (dim == 0 ? std::vector<float>{4, 5, 6} : std::vector<float>{4, 6}));
    }
  }
}

TEST_CASE("an op without implementation is named with its location", "[interpreter]") {
  OneOp test(Opcode::Infeed, Shape::token(), {Literal::zeros(Shape::token())});
  test.op->loc = {"jit(f)/infeed", "model.py", 12};
  const auto result = interpret(test.module, test.args);
  REQUIRE_FALSE(result.is_ok());
  CHECK(result.status().diagnostic().code == Code::EVRF001);
  CHECK(result.status().diagnostic().to_string().find("infeed") != std::string::npos);
  CHECK(result.status().diagnostic().loc.line == 12);
}

TEST_CASE("arguments are checked against the parameters", "[interpreter]") {
  OneOp test(Opcode::Negate, Shape::array(Dtype::F32, {2}), {array<float>(Dtype::F32, {2}, {1, 2})});
  const Literal wrong = Literal::zeros(Shape::array(Dtype::F32, {3}));
  const auto result = interpret(test.module, {&wrong, 1});
  REQUIRE_FALSE(result.is_ok());
  CHECK(result.status().diagnostic().code == Code::ERUN001);
}
