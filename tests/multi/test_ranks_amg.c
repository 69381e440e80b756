/* Algebraic multigrid over the rows of several ranks: the number of iterations of one process, the same bits on
 * every run, and errors of one rank that all ranks return. */
#include <texsolve/amg.h>
#include <texsolve/ranks.h>
#include <texsolve/solver.h>

#include "heap.h"

static ts_context *context;
static int rank, ranks;

/* The first row of rank r, a multiple of `unknowns`. */
static int32_t first_row(int32_t n, int32_t unknowns, int r) {
  return (int32_t)((int64_t)(n / unknowns) * r / ranks) * unknowns;
}

static ts_matrix *make_rows(const ref_matrix *m, int32_t unknowns) {
  const int32_t first = first_row(m->rows, unknowns, rank), end = first_row(m->rows, unknowns, rank + 1),
                start = m->offsets[first], entries = m->offsets[end] - start;
  int32_t *offsets = malloc(((size_t)(end - first) + 1) * sizeof *offsets);
  int64_t *columns = malloc(((size_t)entries + 1) * sizeof *columns);
  for (int32_t i = 0; i <= end - first; i++) offsets[i] = m->offsets[first + i] - start;
  for (int32_t e = 0; e < entries; e++) columns[e] = m->indices[start + e];
  const ts_ranks_matrix_desc desc = {
      .csr = ts_host_csr(end - first, m->columns, offsets, columns, m->values + start), .keep_host_copy = 1};
  ts_matrix *A = NULL;
  CHECK_OK(context, ts_ranks_matrix_create(context, &desc, &A));
  free(offsets);
  free(columns);
  return A;
}

/* ---- Solves ---- */

/* Solves to 1e-8. Returns the number of iterations. */
static int solve(ts_context *in, ts_matrix *A, const ts_amg_desc *amg, const float *bs, double **found) {
  const ts_preconditioner_desc desc = {.kind = TS_PRECONDITIONER_AMG, .amg = amg};
  ts_preconditioner *M = NULL;
  ts_result result = {0};
  ts_space *space = ts_matrix_get_row_space(A);
  ts_vector *b = NULL, *x = NULL;
  if (CHECK_OK(in, ts_preconditioner_create(A, &desc, &M)) && CHECK_OK(in, ts_vector_create(space, NULL, &b)) &&
      CHECK_OK(in, ts_vector_create(space, &(ts_vector_desc){.precision = TS_PRECISION_DOUBLE}, &x)) &&
      CHECK_OK(in, ts_vector_write(b, ts_host(bs, (size_t)ts_space_get_size(space))))) {
    const ts_solver_desc by = {
        .method = TS_METHOD_CG, .preconditioner = M, .rtol = 1e-8, .max_iterations = 300};
    CHECK_OK(in, solve_vectors(A, b, x, &by, &result));
    CHECK(result.relative_residual <= 1e-8);
    if (found) *found = read_doubles(x);
  }
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_preconditioner_destroy(&M);
  return result.iterations;
}

/* ||b - A x|| / ||b|| over all rows. All ranks get the same result. */
static double true_residual(const ref_matrix *m, ts_matrix *A, const float *bs, const double *mine) {
  double *x = calloc((size_t)m->rows, sizeof *x), square = 0, whole = 0;
  ts_vector *v = NULL;
  if (CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A),
                                         &(ts_vector_desc){.precision = TS_PRECISION_DOUBLE}, &v))) {
    const size_t count = (size_t)ts_space_get_size(ts_matrix_get_row_space(A));
    CHECK_OK(context, ts_vector_write(v, ts_host(mine, count)));
    CHECK_OK(context, ts_ranks_vector_to(v, 0, ts_host(rank == 0 ? x : NULL, (size_t)m->rows)));
    CHECK_OK(context, ts_ranks_broadcast(context, 0, x, (size_t)m->rows * sizeof *x));
  }
  ts_vector_destroy(&v);
  for (int32_t i = 0; i < m->rows; i++) {
    double r = (double)bs[i];
    for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++) r -= (double)m->values[e] * x[m->indices[e]];
    square += r * r;
    whole += (double)bs[i] * (double)bs[i];
  }
  free(x);
  return sqrt(square / whole);
}

static int iterations_of_one(const ref_matrix *m, const ts_amg_desc *amg, const float *bs) {
  ts_context *one = NULL;
  ts_matrix *A = NULL;
  int iterations = 0;
  const ts_matrix_desc desc = {.csr = ref_csr(m), .keep_host_copy = 1};
  if (CHECK_OK(NULL, ts_context_create(&(ts_context_desc){.backend = "cpu", .threads = 1}, &one)) &&
      CHECK_OK(one, ts_matrix_create(one, &desc, &A)))
    iterations = solve(one, A, amg, bs, NULL);
  ts_matrix_destroy(&A);
  ts_context_destroy(&one);
  return iterations;
}

