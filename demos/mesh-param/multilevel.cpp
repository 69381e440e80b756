#include "multilevel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include <texsolve/amg.h>

#include "multilevel_levels.hpp"
extern "C" {
#include "progress.h"
}

namespace {

/* Two Chebyshev steps before and two after, for eigenvalues from an eighth of the largest on. */
const double smoothed_part = 8;

struct level {
  ts_matrix *A, *P, *R; /* P and R lead to the next coarser level */
  ts_vector *x, *b, *r, *d;
  double largest; /* eigenvalue */
};

} // namespace

struct multilevel {
  ts_context *context;
  ts_system_result info{};   /* what results have in common, the set-up's times in the first one alone */
  std::vector<level> levels; /* the mesh itself included; of algebraic multigrid that alone */
  int coarser = 0;
  /* L^-1 and L^-T of the coarsest A = L L^T. Their product in single precision is positive definite whatever
   * rounding does, which an inverse of A in single precision need not be. */
  ts_matrix *inverse = nullptr, *inverse_transposed = nullptr;
  ts_preconditioner *preconditioner = nullptr;               /* a cycle */
  ts_vector *right_hand_side = nullptr, *solution = nullptr; /* doubles, where the device has them */
  ts_vector *found = nullptr;                                /* scaled back, in floats */
  std::vector<double> scale;                                 /* of an unknown: 1 / sqrt(a_ii) */
  std::vector<double> numbers;

  explicit multilevel(ts_context *c) : context(c) {}
  multilevel(const multilevel &) = delete;
  multilevel &operator=(const multilevel &) = delete;
  ~multilevel() {
    ts_preconditioner_destroy(&preconditioner);
    for (ts_vector **v : {&right_hand_side, &solution, &found}) ts_vector_destroy(v);
    for (ts_matrix **m : {&inverse, &inverse_transposed}) ts_matrix_destroy(m);
    for (level &l : levels) {
      for (ts_vector **v : {&l.x, &l.b, &l.r, &l.d}) ts_vector_destroy(v);
      for (ts_matrix **m : {&l.A, &l.P, &l.R}) ts_matrix_destroy(m);
    }
  }
};

#define TRY(call)                                                                                              \
  do {                                                                                                         \
    const ts_status status_ = (call);                                                                          \
    if (status_ < 0) return status_;                                                                           \
  } while (0)

