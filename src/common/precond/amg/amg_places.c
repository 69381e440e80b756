/* Finds the places of products in rows of the result (amg_places.h). */
#include "amg_places.h"

#include "amg_block.h"

#include <string.h>

typedef struct search {
  const tsi_amg_csr *L, *M;
  tsi_amg_csr *C;
  tsi_amg_places *to;
  int is_known;       /* C has its pattern */
  int32_t node_count; /* of C's columns */
  int32_t *found;     /* of the parts, as in struct finding */
  int32_t *nodes;     /* of C's rows, once per group of blocks; a part begins at the index of its places */
  int32_t *longest;   /* of the parts: the maximum nodes of a row of C */
} search;

/* ---- Blocks ---- */

/* Whether M's rows of a group of columns have identical nodes. */
static int is_uniform(const tsi_amg_csr *M, int32_t first, int32_t width, int32_t wide) {
  const int32_t *offsets = M->offsets + first, length = offsets[1] - offsets[0];
  for (int32_t k = 1; k < width; k++) {
    if (offsets[k + 1] - offsets[k] != length) return 0;
    for (int32_t f = 0; f < length; f += wide)
      if (M->indices[offsets[k] + f] != M->indices[offsets[0] + f]) return 0;
  }
  return 1;
}

int tsi_amg_has_blocks(const tsi_amg_csr *A, int32_t first, int32_t height, int32_t width) {
  const int32_t *offsets = A->offsets + first, length = offsets[1] - offsets[0];
  for (int32_t r = 1; r < height; r++) {
    if (offsets[r + 1] - offsets[r] != length) return 0;
    if (memcmp(A->indices + offsets[r], A->indices + offsets[0], (size_t)length * sizeof *A->indices)) return 0;
  }
  if (length % width) return 0;
  for (int32_t e = offsets[0]; e < offsets[1]; e += width)
    if (A->indices[e] % width || A->indices[e + width - 1] != A->indices[e] + width - 1) return 0;
  return 1;
}

static int is_block(const search *s, int32_t first) {
  const tsi_amg_csr *L = s->L;
  const int32_t height = s->to->height, width = s->to->width;
  if (height * width == 1) return 1;
  if (!tsi_amg_has_blocks(L, first, height, width)) return 0;
  for (int32_t e = L->offsets[first]; e < L->offsets[first + 1]; e += width)
    if (!is_uniform(s->M, L->indices[e], width, s->to->wide)) return 0;
  return 1;
}

/* ---- Rows ---- */

static size_t count_places(const search *s, int32_t row, int32_t step) {
  const tsi_amg_csr *L = s->L, *M = s->M;
  size_t count = 0;
  for (int32_t e = L->offsets[row]; e < L->offsets[row + 1]; e += step)
    count += (size_t)(M->offsets[L->indices[e] + 1] - M->offsets[L->indices[e]]);
  return count / (size_t)s->to->wide;
}

/* Finds the groups of blocks, and the maximum number of places of each part. */
static void measure(const void *arguments, size_t first, size_t last) {
  const search *s = arguments;
  const tsi_amg_places *to = s->to;
  const int32_t groups = s->L->rows / to->height;
  for (size_t p = first; p < last; p++) {
    size_t count = 0;
    for (int32_t g = tsi_amg_begin(groups, p, to->parts); g < tsi_amg_begin(groups, p + 1, to->parts); g++) {
      const int32_t row = g * to->height, whole = is_block(s, row);
      to->is_block[g] = (unsigned char)whole;
      for (int32_t r = 0; r < (whole ? 1 : to->height); r++)
        count += count_places(s, row + r, whole ? to->width : 1);
    }
    to->begins[p + 1] = count;
  }
}

static inline void put(void *restrict list, int bytes, size_t at, int32_t place) {
  if (bytes == 1)
    ((uint8_t *)list)[at] = (uint8_t)place;
  else if (bytes == 2)
    ((uint16_t *)list)[at] = (uint16_t)place;
  else
    ((int32_t *)list)[at] = place;
}

/* The functions with this parameter are also compiled for the constants 1. */
typedef struct shape {
  int bytes; /* per place */
  int32_t wide;
} shape;

/* The results of a part so far. */
typedef struct finding {
  int32_t *found;  /* the place of each node in the row of C; -1 between rows */
  int32_t *nodes;  /* of the row */
  size_t at;       /* index of the next place */
  int32_t longest; /* the maximum nodes of a row */
} finding;

