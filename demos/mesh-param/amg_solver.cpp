#include "amg_solver.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <vector>

#include <texsolve/amg.h>

extern "C" {
#include "conformal.h"
#include "progress.h"
}
#include "sparse.hpp"

struct amg_solver {
  ts_context *context;
  /* results common to all solves; the first solve also reports the times of the set-up */
  ts_system_result info{};
  int levels = 0;
  ts_matrix *A = nullptr;
  ts_preconditioner *preconditioner = nullptr;
  ts_vector *found = nullptr; /* solution of the last solve */
  std::vector<double> scale;  /* for each unknown: 1 / sqrt(a_ii) */
  std::vector<double> numbers;

  explicit amg_solver(ts_context *c) : context(c) {}
  amg_solver(const amg_solver &) = delete;
  amg_solver &operator=(const amg_solver &) = delete;
  ~amg_solver() {
    ts_preconditioner_destroy(&preconditioner);
    ts_vector_destroy(&found);
    ts_matrix_destroy(&A);
  }
};

#define TRY(call)                                                                                              \
  do {                                                                                                         \
    const ts_status status_ = (call);                                                                          \
    if (status_ < 0) return status_;                                                                           \
  } while (0)

namespace {

/* ---- The normal equations ---- */

/* Entries that would be 0 without rounding are below this, relative to the geometric mean of their two diagonal
 * entries. */
const double rounding = 1e-13;

/* A^T W A of the conditions (conformal.h), two unknowns per flat vertex. Rows and columns of pinned unknowns
 * are those of the identity. The factor has the conditions, multiplied by the square roots of their weights,
 * and below them an identity row for each pinned unknown. Entries that are only rounding are removed: u and v
 * are coupled only along the boundary, so this halves the number of entries. */
sparse normal_equations(const mesh &m, const charts &c, const unsigned char *pinned) {
  sparse A;
  A.columns = 2 * c.vertices;
  for (int32_t t = 0; t < m.triangle_count; t++) {
    const conformal_condition condition = conformal_condition_of(&m, t);
    const double root = std::sqrt(condition.weight);
    for (int part = 0; part < 2; part++) {
      for (int k = 0; k < 3; k++) {
        const int32_t v = c.corner[3 * (size_t)t + (size_t)k];
        const double re = root * condition.re[k], im = root * condition.im[k];
        if (pinned[v]) continue;
        A.add(2 * v, part ? im : re);
        A.add(2 * v + 1, part ? re : -im);
      }
      A.end_row();
    }
  }
  for (int32_t i = 0; i < 2 * c.vertices; i++) {
    if (!pinned[i / 2]) continue;
    A.add(i, 1);
    A.end_row();
  }
  sparse N = product(transposed(A), A);
  N.prune(rounding);
  return N;
}

/* Scales the matrix to a unit diagonal. Returns 1 / sqrt of the original diagonal. */
std::vector<double> scale_diagonal(sparse &A) {
  std::vector<double> scale;
  for (int32_t i = 0; i < A.rows; i++) {
    const double diagonal = A.diagonal(i);
    scale.push_back(diagonal > 0 ? 1 / std::sqrt(diagonal) : 1);
  }
  A.scale(scale, scale);
  return scale;
}

/* ---- Upload ---- */

ts_status upload(amg_solver *s, const sparse &A, ts_format format) {
  ts_matrix_desc desc{};
  desc.csr = ts_host_csr(A.rows, A.columns, A.offsets.data(), A.column.data(), A.value.data());
  desc.format = format;
  desc.precision = TS_PRECISION_AUTO;
  desc.components = 1;
  desc.keep_host_copy = 1;
  TRY(ts_matrix_create(s->context, &desc, &s->A));
  ts_matrix_info info;
  TRY(ts_matrix_get_info(s->A, &info));
  s->info.bytes_device += info.bytes_device;
  s->info.nonzeros = info.nonzeros;
  s->info.format = info.format;
  return TS_OK;
}

/* ---- Algebraic multigrid ---- */

enum { modes = 4 };

/* Vectors that the matrix maps to nearly 0, in scaled unknowns: translations along u and v, and the given map,
 * which may grow and rotate. */
std::vector<double> near_null_space(const double *uv, const std::vector<double> &scale) {
  std::vector<double> numbers(modes * scale.size());
  for (size_t i = 0; i < scale.size(); i += 2) {
    double *u = &numbers[modes * i], *v = u + modes;
    u[0] = 1 / scale[i];
    v[1] = 1 / scale[i + 1];
    u[2] = uv[i] / scale[i];
    v[2] = uv[i + 1] / scale[i + 1];
    u[3] = -uv[i + 1] / scale[i];
    v[3] = uv[i] / scale[i + 1];
  }
  return numbers;
}

/* Sets up AMG for a scaled matrix. V-cycles with one smoothing step need the most iterations, but the least
 * time. */
ts_status set_up(amg_solver *s, const sparse &A, const std::vector<double> &near_null, ts_format format) {
  ts_amg_desc amg{};
  amg.unknowns = 2;
  amg.near_null_vectors = modes;
  amg.near_null = ts_host(near_null.data(), near_null.size());
  amg.sweeps = 1;
  amg.visits = 1;
  ts_preconditioner_desc desc{};
  desc.kind = TS_PRECONDITIONER_AMG;
  desc.amg = &amg;
  ts_amg_info info;
  TRY(upload(s, A, format));
  TRY(ts_vector_create(ts_matrix_get_row_space(s->A), nullptr, &s->found));
  TRY(ts_preconditioner_create(s->A, &desc, &s->preconditioner));
  TRY(ts_preconditioner_get_amg_info(s->preconditioner, &info));
  s->info.bytes_device += info.bytes_device;
  s->levels = info.levels - 1;
  return TS_OK;
}

int fail_status(const ts_context *context, ts_status status, char message[MESH_MESSAGE]) {
  const char *text = ts_last_error(context);
  return mesh_fail(message, "%s", *text ? text : ts_status_text(status));
}

/* Runs conjugate gradients on the device. The right-hand side is scaled to a maximum of 1, so that squares stay
 * in the range of floats. */
ts_status solve_scaled(amg_solver *s, const ts_system_solve_desc *desc, const double *b, double *x,
                       ts_system_result *result) {
  const size_t unknowns = s->numbers.size();
  double largest = 0;
  for (size_t i = 0; i < unknowns; i++) largest = std::fmax(largest, std::fabs(s->scale[i] * b[i]));
  const double unit = largest > 0 ? 1 / largest : 1;
  for (size_t i = 0; i < unknowns; i++) s->numbers[i] = unit * s->scale[i] * b[i];
  ts_solver_desc how{};
  how.method = TS_METHOD_CG;
  how.preconditioner = s->preconditioner;
  how.precision = desc->solver.precision;
  how.rtol = desc->solver.rtol;
  how.max_iterations = desc->solver.max_iterations;
  how.check_interval = 1;
  how.zero_start = 1;
  how.progress = desc->solver.progress;
  how.progress_user = desc->solver.progress_user;
  ts_result solved;
  TRY(ts_solve(s->A, ts_host(s->numbers.data(), unknowns), ts_host(x, unknowns), &how, &solved));
  for (size_t i = 0; i < unknowns; i++) x[i] *= s->scale[i] / unit;
  TRY(ts_vector_write(s->found, ts_host(x, unknowns)));
  result->iterations = solved.iterations;
  result->precision = solved.precision;
  std::copy(solved.precision_iterations, solved.precision_iterations + 4, result->precision_iterations);
  if (solved.reason == TS_REASON_STOPPED) result->reason = TS_REASON_STOPPED;
  return TS_OK;
}

} // namespace

