#include "common/npy/npy.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "common/files/files.h"

namespace ncc {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// The first dtype whose descr matches; Pred for "|b1", U16 for "<u2" and so on (rows of raw-bit types come
// later in meaning).
std::optional<Dtype> dtype_from_descr(std::string_view descr) {
  for (Dtype dtype : {Dtype::Pred, Dtype::S8, Dtype::S16, Dtype::S32, Dtype::S64, Dtype::U8, Dtype::U16,
                      Dtype::U32, Dtype::U64, Dtype::F16, Dtype::F32, Dtype::F64, Dtype::C64, Dtype::C128})
    if (info(dtype).numpy == descr) return dtype;
  // How numpy extension types (bfloat16, 8-bit floats) save themselves.
  if (descr == "|V2" || descr == "<V2") return Dtype::U16;
  if (descr == "|V1" || descr == "<V1") return Dtype::U8;
  return std::nullopt;
}

// The text after 'key': in the header dictionary.
std::optional<std::string_view> header_value(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = header.substr(at + key.size() + 3);
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  return rest;
}

}  // namespace

int64_t Array::num_elements() const {
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  return count;
}

Array Array::zeros(Dtype dtype, std::vector<int64_t> shape) {
  Array array;
  array.dtype = dtype;
  array.shape = std::move(shape);
  const size_t size = static_cast<size_t>(array.size_bytes());
  std::shared_ptr<void> storage(std::calloc(size == 0 ? 1 : size, 1), std::free);
  if (!storage) throw std::bad_alloc();
  array.bytes = {static_cast<const std::byte*>(storage.get()), size};
  array.owner = std::move(storage);
  return array;
}

namespace {

// A copy in row-major order of an array whose bytes are in Fortran order: the first dimension runs fastest.
Array row_major(const Array& columns) {
  Array rows = Array::zeros(columns.dtype, columns.shape);
  const size_t rank = columns.shape.size(), width = static_cast<size_t>(size_bytes(columns.dtype));
  std::vector<size_t> strides(rank, width), index(rank, 0);
  for (size_t d = 1; d < rank; ++d) strides[d] = strides[d - 1] * static_cast<size_t>(columns.shape[d - 1]);
  const std::byte* from = columns.bytes.data();
  std::byte* const end = rows.mutable_data() + rows.bytes.size();
  for (std::byte* to = rows.mutable_data(); to != end; to += width) {
    std::memcpy(to, from, width);
    for (size_t d = rank; d-- > 0;) {
      from += strides[d];
      if (++index[d] < static_cast<size_t>(columns.shape[d])) break;
      from -= strides[d] * index[d];
      index[d] = 0;
    }
  }
  return rows;
}

}  // namespace

Result<Array> read_npy(const std::string& path) {
  NCC_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  const std::string_view text = file->text();
  const auto bad = [&](std::string_view why) { return error(Code::EFIL003, path, "a .npy array", why); };
  if (text.size() < 10 || text.substr(0, 6) != kMagic) return bad("no NumPy magic");
  const int major = static_cast<unsigned char>(text[6]);
  const size_t prefix = major == 1 ? 10 : 12;
  if (major < 1 || major > 3 || text.size() < prefix) return bad("unknown format version");
  size_t header_bytes = 0;
  std::memcpy(&header_bytes, text.data() + 8, major == 1 ? 2 : 4);
  if (header_bytes > text.size() - prefix) return bad("truncated header");
  const std::string_view header = text.substr(prefix, header_bytes);

  const auto descr = header_value(header, "descr");
  const auto order = header_value(header, "fortran_order");
  const auto shape = header_value(header, "shape");
  if (!descr || !order || !shape) return bad("incomplete header");
  const size_t quote = descr->find('\'', 1);
  if (descr->empty() || descr->front() != '\'' || quote == std::string_view::npos)
    return bad("unreadable descr");
  const auto dtype = dtype_from_descr(descr->substr(1, quote - 1));
  if (!dtype) return bad(fmt::format("element type {}", descr->substr(0, quote + 1)));

  Array array;
  array.dtype = *dtype;
  const size_t close = shape->find(')');
  if (shape->empty() || shape->front() != '(' || close == std::string_view::npos)
    return bad("unreadable shape");
  std::string_view dims = shape->substr(1, close - 1);
  int64_t count = 1;
  while (true) {
    while (!dims.empty() && (dims.front() == ' ' || dims.front() == ',')) dims.remove_prefix(1);
    if (dims.empty()) break;
    int64_t dim = 0;
    const auto [end, fault] = std::from_chars(dims.data(), dims.data() + dims.size(), dim);
    if (fault != std::errc() || dim < 0) return bad("unreadable shape");
    dims.remove_prefix(static_cast<size_t>(end - dims.data()));
    if (__builtin_mul_overflow(count, dim, &count)) return bad("shape too large");
    array.shape.push_back(dim);
  }
  const std::string_view payload = text.substr(prefix + header_bytes);
  int64_t needed = 0;
  if (__builtin_mul_overflow(count, size_bytes(*dtype), &needed) ||
      needed > static_cast<int64_t>(payload.size()))
    return bad("truncated data");
  array.bytes = {reinterpret_cast<const std::byte*>(payload.data()), static_cast<size_t>(needed)};
  array.owner = file;
  return order->starts_with("True") && array.shape.size() > 1 && needed > 0 ? row_major(array) : array;
}

Result<Array> reinterpret(Array array, Dtype dtype, const std::string& what) {
  if (array.dtype == dtype) return array;
  if (size_bytes(array.dtype) != size_bytes(dtype))
    return error(Code::EFIL003, what, fmt::format("an array of {}", info(dtype).hlo),
                 fmt::format("it holds {}", info(array.dtype).hlo));
  array.dtype = dtype;
  return array;
}

Status write_npy(const std::string& path, const Array& array) {
  std::string dims;
  for (int64_t dim : array.shape) dims += fmt::format("{},", dim);
  if (array.shape.size() > 1) dims.pop_back();
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   info(array.dtype).numpy, dims);
  const size_t unpadded = 10 + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += '\x01';
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return write_file(path, bytes);
}

}  // namespace ncc
