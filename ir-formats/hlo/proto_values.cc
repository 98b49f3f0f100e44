#include "ir-formats/hlo/proto_values.h"

#include <algorithm>
#include <cstring>

namespace ncc::hlo {
namespace {

// PrimitiveType numbers of the wire, and the field of LiteralProto that holds values (spec/hlo-proto.md §8).
struct WireType {
  int number;
  Dtype dtype;
  int field;  // 0 = no literals
};
constexpr int kWireTuple = 13;
constexpr int kWireBuffer = 34;
constexpr WireType kWireTypes[] = {
    {1, Dtype::Pred, 2},
    {2, Dtype::S8, 15},
    {3, Dtype::S16, 17},
    {4, Dtype::S32, 4},
    {5, Dtype::S64, 5},
    {6, Dtype::U8, 3},
    {7, Dtype::U16, 16},
    {8, Dtype::U32, 6},
    {9, Dtype::U64, 7},
    {10, Dtype::F16, 11},
    {11, Dtype::F32, 8},
    {12, Dtype::F64, 9},
    {14, Dtype::Opaque, 0},
    {15, Dtype::C64, 12},
    {16, Dtype::BF16, 13},
    {17, Dtype::Token, 0},
    {18, Dtype::C128, 18},
    {19, Dtype::F8E5M2, 19},
    {20, Dtype::F8E4M3FN, 20},
    {21, Dtype::S4, 21},
    {22, Dtype::U4, 22},
    {23, Dtype::F8E4M3B11FNUZ, 23},
    {24, Dtype::F8E5M2FNUZ, 24},
    {25, Dtype::F8E4M3FNUZ, 25},
    {26, Dtype::S2, 26},
    {27, Dtype::U2, 27},
    {28, Dtype::F8E4M3, 28},
    {29, Dtype::F8E3M4, 29},
    {30, Dtype::S1, 30},
    {31, Dtype::U1, 31},
    {32, Dtype::F4E2M1FN, 32},
    {33, Dtype::F8E8M0FNU, 33},
    // XLA has no numbers for these two; ours are out of its way.
    {1035, Dtype::F6E3M2FN, 1035},
    {1036, Dtype::F6E2M3FN, 1036},
};

int literal_field(Dtype dtype) {
  for (const WireType& row : kWireTypes) {
    if (row.dtype == dtype) return row.field;
  }
  return 0;
}

std::optional<Dtype> dtype_from_wire(int number) {
  for (const WireType& row : kWireTypes) {
    if (row.number == number) return row.dtype;
  }
  return std::nullopt;
}

int dtype_to_wire(Dtype dtype) {
  for (const WireType& row : kWireTypes) {
    if (row.dtype == dtype) return row.number;
  }
  NCC_CHECK(false, "element type {} has no HLO number", info(dtype).hlo);
  return 0;
}

Status layout_from_wire(const wire::LayoutProto& proto, std::string_view what, Shape* shape) {
  if (proto.minor_to_major_size() != 0) {
    if (proto.minor_to_major_size() != shape->rank())
      return error(Code::EVRF003, fmt::format("the layout of {} lists {} dimensions, the shape has {}", what,
                                              proto.minor_to_major_size(), shape->rank()));
    shape->set_minor_to_major({proto.minor_to_major().begin(), proto.minor_to_major().end()});
  }
  LayoutExtras extras;
  // A tile or a split without numbers says nothing, and text has no form for it.
  for (const wire::TileProto& tile : proto.tiles())
    if (!tile.dimensions().empty())
      extras.tiles.emplace_back(tile.dimensions().begin(), tile.dimensions().end());
  if (proto.tail_padding_alignment_in_elements() > 1)
    extras.tail_padding_alignment = proto.tail_padding_alignment_in_elements();
  extras.element_size_in_bits = proto.element_size_in_bits();
  extras.memory_space = proto.memory_space();
  extras.dynamic_metadata_bytes = proto.dynamic_shape_metadata_prefix_bytes();
  for (const wire::SplitConfigProto& split : proto.split_configs()) {
    if (split.split_indices().empty()) continue;
    extras.split_configs.emplace_back(
        split.dimension(), std::vector<int64_t>(split.split_indices().begin(), split.split_indices().end()));
  }
  if (!(extras == LayoutExtras{}))
    shape->layout_extras = std::make_shared<const LayoutExtras>(std::move(extras));
  return Status::ok();
}

// The value field of each element type. Text fields are exact images, numeric fields are repeated scalars.
std::string* bytes_field(wire::LiteralProto* p, Dtype dtype) {
  switch (dtype) {
    case Dtype::U8:
      return p->mutable_u8s();
    case Dtype::S8:
      return p->mutable_s8s();
    case Dtype::U16:
      return p->mutable_u16s();
    case Dtype::S16:
      return p->mutable_s16s();
    case Dtype::F16:
      return p->mutable_f16s();
    case Dtype::BF16:
      return p->mutable_bf16s();
    case Dtype::S2:
      return p->mutable_s2s();
    case Dtype::U2:
      return p->mutable_u2s();
    case Dtype::S1:
      return p->mutable_s1s();
    case Dtype::U1:
      return p->mutable_u1s();
    case Dtype::S4:
      return p->mutable_s4s();
    case Dtype::U4:
      return p->mutable_u4s();
    case Dtype::F8E5M2:
      return p->mutable_f8e5m2s();
    case Dtype::F8E4M3:
      return p->mutable_f8e4m3s();
    case Dtype::F8E4M3FN:
      return p->mutable_f8e4m3fns();
    case Dtype::F8E4M3B11FNUZ:
      return p->mutable_f8e4m3b11fnuzs();
    case Dtype::F8E5M2FNUZ:
      return p->mutable_f8e5m2fnuzs();
    case Dtype::F8E4M3FNUZ:
      return p->mutable_f8e4m3fnuzs();
    case Dtype::F8E3M4:
      return p->mutable_f8e3m4s();
    case Dtype::F8E8M0FNU:
      return p->mutable_f8e8m0fnus();
    case Dtype::F4E2M1FN:
      return p->mutable_f4e2m1fns();
    case Dtype::F6E3M2FN:
      return p->mutable_f6e3m2fns();
    case Dtype::F6E2M3FN:
      return p->mutable_f6e2m3fns();
    default:
      return nullptr;
  }
}

// Calls visit(RepeatedField<T>*, storage width in bytes) for the numeric field of `dtype`; false when it has
// none.
template <class Visit>
bool visit_numeric_field(wire::LiteralProto* p, Dtype dtype, const Visit& visit) {
  switch (dtype) {
    case Dtype::Pred:
      visit(p->mutable_preds());
      return true;
    case Dtype::S32:
      visit(p->mutable_s32s());
      return true;
    case Dtype::S64:
      visit(p->mutable_s64s());
      return true;
    case Dtype::U32:
      visit(p->mutable_u32s());
      return true;
    case Dtype::U64:
      visit(p->mutable_u64s());
      return true;
    case Dtype::F32:
      visit(p->mutable_f32s());
      return true;
    case Dtype::F64:
      visit(p->mutable_f64s());
      return true;
    case Dtype::C64:
      visit(p->mutable_c64s());
      return true;
    case Dtype::C128:
      visit(p->mutable_c128s());
      return true;
    default:
      return false;
  }
}

Status wrong_size(std::string_view what, int64_t found, int64_t expected) {
  return error(Code::EVRF004, fmt::format("bytes of the literal of {}", what), found, expected);
}

// Sub-byte values sit in the low bits; the rest of the byte is unspecified on the wire.
void clean_sub_byte(Dtype dtype, std::string* bytes) {
  const int bits = info(dtype).bits;
  if (bits >= 8 || dtype == Dtype::Pred) return;
  const unsigned mask = (1u << bits) - 1;
  for (char& c : *bytes) {
    unsigned value = static_cast<unsigned char>(c) & mask;
    c = static_cast<char>(value);
  }
}

// Values that stand in the file: shared with it, unless they need cleaning or it is not kept.
Result<Literal> payload_values(const Payload& payload, const std::shared_ptr<const void>& owner,
                               const Shape& shape, std::string_view what) {
  const int64_t found = static_cast<int64_t>(payload.bytes.size()), expected = shape.size_bytes();
  if (payload.field != literal_field(shape.dtype)) return wrong_size(what, 0, expected);
  if (found != expected) return wrong_size(what, found, expected);
  const auto bytes = std::as_bytes(std::span(payload.bytes));
  const bool pred = shape.dtype == Dtype::Pred;
  const bool clean = pred ? std::none_of(payload.bytes.begin(), payload.bytes.end(),
                                         [](char c) { return static_cast<unsigned char>(c) > 1; })
                          : info(shape.dtype).bits >= 8;
  if (clean && owner) return Literal::view(shape, bytes, owner);
  std::string copy(payload.bytes);
  clean_sub_byte(shape.dtype, &copy);
  if (pred) {
    for (char& c : copy) {
      // Longer varints would need more bytes than elements.
      if (static_cast<unsigned char>(c) >= 0x80) return wrong_size(what, found, expected);
      c = c != 0;
    }
  }
  return Literal::copy(shape, std::as_bytes(std::span(copy)));
}

// Moves the value storage into a shared owner.
Result<Literal> take_values(wire::LiteralProto* proto, const Shape& shape, std::string_view what,
                            const SlimModule& slim) {
  if (proto->payload() > 0 && proto->payload() <= static_cast<int64_t>(slim.payloads.size()))
    return payload_values(slim.payloads[static_cast<size_t>(proto->payload() - 1)], slim.owner, shape, what);
  const int64_t expected = shape.size_bytes();
  std::optional<Literal> literal;
  int64_t found = 0;
  if (std::string* field = bytes_field(proto, shape.dtype)) {
    found = static_cast<int64_t>(field->size());
    if (found != expected) return wrong_size(what, found, expected);
    clean_sub_byte(shape.dtype, field);
    auto owner = std::make_shared<std::string>(std::move(*field));
    literal = Literal::view(shape, std::as_bytes(std::span(*owner)), owner);
  } else {
    const bool numeric =
        visit_numeric_field(proto, shape.dtype, [&]<class T>(google::protobuf::RepeatedField<T>* field) {
          found = static_cast<int64_t>(field->size()) * static_cast<int64_t>(sizeof(T));
          if (found != expected) return;
          auto owner = std::make_shared<google::protobuf::RepeatedField<T>>();
          owner->Swap(field);
          literal = Literal::view(
              shape, std::as_bytes(std::span(owner->data(), static_cast<size_t>(owner->size()))), owner);
        });
    if (!numeric) return error(Code::EVRF002, info(shape.dtype).hlo, fmt::format("the literal of {}", what));
    if (!literal) return wrong_size(what, found, expected);
  }
  return std::move(*literal);
}

template <class T>
void permute(const Shape& shape, const T* from, T* to, bool to_row_major) {
  const size_t rank = shape.dims.size();
  const int64_t count = shape.num_elements();
  // stride[d]: distance in the physical order; the walk is row-major.
  std::vector<int64_t> stride(rank), index(rank, 0);
  int64_t step = 1;
  for (int64_t d : shape.full_minor_to_major()) {
    stride[static_cast<size_t>(d)] = step;
    step *= shape.dims[static_cast<size_t>(d)];
  }
  int64_t physical = 0;
  for (int64_t logical = 0; logical < count; ++logical) {
    if (to_row_major) {
      to[logical] = from[physical];
    } else {
      to[physical] = from[logical];
    }
    for (size_t d = rank; d-- > 0;) {
      physical += stride[d];
      if (++index[d] < shape.dims[d]) break;
      physical -= stride[d] * shape.dims[d];
      index[d] = 0;
    }
  }
}

struct Wide {
  std::byte bytes[16];
};

}  // namespace

void permute_elements(const Shape& shape, const std::byte* from, std::byte* to, bool to_row_major) {
  const auto run = [&]<class T>(T) {
    permute(shape, reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to), to_row_major);
  };
  switch (size_bytes(shape.dtype)) {
    case 1:
      return run(uint8_t{});
    case 2:
      return run(uint16_t{});
    case 4:
      return run(uint32_t{});
    case 8:
      return run(uint64_t{});
    default:
      return run(Wide{});
  }
}

