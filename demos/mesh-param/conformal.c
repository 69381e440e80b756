#include "conformal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amg_solver.h"
#include "triangle.h"

enum { most_passes = 30, default_iterations = 100000 };
/* Pass limit for AMG in single precision. If a pass needs more iterations, rounding prevents convergence. */
enum { most_in_single = 100 };
static const double default_rtol = 1e-5;
/* Size of a chart, in flat vertices, above which AMG saves more iterations than its set-up costs. Iterations
 * grow with the size of charts, not with their number. */
static const int32_t least_for_amg = 2500;

/* State of a solve. */
typedef struct conformal {
  const mesh *m;
  const charts *c;
  const unsigned char *pinned;
  ts_system *system; /* either `system` or `amg` is used; the other is NULL */
  amg_solver *amg;
  /* starts as single; becomes double, if the device has it, when passes gain too little */
  ts_precision precision;
  int has_double;
  double *uv;
  double *missing;         /* residual of each condition for the present u, v */
  double *change;          /* the correction of a pass */
  double *gradient, *pull; /* A^T W (b - A x) and A^T W b, for each unknown */
} conformal;

const char *conformal_preconditioner_name(conformal_preconditioner preconditioner) {
  static const char *const names[] = {"auto", "jacobi", "amg"};
  return names[preconditioner];
}

conformal_preconditioner conformal_choose(const conformal_options *options, const charts *c) {
  const int is_cg = (options->method == TS_METHOD_AUTO || options->method == TS_METHOD_CG) &&
                    options->normal != TS_NORMAL_APPLIED;
  if (options->preconditioner != CONFORMAL_AUTO) return options->preconditioner;
  int32_t largest = 0;
  for (int32_t k = 0; k < c->count; k++)
    if (c->chart[k].vertices > largest) largest = c->chart[k].vertices;
  return is_cg && largest >= least_for_amg ? CONFORMAL_AMG : CONFORMAL_JACOBI;
}

conformal_condition conformal_condition_of(const mesh *m, int32_t t) {
  const flat_triangle f = triangle_flat(m, t);
  conformal_condition row;
  for (int k = 0; k < 3; k++) {
    row.re[k] = f.x[(k + 2) % 3] - f.x[(k + 1) % 3];
    row.im[k] = f.y[(k + 2) % 3] - f.y[(k + 1) % 3];
  }
  const double size = fmax(f.double_area, 1e-3 * f.squares);
  row.weight = size > 0 ? 1 / size : 0;
  return row;
}

static ts_status state_rows(conformal *w) {
  ts_status status = ts_system_begin(w->system);
  for (int32_t t = 0; t < w->m->triangle_count && status == TS_OK; t++) {
    const conformal_condition row = conformal_condition_of(w->m, t);
    int32_t unknowns[6];
    double real[6], imaginary[6];
    for (size_t k = 0; k < 3; k++) {
      const int32_t vertex = w->c->corner[3 * (size_t)t + k];
      unknowns[2 * k] = 2 * vertex;
      unknowns[2 * k + 1] = 2 * vertex + 1;
      real[2 * k] = row.re[k];
      real[2 * k + 1] = -row.im[k];
      imaginary[2 * k] = row.im[k];
      imaginary[2 * k + 1] = row.re[k];
    }
    status = ts_system_row(w->system, 6, unknowns, real, NULL, row.weight);
    if (status == TS_OK) status = ts_system_row(w->system, 6, unknowns, imaginary, NULL, row.weight);
  }
  return status == TS_OK ? ts_system_end(w->system) : status;
}

/* Computes `missing`, `gradient` and `pull`, and the energy. Returns the relative residual of the normal
 * equations. */
