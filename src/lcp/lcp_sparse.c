/* Sparse matrices of complementarity problems from rows of numbers: in blocks of M, or in blocks of H and of
 * G = H M_0^-1. A first pass over the entries counts blocks, a second one finds their columns, a third adds. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/matrix/csr.h"
#include "lcp.h"

typedef struct maker {
  const ts_lcp *lcp;
  const ts_csr *csr;  /* M or H */
  const double *mass; /* M_0^-1; NULL: M */
  tsi_lcp_sparse *sparse;
  int32_t problem; /* of the current contact, + 1 */
  int32_t groups;  /* of `width` columns of csr */
  int32_t *marked; /* of each group: the last contact that was found to have it, + 1 */
  int32_t *index;  /* its column of blocks in the current problem; -1: no force moves it */
  int32_t *owner;  /* that problem, + 1 */
  int32_t *source; /* of each body its group */
  int32_t *places; /* of each column of blocks its block in the current row */
} maker;

/* ---- Columns of blocks ---- */

static int is_fixed(const maker *m, int32_t group) {
  const size_t numbers = (size_t)m->sparse->width * (size_t)m->sparse->width;
  const double *block = m->mass + (size_t)group * numbers;
  for (size_t k = 0; k < numbers; k++)
    if (block[k] != 0) return 0;
  return 1;
}

/* Bodies are counted as contacts first touch them, in each problem of a batch for itself: the ground, which
 * touches many, links none. */
static int32_t column_of(maker *m, int32_t contact, int32_t group) {
  if (!m->mass) return group == contact ? -1 : group;
  if (m->owner[group] != m->problem) {
    m->owner[group] = m->problem;
    m->index[group] = is_fixed(m, group) ? -1 : m->sparse->bodies;
    if (m->index[group] >= 0 && m->source) m->source[m->sparse->bodies] = group;
    m->sparse->bodies += m->index[group] >= 0;
  }
  return m->index[group];
}

/* The group of a column, which is as a rule that of the last one. */
static int32_t group_of(const maker *m, int32_t column, int32_t last) {
  const int32_t width = m->sparse->width, offset = column - last * width;
  return offset >= 0 && offset < width ? last : column / width;
}

/* Columns of a contact's blocks; NULL: counts them alone. */
static int32_t find_columns(maker *m, int32_t contact, int32_t *columns) {
  const ts_csr *csr = m->csr;
  const int32_t row = contact * m->sparse->dimension;
  const int32_t first = csr->row_offsets[row], last = csr->row_offsets[row + m->sparse->dimension];
  int32_t count = 0, group = 0;
  m->problem = row / m->lcp->size + 1;
  for (int32_t e = first; e < last; e++) {
    group = group_of(m, csr->column_indices[e], group);
    if (m->marked[group] == contact + 1 || !(tsi_lcp_value(csr, e) != 0)) continue;
    m->marked[group] = contact + 1;
    const int32_t column = column_of(m, contact, group);
    if (column < 0) continue;
    if (columns) columns[count] = column;
    count++;
  }
  return count;
}

static void restart(maker *m) {
  const size_t groups = (size_t)m->groups;
  m->sparse->bodies = 0;
  memset(m->marked, 0, groups * sizeof *m->marked);
  if (m->mass) memset(m->owner, 0, groups * sizeof *m->owner);
}

