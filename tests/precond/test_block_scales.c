/* Small dense systems of preconditioners with rows and columns in different units. A matrix that is
 * well-conditioned after scaling is inverted, and a singular one is refused, both at every scale. */
#include <math.h>
#include <stdlib.h>

#include "helpers.h"

static ts_context *context;

enum { MOST = 16, BLOCKS = 3 };

/* Block-diagonal. The blocks are `of` times 2^(rows[i] + columns[j]). */
static ref_matrix make_blocks(int n, double *const *of, const int *rows, const int *columns) {
  const int32_t size = BLOCKS * n;
  ref_matrix m = {.rows = size,
                  .columns = size,
                  .offsets = calloc((size_t)size + 1, sizeof *m.offsets),
                  .indices = malloc((size_t)(size * n) * sizeof *m.indices),
                  .values = malloc((size_t)(size * n) * sizeof *m.values)};
  int32_t e = 0;
  for (int32_t i = 0; i < size; i++) {
    for (int32_t j = i / n * n; j < i / n * n + n; j++) {
      const double value = of[i / n][i % n * n + j % n];
      if (value == 0) continue;
      m.indices[e] = j;
      m.values[e++] = (float)ldexp(value, rows[i] + columns[j]);
    }
    m.offsets[i + 1] = e;
  }
  return m;
}

/* A format without blocks, because block Jacobi would adopt the blocks of a format. */
static ts_matrix_desc describe(const ref_matrix *m) {
  ts_format formats[8];
  const int count = list_formats(context, formats);
  ts_format format = TS_FORMAT_AUTO;
  for (int f = 0; f < count; f++)
    if (formats[f] == TS_FORMAT_CSR || formats[f] == TS_FORMAT_JAGGED) format = formats[f];
  return (ts_matrix_desc){.csr = ref_csr(m), .format = format, .keep_host_copy = 1};
}

/* Solves M z = r with r in the units of the rows. z is then in the inverse units of the columns. */
static void check_inverse(ts_preconditioner_kind kind, const ref_matrix *m, int n, const int *rows,
                          const int *columns) {
  const ts_preconditioner_desc desc = {.kind = kind,
                                       .block_size = kind == TS_PRECONDITIONER_BLOCK_JACOBI ? n : 0};
  ts_preconditioner *M = NULL;
  ts_matrix *A = NULL;
  const ts_matrix_desc of = describe(m);
  if (CHECK_OK(context, ts_matrix_create(context, &of, &A)) &&
      CHECK_OK(context, ts_preconditioner_create(A, &desc, &M))) {
    float *rs = ref_values((size_t)m->rows, 5, 0.5f, 1);
    for (int i = 0; i < m->rows; i++) rs[i] = ldexpf(rs[i], rows[i]);
    ts_vector *r = make_vector(ts_matrix_get_row_space(A), 1, rs),
              *z = make_vector(ts_matrix_get_row_space(A), 1, NULL);
    CHECK_OK(context, ts_preconditioner_apply(M, z, r));
    float *zs = read_vector(z);
    double worst = 0, largest = 0;
    for (int i = 0; i < m->rows; i++) {
      double rest = (double)rs[i];
      for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++)
        rest -= (double)m->values[e] * (double)zs[m->indices[e]];
      worst = fmax(worst, fabs(ldexp(rest, -rows[i])));
      largest = fmax(largest, fabs(ldexp((double)zs[i], columns[i])));
    }
    CHECK_CLOSE(worst, 0, 2e-5);
    CHECK(largest > 0.01 && largest < 100);
    free(rs), free(zs);
    ts_vector_destroy(&r), ts_vector_destroy(&z);
  }
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
}

typedef enum shape { DOMINANT, SYMMETRIC, PERMUTED } shape;