static double look(conformal *w, double *energy) {
  const size_t unknowns = 2 * (size_t)w->c->vertices;
  double sum = 0, all = 0;
  memset(w->gradient, 0, unknowns * sizeof *w->gradient);
  memset(w->pull, 0, unknowns * sizeof *w->pull);
  *energy = 0;
  for (int32_t t = 0; t < w->m->triangle_count; t++) {
    const conformal_condition row = conformal_condition_of(w->m, t);
    const int32_t *corner = w->c->corner + 3 * (size_t)t;
    double re = 0, im = 0, pinned_re = 0, pinned_im = 0;
    for (int k = 0; k < 3; k++) {
      const double u = w->uv[2 * (size_t)corner[k]], v = w->uv[2 * (size_t)corner[k] + 1];
      const double real = row.re[k] * u - row.im[k] * v, imaginary = row.im[k] * u + row.re[k] * v;
      re -= real;
      im -= imaginary;
      pinned_re -= w->pinned[corner[k]] ? real : 0;
      pinned_im -= w->pinned[corner[k]] ? imaginary : 0;
    }
    w->missing[2 * (size_t)t] = re;
    w->missing[2 * (size_t)t + 1] = im;
    *energy += 0.5 * row.weight * (re * re + im * im);
    for (int k = 0; k < 3; k++) {
      const size_t u = 2 * (size_t)corner[k];
      w->gradient[u] += row.weight * (row.re[k] * re + row.im[k] * im);
      w->gradient[u + 1] += row.weight * (row.re[k] * im - row.im[k] * re);
      w->pull[u] += row.weight * (row.re[k] * pinned_re + row.im[k] * pinned_im);
      w->pull[u + 1] += row.weight * (row.re[k] * pinned_im - row.im[k] * pinned_re);
    }
  }
  for (size_t i = 0; i < unknowns; i++) {
    if (w->pinned[i / 2]) continue;
    sum += w->gradient[i] * w->gradient[i];
    all += w->pull[i] * w->pull[i];
  }
  return all > 0 ? sqrt(sum / all) : sqrt(sum);
}

static int fail_status(const ts_context *context, ts_status status, char message[MESH_MESSAGE]) {
  const char *text = ts_last_error(context);
  return mesh_fail(message, "%s", *text ? text : ts_status_text(status));
}

/* Takes the constant members from the first pass, and adds up the others. */
static void record_result(const ts_system_result *pass, conformal_result *result) {
  if (result->passes == 0) {
    result->unknowns = pass->unknowns;
    result->rows = pass->rows;
    result->nonzeros = pass->nonzeros;
    result->format = pass->format;
    result->normal = pass->normal;
    result->method = pass->method;
    result->bytes_device = pass->bytes_device;
    snprintf(result->choice, sizeof result->choice, "%s", pass->choice);
  }
  result->passes++;
  result->iterations += pass->iterations;
  result->seconds_build += pass->seconds_build;
  result->seconds_layout += pass->seconds_layout;
  result->seconds_solve += pass->seconds_solve;
  snprintf(result->message, sizeof result->message, "%s", pass->message);
}

/* Computes one correction, with the library's least-squares system. */
static ts_status make_pass(conformal *w, const ts_system_solve_desc *desc, ts_system_result *pass) {
  const size_t unknowns = 2 * (size_t)w->c->vertices;
  memset(w->change, 0, unknowns * sizeof *w->change);
  ts_status status =
      ts_system_set_right_hand_sides(w->system, ts_host(w->missing, 2 * (size_t)w->m->triangle_count));
  if (status == TS_OK) status = ts_system_set_values(w->system, ts_host(w->change, unknowns));
  if (status == TS_OK) status = ts_system_solve(w->system, desc, pass);
  if (status < 0) return status;
  const ts_status read = ts_system_get_values(w->system, ts_host(w->change, unknowns));
  return read == TS_OK ? status : read;
}

/* Computes one correction, with AMG. */
static int make_amg_pass(conformal *w, const ts_system_solve_desc *desc, ts_system_result *pass,
                         char message[MESH_MESSAGE]) {
  ts_system_solve_desc how = *desc;
  const int single = desc->solver.precision == TS_PRECISION_SINGLE;
  if (single && how.solver.rtol < 1e-3) how.solver.rtol = 1e-3;
  if (single && how.solver.max_iterations > most_in_single) how.solver.max_iterations = most_in_single;
  for (size_t i = 0; i < 2 * (size_t)w->c->vertices; i++)
    if (w->pinned[i / 2]) w->gradient[i] = 0;
  return amg_solver_solve(w->amg, &how, w->gradient, w->change, pass, message);
}

/* Creates the start on the device, in the space of the corrections. */
static ts_status create_places(conformal *w, ts_vector *found, ts_vector **places) {
  const size_t unknowns = 2 * (size_t)w->c->vertices;
  float *start = malloc(unknowns * sizeof *start);
  if (!start) return TS_ERROR_OUT_OF_HOST_MEMORY;
  for (size_t i = 0; i < unknowns; i++) start[i] = (float)w->uv[i];
  ts_status status = ts_vector_create(ts_vector_get_space(found), NULL, places);
  if (status == TS_OK) status = ts_vector_write(*places, ts_host(start, unknowns));
  free(start);
  return status;
}

