// .npy arrays (NumPy format 1.0-3.0) and the in-memory array they become.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/diag/status.h"
#include "common/dtype/dtype.h"

namespace ncc {

/// A dense row-major array. Storage is shared and may be a memory map; copy-on-write through `mutable_bytes`.
struct Array {
  Dtype dtype = Dtype::F32;
  std::vector<int64_t> shape;
  std::shared_ptr<const void> owner;  // keeps `bytes` alive
  std::span<const std::byte> bytes;

  int64_t num_elements() const;
  int64_t size_bytes() const { return num_elements() * ncc::size_bytes(dtype); }
  /// A zero-filled array that owns its storage.
  static Array zeros(Dtype dtype, std::vector<int64_t> shape);
  /// Only for arrays made by `zeros` (or read from a file and not shared).
  std::byte* mutable_data() { return const_cast<std::byte*>(bytes.data()); }
};

/// Memory-maps the file; an array in Fortran order is copied into rows instead. Types numpy has no descr for
/// arrive as their raw bits (bf16 as U16): `reinterpret` names the real type, which must have the same width.
/// EFIL003 on malformed files.
Result<Array> read_npy(const std::string& path);
/// Gives the raw bits their real type; EFIL003 when the widths differ.
Result<Array> reinterpret(Array array, Dtype dtype, const std::string& what);
Status write_npy(const std::string& path, const Array& array);

}  // namespace ncc
