/* texsolve-nl: converts equations as assembled to those that are solved. Assigns rows to variables, completes
 * both triangles of symmetric matrices, and finds variables without an equation. */
#include <stdlib.h>
#include <string.h>

#include "nl_private.h"

static void out_of_memory(tsn_context *c) {
  tsn_refuse(c, NL_OUT_OF_MEMORY, "nlEnd(NL_MATRIX): no memory for the equations");
}

/* ---- Square systems ---- */

static int check_row_count(tsn_context *c) {
  if (c->row_count == 0 || c->row_count == c->n || c->row_count == c->free_count) return 1;
  tsn_refuse(
      c, NL_INVALID_OPERATION,
      "nlEnd(NL_MATRIX): there are %zu rows; a square system of %zu variables, %zu of them unlocked, has %zu "
      "or %zu",
      c->row_count, c->n, c->free_count, c->n, c->free_count);
  return 0;
}

/* The equation of each row, or NULL if memory is exhausted. */
static int32_t *map_rows(const tsn_context *c) {
  int32_t *map = calloc(c->n, sizeof *map);
  size_t row = 0;
  for (size_t i = 0; map && i < c->n; i++)
    if (c->row_count == c->n || !c->locked[i]) map[row++] = (int32_t)i;
  return map;
}

static int add_right_hand_sides(tsn_context *c, const int32_t *map) {
  if (!c->added) c->added = calloc(c->n, c->systems * sizeof *c->added);
  if (!c->added) return 0;
  for (size_t row = 0; row < c->row_count; row++)
    for (size_t k = 0; k < c->systems; k++)
      c->added[(size_t)map[row] * c->systems + k] += c->right_hand_sides[row * c->systems + k];
  for (size_t i = 0; i < c->n; i++)
    if (c->locked[i]) memset(c->added + i * c->systems, 0, c->systems * sizeof *c->added);
  return 1;
}

/* Keeps the entries in equations of unlocked variables. */
static void keep_entries(tsn_entries *e, const tsn_context *c, const int32_t *map) {
  size_t kept = 0;
  for (size_t k = 0; k < e->count; k++) {
    const int32_t row = e->rows[k] < 0 ? -1 - e->rows[k] : map[e->rows[k]];
    if (c->locked[row]) continue;
    e->rows[kept] = row;
    e->columns[kept] = e->columns[k];
    e->values[kept++] = e->values[k];
  }
  e->count = kept;
}

/* Uses the lower triangle of unlocked variables and mirrors it. */
static int mirror(tsn_context *c) {
  tsn_entries *e = &c->entries;
  size_t kept = 0, above = 0, below = 0;
  for (size_t k = 0; k < e->count; k++) {
    const int inner = !c->locked[e->columns[k]];
    above += inner && e->columns[k] > e->rows[k];
    below += inner && e->columns[k] < e->rows[k];
    if (inner && e->columns[k] > e->rows[k]) continue;
    e->rows[kept] = e->rows[k];
    e->columns[kept] = e->columns[k];
    e->values[kept++] = e->values[k];
  }
  e->count = kept;
  if (above && !below) {
    tsn_refuse(c, NL_INVALID_OPERATION,
               "nlEnd(NL_MATRIX): NL_SYMMETRIC is set and all %zu off-diagonal coefficients are above the "
               "diagonal; only those below it count",
               above);
    return 1;
  }
  for (size_t k = 0; k < kept; k++) {
    if (e->columns[k] >= e->rows[k] || c->locked[e->columns[k]]) continue;
    if (e->count >= INT32_MAX || !tsn_reserve_entry(e)) return 0;
    e->rows[e->count] = e->columns[k];
    e->columns[e->count] = e->rows[k];
    e->values[e->count++] = e->values[k];
  }
  return 1;
}

static void finish_square(tsn_context *c) {
  if (!check_row_count(c)) return;
  int32_t *map = map_rows(c);
  int done = map && add_right_hand_sides(c, map);
  if (done) {
    keep_entries(&c->entries, c, map);
    if (c->parameters.symmetric && !c->parameters.least_squares) done = mirror(c);
  }
  free(map);
  if (!done) out_of_memory(c);
}

/* ---- Variables without an equation ---- */

/* In a square system, a variable with its own equation is not idle, even if no equation contains it: texsolve
 * then reports a singular matrix. */
static void find_idle(tsn_context *c) {
  const tsn_entries *e = &c->entries;
  memset(c->idle, 1, c->n);
  for (size_t k = 0; k < e->count; k++) {
    if (e->values[k] == 0) continue;
    c->idle[e->columns[k]] = 0;
    if (c->square) c->idle[e->rows[k]] = 0;
  }
  c->idle_count = 0;
  for (size_t i = 0; i < c->n; i++) {
    c->idle[i] = c->idle[i] && !c->locked[i];
    if (c->idle[i] && !c->idle_count++) c->first_idle = i;
  }
  /* The right-hand side of a missing equation. */
  for (size_t i = 0; c->square && i < c->n; i++)
    if (c->idle[i]) memset(c->added + i * c->systems, 0, c->systems * sizeof *c->added);
}

void tsn_equations_finish(tsn_context *c) {
  c->new_numbers = 1;
  if (c->square) finish_square(c);
  if (c->refused) return;
  if (c->entries.count == 0 && c->free_count) {
    tsn_refuse(c, NL_INVALID_OPERATION, "nlEnd(NL_MATRIX): no equation has a coefficient");
    return;
  }
  find_idle(c);
}
