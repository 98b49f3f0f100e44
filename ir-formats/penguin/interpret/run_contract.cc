// Contractions as batched matrix products: flat accesses split by axis role, so each operand is packed into a
// dense [M, K] or [K, N] panel by offset tables.
#include <cblas.h>

#include "ir-formats/penguin/interpret/domain.h"
#include "ir-formats/penguin/interpret/lanes.h"
#include "ir-formats/penguin/interpret/run.h"

namespace ncc::penguin {
namespace {

/// Offsets of every point of the axes with `role`, row-major over them.
std::vector<int64_t> offsets(const Inst& inst, const RunContext& context, const FlatAccess& access,
                             AxisRole role) {
  std::vector<int64_t> table{0};
  for (size_t i = 0; i < inst.axes.size(); ++i) {
    if (inst.axes[i].role != role) continue;
    const int64_t extent = context.function.axes[inst.axes[i].axis].extent;
    std::vector<int64_t> next;
    next.reserve(table.size() * static_cast<size_t>(extent));
    for (int64_t base : table)
      for (int64_t k = 0; k < extent; ++k) next.push_back(base + k * access.steps[i]);
    table = std::move(next);
  }
  return table;
}

template <class T>
T element(const Lanes& lanes);
template <>
double element<double>(const Lanes& lanes) {
  return lanes.as_real(0);
}
template <>
uint64_t element<uint64_t>(const Lanes& lanes) {
  return static_cast<uint64_t>(lanes.integer[0]);
}

/// panel[r][c] = the element at constant + rows[r] + columns[c].
template <class T>
void pack(const Array& array, int64_t constant, const std::vector<int64_t>& rows,
          const std::vector<int64_t>& columns, std::vector<T>& panel) {
  panel.resize(rows.size() * columns.size());
  const int64_t size = ncc::size_bytes(array.dtype);
  const std::byte* data = array.bytes.data();
  // Runs of constant step are loaded at once.
  const int64_t count = static_cast<int64_t>(columns.size());
  const int64_t step = count > 1 ? columns[1] - columns[0] : 0;
  bool regular = true;
  for (int64_t c = 1; c < count; ++c) regular &= columns[static_cast<size_t>(c)] == columns[0] + c * step;
  Lanes lanes(array.dtype, regular ? count : 1);
  for (size_t r = 0; r < rows.size(); ++r) {
    T* out = panel.data() + r * columns.size();
    const int64_t origin = constant + rows[r];
    if (regular) {
      load(lanes, data + (origin + columns[0]) * size, step, count);
      for (int64_t c = 0; c < count; ++c) {
        if constexpr (std::is_same_v<T, double>)
          out[c] = lanes.as_real(c);
        else
          out[c] = static_cast<uint64_t>(lanes.integer[static_cast<size_t>(c)]);
      }
      continue;
    }
    for (size_t c = 0; c < columns.size(); ++c) {
      load(lanes, data + (origin + columns[c]) * size, 0, 1);
      out[c] = element<T>(lanes);
    }
  }
}

void multiply(const std::vector<double>& a, const std::vector<double>& b, std::vector<double>& c, int64_t m,
              int64_t n, int64_t k) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(m), static_cast<int>(n),
              static_cast<int>(k), 1.0, a.data(), static_cast<int>(k), b.data(), static_cast<int>(n), 0.0,
              c.data(), static_cast<int>(n));
}
void multiply(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b, std::vector<uint64_t>& c,
              int64_t m, int64_t n, int64_t k) {
  std::fill(c.begin(), c.end(), 0);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l) {
      const uint64_t factor = a[static_cast<size_t>(i * k + l)];
      const uint64_t* row = b.data() + l * n;
      uint64_t* out = c.data() + i * n;
      for (int64_t j = 0; j < n; ++j) out[j] += factor * row[j];
    }
}

struct Tables {
  std::vector<int64_t> batch, rows, columns;
};
Tables tables(const Inst& inst, const RunContext& context, const FlatAccess& access, AxisRole rows,
              AxisRole columns) {
  return {offsets(inst, context, access, AxisRole::Batch), offsets(inst, context, access, rows),
          offsets(inst, context, access, columns)};
}

template <class T>
void contract(const Inst& inst, RunContext& context) {
  const auto shape = [&](const Operand& operand) { return context.function.tensors[operand.tensor].shape; };
  const FlatAccess lhs = flatten(inst.operands[0], shape(inst.operands[0]), inst.axes);
  const FlatAccess rhs = flatten(inst.operands[1], shape(inst.operands[1]), inst.axes);
  const FlatAccess result = flatten(inst.result, shape(inst.result), inst.axes);
  const Tables a = tables(inst, context, lhs, AxisRole::LhsFree, AxisRole::Contract);
  const Tables b = tables(inst, context, rhs, AxisRole::Contract, AxisRole::RhsFree);
  const Tables c = tables(inst, context, result, AxisRole::LhsFree, AxisRole::RhsFree);
  const int64_t m = static_cast<int64_t>(a.rows.size()), n = static_cast<int64_t>(b.columns.size());
  const int64_t k = static_cast<int64_t>(a.columns.size());
  std::vector<T> left, right, product(static_cast<size_t>(m * n));
  const int64_t size = ncc::size_bytes(inst.result.dtype);
  Array& target = context.arrays[inst.result.tensor];
  Lanes row(std::is_same_v<T, double> ? Dtype::F64 : Dtype::S64, 1);
  for (size_t batch = 0; batch < a.batch.size(); ++batch) {
    pack(context.arrays[inst.operands[0].tensor], lhs.constant + a.batch[batch], a.rows, a.columns, left);
    pack(context.arrays[inst.operands[1].tensor], rhs.constant + b.batch[batch], b.rows, b.columns, right);
    multiply(left, right, product, m, n, k);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        const T value = product[static_cast<size_t>(i * n + j)];
        if constexpr (std::is_same_v<T, double>)
          row.real[0] = value;
        else
          row.integer[0] = static_cast<int64_t>(value);
        const int64_t at = result.constant + c.batch[batch] + c.rows[static_cast<size_t>(i)] +
                           c.columns[static_cast<size_t>(j)];
        store(row, inst.result.dtype, Rounding::Model, target.mutable_data() + at * size, 0, 1);
      }
  }
}

}  // namespace

void run_contract(const Inst& inst, RunContext& context) {
  const bool real = is_float(inst.operands[0].dtype) || is_float(inst.operands[1].dtype);
  if (real)
    contract<double>(inst, context);
  else
    contract<uint64_t>(inst, context);
}

}  // namespace ncc::penguin
