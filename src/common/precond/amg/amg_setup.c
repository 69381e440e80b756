/* The hierarchy on the host, one level after the other. */
#include <math.h>
#include <string.h>

#include "amg_halo.h"

static void level_free(ts_context *context, tsi_amg_host_level *level) {
  tsi_amg_plan_free(context, level);
  tsi_amg_smoothing_free(context, level);
  tsi_amg_transposed_free(context, level);
  tsi_amg_csr_free(context, &level->P);
  tsi_amg_csr_free(context, &level->R);
  tsi_free(context, level->strong);
  tsi_free(context, level->aggregates);
  tsi_free(context, level->tentative);
  tsi_free(context, level->weights);
  tsi_free(context, level->near_null);
  level->strong = NULL;
  level->aggregates = NULL;
  level->tentative = NULL;
  level->weights = NULL;
  level->near_null = NULL;
  level->aggregate_count = level->ghost_aggregates = 0;
}

void tsi_amg_host_free(ts_context *context, tsi_amg_host *host) {
  for (int l = 0; l < TSI_AMG_MAX_LEVELS; l++) {
    level_free(context, &host->level[l]);
    if (l > 0) tsi_amg_csr_free(context, &host->level[l].A);
    tsi_amg_halo_free(context, host->level[l].halo);
  }
  tsi_free(context, host->inverse);
  *host = (tsi_amg_host){0};
}

/* ---- The near-null space of A ---- */

/* Translations, and rotations about the centre, of similar length. */
static void rigid_body_modes(const ts_amg_desc *desc, int32_t nodes, double *modes) {
  const int dimensions = desc->dimensions, vectors = dimensions == 2 ? 3 : 6;
  double centre[3] = {0}, square = 0;
  for (int32_t i = 0; i < nodes; i++)
    for (int d = 0; d < dimensions; d++)
      centre[d] += tsi_doubles(&desc->coordinates)[i * dimensions + d] / nodes;
  for (int32_t i = 0; i < nodes; i++)
    for (int d = 0; d < dimensions; d++) {
      const double x = tsi_doubles(&desc->coordinates)[i * dimensions + d] - centre[d];
      square += x * x / nodes;
    }
  const double scale = square > 0 ? 1 / sqrt(square) : 1;
  for (int32_t i = 0; i < nodes; i++) {
    double x[3] = {0}, *mode = modes + (size_t)i * (size_t)(dimensions * vectors);
    for (int d = 0; d < dimensions; d++) {
      x[d] = (tsi_doubles(&desc->coordinates)[i * dimensions + d] - centre[d]) * scale;
      mode[d * vectors + d] = 1;
    }
    if (dimensions == 2) {
      mode[0 * vectors + 2] = -x[1];
      mode[1 * vectors + 2] = x[0];
      continue;
    }
    for (int axis = 0; axis < 3; axis++) {
      const int p = (axis + 1) % 3, q = (axis + 2) % 3;
      mode[p * vectors + 3 + axis] = -x[q];
      mode[q * vectors + 3 + axis] = x[p];
    }
  }
}

void tsi_amg_near_null(const ts_amg_desc *desc, int32_t nodes, double *modes) {
  const size_t rows = (size_t)nodes * (size_t)desc->unknowns;
  if (tsi_doubles(&desc->coordinates))
    rigid_body_modes(desc, nodes, modes);
  else
    memcpy(modes, tsi_doubles(&desc->near_null), rows * (size_t)desc->near_null_vectors * sizeof *modes);
}

typedef struct activity {
  const tsi_amg_csr *A;
  size_t vectors;
  double *near_null;
} activity;

/* Rows without a positive diagonal are inactive. */
static void clear_inactive(const void *arguments, size_t first, size_t last) {
  const activity *a = arguments;
  for (size_t i = first; i < last; i++) {
    int active = 0;
    for (int32_t e = a->A->offsets[i]; e < a->A->offsets[i + 1]; e++)
      active = active || (a->A->indices[e] == (int32_t)i && a->A->values[e] > 0);
    for (size_t v = 0; v < a->vectors && !active; v++) a->near_null[i * a->vectors + v] = 0;
  }
}

int tsi_amg_vectors(const ts_amg_desc *desc) {
  if (tsi_doubles(&desc->coordinates)) return desc->dimensions == 2 ? 3 : 6;
  return tsi_doubles(&desc->near_null) ? desc->near_null_vectors : desc->unknowns;
}

static ts_status create_near_null(ts_context *context, const ts_amg_desc *desc, tsi_amg_host_level *level) {
  const size_t rows = (size_t)level->A.rows;
  level->vectors = tsi_amg_vectors(desc);
  const size_t vectors = (size_t)level->vectors;
  level->near_null = tsi_calloc(context, rows * vectors, sizeof *level->near_null);
  if (!level->near_null)
    return tsi_out_of_memory(context, "the near-null space of amg", rows * vectors * sizeof *level->near_null);
  if (!tsi_doubles(&desc->coordinates) && !tsi_doubles(&desc->near_null)) return tsi_amg_units(context, level);
  tsi_amg_near_null(desc, level->nodes, level->near_null);
  const activity a = {&level->A, vectors, level->near_null};
  tsi_parallel(context, rows, clear_inactive, &a);
  return TS_OK;
}

