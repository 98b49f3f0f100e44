#include "tools/xla_infergoldens/goldens.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "common/npy/array_folder.h"
#include "ir-formats/hlo/interpreter/literal_npy.h"

using namespace ncc;
namespace fs = std::filesystem;

namespace {

struct TempDir {
  fs::path path;
  TempDir() {
    std::string name = (fs::temp_directory_path() / "goldens-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~TempDir() { fs::remove_all(path); }
};

constexpr const char* kModel = R"(func.func @main(%x: tensor<3xbf16>) -> (tensor<3xbf16>, tensor<3xf32>) {
  %0 = stablehlo.add %x, %x : tensor<3xbf16>
  %1 = stablehlo.convert %0 : (tensor<3xbf16>) -> tensor<3xf32>
  return %0, %1 : tensor<3xbf16>, tensor<3xf32>
})";

}  // namespace

TEST_CASE("goldens are numbered arrays with a manifest that names the real types", "[goldens]") {
  const TempDir dir;
  std::ofstream(dir.path / "model.mlir") << kModel;
  fs::create_directories(dir.path / "inputs");
  const uint16_t x[] = {bf16_from_f32(1), bf16_from_f32(-2), bf16_from_f32(0.5F)};
  REQUIRE(
      hlo::write_literal((dir.path / "inputs/000.npy").string(),
                         hlo::Literal::copy(hlo::Shape::array(Dtype::BF16, {3}), std::as_bytes(std::span(x))))
          .is_ok());
  const Status status = goldens::make_goldens({.hlo_module = (dir.path / "model.mlir").string(),
                                               .inputs = (dir.path / "inputs").string(),
                                               .output_dir = (dir.path / "goldens").string(),
                                               .all_values = true});
  REQUIRE(status.is_ok());
  const auto arrays = read_array_folder((dir.path / "goldens").string());
  REQUIRE(arrays.is_ok());
  REQUIRE(arrays.value().size() == 2);
  CHECK(arrays.value()[0].array.dtype == Dtype::BF16);
  CHECK(arrays.value()[1].array.dtype == Dtype::F32);
  CHECK(load_as_double(Dtype::F32, arrays.value()[1].array.bytes.data() + 4) == -4);
  int64_t values = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(dir.path / "goldens/values")) ++values;
  CHECK(values == 3);  // the parameter and two ops; the result tuple is no array
}

TEST_CASE("missing inputs are made up, written, and the same every time", "[goldens]") {
  const TempDir dir;
  std::ofstream(dir.path / "model.mlir") << kModel;
  const goldens::Options options{.hlo_module = (dir.path / "model.mlir").string(),
                                 .output_dir = (dir.path / "goldens").string()};
  REQUIRE(goldens::make_goldens(options).is_ok());
  CHECK(fs::exists(dir.path / "goldens/inputs/000.npy"));
  const hlo::Shape shape = hlo::Shape::array(Dtype::S8, {100});
  const hlo::Literal a = goldens::made_up_input(shape, 7);
  CHECK(a == goldens::made_up_input(shape, 7));
  for (int64_t i = 0; i < 100; ++i) CHECK(std::abs(a.as_int64(i)) <= 10);
}

TEST_CASE("a wrong input is named by its number", "[goldens]") {
  const TempDir dir;
  std::ofstream(dir.path / "model.mlir") << kModel;
  fs::create_directories(dir.path / "inputs");
  REQUIRE(hlo::write_literal((dir.path / "inputs/000.npy").string(), hlo::Literal::scalar(Dtype::F32, 1))
              .is_ok());
  const Status status = goldens::make_goldens({.hlo_module = (dir.path / "model.mlir").string(),
                                               .inputs = (dir.path / "inputs").string(),
                                               .output_dir = (dir.path / "goldens").string()});
  REQUIRE_FALSE(status.is_ok());
  CHECK(status.diagnostic().code == Code::ERUN001);
  CHECK_FALSE(fs::exists(dir.path / "goldens/manifest.json"));
}

TEST_CASE("made-up inputs of open sizes go together with the scalars that state them", "[goldens]") {
  using hlo::Shape;
  Shape open = Shape::array(Dtype::F32, {1, 3});
  open.set_dynamic_dim(0, hlo::kUnbounded);
  const auto args = goldens::made_up_arguments({Shape::array(Dtype::S64), open, Shape::array(Dtype::S64)});
  CHECK(args[0].as_int64(0) == 4);
  CHECK(args[1].shape().dims == std::vector<int64_t>{4, 3});
  CHECK(args[2].as_int64(0) == goldens::made_up_input(Shape::array(Dtype::S64), 2).as_int64(0));
}
