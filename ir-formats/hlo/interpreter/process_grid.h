// The processes of one distributed program: replicas x partitions, one thread each. Collectives meet here,
// values of send and recv pass through channels, infeed values come from functions, outfeed values are
// collected. When every process that is still running waits for another one, all of them fail instead of
// hanging. Source: spec/stablehlo-text.md §3.10.
#pragma once
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "ir-formats/hlo/interpreter/interpret.h"

namespace ncc::hlo {

struct ProcessId {
  int64_t replica = 0, partition = 0;
  auto operator<=>(const ProcessId&) const = default;
};

class ProcessGrid {
 public:
  ProcessGrid(int64_t replicas, int64_t partitions)
      : replicas_(replicas), partitions_(partitions), running_(replicas * partitions) {}

  int64_t replicas() const { return replicas_; }
  int64_t partitions() const { return partitions_; }

  /// Gives `mine` to the other members and returns what each gave, in the group's order. Members meet by
  /// channel and group, the n-th call of one with the n-th call of the others. ERUN003 when they cannot all
  /// come.
  Result<std::vector<std::vector<Literal>>> exchange(ProcessId self, int64_t channel,
                                                     const std::vector<ProcessId>& group,
                                                     std::vector<Literal> mine);
  void send(int64_t channel, Literal value);
  /// Waits for the next value of the channel.
  Result<Literal> receive(int64_t channel);

  void set_infeed(std::vector<const Computation*> functions) { infeed_ = std::move(functions); }
  /// The function that makes the next infeed value; null when there is no more.
  const Computation* next_infeed();
  void outfeed(Literal value);
  /// In the order in which they were fed out.
  const std::vector<Literal>& outfed() const { return outfed_; }

  /// A process has ended, well or not; those that wait for it fail.
  void leave();

 private:
  struct Meeting {
    std::vector<std::vector<Literal>> values;  // by position in the group
    size_t arrived = 0, left = 0;
  };
  using Key = std::tuple<int64_t, std::vector<ProcessId>, int64_t>;  // channel, group, round

  /// Waits until `ready` or until nobody can make progress; false in the second case.
  template <class Ready>
  bool wait(std::unique_lock<std::mutex>& lock, const Ready& ready);

  int64_t replicas_, partitions_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t running_, waiting_ = 0;
  uint64_t progress_ = 0;  // counts every event that may let somebody go on
  bool stuck_ = false;
  std::map<Key, Meeting> meetings_;
  std::map<std::tuple<ProcessId, int64_t, std::vector<ProcessId>>, int64_t> rounds_;
  std::map<int64_t, std::deque<Literal>> channels_;
  std::vector<const Computation*> infeed_;
  size_t infeed_next_ = 0;
  std::vector<Literal> outfed_;
};

/// One process as its evaluator sees it.
struct Process {
  ProcessGrid* grid = nullptr;
  ProcessId id;
};

/// Runs one program per process, programs[replica * partitions + partition], each on its own arguments, and
/// returns their results in that order. `first` are the options of the first process.
Result<std::vector<Literal>> run_processes(ProcessGrid& grid, std::span<const Computation* const> programs,
                                           std::vector<std::vector<Literal>> args,
                                           const InterpretOptions& first = {});

}  // namespace ncc::hlo
