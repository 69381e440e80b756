/* Builds the sparse matrices of complementarity problems from CSR rows: blocks of M, or blocks of H and of G =
 * H M_0^-1. The first pass over the entries finds the blocks. The second fills and checks the blocks contact by
 * contact while they are in cache; if there are many contacts, all threads share it. */
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/clones.h"
#include "common/core/pool.h"
#include "common/matrix/csr.h"
#include "lcp.h"

/* A group is `width` columns of the given matrix. */
typedef struct group {
  int32_t contact; /* last contact that touches the group, + 1 */
  int32_t problem; /* problem for which `column` is valid, + 1 */
  int32_t column;  /* block column; -1: none */
} group;

typedef struct maker {
  const ts_lcp *lcp;
  const tsi_csr *csr; /* M or H */
  const double *mass; /* M_0^-1; NULL: blocks of M */
  tsi_lcp_sparse *sparse;
  double groups_per_column;
  group *groups;
  int32_t *source; /* group of each body */
} maker;

/* ---- Columns of blocks ---- */

/* Exact, because half a column exceeds the rounding error, and faster than integer division. */
static int32_t group_of(const maker *m, int32_t column) {
  return (int32_t)((column + 0.5) * m->groups_per_column);
}

static int is_fixed(const maker *m, int32_t index) {
  const size_t numbers = (size_t)m->sparse->width * (size_t)m->sparse->width;
  const double *block = m->mass + (size_t)index * numbers;
  for (size_t k = 0; k < numbers; k++)
    if (block[k] != 0) return 0;
  return 1;
}

/* Bodies are numbered as contacts first touch them, separately in each problem of a batch. A fixed body such as
 * the ground, which many contacts touch, gets no column and links no contacts. */
static int32_t column_of(const maker *m, int32_t contact, int32_t index) {
  if (!m->mass) return index == contact ? -1 : index;
  group *g = m->groups + index;
  const int32_t problem = contact * m->sparse->dimension / m->lcp->size + 1;
  if (g->problem != problem) {
    g->problem = problem;
    g->column = is_fixed(m, index) ? -1 : m->sparse->bodies;
    if (g->column >= 0) m->source[m->sparse->bodies++] = index;
  }
  return g->column;
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

static void find_blocks(const maker *m, int32_t contact) {
  const tsi_csr *csr = m->csr;
  const tsi_lcp_sparse *s = m->sparse;
  const int32_t row = contact * s->dimension, last = csr->row_offsets[row + s->dimension];
  const int32_t width = s->width;
  int32_t *columns = s->columns + s->row_start[contact], count = 0, begin = -width; /* of the last group */
  for (int32_t e = csr->row_offsets[row]; e < last; e++) {
    const int32_t k = csr->column_indices[e] - begin;
    if ((k >= 0 && k < width) || !(tsi_lcp_value(csr, e) != 0)) continue;
    const int32_t index = group_of(m, csr->column_indices[e]);
    begin = index * width;
    if (m->groups[index].contact == contact + 1) continue;
    m->groups[index].contact = contact + 1;
    const int32_t column = column_of(m, contact, index);
    if (column >= 0) columns[count++] = column;
  }
  if (!is_sorted(columns, count)) qsort(columns, (size_t)count, sizeof *columns, compare);
  s->row_start[contact + 1] = s->row_start[contact] + count;
}

/* ---- Storage ---- */

/* Reserves as if each entry had its own block and body; pages that are never written cost nothing. */
static ts_status reserve_lists(maker *m) {
  tsi_lcp_sparse *s = m->sparse;
  const size_t groups = (size_t)(m->csr->columns / s->width), contacts = (size_t)s->contacts;
  const size_t entries = (size_t)m->csr->row_offsets[m->csr->rows];
  const size_t numbers = 2 * (contacts + 1) + (m->mass ? 2 : 1) * entries;
  TSI_TRY(tsi_reserve(m->lcp->context, &s->lists, groups * sizeof *m->groups + numbers * sizeof *s->columns,
                      "sparse contacts"));
  m->groups = s->lists.block;
  memset(m->groups, 0, groups * sizeof *m->groups);
  s->row_start = (int32_t *)(m->groups + groups);
  s->unit_start = s->row_start + contacts + 1;
  s->columns = s->unit_start + contacts + 1;
  m->source = s->columns + entries;
  return TS_OK;
}

static ts_status reserve_numbers(const maker *m) {
  tsi_lcp_sparse *s = m->sparse;
  const size_t d = (size_t)s->dimension, diagonal = (size_t)s->contacts * d * d;
  const size_t numbers = (size_t)s->row_start[s->contacts] * d * (size_t)s->width;
  TSI_TRY(tsi_reserve(m->lcp->context, &s->numbers, (diagonal + (m->mass ? 2 : 1) * numbers) * sizeof(double),
                      "sparse contacts"));
  s->diagonal = s->numbers.block;
  s->blocks = s->diagonal + diagonal;
  s->mass_blocks = m->mass ? s->blocks + numbers : NULL;
  return TS_OK;
}

/* ---- Numbers ---- */

/* The place of a group's block in a contact's rows, or NULL if the body is fixed. Entries usually ascend, so
 * the search starts at the last place, *at. */
static double *place_of(const maker *m, int32_t contact, int32_t index, int32_t *at) {
  const tsi_lcp_sparse *s = m->sparse;
  const int32_t first = s->row_start[contact], count = s->row_start[contact + 1] - first, d = s->dimension;
  if (!m->mass && index == contact) return s->diagonal + (size_t)contact * (size_t)d * (size_t)d;
  for (int32_t k = 0; k < count; k++, *at = *at + 1 < count ? *at + 1 : 0) {
    const int32_t column = s->columns[first + *at];
    if ((m->mass ? m->source[column] : column) == index)
      return s->blocks + (size_t)(first + *at) * (size_t)d * (size_t)s->width;
  }
  return NULL;
}

static void add_entries(const maker *m, int32_t contact) {
  const tsi_lcp_sparse *s = m->sparse;
  const tsi_csr *csr = m->csr;
  const int32_t width = s->width;
  int32_t at = 0;
  for (int32_t i = 0; i < s->dimension; i++) {
    const int32_t row = contact * s->dimension + i, last = csr->row_offsets[row + 1];
    int32_t begin = -width; /* of the group that owns `place` */
    double *place = NULL;
    for (int32_t e = csr->row_offsets[row]; e < last; e++) {
      const int32_t column = csr->column_indices[e];
      const double value = tsi_lcp_value(csr, e);
      if (!(value != 0)) continue;
      if (column < begin || column >= begin + width) {
        const int32_t index = group_of(m, column);
        begin = index * width;
        place = place_of(m, contact, index, &at);
      }
      if (place) place[i * width + column - begin] += value;
    }
  }
}

/* G = H M_0^-1 of a block. Adds its contribution H G^T to the contact's block of M. */
CPU_INLINE void multiply_block(const double *restrict H, const double *restrict mass, size_t d, size_t w,
                               double *restrict G, double *restrict diagonal) {
  for (size_t i = 0; i < d; i++) {
    for (size_t l = 0; l < w; l++) G[i * w + l] = 0;
    for (size_t k = 0; k < w; k++)
      for (size_t l = 0; l < w; l++) G[i * w + l] += H[i * w + k] * mass[k * w + l];
  }
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++)
      for (size_t k = 0; k < w; k++) diagonal[i * d + j] += H[i * w + k] * G[j * w + k];
}