/* ---- Levels ---- */

static ts_status group(ts_context *context, tsi_amg_host_level *level, double strength, int depth) {
  const size_t entries = (size_t)level->A.offsets[level->A.rows];
  const size_t nodes = (size_t)level->nodes + (size_t)tsi_amg_ghosts(level);
  level->strong = tsi_malloc(context, entries, sizeof *level->strong);
  level->aggregates = tsi_malloc(context, nodes, sizeof *level->aggregates);
  if (!level->strong || !level->aggregates)
    return tsi_out_of_memory(context, "aggregates of amg", entries + nodes * sizeof *level->aggregates);
  tsi_amg_graph graph;
  if (level->is_unsymmetric) TSI_TRY(tsi_amg_transposed_create(context, level));
  TSI_TRY(tsi_poll(context));
  TSI_TRY(tsi_amg_strength(context, level, strength, depth, &graph));
  ts_status status = TS_OK;
  if (level->transposed) status = tsi_amg_transposed_join(context, level, strength, depth, &graph);
  if (status == TS_OK) status = tsi_poll(context);
  if (status == TS_OK) status = tsi_amg_aggregate(context, &graph, level->aggregates, &level->aggregate_count);
  tsi_amg_graph_free(context, &graph);
  if (status == TS_OK && level->halo) tsi_amg_keep_cut_off(level, &level->aggregate_count);
  return status;
}

static ts_status make_tentative(ts_context *context, tsi_amg_host_level *level, tsi_amg_host_level *next) {
  const size_t nodes = (size_t)level->nodes + (size_t)tsi_amg_ghosts(level), vectors = (size_t)level->vectors;
  const size_t numbers = nodes * (size_t)level->unknowns * vectors;
  const size_t coarse = (size_t)level->aggregate_count * vectors * vectors;
  level->tentative = tsi_calloc(context, numbers + TSI_AMG_PIECE, sizeof *level->tentative);
  level->weights = tsi_malloc(context, nodes, sizeof *level->weights);
  next->near_null = tsi_malloc(context, coarse, sizeof *next->near_null);
  if (!level->tentative || !level->weights || !next->near_null)
    return tsi_out_of_memory(context, "a prolongator of amg", numbers * sizeof *level->tentative);
  TSI_TRY(tsi_poll(context));
  TSI_TRY(tsi_amg_tentative(context, level, next->near_null));
  tsi_free(context, level->near_null);
  level->near_null = NULL;
  return TS_OK;
}

/* Computes P, R and the next level's matrix, or only their values if the patterns exist. */
static ts_status compute(ts_context *context, tsi_amg_host_level *level, tsi_amg_host_level *next) {
  TSI_TRY(tsi_poll(context));
  if (level->halo) return tsi_amg_coarsen_on_ranks(context, level, next);
  if (level->transposed)
    TSI_TRY(tsi_amg_transposed_smooth(context, level));
  else {
    TSI_TRY(tsi_amg_smooth(context, level));
    TSI_TRY(tsi_poll(context));
    TSI_TRY(tsi_amg_transpose(context, &level->P, &level->R));
  }
  TSI_TRY(tsi_poll(context));
  if (next->A.offsets) return tsi_amg_galerkin_again(context, level, &next->A);
  return tsi_amg_galerkin(context, &level->R, &level->A, &level->P, level->vectors, &next->A);
}

/* The number of rows of all ranks. */
static double all_rows(const tsi_amg_host_level *level) {
  const tsi_amg_halo *halo = level->halo;
  return halo ? (double)halo->first[halo->ranks] * level->unknowns : level->A.rows;
}

/* Adds a level after the last one, if that is worthwhile. */
static ts_status add_level(ts_context *context, const ts_amg_desc *desc, tsi_amg_host *host) {
  tsi_amg_host_level *level = &host->level[host->levels - 1], *next = level + 1;
  TSI_TRY(group(context, level, desc->strength, host->depth + host->levels - 1));
  double rows = (double)level->aggregate_count * level->vectors;
  TSI_TRY(tsi_amg_add_up(context, level, &rows, 1));
  if (rows == 0 || rows > 0.9 * all_rows(level)) {
    level_free(context, level);
    return TS_OK;
  }
  if (level->aggregate_count == 0) level->aggregates[level->aggregate_count++] = 0; /* every rank needs a row */
  TSI_TRY(make_tentative(context, level, next));
  TSI_TRY(compute(context, level, next));
  next->vectors = next->unknowns = level->vectors;
  next->nodes = level->aggregate_count;
  next->is_unsymmetric = level->is_unsymmetric;
  next->energies = level->smooths_twice ? level->energies : 0;
  host->levels++;
  return TS_OK;
}