/* Lists the nodes of the row of C in f->nodes and returns their number. Branch-free, like tsi_amg_find(). */
static inline int32_t find_nodes(const search *s, shape of, int32_t row, int32_t step, finding *f) {
  const int32_t *restrict columns = s->L->indices, *restrict offsets = s->M->offsets;
  const int32_t *restrict indices = s->M->indices;
  int32_t *restrict nodes = f->nodes, *restrict places = f->found;
  void *restrict list = s->to->list;
  const int32_t end = s->L->offsets[row + 1];
  int32_t count = 0;
  size_t at = f->at;
  for (int32_t e = s->L->offsets[row]; e < end; e += step)
    for (int32_t g = offsets[columns[e]], last = offsets[columns[e] + 1]; g < last; g += of.wide) {
      const int32_t node = indices[g] / of.wide, found = places[node], place = found < 0 ? count : found;
      nodes[count] = node;
      places[node] = place;
      count += found < 0;
      put(list, of.bytes, at++, place);
    }
  for (int32_t c = 0; c < count; c++) places[nodes[c]] = -1;
  f->at = at;
  return count;
}

/* The same function for a C that has its pattern. */
static inline int32_t look_up_nodes(const search *s, shape of, int32_t row, int32_t step, finding *f) {
  const int32_t *restrict columns = s->L->indices, *restrict offsets = s->M->offsets;
  const int32_t *restrict indices = s->M->indices, *restrict nodes = s->C->indices;
  const int32_t begin = s->C->offsets[row], count = (s->C->offsets[row + 1] - begin) / of.wide;
  int32_t *restrict places = f->found;
  void *restrict list = s->to->list;
  const int32_t end = s->L->offsets[row + 1];
  size_t at = f->at;
  for (int32_t c = 0; c < count; c++) places[nodes[begin + c * of.wide] / of.wide] = c;
  for (int32_t e = s->L->offsets[row]; e < end; e += step)
    for (int32_t g = offsets[columns[e]], last = offsets[columns[e] + 1]; g < last; g += of.wide)
      put(list, of.bytes, at++, places[indices[g] / of.wide]);
  f->at = at;
  return count;
}

static inline int32_t find_row(const search *s, shape of, int32_t row, int32_t step, finding *f) {
  if (s->is_known) return look_up_nodes(s, of, row, step, f);
  const int32_t count = find_nodes(s, of, row, step, f);
  s->C->offsets[row + 1] = count * of.wide;
  f->nodes += count;
  return count;
}

static inline void find_group(const search *s, shape of, int32_t group, finding *f) {
  const tsi_amg_places *to = s->to;
  const int32_t row = group * to->height, whole = to->is_block[group];
  for (int32_t r = 0; r < to->height; r++) {
    if (r > 0 && whole) {
      if (!s->is_known) s->C->offsets[row + r + 1] = s->C->offsets[row + 1];
      continue;
    }
    const int32_t count = find_row(s, of, row + r, whole ? to->width : 1, f);
    if (count > f->longest) f->longest = count;
  }
}

static void find_all(const void *arguments, size_t first, size_t last) {
  const search *s = arguments;
  const tsi_amg_places *to = s->to;
  const int32_t groups = s->L->rows / to->height;
  for (size_t p = first; p < last; p++) {
    finding f = {.found = s->found + p * (size_t)s->node_count, .at = to->begins[p]};
    if (!s->is_known) f.nodes = s->nodes + to->begins[p];
    memset(f.found, -1, (size_t)s->node_count * sizeof *f.found);
    for (int32_t g = tsi_amg_begin(groups, p, to->parts); g < tsi_amg_begin(groups, p + 1, to->parts); g++) {
      tsi_poll_rows(g);
      if (to->bytes == 1 && to->wide == 1)
        find_group(s, (shape){1, 1}, g, &f);
      else
        find_group(s, (shape){to->bytes, to->wide}, g, &f);
    }
    s->longest[p] = f.longest;
  }
}

/* Writes the first index of each node of C. */
static void write_indices(const void *arguments, size_t first, size_t last) {
  const search *s = arguments;
  const tsi_amg_places *to = s->to;
  const int32_t groups = s->L->rows / to->height, wide = to->wide;
  for (size_t p = first; p < last; p++) {
    const int32_t *nodes = s->nodes + to->begins[p];
    for (int32_t g = tsi_amg_begin(groups, p, to->parts); g < tsi_amg_begin(groups, p + 1, to->parts); g++) {
      tsi_poll_rows(g);
      for (int32_t r = 0; r < to->height; r++) {
        const int32_t *offsets = s->C->offsets + (size_t)g * (size_t)to->height + r,
                      count = (offsets[1] - offsets[0]) / wide;
        for (int32_t c = 0; c < count; c++) s->C->indices[offsets[0] + c * wide] = nodes[c] * wide;
        if (!to->is_block[g] || r + 1 == to->height) nodes += count;
      }
    }
  }
}

