// The wire format around an HloModuleProto, read without protobuf: which container it is, where each
// instruction stands, and the values of large constants, which are taken out of the message and stay where
// they are (in a mapped file), so that protobuf neither copies them nor counts them towards its 2 GiB.
// Internal to the proto reader. Source: spec/hlo-proto.md §1, §2, §9.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/diag/status.h"

namespace ncc::hlo {

/// Values of one literal, as they stand in the file.
struct Payload {
  int field = 0;  // of LiteralProto
  std::string_view bytes;
};

struct SlimModule {
  std::string message;  // an HloModuleProto without the payloads; field `payload` of its literals counts
                        // them from 1
  std::vector<Payload> payloads;      // large ones, in file order
  std::shared_ptr<const void> owner;  // of the payloads' bytes; null = they must be copied
  // Offset in the input of each instruction: (computation, instruction), both counted from 0.
  std::map<std::pair<int, int>, size_t> offsets;
};

/// Finds the HloModuleProto inside `bytes` (bare, HloProto, HloSnapshot, HloUnoptimizedSnapshot) and takes
/// the large values out of it. EFIL003 with the byte offset of what is malformed; `what` names the input.
Result<SlimModule> slim_module(std::string_view bytes, const std::string& what);

}  // namespace ncc::hlo
