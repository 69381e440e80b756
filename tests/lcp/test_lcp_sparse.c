/* Sparse complementarity problems: sweeps compared with dense ones, schemes and threads, replaced matrices. */
#include <texsolve/lcp.h>

#include "helpers.h"
#include "lcp_graphs.h"
#include "lcp_samples.h"

static ts_context *context;

/* ---- Solving ---- */

typedef struct problem {
  ts_lcp *lcp;
  ts_vector *q, *z;
} problem;

static problem make(ts_context *where, const lcp_graph *g, lcp_graph_form form, ts_lcp_storage storage,
                    ts_precision precision) {
  const ts_lcp_desc desc = lcp_graph_desc(g, form, storage, precision);
  const int parts = precision == TS_PRECISION_DOUBLE ? 2 : 1;
  problem p = {0};
  if (!CHECK_OK(where, ts_lcp_create(where, &desc, &p.lcp))) return p;
  p.q = make_parts(ts_lcp_get_space(p.lcp), 1, parts, g->q);
  p.z = make_parts(ts_lcp_get_space(p.lcp), 1, parts, NULL);
  return p;
}

static void end(problem *p) {
  ts_vector_destroy(&p->q);
  ts_vector_destroy(&p->z);
  ts_lcp_destroy(&p->lcp);
}

static double *sweep(ts_context *where, const problem *p, ts_lcp_scheme scheme, int sweeps) {
  ts_lcp_result result = {0};
  CHECK_OK(where, ts_lcp_solve(p->lcp, p->q, p->z, &(ts_lcp_settings){.scheme = scheme, .fixed_sweeps = sweeps},
                               &result));
  return read_doubles(p->z);
}

static const ts_lcp_scheme schemes[] = {TS_LCP_SCHEME_ROW, TS_LCP_SCHEME_GRAPH, TS_LCP_SCHEME_COLOUR};

/* ---- Sweep by sweep ---- */

/* The reference is a dense problem, row by row, in double precision on the CPU. */
static void compare(const lcp_graph *g, lcp_graph_form form, ts_lcp_scheme scheme, ts_precision precision,
                    ts_context *host) {
  test_context_label("dimension %d, n %d, batch %d, form %d, %s, %s", g->dimension, g->n, g->batch, (int)form,
                     ts_lcp_scheme_name(scheme), ts_precision_name(precision));
  problem sparse = make(context, g, form, TS_LCP_STORAGE_SPARSE, precision);
  const int is_colour = scheme == TS_LCP_SCHEME_COLOUR;
  problem dense = make(host, g, is_colour ? form : LCP_GRAPH_DENSE,
                       is_colour ? TS_LCP_STORAGE_SPARSE : TS_LCP_STORAGE_DENSE, TS_PRECISION_DOUBLE);
  const double tolerance = precision == TS_PRECISION_DOUBLE ? 1e-11 : 1e-4;
  double moved = 0;
  for (int step = 0; step < 5 && sparse.lcp; step++) {
    const int count = step == 3 ? 19 : 1; /* v is recomputed after 16 sweeps */
    double *found = sweep(context, &sparse, scheme, count),
           *expected = sweep(host, &dense, is_colour ? scheme : TS_LCP_SCHEME_ROW, count),
           residuals[2] = {-1, -2};
    for (int32_t i = 0; i < g->n * g->batch; i++) {
      CHECK_CLOSE(found[i], expected[i], tolerance * (1 + fabs(expected[i])));
      moved += fabs(expected[i]);
    }
    CHECK_OK(context, ts_lcp_residual(sparse.lcp, sparse.q, sparse.z, &residuals[0]));
    CHECK_OK(host, ts_lcp_residual(dense.lcp, dense.q, dense.z, &residuals[1]));
    CHECK_CLOSE(residuals[0], residuals[1], 10 * tolerance * (1 + residuals[1]));
    free(found), free(expected);
  }
  CHECK(moved > 0.1);
  end(&sparse);
  end(&dense);
}

