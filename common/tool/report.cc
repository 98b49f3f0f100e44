#include "common/tool/report.h"

#include <cstdio>

namespace ncc {

int report_failure(const Status& status) {
  std::fputs((status.diagnostic().to_string() + "\n").c_str(), stderr);
  return status.diagnostic().exit_status();
}

}  // namespace ncc
