/* Facts for auto from the entries of a matrix: a sample of rows, and the neighbourhoods of some of them.
 * Finding them takes a small fraction of a solve. */
#include <math.h>
#include <string.h>

#include "common/core/core.h"
#include "common/matrix/csr.h"
#include "common/core/pool.h"
#include "common/core/ranks.h"
#include "common/layout/layout.h"
#include "preconditioner.h"

enum {
  sample_rows = 2048,
  searches = 15,
  enough = 2048,     /* rows after which a search ends, at the end of a level, */
  most = 2 * enough, /* or inside one */
  log2_slots = 13
};
static const double near_null = 1.0 / 512, jump = 1000;

/* ---- Entries ---- */

/* Columns ascend in each row without duplicates. All comparisons use values times `scale`. */
typedef struct view {
  tsi_csr csr;
  const tsi_host_csr *ghosts; /* entries in columns of other ranks; NULL: none */
  double scale;
} view;

static view view_of_copy(const ts_matrix *A) {
  const tsi_host_csr *copy = A->host_copy;
  return (view){.csr = {.rows = copy->rows,
                        .columns = copy->columns,
                        .row_offsets = copy->row_offsets,
                        .column_indices = copy->column_indices,
                        .values = copy->values},
                .ghosts = A->host_ghosts,
                .scale = 1};
}

/* All comparisons are relative, so powers of two do not affect them. This one prevents overflow in sums of
 * doubles. */
static view view_of_given(const tsi_csr *entries, int exponent, int negated) {
  enum { most_scaled = 1000 };
  const int by = exponent > most_scaled ? most_scaled : exponent < -most_scaled ? -most_scaled : exponent;
  return (view){.csr = *entries, .scale = ldexp(negated ? -1 : 1, -by)};
}

static double value_of(const view *v, int32_t e) {
  if (v->csr.values) return v->scale * (double)v->csr.values[e];
  return v->csr.double_values ? v->scale * v->csr.double_values[e] : 0;
}

static int knows_facts(const ts_matrix *A) {
  return A->facts.is_known && A->facts.changes == A->changes;
}

int tsi_preconditioner_knows_entries(const ts_matrix *A) {
  return A->host_copy || knows_facts(A);
}

/* ---- A sample of rows ---- */

typedef struct sample {
  int64_t bad;             /* a row without a positive diagonal; -1: none */
  int32_t jumps;           /* rows with a neighbour of much smaller diagonal */
  int32_t small;           /* rows with |sum_j a_ij| much smaller than a_ii */
  int32_t start[searches]; /* the first of these rows */
} sample;

/* Row k of the sample. Multiples of the golden ratio are evenly distributed for any count. They are aperiodic,
 * so they cannot coincide with a period in the numbering of unknowns. */
static int32_t row_of_sample(int32_t rows, int32_t k) {
  return (int32_t)((uint64_t)((uint32_t)k * 2654435769u) * (uint32_t)rows >> 32);
}

/* Bisection: columns ascend, and a row may have millions. */
static double diagonal_of(const view *v, int32_t i) {
  const tsi_csr *A = &v->csr;
  int32_t first = A->row_offsets[i], end = A->row_offsets[i + 1];
  while (first < end) {
    const int32_t middle = first + (end - first) / 2;
    if (A->column_indices[middle] == i) return value_of(v, middle);
    if (A->column_indices[middle] < i)
      first = middle + 1;
    else
      end = middle;
  }
  return 0;
}

/* Whether a_ii = `diagonal` of row i is much larger than the diagonal of its most weakly coupled neighbour.
 * This holds next to a jump, but not if couplings are strong in one direction and weak in another. */
static int is_beside_jump(const view *v, int32_t i, double diagonal) {
  const tsi_csr *A = &v->csr;
  int32_t weakest = A->row_offsets[i];
  for (int32_t e = weakest; e < A->row_offsets[i + 1]; e++)
    if (fabs(value_of(v, e)) < fabs(value_of(v, weakest))) weakest = e;
  return diagonal > jump * diagonal_of(v, A->column_indices[weakest]);
}

/* The sum of the entries of a row in columns of other ranks. */
static double sum_of_ghosts(const tsi_host_csr *ghosts, int32_t i) {
  double sum = 0;
  for (int32_t e = ghosts ? ghosts->row_offsets[i] : 0; ghosts && e < ghosts->row_offsets[i + 1]; e++)
    sum += ghosts->values[e];
  return sum;
}

static void look_at_rows(const view *v, sample *s) {
  const tsi_csr *A = &v->csr;
  *s = (sample){.bad = -1};
  for (int32_t k = 0; k < sample_rows; k++) {
    const int32_t i = row_of_sample(A->rows, k);
    const double diagonal = diagonal_of(v, i);
    double sum = sum_of_ghosts(v->ghosts, i);
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++) sum += value_of(v, e);
    if (!(diagonal > 0)) {
      s->bad = i;
      return;
    }
    s->jumps += is_beside_jump(v, i, diagonal);
    if (!(fabs(sum) <= near_null * diagonal)) continue;
    if (s->small < searches) s->start[s->small] = i;
    s->small++;
  }
}

