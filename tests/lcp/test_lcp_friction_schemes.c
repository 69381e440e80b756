/* Contacts with friction by every scheme: sweeps compared with the sequential loop, with every number of
 * threads, and in batches. */
#include <texsolve/lcp.h>

#include "common/core/core.h"
#include "helpers.h"
#include "lcp_contacts.h"
#include "lcp_law_calls.h"
#include "lcp_samples.h"

static ts_context *context;

enum { most_batch = 80 };

/* `batch` problems of random bodies, with their numbers in sequence. */
typedef struct problems {
  lcp_contacts one[most_batch];
  int batch;
  size_t n; /* per problem */
  double *matrix, *q, *friction;
} problems;

/* `coupling`: a factor of the entries outside the contacts' blocks. `skew`: a further factor of those above the
 * blocks. */
static problems make_problems(int dimension, int32_t contacts, int batch, double coupling, double skew) {
  const size_t n = (size_t)dimension * (size_t)contacts, count = (size_t)contacts;
  problems p = {.batch = batch, .n = n};
  p.matrix = calloc((size_t)batch * n * n, sizeof *p.matrix);
  p.q = calloc((size_t)batch * n, sizeof *p.q);
  p.friction = calloc((size_t)batch * count, sizeof *p.friction);
  for (size_t k = 0; k < (size_t)batch; k++) {
    lcp_contacts *s = &p.one[k];
    *s = lcp_contacts_random(dimension, contacts, 0.8, (unsigned)k + 3);
    for (size_t i = 0; i < n * n; i++) {
      const size_t row = i / n / (size_t)dimension, column = i % n / (size_t)dimension;
      if (row != column) s->matrix[i] *= column > row ? coupling * skew : coupling;
    }
    memcpy(p.matrix + k * n * n, s->matrix, n * n * sizeof *p.matrix);
    memcpy(p.q + k * n, s->q, n * sizeof *p.q);
    memcpy(p.friction + k * count, s->friction, count * sizeof *p.friction);
  }
  return p;
}

static void free_problems(problems *p) {
  for (int k = 0; k < p->batch; k++) lcp_contacts_free(&p->one[k]);
  free(p->matrix), free(p->q), free(p->friction);
}

static ts_lcp *make_lcp(const problems *p, ts_precision precision) {
  const ts_lcp_desc desc = {.size = (int32_t)p->n,
                            .batch = p->batch,
                            .dimension = p->one[0].dimension,
                            .matrix = ts_host(p->matrix, (size_t)p->batch * p->n * p->n),
                            .friction = ts_host(p->friction, (size_t)(p->batch * p->one[0].contacts)),
                            .precision = precision};
  ts_lcp *lcp = NULL;
  CHECK_OK(context, ts_lcp_create(context, &desc, &lcp));
  return lcp;
}

/* One sweep of the sequential loop in double precision. It omits a contact's own reaction from its velocity. */
static void sequential_sweep(const lcp_contacts *s, double *r, int exact) {
  const int d = s->dimension;
  for (int32_t first = 0; first < s->n; first += d) {
    double W[9], b[3];
    for (int k = 0; k < d; k++) {
      const double *row = s->matrix + (size_t)(first + k) * (size_t)s->n;
      b[k] = s->q[first + k];
      for (int32_t j = 0; j < s->n; j++)
        if (j < first || j >= first + d) b[k] += row[j] * r[j];
      for (int l = 0; l < d; l++) W[k * d + l] = row[first + l];
    }
    law_contact_double(r + first, W, b, s->friction[first / d], d, exact);
  }
}

/* ---- Sweep by sweep ---- */

typedef struct variant {
  int dimension;
  int32_t contacts;
  int batch;
  ts_precision precision;
  ts_lcp_local local;
  double skew;
} variant;

