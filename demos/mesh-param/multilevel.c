#include "multilevel.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "multilevel_levels.h"

/* Two Chebyshev steps before and two after, for eigenvalues from an eighth of the largest on. */
static const double smoothed_part = 8;

typedef struct level {
  ts_matrix *A, *P, *R; /* P and R lead to the next coarser level */
  ts_vector *x, *b, *r, *d;
  double largest; /* eigenvalue */
} level;

struct multilevel {
  ts_context *context;
  multilevel_info info;
  int count; /* levels, the mesh itself included */
  level levels[LEVELS_MOST];
  /* L^-1 and L^-T of the coarsest A = L L^T. Their product in single precision is positive definite whatever
   * rounding does, which an inverse of A in single precision need not be. */
  ts_matrix *inverse, *inverse_transposed;
  ts_preconditioner *preconditioner; /* a cycle */
  ts_vector *solution;
  ts_vector *scaling; /* `scale` */
  ts_vector *found;   /* scaled back */
  sparse A;           /* the finest one on the host, scaled */
  double *scale;      /* of an unknown: 1 / sqrt(a_ii) */
  float *numbers;
};

#define TRY(call)                                                                                              \
  do {                                                                                                         \
    const ts_status status_ = (call);                                                                          \
    if (status_ < 0) return status_;                                                                           \
  } while (0)

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Onto the device ---- */

static ts_status upload(multilevel *s, const sparse *A, ts_format format, ts_space *rows, ts_space *columns,
                        ts_matrix **matrix) {
  const int32_t count = A->offsets[A->rows];
  float *values = malloc(((size_t)count + 1) * sizeof *values);
  if (!values) return TS_ERROR_OUT_OF_HOST_MEMORY;
  for (int32_t e = 0; e < count; e++) values[e] = (float)A->value[e];
  const ts_matrix_desc desc = {.csr = {A->rows, A->columns, A->offsets, A->column, values},
                               .format = format,
                               .row_space = rows,
                               .column_space = columns,
                               .components = 1};
  const ts_status status = ts_matrix_create(s->context, &desc, matrix);
  free(values);
  TRY(status);
  ts_matrix_info info;
  TRY(ts_matrix_get_info(*matrix, &info));
  s->info.bytes_device += info.bytes_device;
  return TS_OK;
}

static ts_status upload_level(multilevel *s, const coarse_levels *host, int k, ts_format format) {
  level *l = &s->levels[k];
  TRY(upload(s, &host->level[k].A, format, NULL, NULL, &l->A));
  l->largest = host->level[k].largest;
  ts_space *space = ts_matrix_row_space(l->A);
  ts_vector **const vectors[] = {&l->x, &l->b, &l->r, &l->d};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) TRY(ts_vector_create(space, NULL, vectors[i]));
  if (k == 0) return TS_OK;
  ts_space *finer = ts_matrix_row_space(s->levels[k - 1].A);
  TRY(upload(s, &host->level[k - 1].P, format, finer, space, &s->levels[k - 1].P));
  return upload(s, &host->level[k - 1].R, format, space, finer, &s->levels[k - 1].R);
}

/* In textures matrices that share a space have blocks of one size: what is chosen for the finest one, or asked
 * for, they all have. */
static ts_status format_of_coarser(const multilevel *s, ts_format asked, ts_format *format) {
  ts_context_info device;
  ts_matrix_info finest;
  TRY(ts_context_get_info(s->context, &device));
  TRY(ts_matrix_get_info(s->levels[0].A, &finest));
  *format = device.max_texture_size > 0 ? finest.format : asked;
  return TS_OK;
}

static ts_status apply_cycle(void *user, ts_vector *z, const ts_vector *r);

static ts_status upload_all(multilevel *s, const coarse_levels *host, ts_format asked) {
  const ts_preconditioner_desc preconditioner = {
      .kind = TS_PRECONDITIONER_CUSTOM, .apply = apply_cycle, .user = s, .symmetric = 1};
  ts_format format;
  s->count = host->count;
  TRY(upload_level(s, host, 0, asked));
  TRY(format_of_coarser(s, asked, &format));
  for (int k = 1; k < s->count; k++) TRY(upload_level(s, host, k, format));
  ts_space *coarsest = ts_matrix_row_space(s->levels[s->count - 1].A),
           *space = ts_matrix_row_space(s->levels[0].A);
  TRY(upload(s, &host->inverse, format, coarsest, coarsest, &s->inverse));
  TRY(upload(s, &host->inverse_transposed, format, coarsest, coarsest, &s->inverse_transposed));
  TRY(ts_vector_create(space, NULL, &s->solution));
  TRY(ts_vector_create(space, NULL, &s->scaling));
  TRY(ts_vector_create(space, NULL, &s->found));
  TRY(ts_vector_write(s->scaling, s->numbers, (size_t)host->level[0].A.rows));
  TRY(ts_preconditioner_create(s->levels[0].A, &preconditioner, &s->preconditioner));
  ts_matrix_info info;
  TRY(ts_matrix_get_info(s->levels[0].A, &info));
  s->info.nonzeros = info.nonzeros;
  s->info.format = info.format;
  s->info.levels = s->count - 1;
  s->info.coarsest = host->level[s->count - 1].A.rows;
  return TS_OK;
}

