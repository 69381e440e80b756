/* texsolve-nl: b - A x in double precision, from the equations as assembled. */
#include <math.h>
#include <string.h>

#include "nl_private.h"

size_t tsn_residual_rows(const tsn_context *c) {
  return c->square ? c->n : c->row_count;
}

/* r -= A x, over the columns of either the locked or the unlocked variables. */
static void subtract(const tsn_context *c, const double *x, double *r, int locked) {
  const tsn_entries *e = &c->entries;
  const size_t systems = c->systems;
  for (size_t j = 0; j < e->count; j++) {
    if (c->locked[e->columns[j]] != locked) continue;
    double *to = r + (size_t)e->rows[j] * systems;
    const double *from = x + (size_t)e->columns[j] * systems;
    for (size_t k = 0; k < systems; k++) to[k] -= e->values[j] * from[k];
  }
}

/* g = A^T r, 0 at locked variables. */
static void multiply_transposed(const tsn_context *c, const double *r, double *g) {
  const tsn_entries *e = &c->entries;
  const size_t systems = c->systems;
  memset(g, 0, c->n * systems * sizeof *g);
  for (size_t j = 0; j < e->count; j++) {
    if (c->locked[e->columns[j]]) continue;
    double *to = g + (size_t)e->columns[j] * systems;
    const double *from = r + (size_t)e->rows[j] * systems;
    for (size_t k = 0; k < systems; k++) to[k] += e->values[j] * from[k];
  }
}

/* The norm of system k. Divides by the largest number, so that no square underflows or overflows. */
static double norm(const double *v, size_t count, size_t systems, size_t k) {
  double largest = 0, squares = 0;
  for (size_t i = 0; i < count; i++) {
    const double magnitude = fabs(v[i * systems + k]);
    if (!(magnitude <= largest)) largest = magnitude; /* propagates NaN */
  }
  if (!(largest > 0)) return largest;
  for (size_t i = 0; i < count; i++) {
    const double part = v[i * systems + k] / largest;
    squares += part * part;
  }
  return largest * sqrt(squares);
}

double tsn_residual(const tsn_context *c, const double *x, double *r, double *ratios, double *work) {
  const size_t systems = c->systems, rows = tsn_residual_rows(c);
  memcpy(r, c->square ? c->added : c->right_hand_sides, rows * systems * sizeof *r);
  if (!c->updated) subtract(c, x, r, 1);
  if (!c->square) multiply_transposed(c, r, work);
  for (size_t k = 0; k < systems; k++)
    ratios[k] = c->square ? norm(r, rows, systems, k) : norm(work, c->n, systems, k);

  subtract(c, x, r, 0);
  double largest = 0;
  if (!c->square) multiply_transposed(c, r, work);
  for (size_t k = 0; k < systems; k++) {
    const double residual = c->square ? norm(r, rows, systems, k) : norm(work, c->n, systems, k);
    ratios[k] = residual / (ratios[k] > 0 ? ratios[k] : 1);
    if (!(ratios[k] <= largest)) largest = ratios[k]; /* propagates NaN */
  }
  return largest;
}