CPU_CLONES
static void multiply_mass(const maker *m, int32_t contact) {
  const tsi_lcp_sparse *s = m->sparse;
  const size_t d = (size_t)s->dimension, w = (size_t)s->width;
  double *diagonal = s->diagonal + (size_t)contact * d * d;
  for (int32_t b = s->row_start[contact]; b < s->row_start[contact + 1]; b++) {
    const double *H = s->blocks + (size_t)b * d * w;
    const double *mass = m->mass + (size_t)m->source[s->columns[b]] * w * w;
    double *G = s->mass_blocks + (size_t)b * d * w;
    if (d == 3 && w == 6) /* unrolled: building the whole matrix takes 0.6 of the time */
      multiply_block(H, mass, 3, 6, G, diagonal);
    else
      multiply_block(H, mass, d, w, G, diagonal);
  }
}

static void fill_blocks(const maker *m, int32_t contact) {
  const tsi_lcp_sparse *s = m->sparse;
  const size_t d = (size_t)s->dimension, numbers = d * (size_t)s->width;
  const int32_t first = s->row_start[contact], last = s->row_start[contact + 1];
  double *diagonal = s->diagonal + (size_t)contact * d * d;
  memset(diagonal, 0, d * d * sizeof *diagonal);
  memset(s->blocks + (size_t)first * numbers, 0, (size_t)(last - first) * numbers * sizeof *s->blocks);
  add_entries(m, contact);
  if (m->mass) multiply_mass(m, contact);
}

/* ---- Checks ---- */

CPU_CLONES
static int are_within(const double *numbers, size_t count, double most) {
  int beyond = 0;
  for (size_t k = 0; k < count; k++) beyond |= !(fabs(numbers[k]) <= most);
  return !beyond;
}

