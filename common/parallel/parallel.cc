// A pool of sleeping workers and one job at a time. Workers take ranges from an atomic counter.
#include "common/parallel/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace ncc {
namespace {

std::atomic<int> g_requested_threads{0};
thread_local bool t_inside_body = false;

int wanted_threads() {
  const int requested = g_requested_threads.load();
  if (requested > 0) return requested;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// The ranges of one parallel_for call.
struct Job {
  int64_t n, grain, ranges;
  const std::function<void(int64_t, int64_t)>* body;
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;

  void work() {
    t_inside_body = true;
    while (true) {
      const int64_t range = next.fetch_add(1);
      if (range >= ranges) break;
      try {
        (*body)(range * grain, std::min(n, (range + 1) * grain));
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next.store(ranges);  // no new ranges
      }
    }
    t_inside_body = false;
  }
};

class Pool {
 public:
  explicit Pool(int workers) {
    for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { loop(); });
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void run(Job& job) {
    const std::lock_guard one_job(callers_);
    {
      const std::lock_guard lock(mutex_);
      job_ = &job;
      running_ = static_cast<int>(threads_.size());
      ++generation_;
    }
    wake_.notify_all();
    job.work();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return running_ == 0; });
    job_ = nullptr;
  }

 private:
  void loop() {
    uint64_t seen = 0;
    while (true) {
      Job* job;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
        if (stopping_) return;
        seen = generation_;
        job = job_;
      }
      job->work();
      const std::lock_guard lock(mutex_);
      if (--running_ == 0) done_.notify_one();
    }
  }

  std::mutex callers_, mutex_;
  std::condition_variable wake_, done_;
  Job* job_ = nullptr;
  uint64_t generation_ = 0;
  int running_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

Pool& pool() {
  static Pool instance(wanted_threads() - 1);
  return instance;
}

}  // namespace

void parallel_for(int64_t n, int64_t grain, const std::function<void(int64_t, int64_t)>& body) {
  if (n <= 0) return;
  grain = std::max<int64_t>(1, grain);
  if (t_inside_body || n <= grain || wanted_threads() == 1) {
    for (int64_t begin = 0; begin < n; begin += grain) body(begin, std::min(n, begin + grain));
    return;
  }
  Job job{n, grain, (n + grain - 1) / grain, &body};
  pool().run(job);
  if (job.failure) std::rethrow_exception(job.failure);
}

int thread_count() { return wanted_threads(); }
void set_thread_count(int count) { g_requested_threads.store(count); }

}  // namespace ncc
