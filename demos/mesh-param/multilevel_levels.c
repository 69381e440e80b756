#include "multilevel_levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weights below this part of a row's largest are left out: half of the coarse matrices' entries for a few
 * iterations more. At a tenth it is twice the iterations. */
static const double least_weight = 0.02;
static const double rounding = 1e-12;
enum { least_vertices = 400, most_dense = 2000, most_numbers = 1 << 22, power_steps = 20 };

/* ---- Prolongation ---- */

/* Places of vertices between those of a coarser mesh. */
typedef struct places {
  int32_t *number;         /* of a flat vertex among the coarser mesh's, -1 where it is none of them */
  int32_t *first, *length; /* of a flat vertex that was taken away: its terms */
  int32_t *vertex;         /* flat, of the coarser mesh */
  double *weight;
  int64_t count, capacity;
  double *sum; /* of a flat vertex, for one row; 0 elsewhere */
  int32_t *touched;
} places;

static void places_free(places *p) {
  free(p->number);
  free(p->first);
  free(p->length);
  free(p->vertex);
  free(p->weight);
  free(p->sum);
  free(p->touched);
}

static int places_create(int32_t vertices, places *p) {
  const size_t count = (size_t)vertices + 1;
  *p = (places){.number = calloc(count, sizeof *p->number),
                .first = calloc(count, sizeof *p->first),
                .length = calloc(count, sizeof *p->length),
                .capacity = 4 * (int64_t)count,
                .vertex = calloc(4 * count, sizeof *p->vertex),
                .weight = calloc(4 * count, sizeof *p->weight),
                .sum = calloc(count, sizeof *p->sum),
                .touched = calloc(count, sizeof *p->touched)};
  return !p->number || !p->first || !p->length || !p->vertex || !p->weight || !p->sum || !p->touched;
}

static int reserve(places *p, int64_t more) {
  if (p->count + more <= p->capacity) return 0;
  const int64_t capacity = 2 * p->capacity + more;
  int32_t *vertex = realloc(p->vertex, (size_t)capacity * sizeof *vertex);
  if (vertex) p->vertex = vertex;
  double *weight = realloc(p->weight, (size_t)capacity * sizeof *weight);
  if (weight) p->weight = weight;
  if (!vertex || !weight || capacity > INT32_MAX) return 1;
  p->capacity = capacity;
  return 0;
}

static int32_t add_term(places *p, int32_t vertex, double weight, int32_t touched) {
  if (p->sum[vertex] == 0) p->touched[touched++] = vertex;
  p->sum[vertex] += weight;
  return touched;
}

/* Of a vertex whose neighbours have their places already. */
static int place_vertex(places *p, const hierarchy_vertex *removed) {
  int32_t touched = 0;
  for (int32_t k = 0; k < removed->neighbours; k++) {
    const int32_t v = removed->neighbour[k];
    const double weight = (double)removed->weight[k];
    if (weight <= 0) continue;
    if (p->number[v] >= 0) {
      touched = add_term(p, v, weight, touched);
      continue;
    }
    for (int32_t e = p->first[v]; e < p->first[v] + p->length[v]; e++)
      touched = add_term(p, p->vertex[e], weight * p->weight[e], touched);
  }
  if (reserve(p, touched)) return 1;
  double largest = 0, kept = 0;
  for (int32_t k = 0; k < touched; k++) largest = fmax(largest, p->sum[p->touched[k]]);
  const int32_t first = (int32_t)p->count;
  for (int32_t k = 0; k < touched; k++) {
    const int32_t v = p->touched[k];
    if (p->sum[v] > least_weight * largest) {
      kept += p->sum[v];
      p->vertex[p->count] = v;
      p->weight[p->count++] = p->sum[v];
    }
    p->sum[v] = 0;
  }
  for (int64_t e = first; e < p->count; e++) p->weight[e] /= kept;
  p->first[removed->vertex] = first;
  p->length[removed->vertex] = (int32_t)p->count - first;
  return 0;
}

