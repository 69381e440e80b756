/* The smoothed prolongator, from the next level to this one (Vanek, Mandel, Brezina 1996, section 3). */
#include <math.h>
#include <string.h>

#include "amg_filter.h"
#include "amg_row.h"

typedef struct smoothing {
  tsi_amg_host_level *level;
  tsi_amg_range own; /* the rows that bounds and sums are of */
  int parts;
  tsi_amg_row *rows;   /* per part */
  size_t *sizes;       /* per part: the maximum entries of P */
  double (*bounds)[3]; /* per part: row sums of D^-1 A and of D_F^-1 A_F; rows with a positive coupling */
  double *diagonal;    /* of A_F, if a node has one unknown; 0: not positive */
  double positive;     /* rows with a positive coupling */
  double filtered_bound;
  double omega;
  tsi_amg_target P;
  int32_t reach; /* see tsi_amg_reach() */
  double (
      *reached)[2]; /* of each part's rows: the aggregates that they reach, summed over rows and over entries */
  double sums[4];   /* for tsi_amg_reach() */
} smoothing;

/* The sum of magnitudes of a row of A_F. */
static inline double filtered_sum(const tsi_amg_host_level *level, int32_t unknowns, int32_t i,
                                  const tsi_amg_filtered *f) {
  const tsi_amg_csr *A = &level->A;
  if (!f->weak) return f->sum;
  double sum = 0;
  for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
    const int32_t j = A->indices[e];
    const double a = (double)A->values[e];
    if (level->strong[e] == TSI_AMG_STRONG)
      sum += fabs(j / unknowns == i / unknowns ? a + f->added[j % unknowns] : a);
  }
  return sum;
}

/* Functions that divide by the number of unknowns are also compiled for one unknown. */
static inline void row_bounds(const smoothing *s, int32_t unknowns, int32_t i, double *bounds) {
  const tsi_amg_filtered f = tsi_amg_filter_row(s->level, unknowns, i);
  if (unknowns == 1) s->diagonal[i] = f.diagonal;
  if (f.diagonal == 0 || i < s->own.begin || i >= s->own.end) return;
  bounds[2] += f.positive;
  bounds[0] = tsi_amg_larger(f.sum / f.own, bounds[0]);
  bounds[1] = tsi_amg_larger(filtered_sum(s->level, unknowns, i, &f) / f.diagonal, bounds[1]);
}

static void find_bounds(const void *arguments, size_t first, size_t last) {
  const smoothing *s = arguments;
  const int32_t unknowns = s->level->unknowns, rows = s->level->A.rows;
  for (size_t p = first; p < last; p++) {
    double bounds[3] = {0};
    const int32_t end = tsi_amg_begin(rows, p + 1, s->parts);
    for (int32_t i = tsi_amg_begin(rows, p, s->parts); i < end; i++) {
      tsi_poll_rows(i);
      if (unknowns == 1)
        row_bounds(s, 1, i, bounds);
      else
        row_bounds(s, unknowns, i, bounds);
    }
    memcpy(s->bounds[p], bounds, sizeof bounds);
  }
}

/* Replaces the accumulated sums by the row of T. */
static void keep_tentative(const tsi_amg_host_level *level, int32_t i, tsi_amg_row *row) {
  const int32_t vectors = level->vectors, aggregate = level->aggregates[i / level->unknowns];
  for (int32_t c = 0; c < row->count; c++) {
    int32_t *place = row->places + row->nodes[c];
    memset(row->sums + *place, 0, (size_t)vectors * sizeof *row->sums);
    *place = -1;
  }
  row->count = 0;
  if (aggregate < 0) return;
  double *sums = tsi_amg_find(row, vectors, aggregate);
  for (int32_t v = 0; v < vectors; v++)
    sums[v] = (double)level->tentative[(size_t)i * (size_t)vectors + (size_t)v];
}

/* Computes row i of P. *reached is the number of aggregates it reaches; above s->reach it is a lower bound. */
static inline int32_t fill_row(const smoothing *s, int32_t unknowns, int32_t vectors, int32_t i,
                               tsi_amg_row row, size_t to, int32_t *reached) {
  const tsi_amg_host_level *level = s->level;
  const tsi_amg_csr *A = &level->A;
  tsi_amg_filtered f = {.diagonal = 0};
  if (unknowns > 1) f = tsi_amg_filter_row(level, unknowns, i);
  const double diagonal = unknowns == 1 ? s->diagonal[i] : f.diagonal;
  const double scale = diagonal > 0 ? s->omega / diagonal : 0;
  tsi_amg_row_begin(&row, vectors, &s->P, i);
  for (int32_t e = A->offsets[i]; e < A->offsets[i + 1] && row.count <= s->reach; e++) {
    if (level->strong[e] != TSI_AMG_STRONG) continue;
    const int32_t j = A->indices[e], aggregate = level->aggregates[j / unknowns];
    if (aggregate < 0) continue;
    const double more = unknowns > 1 && j / unknowns == i / unknowns ? f.added[j % unknowns] : 0;
    const double value = (double)(float)(j == i ? 1 - s->omega : -scale * ((double)A->values[e] + more));
    const float *t = level->tentative + (size_t)j * (size_t)vectors;
    double *sums = tsi_amg_find(&row, vectors, aggregate);
    for (int32_t v = 0; v < vectors; v++) sums[v] += value * (double)t[v];
  }
  *reached = row.count;
  if (row.count > s->reach) keep_tentative(level, i, &row);
  return tsi_amg_row_write(row, vectors, s->P.indices + to, s->P.values + to);
}

