/* Undo and redo: the lists of pins before each change. */
#include <stdlib.h>
#include <string.h>

#include "window_state.h"

static void free_lists(pin_lists *l) {
  for (int k = 0; k < l->count; k++) free(l->list[k].pins);
  l->count = 0;
}

/* Appends the current pins; drops the oldest list if there are too many. Returns 0, or 1 if memory runs out. */
static int push(pin_lists *l, const window_state *w) {
  pin_list made = {.pins = malloc(((size_t)w->pin_count + 1) * sizeof *made.pins), .count = w->pin_count};
  if (!made.pins) return 1;
  if (w->pin_count) memcpy(made.pins, w->pins, (size_t)w->pin_count * sizeof *made.pins);
  if (l->count == PIN_LISTS) {
    free(l->list[0].pins);
    memmove(l->list, l->list + 1, (PIN_LISTS - 1) * sizeof l->list[0]);
    l->count--;
  }
  l->list[l->count++] = made;
  return 0;
}

void window_remember(window_state *w) {
  free_lists(&w->future);
  if (push(&w->past, w)) app_tell_error(&w->app, "out of memory: this change cannot be undone");
}

void window_forget(window_state *w) {
  free_lists(&w->past);
  free_lists(&w->future);
}

static void go(window_state *w, pin_lists *from, pin_lists *to, const char *done, const char *nothing) {
  if (window_asks(w)) return;
  if (!from->count) {
    app_tell(&w->app, "%s", nothing);
    return;
  }
  if (push(to, w)) {
    app_tell_error(&w->app, "out of memory");
    return;
  }
  const pin_list list = from->list[--from->count];
  free(w->pins);
  w->pins = list.pins;
  w->pin_count = list.count;
  if (!window_use_pins(w)) app_tell(&w->app, "%s", done);
}

void window_undo(window_state *w) {
  go(w, &w->past, &w->future, "undone", "nothing to undo");
}
void window_redo(window_state *w) {
  go(w, &w->future, &w->past, "redone", "nothing to redo");
}