/* ---- Couplings ---- */

typedef struct search {
  int32_t seen; /* rows in the queue */
  int32_t queue[most];
  int32_t within[most + 1];       /* number of couplings -> rows in the queue */
  int32_t slots[1 << log2_slots]; /* the same rows as a hash table; -1: free */
} search;

static void see(search *s, int32_t row) {
  uint32_t k = (uint32_t)row * 2654435769u >> (32 - log2_slots);
  while (s->slots[k] >= 0 && s->slots[k] != row) k = (k + 1) & ((1 << log2_slots) - 1);
  if (s->slots[k] == row) return;
  s->slots[k] = row;
  s->queue[s->seen++] = row;
}

static void see_neighbours(search *s, const tsi_csr *A, int32_t row) {
  for (int32_t e = A->row_offsets[row]; e < A->row_offsets[row + 1] && s->seen < most; e++)
    see(s, A->column_indices[e]);
}

/* Counts the rows within d couplings of `start` until there are enough. The limit is a sixteenth of A, because
 * the borders of A affect larger counts. If N(d) ~ d^p rows are within d couplings, all rows are within d (rows
 * / N(d))^(1/p). The graph diameter is some 2.8 times that: 2.83 on a grid of n x n points (N = 2 d^2), 3.3 on
 * one of n x n x n (N = 4/3 d^3), 2.5 in triangulations. In a network p is large. */
static double couplings_around(search *s, const tsi_csr *A, double all_rows, int32_t start, double *growth) {
  const int32_t part = A->rows / 16, wanted = part < enough ? part : enough;
  memset(s->slots, -1, sizeof s->slots);
  s->seen = 0;
  see(s, start);
  s->within[0] = 1;
  *growth = 1;
  int32_t d = 0;
  for (int32_t at = 0; s->seen < wanted; d++) {
    for (const int32_t end = s->seen; at < end; at++) see_neighbours(s, A, s->queue[at]);
    if (s->seen == s->within[d]) return d; /* an isolated part */
    s->within[d + 1] = s->seen;
  }
  const int32_t half = d / 2;
  const double radius = d + 0.5, inner = half + 0.5, rows = s->within[d];
  const double p = *growth = fmax(1, log(rows / s->within[half]) / log(radius / inner));
  return 2.75 * radius * pow(all_rows / rows, 1 / p);
}

typedef struct searching {
  const tsi_csr *A;
  const int32_t *start;
  double all_rows;
  search *each;
  double *found, *growth;
} searching;

static void run_searches(const void *arguments, size_t first, size_t last) {
  const searching *s = arguments;
  for (size_t k = first; k < last; k++)
    s->found[k] = couplings_around(&s->each[k], s->A, s->all_rows, s->start[k], &s->growth[k]);
}

static double median(const double *found) {
  double sorted[searches];
  for (int k = 0; k < searches; k++) {
    int at = k;
    for (; at > 0 && sorted[at - 1] > found[k]; at--) sorted[at] = sorted[at - 1];
    sorted[at] = found[k];
  }
  return sorted[searches / 2];
}

/* Estimates the graph diameter of A and the growth of neighbourhoods: the medians of the searches. */
static ts_status couplings_across(ts_context *context, const tsi_csr *A, double all_rows, const sample *from,
                                  tsi_couplings *f) {
  double found[searches], growth[searches];
  const searching s = {A, from->start, all_rows, tsi_malloc(context, searches, sizeof *s.each), found, growth};
  if (!s.each) return tsi_out_of_memory(context, "the choice of a preconditioner", searches * sizeof *s.each);
  tsi_parallel(context, searches, run_searches, &s);
  tsi_free(context, s.each);
  f->across = median(found);
  f->growth = median(growth);
  return TS_OK;
}

/* Combines the facts of the ranks, each of its own rows, so that all ranks have the same result: the sums, and
 * the mean diameter and growth of the ranks that measured them. */
static ts_status join_ranks(const ts_matrix *A, int measured, tsi_couplings *f) {
  const tsi_ranks_ops *ranks = A->context->ops->ranks;
  double sums[] = {f->samples, f->jumps, f->small, f->across, f->growth, measured, f->entries};
  double bad = (double)f->bad;
  if (!A->all_rows) return TS_OK;
  TSI_TRY(ranks->add(A->context, sums, 7));
  TSI_TRY(ranks->largest(A->context, &bad, 1));
  *f = (tsi_couplings){.bad = (int64_t)bad,
                       .samples = (int32_t)sums[0],
                       .jumps = (int32_t)sums[1],
                       .small = (int32_t)sums[2],
                       .across = sums[5] > 0 ? sums[3] / sums[5] : 0,
                       .growth = sums[5] > 0 ? sums[4] / sums[5] : 0,
                       .entries = sums[6]};
  return f->bad < 0 ? TS_OK : ranks->name_row(A->row_space, &f->bad);
}