/* Whether all numbers are valid. If not, the caller checks them one by one to find the culprit. */
static int is_sure(const ts_lcp *lcp, const tsi_lcp_sparse *s, int32_t contact) {
  const size_t d = (size_t)s->dimension, first = (size_t)s->row_start[contact] * d * (size_t)s->width;
  const size_t count = (size_t)s->row_start[contact + 1] * d * (size_t)s->width - first;
  const double most = lcp->is_double ? DBL_MAX : (double)FLT_MAX;
  const double least = lcp->is_double ? 0 : (double)FLT_MIN;
  const double *diagonal = s->diagonal + (size_t)contact * d * d;
  int is = are_within(s->blocks + first, count, most) & are_within(diagonal, d * d, most);
  if (s->mass_blocks) is &= are_within(s->mass_blocks + first, count, most);
  for (size_t i = 0; i < d; i++) is &= diagonal[i * d + i] > least;
  return is;
}

static ts_status check_numbers(const ts_lcp *lcp, const double *numbers, int32_t first, int32_t last,
                               int32_t contact, size_t width) {
  const size_t d = (size_t)lcp->dimension, begin = (size_t)first * d * width, end = (size_t)last * d * width;
  for (size_t k = begin; k < end; k++)
    if (!tsi_lcp_is_number(lcp, numbers[k]))
      return tsi_fail(lcp->context, TS_ERROR_INVALID_ARGUMENT, "the matrix holds %g in row %zu%s%s", numbers[k],
                      (size_t)contact * d + k / width % d,
                      lcp->batch > 1 ? ", rows of all problems counted" : "",
                      isfinite(numbers[k]) ? ", beyond single precision" : "");
  return TS_OK;
}

static ts_status check(const ts_lcp *lcp, const tsi_lcp_sparse *s, int32_t contact) {
  const size_t d = (size_t)s->dimension, w = (size_t)s->width;
  const int32_t first = s->row_start[contact], last = s->row_start[contact + 1];
  const double least = lcp->is_double ? 0 : (double)FLT_MIN; /* above it no check is needed */
  TSI_TRY(check_numbers(lcp, s->blocks, first, last, contact, w));
  if (s->mass_blocks) TSI_TRY(check_numbers(lcp, s->mass_blocks, first, last, contact, w));
  TSI_TRY(check_numbers(lcp, s->diagonal, contact, contact + 1, contact, d));
  for (size_t row = (size_t)contact * d, i = 0; i < d; i++) {
    const double value = s->diagonal[(row + i) * d + i];
    if (!(value > least)) TSI_TRY(tsi_lcp_check_diagonal(lcp, row + i, value));
  }
  return TS_OK;
}

/* ---- Symmetry ---- */

/* The block of a row and a column, or NULL if the block is zero. */
static const double *block_of(const tsi_lcp_sparse *s, int32_t row, int32_t column) {
  const size_t numbers = (size_t)s->dimension * (size_t)s->dimension;
  if (row == column) return s->diagonal + (size_t)row * numbers;
  int32_t first = s->row_start[row], last = s->row_start[row + 1];
  while (first < last) {
    const int32_t middle = first + (last - first) / 2;
    if (s->columns[middle] == column) return s->blocks + (size_t)middle * numbers;
    if (s->columns[middle] < column)
      first = middle + 1;
    else
      last = middle;
  }
  return NULL;
}

static int mirrors(const tsi_lcp_sparse *s, int32_t row, int32_t column) {
  const size_t d = (size_t)s->dimension;
  const double *block = block_of(s, row, column), *other = block_of(s, column, row);
  const double *own = s->diagonal + (size_t)row * d * d, *of_other = s->diagonal + (size_t)column * d * d;
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++) {
      const double most = TSI_LCP_SLACK * (own[i * d + i] + of_other[j * d + j]);
      if (fabs(block[i * d + j] - (other ? other[j * d + i] : 0)) > most) return 0;
    }
  return 1;
}

static int is_symmetric(const tsi_lcp_sparse *s) {
  for (int32_t c = 0; c < s->contacts; c++) {
    if (!mirrors(s, c, c)) return 0;
    for (int32_t k = s->row_start[c]; k < s->row_start[c + 1]; k++)
      if (!mirrors(s, c, s->columns[k])) return 0;
  }
  return 1;
}

int tsi_lcp_sparse_is_symmetric(tsi_lcp_sparse *s) {
  if (s->symmetry == 0) s->symmetry = s->mass_blocks || is_symmetric(s) ? 1 : -1;
  return s->symmetry > 0;
}

/* ---- Dense matrices ---- */

/* Converts a dense matrix to rows of its nonzero entries, which include NaN. */
static ts_status compress(const ts_lcp *lcp, const tsi_lcp_desc *desc, tsi_csr *csr, int32_t **lists,
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
  *csr = (tsi_csr){.rows = (int32_t)rows,
                   .columns = (int32_t)rows,
                   .row_offsets = *lists,
                   .column_indices = columns,
                   .double_values = *values};
  return TS_OK;
}

/* ---- The whole matrix ---- */