namespace {

/* ---- Onto the device ---- */

ts_status upload(multilevel *s, const sparse &A, ts_format format, ts_precision precision, ts_space *rows,
                 ts_space *columns, ts_matrix **matrix, int host_copy = 0) {
  ts_matrix_desc desc{};
  desc.csr.rows = A.rows;
  desc.csr.columns = A.columns;
  desc.csr.row_offsets = A.offsets.data();
  desc.csr.column_indices = A.column.data();
  desc.csr.double_values = A.value.data();
  desc.format = format;
  desc.row_space = rows;
  desc.column_space = columns;
  desc.precision = precision;
  desc.components = 1;
  desc.keep_host_copy = host_copy;
  TRY(ts_matrix_create(s->context, &desc, matrix));
  ts_matrix_info info;
  TRY(ts_matrix_get_info(*matrix, &info));
  s->info.bytes_device += info.bytes_device;
  return TS_OK;
}

ts_status upload_level(multilevel *s, const coarse_levels &host, size_t k, ts_format format) {
  level *l = &s->levels[k];
  /* Cycles are in single precision. */
  const ts_precision single = TS_PRECISION_SINGLE;
  TRY(upload(s, host.level[k].A, format, k ? single : TS_PRECISION_AUTO, nullptr, nullptr, &l->A));
  l->largest = host.level[k].largest;
  ts_space *space = ts_matrix_row_space(l->A);
  for (ts_vector **v : {&l->x, &l->b, &l->r, &l->d}) TRY(ts_vector_create(space, nullptr, v));
  if (k == 0) return TS_OK;
  ts_space *finer = ts_matrix_row_space(s->levels[k - 1].A);
  TRY(upload(s, host.level[k - 1].P, format, single, finer, space, &s->levels[k - 1].P));
  return upload(s, host.level[k - 1].R, format, single, space, finer, &s->levels[k - 1].R);
}

ts_status apply_cycle(void *user, ts_vector *z, const ts_vector *r);

/* In single precision where a device has nothing else. */
ts_status create_whole(ts_space *space, ts_vector **v) {
  ts_vector_desc desc{};
  desc.precision = TS_PRECISION_DOUBLE;
  const ts_status status = ts_vector_create(space, &desc, v);
  return status == TS_ERROR_UNSUPPORTED ? ts_vector_create(space, nullptr, v) : status;
}

/* What a solve needs besides the preconditioner, and what it reports. */
ts_status create_vectors(multilevel *s) {
  ts_matrix_info finest;
  ts_space *space = ts_matrix_row_space(s->levels[0].A);
  for (ts_vector **v : {&s->right_hand_side, &s->solution}) TRY(create_whole(space, v));
  TRY(ts_vector_create(space, nullptr, &s->found));
  TRY(ts_matrix_get_info(s->levels[0].A, &finest));
  s->info.nonzeros = finest.nonzeros;
  s->info.format = finest.format;
  return TS_OK;
}

ts_status upload_all(multilevel *s, const coarse_levels &host, ts_format asked) {
  ts_preconditioner_desc preconditioner{};
  preconditioner.kind = TS_PRECONDITIONER_CUSTOM;
  preconditioner.apply = apply_cycle;
  preconditioner.user = s;
  preconditioner.symmetric = 1;
  ts_context_info device;
  ts_matrix_info finest;
  s->levels.resize(host.level.size());
  TRY(upload_level(s, host, 0, asked));
  TRY(ts_context_get_info(s->context, &device));
  TRY(ts_matrix_get_info(s->levels[0].A, &finest));
  /* In textures matrices that share a space have blocks of one size: what is chosen for the finest one, or
   * asked for, they all have. */
  const ts_format format = std::strstr(device.backend, "gl") ? finest.format : asked;
  for (size_t k = 1; k < s->levels.size(); k++) TRY(upload_level(s, host, k, format));
  ts_space *coarsest = ts_matrix_row_space(s->levels.back().A);
  const ts_precision single = TS_PRECISION_SINGLE;
  TRY(upload(s, host.inverse, format, single, coarsest, coarsest, &s->inverse));
  TRY(upload(s, host.inverse_transposed, format, single, coarsest, coarsest, &s->inverse_transposed));
  TRY(create_vectors(s));
  s->coarser = (int)s->levels.size() - 1;
  return ts_preconditioner_create(s->levels[0].A, &preconditioner, &s->preconditioner);
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
ts_status upload_algebraic(multilevel *s, const sparse &A, const std::vector<double> &near_null,
                           ts_format format) {
  ts_amg_desc amg{};
  amg.unknowns = 2;
  amg.near_null_vectors = modes;
  amg.near_null = near_null.data();
  amg.sweeps = 1;
  amg.visits = 1;
  ts_preconditioner_desc desc{};
  desc.kind = TS_PRECONDITIONER_AMG;
  desc.amg = &amg;
  ts_amg_info info;
  s->levels.resize(1);
  TRY(upload(s, A, format, TS_PRECISION_AUTO, nullptr, nullptr, &s->levels[0].A, 1));
  TRY(create_vectors(s));
  TRY(ts_preconditioner_create(s->levels[0].A, &desc, &s->preconditioner));
  TRY(ts_preconditioner_amg_info(s->preconditioner, &info));
  s->info.bytes_device += info.bytes_device;
  s->coarser = info.levels - 1;
  return TS_OK;
}

int fail_status(const ts_context *context, ts_status status, char message[MESH_MESSAGE]) {
  const char *text = ts_last_error(context);
  return mesh_fail(message, "%s", *text ? text : ts_status_text(status));
}

/* ---- The cycle ---- */

/* x += 2 steps of Chebyshev's iteration; r is b - A x before, and after where `again`. Matrices are scaled to
 * the diagonal 1, so that Jacobi's preconditioner is nothing. */
ts_status smooth(const level *l, ts_vector *x, int again) {
  const double high = 1.1 * l->largest, low = high / smoothed_part, middle = 0.5 * (high + low),
               half = 0.5 * (high - low), sigma = middle / half, next = 1 / (2 * sigma - 1 / sigma);
  const ts_coefficient one = ts_constant(1);
  TRY(ts_vector_axpby(l->d, ts_constant((float)(1 / middle)), l->r, ts_constant(0)));
  TRY(ts_vector_axpby(x, one, l->d, one));
  TRY(ts_matrix_residual(l->r, l->r, l->A, l->d));
  TRY(ts_vector_axpby(l->d, ts_constant((float)(2 * next / half)), l->r, ts_constant((float)(next / sigma))));
  TRY(ts_vector_axpby(x, one, l->d, one));
  return again ? ts_matrix_residual(l->r, l->r, l->A, l->d) : TS_OK;
}

/* x becomes nearly what solves A x = b on level k. */
ts_status cycle(const multilevel *s, int k, ts_vector *x, const ts_vector *b) {
  const level *l = &s->levels[k], *coarse = l + 1;
  if (k == (int)s->levels.size() - 1) {
    TRY(ts_matrix_multiply(l->r, s->inverse, b));
    return ts_matrix_multiply(x, s->inverse_transposed, l->r);
  }
  TRY(ts_vector_fill(x, 0));
  TRY(ts_vector_copy(l->r, b));
  TRY(smooth(l, x, 1));
  TRY(ts_matrix_multiply(coarse->b, l->R, l->r));
  TRY(cycle(s, k + 1, coarse->x, coarse->b));
  TRY(ts_matrix_multiply(l->d, l->P, coarse->x));
  TRY(ts_vector_axpby(x, ts_constant(1), l->d, ts_constant(1)));
  TRY(ts_matrix_residual(l->r, l->r, l->A, l->d));
  return smooth(l, x, 0);
}

ts_status apply_cycle(void *user, ts_vector *z, const ts_vector *r) {
  return cycle((const multilevel *)user, 0, z, r);
}

/* Conjugate gradients on the device. The largest number of the right-hand side is brought to 1, so that squares
 * stay in the range of floats. */
ts_status run(multilevel *s, const ts_system_solve_desc *desc, const double *b, double *x,
              ts_system_result *result) {
  const size_t unknowns = s->numbers.size();
  double largest = 0;
  for (size_t i = 0; i < unknowns; i++) largest = std::fmax(largest, std::fabs(s->scale[i] * b[i]));
  const double unit = largest > 0 ? 1 / largest : 1;
  for (size_t i = 0; i < unknowns; i++) s->numbers[i] = unit * s->scale[i] * b[i];
  ts_solver_desc how{};
  how.method = TS_METHOD_CG;
  how.preconditioner = s->preconditioner;
  how.precision = desc->precision;
  how.rtol = desc->rtol;
  how.max_iterations = desc->max_iterations;
  how.check_interval = 1;
  how.zero_start = 1;
  how.progress = desc->progress;
  how.progress_user = desc->progress_user;
  ts_result solved;
  TRY(ts_vector_write_double(s->right_hand_side, s->numbers.data(), unknowns));
  TRY(ts_solve(s->levels[0].A, s->right_hand_side, s->solution, &how, &solved));
  TRY(ts_vector_read_double(s->solution, s->numbers.data(), unknowns));
  for (size_t i = 0; i < unknowns; i++) x[i] = s->numbers[i] = s->scale[i] * s->numbers[i] / unit;
  TRY(ts_vector_write_double(s->found, s->numbers.data(), unknowns));
  result->iterations = solved.iterations;
  result->precision = solved.precision;
  std::copy(solved.precision_iterations, solved.precision_iterations + 4, result->precision_iterations);
  if (solved.reason == TS_REASON_STOPPED) result->reason = TS_REASON_STOPPED;
  return TS_OK;
}

} // namespace

int multilevel_solve(multilevel *s, const ts_system_solve_desc *how, const double *b, double *x,
                     ts_system_result *result, char message[MESH_MESSAGE]) {
  const double start = seconds_now();
  *result = s->info;
  s->info.seconds_build = s->info.seconds_layout = 0;
  ts_status status = TS_ERROR_OUT_OF_HOST_MEMORY;
  try {
    status = run(s, how, b, x, result);
  } catch (const std::exception &) {
  }
  result->seconds_solve = seconds_now() - start;
  return status < 0 ? fail_status(s->context, status, message) : 0;
}

/* Of a solve: all that is known before. */
static void begin(multilevel *s, const mesh *m, const charts *c, const unsigned char *pinned, double start) {
  s->numbers.assign(s->scale.begin(), s->scale.end());
  s->info.reason = TS_REASON_CONVERGED;
  s->info.method = TS_METHOD_CG;
  s->info.normal = TS_NORMAL_FORMED;
  s->info.unknowns = 2 * (int32_t)std::count(pinned, pinned + c->vertices, 0);
  s->info.rows = 2 * m->triangle_count;
  s->info.seconds_build = seconds_now() - start;
}

int multilevel_create(ts_context *context, const mesh *m, const charts *c, const unsigned char *pinned,
                      ts_format format, multilevel **out, char why[MESH_MESSAGE], char message[MESH_MESSAGE]) {
  const double start = seconds_now();
  *out = nullptr;
  try {
    coarse_levels host = find_coarse_levels(*m, *c, pinned, normal_equations(*m, *c, pinned), why);
    if (host.level.empty()) return 0;
    auto s = std::make_unique<multilevel>(context);
    s->scale = std::move(host.scale);
    begin(s.get(), m, c, pinned, start);
    const ts_status status = upload_all(s.get(), host, format);
    if (status < 0) return fail_status(context, status, message);
    s->info.seconds_layout = seconds_now() - start - s->info.seconds_build;
    *out = s.release();
    return 0;
  } catch (const std::exception &) {
    return mesh_fail(message, "out of memory for the matrices of coarser meshes");
  }
}

int multilevel_create_algebraic(ts_context *context, const mesh *m, const charts *c,
                                const unsigned char *pinned, const double *uv, ts_format format,
                                multilevel **out, char message[MESH_MESSAGE]) {
  const double start = seconds_now();
  *out = nullptr;
  try {
    auto s = std::make_unique<multilevel>(context);
    sparse A = normal_equations(*m, *c, pinned);
    s->scale = scale_diagonal(A);
    const std::vector<double> near_null = near_null_space(uv, s->scale);
    begin(s.get(), m, c, pinned, start);
    const ts_status status = upload_algebraic(s.get(), A, near_null, format);
    if (status < 0) return fail_status(context, status, message);
    s->info.seconds_layout = seconds_now() - start - s->info.seconds_build;
    *out = s.release();
    return 0;
  } catch (const std::exception &) {
    return mesh_fail(message, "out of memory for the matrix of %d flat vertices", (int)c->vertices);
  }
}

void multilevel_destroy(multilevel **out) {
  delete *out;
  *out = nullptr;
}

int multilevel_coarser(const multilevel *s) {
  return s->coarser;
}

ts_vector *multilevel_vector(const multilevel *s) {
  return s->found;
}