/* What level k of the hierarchy has taken away from the one before, the last one first. */
static int place_level(const hierarchy *h, int k, int32_t vertices, places *p) {
  const hierarchy_level *coarse = &h->level[k];
  const int32_t least = k ? h->level[k - 1].removed : 0;
  for (int32_t v = 0; v < vertices; v++) p->number[v] = -1;
  for (int32_t i = 0; i < coarse->vertex_count; i++) p->number[coarse->vertices[i]] = i;
  p->count = 0;
  for (int32_t i = coarse->removed; i-- > least;)
    if (place_vertex(p, &h->removed[i])) return 1;
  return 0;
}

static int32_t add_rows(const places *p, const unsigned char *pinned, int32_t v, int part, int32_t at,
                        sparse *P) {
  if (p->number[v] >= 0) {
    P->column[at] = 2 * p->number[v] + part;
    P->value[at++] = 1;
    return at;
  }
  for (int32_t e = p->first[v]; e < p->first[v] + p->length[v]; e++) {
    if (pinned[p->vertex[e]]) continue; /* what is to be found is 0 there */
    P->column[at] = 2 * p->number[p->vertex[e]] + part;
    P->value[at++] = p->weight[e];
  }
  return at;
}

/* u and v of the finer level's vertices; `fine` names them, NULL: all flat ones. */
static int prolongation(const places *p, const unsigned char *pinned, const int32_t *fine, int32_t vertices,
                        int32_t coarse, sparse *P) {
  if (sparse_create(2 * vertices, 2 * coarse, 2 * (p->count + vertices), P)) return 1;
  int32_t at = 0;
  for (int32_t i = 0; i < vertices; i++)
    for (int part = 0; part < 2; part++) {
      at = add_rows(p, pinned, fine ? fine[i] : i, part, at, P);
      P->offsets[2 * i + part + 1] = at;
    }
  return 0;
}

/* ---- Matrices ---- */

static int coarsen(const sparse *A, const sparse *P, sparse *R, sparse *coarse) {
  sparse AP;
  if (sparse_transpose(P, R) || sparse_multiply(A, P, &AP)) return 1;
  const int failed = sparse_multiply(R, &AP, coarse);
  sparse_free(&AP);
  return failed || sparse_prune(coarse, rounding);
}

static double *inverse_roots(const sparse *A) {
  double *scale = malloc(((size_t)A->rows + 1) * sizeof *scale);
  for (int32_t i = 0; i < A->rows && scale; i++) {
    const double diagonal = sparse_diagonal(A, i);
    scale[i] = diagonal > 0 ? 1 / sqrt(diagonal) : 1;
  }
  return scale;
}

/* By the power method, which comes near enough from below for the smoother, whose bound lies above it. */
static double largest_eigenvalue(const sparse *A) {
  const size_t n = (size_t)A->rows;
  double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), size = 1;
  uint32_t random = 1;
  for (size_t i = 0; i < n && x; i++) {
    random = random * 1664525u + 1013904223u;
    x[i] = random / 4294967296.0 - 0.5;
  }
  for (int k = 0; k < power_steps && x && y; k++) {
    double xx = 0, yy = 0;
    for (int32_t i = 0; i < A->rows; i++) {
      y[i] = 0;
      for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) y[i] += A->value[e] * x[A->column[e]];
      xx += x[i] * x[i];
      yy += y[i] * y[i];
    }
    size = xx > 0 ? sqrt(yy / xx) : 1;
    for (size_t i = 0; i < n; i++) x[i] = size > 0 ? y[i] / size : 0;
  }
  const double found = x && y ? size : NAN;
  free(x);
  free(y);
  return found;
}

/* Cholesky's factorization A = R^T R in place, the upper triangle, row by row; 1 where A is not positive
 * definite. */
