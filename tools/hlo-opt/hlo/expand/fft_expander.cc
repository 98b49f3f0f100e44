// fft -> products with tables of roots of unity, on real and imaginary parts. A dimension of n = n1 n2
// elements is transformed as n1 x n2 (Cooley-Tukey): over n1, times the twiddles w^(j2 k1), over n2, and
// transposed; at most kDirect elements, or a length without a factor that small, are one product with the n x
// n table.
//   RFFT keeps n/2 + 1 elements of the last dimension; IRFFT completes them by symmetry; inverses are divided
//   by n.
// Lengths whose table would be too large stay. Source: spec/stablehlo-text.md §3.8, DESIGN §6.
#include <cmath>
#include <numbers>
#include <optional>

#include "tools/hlo-opt/hlo/expand/formula.h"
#include "tools/hlo-opt/hlo/passes.h"

namespace ncc::hlo_passes {
namespace {

constexpr int64_t kDirect = 64;          // longest factor that is split no further
constexpr int64_t kLargestTable = 2048;  // longest dimension without small factors

// The largest divisor of at most kDirect; 1 when there is none.
int64_t small_divisor(int64_t n) {
  for (int64_t d = std::min(kDirect, n); d > 1; --d) {
    if (n % d == 0) return d;
  }
  return 1;
}

bool has_tables(int64_t n) {
  while (n > kDirect && small_divisor(n) > 1) n /= small_divisor(n);
  return n <= kLargestTable;
}

// A complex array by parts; a real one has no imaginary part.
struct Field {
  Value re;
  std::optional<Value> im;
};

class Transform {
 public:
  Transform(ComputationEditor& edit, Dtype part, bool inverse)
      : edit_(edit), part_(part), sign_(inverse ? 1 : -1) {}

  // The transform of the last dimension of [lines, n] arrays.
  Field last_dimension(Field x) {
    const int64_t lines = x.re.shape().dims[0], n = x.re.shape().dims[1];
    if (n == 1) return {x.re, x.im ? *x.im : x.re.like(0)};
    const int64_t n1 = n > kDirect ? small_divisor(n) : 1;
    if (n1 == 1) return product(x, n);
    const int64_t n2 = n / n1;
    // [lines, j1, j2] -> [lines * j2, j1] -> transformed [lines, j2, k1] -> times w^(j2 k1) -> [lines * k1,
    // j2]
    x = mapped(x, [&](Instruction* part) {
      return edit_.reshape(edit_.transpose(edit_.reshape(part, {lines, n1, n2}), {0, 2, 1}),
                           {lines * n2, n1});
    });
    x = product(x, n1);
    x = mapped(x, [&](Instruction* part) { return edit_.reshape(part, {lines, n2, n1}); });
    x = times(x, table(n2, n1, n, false, {lines, n2, n1}), table(n2, n1, n, true, {lines, n2, n1}));
    x = mapped(x, [&](Instruction* part) {
      return edit_.reshape(edit_.transpose(part, {0, 2, 1}), {lines * n1, n2});
    });
    x = last_dimension(x);
    // [lines, k1, k2] -> element k1 + n1 k2
    return mapped(x, [&](Instruction* part) {
      return edit_.reshape(edit_.transpose(edit_.reshape(part, {lines, n1, n2}), {0, 2, 1}), {lines, n});
    });
  }

  template <class Function>
  Field mapped(const Field& x, const Function& function) {
    Field result{{edit_, function(x.re.inst())}, std::nullopt};
    if (x.im) result.im = Value(edit_, function(x.im->inst()));
    return result;
  }

 private:
  // cos or sin of 2 pi sign j k / n for j < rows, k < columns; broadcast over leading dimensions of `dims`.
  Value table(int64_t rows, int64_t columns, int64_t n, bool sine, const Dims& dims) {
    Literal values = Literal::zeros(Shape::array(part_, {rows, columns}));
    std::byte* data = values.mutable_data();
    for (int64_t j = 0; j < rows; ++j) {
      for (int64_t k = 0; k < columns; ++k, data += size_bytes(part_)) {
        const auto place = static_cast<long double>(j * k % n) / static_cast<long double>(n);
        const long double angle = 2 * std::numbers::pi_v<long double> * sign_ * place;
        store_from_double(part_, data, static_cast<double>(sine ? std::sin(angle) : std::cos(angle)));
      }
    }
    const int64_t rank = static_cast<int64_t>(dims.size());
    return {edit_, edit_.broadcast(edit_.constant(std::move(values)), dims, {rank - 2, rank - 1})};
  }

  Field product(const Field& x, int64_t n) {
    const Value cosines = table(n, n, n, false, {n, n}), sines = table(n, n, n, true, {n, n});
    const auto dot = [&](Value a, Value b) {
      return Value(edit_, edit_.dot(a.inst(), b.inst(), {{1}, {0}, {}, {}}));
    };
    if (!x.im) return {dot(x.re, cosines), dot(x.re, sines)};
    return {dot(x.re, cosines) - dot(*x.im, sines), dot(x.re, sines) + dot(*x.im, cosines)};
  }

  static Field times(const Field& x, Value cosines, Value sines) {
    return {x.re * cosines - *x.im * sines, x.re * sines + *x.im * cosines};
  }

  ComputationEditor& edit_;
  Dtype part_;
  int sign_;
};

// One fft being expanded.
class Expansion {
 public:
  Expansion(ComputationEditor& edit, Instruction* inst)
      : edit_(edit), inst_(inst), lengths_(inst->attrs().fft_length), type_(inst->attrs().fft_type) {
    const Dtype in = inst->operand_shape(0).dtype;
    part_ = in == Dtype::C128 || in == Dtype::F64 ? Dtype::F64 : Dtype::F32;
  }

