/* Algebraic multigrid that several parts set up, each its own rows: it needs about as many iterations as that
 * of one part alone, for all families of matrices, partitions, and sizes of parts. */
#include <math.h>
#include <texsolve/amg.h>
#include <texsolve/solver.h>

#include "common/precond/amg/amg.h"
#include "common/precond/preconditioner.h"
#include "helpers.h"
#include "common/partition/partition.h"
#include "multi/multi.h"

static ts_context *context;

/* ---- Iterations ---- */

typedef struct outcome {
  int iterations, levels, by_parts;
  double complexity;
} outcome;

static ts_matrix *make_with_copy(ts_context *in, const ref_matrix *m) {
  const ts_matrix_desc desc = {.csr = ref_csr(m), .keep_host_copy = 1};
  ts_matrix *matrix = NULL;
  CHECK_OK(in, ts_matrix_create(in, &desc, &matrix));
  return matrix;
}

static ts_preconditioner *make_amg(ts_matrix *A, const ts_amg_desc *amg) {
  const ts_preconditioner_desc desc = {.kind = TS_PRECONDITIONER_AMG, .amg = amg};
  ts_preconditioner *M = NULL;
  CHECK_OK(A->context, ts_preconditioner_create(A, &desc, &M));
  return M;
}

/* Solves to 1e-8. */
static int solve(ts_matrix *A, ts_preconditioner *M) {
  const ts_solver_desc desc = {
      .method = TS_METHOD_CG, .preconditioner = M, .rtol = 1e-8, .max_iterations = 300};
  const int32_t rows = ts_space_get_size(ts_matrix_get_row_space(A));
  float *bs = ref_values((size_t)rows, 7, -1, 1);
  ts_vector *b = make_vector(ts_matrix_get_row_space(A), 1, bs),
            *x = make_vector(ts_matrix_get_row_space(A), 1, NULL);
  ts_result result = {0};
  CHECK_OK(A->context, solve_vectors(A, b, x, &desc, &result));
  CHECK(result.relative_residual <= desc.rtol);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  free(bs);
  return result.iterations;
}

static outcome look(ts_matrix *A, ts_preconditioner *M) {
  ts_amg_info info = {0};
  CHECK_OK(A->context, ts_preconditioner_get_amg_info(M, &info));
  const tsi_amg *amg = M->state;
  return (outcome){solve(A, M), info.levels, amg->device != NULL, info.operator_complexity};
}

static outcome run(ts_context *in, const ref_matrix *m, const ts_amg_desc *desc) {
  outcome found = {0};
  ts_matrix *A = make_with_copy(in, m);
  ts_preconditioner *M = A ? make_amg(A, desc) : NULL;
  if (M) found = look(A, M);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
  return found;
}

/* A context of one part alone. */
static ts_context *open_part(void) {
  ts_context_desc desc = test_desc();
  desc.backend = multi_part(context, 0)->backend_name;
  ts_context *alone = NULL;
  CHECK_OK(NULL, ts_context_create(&desc, &alone));
  return alone;
}

enum { ANY = -1 };

/* Compares the parts of `in` with one part alone. `by_parts`: whether the parts make the hierarchy, or ANY. */
static void compare(ts_context *in, const char *name, ref_matrix m, ts_amg_desc desc, int by_parts) {
  ts_context *alone = open_part();
  test_context_label("%s", name);
  if (desc.coarsest == 0) desc.coarsest = 30;
  const outcome one = run(alone, &m, &desc), all = run(in, &m, &desc);
  if (all.iterations > one.iterations + 2)
    test_fail(__FILE__, __LINE__, "%d iterations, one part alone has %d", all.iterations, one.iterations);
  if (all.complexity > 1.25 * one.complexity)
    test_fail(__FILE__, __LINE__, "complexity %g, one part alone has %g", all.complexity, one.complexity);
  if (by_parts != ANY) CHECK_INT(all.by_parts, by_parts);
  ref_free(&m);
  test_close(&alone);
}

/* ---- Matrices ---- */

/* Symmetric, with rows in units of their own. */
static ref_matrix in_units(ref_matrix m) {
  float *scale = ref_values((size_t)m.rows, 11, 0, 2);
  for (int32_t i = 0; i < m.rows; i++)
    for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++)
      m.values[e] *= powf(10, scale[i]) * powf(10, scale[m.indices[e]]);
  free(scale);
  return m;
}

