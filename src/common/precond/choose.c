/* TS_PRECONDITIONER_AUTO: which preconditioner a matrix gets, before any of them is made.
 *
 * An iteration of conjugate gradients with Jacobi carries a number from a row to those that it is coupled with,
 * so where constants are almost in the null space there are about as many iterations as the matrix is couplings
 * across: some 1.4 times 2 n on a grid of n x n points, 1.2 times 3 n on one of n x n x n, and ten times as
 * many where coefficients jump. AMG costs as much as hundreds of them, set-up included (core/tuning.c).
 * Networks with many rows are few couplings across, and Jacobi solves them soon; it does so too where A is
 * diagonally dominant.
 *
 * A matrix that is not symmetric gets incomplete factors unless Jacobi is sure to be quick: methods for these
 * matrices stagnate sooner than they are slow. One of convection and diffusion gets AMG if it is large, or if
 * its factors are of no use, as those of central differences in a strong wind.
 *
 * On a GPU both solve a million rows in some 20 ms, so the choice takes a small part of that: it looks at a
 * sample of rows and at what lies around some of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/core/core.h"
#include "common/core/ranks.h"
#include "common/layout/layout.h"
#include "common/matrix/operator.h"
#include "preconditioner.h"

enum {
  sample_rows = 2048,
  searches = 15,
  enough = 2048,     /* rows that a search ends with, at the end of a level, */
  most = 2 * enough, /* or within one */
  log2_slots = 13,
  most_factorised = 1 << 23 /* entries: factors are made by one thread of the host */
};
static const double near_null = 1.0 / 512;
/* Where coefficients jump, AMG pays from fewer couplings on. jumps3d, milliseconds with Jacobi and AMG: on two
 * cores 201 and 134 at 75 couplings across, 430 and 251 at 93; on an H200 with CUDA 2.4 and 2.8 at 45, 6.4 and
 * 4.4 at 71, with OpenGL 33 and 29 at 71, 136 and 97 at 113. */
static const double jump = 1000, least_part_of_jumps = 0.125, jumps_weight = 4, enough_with_jumps = 64;

/* ---- A sample of rows ---- */

typedef struct sample {
  int64_t bad;             /* a row that is not positive on the diagonal; -1: none */
  int32_t jumps;           /* rows with a neighbour that has far less on the diagonal */
  int32_t small;           /* rows where |sum_j a_ij| is small beside a_ii, */
  int32_t start[searches]; /* and the first of them */
} sample;

/* Row k of the sample. Multiples of the golden ratio are spread evenly, however many there are, and have no
 * period that a numbering of unknowns could share. */
static int32_t row_of_sample(int32_t rows, int32_t k) {
  return (int32_t)((uint64_t)((uint32_t)k * 2654435769u) * (uint32_t)rows >> 32);
}

/* Columns ascend, and a row may have millions. */
static double diagonal_of(const tsi_host_csr *A, int32_t i) {
  int32_t first = A->row_offsets[i], end = A->row_offsets[i + 1];
  while (first < end) {
    const int32_t middle = first + (end - first) / 2;
    if (A->column_indices[middle] == i) return A->values[middle];
    if (A->column_indices[middle] < i)
      first = middle + 1;
    else
      end = middle;
  }
  return 0;
}

/* Whether row i, with a_ii = `diagonal`, has far more there than the neighbour that it is least coupled with.
 * That is so beside a jump, not where couplings are strong one way and weak another. */
static int is_beside_jump(const tsi_host_csr *A, int32_t i, double diagonal) {
  int32_t weakest = A->row_offsets[i];
  for (int32_t e = weakest; e < A->row_offsets[i + 1]; e++)
    if (fabsf(A->values[e]) < fabsf(A->values[weakest])) weakest = e;
  return diagonal > jump * diagonal_of(A, A->column_indices[weakest]);
}

/* Of the entries that a row has in columns of other ranks. */
static double sum_of_ghosts(const tsi_host_csr *ghosts, int32_t i) {
  double sum = 0;
  for (int32_t e = ghosts ? ghosts->row_offsets[i] : 0; ghosts && e < ghosts->row_offsets[i + 1]; e++)
    sum += ghosts->values[e];
  return sum;
}

