// neuron-driver: the user's front end. Plans the jobs of a compile and runs them; hands the other subcommands
// to their tools.
#include <cstdio>
#include <exception>
#include <new>

#include "common/diag/status.h"
#include "driver/command_line.h"

int main(int argc, char** argv) {
  try {
    return ncc::driver::run_command_line({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    std::fputs("[ERROR] out of memory\n", stderr);
    return 137;
  } catch (const std::exception& failure) {
    const ncc::Status status =
        ncc::error(ncc::Code::EINT901, std::string("neuron-driver"), std::string(failure.what()));
    fmt::print(stderr, "{}\n", status.diagnostic().to_string());
    return status.diagnostic().exit_status();
  }
}
