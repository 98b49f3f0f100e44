#include "ir-formats/penguin/access.h"

#include <catch2/catch.hpp>

namespace ncc::penguin {
namespace {

struct Domain {
  affine::Context context;
  std::vector<int64_t> extents;
  Extent extent = [this](AxisId axis) { return extents[axis]; };
  std::vector<IterationAxis> axes() const {
    std::vector<IterationAxis> all;
    for (AxisId i = 0; i < extents.size(); ++i) all.push_back({i});
    return all;
  }
};

TEST_CASE("a mixed-radix index is injective and an overlapping one is not", "[penguin]") {
  Domain d{{}, {4, 6}};
  const Ref split = d.context.make(0, {{0, 6}, {1, 1}}), overlap = d.context.make(0, {{0, 5}, {1, 1}});
  CHECK(is_injective(std::vector<Ref>{split}, d.axes(), d.extent));
  CHECK_FALSE(is_injective(std::vector<Ref>{overlap}, d.axes(), d.extent));
  CHECK(is_injective(std::vector<Ref>{overlap, d.context.axis(0)}, d.axes(), d.extent));
  CHECK_FALSE(is_injective(std::vector<Ref>{d.context.axis(0)}, d.axes(), d.extent));
  CHECK(is_injective(std::vector<Ref>{d.context.make(23, {{0, -6}, {1, -1}})}, d.axes(), d.extent));
}

TEST_CASE("accesses are disjoint by range or by residue", "[penguin]") {
  Domain d{{}, {4, 2, 8}};
  const Ref data = d.context.axis(0, 3), gaps = d.context.make(1, {{0, 3}, {1, 1}}), all = d.context.axis(2);
  CHECK(are_disjoint(std::vector<Ref>{data}, std::vector<Ref>{gaps}, d.extent));
  CHECK_FALSE(are_disjoint(std::vector<Ref>{data}, std::vector<Ref>{all}, d.extent));
  CHECK(are_disjoint(std::vector<Ref>{all}, std::vector<Ref>{d.context.axis(2, 1, 8)}, d.extent));
}

}  // namespace
}  // namespace ncc::penguin
