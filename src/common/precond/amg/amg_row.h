/* Rows of products of sparse matrices (Gustavson 1978, "Two fast algorithms for sparse matrices"). Sums are
 * accumulated per node, in the order in which nodes are found, and then written in ascending columns. A node
 * has one column per unknown of its level, and a row has entries for all of them or for none. */
#ifndef TSI_AMG_ROW_H
#define TSI_AMG_ROW_H

#include "amg.h"

/* The workspace of a part. */
typedef struct tsi_amg_row {
  int32_t *places; /* of each node in the sums; -1: none, and between rows */
  double *sums;    /* 0 between rows */
  int32_t *nodes;  /* the nodes found */
  int32_t count;
  int known;       /* `nodes` lists them in ascending order before they are found */
  uint64_t *marks; /* a bit per node, 0 between rows */
} tsi_amg_row;

/* Creates `parts` workspaces. */
ts_status tsi_amg_rows_create(ts_context *context, int parts, int32_t nodes, int32_t unknowns,
                              tsi_amg_row **rows);
void tsi_amg_rows_free(ts_context *context, tsi_amg_row *rows);

/* Sorts in ascending order: by marks, unless the nodes are few or sparse. */
void tsi_amg_row_sort(int32_t *nodes, int32_t count, uint64_t *marks);

/* Writes the row and clears it; returns the number of its entries. */
static inline int32_t tsi_amg_row_write(tsi_amg_row row, int32_t unknowns, int32_t *indices, float *values) {
  const int32_t count = row.count;
  if (!row.known) tsi_amg_row_sort(row.nodes, count, row.marks);
  for (int32_t c = 0; c < count; c++) {
    const int32_t node = row.nodes[c];
    double *sums = row.sums + row.places[node];
    row.places[node] = -1;
    for (int32_t u = 0; u < unknowns; u++) {
      *indices++ = node * unknowns + u;
      *values++ = (float)sums[u];
      sums[u] = 0;
    }
  }
  return count * unknowns;
}

/* A matrix assembled by parts, each in the order of its rows. If the pattern exists, it is filled in place.
 * Otherwise the entries are stored separately, and offsets[i + 1] is the length of row i. */
typedef struct tsi_amg_target {
  tsi_amg_csr *csr;
  size_t *begins; /* per part, in indices and values; NULL: in place */
  int32_t *indices;
  float *values;
} tsi_amg_target;

/* The index of the first entry that a part writes. */
static inline size_t tsi_amg_target_begin(const tsi_amg_target *target, size_t part, int parts) {
  return target->begins ? target->begins[part]
                        : (size_t)target->csr->offsets[tsi_amg_begin(target->csr->rows, part, parts)];
}

/* Begins row i. */
static inline void tsi_amg_row_begin(tsi_amg_row *row, int32_t unknowns, const tsi_amg_target *target,
                                     int32_t i) {
  row->known = !target->begins;
  if (!row->known) return;
  const int32_t *offsets = target->csr->offsets + i;
  row->count = 0;
  for (int32_t e = offsets[0]; e < offsets[1]; e += unknowns) {
    const int32_t node = target->indices[e] / unknowns;
    row->places[node] = e - offsets[0];
    row->nodes[row->count++] = node;
  }
}

/* The sums of a node. Branch-free, because it is unpredictable whether the node has been found before. */
static inline double *tsi_amg_find(tsi_amg_row *row, int32_t unknowns, int32_t node) {
  const int32_t found = row->places[node], place = found < 0 ? row->count * unknowns : found;
  if (row->known) return row->sums + found;
  row->places[node] = place;
  row->nodes[row->count] = node;
  row->count += found < 0;
  return row->sums + place;
}

/* Records the number of entries of row i. */
static inline void tsi_amg_target_note(const tsi_amg_target *target, int32_t i, int32_t entries) {
  if (target->begins) target->csr->offsets[i + 1] = entries;
}

/* Assembles `csr` (rows x columns) by calling body(arguments, ...) for the parts. sizes[p] is the maximum
 * number of entries of part p; `target` belongs to the arguments. */
ts_status tsi_amg_assemble(ts_context *context, int32_t rows, int32_t columns, int parts, const size_t *sizes,
                           tsi_amg_csr *csr, tsi_amg_target *target, tsi_body body, const void *arguments);

#endif