Result<Shape> shape_from_wire(const wire::ShapeProto& proto, std::string_view what) {
  Shape shape;
  if (proto.element_type() == kWireTuple) {
    shape.tuple = true;
    for (const wire::ShapeProto& element : proto.tuple_shapes()) {
      NCC_ASSIGN(Shape inner, shape_from_wire(element, what));
      shape.elements.push_back(std::move(inner));
    }
    return shape;
  }
  if (proto.element_type() == kWireBuffer) return error(Code::EVRF002, "buffer", what);
  const std::optional<Dtype> dtype = dtype_from_wire(proto.element_type());
  if (!dtype) return error(Code::EVRF002, fmt::format("number {}", proto.element_type()), what);
  shape.dtype = *dtype;
  shape.dims.assign(proto.dimensions().begin(), proto.dimensions().end());
  if (shape.rank() > kMaxRank) return check_shape(shape, what);
  if (proto.is_dynamic_dimension_size() != 0 && proto.is_dynamic_dimension_size() != proto.dimensions_size())
    return error(Code::EVRF003, fmt::format("{} has {} dimensions and {} dynamic flags", what,
                                            proto.dimensions_size(), proto.is_dynamic_dimension_size()));
  for (int d = 0; d < proto.is_dynamic_dimension_size(); ++d) {
    if (proto.is_dynamic_dimension(d)) shape.set_dynamic_dim(d, shape.dims[static_cast<size_t>(d)]);
  }
  if (proto.has_layout()) NCC_TRY(layout_from_wire(proto.layout(), what, &shape));
  NCC_TRY(check_shape(shape, what));
  return shape;
}

