#include "ir-formats/penguin/access.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace ncc::penguin {
namespace {

/// Residues of e modulo m as one interval [low, high] with 0 <= low <= high < low + m; false when they may
/// wrap around fully.
bool residue_interval(Ref e, int64_t m, const Extent& extent, int64_t& low, int64_t& high) {
  low = high = e->constant;
  for (const affine::Term& term : e->terms) {
    if (term.coef % m == 0) continue;
    const int64_t reach = term.coef * (extent(term.axis) - 1);
    (reach < 0 ? low : high) += reach;
  }
  if (high - low >= m) return false;
  const int64_t base = ((low % m) + m) % m;
  high = base + (high - low);
  low = base;
  return true;
}

bool apart_modulo(Ref a, Ref b, int64_t m, const Extent& extent) {
  int64_t a_low, a_high, b_low, b_high;
  if (!residue_interval(a, m, extent, a_low, a_high) || !residue_interval(b, m, extent, b_low, b_high))
    return false;
  for (const int64_t shift : {-m, int64_t{0}, m})
    if (a_low + shift <= b_high && b_low <= a_high + shift) return false;
  return true;
}

bool dims_apart(Ref a, Ref b, const Extent& extent) {
  const affine::Interval x = affine::bounds(a, extent), y = affine::bounds(b, extent);
  if (x.high < y.low || y.high < x.low) return true;
  for (const Ref side : {a, b})
    for (const affine::Term& term : side->terms) {
      const int64_t m = std::abs(term.coef);
      if (m > 1 && apart_modulo(a, b, m, extent)) return true;
    }
  return false;
}

/// Whether a dimension tells the values of its undetermined axes apart.
bool determines(Ref e, const std::set<AxisId>& open, const Extent& extent) {
  std::vector<affine::Term> terms;
  for (const affine::Term& term : e->terms)
    if (open.count(term.axis) != 0) terms.push_back(term);
  std::sort(terms.begin(), terms.end(),
            [](const affine::Term& x, const affine::Term& y) { return std::abs(x.coef) < std::abs(y.coef); });
  int64_t reach = 0;
  for (const affine::Term& term : terms) {
    if (std::abs(term.coef) <= reach) return false;
    reach += std::abs(term.coef) * (extent(term.axis) - 1);
  }
  return !terms.empty();
}

}  // namespace

int64_t num_points(std::span<const IterationAxis> axes, const Extent& extent) {
  int64_t points = 1;
  for (const IterationAxis& entry : axes) points *= extent(entry.axis);
  return points;
}

bool is_injective(std::span<const Ref> index, std::span<const IterationAxis> axes, const Extent& extent) {
  std::set<AxisId> open;
  for (const IterationAxis& entry : axes)
    if (extent(entry.axis) > 1) open.insert(entry.axis);
  bool progress = true;
  while (!open.empty() && progress) {
    progress = false;
    for (const Ref e : index) {
      if (!determines(e, open, extent)) continue;
      for (const affine::Term& term : e->terms) progress |= open.erase(term.axis) != 0;
    }
  }
  return open.empty();
}

bool are_disjoint(std::span<const Ref> a, std::span<const Ref> b, const Extent& extent) {
  for (size_t d = 0; d < a.size(); ++d)
    if (dims_apart(a[d], b[d], extent)) return true;
  return false;
}

}  // namespace ncc::penguin