static void look_at_rows(const tsi_host_csr *A, const tsi_host_csr *ghosts, sample *s) {
  *s = (sample){.bad = -1};
  for (int32_t k = 0; k < sample_rows; k++) {
    const int32_t i = row_of_sample(A->rows, k);
    const double diagonal = diagonal_of(A, i);
    double sum = sum_of_ghosts(ghosts, i);
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++) sum += A->values[e];
    if (!(diagonal > 0)) {
      s->bad = i;
      return;
    }
    s->jumps += is_beside_jump(A, i, diagonal);
    if (!(fabs(sum) <= near_null * diagonal)) continue;
    if (s->small < searches) s->start[s->small] = i;
    s->small++;
  }
}

/* ---- Couplings ---- */

typedef struct search {
  int32_t seen; /* rows in the queue */
  int32_t queue[most];
  int32_t within[most + 1];       /* so many couplings: rows in the queue */
  int32_t slots[1 << log2_slots]; /* the same rows as a hash table; -1: free */
} search;

static void see(search *s, int32_t row) {
  uint32_t k = (uint32_t)row * 2654435769u >> (32 - log2_slots);
  while (s->slots[k] >= 0 && s->slots[k] != row) k = (k + 1) & ((1 << log2_slots) - 1);
  if (s->slots[k] == row) return;
  s->slots[k] = row;
  s->queue[s->seen++] = row;
}

static void see_neighbours(search *s, const tsi_host_csr *A, int32_t row) {
  for (int32_t e = A->row_offsets[row]; e < A->row_offsets[row + 1] && s->seen < most; e++)
    see(s, A->column_indices[e]);
}

/* Rows within d couplings of `start` are counted until there are enough, a sixteenth of A at most, beyond which
 * its borders count. Where they are N(d) ~ d^p, all rows are within d (rows / N(d))^(1/p) couplings, and A is
 * some 2.8 times as many across: 2.83 on a grid of n x n points, where N = 2 d^2, 3.3 on one of n x n x n,
 * where N = 4/3 d^3, and 2.5 in triangulations. In a network p is large. */
static double couplings_around(search *s, const tsi_host_csr *A, double all_rows, int32_t start) {
  const int32_t part = A->rows / 16, wanted = part < enough ? part : enough;
  memset(s->slots, -1, sizeof s->slots);
  s->seen = 0;
  see(s, start);
  s->within[0] = 1;
  int32_t d = 0;
  for (int32_t at = 0; s->seen < wanted; d++) {
    for (const int32_t end = s->seen; at < end; at++) see_neighbours(s, A, s->queue[at]);
    if (s->seen == s->within[d]) return d; /* a part of its own */
    s->within[d + 1] = s->seen;
  }
  const int32_t half = d / 2;
  const double radius = d + 0.5, inner = half + 0.5, rows = s->within[d];
  const double p = fmax(1, log(rows / s->within[half]) / log(radius / inner));
  return 2.75 * radius * pow(all_rows / rows, 1 / p);
}

/* About how many couplings A is across: the median of searches. */
static ts_status couplings_across(ts_context *context, const tsi_host_csr *A, double all_rows,
                                  const sample *from, double *across) {
  search *s = tsi_malloc(context, 1, sizeof *s);
  if (!s) return tsi_out_of_memory(context, "the choice of a preconditioner", sizeof *s);
  double sorted[searches];
  for (int k = 0; k < searches; k++) {
    const double found = couplings_around(s, A, all_rows, from->start[k]);
    int at = k;
    for (; at > 0 && sorted[at - 1] > found; at--) sorted[at] = sorted[at - 1];
    sorted[at] = found;
  }
  *across = sorted[searches / 2];
  tsi_free(context, s);
  return TS_OK;
}

/* ---- Groups ---- */

static int has_pattern_of_next(const tsi_host_csr *A, int32_t i) {
  const int32_t *offsets = A->row_offsets;
  const int32_t length = offsets[i + 1] - offsets[i];
  return i + 1 < A->rows && length == offsets[i + 2] - offsets[i + 1] &&
         !memcmp(A->column_indices + offsets[i], A->column_indices + offsets[i + 1],
                 (size_t)length * sizeof *A->column_indices);
}

/* Of two unknowns each every second row has that, and more of several; boundaries may take some away. */
static int has_nodes(const tsi_host_csr *A) {
  enum { few = 256 };
  int found = 0;
  for (int32_t k = 0; k < few && A->rows > 0; k++)
    found += has_pattern_of_next(A, row_of_sample(A->rows, k * (sample_rows / few)));
  return found > 0.3 * few;
}

