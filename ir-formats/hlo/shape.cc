#include "ir-formats/hlo/shape.h"

#include <algorithm>
#include <numeric>

namespace ncc::hlo {

Shape Shape::array(Dtype dtype, std::vector<int64_t> dims) {
  Shape shape;
  shape.dtype = dtype;
  shape.dims = std::move(dims);
  return shape;
}

Shape Shape::make_tuple(std::vector<Shape> elements) {
  Shape shape;
  shape.tuple = true;
  shape.elements = std::move(elements);
  return shape;
}

bool Shape::is_dynamic() const {
  if (!tuple) return dynamic_mask != 0;
  return std::any_of(elements.begin(), elements.end(), [](const Shape& e) { return e.is_dynamic(); });
}

void Shape::set_dynamic_dim(int64_t d, int64_t bound_or_unbounded) {
  dims[static_cast<size_t>(d)] = bound_or_unbounded;
  dynamic_mask |= uint64_t{1} << d;
}

int64_t Shape::num_elements() const {
  if (tuple) return 0;
  int64_t count = 1;
  for (int64_t d : dims) {
    if (d <= 0) return 0;
  }
  for (int64_t d : dims) count *= d;
  return count;
}

int64_t Shape::size_bytes() const {
  if (!tuple) return num_elements() * ncc::size_bytes(dtype);
  int64_t total = 0;
  for (const Shape& element : elements) total += element.size_bytes();
  return total;
}

std::vector<int64_t> Shape::full_minor_to_major() const {
  if (!minor_to_major.empty()) return minor_to_major;
  std::vector<int64_t> order(dims.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(order.size() - 1 - i);
  return order;
}

void Shape::set_minor_to_major(std::vector<int64_t> order) {
  minor_to_major.clear();
  if (order != full_minor_to_major()) minor_to_major = std::move(order);
}

namespace {

template <class T>
bool same_target(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  return a == b || (a && b && *a == *b);
}

bool equal(const Shape& a, const Shape& b, bool layouts, bool dtypes) {
  if (a.tuple != b.tuple) return false;
  if (a.tuple) {
    if (a.elements.size() != b.elements.size()) return false;
    for (size_t i = 0; i < a.elements.size(); ++i) {
      if (!equal(a.elements[i], b.elements[i], layouts, dtypes)) return false;
    }
    return true;
  }
  if (a.dims != b.dims || a.dynamic_mask != b.dynamic_mask) return false;
  if (dtypes && (a.dtype != b.dtype || !same_target(a.quantization, b.quantization))) return false;
  return !layouts || (a.minor_to_major == b.minor_to_major && same_target(a.layout_extras, b.layout_extras));
}

std::string tile_text(const std::vector<int64_t>& tile) {
  std::string text = "(";
  for (size_t i = 0; i < tile.size(); ++i) {
    if (i > 0) text += ",";
    text += tile[i] == kTileCombine ? "*" : fmt::format("{}", tile[i]);
  }
  return text + ")";
}

// The parts after the colon, in the order that the text form demands.
std::string extras_text(const LayoutExtras& extras) {
  std::string text;
  if (!extras.tiles.empty()) text += "T";
  for (const auto& tile : extras.tiles) text += tile_text(tile);
  if (extras.tail_padding_alignment > 1) text += fmt::format("L({})", extras.tail_padding_alignment);
  if (extras.element_size_in_bits != 0) text += fmt::format("E({})", extras.element_size_in_bits);
  if (extras.memory_space != 0) text += fmt::format("S({})", extras.memory_space);
  if (!extras.split_configs.empty()) text += "SC";
  for (const auto& [dimension, points] : extras.split_configs)
    text += fmt::format("({}:{})", dimension, fmt::join(points, ","));
  if (extras.dynamic_metadata_bytes != 0) text += fmt::format("M({})", extras.dynamic_metadata_bytes);
  return text;
}

std::string layout_text(const Shape& shape) {
  const std::string extras = shape.layout_extras ? extras_text(*shape.layout_extras) : "";
  if (shape.dims.empty() && extras.empty()) return "";
  std::string text = fmt::format("{{{}", fmt::join(shape.full_minor_to_major(), ","));
  if (!extras.empty()) text += ":" + extras;
  return text + "}";
}

std::string quantization_text(const Shape& shape) {
  const Quantization& q = *shape.quantization;
  std::string text = fmt::format("q<{}:{}", info(shape.dtype).hlo, info(q.expressed).hlo);
  if (q.axis >= 0) text += fmt::format(":{}", q.axis);
  for (size_t i = 0; i < q.scales.size(); ++i) text += fmt::format(",{}:{}", q.scales[i], q.zero_points[i]);
  return text + ">";
}

}  // namespace

bool Shape::operator==(const Shape& other) const { return equal(*this, other, true, true); }
bool compatible(const Shape& a, const Shape& b) { return equal(a, b, false, true); }
bool same_dims(const Shape& a, const Shape& b) { return equal(a, b, false, false); }

std::string to_string(const Shape& shape, bool with_layout) {
  if (shape.tuple) {
    std::string text = "(";
    for (size_t i = 0; i < shape.elements.size(); ++i) {
      if (i > 0) text += ", ";
      text += to_string(shape.elements[i], with_layout);
    }
    return text + ")";
  }
  std::string text = shape.quantization ? quantization_text(shape) : std::string(info(shape.dtype).hlo);
  text += "[";
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int64_t size = shape.dims[static_cast<size_t>(d)];
    if (d > 0) text += ",";
    if (size == kUnbounded) {
      text += "?";
    } else {
      text += fmt::format("{}{}", shape.is_dynamic_dim(d) ? "<=" : "", size);
    }
  }
  text += "]";
  if (with_layout && shape.is_array()) text += layout_text(shape);
  return text;
}

int64_t leaf_count(const Shape& shape) {
  if (!shape.tuple) return 1;
  int64_t count = 0;
  for (const Shape& element : shape.elements) count += leaf_count(element);
  return count;
}

Status check_shape(const Shape& shape, std::string_view what) {
  constexpr int64_t kMaxBytes = int64_t{1} << 46;
  if (shape.tuple) {
    for (const Shape& element : shape.elements) NCC_TRY(check_shape(element, what));
    return Status::ok();
  }
  if (shape.rank() > kMaxRank)
    return error(Code::EVRF003,
                 fmt::format("{} has rank {}, at most {} is supported", what, shape.rank(), kMaxRank));
  int64_t bytes = std::max<int64_t>(1, size_bytes(shape.dtype));
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int64_t size = shape.dims[static_cast<size_t>(d)];
    if (size == kUnbounded && shape.is_dynamic_dim(d)) continue;
    if (size < 0) return error(Code::EVRF003, fmt::format("{} has a dimension of size {}", what, size));
    if (size > kMaxBytes || (size > 0 && bytes > kMaxBytes / size))
      return error(Code::EVRF003, fmt::format("{} is larger than 2^46 bytes", what));
    bytes *= std::max<int64_t>(1, size);
  }
  if (shape.minor_to_major.empty()) return Status::ok();
  std::vector<int64_t> sorted = shape.minor_to_major;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int64_t> iota(shape.dims.size());
  std::iota(iota.begin(), iota.end(), 0);
  if (sorted != iota)
    return error(Code::EVRF003,
                 fmt::format("the layout {{{}}} of {} is not a permutation of its {} dimensions",
                             fmt::join(shape.minor_to_major, ","), what, shape.rank()));
  return Status::ok();
}

}  // namespace ncc::hlo
