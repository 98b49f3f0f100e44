#include "common/parallel/parallel.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

using ncc::parallel_for;

TEST_CASE("parallel_for covers every index exactly once, nested calls included", "[parallel]") {
  std::vector<int> visits(10007, 0);
  parallel_for(101, 3, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      parallel_for(99, 7, [&](int64_t b, int64_t e) {
        for (int64_t j = b; j < e; ++j) ++visits[static_cast<size_t>(i * 99 + j)];
      });
  });
  for (int64_t i = 0; i < 101 * 99; ++i) REQUIRE(visits[static_cast<size_t>(i)] == 1);
}

TEST_CASE("parallel_for throws a body's exception again and stays usable", "[parallel]") {
  CHECK_THROWS_AS(parallel_for(1000, 1,
                               [](int64_t begin, int64_t) {
                                 if (begin == 500) throw std::runtime_error("range 500");
                               }),
                  std::runtime_error);
  std::atomic<int64_t> sum{0};
  parallel_for(1000, 10, [&](int64_t begin, int64_t end) { sum += end - begin; });
  CHECK(sum == 1000);
}
