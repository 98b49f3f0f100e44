#include "ir-formats/hlo/device_part.h"

#include <algorithm>
#include <numeric>

#include "ir-formats/hlo/device_groups.h"
#include "ir-formats/hlo/proto_sharding.h"
#include "ir-formats/hlo/text_scanner.h"

namespace ncc::hlo {
namespace {

struct Mesh {
  std::string name;
  std::vector<std::string> axes;
  std::vector<int64_t> sizes;
  std::vector<int64_t> devices;  // in the order of the mesh; empty: 0, 1, …
};

// An axis, or the middle factor of one that is split in pre × size × rest.
struct AxisPart {
  size_t axis = 0;
  int64_t pre = 1, size = 0;  // size 0: all of it
};

constexpr int64_t kMostDevices = 1 << 20;

int64_t product(const std::vector<int64_t>& sizes) {
  int64_t total = 1;
  for (const int64_t size : sizes) {
    if (size <= 0 || size > kMostDevices / total) return 0;
    total *= size;
  }
  return total;
}

// Where `number` stands in an array of these sizes.
std::vector<int64_t> unravelled(int64_t number, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    index[d] = number % sizes[d];
    number /= sizes[d];
  }
  return index;
}

// The device's coordinate along every axis; empty when it is not in the mesh.
std::optional<std::vector<int64_t>> coordinates(const Mesh& mesh, int64_t device) {
  const int64_t total = product(mesh.sizes);
  if (total == 0) return std::nullopt;
  if (!mesh.devices.empty()) {
    const auto found = std::find(mesh.devices.begin(), mesh.devices.end(), device);
    if (found == mesh.devices.end()) return std::nullopt;
    device = found - mesh.devices.begin();
  }
  if (device < 0 || device >= total) return std::nullopt;
  return unravelled(device, mesh.sizes);
}

// One dimension divided by axes, the first one outermost.
bool divide(const Mesh& mesh, const std::vector<int64_t>& at, const std::vector<AxisPart>& axes,
            DevicePart* part) {
  int64_t place = 0, count = 1;
  for (const AxisPart& axis : axes) {
    const int64_t whole = mesh.sizes[axis.axis], size = axis.size == 0 ? whole : axis.size;
    if (size <= 0 || axis.pre <= 0 || size > whole / axis.pre || whole % (axis.pre * size) != 0) return false;
    if (count > kMostDevices / size) return false;  // an axis named more than once
    place = place * size + at[axis.axis] / (whole / (axis.pre * size)) % size;
    count *= size;
  }
  part->place.push_back(place);
  part->count.push_back(count);
  return true;
}

std::optional<DevicePart> part_of_named(const wire::NamedShardingProto& sharding, size_t rank,
                                        int64_t device) {
  Mesh mesh;
  for (const auto& axis : sharding.mesh().axes()) mesh.sizes.push_back(axis.size());
  mesh.devices.assign(sharding.mesh().device_ids().begin(), sharding.mesh().device_ids().end());
  const auto at = coordinates(mesh, device);
  if (!at || sharding.dim_shardings_size() > static_cast<int64_t>(rank)) return std::nullopt;
  DevicePart part;
  for (const auto& dim : sharding.dim_shardings()) {
    std::vector<AxisPart> axes;
    for (const auto& axis : dim.axes()) {
      if (axis.mesh_axis_index() < 0 || axis.mesh_axis_index() >= static_cast<int64_t>(mesh.sizes.size()))
        return std::nullopt;
      axes.push_back({static_cast<size_t>(axis.mesh_axis_index())});
      if (axis.has_sub_axis_info()) {
        axes.back().pre = axis.sub_axis_info().pre_size();
        axes.back().size = axis.sub_axis_info().size();
      }
    }
    if (!divide(mesh, *at, axes, &part)) return std::nullopt;
  }
  part.place.resize(rank, 0);
  part.count.resize(rank, 1);
  return part;
}

// All devices in the order of the tiles; empty when the lists do not fit each other.
std::vector<int64_t> devices_of_tiles(const wire::OpSharding& sharding) {
  std::vector<int64_t> tiles(sharding.tile_assignment_dimensions().begin(),
                             sharding.tile_assignment_dimensions().end());
  const int64_t total = product(tiles);
  if (total == 0) return {};
  std::vector<int64_t> devices(sharding.tile_assignment_devices().begin(),
                               sharding.tile_assignment_devices().end());
  if (sharding.iota_reshape_dims_size() > 0) {
    const std::vector<int64_t> order(sharding.iota_transpose_perm().begin(),
                                     sharding.iota_transpose_perm().end());
    auto list = expand_iota_groups(
        1, total, {sharding.iota_reshape_dims().begin(), sharding.iota_reshape_dims().end()}, order);
    if (!list.is_ok()) return {};
    devices = std::move(list.value()[0]);
  }
  if (static_cast<int64_t>(devices.size()) != total) devices.clear();
  return devices;
}

// How many devices a sharding in HLO text form names; 0 when it names none, or more than any machine has.
int64_t devices_of_sharding(std::string_view text) {
  wire::OpSharding sharding;
  if (text.empty() || !sharding_from_text(text, &sharding)) return 0;
  std::vector<int64_t> sizes(sharding.tile_assignment_dimensions().begin(),
                             sharding.tile_assignment_dimensions().end());
  for (const auto& axis : sharding.named_sharding().mesh().axes()) sizes.push_back(axis.size());
  return product(sizes);
}

bool read_name(TextScanner* scan, std::string* name) {
  if (scan->peek() == '"') return scan->string(name).is_ok();
  std::string_view word;
  if (!scan->ident(&word).is_ok()) return false;
  *name = word;
  return true;
}

// <["x"=4, "y"=2], device_ids=[…]>
bool read_mesh(TextScanner* scan, Mesh* mesh) {
  if (!scan->accept('<')) return false;
  if (scan->accept('[')) {
    while (!scan->accept(']')) {
      int64_t size = 0;
      if (!read_name(scan, &mesh->axes.emplace_back()) || !scan->accept('=') || !scan->integer(&size).is_ok())
        return false;
      mesh->sizes.push_back(size);
      scan->accept(',');
    }
    scan->accept(',');
  }
  std::string_view key;
  if (scan->accept_key(&key) && (key != "device_ids" || !scan->ints(&mesh->devices, '[', ']').is_ok()))
    return false;
  return scan->accept('>');
}

// {name = #sdy.mesh<…>, …}
std::vector<Mesh> read_meshes(std::string_view text) {
  std::vector<Mesh> meshes;
  TextScanner scan(text);
  if (!scan.accept('{')) return {};
  while (!scan.accept('}')) {
    Mesh& mesh = meshes.emplace_back();
    if (!read_name(&scan, &mesh.name) || !scan.accept('=') || !scan.accept("#sdy.mesh") ||
        !read_mesh(&scan, &mesh))
      return {};
    scan.accept(',');
  }
  return meshes;
}

class ShardyReader {
 public:
  ShardyReader(std::vector<Mesh> meshes, std::string_view shardings, std::string_view manual_axes,
               int64_t device)
      : meshes_(std::move(meshes)), scan_(shardings), device_(device) {
    TextScanner axes(manual_axes);
    axes.seek(std::min(manual_axes.find('{'), manual_axes.size()));
    if (!axes.accept('{')) return;
    while (axes.peek() == '"' && axes.string(&manual_.emplace_back()).is_ok()) axes.accept(',');
  }