static void sweeps(void) {
  ts_context *host = NULL;
  REQUIRE_OK(NULL, ts_context_create(&(ts_context_desc){.backend = "cpu"}, &host));
  static const int32_t sizes[][2] = {{1, 1}, {4, 1}, {23, 1}, {6, 4}};
  for (int dimension = 1; dimension <= 3; dimension++)
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
      lcp_graph g = lcp_graph_make(dimension, sizes[k][0], sizes[k][1], (unsigned)k + 3);
      for (lcp_graph_form form = 0; form < LCP_GRAPH_FORMS; form++)
        for (size_t s = 0; s < sizeof schemes / sizeof schemes[0]; s++) {
          if (!ts_lcp_has_scheme(context, schemes[s])) continue;
          if (test_is_brief() && (k + s + (size_t)form) % 3) continue;
          compare(&g, form, schemes[s], TS_PRECISION_SINGLE, host);
          if (has_pairs(context)) compare(&g, form, schemes[s], TS_PRECISION_DOUBLE, host);
        }
      lcp_graph_free(&g);
    }
  ts_context_destroy(&host);
}

/* Couples each unknown with its neighbours. */
static ts_csr chain(int32_t n) {
  int32_t *offsets = calloc((size_t)n + 1, sizeof *offsets),
          *columns = calloc((size_t)3 * (size_t)n, sizeof *columns);
  double *values = calloc((size_t)3 * (size_t)n, sizeof *values);
  for (int32_t i = 0, e = 0; i < n; i++) {
    for (int32_t j = i ? i - 1 : 0; j <= i + 1 && j < n; j++) columns[e] = j, values[e++] = i == j ? 3 : -1;
    offsets[i + 1] = e;
  }
  return ts_host_csr(n, n, offsets, columns, values);
}

/* Rows of textures of the shortest length, with each step drawn next to the contacts and velocities, and then
 * contacts that do not fit. */
static void small_textures(void) {
  if (!test_is_gl()) return;
  ts_context_desc desc = test_desc();
  test_gl()->max_texture_size = 128;
  test_gl()->flags |= TS_GL_NO_TEXTURE_BARRIER;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  ts_context *host = NULL;
  REQUIRE_OK(NULL, ts_context_create(&(ts_context_desc){.backend = "cpu"}, &host));
  lcp_graph g = lcp_graph_make(3, 20, 6, 3);
  for (lcp_graph_form form = 0; form < LCP_GRAPH_FORMS; form++)
    for (int scheme = TS_LCP_SCHEME_ROW; scheme <= TS_LCP_SCHEME_COLOUR; scheme += 6)
      compare(&g, form, (ts_lcp_scheme)scheme, TS_PRECISION_SINGLE, host);
  lcp_graph_free(&g);
  ts_csr csr = chain(10000);
  const ts_lcp_desc too_large = {.size = csr.rows, .sparse_matrix = &csr};
  const size_t before = context_info(context).bytes_device;
  ts_lcp *lcp = NULL;
  CHECK_FAILS(context, ts_lcp_create(context, &too_large, &lcp), TS_ERROR_LIMIT, "sparse contacts", "128");
  CHECK_INT(context_info(context).bytes_device, before);
  lcp_csr_free(&csr);
  ts_context_destroy(&host);
  test_close(&context);
}

/* ---- Dense storage of a sparse matrix, and auto ---- */

static void scattered(void) {
  lcp_graph g = lcp_graph_make(1, 9, 2, 4);
  problem from_csr = make(context, &g, LCP_GRAPH_BLOCKS, TS_LCP_STORAGE_DENSE, TS_PRECISION_SINGLE),
          from_array = make(context, &g, LCP_GRAPH_DENSE, TS_LCP_STORAGE_AUTO, TS_PRECISION_SINGLE);
  ts_lcp_result result = {0};
  CHECK_OK(context, ts_lcp_solve(from_array.lcp, from_array.q, from_array.z, NULL, &result));
  CHECK_INT(result.storage, TS_LCP_STORAGE_DENSE);
  CHECK_OK(context, ts_lcp_solve(from_csr.lcp, from_csr.q, from_csr.z, NULL, &result));
  CHECK_INT(result.storage, TS_LCP_STORAGE_DENSE);
  double *a = read_doubles(from_csr.z), *b = read_doubles(from_array.z);
  for (int32_t i = 0; i < 2 * g.n; i++) CHECK_CLOSE(a[i], b[i], 0);
  free(a), free(b);
  end(&from_csr);
  end(&from_array);
  lcp_graph_free(&g);
}

