// Collectives and host transfers.
#include "ir-formats/hlo/import.h"
#include "ir-formats/hlo/mlir_parser.h"

namespace ncc::hlo::mlir {
namespace {

// Rows of a dense 2-D list; -1 pads ragged rows.
bool read_groups(const Attr& attr, std::vector<std::vector<int64_t>>* groups) {
  std::vector<int64_t> flat;
  if (attr.kind != Attr::Kind::Dense || !int_list(attr, &flat).is_ok()) return false;
  const int64_t width = attr.shape.rank() == 2 ? attr.shape.dims[1] : static_cast<int64_t>(flat.size());
  for (size_t i = 0; i < flat.size(); ++i) {
    if (width > 0 && i % static_cast<size_t>(width) == 0) groups->emplace_back();
    if (flat[i] >= 0) groups->back().push_back(flat[i]);
  }
  return true;
}

}  // namespace

Status Importer::collective(OpContext& ctx) {
  const bool sum = ctx.op.name == "stablehlo.cross-replica-sum";
  const std::optional<Opcode> opcode = sum ? Opcode::AllReduce : opcode_from_mlir(ctx.op.name);
  Computation* body = nullptr;
  if (!ctx.op.regions.empty()) {
    NCC_ASSIGN(body, import_region(ctx, ctx.op.regions[0], "collective_body"));
  }
  Instruction* inst = make_op(ctx, *opcode, ctx.in);
  if (body) inst->called = {body};
  Attributes& a = inst->mutable_attrs();
  if (const Attr* groups = ctx.op.attr("replica_groups")) {
    if (groups->kind != Attr::Kind::Dense) return unsupported(ctx, "replica groups given by mesh axes");
    if (!read_groups(*groups, &a.replica_groups)) return fail(ctx, "bad replica groups");
  }
  if (const Attr* pairs = ctx.op.attr("source_target_pairs")) {
    std::vector<std::vector<int64_t>> rows;
    if (!read_groups(*pairs, &rows)) return fail(ctx, "bad source target pairs");
    for (const auto& row : rows) {
      if (row.size() != 2) return fail(ctx, "bad source target pairs");
      a.source_target_pairs.emplace_back(row[0], row[1]);
    }
  }
  if (const Attr* channel = ctx.op.attr("channel_handle")) {
    if (const Attr* handle = find(channel->entries, "handle")) a.channel_id = handle->integer;
  } else {
    NCC_TRY(integer(ctx, "channel_id", &a.channel_id, false));
  }
  a.use_global_device_ids = flag(ctx, "use_global_device_ids");
  a.has_dynamic_root = flag(ctx, "has_dynamic_root");
  for (std::string_view key : {"all_gather_dim", "scatter_dimension"})
    NCC_TRY(ints(ctx, key, &inst->dimensions, false));
  NCC_TRY(integer(ctx, "split_dimension", &a.split_dimension, false));
  NCC_TRY(integer(ctx, "concat_dimension", &a.concat_dimension, false));
  NCC_TRY(integer(ctx, "split_count", &a.split_count, false));
  // The HLO form has one dimension for both.
  if (*opcode == Opcode::AllToAll && a.split_dimension == a.concat_dimension)
    inst->dimensions = {a.split_dimension};
  return Status::ok();
}

// send, recv, infeed, outfeed: the values travel as one tuple beside the token.
Status Importer::host_transfer(OpContext& ctx) {
  std::vector<Instruction*> in = ctx.in;
  if (in.empty()) return fail(ctx, "a token operand expected");
  const Opcode opcode = *opcode_from_mlir(ctx.op.name);
  if (opcode == Opcode::Send || opcode == Opcode::Outfeed) {
    Instruction* token = in.back();
    in.pop_back();
    Instruction* data = in.size() == 1 ? in[0] : ctx.computation()->add_tuple(in);
    in = {data, token};
  }
  Instruction* inst = make_op(ctx, opcode, std::move(in));
  Attributes& a = inst->mutable_attrs();
  a.infeed_config = word(ctx, "infeed_config");
  a.outfeed_config = word(ctx, "outfeed_config");
  a.is_host_transfer = flag(ctx, "is_host_transfer");
  if (const Attr* channel = ctx.op.attr("channel_handle")) {
    if (const Attr* handle = find(channel->entries, "handle")) a.channel_id = handle->integer;
  }
  return Status::ok();
}

}  // namespace ncc::hlo::mlir
