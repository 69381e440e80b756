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
  ts_system_result info{}; /* what results have in common, the set-up's times in the first one alone */
  int levels = 0;
  ts_matrix *A = nullptr;
  ts_preconditioner *preconditioner = nullptr;
  ts_vector *found = nullptr; /* the last solution */
  std::vector<double> scale;  /* of an unknown: 1 / sqrt(a_ii) */
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

/* What rounding leaves of 0 is at most this part of the geometric mean of the two numbers on the diagonal. */
const double rounding = 1e-13;

/* A^T W A of the conditions (conformal.h), 2 unknowns a flat vertex; rows and columns of pinned ones are those
 * of the identity: conditions by the roots of their weights, and below them a row of the identity for each
 * pinned unknown. What rounding leaves of 0 is taken out: u and v are coupled along the boundary alone, which
 * makes it half the entries. */
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

/* Brings such a matrix to the diagonal 1; returns 1 / sqrt of the diagonal as it was. */
std::vector<double> scale_diagonal(sparse &A) {
  std::vector<double> scale;
  for (int32_t i = 0; i < A.rows; i++) {
    const double diagonal = A.diagonal(i);
    scale.push_back(diagonal > 0 ? 1 / std::sqrt(diagonal) : 1);
  }
  A.scale(scale, scale);
  return scale;
}

/* ---- Onto the device ---- */

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

/* What the matrix almost maps to 0, of unknowns as they are scaled: a map that is shifted along u and v, and
 * the one that is there, which may grow and turn. */
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

/* A matrix that is scaled. V-cycles of one smoothing step take the most iterations and the least time. */
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

/* Conjugate gradients on the device. The largest number of the right-hand side is brought to 1, so that squares
 * stay in the range of floats. */
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

/* Of a solve: all that is known before. */
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
