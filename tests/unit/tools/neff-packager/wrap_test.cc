#include "tools/neff-packager/wrap.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "common/files/files.h"
#include "ir-formats/hlo/read.h"

namespace ncc::packager {
namespace {

namespace fs = std::filesystem;

class WrapCase {
 public:
  WrapCase() {
    path_ = (fs::temp_directory_path() / "wrap_test_XXXXXX").string();
    REQUIRE(::mkdtemp(path_.data()) != nullptr);
    write("model.hlo",
          "HloModule m\n\nENTRY e {\n  x = f32[4,6] parameter(0)\n  y = f32[4,6] parameter(1)\n"
          "  s = f32[4,6] add(x, y)\n  ROOT t = (f32[4,6], f32[4,6]) tuple(s, x)\n}\n");
    write("model.neff", "NEFF bytes");
  }
  ~WrapCase() { fs::remove_all(path_); }
  void write(const std::string& name, const std::string& bytes) const {
    REQUIRE(write_file(path_ + "/" + name, bytes).is_ok());
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  Status run(const std::string& transposes, bool& wrote) const {
    write("io.json", transposes);
    return wrap({*this / "model.hlo", *this / "model.neff", *this / "io.json", *this / "wrapped.hlo"}, wrote);
  }
  std::string failure(const std::string& transposes) const {
    bool wrote = false;
    const Status status = run(transposes, wrote);
    return status.is_ok() ? "" : status.diagnostic().cause;
  }

 private:
  std::string path_;
};

TEST_CASE("no transpose and no empty parameter leave no wrapper", "[neff]") {
  const WrapCase dir;
  bool wrote = true;
  REQUIRE(dir.run("[]", wrote).is_ok());
  CHECK_FALSE(wrote);
  CHECK_FALSE(fs::exists(dir / "wrapped.hlo"));
}

TEST_CASE("the wrapper calls the NEFF and says which inputs the host transposes", "[neff]") {
  const WrapCase dir;
  bool wrote = false;
  REQUIRE(dir.run(R"([{"input_name":"x","reshape":[4,2,3],"transpose":[1,0,2]}])", wrote).is_ok());
  REQUIRE(wrote);
  const auto module = hlo::read_module(dir / "wrapped.hlo");
  REQUIRE(module.is_ok());
  const hlo::Instruction* call = module.value()->entry()->root()->operand(0)->operand(0);
  CHECK(call->attrs().custom_call_target == "AwsNeuronNeff");
  CHECK(call->attrs().backend_config == "NEFF bytes");
  CHECK(call->num_operands() == 2);
  CHECK(call->attrs().frontend_attributes[0] ==
        std::pair<std::string, std::string>("neff_input_names", R"(["x","y"])"));
  CHECK(call->attrs().frontend_attributes[2] ==
        std::pair<std::string, std::string>("valid_inputs", R"(["x"])"));
}

TEST_CASE("transposes that do not fit the model are refused", "[neff]") {
  const WrapCase dir;
  CHECK(dir.failure("{}").find("it is no list") != std::string::npos);
  CHECK(dir.failure(R"([{"input_name":"z","reshape":[24],"transpose":[0]}])").find("has no parameter 'z'") !=
        std::string::npos);
  CHECK_FALSE(dir.failure(R"([{"input_name":"x","reshape":[23],"transpose":[0]}])").empty());
  CHECK_FALSE(dir.failure(R"([{"input_name":"x","reshape":[4,6],"transpose":[0,0]}])").empty());
}

}  // namespace
}  // namespace ncc::packager
