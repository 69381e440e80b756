/* Host memory that runs out at the first, second, third, ... allocation. */
#ifndef HEAP_H
#define HEAP_H

#include "helpers.h"

typedef struct heap {
  long live;      /* blocks that are not freed yet */
  long countdown; /* allocations that still succeed; negative: all */
  int once;       /* only the next allocation fails; 0: all further ones do */
  long failed;
} heap;

extern heap memory;

/* This allocator, which resets its counts, and a descriptor of the backend under test that uses it. */
ts_allocator heap_allocator(void);
ts_context_desc heap_desc(void);

/* Checks that a handle is NULL. */
int is_null(const void *handle);

/* The allocation to fail after the n-th one: n + 1. A brief run skips some after the first few. */
long heap_next(long n);

/* The n-th allocation and all later ones fail, for n = 0, 1, ... until the call succeeds. Every failure returns
 * the status. `handle` stays NULL, and a call that creates an object frees its device memory. Memory that a
 * backend keeps for later calls (programs, workspaces) is freed with the context, so every case ends with a
 * count of the live blocks. A workspace on the device is made once: if a failure leaves device memory, the same
 * failure again must not leave any. */
#define FAIL_EACH(context, handle, creates, call)                                                              \
  do {                                                                                                         \
    int succeeded_ = 0, kept_ = 0;                                                                             \
    for (long n_ = 0; n_ < 4000 && !succeeded_; n_ = kept_ ? n_ : heap_next(n_)) {                             \
      test_context_label("%s, allocation %ld", #call, n_);                                                     \
      const size_t bytes_ = context_info(context).bytes_device;                                                \
      memory.countdown = n_;                                                                                   \
      memory.failed = 0;                                                                                       \
      const ts_status status_ = (call);                                                                        \
      memory.countdown = -1;                                                                                   \
      if (memory.failed == 0) {                                                                                \
        succeeded_ = CHECK_INT(status_, TS_OK);                                                                \
        break;                                                                                                 \
      }                                                                                                        \
      CHECK_FAILS(context, status_, TS_ERROR_OUT_OF_HOST_MEMORY, "memory");                                    \
      if (!is_null(handle)) break;                                                                             \
      kept_ = creates && !kept_ && context_info(context).bytes_device != bytes_;                               \
      if (creates && !kept_) CHECK_INT(context_info(context).bytes_device, bytes_);                            \
    }                                                                                                          \
    CHECK(succeeded_);                                                                                         \
    test_context_label("%s", "");                                                                              \
  } while (0)

#define FAIL_EACH_CREATION(context, handle, call) FAIL_EACH(context, handle, 1, call)
#define FAIL_EACH_USE(context, call) FAIL_EACH(context, NULL, 0, call)

#endif
