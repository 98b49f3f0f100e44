// What an instruction says about its origin beyond the SourceLoc that every IR carries: the call stack in the
// user's program and the rarer fields of HLO metadata. Read, kept and written; no pass needs them.
// Source: spec/hlo-proto.md §3, §12, spec/hlo-text.md §2, §9.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "common/diag/source_loc.h"

namespace ncc::hlo {

/// Call stacks as HLO files share them: four tables whose entries name each other by position from 1; 0 is
/// "none".
struct StackFrames {
  struct Place {
    int32_t file = 0, function = 0;
    int32_t line = 0, column = 0, end_line = 0, end_column = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct Frame {
    int32_t place = 0, parent = 0;  // parent: the caller's frame
    auto operator<=>(const Frame&) const = default;
  };
  std::vector<std::string> files, functions;
  std::vector<Place> places;
  std::vector<Frame> frames;
  bool operator==(const StackFrames&) const = default;

  /// File and line of a frame; empty when the number or one it leads to is out of range.
  SourceLoc location(int64_t frame) const;
};

/// Builds stack frames without repeating entries.
class StackFrameBuilder {
 public:
  explicit StackFrameBuilder(StackFrames* frames) : frames_(frames) {}
  /// The frame of that place under that caller (0 = none).
  int32_t frame(const std::string& file, const std::string& function, StackFrames::Place place,
                int32_t parent);

 private:
  StackFrames* frames_;
  std::map<std::string, int32_t> files_, functions_;
  std::map<StackFrames::Place, int32_t> places_;
  std::map<StackFrames::Frame, int32_t> seen_;
};

struct LocationDetails {
  std::string op_type, deduplicated_name, scheduling_name;
  int32_t end_line = 0, column = 0, end_column = 0;
  int32_t stack_frame = 0;     // in the module's StackFrames
  std::string unknown_fields;  // of the proto's metadata, as wire bytes; text has no place for them
  bool operator==(const LocationDetails&) const = default;
};

/// nullptr when there is nothing in it.
std::shared_ptr<const LocationDetails> share_details(LocationDetails details);

}  // namespace ncc::hlo
