// MLIR locations: name, file and line of an op, and its call stack. Source: spec/stablehlo-text.md §1.2.
#include "ir-formats/hlo/import.h"

namespace ncc::hlo::mlir {
namespace {

constexpr int kMaxDepth = 100;
// Stacks share frames, but nested aliases can spell more and deeper stacks than anybody can hold. Python's
// own limit is 1000 calls.
constexpr int kMaxFrameVisits = 1 << 20;
constexpr int kMaxStack = 1024;

}  // namespace

// The outermost name and the first file found on the way in: "jit(f)/dot_general" at model.py:51.
SourceLoc Importer::resolve(const Loc& loc, int depth) {
  if (depth > kMaxDepth) return {};
  switch (loc.kind) {
    case Loc::Kind::Unknown:
      return {};
    case Loc::Kind::File:
      return {"", loc.text, loc.line};
    case Loc::Kind::Name: {
      SourceLoc made = loc.children.empty() ? SourceLoc{} : resolve(loc.children[0], depth + 1);
      made.op_name = loc.text;
      return made;
    }
    case Loc::Kind::CallSite:
    case Loc::Kind::Fused:
      for (const Loc& child : loc.children) {
        SourceLoc made = resolve(child, depth + 1);
        if (!made.file.empty()) return made;
      }
      return loc.children.empty() ? SourceLoc{} : resolve(loc.children[0], depth + 1);
    case Loc::Kind::Alias: {
      const auto known = resolved_.find(loc.text);
      if (known != resolved_.end()) return known->second;
      const auto alias = file_.locations.find(loc.text);
      SourceLoc made = alias == file_.locations.end() ? SourceLoc{} : resolve(alias->second, depth + 1);
      resolved_.emplace(loc.text, made);
      return made;
    }
  }
  return {};
}

// The frame of a location below `caller`. callsite(a at b) is a below b; the name around a file is the
// function.
int32_t Importer::stack_frame(const Loc& loc, const std::string& function, int32_t caller, int depth) {
  if (depth > kMaxDepth || ++frame_visits_ > kMaxFrameVisits) return caller;
  if (stack_depths_[caller] >= kMaxStack) return caller;
  switch (loc.kind) {
    case Loc::Kind::Unknown:
      return caller;
    case Loc::Kind::File: {
      const int32_t frame = frames_->frame(
          loc.text, function, {0, 0, loc.line, loc.column, loc.end_line, loc.end_column}, caller);
      stack_depths_[frame] = stack_depths_[caller] + 1;
      return frame;
    }
    case Loc::Kind::Name:
      return loc.children.empty() ? caller : stack_frame(loc.children[0], loc.text, caller, depth + 1);
    case Loc::Kind::CallSite:
      caller = stack_frame(loc.children[1], "", caller, depth + 1);
      return stack_frame(loc.children[0], "", caller, depth + 1);
    case Loc::Kind::Fused:
      for (const Loc& child : loc.children) {
        const int32_t frame = stack_frame(child, function, caller, depth + 1);
        if (frame != caller) return frame;
      }
      return caller;
    case Loc::Kind::Alias: {
      const auto key = std::make_pair(std::string_view(loc.text), caller);
      if (function.empty()) {
        if (const auto known = alias_frames_.find(key); known != alias_frames_.end()) return known->second;
      }
      const auto alias = file_.locations.find(loc.text);
      if (alias == file_.locations.end()) return caller;
      const int32_t frame = stack_frame(alias->second, function, caller, depth + 1);
      if (function.empty()) alias_frames_.emplace(key, frame);
      return frame;
    }
  }
  return caller;
}

// Ops without a location of their own get the line of the model text.
SourceLoc Importer::location(const Loc& loc, int line) {
  SourceLoc made = resolve(loc);
  if (made.empty()) made = {"", file_name_, line};
  return made;
}

// The outermost name belongs to the op, not to its function.
std::shared_ptr<const LocationDetails> Importer::location_details(const Loc& loc) {
  const Loc* place = &loc;
  for (int depth = 0; place->kind == Loc::Kind::Alias && depth < kMaxDepth; ++depth) {
    const auto alias = file_.locations.find(place->text);
    if (alias == file_.locations.end()) return nullptr;
    place = &alias->second;
  }
  if (place->kind == Loc::Kind::Name) {
    if (place->children.empty()) return nullptr;
    place = &place->children[0];
  }
  LocationDetails details;
  details.stack_frame = stack_frame(*place, "", 0, 0);
  return share_details(std::move(details));
}

}  // namespace ncc::hlo::mlir