/* A few contacts are stored dense, and many contacts between neighbours are not. */
static void chosen(void) {
  for (int k = 0; k < 4; k++) {
    lcp_graph g = lcp_graph_make(1, k < 2 ? 2 : 60, 1, 4);
    problem p = make(context, &g, k % 2 ? LCP_GRAPH_FACTORS : LCP_GRAPH_BLOCKS, TS_LCP_STORAGE_AUTO,
                     TS_PRECISION_SINGLE);
    ts_lcp_result result = {0};
    CHECK_OK(context, ts_lcp_solve(p.lcp, p.q, p.z, &(ts_lcp_settings){.fixed_sweeps = 1}, &result));
    CHECK_INT(result.storage, k < 2 ? TS_LCP_STORAGE_DENSE : TS_LCP_STORAGE_SPARSE);
    end(&p);
    lcp_graph_free(&g);
  }
}

/* The same rows in reverse order, with each entry in two halves, and a zero without effect. */
static ts_csr reversed(const ts_csr *csr) {
  const int32_t *from = csr->row_offsets.data, entries = from[csr->rows], width = (int32_t)csr->columns;
  int32_t *offsets = calloc((size_t)csr->rows + 1, sizeof *offsets),
          *columns = calloc(2 * (size_t)entries + (size_t)csr->rows, sizeof *columns), count = 0;
  double *values = calloc(2 * (size_t)entries + (size_t)csr->rows, sizeof *values);
  for (int32_t i = 0; i < csr->rows; i++) {
    columns[count++] = (i + width / 2) % width;
    for (int half = 0; half < 2; half++)
      for (int32_t e = from[i + 1] - 1; e >= from[i]; e--) {
        columns[count] = ((const int32_t *)csr->column_indices.data)[e];
        values[count++] = ((const double *)csr->values.data)[e] / 2;
      }
    offsets[i + 1] = count;
  }
  return ts_host_csr(csr->rows, csr->columns, offsets, columns, values);
}

static void unordered(void) {
  for (int dimension = 1; dimension <= 3; dimension++)
    for (int k = 0; k < 4; k++) {
      const lcp_graph_form form = k % 2 ? LCP_GRAPH_FACTORS : LCP_GRAPH_BLOCKS;
      const ts_lcp_storage storage = k / 2 ? TS_LCP_STORAGE_SPARSE : TS_LCP_STORAGE_DENSE;
      test_context_label("dimension %d, form %d, %s", dimension, (int)form, ts_lcp_storage_name(storage));
      lcp_graph g = lcp_graph_make(dimension, 20, 1, 7), other = g;
      other.jacobian = reversed(&g.jacobian), other.sparse = reversed(&g.sparse);
      problem a = make(context, &g, form, storage, TS_PRECISION_SINGLE),
              b = make(context, &other, form, storage, TS_PRECISION_SINGLE);
      double *expected = sweep(context, &a, TS_LCP_SCHEME_ROW, 3),
             *found = sweep(context, &b, TS_LCP_SCHEME_ROW, 3);
      for (int32_t i = 0; i < g.n; i++) CHECK_CLOSE(found[i], expected[i], 1e-4 * (1 + fabs(expected[i])));
      free(expected), free(found);
      end(&a);
      end(&b);
      lcp_csr_free(&other.jacobian);
      lcp_csr_free(&other.sparse);
      lcp_graph_free(&g);
    }
}

