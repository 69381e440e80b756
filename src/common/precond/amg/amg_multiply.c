/* The values of products of sparse matrices with known patterns (amg_places.h), bitwise as in
 * tsi_amg_product(). Each is a sum in double in the order of the columns of the left factor, rounded to a float
 * once. */
#include "amg_block.h"
#include "amg_places.h"

enum { ROOM = 512 }; /* products */

typedef struct product {
  const tsi_amg_places *places;
  double sign;
  const tsi_amg_csr *L, *M, *C;
} product;

CPU_INLINE size_t place_of(const void *list, int bytes, size_t at) {
  if (bytes == 1) return ((const uint8_t *)list)[at];
  return bytes == 2 ? ((const uint16_t *)list)[at] : (size_t)((const int32_t *)list)[at];
}

/* ---- Single entries ---- */

/* Computes products first, TSI_AMG_PIECE at once regardless of row lengths, and then adds them: two loops
 * without unpredictable branches. */
CPU_INLINE size_t multiply_row(const product *m, int bytes, int32_t row, size_t at, double *restrict sums) {
  const tsi_amg_csr *L = m->L, *M = m->M;
  const void *list = m->places->list;
  double products[ROOM + TSI_AMG_PIECE];
  int32_t count = 0;
  for (int32_t e = L->offsets[row]; e < L->offsets[row + 1]; e++) {
    const double a = m->sign * (double)L->values[e];
    const int32_t k = L->indices[e], end = M->offsets[k + 1];
    for (int32_t f = M->offsets[k]; f < end; f += TSI_AMG_PIECE) {
      for (int32_t q = 0; q < TSI_AMG_PIECE; q++) products[count + q] = a * (double)M->values[f + q];
      count += end - f < TSI_AMG_PIECE ? end - f : TSI_AMG_PIECE;
      if (count < ROOM) continue;
      for (int32_t q = 0; q < count; q++) sums[place_of(list, bytes, at++)] += products[q];
      count = 0;
    }
  }
  for (int32_t q = 0; q < count; q++) sums[place_of(list, bytes, at++)] += products[q];
  float *restrict out = m->C->values + m->C->offsets[row];
  const int32_t length = m->C->offsets[row + 1] - m->C->offsets[row];
  for (int32_t c = 0; c < length; c++) {
    out[c] = (float)sums[c];
    sums[c] = 0;
  }
  return at;
}

/* ---- Nodes ---- */

/* Multiplies the rows of a group, or one row. */
CPU_LARGE size_t multiply_group(const product *m, tsi_amg_shape s, int bytes, int32_t row, size_t at,
                                double *restrict sums) {
  const tsi_amg_csr *L = m->L, *M = m->M;
  const void *list = m->places->list;
  const int32_t first = L->offsets[row], length = L->offsets[row + 1] - first, size = s.height * s.lanes;
  double a[TSI_AMG_PIECE * TSI_AMG_PIECE];
  for (int32_t e = 0; e < length; e += s.width) {
    for (int32_t r = 0; r < s.height; r++)
      for (int32_t k = 0; k < s.width; k++)
        a[r * s.width + k] = m->sign * (double)L->values[first + r * length + e + k];
    const int32_t column = L->indices[first + e], begin = M->offsets[column];
    const int32_t nodes = M->offsets[column + 1] - begin;
    for (int32_t f = 0; f < nodes; f += s.wide) {
      const size_t place = place_of(list, bytes, at++);
      tsi_amg_add_block(s, a, M->values + begin + f, nodes, sums + place * (size_t)size);
    }
  }
  for (int32_t r = 0; r < s.height; r++) tsi_amg_write_row(m->C, row + r, s, sums + (size_t)(r * s.lanes));
  return at;
}

CPU_LARGE size_t multiply_node(const product *m, int32_t group, tsi_amg_shape s, int bytes, size_t at,
                               double *sums) {
  const int32_t row = group * s.height;
  if (m->places->is_block[group]) return multiply_group(m, s, bytes, row, at, sums);
  for (int32_t r = 0; r < s.height; r++)
    at = multiply_group(m, (tsi_amg_shape){1, 1, s.wide, s.lanes}, bytes, row + r, at, sums);
  return at;
}

/* ---- Parts ---- */

/* Specialised for the common numbers of unknowns and vectors: of A P, then of R (A P). */
CPU_INLINE size_t multiply_any(const product *m, int32_t group, size_t at, double *sums) {
  const tsi_amg_places *p = m->places;
  if (p->bytes == 1) switch (100 * p->height + 10 * p->width + p->wide) {
    case 111:
      return multiply_row(m, 1, group, at, sums);
#define CASE(h, w, n, l)                                                                                       \
  case 100 * (h) + 10 * (w) + (n):                                                                             \
    return multiply_node(m, group, (tsi_amg_shape){h, w, n, l}, 1, at, sums);
      TSI_AMG_SQUARES(CASE)
      TSI_AMG_OBLONGS(CASE)
#undef CASE
    }
  if (p->height * p->width * p->wide == 1) return multiply_row(m, p->bytes, group, at, sums);
  const tsi_amg_shape s = {p->height, p->width, p->wide, tsi_amg_lanes(p->wide)};
  return multiply_node(m, group, s, p->bytes, at, sums);
}

CPU_CLONES
static void multiply(const void *arguments, size_t first, size_t last) {
  const product *m = arguments;
  const tsi_amg_places *p = m->places;
  const int32_t groups = m->L->rows / p->height;
  for (size_t part = first; part < last; part++) {
    size_t at = p->begins[part];
    const int32_t end = tsi_amg_begin(groups, part + 1, p->parts);
    for (int32_t g = tsi_amg_begin(groups, part, p->parts); g < end; g++) {
      tsi_poll_rows(g);
      at = multiply_any(m, g, at, p->sums + part * p->room);
    }
  }
}

void tsi_amg_multiply(const ts_context *context, const tsi_amg_places *places, double sign,
                      const tsi_amg_csr *L, const tsi_amg_csr *M, const tsi_amg_csr *C) {
  tsi_parallel(context, (size_t)places->parts, multiply, &(product){places, sign, L, M, C});
}
