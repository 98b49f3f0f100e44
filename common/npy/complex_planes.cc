#include "common/npy/complex_planes.h"

namespace ncc {
namespace {

Dtype part_type(Dtype dtype) { return dtype == Dtype::C128 ? Dtype::F64 : Dtype::F32; }

/// Where part i of the host's order, which alternates, stands in planes of `count` elements, in bytes.
int64_t in_planes(int64_t i, int64_t count) { return 4 * (i / 2 + (i % 2) * count); }

}  // namespace

Array planes_of(const Array& complex) {
  std::vector<int64_t> shape = {2};
  shape.insert(shape.end(), complex.shape.begin(), complex.shape.end());
  Array planes = Array::zeros(Dtype::F32, std::move(shape));
  const Dtype part = part_type(complex.dtype);
  const int64_t count = complex.num_elements(), width = size_bytes(part);
  for (int64_t i = 0; i < 2 * count; ++i)
    store_from_double(Dtype::F32, planes.mutable_data() + in_planes(i, count),
                      load_as_double(part, complex.bytes.data() + i * width));
  return planes;
}

Array complex_of(Dtype dtype, const std::vector<int64_t>& shape, std::span<const std::byte> planes) {
  Array complex = Array::zeros(dtype, shape);
  const Dtype part = part_type(dtype);
  const int64_t count = complex.num_elements(), width = size_bytes(part);
  NCC_CHECK(std::ssize(planes) == 8 * count, "{} bytes of planes for {} elements", planes.size(), count);
  for (int64_t i = 0; i < 2 * count; ++i)
    store_from_double(part, complex.mutable_data() + i * width,
                      load_as_double(Dtype::F32, planes.data() + in_planes(i, count)));
  return complex;
}

}  // namespace ncc