  std::optional<std::vector<DevicePart>> run() {
    std::vector<DevicePart> parts;
    scan_.accept("#sdy.sharding_per_value");
    const bool wrapped = scan_.accept('<');
    if (!scan_.accept('[')) return std::nullopt;
    while (!scan_.accept(']')) {
      if (!value(&parts.emplace_back())) return std::nullopt;
      scan_.accept(',');
    }
    if (wrapped && !scan_.accept('>')) return std::nullopt;
    return parts;
  }

 private:
  // <@mesh, [{"x", ?}, {}p1], replicated={…}>; instead of @mesh also mesh<…>.
  bool value(DevicePart* part) {
    if (!scan_.accept('<')) return false;
    Mesh own;
    const Mesh* mesh = &own;
    if (scan_.accept('@')) {
      std::string name;
      if (!read_name(&scan_, &name)) return false;
      const auto found =
          std::find_if(meshes_.begin(), meshes_.end(), [&](const Mesh& m) { return m.name == name; });
      if (found == meshes_.end()) return false;
      mesh = &*found;
    } else if (!scan_.accept_word("mesh") || !read_mesh(&scan_, &own)) {
      return false;
    }
    const auto at = coordinates(*mesh, device_);
    if (!at || !scan_.accept(',') || !scan_.accept('[')) return false;
    while (!scan_.accept(']')) {
      std::vector<AxisPart> axes;
      if (!dimension(*mesh, &axes) || !divide(*mesh, *at, axes, part)) return false;
      scan_.accept(',');
    }
    std::string_view key, rest;
    while (scan_.accept(',')) {
      if (!scan_.accept_key(&key) || !scan_.group(&rest).is_ok()) return false;
    }
    return scan_.accept('>');
  }

