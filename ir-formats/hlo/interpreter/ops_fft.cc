// fft over the last dimensions, one dimension after the other, in extended precision. A line of n elements is
// split by the smallest prime factors of n (mixed radix); a prime length is summed directly. Source:
// spec/stablehlo-text.md §3.8.
#include <cmath>
#include <complex>
#include <numbers>

#include "common/parallel/parallel.h"
#include "ir-formats/hlo/interpreter/ops.h"
#include "ir-formats/hlo/interpreter/strided_copy.h"

namespace ncc::hlo {
namespace {

using Real = long double;
using Complex = std::complex<Real>;

int64_t smallest_factor(int64_t n) {
  for (int64_t f = 2; f * f <= n; ++f) {
    if (n % f == 0) return f;
  }
  return n;
}

// exp(2 pi i sign k / n) for k = 0 … n-1.
std::vector<Complex> roots_of_unity(int64_t n, int sign) {
  std::vector<Complex> roots(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k)
    roots[static_cast<size_t>(k)] = std::polar<Real>(1, sign * 2 * std::numbers::pi_v<Real> * k / n);
  return roots;
}

// out[k] = Σ_j in[j * stride] root^(jk), where root = roots[step] has order n.
void transform(int64_t n, const Complex* in, int64_t stride, Complex* out, const std::vector<Complex>& roots,
               int64_t step) {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  const int64_t radix = smallest_factor(n), m = n / radix;
  std::vector<Complex> parts(static_cast<size_t>(n));
  for (int64_t r = 0; r < radix; ++r)
    transform(m, in + r * stride, stride * radix, parts.data() + r * m, roots, step * radix);
  const int64_t order = static_cast<int64_t>(roots.size());
  for (int64_t k = 0; k < n; ++k) {
    Complex sum = 0;
    for (int64_t r = 0; r < radix; ++r)
      sum += parts[static_cast<size_t>(r * m + k % m)] * roots[static_cast<size_t>(r * k % n * step % order)];
    out[k] = sum;
  }
}

// An array of complex values during the transform.
struct Field {
  std::vector<int64_t> dims;
  std::vector<Complex> values;
};

Field read_field(const Literal& operand) {
  Field field{operand.shape().dims, {}};
  const Dtype type = operand.shape().dtype;
  const auto* f32 = reinterpret_cast<const float*>(operand.bytes().data());
  const auto* f64 = reinterpret_cast<const double*>(operand.bytes().data());
  for (int64_t i = 0; i < operand.num_elements(); ++i) {
    if (type == Dtype::C64) field.values.emplace_back(f32[2 * i], f32[2 * i + 1]);
    if (type == Dtype::C128) field.values.emplace_back(f64[2 * i], f64[2 * i + 1]);
    if (!is_complex(type)) field.values.emplace_back(operand.as_double(i), 0);
  }
  return field;
}

Literal write_field(const Field& field, Dtype type) {
  Literal out = Literal::zeros(Shape::array(type, field.dims));
  auto* f32 = reinterpret_cast<float*>(out.mutable_data());
  auto* f64 = reinterpret_cast<double*>(out.mutable_data());
  for (size_t i = 0; i < field.values.size(); ++i) {
    const Complex z = field.values[i];
    if (type == Dtype::F32) f32[i] = static_cast<float>(z.real());
    if (type == Dtype::F64) f64[i] = static_cast<double>(z.real());
    if (type == Dtype::C64)
      f32[2 * i] = static_cast<float>(z.real()), f32[2 * i + 1] = static_cast<float>(z.imag());
    if (type == Dtype::C128)
      f64[2 * i] = static_cast<double>(z.real()), f64[2 * i + 1] = static_cast<double>(z.imag());
  }
  return out;
}

// Replaces each line of `dim` (cut or filled with zeros to `length`) by its transform.
void transform_dim(Field& field, size_t dim, int64_t length, int sign) {
  const std::vector<int64_t> from_dims = field.dims;
  std::vector<int64_t> to_dims = from_dims;
  to_dims[dim] = length;
  int64_t outer = 1, inner = 1;
  for (size_t d = 0; d < dim; ++d) outer *= from_dims[d];
  for (size_t d = dim + 1; d < from_dims.size(); ++d) inner *= from_dims[d];
  Field result{to_dims, std::vector<Complex>(static_cast<size_t>(outer * length * inner))};
  if (length == 0) return std::swap(field, result);
  const std::vector<Complex> roots = roots_of_unity(length, sign);
  parallel_for(outer * inner, 1, [&](int64_t begin, int64_t end) {
    std::vector<Complex> line(static_cast<size_t>(length)), out(static_cast<size_t>(length));
    for (int64_t l = begin; l < end; ++l) {
      const int64_t from = l / inner * from_dims[dim] * inner + l % inner,
                    to = l / inner * length * inner + l % inner;
      for (int64_t i = 0; i < length; ++i)
        line[static_cast<size_t>(i)] =
            i < from_dims[dim] ? field.values[static_cast<size_t>(from + i * inner)] : Complex(0);
      transform(length, line.data(), 1, out.data(), roots, 1);
      for (int64_t i = 0; i < length; ++i)
        result.values[static_cast<size_t>(to + i * inner)] = out[static_cast<size_t>(i)];
    }
  });
  std::swap(field, result);
}

// Keeps the first `length` elements of each line of the last dimension.
void cut_last(Field& field, int64_t length) {
  Field result{field.dims, {}};
  const int64_t old = field.dims.back();
  result.dims.back() = length;
  for (size_t i = 0; i < field.values.size(); ++i) {
    if (static_cast<int64_t>(i) % old < length) result.values.push_back(field.values[i]);
  }
  std::swap(field, result);
}

// The full spectrum of a real signal of n elements along the last dimension, from its n/2 + 1 stored values.
void mirror_last(Field& field, int64_t n) {
  Field result{field.dims, {}};
  const int64_t stored = field.dims.back();
  result.dims.back() = n;
  const int64_t lines = stored == 0 ? 0 : static_cast<int64_t>(field.values.size()) / stored;
  for (int64_t l = 0; l < lines; ++l) {
    const Complex* line = field.values.data() + l * stored;
    for (int64_t k = 0; k < n; ++k) {
      // The imaginary part of the constant term and of the middle term of an even length has no effect.
      Complex z = 2 * k <= n ? line[k] : std::conj(line[n - k]);
      if (k == 0 || 2 * k == n) z = z.real();
      result.values.push_back(z);
    }
  }
  std::swap(field, result);
}

}  // namespace

Result<Literal> eval_fft(Evaluator&, const Instruction& inst, Operands& operands) {
  const FftType type = inst.attrs().fft_type;
  const std::vector<int64_t>& lengths = inst.attrs().fft_length;
  Field field = read_field(operands[0]);
  const size_t rank = field.dims.size(), first = rank - lengths.size();
  const bool inverse = type == FftType::Ifft || type == FftType::Irfft;
  const int sign = inverse ? 1 : -1;
  const size_t last = rank - 1;
  if (type == FftType::Rfft) {
    transform_dim(field, last, lengths.back(), sign);
    cut_last(field, lengths.back() / 2 + 1);
  }
  for (size_t i = 0; i < lengths.size(); ++i) {
    const bool real_dim = first + i == last && (type == FftType::Rfft || type == FftType::Irfft);
    if (!real_dim) transform_dim(field, first + i, lengths[i], sign);
  }
  if (type == FftType::Irfft) {
    mirror_last(field, lengths.back());
    transform_dim(field, last, lengths.back(), sign);
  }
  if (inverse) {
    Real scale = 1;
    for (int64_t length : lengths) scale *= static_cast<Real>(length);
    for (Complex& z : field.values) z /= scale;
  }
  return write_field(field, inst.shape.dtype);
}

}  // namespace ncc::hlo
