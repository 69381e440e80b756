/* The values of P = S T and P = S^2 T in known patterns, bitwise as in amg_prolong.c. The first update records,
 * for each entry of A, the place of its aggregate in the row of S T. */
#include "amg_block.h"
#include "amg_filter.h"
#include "amg_places.h"

#include <string.h>

enum {
  NOWHERE = TSI_AMG_REACH, /* outside every row of S T */
  AS_IS = 255              /* for the first entry of a row with the values of T, which never change */
};

struct tsi_amg_smoothing {
  unsigned char *places;   /* per entry of A */
  unsigned char *is_block; /* per node: only the places of its first row and first columns are used */
  /* P = S once. R is the identity for the product of amg_twice.c. */
  tsi_amg_csr once, S;
  tsi_amg_places of_P;
};

void tsi_amg_smoothing_free(ts_context *context, tsi_amg_host_level *level) {
  tsi_amg_smoothing *s = level->smoothing;
  if (!s) return;
  tsi_free(context, s->places);
  tsi_free(context, s->is_block);
  tsi_amg_csr_free(context, &s->once);
  tsi_amg_csr_free(context, &s->S);
  tsi_amg_places_free(context, &s->of_P);
  tsi_free(context, s);
  level->smoothing = NULL;
}

/* ---- Places ---- */

typedef struct search {
  const tsi_amg_host_level *level;
  const tsi_amg_csr *once; /* S T */
  tsi_amg_smoothing *to;
  int parts;
  int32_t *found; /* per part: the place of each aggregate in a row of S T, -1 between rows */
} search;

/* If an entry of the row has an aggregate that the row of S T lacks, this row is that of T. */
static void look_up_row(const search *s, int32_t row, const int32_t *found) {
  const tsi_amg_host_level *level = s->level;
  const tsi_amg_csr *A = &level->A;
  unsigned char *places = s->to->places;
  const int32_t begin = A->offsets[row], end = A->offsets[row + 1], unknowns = level->unknowns;
  int is_as_is = 0;
  for (int32_t e = begin; e < end; e++) {
    const int32_t aggregate = level->aggregates[unknowns == 1 ? A->indices[e] : A->indices[e] / unknowns];
    const int is_used = level->strong[e] == TSI_AMG_STRONG && aggregate >= 0;
    const int32_t place = is_used ? found[aggregate] : NOWHERE;
    places[e] = (unsigned char)place;
    is_as_is |= place < 0;
  }
  if (is_as_is) places[begin] = AS_IS;
}

static void find_row(const search *s, int32_t row, int32_t *found) {
  const tsi_amg_csr *once = s->once;
  const int32_t vectors = s->level->vectors, begin = once->offsets[row], end = once->offsets[row + 1];
  for (int32_t f = begin; f < end; f += vectors) found[once->indices[f] / vectors] = (f - begin) / vectors;
  look_up_row(s, row, found);
  for (int32_t f = begin; f < end; f += vectors) found[once->indices[f] / vectors] = -1;
}

/* Whether the rows of a node have the same places, in each group of columns. */
static int is_block(const search *s, int32_t row) {
  const tsi_amg_host_level *level = s->level;
  const int32_t unknowns = level->unknowns, *offsets = level->A.offsets + row, length = offsets[1] - offsets[0];
  const unsigned char *places = s->to->places + offsets[0];
  if (!tsi_amg_has_blocks(&level->A, row, unknowns, unknowns)) return 0;
  for (int32_t r = 0; r < unknowns; r++)
    for (int32_t e = 0; e < length; e++)
      if (places[r * length + e] == AS_IS || places[r * length + e] != places[e - e % unknowns]) return 0;
  return 1;
}

