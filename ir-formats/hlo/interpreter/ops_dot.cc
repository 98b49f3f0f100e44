// dot: both operands are brought into [batch, rows, contracted] and [batch, contracted, columns], then
// multiplied. Floats: in double when cheap, else in their own precision (narrow floats in f32); one rounding
// to the result type. Integers: exactly, modulo 2^n of the result type. Source: spec/stablehlo-text.md §3.8.
#include <cblas.h>

#include <algorithm>
#include <numeric>

#include "common/parallel/parallel.h"
#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/product.h"
#include "ir-formats/hlo/interpreter/strided_copy.h"

namespace ncc::hlo {
namespace {

// One operand permuted to [batch, free, contracted] (or [batch, contracted, free]) and how large those are.
struct Side {
  Literal dense;
  std::vector<int64_t> batch_dims, free_dims;
  int64_t batch = 1, free = 1, contracted = 1;
};

Side arrange(const Literal& operand, const std::vector<int64_t>& batch,
             const std::vector<int64_t>& contracting, bool contracted_first) {
  const std::vector<int64_t>& dims = operand.shape().dims;
  const auto listed = [](const std::vector<int64_t>& list, int64_t d) {
    return std::find(list.begin(), list.end(), d) != list.end();
  };
  Side side;
  std::vector<int64_t> free;
  for (int64_t d = 0; d < operand.shape().rank(); ++d) {
    if (!listed(batch, d) && !listed(contracting, d)) free.push_back(d);
  }
  for (int64_t d : batch) side.batch_dims.push_back(dims[static_cast<size_t>(d)]);
  for (int64_t d : free) side.free_dims.push_back(dims[static_cast<size_t>(d)]);
  for (int64_t d : batch) side.batch *= dims[static_cast<size_t>(d)];
  for (int64_t d : free) side.free *= dims[static_cast<size_t>(d)];
  for (int64_t d : contracting) side.contracted *= dims[static_cast<size_t>(d)];
  std::vector<int64_t> order = batch;
  const auto& second = contracted_first ? contracting : free;
  const auto& third = contracted_first ? free : contracting;
  order.insert(order.end(), second.begin(), second.end());
  order.insert(order.end(), third.begin(), third.end());
  if (std::is_sorted(order.begin(), order.end())) {
    side.dense = operand;
    return side;
  }
  const std::vector<int64_t> source = row_major_strides(dims);
  std::vector<int64_t> out_dims, strides;
  for (int64_t d : order) {
    out_dims.push_back(dims[static_cast<size_t>(d)]);
    strides.push_back(source[static_cast<size_t>(d)]);
  }
  side.dense = Literal::zeros(Shape::array(operand.shape().dtype, out_dims));
  strided_copy(size_bytes(operand.shape().dtype), out_dims, operand.bytes().data(), strides,
               side.dense.mutable_data(), row_major_strides(out_dims));
  return side;
}

// Small products of floats in k order, every step rounded to T: the published values of the conformance suite
// are made this way, and where terms cancel no other order comes within their tolerance.
template <class T>
void ordered_product(const Product& p) {
  const T* a = static_cast<const T*>(p.a);
  const T* b = static_cast<const T*>(p.b);
  T* c = static_cast<T*>(p.c);
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      T sum = 0;
      for (int64_t k = 0; k < p.k; ++k) sum += a[i * p.k + k] * b[k * p.n + j];
      c[i * p.n + j] = sum;
    }
  }
}

template <class T>
void ordered_complex_product(const Product& p) {
  const T* a = static_cast<const T*>(p.a);
  const T* b = static_cast<const T*>(p.b);
  T* c = static_cast<T*>(p.c);
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      T re = 0, im = 0;
      for (int64_t k = 0; k < p.k; ++k) {
        const T* x = a + 2 * (i * p.k + k);
        const T* y = b + 2 * (k * p.n + j);
        re += x[0] * y[0] - x[1] * y[1];
        im += x[0] * y[1] + x[1] * y[0];
      }
      c[2 * (i * p.n + j)] = re;
      c[2 * (i * p.n + j) + 1] = im;
    }
  }
}

// c[m, n] = Σ_k a[m, k] b[k, n] in unsigned arithmetic: exact modulo 2^bits.
template <class U>
void integer_product(const Product& p) {
  const U* a = static_cast<const U*>(p.a);
  const U* b = static_cast<const U*>(p.b);
  U* c = static_cast<U*>(p.c);
  parallel_for(p.m, std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, p.n * p.k)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   std::fill(c + i * p.n, c + (i + 1) * p.n, U{0});
                   for (int64_t k = 0; k < p.k; ++k) {
                     const U factor = a[i * p.k + k];
                     if (factor == 0) continue;
#pragma GCC ivdep
                     for (int64_t j = 0; j < p.n; ++j) c[i * p.n + j] += factor * b[k * p.n + j];
                   }
                 }
               });
}

