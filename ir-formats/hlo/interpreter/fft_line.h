// Fourier transforms of one line in its own precision. The published values of fft are those of a mixed-radix
// transform in f32 or f64 (the FFTPACK family), and near zero they are nothing but its rounding errors; so
// the order of operations is part of the result: which factors, in which order, and how each short sum is
// added up.
//
// Complex: passes from the smallest stride up; factors 8, 4, one 2 (moved to the front), then odd ones. Real:
// the spectrum of n reals is kept as n numbers, (re 0, re 1, im 1, re 2, …); each pass is a complex pass on
// the frequencies up to half of the block, the others being conjugates; factors 4, one 2 in front, odd ones.
#pragma once
#include <cstdint>
#include <vector>

namespace ncc::hlo {

template <class T>
struct Point {
  T re = 0, im = 0;
};

/// Transforms of lines of one length n >= 1. Not scaled.
template <class T>
class FftLine {
 public:
  explicit FftLine(int64_t n);

  /// In place; forward uses exp(-2 pi i jk / n), backward its conjugate.
  void complex(Point<T>* line, bool forward) const;
  /// n reals become n/2 + 1 frequencies.
  void real_forward(const T* line, Point<T>* spectrum) const;
  /// n/2 + 1 frequencies become n reals; imaginary parts of the first and of a middle one are not read.
  void real_backward(const Point<T>* spectrum, T* line) const;

 private:
  // How the sums of an odd factor's butterfly are added up: after the first two products, groups of at most
  // this many are summed before they join.
  struct Sums {
    int64_t group;
    bool exact_roots;  // roots of the factor itself, else those of n
  };

  Point<T> root(int64_t k) const;  // exp(2 pi i k / n), 0 <= k < n
  Point<T> factor_root(int64_t k, int64_t p, const Sums& sums) const;
  void butterfly(std::vector<Point<T>>& x, bool forward, const Sums& sums) const;
  void odd_butterfly(std::vector<Point<T>>& x, bool forward, const Sums& sums) const;
  void real_pass(const T* from, T* to, int64_t p, int64_t l1, bool forward) const;
  void middle_frequency(const T* from, T* to, int64_t p, int64_t l1, int64_t k, bool forward) const;

  int64_t n_;
  std::vector<int64_t> complex_factors_, real_factors_;
  std::vector<Point<double>> fine_, coarse_;  // root(k) = fine[k mod m] coarse[k / m], m a power of two
  int64_t shift_ = 1;
};

extern template class FftLine<float>;
extern template class FftLine<double>;

}  // namespace ncc::hlo