static void find_nodes(const void *arguments, size_t first, size_t last) {
  const search *s = arguments;
  const int32_t unknowns = s->level->unknowns, nodes = s->level->nodes;
  const size_t aggregates = (size_t)s->level->aggregate_count;
  for (size_t p = first; p < last; p++) {
    int32_t *found = s->found + p * aggregates;
    memset(found, -1, aggregates * sizeof *found);
    for (int32_t node = tsi_amg_begin(nodes, p, s->parts); node < tsi_amg_begin(nodes, p + 1, s->parts);
         node++) {
      tsi_poll_rows(node);
      for (int32_t r = 0; r < unknowns; r++) find_row(s, node * unknowns + r, found);
      s->to->is_block[node] = unknowns > 1 && is_block(s, node * unknowns);
    }
  }
}

static ts_status make_places(ts_context *context, const tsi_amg_host_level *level, const tsi_amg_csr *once,
                             tsi_amg_smoothing *to) {
  const size_t entries = (size_t)level->A.offsets[level->A.rows], nodes = (size_t)level->nodes;
  search s = {.level = level, .once = once, .to = to};
  TSI_TRY(tsi_threads(context, &s.parts));
  const size_t found = (size_t)s.parts * (size_t)level->aggregate_count;
  to->places = tsi_malloc(context, entries, sizeof *to->places);
  to->is_block = tsi_malloc(context, nodes, sizeof *to->is_block);
  s.found = tsi_malloc(context, found, sizeof *s.found);
  const int has_room = to->places && to->is_block && s.found;
  if (has_room) tsi_parallel(context, (size_t)s.parts, find_nodes, &s);
  tsi_free(context, s.found);
  return has_room ? TS_OK
                  : tsi_out_of_memory(context, "an update of amg", entries + nodes + found * sizeof *s.found);
}

static ts_status make_again(ts_context *context, const tsi_amg_host_level *level, tsi_amg_smoothing *s,
                            tsi_amg_csr *P) {
  s->of_P = (tsi_amg_places){.height = 1, .width = 1, .wide = 1};
  TSI_TRY(tsi_amg_smoother_pattern(context, level, &s->S));
  return tsi_amg_places_find(context, &s->S, &s->once, P, &s->of_P);
}

ts_status tsi_amg_smoothing_create(ts_context *context, tsi_amg_host_level *level, tsi_amg_csr *once) {
  tsi_amg_smoothing *s = tsi_calloc(context, 1, sizeof *s);
  if (!s) return tsi_out_of_memory(context, "an update of amg", sizeof *s);
  level->smoothing = s;
  ts_status status = make_places(context, level, once ? once : &level->P, s);
  if (once) {
    s->once = *once;
    *once = (tsi_amg_csr){0};
    if (status == TS_OK) status = make_again(context, level, s, &level->P);
  }
  if (status < 0) tsi_amg_smoothing_free(context, level);
  return status;
}

/* ---- Values ---- */

typedef struct values {
  const tsi_amg_host_level *level;
  const tsi_amg_smoothing *smoothing;
  const double *filtered; /* the diagonal of A_F, if a node has one unknown */
  double omega;
  const tsi_amg_csr *once;
} values;

/* For a node with one unknown, and one vector. */
CPU_INLINE void fill_row(const values *v, int32_t row, double *restrict sums) {
  const tsi_amg_csr *A = &v->level->A, *once = v->once;
  const unsigned char *restrict places = v->smoothing->places;
  const float *restrict tentative = v->level->tentative;
  const double scale = v->filtered[row] > 0 ? v->omega / v->filtered[row] : 0, own = 1 - v->omega;
  const int32_t begin = A->offsets[row], end = A->offsets[row + 1];
  if (begin == end || places[begin] == AS_IS) return;
  for (int32_t e = begin; e < end; e++) {
    const int32_t j = A->indices[e];
    const float value = (float)(j == row ? own : -scale * (double)A->values[e]);
    sums[places[e]] += (double)value * (double)tentative[j];
  }
  tsi_amg_write_row(once, row, (tsi_amg_shape){1, 1, 1, 1}, sums);
}