int tsi_preconditioner_has_nodes(const ts_matrix *A) {
  return A->host_copy ? has_nodes(A->host_copy) : A->has_nodes;
}

/* ---- The choice ---- */

/* What the entries tell: of how many samples the numbers are, and how far it is across. */
typedef struct finding {
  int64_t bad;
  int32_t samples, jumps, small;
  double across;
} finding;

/* Ranks look at their own rows, and have all found the same: sums, and the mean of how far it is across of
 * those where it was measured. */
static ts_status join_ranks(const ts_matrix *A, int measured, finding *f) {
  const tsi_ranks_ops *ranks = A->context->ops->ranks;
  double sums[] = {f->samples, f->jumps, f->small, measured ? f->across : 0, measured}, bad = (double)f->bad;
  if (!A->all_rows) return TS_OK;
  TSI_TRY(ranks->add(A->context, sums, 5));
  TSI_TRY(ranks->largest(A->context, &bad, 1));
  *f = (finding){.bad = (int64_t)bad,
                 .samples = (int32_t)sums[0],
                 .jumps = (int32_t)sums[1],
                 .small = (int32_t)sums[2],
                 .across = sums[4] > 0 ? sums[3] / sums[4] : 0};
  return f->bad < 0 ? TS_OK : ranks->name_row(A->row_space, &f->bad);
}

static ts_status look(const ts_matrix *A, finding *f) {
  sample s;
  look_at_rows(A->host_copy, A->host_ghosts, &s);
  const int measured = s.bad < 0 && s.small >= sample_rows / 2;
  *f = (finding){.bad = s.bad, .samples = sample_rows, .jumps = s.jumps, .small = s.small};
  if (measured) TSI_TRY(couplings_across(A->context, A->host_copy, (double)tsi_all_rows(A), &s, &f->across));
  if (A->all_rows && s.bad >= 0) f->bad += A->context->ops->ranks->first_row(A->row_space);
  return join_ranks(A, measured, f);
}

/* How many times as many couplings AMG needs if a solve is to end early: that saves iterations of Jacobi, but
 * no set-up. On a grid of 128 x 128 points, 254 across, Jacobi takes 16, 12 and 4.8 ms to 1e-8, 1e-5 and 1e-2,
 * AMG 14, 11 and 9.5. */
static double looseness(double rtol) {
  static const double usual = 1e-5;
  const double part = log(rtol) / log(usual);
  return rtol > usual && rtol < 1 ? (0.5 + 0.25 * part) / (0.75 * part) : 1;
}

/* From the entries, where all else is for AMG. */
static ts_status choose_by_entries(const ts_matrix *A, double rtol, ts_preconditioner_kind *kind, char *why,
                                   size_t size) {
  finding f;
  TSI_TRY(look(A, &f));
  if (f.bad >= 0) {
    snprintf(why, size, "row %lld is not positive on the diagonal", (long long)f.bad);
  } else if (f.small < f.samples / 2) {
    snprintf(why, size, "constants are far from the null space");
  } else {
    const int jumps = f.jumps >= least_part_of_jumps * f.samples;
    const double usual = A->context->tuning.amg_couplings,
                 least = looseness(rtol) * (jumps ? fmin(usual / jumps_weight, enough_with_jumps) : usual);
    const int is_amg = f.across >= least;
    if (is_amg) *kind = TS_PRECONDITIONER_AMG;
    snprintf(why, size, "%lld rows, a graph diameter of about %.0f%s, %s %.0f", (long long)tsi_all_rows(A),
             f.across, jumps ? ", jumping coefficients" : "", is_amg ? "at least" : "less than", least);
  }
  return TS_OK;
}

/* Whether all rows of the sample have at most nine tenths of their diagonal beside it: Jacobi alone takes some
 * 200 iterations then, and methods a tenth of that. */
static int is_strongly_dominant(const tsi_host_csr *A, const tsi_host_csr *ghosts) {
  for (int32_t k = 0; k < sample_rows && A->rows > 0; k++) {
    const int32_t i = row_of_sample(A->rows, k);
    double sum = 0;
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++) sum += fabs((double)A->values[e]);
    for (int32_t e = ghosts ? ghosts->row_offsets[i] : 0; ghosts && e < ghosts->row_offsets[i + 1]; e++)
      sum += fabs((double)ghosts->values[e]);
    if (!(fabs(diagonal_of(A, i)) * 1.9 > sum)) return 0;
  }
  return 1;
}