  bool dimension(const Mesh& mesh, std::vector<AxisPart>* axes) {
    if (!scan_.accept('{')) return false;
    while (!scan_.accept('}')) {
      if (!scan_.accept('?')) {
        std::string name;
        AxisPart part;
        if (!scan_.string(&name).is_ok()) return false;
        const auto found = std::find(mesh.axes.begin(), mesh.axes.end(), name);
        if (found == mesh.axes.end()) return false;
        part.axis = static_cast<size_t>(found - mesh.axes.begin());
        if (scan_.accept(':') && (!scan_.accept('(') || !scan_.integer(&part.pre).is_ok() ||
                                  !scan_.accept(')') || !scan_.integer(&part.size).is_ok()))
          return false;
        if (std::find(manual_.begin(), manual_.end(), name) != manual_.end()) axes->push_back(part);
      }
      scan_.accept(',');
    }
    std::string_view priority;
    if (scan_.peek() == 'p') return scan_.ident(&priority).is_ok();
    return true;
  }

  std::vector<Mesh> meshes_;
  TextScanner scan_;
  int64_t device_;
  std::vector<std::string> manual_;
};

}  // namespace

std::optional<DevicePart> part_of_sharding(std::string_view text, size_t rank, int64_t device) {
  wire::OpSharding sharding;
  if (!sharding_from_text(text, &sharding)) return std::nullopt;
  if (sharding.has_named_sharding()) return part_of_named(sharding.named_sharding(), rank, device);
  const DevicePart whole{std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 1)};
  if (sharding.tuple_shardings_size() > 0) return std::nullopt;
  if (sharding.tile_assignment_dimensions_size() == 0)
    return sharding.tile_assignment_devices_size() == 0 ? std::optional(whole) : std::nullopt;
  const std::vector<int64_t> devices = devices_of_tiles(sharding);
  const auto found = std::find(devices.begin(), devices.end(), device);
  if (found == devices.end() || sharding.tile_assignment_dimensions_size() < static_cast<int64_t>(rank))
    return std::nullopt;
  DevicePart part;
  part.count.assign(sharding.tile_assignment_dimensions().begin(),
                    sharding.tile_assignment_dimensions().end());
  part.place = unravelled(found - devices.begin(), part.count);
  // Tiles behind those of the value's own dimensions are copies.
  part.place.resize(rank);
  part.count.resize(rank);
  return part;
}

std::optional<std::vector<DevicePart>> parts_of_shardy(std::string_view meshes, std::string_view shardings,
                                                       std::string_view manual_axes, int64_t device) {
  return ShardyReader(read_meshes(meshes), shardings, manual_axes, device).run();
}

std::optional<bool> leads_to_part(const Instruction& inst) {
  if (!inst.is(Opcode::CustomCall)) return std::nullopt;
  const std::string_view target = inst.attrs().custom_call_target;
  if (target == "SPMDFullToShardShape" || target == "xla.sdy.GlobalToLocalShape") return true;
  if (target == "SPMDShardToFullShape" || target == "xla.sdy.LocalToGlobalShape") return false;
  return std::nullopt;
}

int64_t manual_devices(const Module& module) {
  int64_t devices = module.num_partitions;
  bool manual = false;
  const auto named = [&](int64_t device) { devices = std::max(devices, std::min(device, kMostDevices) + 1); };
  for (const auto& computation : module.computations()) {
    for (const auto& inst : computation->instructions()) {
      for (const auto& group : inst->attrs().replica_groups)
        for (const int64_t device : group) named(device);
      for (const auto& [source, target] : inst->attrs().source_target_pairs) {
        named(source);
        named(target);
      }
      const std::optional<bool> to_part = leads_to_part(*inst);
      if (!to_part) continue;
      manual = true;
      const Instruction* shaped = *to_part && inst->num_operands() > 0 ? inst->operand(0) : inst.get();
      devices = std::max(devices, devices_of_sharding(shaped->attrs().sharding));
    }
  }
  if (!manual) return 1;
  for (const auto& [key, value] : module.frontend_attributes) {
    if (key != "xla.sdy.meshes") continue;
    for (const Mesh& mesh : read_meshes(value)) devices = std::max(devices, product(mesh.sizes));
  }
  return devices;
}

}  // namespace ncc::hlo
