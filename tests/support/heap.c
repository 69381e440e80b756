#include "heap.h"

heap memory;

static int may_allocate(heap *h) {
  if (h->countdown == 0) {
    h->failed++;
    if (h->once) h->countdown = -1;
    return 0;
  }
  if (h->countdown > 0) h->countdown--;
  return 1;
}

static void *heap_malloc(size_t bytes, void *user) {
  heap *h = user;
  void *block = may_allocate(h) ? malloc(bytes ? bytes : 1) : NULL;
  if (block) {
    h->live++;
    memset(block, 0xa5, bytes); /* code must not rely on zeros */
  }
  return block;
}

static void *heap_realloc(void *block, size_t bytes, void *user) {
  heap *h = user;
  if (!may_allocate(h)) return NULL;
  void *larger = realloc(block, bytes ? bytes : 1);
  if (larger && !block) h->live++;
  return larger;
}

static void heap_free(void *block, void *user) {
  heap *h = user;
  if (block) h->live--;
  free(block);
}

ts_allocator heap_allocator(void) {
  memory.live = memory.failed = memory.once = 0;
  memory.countdown = -1;
  return (ts_allocator){heap_malloc, heap_realloc, heap_free, &memory};
}

ts_context_desc heap_desc(void) {
  ts_context_desc desc = test_desc();
  desc.allocator = heap_allocator();
  return desc;
}

int is_null(const void *handle) {
  return CHECK(handle == NULL);
}

long heap_next(long n) {
  return n + (test_is_brief() && n > 3 ? 11 : 1);
}
