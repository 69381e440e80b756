/* The numbers of all iterations of a solve (ts_solver_desc.keep_history), kept by the caller's solver for all
 * of its stages. */
#include <string.h>

#include "common/core/core.h"
#include "solver.h"
#include "stage_choice.h"

enum { FEWEST = 64 };

/* Room for `count` numbers more. Without memory for them the rest of the history is left out. */
static int make_room(ts_context *context, tsi_history *h, int count) {
  if (count <= h->capacity - h->count) return 1;
  if (h->is_full || h->capacity > INT32_MAX / 4) return 0;
  const int needed = h->count + count, capacity = needed > FEWEST / 2 ? 2 * needed : FEWEST;
  double *numbers = tsi_malloc(context, (size_t)capacity, sizeof *numbers);
  h->is_full = !numbers;
  if (!numbers) return 0;
  if (h->count) memcpy(numbers, h->numbers, (size_t)h->count * sizeof *numbers);
  tsi_free(context, h->numbers);
  h->numbers = numbers;
  h->capacity = capacity;
  return 1;
}

void tsi_history_begin(tsi_history *h) {
  h->count = h->is_full = 0;
}

void tsi_history_add(ts_solver *k, int count) {
  if (!k->desc.keep_history) return;
  tsi_history *h = k->part_of ? &k->part_of->solvers[CHOSEN]->kept_history : &k->kept_history;
  if (!make_room(k->context, h, count)) return;
  memcpy(h->numbers + h->count, k->history, (size_t)count * sizeof *h->numbers);
  h->count += count;
}

const double *ts_solver_get_history(const ts_solver *solver, int *count) {
  const int known = solver ? solver->kept_history.count : 0;
  if (count) *count = known;
  return known ? solver->kept_history.numbers : NULL;
}