static void compare_sweeps(const problems *p, const variant *v, ts_lcp_scheme scheme) {
  test_context_label("dimension %d, %d contacts, batch %d, %s, %s, skew %g, %s", v->dimension, v->contacts,
                     v->batch, ts_precision_name(v->precision), ts_lcp_local_name(v->local), v->skew,
                     ts_lcp_scheme_name(scheme));
  ts_lcp *lcp = make_lcp(p, v->precision);
  if (!lcp) return;
  const int is_double = v->precision == TS_PRECISION_DOUBLE;
  const double tolerance = is_double ? 0x1p-43 : 0x1p-16;
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, is_double + 1, p->q),
            *z = make_parts(ts_lcp_get_space(lcp), 1, is_double + 1, NULL);
  double *expected = calloc(p->n * (size_t)p->batch, sizeof *expected);
  for (int sweep = 1; sweep <= 4; sweep++) {
    const int count = sweep == 3 ? 20 : 1; /* schemes by columns recompute w after 16 sweeps */
    const ts_lcp_settings settings = {.scheme = scheme, .local = v->local, .fixed_sweeps = count};
    CHECK_OK(context, ts_lcp_solve(lcp, q, z, &settings, NULL));
    for (int k = 0; k < count * p->batch; k++)
      sequential_sweep(&p->one[k % p->batch], expected + (size_t)(k % p->batch) * p->n,
                       v->local != TS_LCP_LOCAL_PROJECTION);
    double *found = read_doubles(z);
    for (size_t i = 0; i < p->n * (size_t)p->batch; i++)
      CHECK_CLOSE(found[i], expected[i], tolerance * (1 + fabs(expected[i])));
    free(found);
  }
  free(expected);
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  ts_lcp_destroy(&lcp);
}

static void compare_schemes(variant v) {
  problems p = make_problems(v.dimension, v.contacts, v.batch, 1, v.skew);
  for (int scheme = 0; scheme < TS_LCP_SCHEME_RELAXED; scheme++) {
    if (!ts_lcp_has_scheme(context, (ts_lcp_scheme)scheme)) continue;
    if (test_is_brief() && (v.contacts + v.dimension + scheme) % 3) continue;
    compare_sweeps(&p, &v, (ts_lcp_scheme)scheme);
  }
  free_problems(&p);
}

/* Contacts and problems: within a block of 48 or 64 rows, whole blocks, and a remainder after them. */
static const int32_t sizes[][2] = {{1, 1},  {9, 1},  {16, 1}, {21, 1}, {22, 1}, {25, 1}, {32, 1},
                                   {33, 1}, {48, 1}, {81, 1}, {1, 4},  {7, 3},  {40, 2}};

static void sweeps_of(ts_precision precision) {
  for (int dimension = 2; dimension <= 3; dimension++)
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
      const ts_lcp_local local = k % 3 ? TS_LCP_LOCAL_EXACT : TS_LCP_LOCAL_PROJECTION;
      compare_schemes((variant){dimension, sizes[k][0], sizes[k][1], precision, local, k % 2 ? 1 : 0.7});
    }
}

static void sweeps(void) {
  sweeps_of(TS_PRECISION_SINGLE);
  if (has_pairs(context)) sweeps_of(TS_PRECISION_DOUBLE);
}

/* ---- Solutions, also with relaxed ---- */

static void solve(const problems *p, ts_precision precision, ts_lcp_scheme scheme) {
  test_context_label("dimension %d, %zu unknowns, %s, %s", p->one[0].dimension, p->n,
                     ts_precision_name(precision), ts_lcp_scheme_name(scheme));
  ts_lcp *lcp = make_lcp(p, precision);
  if (!lcp) return;
  const int is_double = precision == TS_PRECISION_DOUBLE;
  const ts_lcp_settings settings = {
      .scheme = scheme, .rtol = is_double ? 1e-11 : 1e-5, .max_sweeps = 5000, .check_interval = 5};
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, is_double + 1, p->q),
            *z = make_parts(ts_lcp_get_space(lcp), 1, is_double + 1, NULL);
  ts_lcp_result result = {.residual = NAN};
  CHECK_OK(context, ts_lcp_solve(lcp, q, z, &settings, &result));
  if (scheme) CHECK_INT(result.scheme, scheme);
  double *r = read_doubles(z), size = 0;
  for (size_t i = 0; i < p->n; i++) size += fabs(p->q[i]) + fabs(r[i]);
  CHECK_CLOSE(lcp_contacts_residual(&p->one[0], r), result.residual, (is_double ? 1e-14 : 1e-6) * size);
  free(r);
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  ts_lcp_destroy(&lcp);
}

