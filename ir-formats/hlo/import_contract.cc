// Contractions, windows, reductions, sorting.
#include <algorithm>

#include "ir-formats/hlo/import.h"
#include "ir-formats/hlo/mlir_parser.h"
#include "ir-formats/hlo/wire_names.h"

namespace ncc::hlo::mlir {
namespace {

// "[…]" list of a struct attribute; a missing key is an empty list.
Status entry_ints(const Attr& attr, std::string_view key, std::vector<int64_t>* values) {
  values->clear();
  const Attr* entry = find(attr.entries, key);
  return entry ? int_list(*entry, values) : Status::ok();
}

int64_t entry_int(const Attr& attr, std::string_view key) {
  const Attr* entry = find(attr.entries, key);
  return entry ? entry->integer : 0;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// The algorithm's HLO name: types of both sides and of the accumulator, and how many products make one
// ("…_x3").
std::string algorithm_name(const Attr& attr) {
  const auto type = [&](std::string_view key) {
    const Attr* entry = find(attr.entries, key);
    return entry ? lower(entry->text) : std::string();
  };
  std::string lhs = type("lhs_precision_type"), rhs = type("rhs_precision_type");
  const std::string accumulator = type("accumulation_type");
  const int64_t products = entry_int(attr, "num_primitive_operations");
  if (lhs.starts_with("f8")) lhs = rhs = "any_f8";
  std::string made = fmt::format("dot_{}_{}_{}", lhs, rhs, accumulator);
  if (products > 1) made += fmt::format("_x{}", products);
  if (lhs == "any_f8" && entry_int(attr, "allow_imprecise_accumulation")) made += "_fast_accum";
  return made;
}

}  // namespace

Status Importer::precision(OpContext& ctx, Attributes* a) const {
  const Attr* list = ctx.op.attr("precision_config");
  if (!list) return Status::ok();
  std::vector<Precision> asked;
  for (const Attr& item : list->items) {
    const auto known = enum_from_name<Precision>(lower(item.text), 3);
    if (!known) return fail(ctx, fmt::format("unknown precision '{}'", item.text));
    asked.push_back(*known);
  }
  const bool any =
      std::any_of(asked.begin(), asked.end(), [](Precision p) { return p != Precision::Default; });
  if (any) a->precision = std::move(asked);
  return Status::ok();
}

Status Importer::dot_general(OpContext& ctx) {
  Instruction* inst = make_op(ctx, Opcode::Dot, ctx.in);
  Attributes& a = inst->mutable_attrs();
  NCC_TRY(precision(ctx, &a));
  struct Field {
    std::string_view key;
    std::vector<int64_t>* list;
  };
  const Field fields[] = {{"lhs_batching_dimensions", &a.dot.lhs_batch},
                          {"rhs_batching_dimensions", &a.dot.rhs_batch},
                          {"lhs_contracting_dimensions", &a.dot.lhs_contracting},
                          {"rhs_contracting_dimensions", &a.dot.rhs_contracting}};
  const Attr* numbers = ctx.op.attr("dot_dimension_numbers");
  for (const Field& field : fields) {
    if (numbers) {
      NCC_TRY(entry_ints(*numbers, field.key, field.list));
    } else {
      NCC_TRY(ints(ctx, field.key, field.list, false));
    }
  }
  const Attr* algorithm = ctx.op.attr("algorithm");
  if (algorithm && algorithm->kind == Attr::Kind::Dict) {
    a.algorithm = algorithm_name(*algorithm);
    // StableHLO may combine types for which HLO has no algorithm: kept as it stands, computed as without one.
    if (!index_of(kAlgorithmNames, a.algorithm)) {
      a.algorithm.clear();
      a.frontend_attributes.emplace_back("mhlo.dot_algorithm", algorithm->source);
    }
  }
  return Status::ok();
}

// The old two-operand product: last dimension by first.
Status Importer::dot(OpContext& ctx) {
  if (ctx.in.size() != 2) return fail(ctx, "two operands expected");
  Instruction* inst = make_op(ctx, Opcode::Dot, ctx.in);
  Attributes& a = inst->mutable_attrs();
  a.dot.lhs_contracting = {ctx.in[0]->shape.rank() - 1};
  a.dot.rhs_contracting = {0};
  return precision(ctx, &a);
}

Status Importer::ragged_dot(OpContext& ctx) {
  Instruction* inst = make_op(ctx, Opcode::RaggedDot, ctx.in);
  Attributes& a = inst->mutable_attrs();
  const Attr* numbers = ctx.op.attr("ragged_dot_dimension_numbers");
  if (!numbers) return fail(ctx, "attribute 'ragged_dot_dimension_numbers' is missing");
  NCC_TRY(entry_ints(*numbers, "lhs_batching_dimensions", &a.dot.lhs_batch));
  NCC_TRY(entry_ints(*numbers, "rhs_batching_dimensions", &a.dot.rhs_batch));
  NCC_TRY(entry_ints(*numbers, "lhs_contracting_dimensions", &a.dot.lhs_contracting));
  NCC_TRY(entry_ints(*numbers, "rhs_contracting_dimensions", &a.dot.rhs_contracting));
  NCC_TRY(entry_ints(*numbers, "lhs_ragged_dimensions", &a.lhs_ragged_dims));
  NCC_TRY(entry_ints(*numbers, "rhs_group_dimensions", &a.rhs_group_dims));
  return precision(ctx, &a);
}

Status Importer::einsum(OpContext& ctx) {
  const bool unary = ctx.op.name == "stablehlo.unary_einsum";
  Instruction* inst = make_op(ctx, unary ? Opcode::UnaryEinsum : Opcode::Einsum, ctx.in);
  inst->mutable_attrs().einsum_config = word(ctx, "einsum_config");
  return Status::ok();
}

// Window attributes of `rank` dimensions; an empty size key means sizes come from elsewhere.
Status Importer::window(OpContext& ctx, std::string_view size_key, size_t rank, Attributes* a) const {
  std::vector<int64_t> sizes(rank, 1), strides(rank, 1), base(rank, 1), taps(rank, 1), padding(2 * rank, 0),
      reversal(rank, 0);
  if (!size_key.empty()) NCC_TRY(ints(ctx, size_key, &sizes, false));
  NCC_TRY(ints(ctx, "window_strides", &strides, false));
  NCC_TRY(ints(ctx, "base_dilations", &base, false));
  NCC_TRY(ints(ctx, "window_dilations", &taps, false));
  NCC_TRY(ints(ctx, "lhs_dilation", &base, false));
  NCC_TRY(ints(ctx, "rhs_dilation", &taps, false));
  NCC_TRY(ints(ctx, "padding", &padding, false));
  NCC_TRY(ints(ctx, "window_reversal", &reversal, false));
  // Shape-polymorphic exports state the strides of a dynamic_conv twice over; the first ones count.
  if (ctx.op.name == "stablehlo.dynamic_conv" && strides.size() > rank) strides.resize(rank);
  if (sizes.size() != rank || strides.size() != rank || base.size() != rank || taps.size() != rank ||
      padding.size() != 2 * rank || reversal.size() != rank)
    return fail(ctx, fmt::format("window attributes do not all have {} dimensions", rank));
  for (size_t d = 0; d < rank; ++d)
    a->window.push_back(
        {sizes[d], strides[d], padding[2 * d], padding[2 * d + 1], taps[d], base[d], reversal[d] != 0});
  return Status::ok();
}

namespace {

struct ConvGroup {
  int64_t first = -1, second = -1;  // positions of the two letters
  std::vector<int64_t> spatial;
};

// Letters and spatial numbers of one operand, by position.
bool read_conv_group(const Attr& attr, std::string_view first, std::string_view second, ConvGroup* group) {
  group->spatial.assign(attr.items.size() >= 2 ? attr.items.size() - 2 : 0, -1);
  for (size_t i = 0; i < attr.items.size(); ++i) {
    const Attr& item = attr.items[i];
    const int64_t position = static_cast<int64_t>(i);
    if (item.kind == Attr::Kind::Enum) {
      int64_t& slot = item.text == first ? group->first : group->second;
      if ((item.text != first && item.text != second) || slot != -1) return false;
      slot = position;
    } else {
      if (item.integer < 0 || item.integer >= static_cast<int64_t>(group->spatial.size())) return false;
      group->spatial[static_cast<size_t>(item.integer)] = position;
    }
  }
  const bool complete =
      std::none_of(group->spatial.begin(), group->spatial.end(), [](int64_t p) { return p < 0; });
  return complete && group->first >= 0 && group->second >= 0;
}

bool read_conv_raw(const Attr& attr, ConvDims* conv) {
  conv->input_batch = entry_int(attr, "input_batch_dimension");
  conv->input_feature = entry_int(attr, "input_feature_dimension");
  conv->kernel_input_feature = entry_int(attr, "kernel_input_feature_dimension");
  conv->kernel_output_feature = entry_int(attr, "kernel_output_feature_dimension");
  conv->output_batch = entry_int(attr, "output_batch_dimension");
  conv->output_feature = entry_int(attr, "output_feature_dimension");
  return entry_ints(attr, "input_spatial_dimensions", &conv->input_spatial).is_ok() &&
         entry_ints(attr, "kernel_spatial_dimensions", &conv->kernel_spatial).is_ok() &&
         entry_ints(attr, "output_spatial_dimensions", &conv->output_spatial).is_ok();
}

bool read_conv_dims(const Attr& attr, ConvDims* conv) {
  if (attr.kind == Attr::Kind::Dict) return read_conv_raw(attr, conv);
  if (attr.items.size() != 3) return false;
  ConvGroup input, kernel, output;
  if (!read_conv_group(attr.items[0], "b", "f", &input) ||
      !read_conv_group(attr.items[1], "i", "o", &kernel) ||
      !read_conv_group(attr.items[2], "b", "f", &output))
    return false;
  *conv = {input.first,   input.second,  kernel.first,   kernel.second, output.first,
           output.second, input.spatial, kernel.spatial, output.spatial};
  return true;
}

}  // namespace

Status Importer::convolution(OpContext& ctx) {
  if (ctx.in.size() < 2) return fail(ctx, "two operands expected");
  const Attr* numbers = ctx.op.attr("dimension_numbers");
  ConvDims conv;
  if (!numbers || !read_conv_dims(*numbers, &conv)) return fail(ctx, "bad dimension numbers");
  const bool dynamic = ctx.op.name == "stablehlo.dynamic_conv";
  Instruction* inst = make_op(ctx, dynamic ? Opcode::DynamicConv : Opcode::Convolution, ctx.in);
  Attributes& a = inst->mutable_attrs();
  NCC_TRY(window(ctx, "", conv.input_spatial.size(), &a));
  const Shape& kernel = ctx.in[1]->shape;
  for (size_t d = 0; d < a.window.size(); ++d) {
    const int64_t dim = d < conv.kernel_spatial.size() ? conv.kernel_spatial[d] : -1;
    if (dim < 0 || dim >= kernel.rank()) return fail(ctx, "kernel dimension out of range");
    a.window[d].size = kernel.dims[static_cast<size_t>(dim)];
  }
  a.conv = std::move(conv);
  NCC_TRY(integer(ctx, "feature_group_count", &a.feature_group_count, false));
  NCC_TRY(integer(ctx, "batch_group_count", &a.batch_group_count, false));
  return precision(ctx, &a);
}

// The body that `applies op` stands for; one for each op and element type.
Result<Computation*> Importer::applied_body(OpContext& ctx) {
  const std::string name = word(ctx, "applies");
  const std::optional<Opcode> opcode = opcode_from_mlir(name);
  if (!opcode || info(*opcode).kind != OpKind::Binary)
    return unsupported(ctx, fmt::format("reduction by '{}'", name));
  if (ctx.in.empty()) return fail(ctx, "operands expected");
  Shape scalar = Shape::array(ctx.in[0]->shape.dtype);
  scalar.quantization = ctx.in[0]->shape.quantization;
  Computation*& body = applied_[fmt::format("{}:{}", name, to_string(scalar))];
  if (body) return body;
  body = module_->add_computation(fmt::format("{}_{}", hlo::name(*opcode), info(scalar.dtype).hlo));
  Instruction* lhs = body->add_parameter(0, scalar, "lhs");
  Instruction* rhs = body->add_parameter(1, scalar, "rhs");
  body->set_root(body->add(*opcode, scalar, {lhs, rhs}));
  for (const auto& inst : body->instructions()) inst->loc = ctx.loc;
  return body;
}

Status Importer::reduce(OpContext& ctx) {
  std::vector<int64_t> dims;
  NCC_TRY(ints(ctx, "dimensions", &dims));
  Computation* body = nullptr;
  if (ctx.op.regions.empty()) {
    NCC_ASSIGN(body, applied_body(ctx));
  } else {
    NCC_ASSIGN(body, import_region(ctx, ctx.op.regions[0], "reduce_body"));
  }
  Instruction* inst = make_op(ctx, Opcode::Reduce, ctx.in);
  inst->dimensions = std::move(dims);
  inst->called = {body};
  return Status::ok();
}

Status Importer::reduce_window(OpContext& ctx) {
  if (ctx.op.regions.size() != 1 || ctx.in.empty()) return fail(ctx, "operands and one region expected");
  NCC_ASSIGN(Computation * body, import_region(ctx, ctx.op.regions[0], "window_body"));
  Instruction* inst = make_op(ctx, Opcode::ReduceWindow, ctx.in);
  inst->called = {body};
  return window(ctx, "window_dimensions", ctx.in[0]->shape.dims.size(), &inst->mutable_attrs());
}

Status Importer::select_and_scatter(OpContext& ctx) {
  if (ctx.op.regions.size() != 2 || ctx.in.size() != 3)
    return fail(ctx, "three operands and two regions expected");
  NCC_ASSIGN(Computation * select, import_region(ctx, ctx.op.regions[0], "select"));
  NCC_ASSIGN(Computation * scatter, import_region(ctx, ctx.op.regions[1], "scatter"));
  Instruction* inst = make_op(ctx, Opcode::SelectAndScatter, ctx.in);
  inst->called = {select, scatter};
  return window(ctx, "window_dimensions", ctx.in[0]->shape.dims.size(), &inst->mutable_attrs());
}

Status Importer::sort(OpContext& ctx) {
  if (ctx.op.regions.size() != 1 || ctx.in.empty()) return fail(ctx, "operands and one region expected");
  NCC_ASSIGN(Computation * body, import_region(ctx, ctx.op.regions[0], "comparator"));
  int64_t dim = -1;
  NCC_TRY(integer(ctx, "dimension", &dim, false));
  if (dim < 0) dim += ctx.in[0]->shape.rank();
  Instruction* inst = make_op(ctx, Opcode::Sort, ctx.in);
  inst->dimensions = {dim};
  inst->called = {body};
  inst->mutable_attrs().is_stable = flag(ctx, "is_stable");
  return Status::ok();
}

Status Importer::map(OpContext& ctx) {
  if (ctx.op.regions.size() != 1) return fail(ctx, "one region expected");
  NCC_ASSIGN(Computation * body, import_region(ctx, ctx.op.regions[0], "map_body"));
  Instruction* inst = make_op(ctx, Opcode::Map, ctx.in);
  inst->called = {body};
  return ints(ctx, "dimensions", &inst->dimensions);
}

Status Importer::scan(OpContext& ctx) {
  if (ctx.op.regions.size() != 1) return fail(ctx, "one region expected");
  NCC_ASSIGN(Computation * body, import_region(ctx, ctx.op.regions[0], "scan_body"));
  Instruction* inst = make_op(ctx, Opcode::Scan, ctx.in);
  inst->called = {body};
  Attributes& a = inst->mutable_attrs();
  a.is_reverse = flag(ctx, "is_reverse");
  a.is_associative = flag(ctx, "is_associative");
  NCC_TRY(integer(ctx, "num_carries", &a.num_carries, false));
  return ints(ctx, "dimension", &inst->dimensions);
}

Status Importer::top_k(OpContext& ctx) {
  Instruction* inst = make_op(ctx, Opcode::TopK, ctx.in);
  return integer(ctx, "k", &inst->mutable_attrs().k);
}

}  // namespace ncc::hlo::mlir
