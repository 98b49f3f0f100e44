// Footprints and the access history against brute force.
#include "ir-formats/isa/machine/hazards.h"

#include <random>
#include <set>

#include "tests/unit/ir-formats/isa/machine/core_fixture.h"

namespace ncc::machine {
namespace {

std::set<int64_t> bytes_of(const Access& access) {
  std::set<int64_t> all;
  std::function<void(int, int64_t)> walk = [&](int dim, int64_t at) {
    if (dim == access.rank) {
      for (int64_t b = 0; b < size_bytes(access.dtype); ++b) all.insert(at + b);
      return;
    }
    for (int64_t i = 0; i < access.dims[static_cast<size_t>(dim)].count; ++i)
      walk(dim + 1, at + i * access.dims[static_cast<size_t>(dim)].step * size_bytes(access.dtype));
  };
  walk(0, access.offset);
  return all;
}

Access random_access(std::mt19937& random) {
  auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  Access a =
      dram(0, pick(0, 1) ? Dtype::F32 : Dtype::BF16, std::vector<isa::Dim>(static_cast<size_t>(pick(1, 3))));
  a.offset = 400 + 2 * pick(0, 100);
  for (int i = 0; i < a.rank; ++i) a.dims[static_cast<size_t>(i)] = {pick(-12, 12), pick(1, 5)};
  return a;
}

TEST_CASE("footprints cover exactly the bytes of an access, and overlap is exact", "[machine][hazards]") {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    const Access a = random_access(random), b = random_access(random);
    const std::set<int64_t> bytes_a = bytes_of(a), bytes_b = bytes_of(b);
    const Footprint fa = footprint(a), fb = footprint(b);
    REQUIRE(fa.first == *bytes_a.begin());
    REQUIRE(fa.end() == *bytes_a.rbegin() + 1);
    bool meet = false;
    for (int64_t byte : bytes_a) meet = meet || bytes_b.count(byte) > 0;
    REQUIRE(overlap(fa, fb) == meet);
    REQUIRE(overlap(fb, fa) == meet);
  }
}

TEST_CASE("the history finds a race exactly when brute force does", "[machine][hazards]") {
  struct Past {
    std::set<int64_t> bytes;
    bool write;
    int component;
    uint32_t clock;
  };
  std::mt19937 random(17);
  for (int round = 0; round < 300; ++round) {
    constexpr int kComponents = 3;
    HazardChecker checker(kComponents, 1);
    std::vector<Past> past;
    std::vector<Clocks> known(kComponents, Clocks(kComponents, 0));
    std::vector<uint32_t> clock(kComponents, 0);
    for (int step = 0; step < 40; ++step) {
      const int c = static_cast<int>(random() % kComponents);
      if (random() % 3 != 0) {  // learn from another component
        const int other = static_cast<int>(random() % kComponents);
        checker.acquire(checker.queue_component(c), checker.release(checker.queue_component(other)));
        for (size_t i = 0; i < kComponents; ++i)
          known[static_cast<size_t>(c)][i] =
              std::max(known[static_cast<size_t>(c)][i], known[static_cast<size_t>(other)][i]);
        known[static_cast<size_t>(c)][static_cast<size_t>(other)] = std::max(
            known[static_cast<size_t>(c)][static_cast<size_t>(other)], clock[static_cast<size_t>(other)]);
      }
      const Access access = random_access(random);
      const bool write = random() % 3 == 0;
      const std::set<int64_t> touched = bytes_of(access);
      bool expected = false;
      for (const Past& old : past) {
        if ((!old.write && !write) || old.component == c ||
            old.clock <= known[static_cast<size_t>(c)][static_cast<size_t>(old.component)])
          continue;
        for (int64_t byte : touched) expected = expected || old.bytes.count(byte) > 0;
      }
      checker.begin_access(checker.queue_component(c));
      ++clock[static_cast<size_t>(c)];
      const std::optional<Race> race = checker.access(checker.queue_component(c), access, write, {});
      REQUIRE(race.has_value() == expected);
      if (expected) break;
      past.push_back({touched, write, c, clock[static_cast<size_t>(c)]});
    }
  }
}

}  // namespace
}  // namespace ncc::machine