void shape_to_wire(const Shape& shape, wire::ShapeProto* proto) {
  if (shape.tuple) {
    proto->set_element_type(kWireTuple);
    for (const Shape& element : shape.elements) shape_to_wire(element, proto->add_tuple_shapes());
    return;
  }
  proto->set_element_type(dtype_to_wire(shape.dtype));
  for (int64_t size : shape.dims) proto->add_dimensions(size);
  if (shape.dynamic_mask != 0) {
    for (int64_t d = 0; d < shape.rank(); ++d) proto->add_is_dynamic_dimension(shape.is_dynamic_dim(d));
  }
  if (!shape.is_array()) return;
  wire::LayoutProto* layout = proto->mutable_layout();
  for (int64_t d : shape.full_minor_to_major()) layout->add_minor_to_major(d);
  if (!shape.layout_extras) return;
  const LayoutExtras& extras = *shape.layout_extras;
  for (const auto& tile : extras.tiles) {
    wire::TileProto* out = layout->add_tiles();
    for (int64_t size : tile) out->add_dimensions(size);
  }
  layout->set_tail_padding_alignment_in_elements(extras.tail_padding_alignment);
  layout->set_element_size_in_bits(extras.element_size_in_bits);
  layout->set_memory_space(extras.memory_space);
  layout->set_dynamic_shape_metadata_prefix_bytes(extras.dynamic_metadata_bytes);
  for (const auto& [dimension, points] : extras.split_configs) {
    wire::SplitConfigProto* out = layout->add_split_configs();
    out->set_dimension(dimension);
    for (int64_t point : points) out->add_split_indices(point);
  }
}