static void fill(const void *arguments, size_t first, size_t last) {
  const smoothing *s = arguments;
  const tsi_amg_host_level *level = s->level;
  const int32_t unknowns = level->unknowns, vectors = level->vectors, rows = level->A.rows;
  for (size_t p = first; p < last; p++) {
    size_t to = tsi_amg_target_begin(&s->P, p, s->parts);
    const int32_t end = tsi_amg_begin(rows, p + 1, s->parts);
    double all = 0, by_entries = 0;
    for (int32_t i = tsi_amg_begin(rows, p, s->parts); i < end; i++) {
      int32_t reached;
      tsi_poll_rows(i);
      const int32_t entries = unknowns == 1 && vectors == 1
                                  ? fill_row(s, 1, 1, i, s->rows[p], to, &reached)
                                  : fill_row(s, unknowns, vectors, i, s->rows[p], to, &reached);
      tsi_amg_target_note(&s->P, i, entries);
      to += (size_t)entries;
      if (i < s->own.begin || i >= s->own.end) continue;
      all += reached;
      by_entries += (double)reached * (level->A.offsets[i + 1] - level->A.offsets[i]);
    }
    s->reached[p][0] = all;
    s->reached[p][1] = by_entries;
  }
}

static ts_status assemble(ts_context *context, smoothing *s) {
  tsi_amg_host_level *level = s->level;
  const int32_t nodes = level->aggregate_count + level->ghost_aggregates;
  return tsi_amg_assemble(context, level->A.rows, nodes * level->vectors, s->parts, s->sizes, &level->P, &s->P,
                          fill, s);
}

/* Computes S T with this limit, and the sums of own rows. */
static ts_status assemble_with(ts_context *context, smoothing *s, int32_t reach) {
  const int32_t *offsets = s->level->A.offsets;
  s->reach = reach;
  TSI_TRY(assemble(context, s));
  s->sums[0] = s->own.end - s->own.begin;
  s->sums[1] = offsets[s->own.end] - offsets[s->own.begin];
  s->sums[2] = s->sums[3] = 0;
  for (int p = 0; p < s->parts; p++)
    for (int k = 0; k < 2; k++) s->sums[2 + k] += s->reached[p][k];
  return TS_OK;
}

/* Computes S T in a new pattern that hubs cannot make dense. */
static ts_status smooth_once(ts_context *context, smoothing *s) {
  tsi_amg_host_level *level = s->level;
  TSI_TRY(assemble_with(context, s, TSI_AMG_REACH));
  TSI_TRY(tsi_amg_add_up(context, level, s->sums, 4));
  s->reach = tsi_amg_reach(s->sums);
  if (s->reach == TSI_AMG_REACH) return TS_OK;
  tsi_amg_csr_free(context, &level->P);
  return assemble(context, s);
}

/* Decides whether a level with P = S T needs S^2 T. */
static ts_status decide(ts_context *context, const smoothing *s) {
  tsi_amg_host_level *level = s->level;
  const double rows = level->A.rows;
  if (level->unknowns > 1 || level->vectors > 1 || level->halo || level->is_unsymmetric) return TS_OK;
  if (s->reach != TSI_AMG_REACH) return TS_OK;
  if (level->energies == 0 && tsi_amg_wants_energies(rows, s->positive, level->aggregate_count))
    TSI_TRY(tsi_amg_energies(context, level, s->diagonal));
  level->smooths_twice = tsi_amg_smooths_twice(level->energies, rows, level->aggregate_count);
  return TS_OK;
}

static ts_status smooth(ts_context *context, smoothing *s) {
  tsi_amg_host_level *level = s->level;
  TSI_TRY(smooth_once(context, s));
  TSI_TRY(tsi_poll(context));
  TSI_TRY(decide(context, s));
  if (!level->smooths_twice) return TS_OK;
  tsi_amg_csr once = level->P;
  level->P = (tsi_amg_csr){0};
  const ts_status status = tsi_amg_smooth_again(context, level, s->diagonal, s->omega, &once, &level->P);
  tsi_amg_csr_free(context, &once);
  return status;
}

/* Recomputes S T if P is S^2 T, because S T was not kept. */
static ts_status make_smoothing(ts_context *context, smoothing *s) {
  tsi_amg_host_level *level = s->level;
  if (!level->smooths_twice) return tsi_amg_smoothing_create(context, level, NULL);
  const tsi_amg_csr P = level->P;
  level->P = (tsi_amg_csr){0};
  ts_status status = smooth_once(context, s);
  tsi_amg_csr once = level->P;
  level->P = P;
  if (status == TS_OK) status = tsi_amg_smoothing_create(context, level, &once);
  tsi_amg_csr_free(context, &once);
  return status;
}