/* Adds a correction (sign 1) or undoes it (sign -1), to `uv` and, if `places` is wanted, on the device. */
static ts_status move(conformal *w, ts_vector **places, float sign) {
  ts_status status = TS_OK;
  /* NULL if everything is pinned */
  ts_vector *found = w->amg ? amg_solver_vector(w->amg) : ts_system_get_vector(w->system);
  if (places && found) {
    if (!*places) status = create_places(w, found, places);
    if (status == TS_OK) status = ts_vector_axpby(*places, ts_constant(sign), found, ts_constant(1));
  }
  for (size_t i = 0; i < 2 * (size_t)w->c->vertices; i++)
    if (!w->pinned[i / 2]) w->uv[i] += (double)sign * w->change[i];
  return status;
}

/* Describes why the map has not converged, for cases that the last pass does not report: the pass itself
 * converged, or it used the remaining iterations. */
static void say_why(conformal_result *result, int most) {
  if (result->passes == 0)
    snprintf(result->message, sizeof result->message, "it is not a number");
  else if (result->iterations >= most)
    snprintf(result->message, sizeof result->message, "the maximum of %d iterations was reached", most);
  else if (result->passes == most_passes)
    snprintf(result->message, sizeof result->message, "the maximum of %d corrections was reached", most_passes);
  else
    snprintf(result->message, sizeof result->message, "another correction does not reduce it");
}

static int has_double(ts_context *context) {
  ts_scalars *slot = NULL;
  const ts_scalars_desc desc = {.count = 1, .precision = TS_PRECISION_DOUBLE};
  const ts_status status = ts_scalars_create(context, &desc, &slot);
  ts_scalars_destroy(&slot);
  return status == TS_OK;
}

static int make_passes(conformal *w, ts_context *context, const conformal_options *o, conformal_result *result,
                       char message[MESH_MESSAGE]) {
  const double rtol = o->rtol > 0 ? o->rtol : default_rtol;
  const int most = o->max_iterations > 0 ? o->max_iterations : default_iterations;
  int stopped = 0, solved = 1;
  w->has_double = has_double(context);
  result->residual = result->residual_start = look(w, &result->energy);
  while (result->residual > rtol && result->passes < most_passes && result->iterations < most && !stopped) {
    ts_system_result pass = {0};
    const double least_rtol = w->precision == TS_PRECISION_SINGLE ? 1e-5 : 1e-15;
    const ts_system_solve_desc desc = {.solver = {.method = o->method,
                                                  .preconditioner_kind = TS_PRECONDITIONER_JACOBI,
                                                  .precision = w->precision,
                                                  .rtol = fmax(0.3 * rtol / result->residual, least_rtol),
                                                  .max_iterations = most - result->iterations,
                                                  .progress = o->progress,
                                                  .progress_user = o->progress_user},
                                       .normal = o->normal,
                                       .format = o->format};
    if (w->amg) {
      if (make_amg_pass(w, &desc, &pass, message)) return 1;
    } else {
      const ts_status status = make_pass(w, &desc, &pass);
      if (status < 0) return fail_status(context, status, message);
    }
    solved = pass.reason == TS_REASON_CONVERGED;
    record_result(&pass, result);
    ts_status moved = move(w, o->places, 1);
    if (moved != TS_OK) return fail_status(context, moved, message);
    double energy;
    const double residual = look(w, &energy);
    stopped = pass.reason == TS_REASON_STOPPED || pass.iterations == 0;
    if (!(energy < result->energy * (1 + 1e-12)) || (!(residual < 0.9 * result->residual) && !stopped)) {
      /* NaN, or no progress: this is the limit of the precision. */
      const int back = !(energy <= result->energy);
      if (back) {
        moved = move(w, o->places, -1);
        if (moved != TS_OK) return fail_status(context, moved, message);
      }
      stopped |= w->precision != TS_PRECISION_SINGLE || !w->has_double;
      if (w->has_double) w->precision = TS_PRECISION_DOUBLE;
      if (back) {
        if (stopped) break;
        look(w, &energy);
        continue;
      }
    }
    /* After a pass with little gain or many iterations, further ones gain even less. */
    const int slow = residual > 0.2 * result->residual || pass.iterations >= most_in_single;
    if (w->amg && w->has_double && slow) w->precision = TS_PRECISION_DOUBLE;
    result->residual = residual;
    result->energy = energy;
  }
  look(w, &result->energy);
  result->converged = result->residual <= rtol;
  if (!result->converged && (solved || result->iterations >= most)) say_why(result, most);
  return 0;
}

