// Collectives and host transfers.
#include <algorithm>
#include <charconv>

#include "ir-formats/hlo/device_groups.h"
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

struct MeshAxis {
  std::string_view name;
  int64_t size = 0;
  int64_t before = 1, part = 0;  // of a sub-axis: the part before it, and its own size (0 = the whole axis)
};

int64_t number_at(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Every quoted name of the text, with the text up to the next one.
template <class Each>
void each_name(std::string_view text, const Each& each) {
  for (size_t open = text.find('"'); open != std::string_view::npos;) {
    const size_t close = text.find('"', open + 1);
    if (close == std::string_view::npos) return;
    const size_t next = text.find('"', close + 1);
    each(text.substr(open + 1, close - open - 1), text.substr(close + 1, next - close - 1));
    open = next;
  }
}

// `"x"=2` or `name = "x", size = 2`.
std::vector<MeshAxis> axes_of_mesh(std::string_view text) {
  std::vector<MeshAxis> axes;
  each_name(text, [&](std::string_view name, std::string_view rest) {
    const size_t digit = rest.find_first_of("0123456789");
    axes.push_back({name, digit == std::string_view::npos ? 0 : number_at(rest.substr(digit))});
  });
  return axes;
}

}  // namespace

// #stablehlo.replica_group_mesh_axes<mesh = @m or #stablehlo.mesh<…>, axes = [#stablehlo.axis_ref<name = "x",
// sub_axis_info = (1)2>]>: devices that differ in these axes only are one group. The mesh with every axis cut
// at its sub-axis is an iota list whose grouped dimensions are moved to the end.
Status Importer::mesh_groups(OpContext& ctx, const Attr& attr, std::vector<std::vector<int64_t>>* groups) {
  const std::string_view text = attr.source;
  const size_t first_ref = text.find("axis_ref<");
  if (first_ref == std::string_view::npos) return fail(ctx, "replica groups name no axis");
  std::string_view mesh = text.substr(0, first_ref);
  if (const size_t at = mesh.find('@'); at != std::string_view::npos) {
    const std::string name(mesh.substr(at + 1, mesh.find_first_of(", >", at) - at - 1));
    mesh = {};
    for (const auto& op : file_.ops) {
      const Attr *axes = find(op->attrs, "mesh"), *symbol = find(op->attrs, "sym_name");
      if (axes && symbol && symbol->text == name) mesh = axes->text;
    }
  }
  const std::vector<MeshAxis> axes = axes_of_mesh(mesh);
  std::vector<MeshAxis> wanted;
  each_name(text.substr(first_ref), [&](std::string_view name, std::string_view rest) {
    MeshAxis axis{name};
    if (const size_t open = rest.find('('); open != std::string_view::npos) {
      axis.before = number_at(rest.substr(open + 1));
      const size_t close = rest.find(')', open);
      if (close != std::string_view::npos) axis.part = number_at(rest.substr(close + 1));
    }
    wanted.push_back(axis);
  });
  std::vector<int64_t> sizes, kept, moved(wanted.size(), -1);
  int64_t total = 1, per_group = 1;
  for (const MeshAxis& axis : axes) {
    total *= axis.size;
    const auto ref =
        std::find_if(wanted.begin(), wanted.end(), [&](const MeshAxis& w) { return w.name == axis.name; });
    const int64_t part = ref == wanted.end() || ref->part == 0 ? axis.size : ref->part;
    const int64_t before = ref == wanted.end() ? 1 : ref->before;
    if (axis.size < 1 || part < 1 || before < 1 || axis.size % (before * part) != 0)
      return fail(ctx, "bad axes of replica groups");
    for (int64_t size : {before, part, axis.size / (before * part)}) sizes.push_back(size);
    const int64_t middle = static_cast<int64_t>(sizes.size()) - 2;
    kept.push_back(middle - 1);
    if (ref == wanted.end()) kept.push_back(middle);
    if (ref != wanted.end()) moved[static_cast<size_t>(ref - wanted.begin())] = middle, per_group *= part;
    kept.push_back(middle + 1);
  }
  for (int64_t dim : moved) {
    if (dim < 0) return fail(ctx, "replica groups name an axis that the mesh lacks");
    kept.push_back(dim);
  }
  if (mesh.find("device_ids") != std::string_view::npos)
    return unsupported(ctx, "a mesh with device ids of its own");
  NCC_ASSIGN(*groups, expand_iota_groups(total / per_group, per_group, sizes, kept));
  return Status::ok();
}