static ts_status smooth_in_pattern(ts_context *context, smoothing *s) {
  if (!s->level->smoothing) TSI_TRY(make_smoothing(context, s));
  tsi_amg_smooth_values(context, s->level, s->diagonal, s->omega);
  return TS_OK;
}

/* Computes the bounds, `positive`, and the diagonal of A_F if a node has one unknown. */
static void bound(const ts_context *context, smoothing *s) {
  tsi_amg_host_level *level = s->level;
  tsi_parallel(context, (size_t)s->parts, find_bounds, s);
  s->filtered_bound = level->bound = s->positive = 0;
  for (size_t p = 0; p < (size_t)s->parts; p++) {
    level->bound = fmax(level->bound, s->bounds[p][0]);
    s->filtered_bound = fmax(s->filtered_bound, s->bounds[p][1]);
    s->positive += s->bounds[p][2];
  }
}

static void find_sizes(const smoothing *s) {
  const tsi_amg_host_level *level = s->level;
  for (size_t p = 0; p < (size_t)s->parts; p++) {
    const int32_t *offsets = level->A.offsets, rows = level->A.rows;
    const int32_t entries =
        offsets[tsi_amg_begin(rows, p + 1, s->parts)] - offsets[tsi_amg_begin(rows, p, s->parts)];
    s->sizes[p] = (size_t)entries * (size_t)level->vectors;
  }
}

static ts_status compute(ts_context *context, smoothing *s) {
  tsi_amg_host_level *level = s->level;
  bound(context, s);
  TSI_TRY(tsi_amg_largest(context, level, &level->bound, 1));
  TSI_TRY(tsi_amg_largest(context, level, &s->filtered_bound, 1));
  if (level->is_unsymmetric)
    level->eigenvalue = level->bound;
  else
    TSI_TRY(tsi_amg_eigenvalue(context, level));
  TSI_TRY(tsi_poll(context));
  s->omega = tsi_amg_omega(level->eigenvalue, level->bound, s->filtered_bound);
  find_sizes(s);
  return level->P.offsets ? smooth_in_pattern(context, s) : smooth(context, s);
}

typedef ts_status amg_prolong_body(ts_context *context, smoothing *s);

/* Allocates the workspace. */
static ts_status with_workspace(ts_context *context, tsi_amg_host_level *level, smoothing *given,
                                amg_prolong_body *body) {
  smoothing s = *given;
  s.level = level;
  TSI_TRY(tsi_threads(context, &s.parts));
  const size_t parts = (size_t)s.parts, rows = level->unknowns == 1 ? (size_t)level->A.rows : 0;
  const int32_t nodes = level->aggregate_count + level->ghost_aggregates;
  TSI_TRY(tsi_amg_rows_create(context, s.parts, nodes, level->vectors, &s.rows));
  s.sizes = tsi_malloc(context, parts, sizeof *s.sizes);
  s.bounds = tsi_malloc(context, parts, sizeof *s.bounds);
  s.diagonal = tsi_malloc(context, rows, sizeof *s.diagonal);
  s.reached = tsi_malloc(context, parts, sizeof *s.reached);
  const ts_status status = s.sizes && s.bounds && s.diagonal && s.reached
                               ? body(context, &s)
                               : tsi_out_of_memory(context, "a prolongator of amg", rows * sizeof *s.diagonal);
  tsi_amg_rows_free(context, s.rows);
  tsi_free(context, s.sizes);
  tsi_free(context, s.bounds);
  tsi_free(context, s.diagonal);
  tsi_free(context, s.reached);
  *given = s;
  return status;
}

ts_status tsi_amg_smooth(ts_context *context, tsi_amg_host_level *level) {
  smoothing s = {.own = {0, level->A.rows}};
  return with_workspace(context, level, &s, compute);
}

/* ---- Parts with a window of the rows each ---- */

static ts_status estimate(ts_context *context, smoothing *s) {
  bound(context, s);
  return tsi_amg_eigenvalue(context, s->level);
}

ts_status tsi_amg_estimate(ts_context *context, tsi_amg_host_level *level, tsi_amg_range own,
                           tsi_amg_estimates *found) {
  smoothing s = {.own = own};
  TSI_TRY(with_workspace(context, level, &s, estimate));
  *found = (tsi_amg_estimates){level->bound, s.filtered_bound, level->eigenvalue, s.positive};
  return TS_OK;
}

static ts_status prolong(ts_context *context, smoothing *s) {
  bound(context, s); /* for the diagonal of A_F */
  find_sizes(s);
  return assemble_with(context, s, s->reach);
}

ts_status tsi_amg_prolong(ts_context *context, tsi_amg_host_level *level, tsi_amg_range own, double omega,
                          int32_t reach, double sums[4]) {
  smoothing s = {.own = own, .omega = omega, .reach = reach};
  TSI_TRY(with_workspace(context, level, &s, prolong));
  memcpy(sums, s.sums, sizeof s.sums);
  return TS_OK;
}
