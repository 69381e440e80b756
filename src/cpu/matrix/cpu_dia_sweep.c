/* All steps of a polynomial (precond/polynomial.h) in one sweep through a matrix that is stored by diagonals:
 *
 *   x_1 = alpha_0 D^-1 b
 *   x_k+1 = x_k + alpha_k D^-1 (b - A x_k) + gamma_k (x_k - x_k-1)
 *
 * Step by step each x_k is written to memory, and A, D^-1 and b are read again. But row i of x_k+1 depends only
 * on rows i - reach .. i + reach of x_k. So a sweep computes tile after tile, and x_k+1 follows x_k at a
 * distance of `reach` rows. Only the last 2 reach rows of each x_k are kept, in a window. They and the part of
 * A between the first step and the last one stay in the caches (Strout et al. 2004, "Sparse tiling for
 * stationary iterative methods"; Hoemmen 2010, "Communication-avoiding Krylov subspace methods", chapter 2).
 *
 * A thread begins its first steps before its own rows and ends them after, so that threads do not wait for each
 * other: they compute (steps - 1) reach rows on either side twice. Windows hold zeros for rows outside A. */
#include <string.h>

#include "common/precond/polynomial.h"
#include "cpu_dia.h"

enum { tile = CPU_DIA_TILE };
/* A sweep needs at most this part of the rows twice. */
static const double most_twice = 0.25;

typedef struct sweep {
  const ts_matrix *A;
  const cpu_dia *dia;
  const tsi_smoothing *steps;
  int count;
  int32_t reach, rows;
  const float *w, *b;
  int32_t ring;       /* rows of a window, a multiple of the tile */
  float *x, *windows; /* count - 1 windows for each thread */
} sweep;

/* The last rows of an x_k, in a ring of tiles. The first tile follows the last one again, so that any `tile`
 * rows are contiguous. */
typedef struct window {
  float *values;
  int32_t origin; /* the row of the first tile */
} window;

static float *place(const sweep *s, const window *w, int32_t row) {
  return w->values + (row - w->origin) % s->ring;
}

/* Copies a tile behind the ring if it is the first one. */
static void close_ring(const sweep *s, const window *w, int32_t row) {
  if ((row - w->origin) % s->ring < tile) memcpy(w->values + s->ring, w->values, tile * sizeof *w->values);
}

CPU_CLONES static void begin(const sweep *s, int32_t row, size_t count, float *out) {
  const float alpha = s->steps[0].alpha, *w = s->w + row, *b = s->b + row;
  CPU_SIMD
  for (size_t i = 0; i < count; i++) out[i] = alpha * (w[i] * b[i]);
}

CPU_CLONES static void step(const sweep *s, int k, int32_t row, size_t count, const float *sums, const float *x,
                            const float *before, float *out) {
  const float alpha = s->steps[k].alpha, gamma = s->steps[k].gamma, *w = s->w + row, *b = s->b + row;
  CPU_SIMD
  for (size_t i = 0; i < count; i++)
    out[i] = x[i] + alpha * w[i] * (b[i] - sums[i]) + gamma * (x[i] - before[i]);
}

/* Rows of A of x_k+1. */
static void inner(const sweep *s, const window *windows, int k, int32_t row, int32_t count, float *out) {
  const float *columns[TSI_MOST_DIAGONALS];
  float sums[tile];
  if (k == 0) {
    begin(s, row, (size_t)count, out);
    return;
  }
  const window *x = &windows[k - 1];
  for (int t = 0; t < s->dia->count; t++) columns[t] = place(s, x, row + s->dia->offsets[t]);
  cpu_dia_sums(s->dia, columns, row, count, sums);
  step(s, k, row, (size_t)count, sums, place(s, x, row), k > 1 ? place(s, &windows[k - 2], row) : cpu_zeros,
       out);
}

/* Rows `row` .. end - 1 of x_k+1, which may be outside A. They are in one tile. */
static void advance(const sweep *s, const window *windows, int k, int32_t row, int32_t end) {
  const int is_last = k + 1 == s->count;
  const int32_t first = row > 0 ? row : 0, last = end < s->rows ? end : s->rows;
  float *out = is_last ? s->x + row : place(s, &windows[k], row);
  if (!is_last && (first > row || last < end)) memset(out, 0, (size_t)(end - row) * sizeof *out);
  if (first < last) inner(s, windows, k, first, last - first, out + (first - row));
  if (!is_last) close_ring(s, &windows[k], row);
}

static void body_sweep(const void *arguments, size_t part, size_t last_part) {
  const sweep *s = arguments;
  const cpu_matrix *m = s->A->impl;
  const int32_t from = m->part_rows[part], to = m->part_rows[last_part], behind = (s->count - 1) * s->reach;
  window windows[TSI_POLYNOMIAL_MOST];
  for (int k = 0; k + 1 < s->count; k++)
    windows[k] = (window){s->windows + (part * (size_t)(s->count - 1) + (size_t)k) * (size_t)(s->ring + tile),
                          from - behind - k * s->reach};
  for (int32_t front = from - behind; front < to + behind; front += tile)
    for (int k = 0; k < s->count; k++) {
      const int32_t beside = (s->count - 1 - k) * s->reach, row = front - k * s->reach;
      const int32_t first = row > from - beside ? row : from - beside;
      const int32_t end = row + tile < to + beside ? row + tile : to + beside;
      if (first < end) advance(s, windows, k, first, end);
    }
}

ts_status cpu_csr_smooth_all(ts_vector *x, const ts_matrix *A, const tsi_smoothing *steps, int count,
                             int *done) {
  const cpu_matrix *m = A->impl;
  const size_t parts = (size_t)m->parts;
  sweep s = {
      .A = A, .dia = x->components == 1 && count > 1 ? cpu_dia_of(A) : NULL, .steps = steps, .count = count};
  *done = 0;
  if (!s.dia) return TS_OK;
  s.reach = cpu_dia_reach(s.dia), s.rows = m->rows;
  const double twice = (double)parts * (count - 1) * s.reach;
  if (twice > most_twice * s.rows) return TS_OK;
  s.ring = ((2 * s.reach + tile - 1) / tile + 2) * tile;
  s.windows = cpu_dia_windows(A, parts * (size_t)(count - 1) * (size_t)(s.ring + tile));
  if (!s.windows) return TS_OK;
  s.w = cpu_data(steps[0].w), s.b = cpu_data(steps[0].b), s.x = cpu_data(x);
  const size_t work = (2 * (size_t)m->row_offsets[m->rows] + (size_t)m->rows) * (size_t)count;
  cpu_for(A->context, parts, work / parts, body_sweep, &s);
  *done = 1;
  return TS_OK;
}