static int factorize(double *a, size_t n) {
  for (size_t k = 0; k < n; k++) {
    double *row = a + k * n;
    if (!(row[k] > 0)) return 1;
    const double root = sqrt(row[k]);
    for (size_t j = k; j < n; j++) row[j] /= root;
    for (size_t i = k + 1; i < n; i++) {
      if (row[i] == 0) continue;
      for (size_t j = i; j < n; j++) a[i * n + j] -= row[i] * row[j];
    }
  }
  return 0;
}

/* Row i of the inverse of L = R^T, of which those before are there: (e_i - sum of l_ik (row k)) / l_ii. */
static void invert_row(const double *R, size_t n, size_t i, double *const *rows) {
  double *row = rows[i];
  const double diagonal = R[i * n + i];
  memset(row, 0, (i + 1) * sizeof *row);
  for (size_t k = 0; k < i; k++) {
    const double l = R[k * n + i] / diagonal;
    for (size_t j = 0; j <= k && l != 0; j++) row[j] -= l * rows[k][j];
  }
  row[i] = 1 / diagonal;
}

/* Keeps of row i of the block from row `first` on what is not small beyond single precision; sums of numbers
 * near its end are slow. */
static void append_row(const double *row, int32_t first, size_t i, sparse *A) {
  double largest = 0;
  int32_t at = A->offsets[(size_t)first + i];
  for (size_t j = 0; j <= i; j++) largest = fmax(largest, fabs(row[j]));
  for (size_t j = 0; j <= i; j++) {
    if (fabs(row[j]) <= 1e-9 * largest) continue;
    A->column[at] = first + (int32_t)j;
    A->value[at++] = row[j];
  }
  A->offsets[(size_t)first + i + 1] = at;
}

/* The row after the last one of the block that begins with row `first`: no entry joins it to later rows. */
static int32_t block_end(const sparse *A, int32_t first) {
  int32_t last = first;
  for (int32_t i = first; i <= last; i++)
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++)
      if (A->column[e] > last) last = A->column[e];
  return last + 1;
}

/* What the inverse of a triangular factor of every block has. */
static int64_t count_blocks(const sparse *A, int32_t *largest) {
  int64_t count = 0;
  *largest = 0;
  for (int32_t first = 0, end; first < A->rows; first = end) {
    end = block_end(A, first);
    const int64_t n = end - first;
    if (n > *largest) *largest = (int32_t)n;
    count += n * (n + 1) / 2;
  }
  return count;
}

/* Rows first .. first + n - 1. `dense` and `numbers` have room. */
static int invert_block(const sparse *A, int32_t first, size_t n, double *dense, double **rows, double *numbers,
                        sparse *inverse) {
  memset(dense, 0, n * n * sizeof *dense);
  for (size_t i = 0; i < n; i++)
    for (int32_t e = A->offsets[(size_t)first + i]; e < A->offsets[(size_t)first + i + 1]; e++)
      dense[i * n + (size_t)(A->column[e] - first)] += A->value[e];
  if (factorize(dense, n)) return 1;
  for (size_t i = 0; i < n; i++) {
    rows[i] = numbers + i * (i + 1) / 2;
    invert_row(dense, n, i, rows);
    append_row(rows[i], first, i, inverse);
  }
  return 0;
}

/* The inverse of Cholesky's factor, block by block, as charts have no entries in common. `regular`: whether
 * there is one. */
static int invert(const sparse *A, int64_t count, int32_t largest, sparse *inverse, int *regular) {
  const size_t n = largest > 0 ? (size_t)largest : 1;
  double *dense = malloc(n * n * sizeof *dense), **rows = malloc(n * sizeof *rows),
         *numbers = malloc(n * (n + 1) / 2 * sizeof *numbers);
  const int failed = !dense || !rows || !numbers || sparse_create(A->rows, A->rows, count, inverse);
  *regular = !failed;
  for (int32_t first = 0, end; first < A->rows && *regular; first = end) {
    end = block_end(A, first);
    *regular = !invert_block(A, first, (size_t)(end - first), dense, rows, numbers, inverse);
  }
  free(dense);
  free(rows);
  free(numbers);
  return failed;
}

/* ---- All of it ---- */

