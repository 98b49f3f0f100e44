// Reference documents in Markdown, printed from the tables themselves: docs/reference/ holds copies, and
// scripts/check-docs holds the two together.
#pragma once
#include <string>
#include <vector>

namespace ncc::driver {

std::vector<std::string> document_topics();
/// "" for an unknown topic.
std::string document(const std::string& topic);

}  // namespace ncc::driver
