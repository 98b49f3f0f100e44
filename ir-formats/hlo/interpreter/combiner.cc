#include "ir-formats/hlo/interpreter/combiner.h"

namespace ncc::hlo {

Status Combiner::apply_one_by_one(std::span<const void* const> in, std::span<void* const> out, int64_t n) {
  const auto parameters = body_.parameters();
  for (int64_t i = 0; i < n; ++i) {
    std::vector<Literal> args;
    for (size_t p = 0; p < parameters.size(); ++p) {
      const Shape shape = Shape::array(parameters[p]->shape.dtype);
      const size_t width = static_cast<size_t>(shape.size_bytes());
      const auto* at = static_cast<const std::byte*>(in[p]) + static_cast<size_t>(i) * width;
      args.push_back(Literal::copy(shape, {at, width}));
    }
    NCC_ASSIGN(const Literal value, evaluator_.run(body_, std::move(args)));
    for (size_t o = 0; o < out.size(); ++o) {
      const Literal& part = value.is_tuple() ? value.elements()[o] : value;
      std::memcpy(static_cast<std::byte*>(out[o]) + static_cast<size_t>(i) * part.bytes().size(),
                  part.bytes().data(), part.bytes().size());
    }
  }
  return Status::ok();
}

}  // namespace ncc::hlo