/* If threads or thread blocks are late, relaxed sweeps may use only each other's start, as in block Jacobi,
 * which need not converge. Contacts with an eighth of the coupling converge for any timing. */
static void solve_by_all(void) {
  for (int dimension = 2; dimension <= 3; dimension++) {
    problems p = make_problems(dimension, 70, 1, 0.125, 1);
    for (int scheme = 0; scheme <= TS_LCP_SCHEME_RELAXED; scheme++) {
      if (!ts_lcp_has_scheme(context, (ts_lcp_scheme)scheme)) continue;
      solve(&p, TS_PRECISION_SINGLE, (ts_lcp_scheme)scheme);
      if (has_pairs(context)) solve(&p, TS_PRECISION_DOUBLE, (ts_lcp_scheme)scheme);
    }
    free_problems(&p);
  }
}

static void answers(void) {
  solve_by_all();
}

/* Any number of threads may share a problem, including more threads than shares. */
static void with_threads(int threads) {
  ts_context_desc desc = test_desc();
  desc.threads = threads;
  if (!CHECK_OK(NULL, test_context_create(&desc, &context))) return;
  CHECK_OK(context, ts_context_set_tuning(context, "thread_floats", 1));
  sweeps_of(TS_PRECISION_SINGLE);
  sweeps_of(TS_PRECISION_DOUBLE);
  solve_by_all();
  test_close(&context);
}

static void threads(void) {
  context = test_open();
  if (!context) return;
  ts_context_info info;
  const int has_threads = CHECK_OK(context, ts_context_get_info(context, &info)) && info.threads > 0;
  test_close(&context);
  for (int count = 1; count <= 5 && has_threads; count++) with_threads(count);
}

/* Schemes by columns discard the columns of a matrix that is replaced, and the contacts' blocks are replaced
 * too. */
static void replaced(void) {
  problems p = make_problems(3, 40, 1, 1, 0.7), next = make_problems(3, 40, 1, 1, 1);
  for (size_t i = 0; i < next.n * next.n; i++) next.matrix[i] = next.one[0].matrix[i] *= 2;
  for (int scheme = 0; scheme < TS_LCP_SCHEME_RELAXED; scheme++) {
    if (!ts_lcp_has_scheme(context, (ts_lcp_scheme)scheme)) continue;
    test_context_label("%s", ts_lcp_scheme_name((ts_lcp_scheme)scheme));
    ts_lcp *lcp = make_lcp(&p, TS_PRECISION_SINGLE);
    ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, 1, p.q),
              *z = make_parts(ts_lcp_get_space(lcp), 1, 1, NULL);
    const ts_lcp_settings once = {.scheme = (ts_lcp_scheme)scheme, .fixed_sweeps = 1};
    const ts_lcp_desc desc = {
        .size = (int32_t)p.n, .batch = 1, .dimension = 3, .matrix = ts_host(next.matrix, p.n * p.n)};
    double expected[120] = {0};
    CHECK_OK(context, ts_lcp_solve(lcp, q, z, &once, NULL));
    CHECK_OK(context, ts_lcp_set_matrix(lcp, &desc));
    CHECK_OK(context, ts_lcp_solve(lcp, q, z, &once, NULL));
    sequential_sweep(&p.one[0], expected, 1);
    memcpy(next.one[0].q, p.q, p.n * sizeof *p.q);
    sequential_sweep(&next.one[0], expected, 1);
    double *found = read_doubles(z);
    for (size_t i = 0; i < p.n; i++) CHECK_CLOSE(found[i], expected[i], 0x1p-16 * (1 + fabs(expected[i])));
    free(found);
    ts_vector_destroy(&q);
    ts_vector_destroy(&z);
    ts_lcp_destroy(&lcp);
  }
  free_problems(&p);
  free_problems(&next);
}