/* The rows in another order: row i becomes row place(i). */
static ref_matrix reorder(ref_matrix m, int32_t (*place)(int32_t row, int32_t rows)) {
  ref_matrix to = {.rows = m.rows, .columns = m.columns};
  int32_t *from = malloc((size_t)m.rows * sizeof *from);
  to.offsets = calloc((size_t)m.rows + 1, sizeof *to.offsets);
  to.indices = malloc((size_t)m.offsets[m.rows] * sizeof *to.indices);
  to.values = malloc((size_t)m.offsets[m.rows] * sizeof *to.values);
  for (int32_t i = 0; i < m.rows; i++) from[place(i, m.rows)] = i;
  for (int32_t k = 0; k < m.rows; k++) {
    int32_t at = to.offsets[k];
    for (int32_t e = m.offsets[from[k]]; e < m.offsets[from[k] + 1]; e++, at++) {
      to.indices[at] = place(m.indices[e], m.rows);
      to.values[at] = m.values[e];
    }
    to.offsets[k + 1] = at;
  }
  free(from);
  ref_free(&m);
  return to;
}

/* Neighbours are in different parts. */
static int32_t scatter(int32_t row, int32_t rows) {
  const int32_t each = rows / 3;
  return row < 3 * each ? row % 3 * each + row / 3 : row;
}

static int32_t shuffle(int32_t row, int32_t rows) {
  return (int32_t)((int64_t)row * 7919 % rows); /* a prime that divides no number of rows here */
}

/* Two grids and rows between them that only have a diagonal. */
static ref_matrix with_gap(int32_t nx, int32_t ny) {
  ref_matrix m = ref_grid(nx, ny);
  const int32_t first = m.rows / 3, end = 2 * m.rows / 3;
  for (int32_t i = 0; i < m.rows; i++)
    for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++) {
      const int32_t j = m.indices[e];
      const int apart = (i >= first && i < end) || (j >= first && j < end);
      if (i != j && apart) m.values[e] = 0;
    }
  return m;
}

/* A path of strong couplings across the order of rows: -1 between i and i + step, and a small diagonal. */
static ref_matrix lines(int32_t n, int32_t count) {
  ref_matrix m = {.rows = n * count, .columns = n * count};
  m.offsets = calloc((size_t)m.rows + 1, sizeof *m.offsets);
  m.indices = malloc(3 * (size_t)m.rows * sizeof *m.indices);
  m.values = malloc(3 * (size_t)m.rows * sizeof *m.values);
  int32_t at = 0;
  for (int32_t i = 0; i < m.rows; i++) {
    const int32_t neighbours[3] = {i - count, i, i + count};
    for (int k = 0; k < 3; k++) {
      if (neighbours[k] < 0 || neighbours[k] >= m.rows) continue;
      m.indices[at] = neighbours[k];
      m.values[at++] = k == 1 ? 2.001F : -1;
    }
    m.offsets[i + 1] = at;
  }
  return m;
}

/* ---- Cases ---- */

static void families(void) {
  const ts_amg_desc usual = {0};
  compare(context, "grid", ref_grid(60, 50), usual, 1);
  compare(context, "cube", ref_laplacian_3d(16), usual, 1);
  compare(context, "27 points", ref_cube_27(13, 1, 26, -1, -1, -1), usual, 1);
  compare(context, "trilinear elements", ref_cube_27(13, 1, 32, 0, -2, -1), usual, 1);
  compare(context, "random", ref_random_spd(700, 9, 3), usual, 0); /* rows have positive couplings */
  compare(context, "units", in_units(ref_grid(60, 50)), usual, 1);
  compare(context, "torus", ref_torus_mesh(40, 60, 500, 3), usual, 1);
  compare(context, "lines", lines(40, 60), usual, 1);
  compare(context, "rotated", ref_rotated(101, 99), usual, 0); /* needs a second smoothing step */
}

static void orders(void) {
  const ts_amg_desc usual = {0};
  compare(context, "shuffled grid", reorder(ref_grid(61, 50), shuffle), usual, ANY);
  compare(context, "shuffled cube", reorder(ref_laplacian_3d(14), shuffle), usual, ANY);
  ts_context_desc desc = test_desc();
  ts_context *other = NULL;
  desc.partition = TS_PARTITION_METIS;
  REQUIRE_OK(NULL, ts_context_create(&desc, &other));
  const int metis = tsi_partition_has_metis || multi_count(other) == 1;
  compare(other, "METIS", ref_grid(60, 50), usual, 1);
  compare(other, "METIS, shuffled grid", reorder(ref_grid(61, 50), shuffle), usual, metis);
  test_close(&other);
  desc.partition = TS_PARTITION_BLOCKS;
  REQUIRE_OK(NULL, ts_context_create(&desc, &other));
  const int one = multi_count(context) == 1; /* otherwise most couplings are between parts */
  compare(other, "blocks, shuffled grid", reorder(ref_grid(61, 50), shuffle), usual, one);
  compare(other, "blocks, scattered cube", reorder(ref_laplacian_3d(14), scatter), usual, one);
  compare(other, "blocks, scattered lines", reorder(lines(40, 60), scatter), usual, ANY);
  test_close(&other);
}