static int state_system(conformal *w, ts_context *context, char message[MESH_MESSAGE]) {
  const size_t unknowns = 2 * (size_t)w->c->vertices;
  const ts_system_desc desc = {.unknowns = (int32_t)unknowns, .least_squares = 1};
  ts_status status = ts_system_create(context, &desc, &w->system);
  for (size_t i = 0; i < unknowns && status == TS_OK; i++)
    if (w->pinned[i / 2]) status = ts_system_lock(w->system, (int32_t)i);
  if (status == TS_OK) status = state_rows(w);
  return status == TS_OK ? 0 : fail_status(context, status, message);
}

static int workspace_create(const mesh *m, const charts *c, const unsigned char *pinned, const double *uv,
                            conformal *w, char message[MESH_MESSAGE]) {
  const size_t unknowns = 2 * (size_t)c->vertices;
  *w = (conformal){.m = m,
                   .c = c,
                   .pinned = pinned,
                   .precision = TS_PRECISION_SINGLE,
                   .uv = malloc(unknowns * sizeof *w->uv),
                   .missing = malloc(2 * (size_t)m->triangle_count * sizeof *w->missing),
                   .change = malloc(unknowns * sizeof *w->change),
                   .gradient = malloc(unknowns * sizeof *w->gradient),
                   .pull = malloc(unknowns * sizeof *w->pull)};
  if (!w->uv || !w->missing || !w->change || !w->gradient || !w->pull)
    return mesh_fail(message, "out of memory for %zu unknowns", unknowns);
  memcpy(w->uv, uv, unknowns * sizeof *uv);
  return 0;
}

static void workspace_free(conformal *w) {
  ts_system_destroy(&w->system);
  amg_solver_destroy(&w->amg);
  free(w->uv);
  free(w->missing);
  free(w->change);
  free(w->gradient);
  free(w->pull);
}

/* A vertex has no condition if all of its triangles are points. */
static int check_conditions(const conformal *w, char message[MESH_MESSAGE]) {
  const int32_t vertices = w->c->vertices;
  unsigned char *has_one = calloc((size_t)vertices + 1, 1);
  if (!has_one) return mesh_fail(message, "out of memory for %d flat vertices", (int)vertices);
  for (int32_t t = 0; t < w->m->triangle_count; t++) {
    if (!(conformal_condition_of(w->m, t).weight > 0)) continue;
    for (size_t k = 0; k < 3; k++) has_one[w->c->corner[3 * (size_t)t + k]] = 1;
  }
  int32_t v = 0;
  while (v < vertices && (has_one[v] || w->pinned[v])) v++;
  free(has_one);
  if (v == vertices) return 0;
  return mesh_fail(message,
                   "vertex %d has the same position as all its neighbours, so its u and v are undefined",
                   (int)(w->c->vertex ? w->c->vertex[v] : v));
}

int conformal_residual(const mesh *m, const charts *c, const unsigned char *pinned, const double *uv,
                       double *residual, char message[MESH_MESSAGE]) {
  conformal w;
  double energy;
  const int failed = workspace_create(m, c, pinned, uv, &w, message);
  if (!failed) *residual = look(&w, &energy);
  workspace_free(&w);
  return failed;
}

int conformal_solve(ts_context *context, const mesh *m, const charts *c, const unsigned char *pinned,
                    const conformal_options *options, double *uv, conformal_result *result,
                    char message[MESH_MESSAGE]) {
  const size_t unknowns = 2 * (size_t)c->vertices;
  conformal w;
  *result = (conformal_result){.preconditioner = conformal_choose(options, c)};
  if (options->places) *options->places = NULL;
  int failed = workspace_create(m, c, pinned, uv, &w, message);
  if (!failed) failed = check_conditions(&w, message);
  if (!failed)
    failed = result->preconditioner == CONFORMAL_AMG
                 ? amg_solver_create(context, m, c, pinned, uv, options->format, &w.amg, message)
                 : state_system(&w, context, message);
  if (!failed && w.amg) result->coarser = amg_solver_levels(w.amg);
  if (!failed) failed = make_passes(&w, context, options, result, message);
  if (!failed) memcpy(uv, w.uv, unknowns * sizeof *uv);
  if (failed && options->places) ts_vector_destroy(options->places);
  workspace_free(&w);
  return failed;
}
