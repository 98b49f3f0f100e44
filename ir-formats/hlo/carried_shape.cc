// The list has one entry a leaf, separated by ';', empty for plain leaves; an entry is
//   expressed axis storage_min storage_max (scale zero_point)+
#include "ir-formats/hlo/carried_shape.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace ncc::hlo {
namespace {

template <class S, class Visit>
void visit_leaves(S& shape, const Visit& visit) {
  if (!shape.is_tuple()) return visit(shape);
  for (auto& element : shape.elements) visit_leaves(element, visit);
}

template <class T>
bool take_number(std::string_view* text, T* value) {
  while (text->starts_with(' ')) text->remove_prefix(1);
  const auto [stop, problem] = std::from_chars(text->data(), text->data() + text->size(), *value);
  if (problem != std::errc()) return false;
  text->remove_prefix(static_cast<size_t>(stop - text->data()));
  return true;
}

std::optional<Quantization> parse_entry(std::string_view text) {
  const std::string_view type = text.substr(0, text.find(' '));
  const std::optional<Dtype> expressed = dtype_from_hlo(type);
  if (!expressed) return std::nullopt;
  text.remove_prefix(type.size());
  Quantization made;
  made.expressed = *expressed;
  if (!take_number(&text, &made.axis) || !take_number(&text, &made.storage_min) ||
      !take_number(&text, &made.storage_max))
    return std::nullopt;
  while (!text.empty()) {
    if (!take_number(&text, &made.scales.emplace_back()) ||
        !take_number(&text, &made.zero_points.emplace_back()))
      return std::nullopt;
  }
  return made.scales.empty() ? std::nullopt : std::optional(std::move(made));
}

}  // namespace

std::string quantization_list(const Shape& shape) {
  std::string text;
  bool any = false;
  int64_t leaf = 0;
  visit_leaves(shape, [&](const Shape& s) {
    if (leaf++ > 0) text += ";";
    if (!s.quantization) return;
    any = true;
    const Quantization& q = *s.quantization;
    text += fmt::format("{} {} {} {}", info(q.expressed).hlo, q.axis, q.storage_min, q.storage_max);
    for (size_t i = 0; i < q.scales.size(); ++i) text += fmt::format(" {} {}", q.scales[i], q.zero_points[i]);
  });
  return any ? text : "";
}

bool restore_quantization(std::string_view list, Shape* shape) {
  Shape made = *shape;
  bool fits = true, more = true;
  visit_leaves(made, [&](Shape& s) {
    fits = fits && more;
    if (!fits) return;
    const size_t end = list.find(';');
    const std::string_view entry = list.substr(0, end);
    more = end != std::string_view::npos;
    list.remove_prefix(more ? end + 1 : list.size());
    if (entry.empty()) return;
    std::optional<Quantization> quantization = parse_entry(entry);
    const bool per_axis = quantization && quantization->axis >= 0;
    fits = quantization && is_integer(s.dtype) &&
           (per_axis ? quantization->axis < s.rank() && s.dims[static_cast<size_t>(quantization->axis)] ==
                                                            static_cast<int64_t>(quantization->scales.size())
                     : quantization->scales.size() == 1);
    if (fits) s.quantization = std::make_shared<const Quantization>(std::move(*quantization));
  });
  if (!fits || more) return false;
  *shape = std::move(made);
  return true;
}

Shape storage_shape(const Shape& shape) {
  Shape made = shape;
  visit_leaves(made, [](Shape& s) { s.quantization.reset(); });
  return made;
}

void copy_quantization(const Shape& from, Shape* to) {
  if (!compatible(storage_shape(from), storage_shape(*to))) return;
  const auto copy = [](const auto& self, const Shape& a, Shape* b) -> void {
    b->quantization = a.quantization;
    for (size_t i = 0; i < a.elements.size(); ++i) self(self, a.elements[i], &b->elements[i]);
  };
  copy(copy, from, to);
}

}  // namespace ncc::hlo