/* Parts with few rows, with none, and without aggregates; hierarchies that end early. */
static void small_parts(void) {
  for (int32_t rows = 2; rows <= 9; rows++)
    compare(context, "path", lines(rows, 1), (ts_amg_desc){.coarsest = 1}, ANY);
  compare(context, "small grid", ref_grid(5, 4), (ts_amg_desc){.coarsest = 1}, ANY);
  compare(context, "gap", with_gap(40, 30), (ts_amg_desc){.coarsest = 20}, 1);
  compare(context, "one row at the end", ref_grid(20, 20), (ts_amg_desc){.coarsest = 1}, 1);
  for (int levels = 1; levels <= 3; levels++)
    compare(context, "few levels", ref_grid(60, 50), (ts_amg_desc){.max_levels = levels}, levels > 1);
  compare(context, "stalls", ref_cube_27(11, 1, 100, -1, -1, -1), (ts_amg_desc){0}, 0);
}

/* Descriptors that the host sets up. */
static void left_to_host(void) {
  compare(context, "two unknowns", ref_cube_27(8, 2, 26, -1, -1, -1), (ts_amg_desc){.unknowns = 2}, 0);
  compare(context, "l1-jacobi", ref_grid(30, 30), (ts_amg_desc){.smoother = TS_AMG_SMOOTHER_L1_JACOBI}, 0);
}

/* After an update, a hierarchy is like a new one. */
static void updates(void) {
  ref_matrix grid = ref_grid(60, 50), other = in_units(ref_grid(60, 50)), wrong = ref_grid(60, 50);
  for (int32_t e = wrong.offsets[17]; e < wrong.offsets[18]; e++)
    if (wrong.indices[e] == 17) wrong.values[e] = -1;
  ts_matrix *A = make_with_copy(context, &grid);
  ts_preconditioner *M = make_amg(A, &(ts_amg_desc){.coarsest = 20});
  const outcome before = look(A, M);
  const ts_csr csr = ref_csr(&other), bad = ref_csr(&wrong), first = ref_csr(&grid);
  CHECK_OK(context, ts_matrix_set_values(A, &csr));
  CHECK_OK(context, ts_preconditioner_update(M));
  const outcome fresh = run(context, &other, &(ts_amg_desc){.coarsest = 20}), updated = look(A, M);
  CHECK_INT(updated.iterations, fresh.iterations);
  CHECK_INT(updated.levels, fresh.levels);
  CHECK_INT(updated.by_parts, 1);
  CHECK_OK(context, ts_matrix_set_values(A, &bad));
  CHECK_INT(ts_preconditioner_update(M), TS_ERROR_INVALID_ARGUMENT);
  CHECK_CONTAINS(ts_last_error(context), "row 17 has -1");
  CHECK_OK(context, ts_matrix_set_values(A, &csr));
  CHECK_INT(look(A, M).iterations, fresh.iterations); /* the old hierarchy stays */
  CHECK_OK(context, ts_matrix_set_values(A, &first));
  CHECK_OK(context, ts_preconditioner_update(M));
  CHECK_INT(look(A, M).iterations, before.iterations);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
  ref_free(&grid), ref_free(&other), ref_free(&wrong);
}

/* The row that has no positive diagonal is named as the application numbers it. */
static void refused(void) {
  for (int32_t row = 3; row < 2950; row += 907) {
    ref_matrix m = reorder(ref_grid(61, 50), shuffle);
    for (int32_t e = m.offsets[row]; e < m.offsets[row + 1]; e++)
      if (m.indices[e] == row) m.values[e] = -1;
    ts_matrix *A = make_with_copy(context, &m);
    ts_preconditioner *M = NULL;
    char words[32];
    snprintf(words, sizeof words, "row %d has -1", row);
    CHECK_INT(ts_preconditioner_create(A, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_AMG}, &M),
              TS_ERROR_INVALID_ARGUMENT);
    CHECK_CONTAINS(ts_last_error(context), words);
    CHECK(M == NULL);
    ts_matrix_destroy(&A);
    ref_free(&m);
  }
}

/* Levels below may have any diagonal. */
static void indefinite(void) {
  ref_matrix m = ref_indefinite(60, 50);
  ts_matrix *A = make_with_copy(context, &m);
  ts_preconditioner *M = make_amg(A, &(ts_amg_desc){.coarsest = 20});
  CHECK(M != NULL);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

TEST_MAIN(CASES_IN_CONTEXT(families, orders, small_parts, left_to_host, updates, refused, indefinite))
