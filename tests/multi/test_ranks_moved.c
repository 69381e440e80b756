/* Rows that PT-Scotch moves between ranks: results are returned to the rank that gave the row. Every rank knows
 * the whole matrix for comparison. */
#include <stdlib.h>
#include <string.h>
#include <texsolve/ranks.h>
#include <texsolve/solver.h>

#include "heap.h"
#include "multi/multi.h"

static ts_context *context;
static int rank, ranks;

/* The 7-point Laplacian of a cube in random order: each block of rows needs nearly all columns. */
static ref_matrix shuffled_cube(int32_t side) {
  ref_matrix cube = ref_laplacian_3d(side), m = ref_laplacian_3d(side);
  const int32_t n = cube.rows;
  int32_t *row = malloc((size_t)n * sizeof *row), *place = malloc((size_t)n * sizeof *place), to = 0;
  ref_random random = {17};
  for (int32_t i = 0; i < n; i++) row[i] = i;
  for (int32_t i = n - 1; i > 0; i--) {
    const int32_t k = ref_below(&random, i + 1), swapped = row[i];
    row[i] = row[k], row[k] = swapped;
  }
  for (int32_t i = 0; i < n; i++) place[row[i]] = i;
  for (int32_t i = 0; i < n; i++) {
    m.offsets[i] = to;
    for (int32_t e = cube.offsets[row[i]]; e < cube.offsets[row[i] + 1]; e++, to++) {
      m.indices[to] = place[cube.indices[e]];
      m.values[to] = cube.values[e];
    }
  }
  free(row), free(place);
  ref_free(&cube);
  return m;
}

static int32_t first_row(const ref_matrix *m, int r) {
  return (int32_t)((int64_t)m->rows * r / ranks);
}

typedef struct given {
  int32_t first, count, *offsets;
  int64_t *columns;
  ts_ranks_matrix_desc desc;
} given;

static given make_given(const ref_matrix *m) {
  given g = {.first = first_row(m, rank), .count = first_row(m, rank + 1) - first_row(m, rank)};
  const int32_t start = m->offsets[g.first], entries = m->offsets[g.first + g.count] - start;
  g.offsets = malloc(((size_t)g.count + 1) * sizeof *g.offsets);
  g.columns = malloc(((size_t)entries + 1) * sizeof *g.columns);
  for (int32_t i = 0; i <= g.count; i++) g.offsets[i] = m->offsets[g.first + i] - start;
  for (int32_t e = 0; e < entries; e++) g.columns[e] = m->indices[start + e];
  g.desc = (ts_ranks_matrix_desc){
      .csr = ts_host_csr(g.count, m->columns, g.offsets, g.columns, m->values + start), .may_move = 1};
  return g;
}

static void free_given(given *g) {
  free(g->offsets), free(g->columns);
}

/* ---- Matrices ---- */

static void check_vectors(const ref_matrix *m, const given *g, const ts_matrix *A) {
  const size_t n = (size_t)m->rows, count = (size_t)g->count;
  double *xs = ref_doubles(n, 5, -1, 1), *found = calloc(n, sizeof *found);
  ts_vector *x = NULL, *y = NULL;
  const ts_vector_desc in_double = {.precision = TS_PRECISION_DOUBLE};
  if (CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &in_double, &x)) &&
      CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &in_double, &y))) {
    CHECK_OK(context, ts_ranks_vector_write(x, ts_host(xs + g->first, count)));
    CHECK_OK(context, ts_matrix_multiply(y, A, x));
    CHECK_OK(context, ts_ranks_vector_read(y, ts_host(found, count)));
    for (int32_t i = g->first; i < g->first + g->count; i++) {
      double sum = 0;
      for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++)
        sum += (double)m->values[e] * xs[m->indices[e]];
      CHECK_CLOSE(found[i - g->first], sum, 1e-12);
    }
    CHECK_OK(context, ts_ranks_vector_from(x, ranks - 1, ts_host(rank == ranks - 1 ? xs : NULL, n)));
    CHECK_OK(context, ts_ranks_vector_read(x, ts_host(found, count)));
    for (int32_t i = 0; i < g->count; i++) CHECK_CLOSE(found[i], xs[g->first + i], 1e-14);
    CHECK_OK(context, ts_ranks_vector_to(x, 0, ts_host(rank == 0 ? found : NULL, n)));
    for (size_t i = 0; i < n && rank == 0; i++) CHECK_CLOSE(found[i], xs[i], 1e-14);
    CHECK_FAILS(context, ts_ranks_vector_write(x, (ts_array){0}), TS_ERROR_INVALID_ARGUMENT, "values is NULL");
  }
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  free(xs), free(found);
}