/* Too many unknowns for a dense matrix. No zero is stored. */
static void large(void) {
  enum { n = 200000 };
  ts_csr csr = chain(n);
  double *numbers = ref_doubles(n, 5, -1, 1);
  const size_t before = context_info(context).bytes_device;
  ts_lcp *lcp = NULL;
  CHECK_OK(context, ts_lcp_create(context, &(ts_lcp_desc){.size = n, .sparse_matrix = &csr}, &lcp));
  CHECK(context_info(context).bytes_device - before < (size_t)200 * n);
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, 1, numbers),
            *z = make_parts(ts_lcp_get_space(lcp), 1, 1, NULL);
  CHECK_OK(context, ts_lcp_solve(lcp, q, z, NULL, NULL));
  double *found = read_doubles(z);
  int32_t wrong = 0, positive = 0;
  for (int32_t i = 0; i < n; i++) {
    const double w = numbers[i] + 3 * found[i] - (i ? found[i - 1] : 0) - (i + 1 < n ? found[i + 1] : 0);
    wrong += found[i] < 0 || w < -1e-3 || fabs(found[i] * w) > 1e-3;
    positive += found[i] > 0;
  }
  CHECK_INT(wrong, 0);
  CHECK(positive > n / 4);
  lcp_csr_free(&csr);
  free(numbers), free(found);
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  ts_lcp_destroy(&lcp);
}

/* ---- Threads ---- */

/* z after sweeps with this number of threads. */
static double *with_threads(const lcp_graph *g, lcp_graph_form form, ts_lcp_scheme scheme, int threads) {
  ts_context_desc desc = test_desc();
  desc.threads = threads;
  if (!CHECK_OK(NULL, test_context_create(&desc, &context)))
    return calloc((size_t)(g->n * g->batch), sizeof(double));
  CHECK_OK(context, ts_context_set_tuning(context, "thread_floats", 1));
  problem p = make(context, g, form, TS_LCP_STORAGE_SPARSE, TS_PRECISION_SINGLE);
  double *found = sweep(context, &p, scheme, 37);
  end(&p);
  test_close(&context);
  return found;
}