  void run() {
    const Value operand(edit_, inst_->operand(0));
    const int64_t last = operand.shape().rank() - 1;
    const int64_t first = last + 1 - static_cast<int64_t>(lengths_.size());
    const bool inverse = type_ == hlo::FftType::Ifft || type_ == hlo::FftType::Irfft;
    Transform transform(edit_, part_, inverse);
    Field x = is_complex(operand.dtype()) ? Field{unary(Opcode::Real, operand), unary(Opcode::Imag, operand)}
                                          : Field{operand, std::nullopt};
    if (type_ == hlo::FftType::Rfft) {
      x = along(transform, x, last);
      x = transform.mapped(x, [&](Instruction* part) { return cut(part, lengths_.back() / 2 + 1); });
    }
    const bool real_last = type_ == hlo::FftType::Rfft || type_ == hlo::FftType::Irfft;
    for (int64_t d = first; d < last + (real_last ? 0 : 1); ++d) x = along(transform, x, d);
    if (type_ == hlo::FftType::Irfft) x = along(transform, mirrored(x, lengths_.back()), last);
    if (inverse) {
      double scale = 1;
      for (int64_t length : lengths_) scale *= static_cast<double>(length);
      x = {x.re / scale, *x.im / scale};
    }
    const Value result = is_complex(inst_->shape.dtype) ? binary(Opcode::Complex, x.re, *x.im) : x.re;
    edit_.replace(inst_, result.inst());
  }

 private:
  Instruction* cut(Instruction* part, int64_t length) {
    Dims limits = part->shape.dims;
    limits.back() = length;
    return edit_.slice(part, Dims(limits.size(), 0), limits);
  }

  // The transform of dimension d, which is exchanged with the last one for it.
  Field along(Transform& transform, const Field& x, int64_t d) {
    const Dims dims = x.re.shape().dims;
    const int64_t last = static_cast<int64_t>(dims.size()) - 1, n = dims[static_cast<size_t>(d)];
    Dims exchange(dims.size());
    for (int64_t i = 0; i <= last; ++i) exchange[static_cast<size_t>(i)] = i == d ? last : i == last ? d : i;
    Dims moved = dims;
    std::swap(moved[static_cast<size_t>(d)], moved.back());
    const int64_t lines = x.re.shape().num_elements() / n;
    const Field lines_of = transform.mapped(x, [&](Instruction* part) {
      return edit_.reshape(edit_.transpose(part, exchange), {lines, n});
    });
    return transform.mapped(transform.last_dimension(lines_of), [&](Instruction* part) {
      return edit_.transpose(edit_.reshape(part, moved), exchange);
    });
  }

  // The n elements of a spectrum with x[n-k] = conj(x[k]) from its first n/2 + 1. The imaginary parts of the
  // constant term and of the middle term of an even length have no effect.
  Field mirrored(const Field& x, int64_t n) {
    const Dims dims = x.re.shape().dims;
    const int64_t last = static_cast<int64_t>(dims.size()) - 1;
    const Value numbers(edit_, edit_.iota(Dtype::S32, dims, last));
    const Value fixed = equal(numbers, 0) | equal(numbers * 2, static_cast<double>(n));
    const Value im = select(fixed, x.im->like(0), *x.im);
    const int64_t mirrored_count = n - (n / 2 + 1);
    if (mirrored_count <= 0) return {x.re, im};
    const auto completed = [&](Value head, bool negated) {
      Dims starts(dims.size(), 0), limits = dims;
      starts.back() = 1;
      limits.back() = 1 + mirrored_count;
      Value tail(edit_, edit_.reverse(edit_.slice(head.inst(), starts, limits), {last}));
      if (negated) tail = -tail;
      return Value(edit_, edit_.concatenate({head.inst(), tail.inst()}, last));
    };
    return {completed(x.re, false), completed(im, true)};
  }

  ComputationEditor& edit_;
  Instruction* inst_;
  const Dims lengths_;
  const hlo::FftType type_;
  Dtype part_;
};

bool is_expandable(const Instruction& inst) {
  if (!inst.is(Opcode::Fft) || inst.shape.is_dynamic()) return false;
  const Dims& lengths = inst.attrs().fft_length;
  const Dims& in = inst.operand_shape(0).dims;
  // Arrays that are cut or filled up to the length stay.
  for (size_t i = 0; i < lengths.size(); ++i) {
    const bool halved = inst.attrs().fft_type == hlo::FftType::Irfft && i + 1 == lengths.size();
    const int64_t wanted = halved && lengths[i] > 0 ? lengths[i] / 2 + 1 : lengths[i];
    if (!has_tables(lengths[i]) || in[in.size() - lengths.size() + i] != wanted) return false;
  }
  return !lengths.empty();
}

}  // namespace

Status fft_expander(hlo::Module& module, PassContext& context) {
  return edit_each(module, context.changes, [](ComputationEditor& edit, Instruction* inst) {
    if (!is_expandable(*inst) || edit.is_pinned(inst)) return Status::ok();
    if (inst->shape.num_elements() == 0 || inst->operand_shape(0).num_elements() == 0) {
      edit.replace(inst, edit.splat(inst->shape, 0));
    } else {
      Expansion(edit, inst).run();
    }
    return Status::ok();
  });
}

}  // namespace ncc::hlo_passes