static ts_status look(const ts_matrix *A, const view *v, tsi_couplings *f) {
  sample s;
  look_at_rows(v, &s);
  const int measured = s.bad < 0 && s.small >= sample_rows / 2;
  *f = (tsi_couplings){.bad = s.bad, .samples = sample_rows, .jumps = s.jumps, .small = s.small};
  f->entries = (double)A->info.nonzeros;
  if (measured) TSI_TRY(couplings_across(A->context, &v->csr, (double)tsi_all_rows(A), &s, f));
  if (A->all_rows && s.bad >= 0) f->bad += A->context->ops->ranks->first_row(A->row_space);
  return join_ranks(A, measured, f);
}

ts_status tsi_preconditioner_couplings(const ts_matrix *A, tsi_couplings *couplings) {
  *couplings = A->facts.couplings;
  if (!A->host_copy) return TS_OK;
  const view v = view_of_copy(A);
  return look(A, &v, couplings);
}

/* ---- Matrices that are not symmetric ---- */

static int is_dominant(const view *v) {
  const tsi_csr *A = &v->csr;
  const tsi_host_csr *ghosts = v->ghosts;
  for (int32_t k = 0; k < sample_rows && A->rows > 0; k++) {
    const int32_t i = row_of_sample(A->rows, k);
    double sum = 0;
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++) sum += fabs(value_of(v, e));
    for (int32_t e = ghosts ? ghosts->row_offsets[i] : 0; ghosts && e < ghosts->row_offsets[i + 1]; e++)
      sum += fabs((double)ghosts->values[e]);
    if (!(fabs(diagonal_of(v, i)) * 1.9 > sum)) return 0;
  }
  return 1;
}

int tsi_preconditioner_is_dominant(const ts_matrix *A) {
  if (!A->host_copy) return A->facts.is_dominant;
  const view v = view_of_copy(A);
  return is_dominant(&v);
}

static int is_transport(const ts_matrix *A, const view *v) {
  sample s;
  if (A->info.symmetric || A->all_rows || A->row_space->constrained || A->info.rows < TSI_AUTO_ROWS) return 0;
  look_at_rows(v, &s);
  return s.bad < 0 && s.small >= sample_rows / 2;
}

int tsi_preconditioner_is_transport(const ts_matrix *A) {
  if (!A->host_copy) return knows_facts(A) && A->facts.is_transport;
  const view v = view_of_copy(A);
  return is_transport(A, &v);
}

/* ---- Groups ---- */

static int has_pattern_of_next(const tsi_csr *A, int32_t i) {
  const int32_t *offsets = A->row_offsets;
  const int32_t length = offsets[i + 1] - offsets[i];
  return i + 1 < A->rows && length == offsets[i + 2] - offsets[i + 1] &&
         !memcmp(A->column_indices + offsets[i], A->column_indices + offsets[i + 1],
                 (size_t)length * sizeof *A->column_indices);
}

/* With two unknowns per node every second row has the pattern of the next, and more rows with more unknowns.
 * Boundaries may reduce the number. */
static int has_nodes(const tsi_csr *A) {
  enum { few = 256 };
  int found = 0;
  for (int32_t k = 0; k < few && A->rows > 0; k++)
    found += has_pattern_of_next(A, row_of_sample(A->rows, k * (sample_rows / few)));
  return found > 0.3 * few;
}

int tsi_preconditioner_has_nodes(const ts_matrix *A) {
  if (!A->host_copy) return A->has_nodes;
  const view v = view_of_copy(A);
  return has_nodes(&v.csr);
}

int tsi_preconditioner_on_diagonals(const ts_matrix *A) {
  int32_t offsets[TSI_MOST_DIAGONALS];
  if (A->all_rows || A->device_values || A->info.format != TS_FORMAT_CSR) return 0;
  if (!A->host_copy) return A->on_diagonals;
  return tsi_csr_diagonals(A->host_copy->rows, A->host_copy->row_offsets, A->host_copy->column_indices,
                           offsets);
}

/* ---- Cached facts ---- */

static ts_status find(ts_matrix *A, const view *v, tsi_entry_facts *facts) {
  if (!A->info.symmetric) {
    facts->is_dominant = is_dominant(v);
    facts->is_transport = is_transport(A, v);
    return TS_OK;
  }
  int32_t offsets[TSI_MOST_DIAGONALS];
  A->has_nodes = has_nodes(&v->csr);
  A->on_diagonals = tsi_csr_diagonals(v->csr.rows, v->csr.row_offsets, v->csr.column_indices, offsets);
  return A->info.rows < TSI_AUTO_ROWS ? TS_OK : look(A, v, &facts->couplings);
}

ts_status tsi_preconditioner_find_facts(ts_matrix *A, const tsi_csr *entries, int exponent, int negated) {
  const view v = view_of_given(entries, exponent, negated);
  tsi_entry_facts facts = {.changes = A->changes};
  A->facts.is_known = 0;
  if (!A->has_diagonal || A->all_rows || A->row_space->constrained) return TS_OK;
  if (!entries->values && !entries->double_values) return TS_OK;
  TSI_TRY(find(A, &v, &facts));
  facts.is_known = 1;
  A->facts = facts;
  return TS_OK;
}