/* Each row is on some rank. */
static void check_rows(const ref_matrix *m, const ts_matrix *A) {
  const int32_t held = ts_space_get_size(ts_matrix_get_row_space(A));
  int64_t *rows = malloc((size_t)held * sizeof *rows);
  CHECK_OK(context, ts_ranks_matrix_get_rows(A, rows));
  for (int32_t i = 1; i < held; i++) CHECK(rows[i] > rows[i - 1]);
  CHECK(rows[0] >= 0 && rows[held - 1] < m->rows);
  free(rows);
}

static ts_matrix *create(const given *g) {
  ts_matrix *A = NULL;
  CHECK_OK(context, ts_ranks_matrix_create(context, &g->desc, &A));
  return A;
}

static void moved_rows(void) {
  ref_matrix m = shuffled_cube(14);
  given g = make_given(&m);
  ts_ranks_matrix_info moved = {0}, stays = {0};
  ts_matrix *A = create(&g), *again = create(&g), *there = NULL;
  g.desc.may_move = 0;
  there = create(&g);
  if (A && again && there) {
    CHECK_OK(context, ts_ranks_matrix_get_info(there, &stays));
    CHECK_OK(context, ts_ranks_matrix_get_info(A, &moved));
    test_context_label("%s", moved.choice);
    CHECK(ranks == 1 || strstr(moved.choice, "PT-Scotch: ") != NULL);
    CHECK(ranks == 1 || 3 * moved.ghosts < stays.ghosts);
    CHECK_INT(moved.rows, m.rows);
    CHECK_INT(moved.nonzeros, ref_nonzeros(&m));
    check_rows(&m, A);
    check_vectors(&m, &g, A);
    ts_ranks_matrix_info repeated;
    CHECK_OK(context, ts_ranks_matrix_get_info(again, &repeated));
    CHECK_INT(repeated.ghosts, moved.ghosts); /* the same parts */
    CHECK_INT(repeated.first_row, moved.first_row);
  }
  ts_matrix_destroy(&A);
  ts_matrix_destroy(&again);
  ts_matrix_destroy(&there);
  free_given(&g);
  ref_free(&m);
}

/* The order of the cube is already good, so little can be gained. */
static void auto_stays(void) {
  ref_matrix m = ref_laplacian_3d(14);
  given g = make_given(&m);
  ts_matrix *A = create(&g);
  ts_ranks_matrix_info info;
  if (A && CHECK_OK(context, ts_ranks_matrix_get_info(A, &info))) {
    if (context->desc.partition == TS_PARTITION_AUTO) CHECK(strstr(info.choice, "PT-Scotch: ") == NULL);
    check_vectors(&m, &g, A);
  }
  ts_matrix_destroy(&A);
  free_given(&g);
  ref_free(&m);
}

/* Messages name rows by their given numbers. */
static void names_of_rows(void) {
  ref_matrix m = shuffled_cube(9);
  const int32_t row = m.rows / 2;
  for (int32_t e = m.offsets[row]; e < m.offsets[row + 1]; e++)
    if (m.indices[e] == row) m.values[e] = 0;
  given g = make_given(&m);
  ts_matrix *A = create(&g);
  ts_matrix_info info;
  if (A && CHECK_OK(context, ts_matrix_get_info(A, &info))) CHECK_INT(info.zero_diagonal_row, row);
  ts_matrix_destroy(&A);
  free_given(&g);
  ref_free(&m);
}

