#include "ir-formats/hlo/literal.h"

#include <algorithm>

namespace ncc::hlo {
namespace {

Shape without_layout(Shape shape) {
  shape.minor_to_major.clear();
  shape.layout_extras.reset();
  for (Shape& element : shape.elements) element = without_layout(std::move(element));
  return shape;
}

}  // namespace

Literal Literal::zeros(const Shape& shape) {
  const size_t size = static_cast<size_t>(shape.size_bytes());
  // Value-initialised storage; 64-byte alignment serves vector loads of the interpreters.
  const size_t rounded = (size + 63) / 64 * 64 + 64;
  std::shared_ptr<void> storage(::operator new (rounded, std::align_val_t{64}),
                                [](void* p) { ::operator delete (p, std::align_val_t{64}); });
  std::memset(storage.get(), 0, rounded);
  const auto* data = static_cast<const std::byte*>(storage.get());
  return view(shape, {data, size}, std::move(storage));
}

Literal Literal::view(const Shape& shape, std::span<const std::byte> bytes,
                      std::shared_ptr<const void> owner) {
  NCC_CHECK(!shape.is_tuple() && static_cast<int64_t>(bytes.size()) == shape.size_bytes(),
            "literal of {} has {} bytes", to_string(shape), bytes.size());
  Literal literal;
  literal.valid_ = true;
  literal.shape_ = without_layout(shape);
  literal.bytes_ = bytes;
  literal.owner_ = std::move(owner);
  return literal;
}

Literal Literal::copy(const Shape& shape, std::span<const std::byte> bytes) {
  Literal literal = zeros(shape);
  NCC_CHECK(bytes.size() == literal.bytes().size(), "literal of {} from {} bytes", to_string(shape),
            bytes.size());
  std::copy(bytes.begin(), bytes.end(), literal.mutable_data());
  return literal;
}

Literal Literal::make_tuple(std::vector<Literal> elements) {
  Literal literal;
  literal.valid_ = true;
  literal.shape_.tuple = true;
  for (const Literal& element : elements) literal.shape_.elements.push_back(element.shape());
  literal.elements_ = std::move(elements);
  return literal;
}

Literal Literal::scalar(Dtype dtype, double value) {
  Literal literal = zeros(Shape::array(dtype));
  if (is_complex(dtype)) {
    const float narrow = static_cast<float>(value);
    if (dtype == Dtype::C64) std::memcpy(literal.mutable_data(), &narrow, sizeof(narrow));
    if (dtype == Dtype::C128) std::memcpy(literal.mutable_data(), &value, sizeof(value));
  } else {
    store_from_double(dtype, literal.mutable_data(), value);
  }
  return literal;
}

Literal Literal::scalar_int(Dtype dtype, int64_t value) {
  if (is_complex(dtype)) return scalar(dtype, static_cast<double>(value));
  Literal literal = zeros(Shape::array(dtype));
  store_from_int64(dtype, literal.mutable_data(), value);
  return literal;
}

double Literal::as_double(int64_t index) const {
  if (shape_.dtype == Dtype::C64) return at<float>(2 * index);
  if (shape_.dtype == Dtype::C128) return at<double>(2 * index);
  return load_as_double(shape_.dtype, bytes_.data() + index * size_bytes(shape_.dtype));
}

int64_t Literal::as_int64(int64_t index) const {
  return load_as_int64(shape_.dtype, bytes_.data() + index * size_bytes(shape_.dtype));
}

bool Literal::is_splat() const {
  if (is_tuple() || bytes_.empty()) return false;
  const size_t width = static_cast<size_t>(size_bytes(shape_.dtype));
  return std::memcmp(bytes_.data(), bytes_.data() + width, bytes_.size() - width) == 0;
}

bool Literal::operator==(const Literal& other) const {
  if (valid_ != other.valid_ || !compatible(shape_, other.shape_) ||
      elements_.size() != other.elements_.size())
    return false;
  for (size_t i = 0; i < elements_.size(); ++i) {
    if (!(elements_[i] == other.elements_[i])) return false;
  }
  return bytes_.data() == other.bytes_.data() ||
         std::equal(bytes_.begin(), bytes_.end(), other.bytes_.begin(), other.bytes_.end());
}

}  // namespace ncc::hlo
