#include "workers.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace {

enum { most_threads = 16 };

} // namespace

struct workers {
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable begun, ended;
  unsigned long jobs = 0; // number of jobs started; the members below belong to the latest
  int busy = 0;           // workers that are in it
  bool leaves = false;
  workers_body body = nullptr;
  void *arguments = nullptr;
  int items = 0, range = 1;
  std::atomic<int> next{0};

  void work() {
    for (int first = next.fetch_add(range); first < items; first = next.fetch_add(range))
      body(arguments, first, std::min(first + range, items));
  }

  // A worker that wakes up late finds no items, or joins the next job.
  void loop() {
    std::unique_lock<std::mutex> lock(mutex);
    for (unsigned long seen = 0;;) {
      begun.wait(lock, [&] { return leaves || jobs != seen; });
      if (leaves) return;
      seen = jobs;
      busy++;
      lock.unlock();
      work();
      lock.lock();
      if (--busy == 0) ended.notify_one();
    }
  }
};

workers *workers_create(int threads) {
  try {
    auto w = std::make_unique<workers>();
    if (threads <= 0)
      threads = std::min<int>(most_threads, static_cast<int>(std::thread::hardware_concurrency()));
    try {
      for (int k = 1; k < threads; k++) w->threads.emplace_back(&workers::loop, w.get());
    } catch (const std::system_error &) { // continue with the threads that exist
    }
    return w.release();
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

void workers_destroy(workers **made) {
  workers *w = *made;
  *made = nullptr;
  if (!w) return;
  {
    const std::lock_guard<std::mutex> lock(w->mutex);
    w->leaves = true;
  }
  w->begun.notify_all();
  for (std::thread &thread : w->threads) thread.join();
  delete w;
}

void workers_run(workers *w, int items, int range, workers_body body, void *arguments) {
  if (items <= range || w->threads.empty()) {
    if (items > 0) body(arguments, 0, items);
    return;
  }
  const auto is_quiet = [w] { return w->busy == 0; };
  {
    std::unique_lock<std::mutex> lock(w->mutex);
    w->ended.wait(lock, is_quiet); // workers that woke up late for the previous job
    w->body = body;
    w->arguments = arguments;
    w->items = items;
    w->range = range;
    w->next = 0;
    w->jobs++;
  }
  w->begun.notify_all();
  w->work();
  std::unique_lock<std::mutex> lock(w->mutex);
  w->ended.wait(lock, is_quiet);
}