static void from_one_rank(void) {
  ref_matrix m = shuffled_cube(11);
  const size_t n = (size_t)m.rows;
  double *xs = ref_doubles(n, 3, -1, 1), *bs = calloc(n, sizeof *bs), *found = calloc(n, sizeof *found);
  for (int32_t i = 0; i < m.rows; i++)
    for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++) bs[i] += (double)m.values[e] * xs[m.indices[e]];
  const ts_matrix_desc desc = {.csr = rank == 0 ? ref_csr(&m) : (ts_csr){0}};
  const ts_vector_desc in_double = {.precision = TS_PRECISION_DOUBLE};
  ts_matrix *A = NULL;
  ts_vector *b = NULL, *x = NULL;
  if (CHECK_OK(context, ts_ranks_matrix_from(context, 0, &desc, &A)) &&
      CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &in_double, &b)) &&
      CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &in_double, &x))) {
    CHECK_OK(context, ts_ranks_vector_from(b, 0, ts_host(bs, n)));
    CHECK_OK(context, solve_vectors(A, b, x, &(ts_solver_desc){.rtol = 1e-11}, NULL));
    CHECK_OK(context, ts_ranks_vector_to(x, 0, ts_host(found, n)));
    for (size_t i = 0; i < n && rank == 0; i++) CHECK_CLOSE(found[i], xs[i], 1e-8);
  }
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_matrix_destroy(&A);
  free(xs), free(bs), free(found);
  ref_free(&m);
}

/* An invalid column on one rank. All ranks return the error. */
static void errors(void) {
  ref_matrix m = shuffled_cube(6);
  for (int by = 0; by < ranks; by++) {
    given g = make_given(&m);
    ts_matrix *A = NULL;
    if (rank == by) g.columns[3] = m.rows;
    CHECK_FAILS(context, ts_ranks_matrix_create(context, &g.desc, &A), TS_ERROR_INVALID_ARGUMENT,
                "out of range");
    CHECK(A == NULL);
    free_given(&g);
  }
  ref_free(&m);
}

/* Memory of one rank runs out at each of its allocations. All ranks return the error, and nothing is left
 * behind. */
static void memory_of_a_rank(void) {
  ts_context_desc desc = heap_desc();
  desc.threads = 1;
  desc.partition = TS_PARTITION_SCOTCH;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  rank = ts_ranks_get_rank(context);
  ranks = ts_ranks_get_count(context);
  ref_matrix m = shuffled_cube(6);
  given g = make_given(&m);
  int succeeded = ranks > 1 && !multi_ranks_of(context)->transport.divide;
  for (long n = 0; n < 2000 && !succeeded; n = heap_next(n)) {
    test_context_label("allocation %ld", n);
    ts_matrix *matrix = NULL;
    memory.countdown = rank == 0 ? n : -1;
    memory.failed = 0;
    const ts_status status = ts_ranks_matrix_create(context, &g.desc, &matrix);
    memory.countdown = -1;
    if (status == TS_OK)
      succeeded = rank != 0 || CHECK_INT(memory.failed, 0);
    else
      CHECK_FAILS(context, status, TS_ERROR_OUT_OF_HOST_MEMORY, "memory");
    ts_matrix_destroy(&matrix);
  }
  CHECK(succeeded);
  free_given(&g);
  ref_free(&m);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

/* ---- With either partition ---- */

static const ts_partition partitions[] = {TS_PARTITION_SCOTCH, TS_PARTITION_AUTO};

static ts_context_desc divide(int round) {
  ts_context_desc desc = test_desc();
  desc.partition = partitions[round];
  return desc;
}

static int know_ranks(int round) {
  rank = ts_ranks_get_rank(context);
  ranks = ts_ranks_get_count(context);
  return partitions[round] != TS_PARTITION_SCOTCH || multi_ranks_of(context)->transport.divide;
}

static const test_fixture fixture = {.context = &context, .rounds = 2, .desc = divide, .setup = know_ranks};

TEST_MAIN(CASES_WITH(&fixture, moved_rows, auto_stays, names_of_rows, from_one_rank, errors),
          CASES(memory_of_a_rank))