static int fail_status(const ts_context *context, ts_status status, char message[MESH_MESSAGE]) {
  const char *text = ts_last_error(context);
  return mesh_fail(message, "%s", *text ? text : ts_status_text(status));
}

int multilevel_create(ts_context *context, const mesh *m, const charts *c, const unsigned char *pinned,
                      ts_format format, sparse *A, multilevel **out, char why[MESH_MESSAGE],
                      char message[MESH_MESSAGE]) {
  const double start = now();
  const size_t unknowns = (size_t)A->rows;
  coarse_levels host;
  *out = NULL;
  int failed = coarse_levels_create(m, c, pinned, A, &host, why, message);
  if (failed || !host.count) {
    coarse_levels_free(&host);
    return failed;
  }
  multilevel *s = calloc(1, sizeof *s);
  if (s) s->numbers = malloc(unknowns * sizeof *s->numbers);
  if (!s || !s->numbers) {
    failed = mesh_fail(message, "out of memory for %zu unknowns", unknowns);
  } else {
    s->context = context;
    s->scale = host.scale;
    host.scale = NULL;
    s->A = host.level[0].A;
    for (size_t i = 0; i < unknowns; i++) s->numbers[i] = (float)s->scale[i];
    s->info.seconds_build = now() - start;
    const ts_status status = upload_all(s, &host, format);
    if (status < 0) failed = fail_status(context, status, message);
    s->info.seconds_layout = now() - start - s->info.seconds_build;
    host.level[0].A = (sparse){0};
  }
  coarse_levels_free(&host);
  if (failed)
    multilevel_destroy(&s);
  else
    *out = s;
  return failed;
}

void multilevel_destroy(multilevel **out) {
  multilevel *s = *out;
  *out = NULL;
  if (!s) return;
  ts_preconditioner_destroy(&s->preconditioner);
  ts_vector_destroy(&s->solution);
  ts_vector_destroy(&s->scaling);
  ts_vector_destroy(&s->found);
  ts_matrix_destroy(&s->inverse);
  ts_matrix_destroy(&s->inverse_transposed);
  for (int k = s->count - 1; k >= 0; k--) {
    level *l = &s->levels[k];
    ts_vector_destroy(&l->x);
    ts_vector_destroy(&l->b);
    ts_vector_destroy(&l->r);
    ts_vector_destroy(&l->d);
    ts_matrix_destroy(&l->P);
    ts_matrix_destroy(&l->R);
    ts_matrix_destroy(&l->A);
  }
  sparse_free(&s->A);
  free(s->scale);
  free(s->numbers);
  free(s);
}

void multilevel_get_info(const multilevel *s, multilevel_info *info) {
  *info = s->info;
}

/* ---- The cycle ---- */

/* x += 2 steps of Chebyshev's iteration; r is b - A x before, and after where `again`. Matrices are scaled to
 * the diagonal 1, so that Jacobi's preconditioner is nothing. */