static void check(const char *name, ref_matrix m, const ts_amg_desc *amg) {
  test_context_label("%s", name);
  const int32_t unknowns = amg && amg->unknowns ? amg->unknowns : 1;
  float *bs = ref_values((size_t)m.rows, 7, -1, 1);
  double *found = NULL, *again = NULL;
  ts_matrix *A = make_rows(&m, unknowns);
  const float *mine = bs + first_row(m.rows, unknowns, rank);
  const int one = iterations_of_one(&m, amg, bs), most = (int)(1.3 * one) + 3;
  const int iterations = solve(context, A, amg, mine, &found);
  if (iterations > most)
    test_fail(__FILE__, __LINE__, "%d iterations on %d ranks, %d on one", iterations, ranks, one);
  if (found) CHECK(true_residual(&m, A, bs, found) <= 2e-8);
  CHECK_INT(solve(context, A, amg, mine, &again), iterations);
  if (found && again)
    CHECK(memcmp(found, again, (size_t)ts_space_get_size(ts_matrix_get_row_space(A)) * sizeof *found) == 0);
  ts_matrix_destroy(&A);
  free(found), free(again), free(bs);
  ref_free(&m);
}

/* ---- Matrices ---- */

/* Poisson's equation in 2-D, five points, Dirichlet. */
static ref_matrix poisson(int32_t nx, int32_t ny) {
  const size_t n = (size_t)nx * (size_t)ny;
  ref_matrix m = {.rows = nx * ny,
                  .columns = nx * ny,
                  .offsets = calloc(n + 1, sizeof(int32_t)),
                  .indices = malloc(5 * n * sizeof(int32_t)),
                  .values = malloc(5 * n * sizeof(float))};
  const int32_t steps[] = {-nx, -1, 0, 1, nx};
  int32_t to = 0;
  for (int32_t i = 0; i < m.rows; i++) {
    for (int k = 0; k < 5; k++) {
      const int32_t x = i % nx + (k == 1 ? -1 : k == 3), j = i + steps[k];
      if (x < 0 || x >= nx || j < 0 || j >= m.rows) continue;
      m.indices[to] = j;
      m.values[to++] = k == 2 ? 4 : -1;
    }
    m.offsets[i + 1] = to;
  }
  return m;
}

/* Scales rows and columns symmetrically by factors up to 900. */
static ref_matrix scaled(ref_matrix m) {
  float *scale = ref_values((size_t)m.rows, 11, 1, 30);
  for (int32_t i = 0; i < m.rows; i++)
    for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++) m.values[e] *= scale[i] * scale[m.indices[e]];
  free(scale);
  return m;
}

/* Each entry a becomes a 2 x 2 block: a (2 1; 1 2) / 3 for rows before `end`, a (1 0; 0 1) for later rows, and
 * a third of that between them. */
static ref_matrix doubled(ref_matrix m, int32_t end) {
  const size_t entries = 4 * (size_t)m.offsets[m.rows];
  ref_matrix two = {.rows = 2 * m.rows,
                    .columns = 2 * m.rows,
                    .offsets = calloc(2 * (size_t)m.rows + 1, sizeof(int32_t)),
                    .indices = malloc(entries * sizeof(int32_t)),
                    .values = malloc(entries * sizeof(float))};
  int32_t to = 0;
  for (int32_t i = 0; i < two.rows; i++) {
    for (int32_t e = m.offsets[i / 2]; e < m.offsets[i / 2 + 1]; e++)
      for (int32_t u = 0; u < 2; u++) {
        const int full = i / 2 < end && m.indices[e] < end;
        if (!full && u != i % 2) continue;
        const int between = (i / 2 < end) != (m.indices[e] < end);
        two.indices[to] = 2 * m.indices[e] + u;
        two.values[to++] = m.values[e] * (full ? (u == i % 2 ? 2.f : 1.f) / 3 : between ? 1.f / 3 : 1);
      }
    two.offsets[i + 1] = to;
  }
  ref_free(&m);
  return two;
}

