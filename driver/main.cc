// neuron-driver: the user's front end. Plans the jobs of a compile and runs them; hands the other subcommands
// to their tools.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>

#include "common/tool/report.h"
#include "driver/command_line.h"

int main(int argc, char** argv) {
  // Closed standard streams become /dev/null, so that no file of ours is ever taken for one.
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0) return 70;
  try {
    return ncc::driver::run_command_line({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    std::fputs("[ERROR] out of memory\n", stderr);
    return 137;
  } catch (const std::exception& failure) {
    return ncc::report_failure(
        ncc::error(ncc::Code::EINT901, std::string("neuron-driver"), std::string(failure.what())));
  }
}
