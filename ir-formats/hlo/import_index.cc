// Gather, scatter, linear algebra, random numbers.
#include "ir-formats/hlo/import.h"
#include "ir-formats/hlo/mlir_parser.h"
#include "ir-formats/hlo/wire_names.h"

namespace ncc::hlo::mlir {
namespace {

struct ListField {
  std::string_view key;
  std::vector<int64_t>* list;
};

Status read_lists(const Attr& attr, std::initializer_list<ListField> fields) {
  for (const ListField& field : fields) {
    const Attr* entry = find(attr.entries, field.key);
    if (entry) NCC_TRY(int_list(*entry, field.list));
  }
  return Status::ok();
}

int64_t read_int(const Attr& attr, std::string_view key) {
  const Attr* entry = find(attr.entries, key);
  return entry ? entry->integer : 0;
}

}  // namespace

Status Importer::gather_dims(OpContext& ctx, Attributes* a) const {
  const Attr* numbers = ctx.op.attr("dimension_numbers");
  if (!numbers) return fail(ctx, "attribute 'dimension_numbers' is missing");
  GatherDims& g = a->gather;
  NCC_TRY(read_lists(*numbers, {{"offset_dims", &g.offset_dims},
                                {"collapsed_slice_dims", &g.collapsed_slice_dims},
                                {"start_index_map", &g.start_index_map},
                                {"operand_batching_dims", &g.operand_batching_dims},
                                {"start_indices_batching_dims", &g.start_indices_batching_dims}}));
  g.index_vector_dim = read_int(*numbers, "index_vector_dim");
  a->indices_are_sorted = flag(ctx, "indices_are_sorted");
  return Status::ok();
}

Status Importer::gather(OpContext& ctx) {
  Instruction* inst = make_op(ctx, Opcode::Gather, ctx.in);
  Attributes& a = inst->mutable_attrs();
  NCC_TRY(gather_dims(ctx, &a));
  return ints(ctx, "slice_sizes", &a.slice_sizes);
}

Status Importer::scatter(OpContext& ctx) {
  if (ctx.op.regions.size() != 1) return fail(ctx, "one region expected");
  const Attr* numbers = ctx.op.attr("scatter_dimension_numbers");
  if (!numbers) return fail(ctx, "attribute 'scatter_dimension_numbers' is missing");
  NCC_ASSIGN(Computation * body, import_region(ctx, ctx.op.regions[0], "scatter_body"));
  Instruction* inst = make_op(ctx, Opcode::Scatter, ctx.in);
  inst->called = {body};
  Attributes& a = inst->mutable_attrs();
  ScatterDims& s = a.scatter;
  NCC_TRY(read_lists(*numbers, {{"update_window_dims", &s.update_window_dims},
                                {"inserted_window_dims", &s.inserted_window_dims},
                                {"scatter_dims_to_operand_dims", &s.scatter_dims_to_operand_dims},
                                {"input_batching_dims", &s.input_batching_dims},
                                {"scatter_indices_batching_dims", &s.scatter_indices_batching_dims}}));
  s.index_vector_dim = read_int(*numbers, "index_vector_dim");
  a.indices_are_sorted = flag(ctx, "indices_are_sorted");
  a.unique_indices = flag(ctx, "unique_indices");
  return Status::ok();
}

Status Importer::torch_index_select(OpContext& ctx) {
  int64_t dim = 0, batch_dims = 0;
  NCC_TRY(integer(ctx, "dim", &dim));
  NCC_TRY(integer(ctx, "batch_dims", &batch_dims));
  make_op(ctx, Opcode::TorchIndexSelect, ctx.in)->dimensions = {dim, batch_dims};
  return Status::ok();
}

Status Importer::fft(OpContext& ctx) {
  const auto type = enum_from_name<FftType>(word(ctx, "fft_type"), 4);
  if (!type) return fail(ctx, "unknown fft type");
  Instruction* inst = make_op(ctx, Opcode::Fft, ctx.in);
  inst->mutable_attrs().fft_type = *type;
  return ints(ctx, "fft_length", &inst->mutable_attrs().fft_length);
}

Status Importer::cholesky(OpContext& ctx) {
  make_op(ctx, Opcode::Cholesky, ctx.in)->mutable_attrs().lower = flag(ctx, "lower");
  return Status::ok();
}

Status Importer::triangular_solve(OpContext& ctx) {
  const auto transpose = enum_from_name<TransposeKind>(word(ctx, "transpose_a"), 4);
  if (!transpose) return fail(ctx, "unknown transpose_a");
  Attributes& a = make_op(ctx, Opcode::TriangularSolve, ctx.in)->mutable_attrs();
  a.left_side = flag(ctx, "left_side");
  a.lower = flag(ctx, "lower");
  a.unit_diagonal = flag(ctx, "unit_diagonal");
  a.transpose_a = *transpose;
  return Status::ok();
}

Status Importer::batch_norm(OpContext& ctx) {
  const Attr* epsilon = ctx.op.attr("epsilon");
  if (!epsilon) return fail(ctx, "attribute 'epsilon' is missing");
  Attributes& a = make_op(ctx, *opcode_from_mlir(ctx.op.name), ctx.in)->mutable_attrs();
  a.epsilon = static_cast<float>(epsilon->real);
  return integer(ctx, "feature_index", &a.feature_index);
}

// The third operand is the shape, which the result type already says.
Status Importer::rng(OpContext& ctx) {
  if (ctx.in.size() != 3) return fail(ctx, "three operands expected");
  const std::string name = word(ctx, "rng_distribution");
  if (name != "UNIFORM" && name != "NORMAL") return fail(ctx, fmt::format("unknown distribution '{}'", name));
  Instruction* inst = make_op(ctx, Opcode::Rng, {ctx.in[0], ctx.in[1]});
  inst->mutable_attrs().rng_distribution =
      name == "UNIFORM" ? RngDistribution::Uniform : RngDistribution::Normal;
  return Status::ok();
}

Status Importer::rng_bit_generator(OpContext& ctx) {
  const std::string name = word(ctx, "rng_algorithm");
  RngAlgorithm algorithm = RngAlgorithm::Default;
  if (name == "THREE_FRY") {
    algorithm = RngAlgorithm::ThreeFry;
  } else if (name == "PHILOX") {
    algorithm = RngAlgorithm::Philox;
  } else if (name != "DEFAULT") {
    return fail(ctx, fmt::format("unknown algorithm '{}'", name));
  }
  make_op(ctx, Opcode::RngBitGenerator, ctx.in)->mutable_attrs().rng_algorithm = algorithm;
  return Status::ok();
}

}  // namespace ncc::hlo::mlir
