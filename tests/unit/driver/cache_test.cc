#include <catch2/catch.hpp>
#include <filesystem>

#include "common/files/files.h"
#include "driver/cache/canonical_model.h"
#include "driver/cache/compile_cache.h"
#include "driver/cache/digest.h"
#include "driver/cache/store.h"

namespace ncc::driver::cache {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    path_ = (fs::temp_directory_path() / "cache_test_XXXXXX").string();
    REQUIRE(::mkdtemp(path_.data()) != nullptr);
  }
  ~Folder() { fs::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(*this / name).parent_path());
    REQUIRE(write_file(*this / name, text).is_ok());
  }
  std::string read(const std::string& name) const {
    const Result<std::string> text = read_file(*this / name);
    return text.is_ok() ? text.value() : "(absent)";
  }

 private:
  std::string path_;
};

std::string field(int number, const std::string& payload) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(payload.size())} + payload;
}

TEST_CASE("metadata of a protobuf model does not enter its digest", "[driver]") {
  const auto model = [](const std::string& metadata, const std::string& opcode) {
    const std::string instruction = field(1, "add.1") + field(2, opcode) + field(7, metadata);
    return field(1, "m") + field(3, field(1, "main") + field(2, instruction));
  };
  CHECK(canonical_model(model("file.py:1", "add")) == canonical_model(model("other.py:20", "add")));
  CHECK(canonical_model(model("file.py:1", "add")) != canonical_model(model("file.py:1", "multiply")));
  const std::string truncated = model("a", "add").substr(0, 9);
  CHECK(canonical_model(truncated) == truncated);
}

TEST_CASE("locations of text models do not enter their digest", "[driver]") {
  CHECK(canonical_model("HloModule m\n r = f32[] add(a, b), metadata={op_name=\"x}\" source_line=3}\n") ==
        canonical_model("HloModule m\n r = f32[] add(a, b)\n"));
  CHECK(canonical_model(
            "module {\n  %0 = stablehlo.add %a, %b : t loc(\"x)\"(#loc1))\n}\n#loc1 = loc(\"f\":1:2)\n") ==
        canonical_model("module {\n  %0 = stablehlo.add %a, %b : t\n}\n"));
  CHECK(canonical_model("module {\n  func @main(%a: t loc(\"x\"))\n}\n") !=
        canonical_model("module {\n  func @main(%a: t loc(\"y\"))\n}\n"));
  CHECK(canonical_model("HloModule m\n c = s8[] constant(\" loc(1)\")\n").find("loc(1)") !=
        std::string::npos);
}

TEST_CASE("what was added under a key is restored, byte by byte", "[driver]") {
  const Folder dir;
  dir.write("from/a", "one");
  dir.write("from/sub/b", "two");
  const Store store(dir / "cache", false);
  const Parts parts = {{"model", "1"}, {"tool", "2"}};
  REQUIRE(store.add(key_of(parts), parts, {"a", "sub/b"}, dir / "from"));
  const std::optional<Entry> entry = store.find(key_of(parts));
  REQUIRE(entry);
  REQUIRE(store.restore(*entry, dir / "to"));
  CHECK(dir.read("to/a") == "one");
  CHECK(dir.read("to/sub/b") == "two");
  CHECK_FALSE(store.find(key_of({{"model", "1"}, {"tool", "3"}})));
}

TEST_CASE("a damaged file is a miss and is mended by the next writer", "[driver]") {
  const Folder dir;
  dir.write("from/a", "one");
  const Store store(dir / "cache", false);
  const Parts parts = {{"model", "1"}};
  REQUIRE(store.add(key_of(parts), parts, {"a"}, dir / "from"));
  const std::string name = digest("one");
  dir.write("cache/files/" + name.substr(0, 2) + "/" + name, "broken");
  CHECK_FALSE(store.restore(*store.find(key_of(parts)), dir / "to"));
  CHECK(dir.read("to/a") == "(absent)");
  REQUIRE(store.add(key_of(parts), parts, {"a"}, dir / "from"));
  CHECK(store.restore(*store.find(key_of(parts)), dir / "to"));
}

TEST_CASE("a read-only store adds nothing", "[driver]") {
  const Folder dir;
  dir.write("from/a", "one");
  const Store store(dir / "cache", true);
  CHECK_FALSE(store.add("0123", {{"m", "1"}}, {"a"}, dir / "from"));
  CHECK_FALSE(fs::exists(dir / "cache"));
}

TEST_CASE("keys do not depend on where things are, only on what they are", "[driver]") {
  const auto key = [](const Folder& dir, const std::string& option) {
    dir.write("m.pb", "model");
    dir.write("tool", "tool bytes");
    Plan plan;
    plan.model = dir / "m.pb";
    plan.output = dir / "out.neff";
    plan.neff = "model.neff";
    plan.jobs = {
        {"A", "tool", dir / "tool", {"--input", plan.model, option}, {plan.model}, {"model.neff"}, {}, ""}};
    CompileCache cache(plan, dir / "cache", false);
    return cache.explain();
  };
  const Folder one, two;
  CHECK(key(one, "--x") == key(two, "--x"));
  CHECK(key(one, "--x") != key(one, "--y"));
}

TEST_CASE("a miss is explained by the parts that differ from the nearest entry", "[driver]") {
  const Folder dir;
  dir.write("m.pb", "model");
  dir.write("tool", "tool bytes");
  dir.write("work/model.neff", "neff");
  Plan plan;
  plan.model = dir / "m.pb";
  plan.output = dir / "out.neff";
  plan.neff = "model.neff";
  plan.jobs = {{"A", "tool", dir / "tool", {"--input", plan.model}, {plan.model}, {"model.neff"}, {}, ""}};
  CompileCache first(plan, dir / "cache", false);
  CHECK(first.explain().find("no compile yet") != std::string::npos);
  first.store_whole(dir / "work");
  CHECK(first.explain().starts_with("hit: "));
  CHECK(CompileCache(plan, dir / "cache", true).restore_whole(dir / "again"));
  CHECK(dir.read("again/model.neff") == "neff");
  dir.write("tool", "other bytes");
  const std::string why = CompileCache(plan, dir / "cache", false).explain();
  CHECK(why.starts_with("miss: "));
  CHECK(why.find("A.tool: ") != std::string::npos);
  CHECK(why.find("model: ") == std::string::npos);
  plan.is_verified = true;
  CHECK_FALSE(CompileCache(plan, dir / "cache", false).answers_whole());
}

}  // namespace
}  // namespace ncc::driver::cache
