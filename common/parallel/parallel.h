// Data parallelism: one process-wide pool of threads, used through `parallel_for`.
// Work is cut into ranges whose bounds depend on n and grain alone, never on the number of threads, so that a
// body that writes only its own range gives the same bits on every machine.
#pragma once
#include <cstdint>
#include <functional>

namespace ncc {

/// Calls `body(begin, end)` for consecutive ranges of at most `grain` indices that together cover [0, n).
/// Ranges run concurrently on the caller and the pool; a call from inside a body runs inline. The first
/// exception that a body throws is thrown again here, after all running ranges have ended.
void parallel_for(int64_t n, int64_t grain, const std::function<void(int64_t begin, int64_t end)>& body);

/// Threads that parallel_for uses, the caller included.
int thread_count();
/// Limits the pool; 0 = the machine's processors. Takes effect only before the first parallel_for of the
/// process.
void set_thread_count(int count);

}  // namespace ncc
