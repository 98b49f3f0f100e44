#include "tools/hlo2penguin/view.h"

#include <algorithm>
#include <set>

#include "common/diag/status.h"

namespace ncc::hlo2penguin {

using affine::AxisId;
using affine::Ref;
using penguin::Operand;

View View::tensor(affine::Context& affine, penguin::TensorId id, Dtype dtype,
                  const std::vector<int64_t>& shape) {
  View view(affine);
  view.base_.kind = Operand::Kind::Tensor;
  view.base_.dtype = dtype;
  view.base_.tensor = id;
  view.shape_ = shape;
  for (int64_t size : shape) {
    const DigitList digits = view.fresh_dim(size);
    view.dims_.push_back(digits);
    view.base_.index.push_back(digits.empty() ? affine.constant(0) : affine.axis(digits[0].id));
  }
  return view;
}

View View::scalar(affine::Context& affine, Dtype dtype, uint64_t bits, const std::vector<int64_t>& shape) {
  View view(affine);
  view.base_.kind = Operand::Kind::Scalar;
  view.base_.dtype = dtype;
  view.base_.scalar = bits;
  view.shape_ = shape;
  for (int64_t size : shape) view.dims_.push_back(view.fresh_dim(size));
  return view;
}

View View::index(affine::Context& affine, Dtype dtype, const std::vector<int64_t>& shape,
                 const std::vector<std::pair<int64_t, int64_t>>& terms, int64_t constant) {
  View view = scalar(affine, dtype, 0, shape);
  view.base_.kind = Operand::Kind::Index;
  std::vector<affine::Term> sum;
  for (const auto& [dim, coef] : terms) {
    const DigitList& digits = view.dims_[static_cast<size_t>(dim)];
    if (!digits.empty()) sum.push_back({digits[0].id, coef});
  }
  view.base_.value = affine.make(constant, std::move(sum));
  return view;
}

View View::iota(affine::Context& affine, Dtype dtype, const std::vector<int64_t>& shape, int64_t dim) {
  return index(affine, dtype, shape, {{dim, 1}});
}

DigitList View::fresh_dim(int64_t size) {
  if (size == 1) return {};
  return {fresh(size)};
}

int64_t View::num_elements() const {
  int64_t count = 1;
  for (int64_t size : shape_) count *= size;
  return count;
}

void View::substitute(AxisId digit, Ref by) {
  const std::unordered_map<AxisId, Ref> replacement{{digit, by}};
  for (Ref& e : base_.index) e = affine_->substitute(e, replacement);
  if (base_.value != nullptr) base_.value = affine_->substitute(base_.value, replacement);
}

View View::transpose(const std::vector<int64_t>& perm) const {
  View out = *this;
  for (size_t i = 0; i < perm.size(); ++i) {
    out.shape_[i] = shape_[static_cast<size_t>(perm[i])];
    out.dims_[i] = dims_[static_cast<size_t>(perm[i])];
  }
  return out;
}

View View::broadcast(const std::vector<int64_t>& map, const std::vector<int64_t>& shape) const {
  View out = *this;
  out.shape_ = shape;
  out.dims_.assign(shape.size(), {});
  std::vector<bool> mapped(shape.size(), false);
  for (size_t i = 0; i < map.size(); ++i) {
    const size_t to = static_cast<size_t>(map[i]);
    NCC_CHECK(shape_[i] == shape[to], "broadcast of size {} to {}", shape_[i], shape[to]);
    out.dims_[to] = dims_[i];
    mapped[to] = true;
  }
  for (size_t d = 0; d < shape.size(); ++d)
    if (!mapped[d]) out.dims_[d] = out.fresh_dim(shape[d]);
  return out;
}

View View::reverse(int64_t dim) const {
  View out = *this;
  // n-1-x reverses every digit of x.
  for (const Digit& digit : dims_[static_cast<size_t>(dim)])
    out.substitute(digit.id, affine_->axis(digit.id, -1, digit.extent - 1));
  return out;
}

/// Takes the slice off the least significant digit and goes on with the rest; digits change in place.
bool View::slice_digits(DigitList& digits, int64_t start, int64_t stride, int64_t count) {
  if (digits.empty()) return count == 1;
  const Digit minor = digits.back();
  const int64_t size = minor.extent;
  const int64_t last = start + (count - 1) * stride;
  DigitList major(digits.begin(), digits.end() - 1);
  if (start / size == last / size) {  // inside one block of the minor digit
    if (!slice_digits(major, start / size, 1, 1)) return false;
    digits = major;
    if (count == 1) {
      substitute(minor.id, affine_->constant(start % size));
      return true;
    }
    const Digit sliced = fresh(count);
    substitute(minor.id, affine_->axis(sliced.id, stride, start % size));
    digits.push_back(sliced);
    return true;
  }
  if (stride % size == 0) {  // the minor digit stands still
    if (!slice_digits(major, start / size, stride / size, count)) return false;
    substitute(minor.id, affine_->constant(start % size));
    digits = major;
    return true;
  }
  // The same positions in every block.
  if (size % stride != 0 || start % size >= stride) return false;
  const int64_t per_block = size / stride;
  if (count % per_block != 0 || !slice_digits(major, start / size, 1, count / per_block)) return false;
  digits = major;
  if (per_block == 1) {
    substitute(minor.id, affine_->constant(start % size));
  } else {
    const Digit sliced = fresh(per_block);
    substitute(minor.id, affine_->axis(sliced.id, stride, start % size));
    digits.push_back(sliced);
  }
  return true;
}

std::optional<View> View::slice(int64_t dim, int64_t start, int64_t stride, int64_t count) const {
  const size_t d = static_cast<size_t>(dim);
  if (start == 0 && stride == 1 && count == shape_[d]) return *this;
  View out = *this;
  out.join_dim(d);
  if (count == 1) stride = 1;
  DigitList digits = out.dims_[d];
  if (!out.slice_digits(digits, start, stride, count)) return std::nullopt;
  out.dims_[d] = digits;
  out.shape_[d] = count;
  return out;
}

std::optional<View> View::reshape(const std::vector<int64_t>& shape) const {
  View out = normalised();
  // Dimensions whose boundary does not matter join, too: the flat digit list is one mixed-radix number.
  DigitList flat;
  for (const DigitList& digits : out.dims_) flat.insert(flat.end(), digits.begin(), digits.end());
  out.dims_ = {flat};
  out.join_dim(0);
  flat = out.dims_[0];
  std::vector<DigitList> dims(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    int64_t left = shape[d];
    while (left > 1) {
      NCC_CHECK(!flat.empty(), "reshape changes the number of elements");
      const Digit digit = flat.back();
      if (left % digit.extent == 0) {
        dims[d].insert(dims[d].begin(), digit);
        flat.pop_back();
        left /= digit.extent;
      } else if (digit.extent % left == 0) {
        const Digit high = out.fresh(digit.extent / left), low = out.fresh(left);
        out.substitute(digit.id, affine_->make(0, {{high.id, left}, {low.id, 1}}));
        flat.back() = high;
        dims[d].insert(dims[d].begin(), low);
        left = 1;
      } else {
        return std::nullopt;
      }
    }
  }
  NCC_CHECK(flat.empty(), "reshape changes the number of elements");
  out.dims_ = std::move(dims);
  out.shape_ = shape;
  return out;
}

std::optional<View> View::window(int64_t dim, int64_t count, int64_t stride, int64_t taps,
                                 int64_t dilation) const {
  const size_t d = static_cast<size_t>(dim);
  NCC_CHECK((count - 1) * stride + (taps - 1) * dilation < shape_[d], "a window leaves its array");
  View out = *this;
  out.join_dim(d);
  if (out.dims_[d].size() > 1) return std::nullopt;
  const DigitList whole = out.dims_[d];
  const DigitList position = out.fresh_dim(count), tap = out.fresh_dim(taps);
  std::vector<affine::Term> terms;
  if (!position.empty()) terms.push_back({position[0].id, stride});
  if (!tap.empty()) terms.push_back({tap[0].id, dilation});
  if (!whole.empty()) out.substitute(whole[0].id, affine_->make(0, std::move(terms)));
  out.dims_[d] = position;
  out.dims_.insert(out.dims_.begin() + dim + 1, tap);
  out.shape_[d] = count;
  out.shape_.insert(out.shape_.begin() + dim + 1, taps);
  return out;
}

bool View::joins(const Digit& major, const Digit& minor) const {
  const auto steps_as_one = [&](Ref e) { return e->coef(major.id) == minor.extent * e->coef(minor.id); };
  return std::all_of(base_.index.begin(), base_.index.end(), steps_as_one) &&
         (base_.value == nullptr || steps_as_one(base_.value));
}

void View::join_dim(size_t dim) {
  DigitList joined;
  for (const Digit& digit : dims_[dim]) {
    if (joined.empty() || !joins(joined.back(), digit)) {
      joined.push_back(digit);
      continue;
    }
    // value = major * extent + minor: the minor's coefficient is the new digit's.
    const Digit whole = fresh(joined.back().extent * digit.extent);
    substitute(digit.id, affine_->axis(whole.id));
    substitute(joined.back().id, affine_->constant(0));
    joined.back() = whole;
  }
  dims_[dim] = joined;
}

View View::normalised() const {
  View out = *this;
  for (size_t d = 0; d < out.dims_.size(); ++d) out.join_dim(d);
  return out;
}

View View::split(int64_t dim, const std::vector<int64_t>& extents) const {
  View out = *this;
  DigitList& digits = out.dims_[static_cast<size_t>(dim)];
  DigitList result;
  size_t next = extents.size();
  for (size_t i = digits.size(); i-- > 0;) {
    const Digit digit = digits[i];
    std::vector<affine::Term> terms;
    int64_t covered = 1;
    while (covered < digit.extent) {
      NCC_CHECK(next > 0, "a digit list that is no refinement");
      const Digit part = out.fresh(extents[--next]);
      terms.push_back({part.id, covered});
      covered *= part.extent;
      result.insert(result.begin(), part);
    }
    NCC_CHECK(covered == digit.extent, "a digit list that is no refinement");
    out.substitute(digit.id, affine_->make(0, std::move(terms)));
  }
  digits = result;
  return out;
}

bool View::is_dense(const std::vector<int64_t>& tensor_shape) const {
  if (!is_tensor()) return false;
  int64_t elements = 1;
  for (int64_t size : tensor_shape) elements *= size;
  if (elements != num_elements()) return false;
  // Flat position in the tensor against flat position in the view.
  Ref flat = affine_->constant(0);
  int64_t stride = 1;
  for (size_t d = tensor_shape.size(); d-- > 0;) {
    flat = affine_->add(flat, affine_->mul(base_.index[d], stride));
    stride *= tensor_shape[d];
  }
  std::vector<affine::Term> terms;
  stride = 1;
  for (size_t d = dims_.size(); d-- > 0;)
    for (size_t i = dims_[d].size(); i-- > 0;) {
      terms.push_back({dims_[d][i].id, stride});
      stride *= dims_[d][i].extent;
    }
  return flat == affine_->make(0, std::move(terms));
}

Operand View::operand(const std::vector<AxisId>& axis_of_digit) const {
  Operand out = base_;
  const auto rename = [&](Ref e) {
    std::vector<affine::Term> terms;
    for (const affine::Term& term : e->terms) terms.push_back({axis_of_digit[term.axis], term.coef});
    return affine_->make(e->constant, std::move(terms));
  };
  for (Ref& e : out.index) e = rename(e);
  if (out.value != nullptr) out.value = rename(out.value);
  return out;
}

std::optional<std::vector<int64_t>> refine(const std::vector<std::vector<int64_t>>& all) {
  // Each list is the set of positions (products of the less significant radices) at which a digit ends.
  std::set<int64_t> ends;
  for (const std::vector<int64_t>& radices : all) {
    int64_t product = 1;
    for (size_t i = radices.size(); i-- > 0;) ends.insert(product *= radices[i]);
  }
  std::vector<int64_t> out;
  int64_t previous = 1;
  for (int64_t end : ends) {
    if (end % previous != 0) return std::nullopt;
    out.insert(out.begin(), end / previous);
    previous = end;
  }
  return out;
}

std::vector<int64_t> radices(const DigitList& digits) {
  std::vector<int64_t> out;
  for (const Digit& digit : digits) out.push_back(digit.extent);
  return out;
}

}  // namespace ncc::hlo2penguin
