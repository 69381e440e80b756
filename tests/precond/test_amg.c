/* Algebraic multigrid on every backend: as a preconditioner of conjugate gradients, as a standalone iteration,
 * after new values, and what is refused. */
#include <math.h>
#include <texsolve/amg.h>
#include <texsolve/solver.h>

#include "common/core/core.h"
#include "direct_samples.h"
#include "helpers.h"

static ts_context *context;

static ts_matrix *make_with_copy(const ref_matrix *m) {
  const ts_matrix_desc desc = {.csr = ref_csr(m), .keep_host_copy = 1};
  ts_matrix *matrix = NULL;
  CHECK_OK(context, ts_matrix_create(context, &desc, &matrix));
  return matrix;
}

static ts_preconditioner *make_amg(ts_matrix *A, const ts_amg_desc *amg) {
  const ts_preconditioner_desc desc = {.kind = TS_PRECONDITIONER_AMG, .amg = amg};
  ts_preconditioner *M = NULL;
  CHECK_OK(context, ts_preconditioner_create(A, &desc, &M));
  return M;
}

/* Solves to 1e-8, or to 1e-4 in single precision. Returns the number of iterations. */
static int solve_by(ts_method method, ts_matrix *A, ts_preconditioner *M, int components) {
  const int exact = context->caps.pairs;
  const ts_solver_desc desc = {
      .method = method, .preconditioner = M, .rtol = exact ? 1e-8 : 1e-4, .max_iterations = 200};
  const int32_t rows = ts_space_get_size(ts_matrix_get_row_space(A));
  float *bs = ref_values(rows * components, 7, -1, 1);
  ts_vector *b = make_vector(ts_matrix_get_row_space(A), components, bs),
            *x = make_vector(ts_matrix_get_row_space(A), components, NULL);
  ts_result result = {0};
  CHECK_OK(context, solve_vectors(A, b, x, &desc, &result));
  CHECK(result.relative_residual <= desc.rtol);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  free(bs);
  return result.iterations;
}

static int solve(ts_matrix *A, ts_preconditioner *M, int components) {
  return solve_by(TS_METHOD_CG, A, M, components);
}

/* Scales rows and columns symmetrically by factors up to 9. */
static void scale_rows(ref_matrix *m) {
  float *scale = ref_values(m->rows, 11, 1, 3);
  for (int32_t i = 0; i < m->rows; i++)
    for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++) m->values[e] *= scale[i] * scale[m->indices[e]];
  free(scale);
}

/* Aggregates end where those of another part begin, which may cost an iteration. */
static void check_iterations(const ref_matrix *m, const ts_amg_desc *desc, int components, int most) {
  ts_matrix *A = make_with_copy(m);
  ts_preconditioner *M = make_amg(A, desc);
  if (context->caps.parts > 1 && !test_is_ranks()) most++;
  if (M) {
    const int iterations = solve(A, M, components);
    if (iterations > most)
      test_fail(__FILE__, __LINE__, "%d iterations, expected at most %d", iterations, most);
  }
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
}

/* Cycles without a Krylov method. */
static void by_itself(void) {
  ref_matrix grid = ref_grid(60, 50);
  ts_matrix *A = make_with_copy(&grid);
  ts_preconditioner *M = make_amg(A, &(ts_amg_desc){.coarsest = 30});
  CHECK(solve_by(TS_METHOD_RICHARDSON, A, M, 1) <= 20);
  CHECK(solve_by(TS_METHOD_RICHARDSON, A, M, 3) <= 20);
  CHECK(solve_by(TS_METHOD_GMRES, A, M, 1) <= 40);
  CHECK(solve_by(TS_METHOD_BICGSTAB, A, M, 1) <= 25);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
  ref_free(&grid);
}

/* Random coefficients of 1 and 10000 with harmonic means between cells, and a boundary. */
static ref_matrix jumps(int32_t nx, int32_t ny) {
  ref_matrix m = ref_grid(nx, ny);
  float *chances = ref_values(m.rows, 5, -1, 1);
  for (int32_t i = 0; i < m.rows; i++) {
    const double here = chances[i] < 0 ? 1 : 1e4;
    double sum = i < nx ? here : 0;
    int32_t diagonal = m.offsets[i];
    for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++) {
      const double there = chances[m.indices[e]] < 0 ? 1 : 1e4, mean = 2 * here * there / (here + there);
      if (m.indices[e] == i) {
        diagonal = e;
        continue;
      }
      m.values[e] = (float)-mean;
      sum += mean;
    }
    m.values[diagonal] = (float)sum;
  }
  free(chances);
  return m;
}