static int are_same(const double *a, const double *b, int32_t n) {
  return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

/* Levels and colours give the same bits with any number of threads. Levels equal the loop, and colours are in
 * another order. */
static void threads(void) {
  context = test_open();
  if (!context) return;
  const int has_threads = context_info(context).threads > 0;
  test_close(&context);
  for (int k = 0; k < 6 && has_threads; k++) {
    const lcp_graph_form form = k % 2 ? LCP_GRAPH_FACTORS : LCP_GRAPH_BLOCKS;
    lcp_graph g = lcp_graph_make(k / 2 + 1, 50, 2, (unsigned)k);
    const int32_t n = g.n * g.batch;
    double *row = with_threads(&g, form, TS_LCP_SCHEME_ROW, 1),
           *colour = with_threads(&g, form, TS_LCP_SCHEME_COLOUR, 1);
    test_context_label("dimension %d, form %d", g.dimension, (int)form);
    CHECK(!are_same(row, colour, n));
    for (int count = 1; count <= 5; count += count < 3 ? 1 : 2) {
      double *levels = with_threads(&g, form, TS_LCP_SCHEME_GRAPH, count),
             *others = with_threads(&g, form, TS_LCP_SCHEME_COLOUR, count);
      test_context_label("dimension %d, form %d, %d threads", g.dimension, (int)form, count);
      CHECK(are_same(levels, row, n));
      CHECK(are_same(others, colour, n));
      free(levels), free(others);
    }
    free(row), free(colour);
    lcp_graph_free(&g);
  }
}

/* Auto uses the loop if a single thread is used. */
static void automatic(void) {
  context = test_open();
  if (!context) return;
  const int has_threads = context_info(context).threads > 0;
  test_close(&context);
  lcp_graph g = lcp_graph_make(3, 20, 1, 2);
  for (int count = 1; count <= 3 && has_threads; count += 2) {
    ts_context_desc desc = test_desc();
    desc.threads = count;
    if (!CHECK_OK(NULL, test_context_create(&desc, &context))) continue;
    problem p = make(context, &g, LCP_GRAPH_FACTORS, TS_LCP_STORAGE_SPARSE, TS_PRECISION_SINGLE);
    for (int is_worth = 0; is_worth < 2; is_worth++) {
      ts_lcp_result result = {0};
      CHECK_OK(context, ts_context_set_tuning(context, "thread_floats", is_worth ? 1 : 1e9));
      CHECK_OK(context, ts_lcp_solve(p.lcp, p.q, p.z, &(ts_lcp_settings){.fixed_sweeps = 1}, &result));
      CHECK_INT(result.scheme == TS_LCP_SCHEME_ROW, context_info(context).threads == 1 || !is_worth);
    }
    end(&p);
    test_close(&context);
  }
  lcp_graph_free(&g);
}

/* The coupling of two rows may be one-sided. A row must still read the values that it would read in the
 * loop. */
static void one_sided(void) {
  context = test_open();
  if (!context) return;
  const int has_threads = context_info(context).threads > 0;
  test_close(&context);
  if (!has_threads) return;
  for (int is_lower = 0; is_lower < 2; is_lower++) {
    lcp_graph g = lcp_graph_make(1, 40, 1, 8);
    for (int32_t i = 0; i < g.n; i++)
      for (int32_t j = 0; j < g.n; j++)
        if (is_lower ? j > i : j < i) g.matrix[i * g.n + j] = 0;
    double *row = with_threads(&g, LCP_GRAPH_DENSE, TS_LCP_SCHEME_ROW, 1),
           *levels = with_threads(&g, LCP_GRAPH_DENSE, TS_LCP_SCHEME_GRAPH, 3);
    CHECK(are_same(levels, row, g.n));
    free(row), free(levels);
    lcp_graph_free(&g);
  }
}

/* ---- Solutions ---- */

/* Checks the residual of the dense problem and, if the solution is unique, the solution. */
static void solve_by(const lcp_graph *g, lcp_graph_form form, ts_lcp_scheme scheme, ts_context *host) {
  test_context_label("dimension %d, form %d, %s", g->dimension, (int)form, ts_lcp_scheme_name(scheme));
  problem p = make(context, g, form, TS_LCP_STORAGE_SPARSE, TS_PRECISION_DOUBLE);
  problem dense = make(host, g, LCP_GRAPH_DENSE, TS_LCP_STORAGE_DENSE, TS_PRECISION_DOUBLE);
  const ts_lcp_settings settings = {.scheme = scheme, .rtol = 1e-10, .max_sweeps = 20000};
  ts_lcp_result result = {.residual = NAN};
  double residual = NAN;
  CHECK_OK(context, ts_lcp_solve(p.lcp, p.q, p.z, &settings, &result));
  CHECK_INT(result.scheme, scheme);
  CHECK_INT(result.storage, TS_LCP_STORAGE_SPARSE);
  double *z = read_doubles(p.z);
  ts_vector *copy = make_parts(ts_lcp_get_space(dense.lcp), 1, 2, z);
  CHECK_OK(host, ts_lcp_residual(dense.lcp, dense.q, copy, &residual));
  CHECK_CLOSE(residual, result.residual, 1e-12);
  CHECK(result.relative_residual <= 1e-10 && residual < 1e-8);
  ts_vector_destroy(&copy);
  free(z);
  end(&p);
  end(&dense);
}

static void answers(void) {
  ts_context *host = NULL;
  REQUIRE_OK(NULL, ts_context_create(&(ts_context_desc){.backend = "cpu"}, &host));
  for (int dimension = 1; dimension <= 3 && has_pairs(context); dimension++) {
    lcp_graph g = lcp_graph_make(dimension, 30, 1, 17);
    for (lcp_graph_form form = 0; form < LCP_GRAPH_FORMS; form++)
      for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; k++)
        if (ts_lcp_has_scheme(context, schemes[k])) solve_by(&g, form, schemes[k], host);
    lcp_graph_free(&g);
  }
  ts_context_destroy(&host);
}