static ts_status smooth(const level *l, ts_vector *x, int again) {
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
static ts_status cycle(const multilevel *s, int k, ts_vector *x, const ts_vector *b) {
  const level *l = &s->levels[k], *coarse = l + 1;
  if (k == s->count - 1) {
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

static ts_status apply_cycle(void *user, ts_vector *z, const ts_vector *r) {
  return cycle(user, 0, z, r);
}

/* Conjugate gradients on the device. */
static ts_status run(const multilevel *s, const multilevel_solve_desc *desc, multilevel_result *result) {
  const ts_solver_desc how = {.method = TS_METHOD_CG,
                              .preconditioner = s->preconditioner,
                              .rtol = desc->rtol,
                              .max_iterations = desc->max_iterations,
                              .check_interval = 1,
                              .zero_start = 1,
                              .progress = desc->progress,
                              .progress_user = desc->progress_user};
  ts_result solved;
  TRY(ts_solve(s->levels[0].A, s->levels[0].b, s->solution, &how, &solved));
  result->iterations = solved.iterations;
  result->stopped = solved.reason == TS_REASON_STOPPED;
  return TS_OK;
}

/* ---- The same in double precision ---- */

typedef struct host_vectors {
  double *x, *r, *p, *q, *z;
} host_vectors;

static double dot(const double *x, const double *y, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += x[i] * y[i];
  return sum;
}

static void multiply(const sparse *A, const double *x, double *y) {
  for (int32_t i = 0; i < A->rows; i++) {
    double sum = 0;
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) sum += A->value[e] * x[A->column[e]];
    y[i] = sum;
  }
}

/* z: a cycle's answer to r, whose largest number is brought to 1 for it. */
static ts_status cycle_host(const multilevel *s, const double *r, double *z) {
  const level *fine = &s->levels[0];
  const size_t count = (size_t)s->A.rows;
  double largest = 0;
  for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs(r[i]));
  for (size_t i = 0; i < count; i++) s->numbers[i] = (float)(r[i] / largest);
  TRY(ts_vector_write(fine->b, s->numbers, count));
  TRY(cycle(s, 0, fine->x, fine->b));
  TRY(ts_vector_read(fine->x, s->numbers, count));
  for (size_t i = 0; i < count; i++) z[i] = largest * (double)s->numbers[i];
  return TS_OK;
}

/* The preconditioner is not the same from one iteration to the next, by rounding: flexible conjugate gradients
 * (Notay 2000). r is the right-hand side at first. */
static ts_status run_host(const multilevel *s, const multilevel_solve_desc *desc, const host_vectors *v,
                          multilevel_result *result) {
  const size_t count = (size_t)s->A.rows;
  const double first = sqrt(dot(v->r, v->r, count));
  double left = first, rz_before = 0, step = 0;
  while (left > desc->rtol * first && isfinite(left) && result->iterations < desc->max_iterations &&
         !result->stopped) {
    TRY(cycle_host(s, v->r, v->z));
    const double rz = dot(v->r, v->z, count),
                 turn = result->iterations ? -step * dot(v->z, v->q, count) / rz_before : 0;
    for (size_t i = 0; i < count; i++) v->p[i] = v->z[i] + turn * v->p[i];
    multiply(&s->A, v->p, v->q);
    const double pq = dot(v->p, v->q, count);
    if (!(pq > 0)) break;
    step = dot(v->r, v->p, count) / pq;
    for (size_t i = 0; i < count; i++) {
      v->x[i] += step * v->p[i];
      v->r[i] -= step * v->q[i];
    }
    rz_before = rz;
    left = sqrt(dot(v->r, v->r, count));
    const double fallen = left / first;
    result->iterations++;
    if (desc->progress && desc->progress(result->iterations, &fallen, 1, desc->progress_user))
      result->stopped = 1;
  }
  return TS_OK;
}

static int solve_on_host(multilevel *s, const multilevel_solve_desc *desc, const double *b, double *x,
                         multilevel_result *result, char message[MESH_MESSAGE]) {
  const size_t count = (size_t)s->A.rows;
  double *numbers = calloc(5 * count, sizeof *numbers);
  if (!numbers) return mesh_fail(message, "out of memory for %zu unknowns", count);
  const host_vectors v = {numbers, numbers + count, numbers + 2 * count, numbers + 3 * count,
                          numbers + 4 * count};
  for (size_t i = 0; i < count; i++) v.r[i] = s->scale[i] * b[i];
  ts_status status = run_host(s, desc, &v, result);
  for (size_t i = 0; i < count; i++) {
    x[i] = s->scale[i] * v.x[i];
    s->numbers[i] = (float)x[i];
  }
  free(numbers);
  if (status == TS_OK) status = ts_vector_write(s->found, s->numbers, count);
  return status < 0 ? fail_status(s->context, status, message) : 0;
}

/* ---- Both ---- */

/* The largest number of the right-hand side is brought to 1, so that squares stay in single precision. */
int multilevel_solve(multilevel *s, const multilevel_solve_desc *desc, const double *b, double *x,
                     multilevel_result *result, char message[MESH_MESSAGE]) {
  const level *fine = &s->levels[0];
  const size_t unknowns = (size_t)ts_space_size(ts_vector_space(fine->b));
  const double start = now();
  double largest = 0;
  *result = (multilevel_result){0};
  if (desc->on_host) {
    const int failed = solve_on_host(s, desc, b, x, result, message);
    result->seconds = now() - start;
    return failed;
  }
  for (size_t i = 0; i < unknowns; i++) largest = fmax(largest, fabs(s->scale[i] * b[i]));
  const double unit = largest > 0 ? 1 / largest : 1;
  for (size_t i = 0; i < unknowns; i++) s->numbers[i] = (float)(unit * s->scale[i] * b[i]);
  ts_status status = ts_vector_write(fine->b, s->numbers, unknowns);
  if (status == TS_OK) status = run(s, desc, result);
  if (status == TS_OK) status = ts_vector_multiply(s->found, s->solution, s->scaling);
  if (status == TS_OK) status = ts_vector_scale(s->found, ts_constant((float)(1 / unit)));
  if (status == TS_OK) status = ts_vector_read(s->solution, s->numbers, unknowns);
  if (status < 0) return fail_status(s->context, status, message);
  for (size_t i = 0; i < unknowns; i++) x[i] = s->scale[i] * (double)s->numbers[i] / unit;
  result->seconds = now() - start;
  return 0;
}

ts_vector *multilevel_vector(const multilevel *s) {
  return s->found;
}