static int compare(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static int is_sorted(const int32_t *list, int32_t count) {
  for (int32_t k = 1; k < count; k++)
    if (list[k] < list[k - 1]) return 0;
  return 1;
}

/* ---- Storage ---- */

static void *take(const maker *m, size_t count, size_t size) {
  return tsi_calloc(m->lcp->context, count + 1, size);
}

static ts_status out_of_memory(const maker *m) {
  return tsi_out_of_memory(m->lcp->context, "sparse contacts",
                           (size_t)m->csr->row_offsets[m->csr->rows] * sizeof(double));
}

static ts_status start(maker *m) {
  const size_t groups = (size_t)m->groups, contacts = (size_t)m->sparse->contacts;
  m->marked = take(m, groups, sizeof *m->marked);
  m->index = take(m, m->mass ? groups : 0, sizeof *m->index);
  m->owner = take(m, m->mass ? groups : 0, sizeof *m->owner);
  m->sparse->row_start = take(m, contacts, sizeof *m->sparse->row_start);
  return m->marked && m->index && m->owner && m->sparse->row_start ? TS_OK : out_of_memory(m);
}

static ts_status make_storage(maker *m) {
  tsi_lcp_sparse *s = m->sparse;
  const size_t contacts = (size_t)s->contacts, d = (size_t)s->dimension;
  const size_t blocks = (size_t)s->row_start[contacts], numbers = blocks * d * (size_t)s->width;
  const size_t columns = m->mass ? (size_t)s->bodies : contacts;
  s->columns = take(m, blocks, sizeof *s->columns);
  s->blocks = take(m, numbers, sizeof *s->blocks);
  s->diagonal = take(m, contacts * d * d, sizeof *s->diagonal);
  m->places = take(m, columns, sizeof *m->places);
  if (m->mass) s->mass_blocks = take(m, numbers, sizeof *s->mass_blocks);
  if (m->mass) m->source = take(m, columns, sizeof *m->source);
  const int is_whole = s->columns && s->blocks && s->diagonal && m->places;
  return is_whole && (!m->mass || (s->mass_blocks && m->source)) ? TS_OK : out_of_memory(m);
}

static ts_status find_blocks(maker *m) {
  tsi_lcp_sparse *s = m->sparse;
  int64_t count = 0;
  restart(m);
  for (int32_t c = 0; c < s->contacts; c++) {
    count += find_columns(m, c, NULL);
    s->row_start[c + 1] = (int32_t)count; /* entries are counted in int32_t, blocks are not more */
  }
  TSI_TRY(make_storage(m));
  restart(m);
  for (int32_t c = 0; c < s->contacts; c++) {
    int32_t *columns = s->columns + s->row_start[c];
    const int32_t found = find_columns(m, c, columns);
    if (!is_sorted(columns, found)) qsort(columns, (size_t)found, sizeof *columns, compare);
  }
  return TS_OK;
}

/* ---- Numbers ---- */

static void add_entries(maker *m, int32_t contact, int32_t i) {
  const tsi_lcp_sparse *s = m->sparse;
  const ts_csr *csr = m->csr;
  const size_t d = (size_t)s->dimension, w = (size_t)s->width;
  const int32_t row = contact * s->dimension + i;
  int32_t last = -1, column = -1;
  for (int32_t e = csr->row_offsets[row]; e < csr->row_offsets[row + 1]; e++) {
    const double value = tsi_lcp_value(csr, e);
    if (!(value != 0)) continue;
    const int32_t group = group_of(m, csr->column_indices[e], last);
    const size_t k = (size_t)(csr->column_indices[e] - group * s->width);
    if (group != last) column = column_of(m, contact, group), last = group;
    if (column >= 0)
      s->blocks[((size_t)m->places[column] * d + (size_t)i) * w + k] += value;
    else if (!m->mass)
      s->diagonal[((size_t)contact * d + (size_t)i) * d + k] += value;
  }
}

/* G = H M_0^-1 of a contact's blocks, and what they add to its block of M, H G^T. */
static void multiply_mass(maker *m, int32_t contact) {
  const tsi_lcp_sparse *s = m->sparse;
  const size_t d = (size_t)s->dimension, w = (size_t)s->width;
  double *diagonal = s->diagonal + (size_t)contact * d * d;
  for (int32_t b = s->row_start[contact]; b < s->row_start[contact + 1]; b++) {
    const double *H = s->blocks + (size_t)b * d * w;
    const double *mass = m->mass + (size_t)m->source[s->columns[b]] * w * w;
    double *G = s->mass_blocks + (size_t)b * d * w;
    for (size_t i = 0; i < d; i++)
      for (size_t k = 0; k < w; k++)
        for (size_t l = 0; l < w; l++) G[i * w + l] += H[i * w + k] * mass[k * w + l];
    for (size_t i = 0; i < d; i++)
      for (size_t j = 0; j < d; j++)
        for (size_t k = 0; k < w; k++) diagonal[i * d + j] += H[i * w + k] * G[j * w + k];
  }
}

static void add_numbers(maker *m) {
  const tsi_lcp_sparse *s = m->sparse;
  if (m->mass) restart(m);
  for (int32_t c = 0; c < s->contacts; c++) {
    m->problem = c * s->dimension / m->lcp->size + 1;
    for (int32_t b = s->row_start[c]; b < s->row_start[c + 1]; b++) m->places[s->columns[b]] = b;
    for (int32_t i = 0; i < s->dimension; i++) add_entries(m, c, i);
    if (m->mass) multiply_mass(m, c);
  }
}

/* ---- Checks ---- */

static ts_status check_numbers(const ts_lcp *lcp, const double *numbers, int32_t first, int32_t last,
                               int32_t contact, size_t width) {
  const size_t d = (size_t)lcp->dimension, begin = (size_t)first * d * width, end = (size_t)last * d * width;
  const double most = lcp->is_double ? DBL_MAX : (double)FLT_MAX;
  int unsure = 0;
  for (size_t k = begin; k < end; k++) unsure |= !(fabs(numbers[k]) <= most);
  for (size_t k = begin; unsure && k < end; k++)
    if (!tsi_lcp_is_number(lcp, numbers[k]))
      return tsi_fail(lcp->context, TS_ERROR_INVALID_ARGUMENT, "the matrix holds %g in row %zu%s%s", numbers[k],
                      (size_t)contact * d + k / width % d,
                      lcp->batch > 1 ? ", rows of all problems counted" : "",
                      isfinite(numbers[k]) ? ", beyond single precision" : "");
  return TS_OK;
}

static ts_status check(const ts_lcp *lcp, const tsi_lcp_sparse *s) {
  const size_t d = (size_t)s->dimension, w = (size_t)s->width;
  for (int32_t c = 0; c < s->contacts; c++) {
    const int32_t first = s->row_start[c], last = s->row_start[c + 1];
    TSI_TRY(check_numbers(lcp, s->blocks, first, last, c, w));
    if (s->mass_blocks) TSI_TRY(check_numbers(lcp, s->mass_blocks, first, last, c, w));
    TSI_TRY(check_numbers(lcp, s->diagonal, c, c + 1, c, d));
    for (size_t i = 0; i < d; i++)
      TSI_TRY(tsi_lcp_check_diagonal(lcp, (size_t)c * d + i, s->diagonal[((size_t)c * d + i) * d + i]));
  }
  return TS_OK;
}

/* ---- Dense matrices ---- */

/* As rows of what is not 0, NaNs among them. */
static ts_status compress(const ts_lcp *lcp, const ts_lcp_desc *desc, ts_csr *csr, int32_t **lists,
                          double **values) {
  const size_t rows = tsi_lcp_unknowns(lcp), n = (size_t)lcp->size, all = rows * n;
  size_t entries = 0;
#define AT(k) (desc->matrix ? (double)desc->matrix[k] : desc->double_matrix[k])
  for (size_t k = 0; k < all; k++) entries += AT(k) != 0;
  if (entries > INT32_MAX)
    return tsi_fail(lcp->context, TS_ERROR_LIMIT, "%zu entries are not 0; sparse storage has room for %d",
                    entries, INT32_MAX);
  *lists = tsi_calloc(lcp->context, rows + 1 + entries, sizeof **lists);
  *values = tsi_calloc(lcp->context, entries + 1, sizeof **values);
  if (!*lists || !*values) return tsi_out_of_memory(lcp->context, "sparse contacts", entries * sizeof **values);
  int32_t *columns = *lists + rows + 1, count = 0;
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < n; j++)
      if (AT(i * n + j) != 0) {
        columns[count] = (int32_t)(i / n * n + j);
        (*values)[count++] = AT(i * n + j);
      }
    (*lists)[i + 1] = count;
  }