int tsi_preconditioner_is_transport(const ts_matrix *A) {
  sample s;
  if (A->info.symmetric || !A->host_copy || A->all_rows || A->row_space->constrained) return 0;
  if (A->info.rows < TSI_AUTO_ROWS) return 0;
  look_at_rows(A->host_copy, NULL, &s);
  return s.bad < 0 && s.small >= sample_rows / 2;
}

/* From the entries of a matrix that is not symmetric. */
static ts_status choose_unsymmetric(const ts_matrix *A, ts_preconditioner_kind *kind, char *why, size_t size) {
  double found[] = {!is_strongly_dominant(A->host_copy, A->host_ghosts), (double)A->info.nonzeros};
  if (A->all_rows) TSI_TRY(A->context->ops->ranks->largest(A->context, found, 2));
  const int has_zero = A->info.zero_diagonal_row >= 0;
  if (found[1] > most_factorised && tsi_preconditioner_is_transport(A)) {
    *kind = TS_PRECONDITIONER_AMG;
    snprintf(why, size,
             "the matrix is not symmetric, its row sums are about 0, and it has more than %d entries",
             most_factorised);
  } else if (found[1] > most_factorised) {
    snprintf(why, size, "the matrix is not symmetric, and has more than %d entries", most_factorised);
  } else if (!has_zero && found[0] == 0) {
    snprintf(why, size, "the matrix is not symmetric, and its diagonal is dominant");
  } else {
    *kind = TS_PRECONDITIONER_ILU;
    snprintf(why, size, "the matrix is not symmetric%s", has_zero ? ", with a zero on the diagonal" : "");
  }
  return TS_OK;
}

ts_preconditioner_kind tsi_preconditioner_choose_diagonal(const ts_matrix *A) {
  return tsi_knows_diagonal(A) && A->info.zero_diagonal_row < 0 ? TS_PRECONDITIONER_JACOBI
                                                                : TS_PRECONDITIONER_NONE;
}

ts_status tsi_preconditioner_choose(const ts_matrix *A, double rtol, ts_preconditioner_kind *kind, char *choice,
                                    size_t size) {
  char why[160];
  const char *text = why;
  *kind = tsi_preconditioner_choose_diagonal(A);
  if (A->kind->has_no_entries)
    snprintf(why, sizeof why, "the matrix is %s", A->kind->has_no_entries);
  else if (!A->info.symmetric && A->host_copy)
    TSI_TRY(choose_unsymmetric(A, kind, why, sizeof why));
  else if (!A->info.symmetric)
    text = A->without_copy[0] ? A->without_copy : "the matrix is not symmetric, and has no host copy";
  else if (A->row_space->constrained)
    text = "the matrix has constrained rows";
  else if (tsi_all_rows(A) < TSI_AUTO_ROWS)
    snprintf(why, sizeof why, "%d rows, less than %d", (int)tsi_all_rows(A), TSI_AUTO_ROWS);
  else if (!A->host_copy)
    text = A->without_copy[0] ? A->without_copy : "the matrix has no host copy";
  else
    TSI_TRY(choose_by_entries(A, rtol, kind, why, sizeof why));
  snprintf(choice, size, "%s: %s", ts_preconditioner_kind_name(*kind), text);
  return TS_OK;
}

const tsi_preconditioner_kind tsi_preconditioner_auto = {
    .kind = TS_PRECONDITIONER_AUTO, .is_from_matrix = 1, .choose = tsi_preconditioner_choose};

ts_status tsi_preconditioner_wants_copy(ts_matrix *A, int *wanted) {
  ts_preconditioner_kind kind;
  char choice[200];
  TSI_TRY(tsi_preconditioner_choose(A, 0, &kind, choice, sizeof choice));
  *wanted = tsi_preconditioner_row(kind)->needs_entries;
  const char *why = strchr(choice, ':');
  if (A->host_copy && A->info.symmetric) A->has_nodes = has_nodes(A->host_copy);
  if (!*wanted && why) snprintf(A->without_copy, sizeof A->without_copy, "%.159s", why + 2);
  return TS_OK;
}