/* ---- Memory ---- */

static ts_status out_of_memory(ts_context *context, size_t bytes) {
  return tsi_out_of_memory(context, "an update of amg", bytes);
}

/* Finds places of `bytes` bytes each. Returns the maximum nodes of a row, which may need larger places. */
static ts_status find_with(ts_context *context, const search *s, int bytes, int32_t *longest) {
  tsi_amg_places *to = s->to;
  const size_t count = to->begins[to->parts];
  tsi_free(context, to->list);
  to->bytes = bytes;
  to->list = tsi_malloc(context, count, (size_t)bytes);
  if (!to->list) return out_of_memory(context, count * (size_t)bytes);
  tsi_parallel(context, (size_t)to->parts, find_all, s);
  *longest = 0;
  for (int p = 0; p < to->parts; p++)
    if (s->longest[p] > *longest) *longest = s->longest[p];
  return TS_OK;
}

static ts_status find(ts_context *context, const search *s) {
  tsi_amg_places *to = s->to;
  int32_t longest;
  TSI_TRY(find_with(context, s, 1, &longest));
  if (longest > UINT8_MAX + 1) TSI_TRY(find_with(context, s, longest > UINT16_MAX + 1 ? 4 : 2, &longest));
  to->room = (size_t)longest * (size_t)(to->height * tsi_amg_lanes(to->wide));
  to->sums = tsi_calloc(context, (size_t)to->parts * to->room, sizeof *to->sums);
  if (!to->sums) return out_of_memory(context, (size_t)to->parts * to->room * sizeof *to->sums);
  if (s->is_known) return TS_OK;
  TSI_TRY(tsi_poll(context));
  TSI_TRY(tsi_amg_csr_finish(context, s->C));
  tsi_parallel(context, (size_t)to->parts, write_indices, s);
  return TS_OK;
}

static ts_status find_pattern(ts_context *context, search *s) {
  tsi_amg_places *to = s->to;
  tsi_parallel(context, (size_t)to->parts, measure, s);
  for (int p = 0; p < to->parts; p++) to->begins[p + 1] += to->begins[p];
  if (s->is_known) return find(context, s);
  TSI_TRY(tsi_amg_csr_begin(context, s->L->rows, s->M->columns, s->C));
  s->nodes = tsi_malloc(context, to->begins[to->parts] + 1, sizeof *s->nodes);
  if (!s->nodes) return out_of_memory(context, to->begins[to->parts] * sizeof *s->nodes);
  const ts_status status = find(context, s);
  tsi_free(context, s->nodes);
  return status;
}

ts_status tsi_amg_places_find(ts_context *context, const tsi_amg_csr *L, const tsi_amg_csr *M, tsi_amg_csr *C,
                              tsi_amg_places *to) {
  TSI_TRY(tsi_threads(context, &to->parts));
  const size_t parts = (size_t)to->parts, groups = (size_t)(L->rows / to->height);
  search s = {
      .L = L, .M = M, .C = C, .to = to, .is_known = C->offsets != NULL, .node_count = M->columns / to->wide};
  to->is_block = tsi_malloc(context, groups, sizeof *to->is_block);
  to->begins = tsi_calloc(context, parts + 1, sizeof *to->begins);
  s.found = tsi_malloc(context, parts * (size_t)s.node_count, sizeof *s.found);
  s.longest = tsi_malloc(context, parts, sizeof *s.longest);
  const ts_status status =
      to->is_block && to->begins && s.found && s.longest
          ? find_pattern(context, &s)
          : out_of_memory(context, groups + parts * (size_t)s.node_count * sizeof *s.found);
  tsi_free(context, s.found);
  tsi_free(context, s.longest);
  return status;
}

void tsi_amg_places_free(ts_context *context, tsi_amg_places *places) {
  tsi_free(context, places->is_block);
  tsi_free(context, places->begins);
  tsi_free(context, places->list);
  tsi_free(context, places->sums);
  *places = (tsi_amg_places){0};
}