#undef AT
  *csr = (ts_csr){.rows = (int32_t)rows,
                  .columns = (int32_t)rows,
                  .row_offsets = *lists,
                  .column_indices = columns,
                  .double_values = *values};
  return TS_OK;
}

/* ---- The whole of it ---- */

static ts_status make(maker *m) {
  TSI_TRY(start(m));
  TSI_TRY(find_blocks(m));
  add_numbers(m);
  TSI_TRY(check(m->lcp, m->sparse));
  return tsi_lcp_make_units(m->lcp->context, m->sparse);
}

static ts_status create(const ts_lcp *lcp, const ts_lcp_desc *desc, const ts_csr *csr, tsi_lcp_sparse **out) {
  ts_context *context = lcp->context;
  const int32_t mass_block = desc->mass_block ? desc->mass_block : 1;
  tsi_lcp_sparse *sparse = tsi_calloc(context, 1, sizeof *sparse);
  if (!sparse) return tsi_out_of_memory(context, "sparse contacts", sizeof *sparse);
  sparse->dimension = lcp->dimension;
  sparse->width = desc->jacobian ? mass_block : lcp->dimension;
  sparse->contacts = csr->rows / lcp->dimension;
  maker m = {.lcp = lcp,
             .csr = csr,
             .mass = desc->jacobian ? desc->inverse_mass : NULL,
             .sparse = sparse,
             .groups = csr->columns / sparse->width};
  const ts_status status = make(&m);
  int32_t *const lists[] = {m.marked, m.index, m.owner, m.source, m.places};
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) tsi_free(context, lists[k]);
  if (status < 0) {
    tsi_lcp_sparse_destroy(context, sparse);
    return status;
  }
  *out = sparse;
  return TS_OK;
}