Result<Literal> literal_from_wire(wire::LiteralProto* proto, std::string_view what, const SlimModule& slim) {
  NCC_ASSIGN(Shape shape, shape_from_wire(proto->shape(), what));
  if (shape.is_tuple()) {
    if (static_cast<size_t>(proto->tuple_literals_size()) != shape.elements.size())
      return error(Code::EVRF004, fmt::format("elements of the tuple literal of {}", what),
                   proto->tuple_literals_size(), shape.elements.size());
    std::vector<Literal> elements;
    for (int i = 0; i < proto->tuple_literals_size(); ++i) {
      NCC_ASSIGN(Literal element, literal_from_wire(proto->mutable_tuple_literals(i), what, slim));
      elements.push_back(std::move(element));
    }
    return Literal::make_tuple(std::move(elements));
  }
  if (shape.is_token()) return Literal::view(shape, {}, nullptr);
  if (shape.is_dynamic())
    return error(Code::EVRF003, fmt::format("the literal of {} has a dynamic dimension", what));
  NCC_ASSIGN(Literal physical, take_values(proto, shape, what, slim));
  if (shape.has_default_layout()) return physical;
  Literal literal = Literal::zeros(shape);
  permute_elements(shape, physical.bytes().data(), literal.mutable_data(), true);
  return literal;
}

void literal_to_wire(const Literal& literal, const Shape& shape, wire::LiteralProto* proto) {
  shape_to_wire(shape, proto->mutable_shape());
  if (literal.is_tuple()) {
    for (size_t i = 0; i < literal.elements().size(); ++i)
      literal_to_wire(literal.elements()[i], shape.elements[i], proto->add_tuple_literals());
    return;
  }
  Literal ordered = literal;
  if (!shape.has_default_layout()) {
    ordered = Literal::zeros(shape);
    permute_elements(shape, literal.bytes().data(), ordered.mutable_data(), false);
  }
  const std::span<const std::byte> bytes = ordered.bytes();
  if (std::string* field = bytes_field(proto, shape.dtype)) {
    field->assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return;
  }
  visit_numeric_field(proto, shape.dtype, [&]<class T>(google::protobuf::RepeatedField<T>* field) {
    field->Resize(static_cast<int>(bytes.size() / sizeof(T)), T{});
    if (!bytes.empty()) std::memcpy(field->mutable_data(), bytes.data(), bytes.size());
  });
}

}  // namespace ncc::hlo