/* ---- Bounds, and matrices that are replaced ---- */

static void bounds(void) {
  lcp_graph g = lcp_graph_make(1, 20, 1, 6);
  const size_t n = (size_t)g.n;
  double *lower = ref_doubles(n, 1, -0.2, 0), *upper = ref_doubles(n, 2, 0, 0.2);
  for (int32_t i = 0; i < g.n; i += 7) lower[i] = -INFINITY, upper[i] = INFINITY;
  for (lcp_graph_form form = 0; form < LCP_GRAPH_FORMS; form++) {
    problem p[2];
    double *z[2];
    for (int k = 0; k < 2; k++) {
      p[k] = make(context, &g, form, k ? TS_LCP_STORAGE_SPARSE : TS_LCP_STORAGE_DENSE, TS_PRECISION_SINGLE);
      CHECK_OK(context, ts_lcp_set_bounds(p[k].lcp, ts_host(lower, n), ts_host(upper, n)));
      z[k] = sweep(context, &p[k], TS_LCP_SCHEME_ROW, 20);
    }
    double most = 0;
    for (int32_t i = 0; i < g.n; i++) {
      CHECK_CLOSE(z[1][i], z[0][i], 1e-4 * (1 + fabs(z[0][i])));
      most = fmax(most, -z[0][i]);
    }
    CHECK(most > 0);
    for (int k = 0; k < 2; k++) free(z[k]), end(&p[k]);
  }
  free(lower), free(upper);
  lcp_graph_free(&g);
}

/* Replaces the matrix by another pattern and by another form. A refused matrix leaves the previous one in
 * place. */
static void replaced(void) {
  lcp_graph first = lcp_graph_make(3, 12, 1, 5), next = first;
  double *matrix = calloc((size_t)first.n * (size_t)first.n, sizeof *matrix);
  for (int32_t i = 0; i < first.n; i++) {
    matrix[i * first.n + i] = 2 + i % 3;
    if (i >= 3) matrix[i * first.n + i - 3] = matrix[(i - 3) * first.n + i] = -0.5;
  }
  next.matrix = matrix;
  for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; k++) {
    if (!ts_lcp_has_scheme(context, schemes[k])) continue;
    problem p = make(context, &first, LCP_GRAPH_FACTORS, TS_LCP_STORAGE_SPARSE, TS_PRECISION_SINGLE),
            fresh = make(context, &next, LCP_GRAPH_DENSE, TS_LCP_STORAGE_SPARSE, TS_PRECISION_SINGLE);
    const ts_lcp_desc desc = lcp_graph_desc(&next, LCP_GRAPH_DENSE, 0, 0);
    free(sweep(context, &p, schemes[k], 3));
    CHECK_OK(context, ts_vector_fill(p.z, 0));
    CHECK_OK(context, ts_lcp_set_matrix(p.lcp, &desc));
    matrix[7 * first.n + 7] = NAN;
    CHECK_FAILS(context, ts_lcp_set_matrix(p.lcp, &desc), TS_ERROR_INVALID_ARGUMENT, "nan in row 7", "");
    matrix[7 * first.n + 7] = 2 + 7 % 3;
    double *found = sweep(context, &p, schemes[k], 3), *expected = sweep(context, &fresh, schemes[k], 3);
    CHECK(are_same(found, expected, first.n));
    CHECK(fabs(expected[0]) + fabs(expected[3]) + fabs(expected[6]) > 0);
    free(found), free(expected);
    end(&p);
    end(&fresh);
  }
  free(matrix);
  lcp_graph_free(&first);
}

TEST_MAIN(CASES_IN_CONTEXT(sweeps, scattered, chosen, unordered, large, answers, bounds, replaced),
          CASES(threads, automatic, one_sided, small_textures))