ts_status tsi_lcp_sparse_create(const ts_lcp *lcp, const ts_lcp_desc *desc, tsi_lcp_sparse **sparse) {
  TSI_TRY(tsi_lcp_check_given(lcp, desc));
  if (desc->jacobian) return create(lcp, desc, desc->jacobian, sparse);
  if (desc->sparse_matrix) return create(lcp, desc, desc->sparse_matrix, sparse);
  ts_csr csr;
  int32_t *lists = NULL;
  double *values = NULL;
  ts_status status = compress(lcp, desc, &csr, &lists, &values);
  if (status == TS_OK) status = create(lcp, desc, &csr, sparse);
  tsi_free(lcp->context, lists);
  tsi_free(lcp->context, values);
  return status;
}

void tsi_lcp_sparse_destroy(ts_context *context, tsi_lcp_sparse *s) {
  if (!s) return;
  double *const numbers[] = {s->blocks, s->mass_blocks, s->diagonal};
  int32_t *const lists[] = {s->row_start,    s->columns,       s->unit_start,   s->levels.start,
                            s->levels.units, s->colours.start, s->colours.units};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) tsi_free(context, numbers[k]);
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) tsi_free(context, lists[k]);
  tsi_free(context, s);
}

/* What a number of a sparse matrix costs, in those of a dense one, which are read in long rows. A sweep of the
 * processor took as long dense as sparse with 1 / 10 of n = 1000 unknowns a row, 1 / 8 of 200, and with 3 x 3
 * blocks with a quarter to a sixth of 60 to 400. */
enum { unknown_cost = 8, contact_cost = 4 };

ts_lcp_storage tsi_lcp_choose_storage(const ts_lcp *lcp, const ts_lcp_desc *desc) {
  const ts_csr *csr = desc->jacobian ? desc->jacobian : desc->sparse_matrix;
  if (!lcp->context->ops->lcp->has_sparse || !csr || csr->rows < 1 || !csr->row_offsets)
    return TS_LCP_STORAGE_DENSE;
  const double entries = (double)csr->row_offsets[csr->rows] * (desc->jacobian ? 2 : 1);
  const int cost = lcp->dimension > 1 ? contact_cost : unknown_cost;
  return cost * entries < (double)tsi_lcp_entries(lcp) ? TS_LCP_STORAGE_SPARSE : TS_LCP_STORAGE_DENSE;
}