/* ---- The law ---- */

/* Full unsymmetric blocks. Every fifth is far from positive semidefinite and is tested only with the
 * projection. */
static void random_block(int dimension, unsigned seed, double *W, double *b, double *mu) {
  double *numbers = ref_doubles(13, seed, -1, 1);
  for (int i = 0; i < dimension; i++)
    for (int j = 0; j < dimension; j++) {
      double sum = i == j ? 0.3 : 0.1 * numbers[9 + (i + j) % 3] * (i < j ? 1 : -1);
      for (int k = 0; k < dimension; k++) sum += numbers[3 * i + k] * numbers[3 * j + k];
      W[i * dimension + j] = (double)(float)sum;
    }
  if (seed % 5 == 0) W[dimension * dimension - 1] = 0, W[dimension * dimension - 2] = W[dimension] = 3;
  for (int k = 0; k < dimension; k++) b[k] = (double)(float)(numbers[9 + k] - (k == 0) * 0.5);
  *mu = (double)(float)fabs(numbers[12]);
  free(numbers);
}

/* With one contact per problem a sweep is the local solver alone. */
static void compare_laws(int dimension, ts_precision precision, ts_lcp_local local) {
  enum { batch = 300 };
  const size_t d = (size_t)dimension;
  const int is_double = precision == TS_PRECISION_DOUBLE;
  double matrix[batch * 9], b[batch * 3], friction[batch], expected[batch * 3] = {0};
  test_context_label("dimension %d, %s, %s", dimension, ts_precision_name(precision), ts_lcp_local_name(local));
  for (size_t k = 0; k < batch; k++) {
    random_block(dimension, (unsigned)k + 1000, matrix + k * d * d, b + k * d, friction + k);
    law_contact_double(expected + k * d, matrix + k * d * d, b + k * d, friction[k], dimension,
                       local == TS_LCP_LOCAL_EXACT);
  }
  const ts_lcp_desc desc = {.size = dimension,
                            .batch = batch,
                            .dimension = dimension,
                            .matrix = ts_host(matrix, batch * d * d),
                            .friction = HOST(friction),
                            .precision = precision};
  ts_lcp *lcp = NULL;
  if (!CHECK_OK(context, ts_lcp_create(context, &desc, &lcp))) return;
  ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, is_double + 1, b),
            *z = make_parts(ts_lcp_get_space(lcp), 1, is_double + 1, NULL);
  CHECK_OK(context, ts_lcp_solve(lcp, q, z, &(ts_lcp_settings){.local = local, .fixed_sweeps = 1}, NULL));
  double *found = read_doubles(z);
  for (size_t i = 0; i < batch * d; i++)
    CHECK_CLOSE(found[i], expected[i], (is_double ? 1e-11 : 1e-4) * (1 + fabs(expected[i])));
  free(found);
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  ts_lcp_destroy(&lcp);
}

static void laws(void) {
  for (int dimension = 2; dimension <= 3; dimension++)
    for (ts_lcp_local local = TS_LCP_LOCAL_PROJECTION; local <= TS_LCP_LOCAL_EXACT; local++) {
      compare_laws(dimension, TS_PRECISION_SINGLE, local);
      if (has_pairs(context)) compare_laws(dimension, TS_PRECISION_DOUBLE, local);
    }
}

/* ---- Small textures ---- */

/* If the largest texture is small, OpenGL places the matrices of a batch side by side. Without texture barriers
 * rows are drawn next to z. */
static void small_textures(void) {
  if (!test_is_gl()) return;
  ts_context_desc desc = test_desc();
  test_gl()->max_texture_size = 256;
  test_gl()->flags |= TS_GL_NO_TEXTURE_BARRIER;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  for (int dimension = 2; dimension <= 3; dimension++)
    compare_schemes((variant){dimension, 6, most_batch, TS_PRECISION_SINGLE, TS_LCP_LOCAL_EXACT, 0.7});
  test_close(&context);
}

TEST_MAIN(CASES_IN_CONTEXT(sweeps, answers, replaced, laws), CASES(threads, small_textures))
