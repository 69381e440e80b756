/* Calls on complementarity problems: small matrices of every form with ordinary and extreme numbers, limits,
 * starts and settings. A successful result must be finite and as accurate as reported. */
#include <math.h>
#include <stdlib.h>

#include <texsolve/lcp.h>

#include "fuzz.h"

enum { most = 12 };

typedef struct problem {
  int32_t n;
  int dimension;
  int32_t offsets[most + 1], columns[most * most];
  double matrix[most * most], mass[most], lower[most], upper[most], friction[most], numbers[most];
} problem;

static void read_numbers(fuzz_bytes *b, double *to, int count) {
  for (int k = 0; k < count; k++) to[k] = fuzz_number(b);
}

/* Full rows of M or H. The diagonal is usually a valid one. */
static void read_matrix(fuzz_bytes *b, problem *p) {
  read_numbers(b, p->matrix, p->n * p->n);
  const int is_ordinary = fuzz_read(b, 4) != 0;
  for (int32_t i = 0; i < p->n; i++) {
    p->offsets[i + 1] = (i + 1) * p->n;
    for (int32_t j = 0; j < p->n; j++) p->columns[i * p->n + j] = j;
    if (is_ordinary) p->matrix[i * p->n + i] = 1 + fuzz_read(b, 8);
    p->mass[i] = is_ordinary ? 1 : fuzz_number(b);
  }
}

static ts_status create(ts_context *context, fuzz_bytes *b, problem *p, ts_lcp **lcp) {
  const int form = fuzz_read(b, 3), is_double = fuzz_read(b, 2);
  const ts_csr csr = ts_host_csr(p->n, p->n, p->offsets, p->columns, p->matrix);
  read_numbers(b, p->lower, p->n);
  read_numbers(b, p->upper, p->n);
  for (int k = 0; k < most; k++) p->friction[k] = fabs(fuzz_number(b));
  const int has_bounds = p->dimension == 1 && fuzz_read(b, 2);
  const size_t n = (size_t)p->n, dimension = (size_t)p->dimension;
  for (int k = 0; k < most && fuzz_read(b, 3); k++) p->lower[k] = -1, p->upper[k] = 2;
  const ts_lcp_desc desc = {.size = p->n,
                            .dimension = p->dimension,
                            .matrix = ts_host(form == 0 ? p->matrix : NULL, n * n),
                            .sparse_matrix = form == 1 ? &csr : NULL,
                            .jacobian = form == 2 ? &csr : NULL,
                            .inverse_mass = ts_host(form == 2 ? p->mass : NULL, n),
                            .storage = (ts_lcp_storage)fuzz_read(b, 3),
                            .lower = ts_host(has_bounds ? p->lower : NULL, n),
                            .upper = ts_host(has_bounds ? p->upper : NULL, n),
                            .friction = ts_host(dimension > 1 ? p->friction : NULL, n / dimension),
                            .precision = is_double ? TS_PRECISION_DOUBLE : TS_PRECISION_SINGLE};
  return ts_lcp_create(context, &desc, lcp);
}

static void solve(ts_lcp *lcp, fuzz_bytes *b, problem *p) {
  static const double tolerances[] = {0, 1e-4, 1e-12, -1};
  const ts_vector_desc vectors[] = {{.components = 1, .precision = TS_PRECISION_SINGLE},
                                    {.components = 1, .precision = TS_PRECISION_DOUBLE}};
  ts_vector *q = NULL, *z = NULL;
  ts_lcp_result result;
  ts_lcp_settings settings = {.scheme = (ts_lcp_scheme)fuzz_read(b, 9),
                              .local = (ts_lcp_local)fuzz_read(b, 3),
                              .acceleration = (ts_lcp_acceleration)fuzz_read(b, 3),
                              .rtol = tolerances[fuzz_read(b, 4)],
                              .max_sweeps = 1 + fuzz_read(b, 100),
                              .check_interval = fuzz_read(b, 4),
                              .zero_start = fuzz_read(b, 2)};
  if (fuzz_read(b, 8) == 7) settings = (ts_lcp_settings){.fixed_sweeps = 1 + fuzz_read(b, 5)};
  if (ts_vector_create(ts_lcp_get_space(lcp), &vectors[fuzz_read(b, 2)], &q) ||
      ts_vector_create(ts_lcp_get_space(lcp), &vectors[fuzz_read(b, 2)], &z))
    abort();
  read_numbers(b, p->numbers, p->n); /* a vector that cannot represent one of them stays 0 */
  (void)ts_vector_write(q, ts_host(p->numbers, (size_t)p->n));
  read_numbers(b, p->numbers, p->n);
  (void)ts_vector_write(z, ts_host(p->numbers, (size_t)p->n));
  const ts_status status = ts_lcp_solve(lcp, q, z, &settings, &result);
  double residual, norm = 0;
  if (ts_lcp_residual(lcp, q, z, &residual)) abort();
  if (ts_vector_read(z, ts_host(p->numbers, (size_t)p->n))) abort();
  for (int32_t i = 0; i < p->n; i++) norm = hypot(norm, p->numbers[i]);
  if (status == TS_OK && !settings.fixed_sweeps &&
      !(isfinite(norm) && residual <= result.residual * 1.001 && result.residual <= residual * 1.001))
    abort();
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes b = {data, data + size};
  problem p = {.dimension = 1 + fuzz_read(&b, 3)};
  ts_context *context;
  ts_lcp *lcp = NULL;
  if (ts_context_create(&(ts_context_desc){.backend = "cpu"}, &context)) abort();
  p.n = p.dimension * (1 + fuzz_read(&b, most / p.dimension));
  read_matrix(&b, &p);
  if (create(context, &b, &p, &lcp) == TS_OK) {
    solve(lcp, &b, &p);
    read_matrix(&b, &p);
    (void)ts_lcp_set_matrix(lcp, &(ts_lcp_desc){.matrix = ts_host(p.matrix, (size_t)(p.n * p.n))});
    if (p.dimension > 1) (void)ts_lcp_set_friction(lcp, ts_host(p.friction, (size_t)(p.n / p.dimension)));
    solve(lcp, &b, &p);
  }
  ts_lcp_destroy(&lcp);
  ts_context_destroy(&context);
  return 0;
}
