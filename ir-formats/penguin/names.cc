#include "ir-formats/penguin/names.h"

#include <span>

namespace ncc::penguin {
namespace {

using std::string_view;

// Rows stand in the order of the enumerators.
constexpr string_view kRoles[] = {"internal", "input", "output", "const"};
constexpr string_view kSpaces[] = {"unplaced", "dram", "sbuf", "psum"};
constexpr string_view kTensorOps[] = {"Map", "Reduce", "Contract"};
constexpr string_view kAxisRoles[] = {"parallel", "reduce", "contract", "lhs_free", "rhs_free", "batch"};
constexpr string_view kComparisons[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr string_view kFunctions[] = {
#define FUNCTION(id, name, arity, level) name,
#include "ir-formats/penguin/functions.def"
};

template <class E>
std::span<const string_view> rows();
template <>
std::span<const string_view> rows<Role>() {
  return kRoles;
}
template <>
std::span<const string_view> rows<Space>() {
  return kSpaces;
}
template <>
std::span<const string_view> rows<TensorOp>() {
  return kTensorOps;
}
template <>
std::span<const string_view> rows<AxisRole>() {
  return kAxisRoles;
}
template <>
std::span<const string_view> rows<Comparison>() {
  return kComparisons;
}
template <>
std::span<const string_view> rows<ScalarFunction>() {
  return kFunctions;
}

template <class E>
string_view row(E value) {
  return rows<E>()[static_cast<size_t>(value)];
}

}  // namespace

string_view name(Role role) { return row(role); }
string_view name(Space space) { return row(space); }
string_view name(TensorOp op) { return row(op); }
string_view name(AxisRole role) { return row(role); }
string_view name(Comparison comparison) { return row(comparison); }

template <class E>
std::optional<E> from_name(string_view text) {
  const std::span<const string_view> all = rows<E>();
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i] == text) return static_cast<E>(i);
  return std::nullopt;
}

template std::optional<Role> from_name(string_view);
template std::optional<Space> from_name(string_view);
template std::optional<TensorOp> from_name(string_view);
template std::optional<AxisRole> from_name(string_view);
template std::optional<Comparison> from_name(string_view);
template std::optional<ScalarFunction> from_name(string_view);

}  // namespace ncc::penguin