/* Copies the block of S that begins at entry e of the first row. */
CPU_INLINE void get_block(const values *v, tsi_amg_shape s, const tsi_amg_filtered *f, int32_t row, int32_t e,
                          double *a) {
  const tsi_amg_csr *A = &v->level->A;
  const int32_t unknowns = v->level->unknowns, column = A->indices[e];
  for (int32_t r = 0; r < s.height; r++) {
    const int32_t begin = A->offsets[row + r] - A->offsets[row] + e;
    const double scale = f[r].diagonal > 0 ? v->omega / f[r].diagonal : 0;
    for (int32_t k = 0; k < s.width; k++) {
      const int32_t j = column + k;
      const double more = j / unknowns == row / unknowns ? f[r].added[j % unknowns] : 0;
      const double own = 1 - v->omega, other = -scale * ((double)A->values[begin + k] + more);
      a[r * s.width + k] = (double)(float)(j == row + r ? own : other);
    }
  }
}

/* Fills the rows of a node, or one of them. */
CPU_LARGE void fill_rows(const values *v, tsi_amg_shape s, int32_t row, double *restrict sums) {
  const tsi_amg_host_level *level = v->level;
  const tsi_amg_csr *A = &level->A;
  const unsigned char *places = v->smoothing->places;
  tsi_amg_filtered f[TSI_AMG_MOST];
  double a[TSI_AMG_PIECE * TSI_AMG_PIECE];
  const int32_t begin = A->offsets[row], end = A->offsets[row + 1];
  if (begin == end || places[begin] == AS_IS) return;
  for (int32_t r = 0; r < s.height; r++) f[r] = tsi_amg_filter_row(level, level->unknowns, row + r);
  for (int32_t e = begin; e < end; e += s.width) {
    if (places[e] == NOWHERE) continue;
    get_block(v, s, f, row, e, a);
    tsi_amg_add_block(s, a, level->tentative + (size_t)A->indices[e] * (size_t)s.wide, s.wide,
                      sums + places[e] * (size_t)(s.height * s.lanes));
  }
  for (int32_t r = 0; r < s.height; r++) tsi_amg_write_row(v->once, row + r, s, sums + (size_t)(r * s.lanes));
}

CPU_LARGE void fill_node(const values *v, tsi_amg_shape s, int32_t node, double *sums) {
  const int32_t row = node * s.height;
  if (v->smoothing->is_block[node])
    fill_rows(v, s, row, sums);
  else
    for (int32_t r = 0; r < s.height; r++) fill_rows(v, (tsi_amg_shape){1, 1, s.wide, s.lanes}, row + r, sums);
}

CPU_INLINE void fill_any(const values *v, int32_t node, double *sums) {
  const int32_t unknowns = v->level->unknowns, vectors = v->level->vectors;
  switch (10 * unknowns + vectors) {
  case 11:
    fill_row(v, node, sums);
    return;
#define CASE(h, w, n, l)                                                                                       \
  case 10 * (h) + (n):                                                                                         \
    fill_node(v, (tsi_amg_shape){h, w, n, l}, node, sums);                                                     \
    return;
    TSI_AMG_SQUARES(CASE)
#undef CASE
  default:
    fill_node(v, (tsi_amg_shape){unknowns, unknowns, vectors, tsi_amg_lanes(vectors)}, node, sums);
  }
}

CPU_CLONES
static void fill(const void *arguments, size_t first, size_t last) {
  double sums[(NOWHERE + 1) * TSI_AMG_MOST * TSI_AMG_PIECE] = {0};
  for (size_t node = first; node < last; node++) fill_any(arguments, (int32_t)node, sums);
}

void tsi_amg_smooth_values(const ts_context *context, const tsi_amg_host_level *level, const double *filtered,
                           double omega) {
  const tsi_amg_smoothing *s = level->smoothing;
  const tsi_amg_csr *once = s->once.offsets ? &s->once : &level->P;
  const values v = {level, s, filtered, omega, once};
  tsi_parallel(context, (size_t)level->nodes, fill, &v);
  if (!s->once.offsets) return;
  tsi_amg_smoother_values(context, level, filtered, omega, &s->S);
  tsi_amg_multiply(context, &s->of_P, 1, &s->S, &s->once, &level->P);
}
