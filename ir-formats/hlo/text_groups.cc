// Structured attributes of HLO text: windows, dimension labels, slices, paddings, device groups, … Source:
// spec §7, §8, §12.
#include <algorithm>
#include <charconv>

#include "ir-formats/hlo/device_groups.h"
#include "ir-formats/hlo/text_parser.h"
#include "ir-formats/hlo/wire_names.h"

namespace ncc::hlo {
namespace {

// Numbers of a run like "3x3" or "0_1x-2_1": `x` separates dimensions, `_` the numbers of one.
bool split_numbers(std::string_view run, std::vector<std::vector<int64_t>>* dims) {
  dims->assign(1, {});
  while (true) {
    int64_t value = 0;
    const auto [stop, problem] = std::from_chars(run.data(), run.data() + run.size(), value);
    if (problem != std::errc()) return false;
    dims->back().push_back(value);
    run.remove_prefix(static_cast<size_t>(stop - run.data()));
    if (run.empty()) return true;
    if (run[0] == 'x') {
      dims->emplace_back();
    } else if (run[0] != '_') {
      return false;
    }
    run.remove_prefix(1);
  }
}

// Positions of the letters and digits of one group of dimension labels; '?' stands for a role nobody knows.
struct LabelGroup {
  int64_t first = -1, second = -1;
  std::vector<int64_t> spatial;
};

bool read_labels(std::string_view group, char first, char second, LabelGroup* out) {
  int64_t spatial = 0;
  for (char c : group) spatial += c >= '0' && c <= '9';
  out->spatial.assign(static_cast<size_t>(spatial), -1);
  for (size_t i = 0; i < group.size(); ++i) {
    const char c = group[i];
    int64_t* slot = nullptr;
    if (c == '?') continue;
    if (c == first) slot = &out->first;
    if (c == second) slot = &out->second;
    if (c >= '0' && c - '0' < spatial) slot = &out->spatial[static_cast<size_t>(c - '0')];
    if (!slot || *slot != -1) return false;
    *slot = static_cast<int64_t>(i);
  }
  return out->first >= 0 && out->second >= 0;
}

}  // namespace

Status TextParser::parse_window(Window* window) {
  NCC_TRY(scan_.expect('{'));
  std::string_view key;
  std::vector<std::pair<std::string_view, std::vector<std::vector<int64_t>>>> parts;
  size_t rank = 0;
  const size_t begin = scan_.position();
  while (scan_.accept_key(&key)) {
    std::string_view run;
    NCC_TRY(scan_.run(&run));
    auto& [name, dims] = parts.emplace_back();
    name = key;
    if (!split_numbers(run, &dims)) return scan_.fail_at(begin, fmt::format("bad window value '{}'", run));
    if (key == "size") rank = dims.size();
    scan_.accept(',');
  }
  NCC_TRY(scan_.expect('}'));
  window->assign(rank, {});
  for (const auto& [name, dims] : parts) {
    if (dims.size() != rank)
      return scan_.fail_at(begin,
                           fmt::format("window {} has {} dimensions, size has {}", name, dims.size(), rank));
    const size_t numbers = name == "pad" ? 2 : 1;
    for (size_t d = 0; d < rank; ++d) {
      WindowDim& w = (*window)[d];
      if (dims[d].size() != numbers)
        return scan_.fail_at(begin, fmt::format("window {} needs {} numbers a dimension", name, numbers));
      const int64_t value = dims[d][0];
      if (name == "size") {
        w.size = value;
      } else if (name == "stride") {
        w.stride = value;
      } else if (name == "pad") {
        w.padding_low = value;
        w.padding_high = dims[d][1];
      } else if (name == "lhs_dilate") {
        w.base_dilation = value;
      } else if (name == "rhs_dilate") {
        w.window_dilation = value;
      } else if (name == "rhs_reversal") {
        w.reversal = value == 1;
      } else {
        return scan_.fail_at(begin, fmt::format("unknown window attribute '{}'", name));
      }
    }
  }
  return Status::ok();
}

// b01f_01io->b01f
Status TextParser::parse_dim_labels(ConvDims* conv) {
  const size_t begin = scan_.position();
  const std::string_view text = scan_.text();
  const size_t end = std::min(text.find_first_of(" \t\r\n,){", begin), text.size());
  const std::string_view labels = text.substr(begin, end - begin);
  scan_.seek(end);
  const size_t under = labels.find('_'), arrow = labels.find("->");
  LabelGroup lhs, rhs, out;
  if (under == std::string_view::npos || arrow == std::string_view::npos || arrow < under ||
      !read_labels(labels.substr(0, under), 'b', 'f', &lhs) ||
      !read_labels(labels.substr(under + 1, arrow - under - 1), 'i', 'o', &rhs) ||
      !read_labels(labels.substr(arrow + 2), 'b', 'f', &out) || lhs.spatial.size() != rhs.spatial.size() ||
      lhs.spatial.size() != out.spatial.size())
    return scan_.fail_at(begin, fmt::format("bad dimension labels '{}'", labels));
  *conv = {lhs.first,  lhs.second,  rhs.first,   rhs.second, out.first,
           out.second, lhs.spatial, rhs.spatial, out.spatial};
  return Status::ok();
}

// {[0:6:2], [4:8]}
Status TextParser::parse_slice(Attributes* a) {
  NCC_TRY(scan_.expect('{'));
  while (!scan_.accept('}')) {
    NCC_TRY(scan_.expect('['));
    NCC_TRY(scan_.integer(&a->slice_starts.emplace_back()));
    NCC_TRY(scan_.expect(':'));
    NCC_TRY(scan_.integer(&a->slice_limits.emplace_back()));
    a->slice_strides.push_back(1);
    if (scan_.accept(':')) NCC_TRY(scan_.integer(&a->slice_strides.back()));
    NCC_TRY(scan_.expect(']'));
    if (!scan_.accept(',') && scan_.peek() != '}') return scan_.fail("expected ',' or '}'");
  }
  return Status::ok();
}

// -1_2x0_2_1; nothing for a scalar
Status TextParser::parse_padding(std::vector<PaddingDim>* padding) {
  const size_t begin = scan_.position();
  if (scan_.peek() != '-' && (scan_.peek() < '0' || scan_.peek() > '9')) return Status::ok();
  std::string_view run;
  NCC_TRY(scan_.run(&run));
  std::vector<std::vector<int64_t>> dims;
  if (!split_numbers(run, &dims)) return scan_.fail_at(begin, fmt::format("bad padding '{}'", run));
  for (const auto& numbers : dims) {
    if (numbers.size() < 2 || numbers.size() > 3)
      return scan_.fail_at(begin, "a padding has two or three numbers a dimension");
    padding->push_back({numbers[0], numbers[1], numbers.size() == 3 ? numbers[2] : 0});
  }
  return Status::ok();
}

Status TextParser::parse_int_lists(std::vector<std::vector<int64_t>>* lists) {
  NCC_TRY(scan_.expect('{'));
  while (!scan_.accept('}')) {
    NCC_TRY(scan_.ints(&lists->emplace_back()));
    if (!scan_.accept(',') && scan_.peek() != '}') return scan_.fail("expected ',' or '}'");
  }
  return Status::ok();
}

// {{0,1},{2,3}} or [G,S]<=[…]T(…)
Status TextParser::parse_replica_groups(Attributes* a) {
  if (scan_.peek() == '{') return parse_int_lists(&a->replica_groups);
  const size_t begin = scan_.position();
  std::vector<int64_t> tile, reshape, permutation;
  NCC_TRY(scan_.ints(&tile, '[', ']'));
  NCC_TRY(scan_.expect("<="));
  NCC_TRY(scan_.ints(&reshape, '[', ']'));
  if (scan_.accept("T")) NCC_TRY(scan_.ints(&permutation, '(', ')'));
  if (tile.size() != 2) return scan_.fail_at(begin, "an iota list of groups has two dimensions");
  Result<std::vector<std::vector<int64_t>>> groups =
      expand_iota_groups(tile[0], tile[1], reshape, permutation);
  if (!groups.is_ok()) return scan_.fail_at(begin, groups.status().diagnostic().cause);
  a->replica_groups = groups.take();
  return Status::ok();
}

// {{0}: (0, {}), …}
Status TextParser::parse_aliasing(std::vector<OutputAlias>* aliases) {
  NCC_TRY(scan_.expect('{'));
  while (!scan_.accept('}')) {
    OutputAlias& alias = aliases->emplace_back();
    NCC_TRY(scan_.ints(&alias.output_index));
    NCC_TRY(scan_.expect(':'));
    NCC_TRY(scan_.expect('('));
    NCC_TRY(scan_.integer(&alias.operand));
    NCC_TRY(scan_.expect(','));
    NCC_TRY(scan_.ints(&alias.operand_index));
    NCC_TRY(scan_.expect(')'));
    if (!scan_.accept(',') && scan_.peek() != '}') return scan_.fail("expected ',' or '}'");
  }
  return Status::ok();
}

// {mode=highest} or {tolerance={atol=x, rtol=x, ulps=x}}
Status TextParser::parse_accuracy(ResultAccuracy* accuracy) {
  NCC_TRY(scan_.expect('{'));
  std::string_view key;
  if (!scan_.accept_key(&key)) return scan_.fail("expected mode or tolerance");
  if (key == "mode") {
    std::string_view mode;
    NCC_TRY(scan_.run(&mode));
    if (mode != "default" && mode != "highest") return scan_.fail(fmt::format("unknown mode '{}'", mode));
    if (mode == "highest") accuracy->mode = mode;
    return scan_.expect('}');
  }
  if (key != "tolerance") return scan_.fail("expected mode or tolerance");
  accuracy->mode = "tolerance";
  NCC_TRY(scan_.expect('{'));
  while (scan_.accept_key(&key)) {
    std::string_view text;
    NCC_TRY(scan_.number_text(&text));
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    if (key == "atol") {
      accuracy->atol = value;
    } else if (key == "rtol") {
      accuracy->rtol = value;
    } else if (key == "ulps") {
      accuracy->ulps = static_cast<int64_t>(value);
    } else {
      return scan_.fail(fmt::format("unknown tolerance '{}'", key));
    }
    scan_.accept(',');
  }
  NCC_TRY(scan_.expect('}'));
  return scan_.expect('}');
}

// {kind="sharding", entry={…}, exit={…}}
Status TextParser::parse_domain(Attributes* a) {
  NCC_TRY(scan_.expect('{'));
  std::string_view key, raw;
  while (scan_.accept_key(&key)) {
    if (key == "kind") {
      std::string kind;
      NCC_TRY(scan_.string(&kind));
    } else {
      NCC_TRY(scan_.group(&raw));
      (key == "entry" ? a->domain_entry_sharding : a->domain_exit_sharding) = raw;
    }
    scan_.accept(',');
  }
  return scan_.expect('}');
}

Status TextParser::parse_precisions(std::vector<Precision>* list) {
  NCC_TRY(scan_.expect('{'));
  bool any = false;
  while (!scan_.accept('}')) {
    std::string_view word;
    NCC_TRY(scan_.run(&word));
    const auto known = enum_from_name<Precision>(word, 3);
    if (!known) return scan_.fail(fmt::format("unknown precision '{}'", word));
    list->push_back(*known);
    any = any || *known != Precision::Default;
    if (!scan_.accept(',') && scan_.peek() != '}') return scan_.fail("expected ',' or '}'");
  }
  if (!any) list->clear();
  return Status::ok();
}

Status TextParser::parse_group_attribute(std::string_view key, Instruction* inst, bool* known) {
  *known = true;
  Attributes& a = inst->mutable_attrs();
  if (key == "window") return parse_window(&a.window);
  if (key == "dim_labels") return parse_dim_labels(&a.conv.emplace());
  if (key == "slice") return parse_slice(&a);
  if (key == "padding") return parse_padding(&a.padding);
  if (key == "replica_groups") return parse_replica_groups(&a);
  if (key == "result_accuracy") return parse_accuracy(&a.accuracy);
  if (key == "operand_precision") return parse_precisions(&a.precision);
  if (key == "output_to_operand_aliasing") return parse_aliasing(&a.output_aliases);
  if (key == "domain") return parse_domain(&a);
  if (key == "source_target_pairs") {
    std::vector<std::vector<int64_t>> pairs;
    NCC_TRY(parse_int_lists(&pairs));
    for (const auto& pair : pairs) {
      if (pair.size() != 2) return scan_.fail("a pair has two numbers");
      a.source_target_pairs.emplace_back(pair[0], pair[1]);
    }
    return Status::ok();
  }
  if (key == "slice_sizes") {  // collective-permute: flattened
    std::vector<std::vector<int64_t>> lists;
    NCC_TRY(parse_int_lists(&lists));
    for (const auto& list : lists) a.slice_sizes.insert(a.slice_sizes.end(), list.begin(), list.end());
    return Status::ok();
  }
  if (key == "parameter_replication") {
    NCC_TRY(scan_.expect('{'));
    while (!scan_.accept('}')) {
      bool flag = false;
      NCC_TRY(scan_.boolean(&flag));
      a.parameter_replication.push_back(flag);
      scan_.accept(',');
    }
    return Status::ok();
  }
  if (key == "operand_layout_constraints") {
    NCC_TRY(scan_.expect('{'));
    while (!scan_.accept('}')) {
      NCC_TRY(parse_shape(&a.operand_shapes_with_layout.emplace_back()));
      if (!scan_.accept(',') && scan_.peek() != '}') return scan_.fail("expected ',' or '}'");
    }
    a.constrain_layout = true;
    return Status::ok();
  }
  if (key == "outfeed_shape") return parse_shape(&a.outfeed_shape.emplace());
  if (key == "literal") {
    Shape shape;
    NCC_TRY(parse_shape(&shape));
    return parse_literal(shape, &inst->literal);
  }
  *known = false;
  return Status::ok();
}

}  // namespace ncc::hlo