static void fill_block(double *a, int n, shape shape, ref_random *random) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const int special = shape == PERMUTED ? (i + 1) % n == j : i == j;
      a[i * n + j] = special ? 1 : (double)ref_uniform(random, -0.5f, 0.5f) / n;
      if (shape == SYMMETRIC && j < i) a[i * n + j] = a[j * n + i];
    }
}

static void check_shape(ts_preconditioner_kind kind, shape shape) {
  static const int sizes[] = {1, 2, 3, 4, 7, 16};
  ref_random random = {3};
  for (int k = 0; k < 6; k++)
    for (int scale = -60; scale <= 60; scale += 60)
      for (int spread = 0; spread <= 24; spread += 12) {
        const int n = sizes[k];
        if (n == 1 && kind == TS_PRECONDITIONER_BLOCK_JACOBI) continue;
        double blocks[BLOCKS][MOST * MOST], *of[BLOCKS];
        int rows[BLOCKS * MOST], columns[BLOCKS * MOST];
        for (int b = 0; b < BLOCKS; b++) fill_block(of[b] = blocks[b], n, shape, &random);
        for (int i = 0; i < BLOCKS * n; i++) {
          rows[i] = scale / 2 + ref_below(&random, 2 * spread + 1) - spread;
          columns[i] = shape == SYMMETRIC ? rows[i] : scale / 2 + ref_below(&random, 2 * spread + 1) - spread;
        }
        test_context_label("%s, shape %d, blocks of %d, 2^%d, spread 2^%d", ts_preconditioner_kind_name(kind),
                           (int)shape, n, scale, 2 * spread);
        ref_matrix m = make_blocks(n, of, rows, columns);
        check_inverse(kind, &m, n, rows, columns);
        ref_free(&m);
      }
}

static void block_jacobi(void) {
  check_shape(TS_PRECONDITIONER_BLOCK_JACOBI, DOMINANT);
  check_shape(TS_PRECONDITIONER_BLOCK_JACOBI, SYMMETRIC);
  check_shape(TS_PRECONDITIONER_BLOCK_JACOBI, PERMUTED);
}

static void isai(void) {
  check_shape(TS_PRECONDITIONER_ISAI, DOMINANT);
  check_shape(TS_PRECONDITIONER_ISAI, SYMMETRIC);
}

/* A single level, which is solved exactly. */
static void coarsest_level(void) {
  check_shape(TS_PRECONDITIONER_AMG, SYMMETRIC);
}

/* [[1, 0.5], [0.5, 1e8]]: only its units are unusual. */
static void two_units(void) {
  double block[4] = {1, 0.5, 0.5, 1e8}, *of[BLOCKS] = {block, block, block};
  static const int rows[2 * BLOCKS] = {0}, columns[2 * BLOCKS] = {0};
  ref_matrix m = make_blocks(2, of, rows, columns);
  test_context_label("two units");
  check_inverse(TS_PRECONDITIONER_BLOCK_JACOBI, &m, 2, rows, columns);
  check_inverse(TS_PRECONDITIONER_ISAI, &m, 2, rows, columns);
  check_inverse(TS_PRECONDITIONER_AMG, &m, 2, rows, columns);
  ref_free(&m);
}

