/* The recurrence of conjugate gradients compared with one in double precision, iteration by iteration. Backends
 * compute the same numbers by different methods, with two reductions per iteration or with one. */
#include <math.h>

#include "krylov_solve.h"

static ts_context *context;

enum { compared = 24 };

typedef struct delta_history {
  double ratios[compared];
  int count;
} delta_history;

static int keep_history(const ts_progress *progress, void *user) {
  delta_history *kept = user;
  for (int k = 0; k < progress->count && kept->count < compared; k++)
    kept->ratios[kept->count++] = progress->history[k];
  return progress->iteration >= compared;
}

/* sqrt(delta / delta_0) of each iteration from x = 0, for one component of b in double precision. */
static void reference_history(const ref_matrix *m, int jacobi, const float *bs, int components, int c,
                              double ratios[compared]) {
  const size_t n = (size_t)m->rows;
  double *r = calloc(n, sizeof *r), *d = calloc(n, sizeof *d), *q = calloc(n, sizeof *q),
         *w = calloc(n, sizeof *w);
  double delta = 0, first = 0;
  for (size_t i = 0; i < n; i++) {
    w[i] = 1;
    for (int32_t e = m->offsets[i]; jacobi && e < m->offsets[i + 1]; e++)
      if (m->indices[e] == (int32_t)i) w[i] = 1.0 / (double)m->values[e];
    r[i] = bs[i * (size_t)components + (size_t)c];
    d[i] = w[i] * r[i];
    delta += r[i] * d[i];
  }
  first = delta;
  for (int k = 0; k < compared; k++) {
    double dq = 0, next = 0;
    for (size_t i = 0; i < n; i++) {
      q[i] = 0;
      for (int32_t e = m->offsets[i]; e < m->offsets[i + 1]; e++)
        q[i] += (double)m->values[e] * d[m->indices[e]];
      dq += d[i] * q[i];
    }
    for (size_t i = 0; i < n; i++) {
      r[i] -= delta / dq * q[i];
      next += r[i] * w[i] * r[i];
    }
    for (size_t i = 0; i < n; i++) d[i] = w[i] * r[i] + next / delta * d[i];
    delta = next;
    ratios[k] = sqrt(delta / first);
  }
  free(r), free(d), free(q), free(w);
}

static void recurrence(void) {
  ref_matrix m = ref_grid(61, 47);
  for (int64_t k = 0, row = 0; k < ref_nonzeros(&m); k++) { /* makes the diagonal vary */
    while (m.offsets[row + 1] <= k) row++;
    if (m.indices[k] == row) m.values[k] += 0.02F * (float)(row % 17);
  }
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  const int kinds = has_one_reduction(context) ? 12 : 8;
  for (int kind = 0; kind < kinds; kind++) {
    const int components = kind % 4 < 2 ? 1 : 3, jacobi = kind % 2 == 0;
    const int reductions = (3 - kind / 4) % 3; /* default, 2, 1 */
    test_context_label("%s, %d components, %d reductions", jacobi ? "jacobi" : "none", components, reductions);
    const size_t count = (size_t)m.rows * (size_t)components;
    float *bs = ref_values(count, 77, -1, 1), *xs = calloc(count, sizeof *xs);
    delta_history history = {{0}, 0};
    ts_solver_desc desc = {0};
    desc.preconditioner_kind = jacobi ? TS_PRECONDITIONER_JACOBI : TS_PRECONDITIONER_NONE;
    desc.rtol = 1e-7;
    desc.check_interval = 8;
    desc.reductions = reductions;
    desc.progress = keep_history;
    desc.progress_user = &history;
    ts_result result;
    krylov_solve(TS_METHOD_CG, matrix, &desc, components, bs, xs, &result);
    CHECK_INT(result.reason, TS_REASON_STOPPED);
    CHECK_INT(history.count, compared);
    double expected[compared] = {0}, ratios[compared];
    for (int c = 0; c < components; c++) {
      reference_history(&m, jacobi, bs, components, c, ratios);
      for (int k = 0; k < compared; k++) expected[k] = fmax(expected[k], ratios[k]);
    }
    for (int k = 0; k < compared; k++)
      if (!CHECK_CLOSE(history.ratios[k], expected[k], 1e-3 * expected[k])) break;
    free(bs), free(xs);
  }
  ts_matrix_destroy(&matrix);
  ref_free(&m);
}

TEST_MAIN(CASES_IN_CONTEXT(recurrence))
