#include "ir-formats/hlo/interpreter/literal_npy.h"

#include "common/npy/npy.h"

namespace ncc::hlo {
namespace {

Result<Literal> read_leaves(const std::string& dir, const Shape& shape, int64_t& number) {
  if (!shape.is_tuple()) {
    if (!shape.is_array()) return Literal::zeros(shape);
    const int64_t n = number++;
    return read_literal(dir + "/" + numbered_npy(n), shape, n);
  }
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements) {
    NCC_ASSIGN(Literal leaf, read_leaves(dir, element, number));
    elements.push_back(std::move(leaf));
  }
  return Literal::make_tuple(std::move(elements));
}

}  // namespace

Result<Literal> read_literal(const std::string& path, Dtype type) {
  NCC_ASSIGN(Array array, read_npy(path));
  if (array.dtype != type) {
    NCC_ASSIGN(array, reinterpret(std::move(array), type, path));
  }
  return Literal::view(Shape::array(type, array.shape), array.bytes, array.owner);
}

Result<Literal> read_literal(const std::string& path, const Shape& shape, int64_t number) {
  NCC_ASSIGN(const Array array, read_npy(path));
  const bool raw_bits = info(shape.dtype).numpy == info(array.dtype).numpy;
  if (array.shape != shape.dims || !raw_bits)
    return error(Code::ERUN001, number,
                 fmt::format("'{}' holds {}, expected {}", path,
                             to_string(Shape::array(array.dtype, array.shape)), to_string(shape)));
  return Literal::view(Shape::array(shape.dtype, array.shape), array.bytes, array.owner);
}

Status write_literal(const std::string& path, const Literal& literal) {
  NCC_CHECK(literal.is_valid() && literal.shape().is_array(), "writing {} as an array",
            to_string(literal.shape()));
  Array array;
  array.dtype = literal.shape().dtype;
  array.shape = literal.shape().dims;
  array.bytes = literal.bytes();
  array.owner = literal.owner();
  return write_npy(path, array);
}

std::string numbered_npy(int64_t number) { return fmt::format("{:03}.npy", number); }

void flatten(const Literal& literal, std::vector<Literal>& leaves) {
  if (!literal.is_tuple()) return leaves.push_back(literal);
  for (const Literal& element : literal.elements()) flatten(element, leaves);
}

Result<std::vector<Literal>> read_arguments(const std::string& dir, const std::vector<Shape>& parameters) {
  std::vector<Literal> args;
  int64_t number = 0;
  for (const Shape& shape : parameters) {
    NCC_ASSIGN(Literal arg, read_leaves(dir, shape, number));
    args.push_back(std::move(arg));
  }
  return args;
}

}  // namespace ncc::hlo