/* The last row is the sum of the others, in integers, before rows and columns are scaled. */
static void singular(void) {
  ref_random random = {5};
  for (int n = 2; n <= MOST; n++)
    for (int scale = -60; scale <= 60; scale += 60)
      for (int spread = 0; spread <= 24; spread += 12) {
        double good[MOST * MOST], bad[MOST * MOST] = {0}, *of[BLOCKS] = {good, bad, good};
        int rows[BLOCKS * MOST], columns[BLOCKS * MOST];
        fill_block(good, n, DOMINANT, &random);
        for (int i = 0; i + 1 < n; i++)
          for (int j = 0; j < n; j++) {
            bad[i * n + j] = i == j ? 8 : ref_below(&random, 5) - 2;
            bad[(n - 1) * n + j] += bad[i * n + j];
          }
        for (int i = 0; i < BLOCKS * n; i++) {
          rows[i] = scale / 2 + ref_below(&random, 2 * spread + 1) - spread;
          columns[i] = scale / 2 + ref_below(&random, 2 * spread + 1) - spread;
        }
        ref_matrix m = make_blocks(n, of, rows, columns);
        const ts_matrix_desc desc = describe(&m);
        const ts_preconditioner_desc blocks = {.kind = TS_PRECONDITIONER_BLOCK_JACOBI, .block_size = n};
        ts_matrix *A = NULL;
        ts_preconditioner *M = NULL;
        char words[60];
        snprintf(words, sizeof words, "rows %d to %d is singular", n, 2 * n - 1);
        test_context_label("blocks of %d, 2^%d, spread 2^%d", n, scale, 2 * spread);
        CHECK_OK(context, ts_matrix_create(context, &desc, &A));
        CHECK_FAILS(context, ts_preconditioner_create(A, &blocks, &M), TS_ERROR_INVALID_ARGUMENT, words);
        ts_preconditioner_destroy(&M);
        ts_matrix_destroy(&A);
        ref_free(&m);
      }
}

/* Five points on a small grid, which is the coarsest level. Row and column k are multiplied by 2^units[k]. */
static void coarsest_grid(void) {
  enum { n = 5 };
  ref_random random = {9};
  for (int scale = -60; scale <= 60; scale += 60)
    for (int spread = 0; spread <= 24; spread += 12) {
      float values[9 * n * n] = {0}, rs[n * n];
      int units[n * n];
      for (int k = 0; k < n * n; k++) units[k] = scale / 2 + ref_below(&random, spread + 1) - spread / 2;
      for (int k = 0; k < n * n; k++)
        for (int c = 0; c < 9; c++) {
          const int x = k % n + c % 3 - 1, y = k / n + c / 3 - 1, is_near = c % 2 == 1;
          if (x < 0 || x >= n || y < 0 || y >= n || (c != 4 && !is_near)) continue;
          values[9 * k + c] = ldexpf(c == 4 ? 4 : -1, units[k] + units[y * n + x]);
        }
      for (int k = 0; k < n * n; k++) rs[k] = ldexpf(1 + (float)(k % 3), units[k]);
      test_context_label("2^%d, spread 2^%d", scale, spread);
      ts_space *grid = NULL;
      ts_matrix *A = NULL;
      ts_multigrid *mg = NULL;
      CHECK_OK(context, ts_grid_create(context, &(ts_grid_desc){.width = n, .height = n}, &grid));
      CHECK_OK(context, ts_stencil_create(grid, stencil_over(grid, values), &A));
      CHECK_OK(context, ts_multigrid_create(A, NULL, &mg));
      ts_preconditioner *M = make_cycle(mg);
      ts_vector *r = make_vector(grid, 1, rs), *z = make_vector(grid, 1, NULL);
      CHECK_OK(context, ts_preconditioner_apply(M, z, r));
      float *zs = read_vector(z);
      double worst = 0;
      for (int k = 0; k < n * n; k++) {
        double rest = (double)rs[k];
        for (int c = 0; c < 9; c++)
          if (values[9 * k + c] != 0)
            rest -= (double)values[9 * k + c] * (double)zs[k + c % 3 - 1 + (c / 3 - 1) * n];
        worst = fmax(worst, fabs(ldexp(rest, -units[k])));
      }
      CHECK_CLOSE(worst, 0, 2e-5);
      free(zs);
      ts_vector_destroy(&r), ts_vector_destroy(&z);
      ts_preconditioner_destroy(&M);
      ts_multigrid_destroy(&mg);
      ts_matrix_destroy(&A);
      ts_space_destroy(&grid);
    }
}

TEST_MAIN(CASES_IN_CONTEXT(block_jacobi, isai, coarsest_level, coarsest_grid, two_units, singular))