static void iterations(void) {
  ref_matrix grid = ref_grid(60, 50), cube = ref_laplacian_3d(14), random = ref_random_spd(700, 9, 3);
  const ts_amg_desc small = {.coarsest = 30};
  test_context_label("grid");
  check_iterations(&grid, &small, 1, 11);
  check_iterations(&grid, NULL, 3, 11);
  test_context_label("cube");
  check_iterations(&cube, &small, 1, 10);
  test_context_label("random");
  check_iterations(&random, &small, 1, 8);
  test_context_label("jumps");
  ref_matrix jumping = jumps(100, 90);
  /* In single precision the residual stays above 1e-3 of b. */
  if (context->caps.pairs) check_iterations(&jumping, &small, 1, 22);
  test_context_label("rotated");
  ref_matrix rotated = ref_rotated(101, 99);
  check_iterations(&rotated, &small, 1, 18);
  ref_free(&grid), ref_free(&cube), ref_free(&random), ref_free(&jumping), ref_free(&rotated);
}

/* Rows with many neighbours, each of them weak on its own. */
static void many_neighbours(void) {
  static const struct {
    const char *name;
    int unknowns, most;
    float coefficients[4];
  } cases[] = {{"27 points", 1, 9, {26, -1, -1, -1}},
               {"27 points, 2 unknowns per node", 2, 9, {26, -1, -1, -1}},
               {"trilinear elements", 1, 9, {32, 0, -2, -1}}};
  for (int k = 0; k < 3; k++) {
    const float *c = cases[k].coefficients;
    ref_matrix m = ref_cube_27(13, cases[k].unknowns, c[0], c[1], c[2], c[3]);
    test_context_label("%s", cases[k].name);
    ts_matrix *A = make_with_copy(&m);
    for (int unknowns = 1; unknowns <= cases[k].unknowns; unknowns++) {
      const ts_amg_desc desc = {.coarsest = 60, .unknowns = unknowns};
      ts_preconditioner *M = make_amg(A, &desc);
      ts_amg_info info = {0};
      ts_amg_level_info last = {0};
      CHECK_OK(context, ts_preconditioner_get_amg_info(M, &info));
      CHECK_INT(info.stalled, 0);
      CHECK_OK(context, ts_preconditioner_get_amg_level(M, info.levels - 1, &last));
      CHECK(info.levels > 1 && last.rows <= 60 * 2);
      ts_preconditioner_destroy(&M);
      check_iterations(&m, &desc, 1, cases[k].most);
    }
    ts_matrix_destroy(&A);
    ref_free(&m);
  }
}

/* Trilinear elements of size 1 x h x h on n^3 nodes, with u = 0 around them. Entries are multiplied by d_i d_j,
 * with d up to 10^decades. */
static ref_matrix hexahedra(int32_t n, double h, double decades) {
  ref_matrix m = ref_cube_27(n, 1, 1, 1, 1, 1);
  float *d = ref_values(m.rows, 3, 0, 1);
  for (int32_t i = 0; i < m.rows; i++)
    for (int32_t e = m.offsets[i]; e < m.offsets[i + 1]; e++) {
      const int32_t j = m.indices[e];
      const int same[3] = {i % n == j % n, i / n % n == j / n % n, i / n / n == j / n / n};
      double sum = 0;
      for (int axis = 0; axis < 3; axis++) {
        double product = axis == 0 ? h * h : 1;
        for (int k = 0; k < 3; k++) product *= k == axis ? (same[k] ? 2 : -1) : same[k] ? 4 / 6. : 1 / 6.;
        sum += product;
      }
      m.values[e] = (float)(sum * pow(10, decades * (double)d[i]) * pow(10, decades * (double)d[j]));
    }
  free(d);
  return m;
}