// Products of at most this many multiplications are computed in k order in the result's own precision.
constexpr double kOrderedMultiplications = 4096;

}  // namespace

Dtype product_type(Dtype lhs, Dtype rhs, Dtype result, double multiplications) {
  if (is_complex(result)) return multiplications <= kOrderedMultiplications ? result : Dtype::C128;
  if (is_float(result) || is_float(lhs) || is_float(rhs)) {
    // Double costs twice the time of f32: affordable below this size.
    constexpr double kCheap = 4e9;
    const bool wide = lhs == Dtype::F64 || rhs == Dtype::F64 || result == Dtype::F64;
    if (!wide && multiplications <= kOrderedMultiplications) return Dtype::F32;
    return wide || multiplications <= kCheap ? Dtype::F64 : Dtype::F32;
  }
  if (size_bytes(result) == 8) return is_signed_int(result) ? Dtype::S64 : Dtype::U64;
  return is_unsigned_int(result) || result == Dtype::Pred ? Dtype::U32 : Dtype::S32;
}

void multiply(const Product& p, Dtype type) {
  // BLAS obeys the same limit as our own loops.
  [[maybe_unused]] static const bool kLimited = (openblas_set_num_threads(thread_count()), true);
  if (p.m == 0 || p.n == 0) return;
  const auto m = static_cast<blasint>(p.m), n = static_cast<blasint>(p.n), k = static_cast<blasint>(p.k);
  if (p.k == 0) {
    std::memset(p.c, 0, static_cast<size_t>(p.m * p.n * size_bytes(type)));
    return;
  }
  const bool small = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) <=
                     kOrderedMultiplications;
  switch (type) {
    case Dtype::C64:
      return ordered_complex_product<float>(p);
    case Dtype::F32:
      if (small) return ordered_product<float>(p);
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0F, static_cast<const float*>(p.a), k,
                  static_cast<const float*>(p.b), n, 0.0F, static_cast<float*>(p.c), n);
      return;
    case Dtype::F64:
      if (small) return ordered_product<double>(p);
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0, static_cast<const double*>(p.a), k,
                  static_cast<const double*>(p.b), n, 0.0, static_cast<double*>(p.c), n);
      return;
    case Dtype::C128: {
      if (small) return ordered_complex_product<double>(p);
      const double one[2] = {1, 0}, zero[2] = {0, 0};
      cblas_zgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, one, p.a, k, p.b, n, zero, p.c, n);
      return;
    }
    case Dtype::S32:
    case Dtype::U32:
      return integer_product<uint32_t>(p);
    case Dtype::S64:
    case Dtype::U64:
      return integer_product<uint64_t>(p);
    default:
      NCC_CHECK(false, "matrix product in {}", info(type).hlo);
  }
}

Result<Literal> eval_dot(Evaluator&, const Instruction& inst, Operands& operands) {
  const DotDims& dims = inst.attrs().dot;
  Side lhs = arrange(operands[0], dims.lhs_batch, dims.lhs_contracting, false);
  Side rhs = arrange(operands[1], dims.rhs_batch, dims.rhs_contracting, true);
  operands.clear();
  const double work = static_cast<double>(lhs.batch) * static_cast<double>(lhs.free) *
                      static_cast<double>(rhs.free) * static_cast<double>(lhs.contracted);
  const Dtype type = product_type(lhs.dense.shape().dtype, rhs.dense.shape().dtype, inst.shape.dtype, work);
  const Literal a = converted(lhs.dense, type), b = converted(rhs.dense, type);
  std::vector<int64_t> out_dims = lhs.batch_dims;
  out_dims.insert(out_dims.end(), lhs.free_dims.begin(), lhs.free_dims.end());
  out_dims.insert(out_dims.end(), rhs.free_dims.begin(), rhs.free_dims.end());
  Literal out = Literal::zeros(Shape::array(type, out_dims));
  const int64_t width = size_bytes(type);
  for (int64_t batch = 0; batch < lhs.batch; ++batch)
    multiply({.m = lhs.free,
              .n = rhs.free,
              .k = lhs.contracted,
              .a = a.bytes().data() + batch * lhs.free * lhs.contracted * width,
              .b = b.bytes().data() + batch * rhs.free * lhs.contracted * width,
              .c = out.mutable_data() + batch * lhs.free * rhs.free * width},
             type);
  return converted(out, inst.shape.dtype);
}

}  // namespace ncc::hlo
