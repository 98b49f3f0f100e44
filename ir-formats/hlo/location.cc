#include "ir-formats/hlo/location.h"

namespace ncc::hlo {
namespace {

template <class T>
const T* entry(const std::vector<T>& table, int64_t position) {
  return position >= 1 && position <= static_cast<int64_t>(table.size())
             ? &table[static_cast<size_t>(position - 1)]
             : nullptr;
}

// The position of `key`, appended to `table` when it is new.
template <class Key, class Table>
int32_t intern(std::map<Key, int32_t>* known, const Key& key, Table* table) {
  const auto [found, added] = known->emplace(key, static_cast<int32_t>(table->size()) + 1);
  if (added) table->push_back(key);
  return found->second;
}

}  // namespace

SourceLoc StackFrames::location(int64_t number) const {
  const Frame* frame = entry(frames, number);
  const Place* place = frame ? entry(places, frame->place) : nullptr;
  const std::string* file = place ? entry(files, place->file) : nullptr;
  return file ? SourceLoc{"", *file, place->line} : SourceLoc{};
}

int32_t StackFrameBuilder::frame(const std::string& file, const std::string& function,
                                 StackFrames::Place place, int32_t parent) {
  place.file = intern(&files_, file, &frames_->files);
  place.function = intern(&functions_, function, &frames_->functions);
  return intern(&seen_, StackFrames::Frame{intern(&places_, place, &frames_->places), parent},
                &frames_->frames);
}

std::shared_ptr<const LocationDetails> share_details(LocationDetails details) {
  if (details == LocationDetails{}) return nullptr;
  return std::make_shared<const LocationDetails>(std::move(details));
}

}  // namespace ncc::hlo