/* Stretched and flat elements, and rows in different units. */
static void elements(void) {
  static const struct {
    const char *name;
    double h, decades;
    int most;
  } cases[] = {{"cubes", 1, 0, 9},
               {"10 times as wide as high", 10, 0, 17},
               {"1000 times", 1000, 0, 19},
               {"1000 times as high as wide", 1e-3, 0, 13},
               {"cubes, rows in six decades", 1, 6, 13},
               {"10 times as wide, rows in six decades", 10, 6, 28}};
  const ts_amg_desc small = {.coarsest = 60};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    /* In single precision rows in different units leave a residual above 1e-3 of b. */
    if (cases[k].decades > 0 && !context->caps.pairs) continue;
    test_context_label("%s", cases[k].name);
    ref_matrix m = hexahedra(14, cases[k].h, cases[k].decades);
    check_iterations(&m, &small, 1, cases[k].most);
    ref_free(&m);
  }
}

/* A dominant diagonal leaves nothing to coarsen, which is reported. It is not reported if one level was
 * requested. */
static void stalled(void) {
  ref_matrix m = ref_cube_27(11, 1, 100, -1, -1, -1);
  ts_matrix *A = make_with_copy(&m);
  ts_preconditioner *M = make_amg(A, NULL), *one = make_amg(A, &(ts_amg_desc){.max_levels = 1});
  ts_amg_info info = {0};
  CHECK_OK(context, ts_preconditioner_get_amg_info(M, &info));
  CHECK_INT(info.levels, 1);
  CHECK_INT(info.stalled, 1);
  CHECK(solve(A, M, 1) <= 5);
  CHECK_OK(context, ts_preconditioner_get_amg_info(one, &info));
  CHECK_INT(info.stalled, 0);
  ts_preconditioner_destroy(&M), ts_preconditioner_destroy(&one);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* A truncated hierarchy ends with direct factors, if the module for them is available. */
static void cut_off(void) {
  const int with_factors = direct_is_built();
  ref_matrix m = ref_grid(160, 150);
  ts_matrix *A = make_with_copy(&m);
  ts_preconditioner *whole = make_amg(A, NULL), *two = make_amg(A, &(ts_amg_desc){.max_levels = 2});
  ts_amg_info info = {0};
  CHECK_OK(context, ts_preconditioner_get_amg_info(two, &info));
  CHECK_INT(info.levels, 2);
  const int all = solve(A, whole, 1), cut = solve(A, two, 1);
  if (with_factors) {
    CHECK(cut <= all + 1);
    CHECK(solve(A, two, 3) <= all + 3);
    CHECK_OK(context, ts_preconditioner_update(two));
    CHECK_INT(solve(A, two, 1), cut);
  }
  ts_preconditioner_destroy(&whole), ts_preconditioner_destroy(&two);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* The Laplacian of a network. Each vertex joins `each` earlier ones, chosen by their degrees (Barabasi and
 * Albert 1999), and every hundredth diagonal entry is increased by 1. With `each` = 0 it is a square grid with
 * a hub that every eighth vertex joins. */
static ref_matrix network(int32_t n, int each) {
  const int32_t side = (int32_t)sqrt(n), most = n * (each + 3);
  int32_t *ends = malloc(2 * (size_t)most * sizeof *ends), edges = 0;
  ref_random random = {5};
  for (int32_t v = 1; v < n; v++)
    if (each > 0) {
      const int32_t before = edges;
      for (int k = 0; k < each && k < v; k++) {
        const int32_t w = before == 0 || ref_below(&random, 8) == 0 ? ref_below(&random, v)
                                                                    : ends[ref_below(&random, 2 * before)];
        int is_new = w != v;
        for (int32_t e = before; e < edges; e++) is_new &= ends[2 * e + 1] != w;
        if (!is_new) continue;
        ends[2 * edges] = v, ends[2 * edges + 1] = w;
        edges++;
      }
    } else {
      const int32_t to[3] = {v % side ? v - 1 : -1, v - side, v % 8 == 7 && v > side ? 0 : -1};
      for (int k = 0; k < 3; k++)
        if (to[k] >= 0) ends[2 * edges] = v, ends[2 * edges + 1] = to[k], edges++;
    }
  ref_matrix m = {.rows = n, .columns = n};
  m.offsets = calloc((size_t)n + 2, sizeof *m.offsets);
  m.indices = malloc((size_t)(n + 2 * edges) * sizeof *m.indices);
  m.values = malloc((size_t)(n + 2 * edges) * sizeof *m.values);
  for (int32_t v = 0; v < n; v++) m.offsets[v + 1] = 1;
  for (int32_t k = 0; k < 2 * edges; k++) m.offsets[ends[k] + 1]++;
  for (int32_t v = 0; v < n; v++) {
    m.offsets[v + 1] += m.offsets[v];
    m.indices[m.offsets[v]] = v;
    m.values[m.offsets[v]] = (float)(m.offsets[v + 1] - m.offsets[v] - 1 + (v % 100 == 0));
  }
  int32_t *next = malloc((size_t)n * sizeof *next);
  for (int32_t v = 0; v < n; v++) next[v] = m.offsets[v] + 1;
  for (int32_t k = 0; k < 2 * edges; k++) {
    const int32_t e = next[ends[k]]++;
    m.indices[e] = ends[k ^ 1];
    m.values[e] = -1;
  }
  free(next), free(ends);
  return m;
}

/* Hubs touch all aggregates, which must not make the next level dense. */
static void hubs(void) {
  static const struct {
    const char *name;
    int each, most;
  } cases[] = {{"network", 5, 12}, {"tree", 1, 30}, {"grid with a hub", 0, 18}};
  for (int k = 0; k < 3; k++) {
    ref_matrix m = network(test_is_brief() ? 4096 : 16384, cases[k].each);
    test_context_label("%s", cases[k].name);
    ts_matrix *A = make_with_copy(&m);
    ts_preconditioner *M = make_amg(A, NULL);
    ts_amg_info info = {0};
    CHECK_OK(context, ts_preconditioner_get_amg_info(M, &info));
    CHECK(info.levels > 1);
    if (!CHECK(info.operator_complexity <= 1.8)) printf("  %g\n", info.operator_complexity);
    ts_preconditioner_destroy(&M);
    ts_matrix_destroy(&A);
    check_iterations(&m, NULL, 1, cases[k].most);
    ref_free(&m);
  }
}

/* If the matrix is stored in blocks, so are the coarse levels. */
static void formats(void) {
  ts_format all[8];
  const int count = list_formats(context, all);
  ref_matrix grid = ref_grid(40, 31);
  for (int f = 0; f < count; f++) {
    const ts_matrix_desc desc = {.csr = ref_csr(&grid), .format = all[f], .keep_host_copy = 1};
    ts_matrix *A = NULL;
    test_context_label("%s", ts_format_name(all[f]));
    CHECK_OK(context, ts_matrix_create(context, &desc, &A));
    ts_preconditioner *M = make_amg(A, &(ts_amg_desc){.coarsest = 20});
    CHECK(solve(A, M, 1) <= 11);
    if (most_components(all[f]) >= 3) CHECK(solve(A, M, 3) <= 11);
    ts_preconditioner_destroy(&M);
    ts_matrix_destroy(&A);
  }
  ref_free(&grid);
}

/* Returns the number of iterations, or INT32_MAX if the solve fails. */
static int solve_with(ts_solver *solver, const ts_vector *b, ts_vector *x) {
  ts_result result = {0};
  CHECK_OK(context, ts_vector_fill(x, 0));
  return ts_solver_solve(solver, b, x, &result) == TS_OK ? result.iterations : INT32_MAX;
}

/* A preconditioner that the solver created is updated when the matrix has new values. */
static void made_by_solver(void) {
  ref_matrix grid = ref_grid(40, 31), other = ref_grid(40, 31);
  scale_rows(&other);
  ts_matrix *A = make_with_copy(&grid);
  ts_preconditioner *M = make_amg(A, NULL);
  ts_solver *own = NULL, *given = NULL;
  CHECK_OK(context, ts_solver_create(A, &(ts_solver_desc){.preconditioner_kind = TS_PRECONDITIONER_AMG}, &own));
  CHECK_OK(context, ts_solver_create(A, &(ts_solver_desc){.preconditioner = M}, &given));
  float *bs = ref_values(grid.rows, 7, -1, 1);
  ts_vector *b = make_vector(ts_matrix_get_row_space(A), 1, bs),
            *x = make_vector(ts_matrix_get_row_space(A), 1, NULL);
  CHECK_INT(solve_with(own, b, x), solve_with(given, b, x));
  const ts_csr csr = ref_csr(&other);
  CHECK_OK(context, ts_matrix_set_values(A, &csr));
  const int updated = solve_with(own, b, x), stale = solve_with(given, b, x);
  if (updated > stale / 2)
    test_fail(__FILE__, __LINE__, "%d iterations with the new values, %d with the old", updated, stale);
  CHECK_OK(context, ts_preconditioner_update(M));
  CHECK_INT(solve_with(given, b, x), updated);
  free(bs);
  ts_solver_destroy(&own), ts_solver_destroy(&given);
  ts_preconditioner_destroy(&M);
  ts_vector_destroy(&b), ts_vector_destroy(&x);
  ts_matrix_destroy(&A);
  ref_free(&grid), ref_free(&other);
}

static void smoothers(void) {
  ref_matrix grid = ref_grid(40, 31);
  for (int smoother = 0; ts_amg_smoother_name((ts_amg_smoother)smoother); smoother++)
    for (int visits = 1; visits <= 2; visits++)
      for (int sweeps = 1; sweeps <= 3; sweeps += 2) {
        const ts_amg_desc desc = {
            .smoother = (ts_amg_smoother)smoother, .visits = visits, .sweeps = sweeps, .coarsest = 20};
        test_context_label("%s, %d visits, %d sweeps", ts_amg_smoother_name(desc.smoother), visits, sweeps);
        check_iterations(&grid, &desc, 1, 20);
        CHECK_INT(ts_amg_smoother_from_name(ts_amg_smoother_name(desc.smoother)), smoother);
      }
  ref_free(&grid);
}

/* M^-1 is symmetric positive definite: y^T M^-1 x = x^T M^-1 y, and x^T M^-1 x > 0. */
static void symmetric(void) {
  ref_matrix grid = ref_grid(37, 29);
  ts_matrix *A = make_with_copy(&grid);
  ts_preconditioner *M = make_amg(A, &(ts_amg_desc){.coarsest = 20});
  ts_space *space = ts_matrix_get_row_space(A);
  float *xs = ref_values(grid.rows, 1, -1, 1), *ys = ref_values(grid.rows, 2, -1, 1);
  ts_vector *x = make_vector(space, 1, xs), *y = make_vector(space, 1, ys), *mx = make_vector(space, 1, NULL),
            *my = make_vector(space, 1, NULL);
  CHECK_OK(context, ts_preconditioner_apply(M, mx, x));
  CHECK_OK(context, ts_preconditioner_apply(M, my, y));
  CHECK_PADDING(mx);
  float *mxs = read_vector(mx), *mys = read_vector(my);
  double ymx = 0, xmy = 0, xmx = 0, ymy = 0;
  for (int i = 0; i < grid.rows; i++) {
    ymx += (double)ys[i] * (double)mxs[i], xmy += (double)xs[i] * (double)mys[i];
    xmx += (double)xs[i] * (double)mxs[i], ymy += (double)ys[i] * (double)mys[i];
  }
  CHECK(xmx > 0 && ymy > 0);
  CHECK_CLOSE(ymx, xmy, 1e-5 * sqrt(xmx * ymy));
  free(xs), free(ys), free(mxs), free(mys);
  ts_vector_destroy(&x), ts_vector_destroy(&y), ts_vector_destroy(&mx), ts_vector_destroy(&my);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
  ref_free(&grid);
}

static void updated(void) {
  ref_matrix grid = ref_grid(40, 31), other = ref_grid(40, 31);
  for (int64_t k = 0; k < ref_nonzeros(&other); k++) other.values[k] *= 1000;
  ts_matrix *A = make_with_copy(&grid);
  ts_preconditioner *M = make_amg(A, &(ts_amg_desc){.coarsest = 20});
  const int before = solve(A, M, 1);
  const ts_csr csr = ref_csr(&other);
  CHECK_OK(context, ts_matrix_set_values(A, &csr));
  CHECK_OK(context, ts_preconditioner_update(M));
  CHECK_INT(solve(A, M, 1), before);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
  ref_free(&grid), ref_free(&other);
}

static void hierarchy(void) {
  ref_matrix grid = ref_grid(60, 50);
  ts_matrix *A = make_with_copy(&grid);
  ts_preconditioner *M = make_amg(A, &(ts_amg_desc){.coarsest = 50}), *jacobi = NULL;
  ts_amg_info info = {0};
  ts_amg_level_info level = {0}, above = {0};
  CHECK_OK(context, ts_preconditioner_get_amg_info(M, &info));
  CHECK(info.levels >= 2 && info.bytes_device > 0 && info.seconds > 0);
  CHECK(info.operator_complexity > 1 && info.operator_complexity < 1.6);
  for (int l = 0; l < info.levels; l++, above = level) {
    CHECK_OK(context, ts_preconditioner_get_amg_level(M, l, &level));
    CHECK(l == 0 ? level.rows == grid.rows : level.rows < above.rows / 2);
    if (l + 1 < info.levels)
      CHECK(level.eigenvalue > 0.5 && level.eigenvalue < 5);
    else
      CHECK(level.eigenvalue == 0);
  }
  CHECK(level.rows <= 50);
  CHECK_INT(ts_preconditioner_get_amg_level(M, info.levels, &level), TS_ERROR_INVALID_ARGUMENT);
  CHECK_OK(context, ts_preconditioner_create(A, NULL, &jacobi));
  CHECK_INT(ts_preconditioner_get_amg_info(jacobi, &info), TS_ERROR_INVALID_ARGUMENT);
  CHECK_CONTAINS(ts_last_error(context), "jacobi");
  ts_preconditioner_destroy(&jacobi);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
  ref_free(&grid);
}

/* The message names the fault. */
static void check_refused(ts_matrix *A, const ts_amg_desc *amg, const char *words) {
  const ts_preconditioner_desc desc = {.kind = TS_PRECONDITIONER_AMG, .amg = amg};
  ts_preconditioner *M = NULL;
  CHECK_INT(ts_preconditioner_create(A, &desc, &M), TS_ERROR_INVALID_ARGUMENT);
  CHECK_CONTAINS(ts_last_error(context), words);
  CHECK(M == NULL);
}

static void refused(void) {
  ref_matrix grid = ref_grid(12, 11), skewed = ref_skewed_grid(12, 11), negative = ref_grid(12, 11);
  double numbers[132] = {NAN, 0};
  for (int32_t e = negative.offsets[17]; e < negative.offsets[18]; e++)
    if (negative.indices[e] == 17) negative.values[e] = -1;
  ts_matrix *A = make_with_copy(&grid), *S = make_with_copy(&skewed), *N = make_with_copy(&negative);
  const int has_blocks = context->caps.formats >> TS_FORMAT_BCRS2 & 1; /* which CUDA does not read for AMG */
  ts_matrix *without = make_matrix(context, &grid, has_blocks ? TS_FORMAT_BCRS2 : TS_FORMAT_AUTO);
  check_refused(without, NULL, "keep_host_copy");
  check_refused(S, &(ts_amg_desc){.smoother = TS_AMG_SMOOTHER_CHEBYSHEV}, "symmetric");
  check_refused(N, NULL, "row 17");
  check_refused(A, &(ts_amg_desc){.strength = 1}, "strength is 1");
  check_refused(A, &(ts_amg_desc){.sweeps = 17}, "sweeps is 17");
  check_refused(A, &(ts_amg_desc){.visits = 3}, "visits is 3");
  check_refused(A, &(ts_amg_desc){.coarsest = 5000}, "coarsest is 5000");
  check_refused(A, &(ts_amg_desc){.unknowns = 5}, "132 rows");
  check_refused(A, &(ts_amg_desc){.near_null_vectors = 1}, "near_null is NULL");
  check_refused(A, &(ts_amg_desc){.near_null_vectors = 1, .near_null = ts_host(numbers, 132)},
                "near_null[0][0]");
  check_refused(A, &(ts_amg_desc){.dimensions = 3, .unknowns = 2, .coordinates = ts_host(numbers, 2)},
                "unknowns is 2");
  check_refused(A, &(ts_amg_desc){.smoother = (ts_amg_smoother)9}, "smoother is 9");
  check_refused(A, &(ts_amg_desc){.reserved = {1}}, "reserved");
  ts_matrix_destroy(&A), ts_matrix_destroy(&S), ts_matrix_destroy(&N), ts_matrix_destroy(&without);
  ref_free(&grid), ref_free(&skewed), ref_free(&negative);
}

TEST_MAIN(CASES_IN_CONTEXT(iterations, elements, hubs, by_itself, formats, made_by_solver, smoothers, symmetric,
                           updated, hierarchy, many_neighbours, stalled, cut_off, refused))
