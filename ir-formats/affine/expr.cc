#include "ir-formats/affine/expr.h"

#include <fmt/format.h>

#include <algorithm>

namespace ncc::affine {

int64_t Expr::coef(AxisId axis) const {
  for (const Term& term : terms)
    if (term.axis == axis) return term.coef;
  return 0;
}

size_t Context::Hash::operator()(const Expr* e) const {
  uint64_t h = static_cast<uint64_t>(e->constant) * 0x9E3779B97F4A7C15ull;
  for (const Term& term : e->terms)
    h = (h ^ (h >> 29)) * 0xBF58476D1CE4E5B9ull + static_cast<uint64_t>(term.coef) * 31 + term.axis;
  return static_cast<size_t>(h ^ (h >> 32));
}

Ref Context::make(int64_t constant, std::vector<Term> terms) {
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.axis < b.axis; });
  size_t kept = 0;
  for (size_t i = 0; i < terms.size();) {
    Term merged{terms[i].axis, 0};
    for (; i < terms.size() && terms[i].axis == merged.axis; ++i) merged.coef += terms[i].coef;
    if (merged.coef != 0) terms[kept++] = merged;
  }
  terms.resize(kept);
  Expr candidate{constant, std::move(terms)};
  if (const auto found = interned_.find(&candidate); found != interned_.end()) return found->second;
  const Ref stored = &storage_.emplace_back(std::move(candidate));
  interned_.emplace(stored, stored);
  return stored;
}

Ref Context::add(Ref a, Ref b) {
  std::vector<Term> terms = a->terms;
  terms.insert(terms.end(), b->terms.begin(), b->terms.end());
  return make(a->constant + b->constant, std::move(terms));
}

Ref Context::add(Ref a, int64_t constant) {
  return constant == 0 ? a : make(a->constant + constant, a->terms);
}

Ref Context::mul(Ref a, int64_t factor) {
  std::vector<Term> terms = a->terms;
  for (Term& term : terms) term.coef *= factor;
  return make(a->constant * factor, std::move(terms));
}

Ref Context::substitute(Ref e, const std::unordered_map<AxisId, Ref>& replacements) {
  int64_t constant = e->constant;
  std::vector<Term> terms;
  for (const Term& term : e->terms) {
    const auto found = replacements.find(term.axis);
    if (found == replacements.end()) {
      terms.push_back(term);
      continue;
    }
    constant += term.coef * found->second->constant;
    for (const Term& inner : found->second->terms) terms.push_back({inner.axis, inner.coef * term.coef});
  }
  return make(constant, std::move(terms));
}

int64_t evaluate(Ref e, std::span<const int64_t> values) {
  int64_t sum = e->constant;
  for (const Term& term : e->terms) sum += term.coef * values[term.axis];
  return sum;
}

Interval bounds(Ref e, const std::function<int64_t(AxisId)>& extent) {
  Interval result{e->constant, e->constant};
  for (const Term& term : e->terms) {
    const int64_t reach = term.coef * (extent(term.axis) - 1);
    (reach < 0 ? result.low : result.high) += reach;
  }
  return result;
}

std::string to_string(Ref e, const std::function<std::string(AxisId)>& name) {
  std::string text;
  if (e->constant != 0 || e->terms.empty()) text = fmt::format("{}", e->constant);
  for (const Term& term : e->terms) {
    const int64_t magnitude = term.coef < 0 ? -term.coef : term.coef;
    const std::string_view sign = term.coef < 0 ? (text.empty() ? "-" : " - ") : (text.empty() ? "" : " + ");
    text += magnitude == 1 ? fmt::format("{}{}", sign, name(term.axis))
                           : fmt::format("{}{}*{}", sign, magnitude, name(term.axis));
  }
  return text;
}

}  // namespace ncc::affine
