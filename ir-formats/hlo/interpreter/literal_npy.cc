#include "ir-formats/hlo/interpreter/literal_npy.h"

#include "common/npy/array_folder.h"

namespace ncc::hlo {
namespace {

Result<Literal> read_leaves(const std::string& dir, const Shape& shape, int64_t& number) {
  if (!shape.is_tuple()) {
    if (!shape.is_array()) return Literal::zeros(shape);
    const int64_t n = number++;
    return read_literal(dir + "/" + numbered_npy(static_cast<size_t>(n)), shape, n);
  }
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements) {
    NCC_ASSIGN(Literal leaf, read_leaves(dir, element, number));
    elements.push_back(std::move(leaf));
  }
  return Literal::make_tuple(std::move(elements));
}

// Integers stored in another integer type, when every value fits.
Result<Literal> same_integers(const Array& array, const Shape& shape, int64_t number) {
  Literal out = Literal::zeros(Shape::array(shape.dtype, array.shape));
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    const int64_t value = load_as_int64(array.dtype, array.bytes.data() + i * size_bytes(array.dtype));
    std::byte* to = out.mutable_data() + i * size_bytes(shape.dtype);
    store_from_int64(shape.dtype, to, value);
    const bool sign_changes = (array.dtype == Dtype::U64) != (shape.dtype == Dtype::U64) && value < 0;
    if (sign_changes || load_as_int64(shape.dtype, to) != value)
      return error(Code::ERUN001, number,
                   fmt::format("element {} does not fit {}", i, info(shape.dtype).hlo));
  }
  return out;
}

// Dimensions that the shape leaves open may have any size up to their bound.
bool fits(const std::vector<int64_t>& dims, const Shape& shape) {
  if (dims.size() != shape.dims.size()) return false;
  for (size_t d = 0; d < dims.size(); ++d) {
    const int64_t wanted = shape.dims[d];
    const bool open =
        shape.is_dynamic_dim(static_cast<int64_t>(d)) && (wanted == kUnbounded || dims[d] <= wanted);
    if (dims[d] != wanted && !open) return false;
  }
  return true;
}

}  // namespace

Result<Literal> read_literal(const std::string& path, Dtype type) {
  NCC_ASSIGN(Array array, read_npy(path));
  if (array.dtype != type) {
    NCC_ASSIGN(array, reinterpret(std::move(array), type, path));
  }
  return Literal::view(Shape::array(type, array.shape), array.bytes, array.owner);
}

Result<Literal> literal_from_array(const Array& array, const Shape& shape, int64_t number) {
  // Raw bits arrive under the integer type of their width.
  const bool same_storage = info(shape.dtype).numpy == info(array.dtype).numpy;
  if (fits(array.shape, shape) && !same_storage && is_integer(array.dtype) && is_integer(shape.dtype))
    return same_integers(array, shape, number);
  if (!fits(array.shape, shape) || !same_storage)
    return error(Code::ERUN001, number,
                 fmt::format("found {}, expected {}", to_string(Shape::array(array.dtype, array.shape)),
                             to_string(shape)));
  return Literal::view(Shape::array(shape.dtype, array.shape), array.bytes, array.owner);
}

Result<Literal> read_literal(const std::string& path, const Shape& shape, int64_t number) {
  NCC_ASSIGN(const Array array, read_npy(path));
  return literal_from_array(array, shape, number);
}

Array array_from_literal(const Literal& literal) {
  NCC_CHECK(literal.is_valid() && literal.shape().is_array(), "{} as an array", to_string(literal.shape()));
  Array array;
  array.dtype = literal.shape().dtype;
  array.shape = literal.shape().dims;
  array.bytes = literal.bytes();
  array.owner = literal.owner();
  return array;
}

Status write_literal(const std::string& path, const Literal& literal) {
  return write_npy(path, array_from_literal(literal));
}

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
