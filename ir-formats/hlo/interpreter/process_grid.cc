#include "ir-formats/hlo/interpreter/process_grid.h"

#include <algorithm>
#include <thread>

#include "ir-formats/hlo/interpreter/evaluator.h"

namespace ncc::hlo {
namespace {

Status stuck() {
  return error(Code::ERUN003, SourceLoc{},
               std::string("the processes wait for each other and none can go on"));
}

}  // namespace

// The last process to start waiting, or to leave, sees that nobody is left who could change anything. Woken
// processes are still counted as waiting until they have looked, so an event resets the count's meaning:
// progress_ tells a sleeper that it was woken for a reason.
template <class Ready>
bool ProcessGrid::wait(std::unique_lock<std::mutex>& lock, const Ready& ready) {
  while (!ready()) {
    if (stuck_) return false;
    const uint64_t seen = progress_;
    if (++waiting_ == running_) {
      stuck_ = true;
      ++progress_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return progress_ != seen; });
  }
  return true;
}

Result<std::vector<std::vector<Literal>>> ProcessGrid::exchange(ProcessId self, int64_t channel,
                                                                const std::vector<ProcessId>& group,
                                                                std::vector<Literal> mine) {
  const auto position = std::find(group.begin(), group.end(), self) - group.begin();
  std::unique_lock lock(mutex_);
  const int64_t round = rounds_[{self, channel, group}]++;
  const Key key{channel, group, round};
  Meeting& meeting = meetings_[key];  // map nodes stay where they are
  meeting.values.resize(group.size());
  meeting.values[static_cast<size_t>(position)] = std::move(mine);
  if (++meeting.arrived == group.size()) {
    waiting_ = 0;
    ++progress_;
    changed_.notify_all();
  }
  if (!wait(lock, [&] { return meeting.arrived == group.size(); })) return stuck();
  std::vector<std::vector<Literal>> values = meeting.values;
  if (++meeting.left == group.size()) meetings_.erase(key);
  return values;
}

void ProcessGrid::send(int64_t channel, Literal value) {
  const std::lock_guard lock(mutex_);
  channels_[channel].push_back(std::move(value));
  waiting_ = 0;
  ++progress_;
  changed_.notify_all();
}

Result<Literal> ProcessGrid::receive(int64_t channel) {
  std::unique_lock lock(mutex_);
  std::deque<Literal>& queue = channels_[channel];
  if (!wait(lock, [&] { return !queue.empty(); })) return stuck();
  Literal value = std::move(queue.front());
  queue.pop_front();
  return value;
}

const Computation* ProcessGrid::next_infeed() {
  const std::lock_guard lock(mutex_);
  return infeed_next_ < infeed_.size() ? infeed_[infeed_next_++] : nullptr;
}

void ProcessGrid::outfeed(Literal value) {
  const std::lock_guard lock(mutex_);
  outfed_.push_back(std::move(value));
}

// The others look again: with one process less, all that run may be waiting.
void ProcessGrid::leave() {
  const std::lock_guard lock(mutex_);
  --running_;
  waiting_ = 0;
  ++progress_;
  changed_.notify_all();
}

Result<std::vector<Literal>> run_processes(ProcessGrid& grid, std::span<const Computation* const> programs,
                                           std::vector<std::vector<Literal>> args,
                                           const InterpretOptions& first) {
  std::vector<Result<Literal>> results(programs.size(), Result<Literal>(Literal()));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < programs.size(); ++i) {
    threads.emplace_back([&, i] {
      const InterpretOptions plain;
      const int64_t number = static_cast<int64_t>(i);
      Evaluator evaluator(i == 0 ? first : plain,
                          {&grid, {number / grid.partitions(), number % grid.partitions()}});
      try {
        results[i] = evaluator.run(*programs[i], std::move(args[i]));
      } catch (const std::exception& failure) {
        results[i] =
            error(Code::ERUN003, SourceLoc{}, fmt::format("process {} failed: {}", i, failure.what()));
      }
      grid.leave();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<Literal> values;
  for (Result<Literal>& result : results) {
    if (!result.is_ok()) return result.status();
    values.push_back(result.take());
  }
  return values;
}

}  // namespace ncc::hlo