int amg_solver_solve(amg_solver *s, const ts_system_solve_desc *how, const double *b, double *x,
                     ts_system_result *result, char message[MESH_MESSAGE]) {
  const double start = seconds_now();
  *result = s->info;
  s->info.seconds_build = s->info.seconds_layout = 0;
  ts_status status = TS_ERROR_OUT_OF_HOST_MEMORY;
  try {
    status = solve_scaled(s, how, b, x, result);
  } catch (const std::exception &) {
  }
  result->seconds_solve = seconds_now() - start;
  return status < 0 ? fail_status(s->context, status, message) : 0;
}

/* Fills the parts of a result that are known before the solve. */
static void begin(amg_solver *s, const mesh *m, const charts *c, const unsigned char *pinned, double start) {
  s->numbers.assign(s->scale.begin(), s->scale.end());
  s->info.reason = TS_REASON_CONVERGED;
  s->info.method = TS_METHOD_CG;
  s->info.normal = TS_NORMAL_FORMED;
  s->info.unknowns = 2 * (int32_t)std::count(pinned, pinned + c->vertices, 0);
  s->info.rows = 2 * m->triangle_count;
  s->info.seconds_build = seconds_now() - start;
}

int amg_solver_create(ts_context *context, const mesh *m, const charts *c, const unsigned char *pinned,
                      const double *uv, ts_format format, amg_solver **out, char message[MESH_MESSAGE]) {
  const double start = seconds_now();
  *out = nullptr;
  try {
    auto s = std::make_unique<amg_solver>(context);
    sparse A = normal_equations(*m, *c, pinned);
    s->scale = scale_diagonal(A);
    const std::vector<double> near_null = near_null_space(uv, s->scale);
    begin(s.get(), m, c, pinned, start);
    const ts_status status = set_up(s.get(), A, near_null, format);
    if (status < 0) return fail_status(context, status, message);
    s->info.seconds_layout = seconds_now() - start - s->info.seconds_build;
    *out = s.release();
    return 0;
  } catch (const std::exception &) {
    return mesh_fail(message, "out of memory for the matrix of %d flat vertices", (int)c->vertices);
  }
}

void amg_solver_destroy(amg_solver **out) {
  delete *out;
  *out = nullptr;
}

int amg_solver_levels(const amg_solver *s) {
  return s->levels;
}

ts_vector *amg_solver_vector(const amg_solver *s) {
  return s->found;
}
