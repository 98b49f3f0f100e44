#include "common/npy/npy.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

using namespace ncc;

namespace {

// A .npy file of int16 elements as NumPy writes it, and what read_npy makes of it.
std::vector<int16_t> read_back(const std::string& order, const std::string& shape,
                               const std::vector<int16_t>& stored) {
  std::string header = "{'descr': '<i2', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header.append(128 - 10 - header.size() - 1, ' ');
  header += '\n';
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("ncc_npy_" + std::to_string(std::hash<std::string>()(header)) + ".npy"))
                               .string();
  {
    std::ofstream file(path, std::ios::binary);
    file << "\x93NUMPY\x01" << '\0' << static_cast<char>(header.size()) << '\0' << header;
    file.write(reinterpret_cast<const char*>(stored.data()),
               static_cast<std::streamsize>(stored.size() * sizeof(int16_t)));
  }
  const auto array = read_npy(path);
  std::filesystem::remove(path);
  if (!array.is_ok()) FAIL(array.status().diagnostic().to_string());
  std::vector<int16_t> values(static_cast<size_t>(array.value().num_elements()));
  if (!values.empty()) std::memcpy(values.data(), array.value().bytes.data(), array.value().bytes.size());
  return values;
}

}  // namespace

TEST_CASE("an array stored by columns is read by rows", "[npy]") {
  CHECK(read_back("False", "(2, 3)", {0, 1, 2, 3, 4, 5}) == std::vector<int16_t>{0, 1, 2, 3, 4, 5});
  CHECK(read_back("True", "(2, 3)", {0, 3, 1, 4, 2, 5}) == std::vector<int16_t>{0, 1, 2, 3, 4, 5});
  // Element (i, j, k) holds 100 i + 10 j + k.
  CHECK(read_back("True", "(2, 2, 2)", {0, 100, 10, 110, 1, 101, 11, 111}) ==
        std::vector<int16_t>{0, 1, 10, 11, 100, 101, 110, 111});
  CHECK(read_back("True", "(3,)", {7, 8, 9}) == std::vector<int16_t>{7, 8, 9});
  CHECK(read_back("True", "(2, 0)", {}).empty());
}
