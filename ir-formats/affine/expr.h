// Affine integer expressions c + sum(coef_i * axis_i), immutable and interned: equal expressions have equal
// addresses within a Context. The one index language of Penguin and BIR. Source: spec/penguin.md §1.5,
// spec/bir.md §6 (the linear part).
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace ncc::affine {

/// A loop or iteration axis; ids are dense within one IR module.
using AxisId = uint32_t;

struct Term {
  AxisId axis;
  int64_t coef;  // never 0
  bool operator==(const Term&) const = default;
};

struct Expr {
  int64_t constant = 0;
  std::vector<Term> terms;  // ascending axis ids

  bool is_constant() const { return terms.empty(); }
  /// 0 when the axis does not occur.
  int64_t coef(AxisId axis) const;
  bool operator==(const Expr&) const = default;
};

using Ref = const Expr*;

/// Owns and interns expressions. Not thread-safe.
class Context {
 public:
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Sorts, merges and drops zero terms.
  Ref make(int64_t constant, std::vector<Term> terms);
  Ref constant(int64_t value) { return make(value, {}); }
  Ref axis(AxisId axis, int64_t coef = 1, int64_t constant = 0) { return make(constant, {{axis, coef}}); }
  Ref add(Ref a, Ref b);
  Ref add(Ref a, int64_t constant);
  Ref mul(Ref a, int64_t factor);
  /// Replaces axes by expressions; an axis absent from the map stays.
  Ref substitute(Ref e, const std::unordered_map<AxisId, Ref>& replacements);

 private:
  struct Hash {
    size_t operator()(const Expr* e) const;
  };
  struct Equal {
    bool operator()(const Expr* a, const Expr* b) const { return *a == *b; }
  };
  std::deque<Expr> storage_;
  std::unordered_map<const Expr*, Ref, Hash, Equal> interned_;
};

/// Value with `values[axis]` for every axis that occurs.
int64_t evaluate(Ref e, std::span<const int64_t> values);

/// Smallest and largest value when each axis runs over [0, extent - 1].
struct Interval {
  int64_t low, high;
};
Interval bounds(Ref e, const std::function<int64_t(AxisId)>& extent);

/// "3 + 128*i - 2*j" with names from `name`.
std::string to_string(Ref e, const std::function<std::string(AxisId)>& name);

}  // namespace ncc::affine
