/* Multifrontal Cholesky: see factor.h. The front of a part has its pivots first, then the border: later nodes
 * that the part is connected to. Its matrix is dense, by columns, with the lower triangle only. */
#include "factor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dissect.h"

enum { block = 32, between_reports = 64 };

typedef struct front {
  int32_t pivots, size; /* unknowns, two per node */
  int32_t *nodes;       /* of the front, in the order of elimination */
  double *panel;        /* the pivots' columns of the factor */
  double *update;       /* the border's matrix, until the parent has added it */
} front;

struct factor {
  dissection d;
  front *fronts; /* of each part */
};

typedef struct builder {
  const factor_problem *problem;
  factor *f;
  int32_t *local; /* of each node: its number in the present front, or -1 */
  int32_t *list;  /* nodes of the present front */
} builder;

/* ---- The nodes of the fronts ---- */

static int compare_places(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static void add_node(builder *b, int32_t place, int32_t end, int32_t *count) {
  if (place < end || b->local[place] >= 0) return;
  b->local[place] = 0;
  b->list[(*count)++] = place;
}

/* Lists the places of a front: the pivots, then the border, which comes from the pivots' neighbours and the
 * children. */
static int list_front(builder *b, int32_t number) {
  const factor_problem *p = b->problem;
  const dissection *d = &b->f->d;
  const dissection_part *part = &d->parts[number];
  front *f = &b->f->fronts[number];
  int32_t count = 0;
  for (int32_t at = part->pivots; at < part->end; at++) {
    const size_t node = (size_t)d->order[at];
    for (int32_t k = p->row_offsets[2 * node]; k < p->row_offsets[2 * node + 2]; k++)
      add_node(b, d->place[p->columns[k] / 2], part->end, &count);
  }
  for (int c = 0; c < 2; c++) {
    const front *child = part->children[c] >= 0 ? &b->f->fronts[part->children[c]] : NULL;
    for (int32_t k = child ? child->pivots / 2 : 0; child && k < child->size / 2; k++)
      add_node(b, child->nodes[k], part->end, &count);
  }
  for (int32_t k = 0; k < count; k++) b->local[b->list[k]] = -1;
  qsort(b->list, (size_t)count, sizeof *b->list, compare_places);
  const int32_t pivots = part->end - part->pivots;
  f->pivots = 2 * pivots;
  f->size = 2 * (pivots + count);
  f->nodes = malloc(((size_t)pivots + (size_t)count + 1) * sizeof *f->nodes);
  if (!f->nodes) return 0;
  for (int32_t k = 0; k < pivots; k++) f->nodes[k] = part->pivots + k;
  memcpy(f->nodes + pivots, b->list, (size_t)count * sizeof *f->nodes);
  return 1;
}

/* ---- Dense arithmetic ---- */

/* column -= the columns of `from` times the factors, for rows from `row` on. Four columns at once. */
static void subtract_columns(double *restrict column, const double *restrict from, size_t stride,
                             const double *factors, size_t factor_stride, int32_t columns, int32_t row,
                             int32_t rows) {
  int32_t k = 0;
  for (; k + 4 <= columns; k += 4) {
    const double *restrict a = from + (size_t)k * stride, *restrict b = a + stride, *restrict c = b + stride;
    const double *restrict d = c + stride, *s = factors + (size_t)k * factor_stride;
    const double p = s[0], q = s[factor_stride], r = s[2 * factor_stride], t = s[3 * factor_stride];
    for (int32_t i = row; i < rows; i++) column[i] -= p * a[i] + q * b[i] + r * c[i] + t * d[i];
  }
  for (; k < columns; k++) {
    const double *restrict a = from + (size_t)k * stride;
    const double p = factors[(size_t)k * factor_stride];
    for (int32_t i = row; i < rows; i++) column[i] -= p * a[i];
  }
}

/* Eliminates the first `pivots` columns of a dense matrix. Returns 0 if a pivot is not positive. */
static int eliminate(double *matrix, int32_t size, int32_t pivots) {
  const size_t stride = (size_t)size;
  for (int32_t first = 0; first < pivots; first += block) {
    const int32_t end = pivots - first < block ? pivots : first + block;
    double *panel = matrix + (size_t)first * stride;
    for (int32_t j = first; j < end; j++) {
      double *column = matrix + (size_t)j * stride;
      const double before = column[j];
      subtract_columns(column, panel, stride, panel + j, stride, j - first, j, size);
      if (!(column[j] > 1e-15 * before)) return 0;
      const double root = sqrt(column[j]);
      column[j] = root;
      for (int32_t i = j + 1; i < size; i++) column[i] /= root;
    }
    for (int32_t j = end; j < size; j++)
      subtract_columns(matrix + (size_t)j * stride, panel, stride, panel + j, stride, end - first, j, size);
  }
  return 1;
}

/* ---- Fronts ---- */

/* Adds the matrix's entries in the columns of the pivots. */
static void add_entries(const builder *b, const front *f, double *matrix) {
  const factor_problem *p = b->problem;
  const dissection *d = &b->f->d;
  for (int32_t column = 0; column < f->pivots; column++) {
    const size_t row = 2 * (size_t)d->order[f->nodes[column / 2]] + (size_t)(column % 2);
    for (int32_t k = p->row_offsets[row]; k < p->row_offsets[row + 1]; k++) {
      const int32_t local = b->local[d->place[p->columns[k] / 2]];
      const int32_t to = 2 * local + p->columns[k] % 2;
      if (local >= 0 && to >= column) matrix[(size_t)column * (size_t)f->size + (size_t)to] += p->values[k];
    }
  }
}

/* Adds the update of a child, and frees it. */
static void add_update(const builder *b, const front *f, front *child, double *matrix) {
  const int32_t border = child->size - child->pivots;
  const int32_t *nodes = child->nodes + child->pivots / 2;
  for (int32_t j = 0; j < border && child->update; j++) {
    const int32_t column = 2 * b->local[nodes[j / 2]] + j % 2;
    const double *from = child->update + (size_t)j * (size_t)border;
    double *to = matrix + (size_t)column * (size_t)f->size;
    for (int32_t i = j; i < border; i++) to[2 * b->local[nodes[i / 2]] + i % 2] += from[i];
  }
  free(child->update);
  child->update = NULL;
}

/* Copies the border's matrix out of the front, and keeps the columns of the pivots. */
static int keep_parts(front *f, double *matrix) {
  const size_t size = (size_t)f->size, pivots = (size_t)f->pivots, border = size - pivots;
  f->update = border ? malloc(border * border * sizeof *f->update) : NULL;
  if (border && !f->update) return 0;
  for (size_t j = 0; j < border; j++)
    memcpy(f->update + j * border + j, matrix + (pivots + j) * size + pivots + j,
           (border - j) * sizeof *matrix);
  double *panel = realloc(matrix, (pivots * size + 1) * sizeof *panel);
  f->panel = panel ? panel : matrix;
  return 1;
}

static factor_outcome build_front(builder *b, int32_t number) {
  front *f = &b->f->fronts[number];
  const dissection_part *part = &b->f->d.parts[number];
  double *matrix = calloc((size_t)f->size * (size_t)f->size + 1, sizeof *matrix);
  if (!matrix) return FACTOR_NO_MEMORY;
  for (int32_t k = 0; k < f->size / 2; k++) b->local[f->nodes[k]] = k;
  add_entries(b, f, matrix);
  for (int c = 0; c < 2; c++)
    if (part->children[c] >= 0) add_update(b, f, &b->f->fronts[part->children[c]], matrix);
  for (int32_t k = 0; k < f->size / 2; k++) b->local[f->nodes[k]] = -1;
  if (!eliminate(matrix, f->size, f->pivots)) {
    free(matrix);
    return FACTOR_INDEFINITE;
  }
  if (keep_parts(f, matrix)) return FACTOR_SOLVED;
  free(matrix);
  return FACTOR_NO_MEMORY;
}

static int stops(const factor_problem *p) {
  const ts_progress progress = {.relative_residual = NAN};
  return p->progress && p->progress(&progress, p->progress_user);
}

static factor_outcome build(builder *b) {
  const dissection *d = &b->f->d;
  double numbers = 0;
  for (int32_t k = 0; k < d->part_count; k++) {
    if (!list_front(b, k)) return FACTOR_NO_MEMORY;
    const double size = b->f->fronts[k].size;
    numbers += size * b->f->fronts[k].pivots;
    if (numbers > b->problem->most || size * size > b->problem->most) return FACTOR_TOO_LARGE;
  }
  for (int32_t k = 0; k < d->part_count; k++) {
    const factor_outcome outcome = build_front(b, k);
    if (outcome != FACTOR_SOLVED) return outcome;
    if (k % between_reports == 0 && stops(b->problem)) return FACTOR_STOPPED;
  }
  return FACTOR_SOLVED;
}

factor_outcome factor_create(const factor_problem *problem, factor **out) {
  factor_outcome outcome = FACTOR_NO_MEMORY;
  const size_t nodes = (size_t)problem->nodes;
  factor *f = calloc(1, sizeof *f);
  builder b = {problem, f, malloc(nodes * sizeof *b.local), malloc(nodes * sizeof *b.list)};
  *out = NULL;
  if (f && b.local && b.list &&
      dissection_create(&f->d, problem->nodes, problem->positions, problem->row_offsets, problem->columns)) {
    memset(b.local, 0xff, nodes * sizeof *b.local);
    f->fronts = calloc((size_t)f->d.part_count, sizeof *f->fronts);
    if (f->fronts) outcome = build(&b);
  }
  free(b.local);
  free(b.list);
  if (outcome == FACTOR_SOLVED)
    *out = f;
  else
    factor_destroy(f);
  return outcome;
}

void factor_destroy(factor *f) {
  if (!f) return;
  for (int32_t k = 0; f->fronts && k < f->d.part_count; k++) {
    free(f->fronts[k].nodes);
    free(f->fronts[k].panel);
    free(f->fronts[k].update);
  }
  free(f->fronts);
  dissection_free(&f->d);
  free(f);
}

/* ---- Solving ---- */

static size_t row_of(const factor *f, const front *g, int32_t local) {
  return 2 * (size_t)f->d.order[g->nodes[local / 2]] + (size_t)(local % 2);
}

void factor_solve(const factor *f, double *x) {
  for (int32_t k = 0; k < f->d.part_count; k++) { /* L y = b */
    const front *g = &f->fronts[k];
    for (int32_t j = 0; j < g->pivots; j++) {
      const double *column = g->panel + (size_t)j * (size_t)g->size;
      const double y = x[row_of(f, g, j)] / column[j];
      x[row_of(f, g, j)] = y;
      for (int32_t i = j + 1; i < g->size; i++) x[row_of(f, g, i)] -= column[i] * y;
    }
  }
  for (int32_t k = f->d.part_count - 1; k >= 0; k--) { /* L^T x = y */
    const front *g = &f->fronts[k];
    for (int32_t j = g->pivots - 1; j >= 0; j--) {
      const double *column = g->panel + (size_t)j * (size_t)g->size;
      double sum = x[row_of(f, g, j)];
      for (int32_t i = j + 1; i < g->size; i++) sum -= column[i] * x[row_of(f, g, i)];
      x[row_of(f, g, j)] = sum / column[j];
    }
  }
}
