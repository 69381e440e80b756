/* The near-null space of a matrix if the application provides none: constants, or constants of unknowns in
 * other units.
 *
 * If L maps constants to almost 0, then A = D L D maps D^-1 1 to almost 0, and aggregates of constants would be
 * useless. D is the square root of A's diagonal, if that of L is nearly constant. The rows vote. With constants
 * a row leaves |sum_j a_ij| / a_ii, with scaled ones |sum_j a_ij / sqrt(a_jj)| / sqrt(a_ii), where j has the
 * same kind of unknown as i. All devices count the same votes. */
#include <math.h>

#include "amg.h"

typedef struct units {
  const tsi_amg_csr *A;
  size_t unknowns;
  tsi_amg_range own; /* the rows that vote */
  int parts;
  double *scales; /* of rows and ghosts: 1 / the root of the diagonal; 0: not positive */
  double *votes;  /* per part */
} units;

static void find_scales(const void *arguments, size_t first, size_t last) {
  const units *u = arguments;
  for (size_t i = first; i < last; i++) {
    u->scales[i] = 0;
    for (int32_t e = u->A->offsets[i]; e < u->A->offsets[i + 1]; e++)
      if (u->A->indices[e] == (int32_t)i && u->A->values[e] > 0)
        u->scales[i] = 1 / sqrt((double)u->A->values[e]);
  }
}

static int is_scaled(const units *u, size_t i) {
  const int32_t *indices = u->A->indices + u->A->offsets[i], length = u->A->offsets[i + 1] - u->A->offsets[i];
  const float *values = u->A->values + u->A->offsets[i];
  double of_plain = 0, of_scaled = 0;
  for (int32_t k = 0; k < length;) {
    const int32_t run_end = length - k > TSI_AMG_LANES_RUN ? k + TSI_AMG_LANES_RUN : length;
    double plain[TSI_AMG_LANES] = {0}, scaled[TSI_AMG_LANES] = {0};
    for (; k < run_end; k++) {
      const double a = (double)values[k], scale = u->scales[indices[k]];
      if (scale == 0 || (u->unknowns > 1 && (size_t)indices[k] % u->unknowns != i % u->unknowns)) continue;
      plain[k % TSI_AMG_LANES] += a;
      scaled[k % TSI_AMG_LANES] += a * scale;
    }
    of_plain += tsi_amg_add_lanes(plain);
    of_scaled += tsi_amg_add_lanes(scaled);
  }
  return tsi_amg_votes(of_plain, of_scaled, u->scales[i]);
}

static void count_votes(const void *arguments, size_t first, size_t last) {
  const units *u = arguments;
  const int32_t begin = u->own.begin, rows = u->own.end - begin;
  for (size_t p = first; p < last; p++) {
    u->votes[p] = 0;
    for (int32_t i = begin + tsi_amg_begin(rows, p, u->parts); i < begin + tsi_amg_begin(rows, p + 1, u->parts);
         i++) {
      tsi_poll_rows(i);
      if (u->scales[i] > 0) u->votes[p] += is_scaled(u, (size_t)i);
    }
  }
}

static ts_status vote(ts_context *context, const tsi_amg_host_level *level, const units *u, double *votes) {
  tsi_parallel(context, (size_t)level->A.rows, find_scales, u);
  TSI_TRY(tsi_amg_exchange(context, level, u->scales, u->unknowns * sizeof *u->scales));
  tsi_parallel(context, (size_t)u->parts, count_votes, u);
  *votes = 0;
  for (int p = 0; p < u->parts; p++) *votes += u->votes[p];
  return TS_OK;
}

ts_status tsi_amg_vote(ts_context *context, const tsi_amg_host_level *level, tsi_amg_range own, double *votes) {
  units u = {.A = &level->A, .unknowns = (size_t)level->unknowns, .own = own};
  TSI_TRY(tsi_threads(context, &u.parts));
  const size_t all = ((size_t)level->nodes + (size_t)tsi_amg_ghosts(level)) * u.unknowns;
  u.scales = tsi_malloc(context, all, sizeof *u.scales);
  u.votes = tsi_malloc(context, (size_t)u.parts, sizeof *u.votes);
  const ts_status status =
      u.scales && u.votes ? vote(context, level, &u, votes)
                          : tsi_out_of_memory(context, "the near-null space of amg", all * sizeof *u.scales);
  tsi_free(context, u.scales);
  tsi_free(context, u.votes);
  return status;
}

ts_status tsi_amg_write_units(ts_context *context, const tsi_amg_host_level *level, int scaled) {
  const size_t rows = (size_t)level->A.rows, unknowns = (size_t)level->unknowns;
  units u = {.A = &level->A, .unknowns = unknowns};
  u.scales = tsi_malloc(context, rows, sizeof *u.scales);
  if (!u.scales) return tsi_out_of_memory(context, "the near-null space of amg", rows * sizeof *u.scales);
  tsi_parallel(context, rows, find_scales, &u);
  for (size_t i = 0; i < rows; i++)
    level->near_null[i * unknowns + i % unknowns] = scaled ? u.scales[i] : u.scales[i] > 0;
  tsi_free(context, u.scales);
  return TS_OK;
}

ts_status tsi_amg_units(ts_context *context, const tsi_amg_host_level *level) {
  double counts[2] = {level->A.rows, 0};
  TSI_TRY(tsi_amg_vote(context, level, (tsi_amg_range){0, level->A.rows}, &counts[1]));
  TSI_TRY(tsi_amg_add_up(context, level, counts, 2));
  return tsi_amg_write_units(context, level, tsi_amg_elect(counts[1], counts[0]));
}