static void forget_steps(ts_context *context, tsi_lcp_sparse *s) {
  int32_t *const lists[] = {s->levels.start, s->levels.units, s->colours.start, s->colours.units};
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) tsi_free(context, lists[k]);
  s->levels = s->colours = (tsi_lcp_steps){0};
}

typedef struct fill_job {
  const maker *m;
  atomic_int *unsure;
} fill_job;

static void body_fill(const void *arguments, size_t first, size_t last) {
  const fill_job *job = arguments;
  for (int32_t c = (int32_t)first; c < (int32_t)last; c++) {
    fill_blocks(job->m, c);
    if (!is_sure(job->m->lcp, job->m->sparse, c)) atomic_store(job->unsure, 1);
  }
}

enum { many = 512 }; /* minimum contacts that justify threads */

static ts_status fill(const maker *m) {
  const tsi_lcp_sparse *s = m->sparse;
  atomic_int unsure;
  const fill_job job = {.m = m, .unsure = &unsure};
  int threads;
  atomic_init(&unsure, 0);
  if (s->contacts < many) {
    body_fill(&job, 0, (size_t)s->contacts);
  } else {
    TSI_TRY(tsi_threads(m->lcp->context, &threads));
    tsi_parallel(m->lcp->context, (size_t)s->contacts, body_fill, &job);
  }
  for (int32_t c = 0; atomic_load(&unsure) && c < s->contacts; c++) TSI_TRY(check(m->lcp, s, c));
  return TS_OK;
}

static ts_status make(maker *m) {
  tsi_lcp_sparse *s = m->sparse;
  forget_steps(m->lcp->context, s);
  s->symmetry = 0;
  TSI_TRY(reserve_lists(m));
  s->bodies = s->row_start[0] = 0;
  for (int32_t c = 0; c < s->contacts; c++) find_blocks(m, c);
  TSI_TRY(reserve_numbers(m));
  TSI_TRY(fill(m));
  tsi_lcp_make_units(s);
  return TS_OK;
}

static ts_status write(const ts_lcp *lcp, const tsi_lcp_desc *desc, const tsi_csr *csr,
                       tsi_lcp_sparse *sparse) {
  const int32_t mass_block = desc->mass_block ? desc->mass_block : 1;
  sparse->dimension = lcp->dimension;
  sparse->width = desc->jacobian ? mass_block : lcp->dimension;
  sparse->contacts = csr->rows / lcp->dimension;
  maker m = {.lcp = lcp,
             .csr = csr,
             .mass = desc->jacobian ? desc->inverse_mass : NULL,
             .sparse = sparse,
             .groups_per_column = 1.0 / sparse->width};
  return make(&m);
}

ts_status tsi_lcp_sparse_write(const ts_lcp *lcp, const tsi_lcp_desc *desc, tsi_lcp_sparse *sparse) {
  TSI_TRY(tsi_lcp_check_given(lcp, desc));
  if (desc->jacobian) return write(lcp, desc, desc->jacobian, sparse);
  if (desc->sparse_matrix) return write(lcp, desc, desc->sparse_matrix, sparse);
  tsi_csr csr;
  int32_t *lists = NULL;
  double *values = NULL;
  ts_status status = compress(lcp, desc, &csr, &lists, &values);
  if (status == TS_OK) status = write(lcp, desc, &csr, sparse);
  tsi_free(lcp->context, lists);
  tsi_free(lcp->context, values);
  return status;
}

void tsi_lcp_sparse_destroy(ts_context *context, tsi_lcp_sparse *s) {
  if (!s) return;
  forget_steps(context, s);
  tsi_free(context, s->lists.block);
  tsi_free(context, s->numbers.block);
  tsi_free(context, s);
}

/* The read cost of a number in a sparse matrix, relative to one in the long rows of a dense matrix. On the CPU
 * a sparse sweep took as long as a dense one at a density of 1 / 10 for n = 1000 unknowns, and 1 / 8 for 200.
 * With 3 x 3 blocks it did at a quarter to a sixth for 60 to 400. */
enum { unknown_cost = 8, contact_cost = 4 };

ts_lcp_storage tsi_lcp_choose_storage(const ts_lcp *lcp, const tsi_lcp_desc *desc) {
  const tsi_csr *csr = desc->jacobian ? desc->jacobian : desc->sparse_matrix;
  if (!csr || csr->rows < 1 || !csr->row_offsets) return TS_LCP_STORAGE_DENSE;
  const double entries = (double)csr->row_offsets[csr->rows] * (desc->jacobian ? 2 : 1);
  const int cost = lcp->dimension > 1 ? contact_cost : unknown_cost;
  return cost * entries < (double)tsi_lcp_entries(lcp) ? TS_LCP_STORAGE_SPARSE : TS_LCP_STORAGE_DENSE;
}