static void iterations(void) {
  const ts_amg_desc small = {.coarsest = 30}, of_two = {.coarsest = 30, .unknowns = 2},
                    smoothed = {.max_levels = 2}, l1 = {.coarsest = 30, .smoother = TS_AMG_SMOOTHER_L1_JACOBI};
  check("grid", poisson(60, 50), &small);
  check("its default", poisson(60, 50), NULL);
  check("cube", ref_laplacian_3d(14), &small);
  check("random", ref_random_spd(700, 9, 3), &small);
  check("scaled", scaled(ref_grid(50, 40)), &small);
  check("hubs", ref_hubs(900, 300, 3), &small);
  check("many neighbours", ref_cube_27(14, 1, 26, -1, -1, -1), &small);
  check("two unknowns with many neighbours", ref_cube_27(11, 2, 26, -1, -1, -1), &of_two);
  check("diagonal", ref_diagonal(300, 1, 1000), &small);
  check("one level", poisson(12, 11), NULL);
  check("two unknowns", doubled(poisson(40, 30), 1200), &of_two);
  check("a last level without an inverse", ref_laplacian_3d(24), &smoothed);
  check("l1", poisson(60, 50), &l1);
}

/* u^T M v of whole vectors. */
static double form(ts_preconditioner *M, const float *u, const float *v, int32_t rows, ts_matrix *A) {
  double *all = calloc((size_t)rows, sizeof *all), sum = 0;
  ts_vector *in = make_vector(ts_matrix_get_row_space(A), 1, v + first_row(rows, 1, rank)),
            *out = make_vector(ts_matrix_get_row_space(A), 1, NULL);
  CHECK_OK(context, ts_preconditioner_apply(M, out, in));
  CHECK_OK(context, ts_ranks_vector_to(out, 0, ts_host(rank == 0 ? all : NULL, (size_t)rows)));
  CHECK_OK(context, ts_ranks_broadcast(context, 0, all, (size_t)rows * sizeof *all));
  for (int32_t i = 0; i < rows; i++) sum += (double)u[i] * all[i];
  ts_vector_destroy(&in);
  ts_vector_destroy(&out);
  free(all);
  return sum;
}

/* Ranks store their rows in different formats, and M is symmetric. */
static void formats(void) {
  ref_matrix m = doubled(poisson(40, 50), 1000);
  float *u = ref_values((size_t)m.rows, 3, -1, 1), *v = ref_values((size_t)m.rows, 4, -1, 1);
  ts_matrix *A = make_rows(&m, 1);
  ts_preconditioner *M = NULL;
  if (CHECK_OK(context,
               ts_preconditioner_create(A, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_AMG}, &M))) {
    const double scale = sqrt(form(M, u, u, m.rows, A) * form(M, v, v, m.rows, A));
    CHECK_CLOSE(form(M, u, v, m.rows, A) / scale, form(M, v, u, m.rows, A) / scale, 2e-6);
  }
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
  free(u), free(v);
  ref_free(&m);
}

static const ts_preconditioner_desc chosen = {.kind = TS_PRECONDITIONER_AUTO};

/* ---- Information ---- */

static void info(void) {
  ref_matrix m = poisson(60, 50);
  ts_matrix *A = make_rows(&m, 1);
  ts_preconditioner *M = NULL;
  ts_amg_info whole;
  ts_amg_level_info level;
  if (CHECK_OK(context,
               ts_preconditioner_create(A, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_AMG}, &M))) {
    CHECK_OK(context, ts_preconditioner_get_amg_info(M, &whole));
    CHECK(whole.levels >= 2 && whole.grid_complexity > 1 && whole.operator_complexity > 1);
    CHECK_OK(context, ts_preconditioner_get_amg_level(M, 0, &level));
    CHECK_INT(level.rows, m.rows);
    CHECK_INT(level.entries, ref_nonzeros(&m));
    CHECK_OK(context, ts_preconditioner_update(M)); /* nothing has changed */
  }
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

static void choice(void) {
  ref_matrix large = poisson(130, 130), small = poisson(40, 40);
  const ref_matrix *const matrices[] = {&large, &small};
  CHECK_OK(context, ts_context_set_tuning(context, "amg_couplings", 190)); /* on every backend */
  for (int k = 0; k < 2; k++) {
    ts_matrix *A = make_rows(matrices[k], 1);
    ts_preconditioner *M = NULL;
    if (CHECK_OK(context, ts_preconditioner_create(A, &chosen, &M))) {
      test_context_label("%s", preconditioner_info(M).choice);
      CHECK_INT(preconditioner_info(M).kind, k == 0 ? TS_PRECONDITIONER_AMG : TS_PRECONDITIONER_JACOBI);
    }
    ts_preconditioner_destroy(&M);
    ts_matrix_destroy(&A);
  }
  ref_free(&large);
  ref_free(&small);
}

/* ---- Errors ---- */

