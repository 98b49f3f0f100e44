// fft over the last dimensions, one dimension after the other: complex ones in order, the real one of RFFT
// first and of IRFFT last. Lines are transformed in the element's own precision (fft_line.h). Source:
// spec/stablehlo-text.md §3.8.
#include <algorithm>

#include "common/parallel/parallel.h"
#include "ir-formats/hlo/interpreter/fft_line.h"
#include "ir-formats/hlo/interpreter/ops.h"

namespace ncc::hlo {
namespace {

// An array of complex values during the transform.
template <class T>
struct Field {
  std::vector<int64_t> dims;
  std::vector<Point<T>> values;

  int64_t size(size_t d) const { return dims[d]; }
  int64_t below(size_t d) const {
    int64_t count = 1;
    for (size_t i = d + 1; i < dims.size(); ++i) count *= dims[i];
    return count;
  }
};

template <class T>
std::vector<Point<T>> points_of(const Literal& literal) {
  const T* in = reinterpret_cast<const T*>(literal.bytes().data());
  std::vector<Point<T>> values(static_cast<size_t>(literal.num_elements()));
  const bool complex = is_complex(literal.shape().dtype);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = complex ? Point<T>{in[2 * i], in[2 * i + 1]} : Point<T>{in[i], 0};
  return values;
}

template <class T>
void transform_dim(Field<T>& field, size_t d, bool forward, T scale) {
  const int64_t n = field.size(d), inner = field.below(d);
  if (n == 0 || field.values.empty()) return;
  const FftLine<T> plan(n);
  parallel_for(static_cast<int64_t>(field.values.size()) / n, 16, [&](int64_t begin, int64_t end) {
    std::vector<Point<T>> line(static_cast<size_t>(n));
    for (int64_t l = begin; l < end; ++l) {
      Point<T>* at = field.values.data() + l / inner * n * inner + l % inner;
      for (int64_t i = 0; i < n; ++i) line[static_cast<size_t>(i)] = at[i * inner];
      plan.complex(line.data(), forward);
      for (int64_t i = 0; i < n; ++i) {
        const Point<T> z = line[static_cast<size_t>(i)];
        at[i * inner] = {z.re * scale, z.im * scale};
      }
    }
  });
}

// Rows of n reals become rows of n/2 + 1 frequencies.
template <class T>
Field<T> real_forward(const Literal& operand, int64_t n) {
  Field<T> field{operand.shape().dims, {}};
  const int64_t stored = n / 2 + 1, rows = n == 0 ? 0 : operand.num_elements() / n;
  field.dims.back() = stored;
  field.values.resize(static_cast<size_t>(rows * stored));
  if (rows == 0) return field;
  const T* in = reinterpret_cast<const T*>(operand.bytes().data());
  const FftLine<T> plan(n);
  parallel_for(rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) plan.real_forward(in + r * n, field.values.data() + r * stored);
  });
  return field;
}

template <class T>
void real_backward(const Field<T>& field, int64_t n, T scale, T* out) {
  const int64_t stored = field.dims.back(),
                rows = stored == 0 ? 0 : static_cast<int64_t>(field.values.size()) / stored;
  if (n == 0 || rows == 0) return;
  const FftLine<T> plan(n);
  parallel_for(rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      plan.real_backward(field.values.data() + r * stored, out + r * n);
      for (int64_t i = 0; i < n; ++i) out[r * n + i] *= scale;
    }
  });
}

// The inverse scales once: complex transforms on the first dimension, real ones on the last.
template <class T>
Literal transformed(const Instruction& inst, const Literal& operand) {
  const FftType type = inst.attrs().fft_type;
  const std::vector<int64_t>& lengths = inst.attrs().fft_length;
  const size_t rank = operand.shape().dims.size(), first = rank - lengths.size();
  const bool forward = type == FftType::Fft || type == FftType::Rfft;
  const bool real = type == FftType::Rfft || type == FftType::Irfft;
  long double count = 1;
  for (int64_t length : lengths) count *= static_cast<long double>(std::max<int64_t>(length, 1));
  const T scale = forward ? T{1} : static_cast<T>(1 / count);
  Field<T> field = type == FftType::Rfft ? real_forward<T>(operand, lengths.back())
                                         : Field<T>{operand.shape().dims, points_of<T>(operand)};
  for (size_t d = first; d + (real ? 1 : 0) < rank; ++d)
    transform_dim(field, d, forward, !real && d == first ? scale : T{1});
  Literal out = Literal::zeros(Shape::array(inst.shape.dtype, inst.shape.dims));
  T* to = reinterpret_cast<T*>(out.mutable_data());
  if (type == FftType::Irfft) {
    real_backward(field, lengths.back(), scale, to);
    return out;
  }
  for (size_t i = 0; i < field.values.size(); ++i) {
    to[2 * i] = field.values[i].re;
    to[2 * i + 1] = field.values[i].im;
  }
  return out;
}

// Lengths that the operand does not have would need cutting or padding, which the op does not do.
bool lengths_fit(const Instruction& inst, const Shape& operand) {
  const std::vector<int64_t>& lengths = inst.attrs().fft_length;
  if (lengths.empty() || lengths.size() > operand.dims.size()) return false;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const int64_t size = operand.dims[operand.dims.size() - lengths.size() + i];
    const bool halved = inst.attrs().fft_type == FftType::Irfft && i + 1 == lengths.size();
    if (size != (halved && lengths[i] > 0 ? lengths[i] / 2 + 1 : lengths[i])) return false;
  }
  return true;
}

}  // namespace

Result<Literal> eval_fft(Evaluator&, const Instruction& inst, Operands& operands) {
  const Shape& shape = operands[0].shape();
  if (!lengths_fit(inst, shape)) return unsupported(inst, "its lengths are not those of its operand");
  if (shape.dtype == Dtype::F32 || shape.dtype == Dtype::C64) return transformed<float>(inst, operands[0]);
  if (shape.dtype == Dtype::F64 || shape.dtype == Dtype::C128) return transformed<double>(inst, operands[0]);
  return error(Code::EVRF002, inst.loc, std::string(info(shape.dtype).hlo), std::string("fft"));
}

}  // namespace ncc::hlo