// A custom call in StableHLO; its config has the groups.
Status Importer::ragged_all_to_all(OpContext& ctx) {
  Instruction* inst = make_op(ctx, Opcode::RaggedAllToAll, ctx.in);
  Attributes& a = inst->mutable_attrs();
  const Attr* config = ctx.op.attr("mhlo.backend_config");
  if (!config) config = ctx.op.attr("backend_config");
  if (!config || config->kind != Attr::Kind::Dict) return Status::ok();
  if (const Attr* groups = find(config->entries, "replica_groups"))
    if (!read_groups(*groups, &a.replica_groups)) return fail(ctx, "bad replica groups");
  if (const Attr* channel = find(config->entries, "channel_id")) a.channel_id = channel->integer;
  return Status::ok();
}

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
    if (groups->kind != Attr::Kind::Dense)
      NCC_TRY(mesh_groups(ctx, *groups, &a.replica_groups));
    else if (!read_groups(*groups, &a.replica_groups))
      return fail(ctx, "bad replica groups");
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

// As XLA writes them: what enters or leaves is one value, a tuple when it is several (infeed: always); send
// and recv are a start (data, u32[], token[]) and its done.
Status Importer::host_transfer(OpContext& ctx) {
  std::vector<Instruction*> in = ctx.in;
  if (in.empty()) return fail(ctx, "a token operand expected");
  if (ctx.op.result_types.empty()) return fail(ctx, "a token result expected");
  const Opcode opcode = *opcode_from_mlir(ctx.op.name);
  const auto transfer = [&](Opcode step, const Shape& shape, std::vector<Instruction*> operands) {
    Instruction* inst = make(ctx, step, shape, std::move(operands));
    Attributes& a = inst->mutable_attrs();
    a.is_host_transfer = flag(ctx, "is_host_transfer");
    if (const Attr* channel = ctx.op.attr("channel_handle"))
      if (const Attr* handle = find(channel->entries, "handle")) a.channel_id = handle->integer;
    return inst;
  };
  const auto started = [](const Shape& data) {
    return Shape::make_tuple({data, Shape::array(Dtype::U32), Shape::token()});
  };
  if (opcode == Opcode::Send || opcode == Opcode::Outfeed) {
    Instruction* token = in.back();
    in.pop_back();
    Instruction* data = in.size() == 1 ? in[0] : ctx.computation()->add_tuple(in);
    if (opcode == Opcode::Send) {
      Instruction* start = transfer(Opcode::Send, started(data->shape), {data, token});
      ctx.out = {transfer(Opcode::SendDone, Shape::token(), {start})};
      return Status::ok();
    }
    Instruction* inst = transfer(Opcode::Outfeed, Shape::token(), {data, token});
    inst->mutable_attrs().outfeed_shape = data->shape;
    inst->mutable_attrs().outfeed_config = word(ctx, "outfeed_config");
    ctx.out = {inst};
    return Status::ok();
  }
  const std::vector<Shape> values(ctx.op.result_types.begin(), ctx.op.result_types.end() - 1);
  const bool packed = opcode == Opcode::Infeed || values.size() != 1;
  const Shape data = packed ? Shape::make_tuple(values) : values[0];
  const Shape delivered = Shape::make_tuple({data, Shape::token()});
  Instruction* inst;
  if (opcode == Opcode::Infeed) {
    inst = transfer(Opcode::Infeed, delivered, in);
    inst->mutable_attrs().infeed_config = word(ctx, "infeed_config");
  } else {
    inst = transfer(Opcode::RecvDone, delivered, {transfer(Opcode::Recv, started(data), in)});
  }
  if (!packed || !values.empty()) {
    Instruction* value = ctx.computation()->add_get(inst, 0);
    if (!packed) ctx.out.push_back(value);
    for (size_t i = 0; packed && i < values.size(); ++i)
      ctx.out.push_back(ctx.computation()->add_get(value, static_cast<int64_t>(i)));
  }
  ctx.out.push_back(ctx.computation()->add_get(inst, 1));
  return Status::ok();
}

}  // namespace ncc::hlo::mlir