static void errors(void) {
  ref_matrix m = ref_laplacian_3d(9), skewed = ref_convection(20, 20, 5);
  ts_preconditioner *M = NULL;
  const ts_preconditioner_desc desc = {.kind = TS_PRECONDITIONER_AMG};
  ts_matrix *S = make_rows(&skewed, 1);
  CHECK_FAILS(context, ts_preconditioner_create(S, &desc, &M), TS_ERROR_INVALID_ARGUMENT,
              "amg over several ranks needs a symmetric matrix");
  ts_matrix_destroy(&S);
  ref_free(&skewed);
  for (int by = 0; by < ranks; by++) {
    const int32_t row = first_row(m.rows, 1, by) + 3;
    char name[32];
    int32_t e = m.offsets[row];
    while (m.indices[e] != row) e++;
    const float before = m.values[e];
    m.values[e] = -2.5f;
    ts_matrix *A = make_rows(&m, 1);
    snprintf(name, sizeof name, "row %d has -2.5 there", row);
    CHECK_FAILS(context, ts_preconditioner_create(A, &desc, &M), TS_ERROR_INVALID_ARGUMENT, "amg needs", name);
    if (CHECK_OK(context, ts_preconditioner_create(A, &chosen, &M)))
      CHECK_INT(preconditioner_info(M).kind, TS_PRECONDITIONER_JACOBI);
    ts_preconditioner_destroy(&M);
    ts_matrix_destroy(&A);
    m.values[e] = before;
  }
  ts_matrix *A = make_rows(&m, 1);
  double *modes = ref_doubles(2 * (size_t)m.rows, 5, -1, 1);
  const ts_amg_desc other = {
      .near_null = ts_host(rank > 0 ? modes : NULL, 2 * (size_t)ts_space_get_size(ts_matrix_get_row_space(A))),
      .near_null_vectors = rank > 0 ? 2 : 0};
  const ts_preconditioner_desc of_other = {.kind = TS_PRECONDITIONER_AMG, .amg = &other};
  if (ranks > 1)
    CHECK_FAILS(context, ts_preconditioner_create(A, &of_other, &M), TS_ERROR_INVALID_ARGUMENT,
                "1 to 2 near-null vectors", "all ranks need the same number");
  free(modes);
  const ts_amg_desc two = {.unknowns = 8};
  const ts_preconditioner_desc uneven = {.kind = TS_PRECONDITIONER_AMG, .amg = &two};
  CHECK_FAILS(context, ts_preconditioner_create(A, &uneven, &M), TS_ERROR_INVALID_ARGUMENT, "unknowns is 8",
              "not a multiple");
  const int32_t rows = ts_space_get_size(ts_matrix_get_row_space(A));
  ref_matrix own = ref_diagonal(rows, 1, 2); /* does not couple ranks */
  const ts_matrix_desc alone = {
      .csr = ref_csr(&own), .row_space = ts_matrix_get_row_space(A), .keep_host_copy = 1};
  ts_matrix *B = NULL;
  if (CHECK_OK(context, ts_matrix_create(context, &alone, &B)))
    CHECK_FAILS(context, ts_preconditioner_create(B, &desc, &M), TS_ERROR_UNSUPPORTED, "rank-local");
  ts_matrix_destroy(&B);
  ref_free(&own);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* Memory of one rank runs out at each of its allocations. All ranks return the error and can continue. */
static void memory_of_a_rank(void) {
  ref_matrix m = ref_grid(20, 18);
  ts_context_desc desc = heap_desc();
  desc.threads = 1;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  rank = ts_ranks_get_rank(context);
  ranks = ts_ranks_get_count(context);
  const int by = ranks - 1;
  const ts_amg_desc amg = {.coarsest = 30};
  const ts_preconditioner_desc of_amg = {.kind = TS_PRECONDITIONER_AMG, .amg = &amg};
  ts_matrix *A = make_rows(&m, 1);
  const size_t bytes = context_info(context).bytes_device;
  int succeeded = 0;
  for (long n = 0; n < 5000 && !succeeded; n = heap_next(n)) {
    test_context_label("allocation %ld", n);
    ts_preconditioner *M = NULL;
    memory.countdown = rank == by ? n : -1;
    memory.failed = 0;
    const ts_status status = ts_preconditioner_create(A, &of_amg, &M);
    memory.countdown = -1;
    if (status == TS_OK)
      succeeded = rank != by || CHECK_INT(memory.failed, 0);
    else
      CHECK_FAILS(context, status, TS_ERROR_OUT_OF_HOST_MEMORY, "memory");
    ts_preconditioner_destroy(&M);
    CHECK_INT(context_info(context).bytes_device, bytes);
  }
  CHECK(succeeded);
  ts_matrix_destroy(&A);
  ref_free(&m);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

static int know_ranks(int round) {
  (void)round;
  rank = ts_ranks_get_rank(context);
  ranks = ts_ranks_get_count(context);
  return 1;
}

static const test_fixture fixture = {.context = &context, .setup = know_ranks};

TEST_MAIN(CASES_WITH(&fixture, iterations, formats, info, choice, errors), CASES(memory_of_a_rank))
