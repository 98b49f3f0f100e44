// Source: spec/hlo-proto.md §11, spec/hlo-text.md §11.
#include "ir-formats/hlo/proto_sharding.h"

#include <fmt/format.h>

#include <array>

#include "ir-formats/hlo/text_scanner.h"

namespace ncc::hlo {
namespace {

// Type numbers of OpSharding.
enum Kind {
  kReplicated = 0,
  kMaximal = 1,
  kTuple = 2,
  kOther = 3,
  kManual = 4,
  kUnknown = 5,
  kUnreduced = 6
};
constexpr std::array<std::string_view, 7> kKindNames = {"replicated", "maximal", "",         "",
                                                        "manual",     "unknown", "unreduced"};

int kind_from_name(std::string_view name) {
  for (size_t i = 0; i < kKindNames.size(); ++i) {
    if (!name.empty() && kKindNames[i] == name) return static_cast<int>(i);
  }
  return -1;
}

std::string_view kind_name(int kind) {
  return kind >= 0 && kind < static_cast<int>(kKindNames.size()) ? kKindNames[static_cast<size_t>(kind)]
                                                                 : "unknown";
}

std::string axis_text(const wire::AxisRefProto& axis, const wire::MeshProto& mesh) {
  const int64_t index = axis.mesh_axis_index();
  std::string text = index >= 0 && index < mesh.axes_size()
                         ? fmt::format("'{}'", mesh.axes(static_cast<int>(index)).name())
                         : fmt::format("'axis{}'", index);
  if (axis.has_sub_axis_info())
    text += fmt::format(":({}){}", axis.sub_axis_info().pre_size(), axis.sub_axis_info().size());
  return text;
}

template <class Axes>
std::string axes_text(const Axes& axes, const wire::MeshProto& mesh) {
  std::string text;
  for (const auto& axis : axes) text += fmt::format("{}{}", text.empty() ? "" : ", ", axis_text(axis, mesh));
  return text;
}

std::string named_text(const wire::NamedShardingProto& sharding) {
  if (sharding.tuple_shardings_size() > 0) {
    std::string text;
    for (const auto& element : sharding.tuple_shardings())
      text += fmt::format("{}{}", text.empty() ? "" : ", ", named_text(element));
    return "{" + text + "}";
  }
  const wire::MeshProto& mesh = sharding.mesh();
  if (mesh.axes_size() == 0 && mesh.device_ids_size() == 1)
    return fmt::format("{{maximal_mesh[device_id={}]}}", mesh.device_ids(0));
  std::string text = "{mesh[";
  for (int i = 0; i < mesh.axes_size(); ++i)
    text += fmt::format("{}'{}'={}", i > 0 ? "," : "", mesh.axes(i).name(), mesh.axes(i).size());
  text += "]";
  if (mesh.device_ids_size() > 0) text += fmt::format(", device_ids=({})", fmt::join(mesh.device_ids(), ","));
  text += ", [";
  for (int i = 0; i < sharding.dim_shardings_size(); ++i) {
    const auto& dim = sharding.dim_shardings(i);
    std::string axes = axes_text(dim.axes(), mesh);
    if (!dim.is_closed()) axes += axes.empty() ? "?" : ", ?";
    text += fmt::format("{}{{{}}}", i > 0 ? ", " : "", axes);
  }
  text += "]";
  if (sharding.replicated_axes_size() > 0)
    text += ", replicated={" + axes_text(sharding.replicated_axes(), mesh) + "}";
  if (sharding.unreduced_axes_size() > 0)
    text += ", unreduced={" + axes_text(sharding.unreduced_axes(), mesh) + "}";
  if (sharding.manual_axes_size() > 0) text += ", manual={" + axes_text(sharding.manual_axes(), mesh) + "}";
  return text + "}";
}

std::string tiled_text(const wire::OpSharding& s) {
  std::string text = fmt::format("devices=[{}]", fmt::join(s.tile_assignment_dimensions(), ","));
  if (s.iota_reshape_dims_size() > 0) {
    text += fmt::format("<=[{}]", fmt::join(s.iota_reshape_dims(), ","));
    if (s.iota_reshape_dims_size() > 1) text += fmt::format("T({})", fmt::join(s.iota_transpose_perm(), ","));
  } else {
    text += fmt::format("{}", fmt::join(s.tile_assignment_devices(), ","));
  }
  if (s.replicate_on_last_tile_dim()) text += " last_tile_dim_replicate";
  if (s.last_tile_dims_size() > 0) {
    std::string kinds;
    for (int kind : s.last_tile_dims())
      kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", kind_name(kind));
    text += " last_tile_dims={" + kinds + "}";
  }
  return text;
}

// Axis names are quoted in newer text.
bool read_axis_name(TextScanner* scan, std::string* name) {
  if (scan->peek() == '\'' || scan->peek() == '"') return scan->string(name).is_ok();
  std::string_view word;
  if (!scan->ident(&word).is_ok()) return false;
  *name = word;
  return true;
}

// Axis references up to the closing brace; a last '?' leaves the list open.
template <class Axes>
bool read_axes(TextScanner* scan, const wire::MeshProto& mesh, Axes* axes, bool* open) {
  *open = false;
  while (!scan->accept('}')) {
    if (scan->accept('?')) {
      *open = true;
    } else {
      std::string name;
      if (!read_axis_name(scan, &name)) return false;
      int64_t index = -1;
      for (int i = 0; i < mesh.axes_size(); ++i) {
        if (mesh.axes(i).name() == name) index = i;
      }
      if (index < 0) return false;
      wire::AxisRefProto* axis = axes->Add();
      axis->set_mesh_axis_index(index);
      if (scan->accept(':')) {
        int64_t pre = 0, size = 0;
        if (!scan->accept('(') || !scan->integer(&pre).is_ok() || !scan->accept(')') ||
            !scan->integer(&size).is_ok())
          return false;
        axis->mutable_sub_axis_info()->set_pre_size(pre);
        axis->mutable_sub_axis_info()->set_size(size);
      }
    }
    scan->accept(',');
  }
  return true;
}

bool read_mesh(TextScanner* scan, wire::MeshProto* mesh) {
  if (!scan->accept('[')) return false;
  while (!scan->accept(']')) {
    wire::MeshAxis* axis = mesh->add_axes();
    int64_t size = 0;
    if (!read_axis_name(scan, axis->mutable_name()) || !scan->accept('=') || !scan->integer(&size).is_ok())
      return false;
    axis->set_size(size);
    scan->accept(',');
  }
  return true;
}

// mesh[…], [{…}, …], replicated={…}: what stands behind "mesh". Spelled-out whole forms are not read.
bool named_from_text(TextScanner* scan, wire::NamedShardingProto* sharding) {
  if (!read_mesh(scan, sharding->mutable_mesh()) || !scan->accept(',')) return false;
  std::string_view key;
  bool open = false;
  if (scan->accept_key(&key)) {
    std::vector<int64_t> ids;
    if (key != "device_ids" || !scan->ints(&ids, '(', ')').is_ok() || !scan->accept(',')) return false;
    sharding->mutable_mesh()->mutable_device_ids()->Assign(ids.begin(), ids.end());
  }
  if (!scan->accept('[')) return false;
  while (!scan->accept(']')) {
    auto* dim = sharding->add_dim_shardings();
    if (!scan->accept('{') || !read_axes(scan, sharding->mesh(), dim->mutable_axes(), &open)) return false;
    dim->set_is_closed(!open);
    scan->accept(',');
  }
  while (scan->accept(',')) {
    if (!scan->accept_key(&key) || !scan->accept('{')) return false;
    auto* axes = key == "replicated"  ? sharding->mutable_replicated_axes()
                 : key == "unreduced" ? sharding->mutable_unreduced_axes()
                 : key == "manual"    ? sharding->mutable_manual_axes()
                                      : nullptr;
    if (!axes || !read_axes(scan, sharding->mesh(), axes, &open) || open) return false;
  }
  return scan->accept('}');
}

// One leaf, behind its opening brace.
bool leaf_from_text(TextScanner* scan, wire::OpSharding* s) {
  std::string_view key;
  std::vector<int64_t> list;
  if (scan->accept_word("mesh")) return named_from_text(scan, s->mutable_named_sharding());
  while (!scan->accept('}')) {
    int64_t number = 0;
    if (scan->accept_key(&key)) {
      if (key == "device") {
        if (!scan->integer(&number).is_ok()) return false;
        s->add_tile_assignment_devices(number);
      } else if (key == "devices") {
        s->set_type(kOther);
        if (!scan->ints(&list, '[', ']').is_ok()) return false;
        s->mutable_tile_assignment_dimensions()->Assign(list.begin(), list.end());
        if (scan->accept("<=")) {
          if (!scan->ints(&list, '[', ']').is_ok()) return false;
          s->mutable_iota_reshape_dims()->Assign(list.begin(), list.end());
          list = {0};
          if (scan->accept("T") && !scan->ints(&list, '(', ')').is_ok()) return false;
          for (int64_t d : list) s->add_iota_transpose_perm(static_cast<int32_t>(d));
        } else {
          do {
            if (!scan->integer(&number).is_ok()) return false;
            s->add_tile_assignment_devices(number);
          } while (scan->accept(','));
        }
      } else if (key == "last_tile_dims") {
        if (!scan->accept('{')) return false;
        do {
          std::string_view word;
          if (!scan->ident(&word).is_ok() || kind_from_name(word) < 0) return false;
          s->add_last_tile_dims(kind_from_name(word));
        } while (scan->accept(','));
        if (!scan->accept('}')) return false;
      } else {
        return false;
      }
      continue;
    }
    std::string_view word;
    if (!scan->ident(&word).is_ok()) return false;
    if (word == "last_tile_dim_replicate") {
      s->set_replicate_on_last_tile_dim(true);
    } else if (word == "shard_as" || word == "shard_like") {
      if (!scan->integer(&number).is_ok()) return false;
      s->set_is_shard_group(true);
      s->set_shard_group_id(number);
      s->set_shard_group_type(word == "shard_like" ? 1 : 0);
    } else {
      const int kind = kind_from_name(word);
      if (kind < 0) return false;
      s->set_type(kind);
    }
  }
  return true;
}

}  // namespace

std::string sharding_to_text(const wire::OpSharding& s) {
  if (s.has_named_sharding()) return named_text(s.named_sharding());
  if (s.type() == kTuple) {
    std::string text;
    for (const auto& element : s.tuple_shardings())
      text += fmt::format("{}{}", text.empty() ? "" : ", ", sharding_to_text(element));
    return "{" + text + "}";
  }
  std::string text;
  if (s.type() == kOther) {
    text = tiled_text(s);
  } else if (s.type() == kMaximal) {
    text = fmt::format("maximal device={}",
                       s.tile_assignment_devices_size() > 0 ? s.tile_assignment_devices(0) : 0);
  } else {
    text = kind_name(s.type());
  }
  if (s.is_shard_group())
    text += fmt::format(" {} {}", s.shard_group_type() == 1 ? "shard_like" : "shard_as", s.shard_group_id());
  return "{" + text + "}";
}

bool sharding_from_text(std::string_view text, wire::OpSharding* sharding) {
  TextScanner scan(text);
  if (!scan.accept('{')) return false;
  if (scan.peek() != '{' && scan.peek() != '}') return leaf_from_text(&scan, sharding) && scan.at_end();
  sharding->set_type(kTuple);
  while (!scan.accept('}')) {
    if (!scan.accept('{') || !leaf_from_text(&scan, sharding->add_tuple_shardings())) return false;
    scan.accept(',');
  }
  return scan.at_end();
}

}  // namespace ncc::hlo