static ts_status make_levels(ts_context *context, const ts_amg_desc *desc, const tsi_amg_csr *A,
                             tsi_amg_halo *halo, int is_unsymmetric, int depth, tsi_amg_host *host) {
  *host = (tsi_amg_host){.levels = 1, .is_unsymmetric = is_unsymmetric, .depth = depth};
  tsi_amg_host_level *first = &host->level[0];
  first->A = *A;
  first->halo = halo;
  first->is_unsymmetric = is_unsymmetric;
  first->unknowns = desc->unknowns;
  first->nodes = A->rows / desc->unknowns;
  TSI_TRY(create_near_null(context, desc, first));
  for (int before = 0; before < host->levels && host->levels < desc->max_levels;) {
    before = host->levels;
    if (all_rows(&host->level[before - 1]) > desc->coarsest) TSI_TRY(add_level(context, desc, host));
  }
  level_free(context, &host->level[host->levels - 1]);
  if (!halo || host->levels > 1 || all_rows(first) > TSI_AMG_DENSE) return TS_OK;
  host->levels++;
  return tsi_amg_repeat_level(context, first, first + 1);
}

/* ---- The last level ---- */

double tsi_amg_bound(const tsi_amg_csr *A) {
  double bound = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    double sum = 0, diagonal = 0;
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
      sum += fabs((double)A->values[e]);
      if (A->indices[e] == i) diagonal = (double)A->values[e];
    }
    if (diagonal > 0) bound = fmax(bound, sum / diagonal);
  }
  return bound;
}

ts_status tsi_amg_finish(ts_context *context, tsi_amg_host *host) {
  tsi_amg_host_level *last = &host->level[host->levels - 1];
  TSI_TRY(tsi_poll(context));
  tsi_free(context, host->inverse);
  host->inverse = NULL;
  if (all_rows(last) <= TSI_AMG_DENSE && host->is_unsymmetric)
    return tsi_amg_invert_unsymmetric(context, &last->A, &host->inverse);
  if (all_rows(last) <= TSI_AMG_DENSE)
    return last->halo ? tsi_amg_invert_on_ranks(context, last, &host->inverse)
                      : tsi_amg_invert(context, &last->A, &host->inverse);
  last->bound = tsi_amg_bound(&last->A);
  TSI_TRY(tsi_amg_largest(context, last, &last->bound, 1));
  if (!host->is_unsymmetric) return tsi_amg_eigenvalue(context, last);
  last->eigenvalue = last->bound;
  return TS_OK;
}

/* For the levels that are smoothed. */
static ts_status make_polynomials(ts_context *context, const ts_amg_desc *desc, tsi_amg_host *host) {
  const int smoothed = host->levels - (host->inverse != NULL);
  for (int l = 0; l < smoothed; l++)
    TSI_TRY(tsi_amg_make_polynomial(context, &host->level[l].A, desc->sweeps, &host->level[l].polynomial));
  return TS_OK;
}

static ts_status set_up(ts_context *context, const ts_amg_desc *desc, const tsi_amg_csr *A, int keep,
                        int is_unsymmetric, int depth, tsi_amg_host *host) {
  int threads;
  TSI_TRY(tsi_threads(context, &threads));
  ts_status status = TS_OK;
  if (keep) {
    host->level[0].A = *A;
    for (int l = 0; l + 1 < host->levels && status == TS_OK; l++)
      status = compute(context, &host->level[l], &host->level[l + 1]);
  } else
    status = make_levels(context, desc, A, NULL, is_unsymmetric, depth, host);
  if (status == TS_OK) status = tsi_amg_finish(context, host);
  if (status == TS_OK && host->is_unsymmetric && desc->smoother == TS_AMG_SMOOTHER_AUTO)
    status = make_polynomials(context, desc, host);
  if (status < 0 && !keep) tsi_amg_host_free(context, host);
  return status;
}

ts_status tsi_amg_setup(ts_context *context, const ts_amg_desc *desc, const tsi_amg_csr *A, int keep,
                        tsi_amg_host *host) {
  return set_up(context, desc, A, keep, 0, 0, host);
}

ts_status tsi_amg_setup_below(ts_context *context, const ts_amg_desc *desc, const tsi_amg_csr *A, int depth,
                              tsi_amg_host *host) {
  return set_up(context, desc, A, 0, 0, depth, host);
}

ts_status tsi_amg_setup_unsymmetric(ts_context *context, const ts_amg_desc *desc, const tsi_amg_csr *A,
                                    int keep, tsi_amg_host *host) {
  return set_up(context, desc, A, keep, 1, 0, host);
}

ts_status tsi_amg_setup_on_ranks(ts_context *context, const ts_amg_desc *desc, const tsi_amg_csr *A,
                                 tsi_amg_halo *halo, tsi_amg_host *host) {
  int threads;
  ts_status status = tsi_threads(context, &threads);
  if (status == TS_OK) status = make_levels(context, desc, A, halo, 0, 0, host);
  if (status == TS_OK) status = tsi_amg_finish(context, host);
  if (status < 0 && host->level[0].halo != halo) tsi_amg_halo_free(context, halo);
  if (status < 0) tsi_amg_host_free(context, host);
  return status;
}
