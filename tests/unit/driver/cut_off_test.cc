#include "driver/cut_off.h"

#include <catch2/catch.hpp>
#include <cstring>

namespace ncc::driver {
namespace {

using namespace std::string_literals;

TEST_CASE("JSON is cut off while a bracket is open", "[driver]") {
  CHECK_FALSE(is_cut_off("a.json", "{}\n"));
  CHECK_FALSE(is_cut_off("a.json", " [1, {\"a\": \"}\"}] "));
  CHECK(is_cut_off("a.json", "[1, {\"a\": \"}\"}"));
  CHECK(is_cut_off("a.json", "{\"a\": \"x"));
  CHECK(is_cut_off("a.json", "{\"a\": \"}\\\""));
  CHECK_FALSE(is_cut_off("a.json", "no JSON at all"));
}

TEST_CASE("a protobuf message is cut off when a field reaches beyond the file", "[driver]") {
  const std::string field = "\x0a\x03" + "abc"s;                            // 1: "abc"
  const std::string many = field + "\x10\x96\x01"s + "\x1d" + "\0\0\0\0"s;  // 2: 150, 3: fixed32
  CHECK_FALSE(is_cut_off("x/m.pb", many));
  for (const size_t size : {size_t{3}, size_t{4}, size_t{6}, size_t{7}, many.size() - 1})
    CHECK(is_cut_off("x/m.pb", many.substr(0, size)));
  CHECK_FALSE(is_cut_off("m.pb", many.substr(0, 5)));  // between fields it cannot be seen
  CHECK_FALSE(is_cut_off("m.hlo", "\x0b\x80 something else"));
  CHECK_FALSE(is_cut_off("penguin.pb", "penguin 1 \"text\"\n"));
  CHECK_FALSE(is_cut_off("penguin.pb", "NCCPENG\n" + many));
  CHECK(is_cut_off("penguin.pb", "NCCPENG\n" + many.substr(0, many.size() - 1)));
}

TEST_CASE("streams are whole bundles and a NEFF is as long as its header says", "[driver]") {
  CHECK_FALSE(is_cut_off("sg00/PE.bin", std::string(128, '\0')));
  CHECK(is_cut_off("sg00/PE.bin", std::string(100, '\0')));
  CHECK_FALSE(is_cut_off("constants.bin", std::string(100, '\0')));
  std::string neff(1024 + 10, '\0');
  const uint64_t facts[] = {2, 1024, 10};
  std::memcpy(neff.data(), facts, sizeof(facts));
  CHECK_FALSE(is_cut_off("model.neff", neff));
  CHECK(is_cut_off("model.neff", neff.substr(0, 1030)));
  CHECK(is_cut_off("model.neff", neff.substr(0, 100)));
  CHECK_FALSE(is_cut_off("model.neff", "something else, with enough bytes"));
}

}  // namespace
}  // namespace ncc::driver
