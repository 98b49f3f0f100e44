// hlo_forms [--write OUT | --optional] FOLDER…: reads every model below the folders from each of its forms
// and compares what they give.
//
// A model is a folder with model.hlo.pb, model.hlo.txt and model.mlir (what there is), or any other .mlir or
// .hlo file, each of its pieces alone. For every form: it reads, it verifies, and it is written as a proto
// and as text until both are fixed points:
//   module -> text -> module -> text         the second text is the first
//   module -> proto -> module -> proto       the second proto is the first
//   module -> text -> module -> proto -> module -> text    and the other way round, the same
// Forms of one folder are compared with each other: proto and text exactly, proto and StableHLO by
// tests/forms/equivalence.h, which lists what the two producers may do differently.
// With --write, what is written for each module goes to OUT/<number>.pb and .hlo, its origin to OUT/names.txt
// (xla_reads.py gives them to XLA).
// With --optional, folders that are not there are left out.
// Prints one line per difference and totals; exit status 2 when there is a difference.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/files/files.h"
#include "ir-formats/hlo/compare.h"
#include "ir-formats/hlo/read.h"
#include "ir-formats/hlo/verify.h"
#include "ir-formats/hlo/write.h"
#include "tests/forms/equivalence.h"

namespace ncc::hlo {
namespace {

namespace fs = std::filesystem;
using ModulePtr = std::unique_ptr<Module>;

struct Totals {
  int64_t forms = 0, modules = 0, pairs = 0, differences = 0;
  int64_t values = 0;  // pairs of values of a proto and a StableHLO module
  std::map<std::string, int64_t> expanded;
};

class Checker {
 public:
  explicit Checker(std::string out) : out_(std::move(out)) {}
  const Totals& totals() const { return totals_; }
  const std::string& names() const { return names_; }

  void folder(const fs::path& root) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const std::string name = entry.path().filename();
      if (name.ends_with(".mlir") || name.ends_with(".hlo") || name.ends_with(".hlo.pb") ||
          name.ends_with(".hlo.txt"))
        files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& path : files) {
      if (path.filename() == "model.hlo.pb") {
        model(path.parent_path());
      } else if (!path.filename().string().starts_with("model.") ||
                 !fs::exists(path.parent_path() / "model.hlo.pb")) {
        pieces(path);
      }
    }
  }

 private:
  void differ(const std::string& what, std::string_view why) {
    ++totals_.differences;
    fmt::print("{}: {}\n", what, why);
    std::fflush(stdout);
  }

  ModulePtr take(Result<ModulePtr> result, const std::string& what) {
    if (result.is_ok()) return result.take();
    differ(what, result.status().diagnostic().to_string());
    return nullptr;
  }

  // The three forms of one model.
  void model(const fs::path& folder) {
    const ModulePtr proto = form(folder / "model.hlo.pb");
    const ModulePtr text = form(folder / "model.hlo.txt");
    const ModulePtr mlir = form(folder / "model.mlir");
    if (proto && text) pair(folder.string() + ": proto and text", *proto, *text);
    if (proto && mlir) equivalence(folder.string() + ": proto and StableHLO", *proto, *mlir);
  }

  ModulePtr form(const fs::path& path) {
    if (!fs::exists(path)) return nullptr;
    ++totals_.forms;
    ModulePtr module = take(read_module(path), path);
    if (module) check(*module, path);
    return module;
  }

  void pieces(const fs::path& path) {
    ++totals_.forms;
    const auto bytes = read_file(path);
    if (!bytes.is_ok() || path.extension() != ".mlir") {
      if (ModulePtr module = take(read_module(path), path)) check(*module, path);
      return;
    }
    int number = 0;
    for (const std::string& piece : split_mlir(bytes.value())) {
      const std::string what = fmt::format("{} piece {}", path.string(), number++);
      if (ModulePtr module = take(read_stablehlo(piece, path), what)) check(*module, what);
    }
  }

  void pair(const std::string& what, const Module& a, const Module& b) {
    ++totals_.pairs;
    std::string difference;
    if (!same_module(a, b, &difference)) differ(what, difference);
  }