/* The levels' matrices as they come from each other; level 0 is there. */
static int build_levels(const hierarchy *h, int32_t vertices, const unsigned char *pinned, places *p,
                        coarse_levels *out) {
  for (int k = 0; k < h->count; k++) {
    coarse_level *fine = &out->level[k], *coarse = &out->level[k + 1];
    const int32_t *names = k ? h->level[k - 1].vertices : NULL;
    const int32_t count = k ? h->level[k - 1].vertex_count : vertices;
    if (place_level(h, k, vertices, p) ||
        prolongation(p, pinned, names, count, h->level[k].vertex_count, &fine->P))
      return 1;
    if (coarsen(&fine->A, &fine->P, &fine->R, &coarse->A)) return 1;
  }
  return 0;
}

/* Every matrix to the diagonal 1; the transfers follow. */
static int scale_levels(coarse_levels *out, int count) {
  double *finer = NULL;
  for (int k = 0; k < count; k++) {
    coarse_level *l = &out->level[k];
    double *scale = inverse_roots(&l->A);
    if (!scale) {
      if (k > 1) free(finer);
      return 1;
    }
    sparse_scale(&l->A, scale, scale);
    l->largest = largest_eigenvalue(&l->A);
    if (k) {
      coarse_level *before = &out->level[k - 1];
      for (int32_t i = 0; i < before->A.rows; i++) finer[i] = 1 / finer[i];
      sparse_scale(&before->P, finer, scale);
      sparse_scale(&before->R, scale, finer);
      for (int32_t i = 0; i < before->A.rows; i++) finer[i] = 1 / finer[i];
      if (k > 1) free(finer);
    } else {
      out->scale = scale;
    }
    finer = scale;
  }
  if (count > 1) free(finer);
  return 0;
}

/* All matrices of the hierarchy, or in `why` what is in the way. */
static int build(const hierarchy *h, int32_t vertices, const unsigned char *pinned, coarse_levels *out,
                 char why[MESH_MESSAGE]) {
  places p = {0};
  const sparse *coarsest = &out->level[h->count].A;
  int regular = 0;
  int failed = places_create(vertices, &p) || build_levels(h, vertices, pinned, &p, out);
  places_free(&p);
  if (failed) return 1;
  int32_t largest;
  const int64_t count = count_blocks(coarsest, &largest);
  if (largest > most_dense || count > most_numbers) {
    mesh_fail(why, "a part has %d vertices left on the coarsest mesh, expected %d at most", (int)(largest / 2),
              most_dense / 2);
    return 0;
  }
  failed = scale_levels(out, h->count + 1) || invert(coarsest, count, largest, &out->inverse, &regular) ||
           (regular && sparse_transpose(&out->inverse, &out->inverse_transposed));
  for (int k = 0; k <= h->count; k++) failed |= !(out->level[k].largest >= 0);
  if (regular)
    out->count = h->count + 1;
  else
    mesh_fail(why, "the coarsest mesh's matrix is not positive definite");
  return failed;
}

int coarse_levels_create(const mesh *m, const charts *c, const unsigned char *pinned, sparse *A,
                         coarse_levels *out, char why[MESH_MESSAGE], char message[MESH_MESSAGE]) {
  hierarchy h;
  *out = (coarse_levels){0};
  out->level[0].A = *A;
  *A = (sparse){0};
  if (hierarchy_create(m, c, pinned, least_vertices, &h, message)) return 1;
  const int failed = build(&h, c->vertices, pinned, out, why);
  hierarchy_destroy(&h);
  return failed ? mesh_fail(message, "out of memory for the matrices of coarser meshes") : 0;
}

void coarse_levels_free(coarse_levels *l) {
  for (int k = 0; k < LEVELS_MOST; k++) {
    sparse_free(&l->level[k].A);
    sparse_free(&l->level[k].P);
    sparse_free(&l->level[k].R);
  }
  sparse_free(&l->inverse);
  sparse_free(&l->inverse_transposed);
  free(l->scale);
  *l = (coarse_levels){0};
}
