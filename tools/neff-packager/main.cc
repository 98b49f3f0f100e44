// neff-packager (jobs Kelper and NeffWrapper): the work folder in, one NEFF out; or a NEFF in, an HLO module
// that calls it out.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/tool/tool_main.h"
#include "tools/neff-packager/pack.h"
#include "tools/neff-packager/wrap.h"

namespace {

ncc::Status wrap(const ncc::packager::WrapOptions& options) {
  if (options.hlo.empty() || options.neff.empty())
    return ncc::error(ncc::Code::EARG001, "--wrap needs --hlo and --neff");
  bool wrote = false;
  NCC_TRY(ncc::packager::wrap(options, wrote));
  if (!wrote) std::puts("no input needs a transpose: no wrapper is written");
  return ncc::Status::ok();
}

}  // namespace

int main(int argc, char** argv) {
  ncc::packager::PackOptions pack;
  ncc::packager::WrapOptions wrapped;
  bool plain = false, wraps = false;
  const auto declare = [&](CLI::App& app) {
    app.add_option("--output", pack.output, "the file to write")->required();
    app.add_option("--work-dir", pack.work_dir, "folder with sg00/, constants.bin, hlo_metrics.json")
        ->capture_default_str();
    app.add_option("--name", pack.name, "graph name in the header")->capture_default_str();
    app.add_option("--execute-repetition", pack.repetitions, "how many times a run executes the program")
        ->check(CLI::PositiveNumber);
    app.add_flag("--no-compression", plain, "a plain tar, also with few constants");
    app.add_flag("--wrap", wraps, "write an HLO module that calls a NEFF");
    app.add_option("--hlo", wrapped.hlo, "the model (with --wrap)");
    app.add_option("--neff", wrapped.neff, "its NEFF (with --wrap)");
    app.add_option("--io_transposes", wrapped.io_transposes, "transposes the host does (with --wrap)");
  };
  const auto run = [&] {
    pack.compress = !plain;
    wrapped.output = pack.output;
    return wraps ? wrap(wrapped) : ncc::packager::pack(pack);
  };
  return ncc::tool_main(
      {"neff-packager", "packs engine programs, constants and interface into a NEFF",
       "  neff-packager --work-dir . --output model.neff\n"
       "  neff-packager --wrap --hlo hlo_module.pb --neff model.neff --io_transposes io_transposes.json "
       "--output wrapped_neff.hlo\n"},
      argc, argv, declare, run);
}