  void equivalence(const std::string& what, const Module& a, const Module& b) {
    ++totals_.pairs;
    const Equivalence result = equivalent(a, b);
    if (!result.equal) differ(what, result.difference);
    totals_.values += result.pairs;
    for (const auto& [op, count] : result.expanded) totals_.expanded[op] += count;
  }

  void check(const Module& module, const std::string& what) {
    ++totals_.modules;
    if (const Status status = verify(module); !status.is_ok()) differ(what, status.diagnostic().to_string());
    const auto proto = write_hlo_proto(module);
    if (!proto.is_ok()) return differ(what, "proto: " + proto.status().diagnostic().to_string());
    const std::string text = print_hlo(module);
    if (!out_.empty()) write(proto.value(), text, what);
    const ModulePtr from_proto = take(read_hlo_proto(proto.value(), "written"), what + ": the written proto");
    const ModulePtr from_text = take(read_hlo_text(text, "written.hlo"), what + ": the written text");
    if (!from_proto || !from_text) return;
    std::string difference;
    if (!same_module(module, *from_proto, &difference)) differ(what + ": the written proto", difference);
    if (!same_module(module, *from_text, &difference)) differ(what + ": the written text", difference);
    const std::string text_again = print_hlo(*from_proto);
    if (text_again != text) differ(what, "text -> proto -> text: " + first_difference(text, text_again));
    if (const std::string again = print_hlo(*from_text); again != text)
      differ(what, "text -> text: " + first_difference(text, again));
    const auto proto_again = write_hlo_proto(*from_text);
    if (!proto_again.is_ok() || proto_again.value() != proto.value())
      differ(what, fmt::format("proto -> text -> proto: {} and {} bytes", proto.value().size(),
                               proto_again.is_ok() ? proto_again.value().size() : 0));
    if (write_hlo_proto(*from_proto).value() != proto.value())
      differ(what, "proto -> proto: the bytes differ");
  }

  void write(const std::string& proto, const std::string& text, const std::string& what) {
    const std::string stem = fmt::format("{}/{}", out_, totals_.modules);
    names_ += fmt::format("{} {}\n", totals_.modules, what);
    for (const Status& status : {write_file(stem + ".pb", proto), write_file(stem + ".hlo", text)}) {
      if (!status.is_ok()) differ(what, status.diagnostic().to_string());
    }
  }

  // The first lines that differ.
  static std::string first_difference(const std::string& a, const std::string& b) {
    const size_t at =
        static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    const auto line = [at](const std::string& text) {
      const size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
      const size_t from = std::max(begin, at > 100 ? at - 100 : 0);
      return text.substr(from, std::min<size_t>(text.find('\n', at) - from, 300));
    };
    return fmt::format("\n  {}\n  {}", line(a), line(b));
  }

  std::string out_, names_;
  Totals totals_;
};

}  // namespace
}  // namespace ncc::hlo

int main(int argc, char** argv) {
  const bool writes = argc > 2 && std::string_view(argv[1]) == "--write";
  const bool optional = argc > 1 && std::string_view(argv[1]) == "--optional";
  const std::string out = writes ? argv[2] : "";
  ncc::hlo::Checker checker(out);
  for (int i = writes ? 3 : optional ? 2 : 1; i < argc; ++i) {
    if (!optional || std::filesystem::exists(argv[i])) checker.folder(argv[i]);
  }
  if (writes && !ncc::write_file(out + "/names.txt", checker.names()).is_ok()) return 2;
  const ncc::hlo::Totals& totals = checker.totals();
  for (const auto& [op, count] : totals.expanded) fmt::print("expanded by the producer: {} {}\n", op, count);
  fmt::print("{} values of StableHLO modules compared with the proto's\n", totals.values);
  fmt::print("{} files, {} modules, {} pairs of forms, {} differences\n", totals.forms, totals.modules,
             totals.pairs, totals.differences);
  return totals.differences == 0 ? 0 : 2;
}
