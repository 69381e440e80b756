#include "dsi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh_edges.h"

enum { block = 4 };

struct dsi {
  ts_context *context;
  const mesh *m;
  mesh_measures measures;
  double centre[3], diagonal; /* of the bounding box */
  dsi_options options;
  dsi_controls controls;
  dsi_rows rows;
  ts_system *system;
  int32_t conditions; /* number of roughness conditions; the conditions of places follow, one per vertex */
  int stale;          /* the system has old weights or locks */
  ts_vector *start, *shown; /* on the device, in the space of the solution */
  double *numbers;          /* workspace for all values */
};

static int fail_status(const dsi *d, ts_status status, char message[MESH_MESSAGE]) {
  const char *text = ts_last_error(d->context);
  return mesh_fail(message, "%s", *text ? text : ts_status_text(status));
}

/* ---- Creation ---- */

int dsi_create(ts_context *context, const mesh *m, const mesh_measures *measures, const dsi_options *options,
               dsi **out, char message[MESH_MESSAGE]) {
  const size_t vertices = (size_t)m->vertex_count;
  dsi *d = *out = calloc(1, sizeof *d);
  if (!d) return mesh_fail(message, "out of memory");
  *d = (dsi){.context = context,
             .m = m,
             .measures = *measures,
             .diagonal = measures->diagonal,
             .options = *options,
             .stale = 1};
  for (int c = 0; c < 3; c++) d->centre[c] = 0.5 * (measures->low[c] + measures->high[c]);
  d->numbers = malloc(vertices * block * sizeof *d->numbers);
  int failed = d->numbers ? 0 : mesh_fail(message, "out of memory for %d vertices", (int)m->vertex_count);
  if (!failed) failed = dsi_rows_create(m, options->weights, &d->rows, message);
  if (!failed) {
    const ts_system_desc desc = {.unknowns = m->vertex_count * (options->blocks ? block : 1),
                                 .components = options->blocks ? 1 : 3,
                                 .least_squares = 1,
                                 .allow_singular = 1}; /* check_held finds this with a better message */
    const ts_status status = ts_system_create(context, &desc, &d->system);
    if (status != TS_OK) failed = fail_status(d, status, message);
  }
  if (failed) dsi_destroy(out);
  return failed;
}

void dsi_destroy(dsi **out) {
  if (!out || !*out) return;
  dsi *d = *out;
  ts_vector_destroy(&d->start);
  ts_vector_destroy(&d->shown);
  ts_system_destroy(&d->system);
  dsi_rows_free(&d->rows);
  dsi_controls_free(&d->controls);
  free(d->numbers);
  free(d);
  *out = NULL;
}

int dsi_set_options(dsi *d, const dsi_options *options, char message[MESH_MESSAGE]) {
  if (options->weights != d->options.weights) {
    dsi_rows rows;
    if (dsi_rows_create(d->m, options->weights, &rows, message)) return 1;
    dsi_rows_free(&d->rows);
    d->rows = rows;
    d->stale = 1;
  }
  if (options->fit != d->options.fit || options->free_boundary != d->options.free_boundary) d->stale = 1;
  d->options = *options;
  return 0;
}

/* ---- Places ---- */

static const double *start_of(const dsi *d, int32_t vertex) {
  return d->m->positions + 3 * (size_t)vertex;
}

/* Displacement of a place from the vertex's start, in units of the diagonal. */
static void displacement(const dsi *d, int32_t vertex, const double place[3], double out[3]) {
  for (int c = 0; c < 3; c++) out[c] = (place[c] - start_of(d, vertex)[c]) / d->diagonal;
}

static int stays(const dsi *d, int32_t v) {
  if (d->rows.offsets[v] == d->rows.offsets[v + 1] || (d->m->held && d->m->held[v])) return 1;
  return d->rows.boundary[v] && !d->options.free_boundary;
}

/* A fixed control point is a locked unknown. A soft one is the right-hand side of its condition. */
static ts_status move_control(dsi *d, const dsi_control *point) {
  double moved[3];
  ts_status status = TS_OK;
  displacement(d, point->vertex, point->place, moved);
  const int fixed = isinf(point->weight);
  if (!d->options.blocks)
    return fixed ? ts_system_set_value(d->system, point->vertex, moved)
                 : ts_system_set_right_hand_side(d->system, d->conditions + point->vertex, moved);
  for (int c = 0; c < 3 && status == TS_OK; c++)
    status = fixed ? ts_system_set_value(d->system, block * point->vertex + c, &moved[c])
                   : ts_system_set_right_hand_side(d->system, block * (d->conditions + point->vertex) + c,
                                                   &moved[c]);
  return status;
}

/* ---- The system ---- */

/* Checks that every connected part of the mesh has a vertex with a position. `weights` has the weight of fit or
 * of a control point, or DSI_FIXED for locked vertices. */
static int check_held(const dsi *d, const double *weights, char message[MESH_MESSAGE]) {
  const int32_t vertices = d->m->vertex_count;
  int32_t *parts = malloc((size_t)vertices * sizeof *parts), loose = -1;
  unsigned char *held = calloc((size_t)vertices, 1);
  if (parts && held) {
    for (int32_t v = 0; v < vertices; v++) parts[v] = v;
    for (int32_t v = 0; v < vertices; v++)
      for (int32_t k = d->rows.offsets[v]; k < d->rows.offsets[v + 1]; k++)
        mesh_set_join(parts, v, d->rows.neighbours[k]);
    for (int32_t v = 0; v < vertices; v++) held[mesh_set_find(parts, v)] |= weights[v] > 0;
    for (int32_t v = vertices; v-- > 0;)
      if (!held[mesh_set_find(parts, v)]) loose = v;
  }
  const int failed = !parts || !held;
  free(parts);
  free(held);
  if (failed) return mesh_fail(message, "out of memory for %d vertices", (int)vertices);
  if (loose < 0) return 0;
  return mesh_fail(
      message,
      "the part of the mesh with vertex %d has no given position; expected a weight of fit above 0, "
      "a control point in it, or a fixed boundary",
      (int)loose);
}

static ts_status lock(dsi *d, int32_t vertex, int locked) {
  const int32_t each = d->options.blocks ? block : 1;
  ts_status status = TS_OK;
  for (int32_t k = each * vertex; k < each * (vertex + 1) && status == TS_OK; k++)
    status = locked ? ts_system_lock(d->system, k) : ts_system_unlock(d->system, k);
  return status;
}

/* Adds one condition, which applies to x, y and z. With blocks it adds three rows, and a row for the idle
 * fourth unknown. */
static ts_status state(dsi *d, int count, int32_t *unknowns, const double *coefficients, const double *place,
                       double weight) {
  if (!d->options.blocks) return ts_system_row(d->system, count, unknowns, coefficients, place, weight);
  ts_status status = TS_OK;
  for (int c = 0; c < block && status == TS_OK; c++) {
    const double b = c < 3 && place ? place[c] : 0;
    for (int k = 0; k < count; k++) unknowns[k] = c ? unknowns[k] + 1 : block * unknowns[k];
    status = ts_system_row(d->system, count, unknowns, coefficients, &b, weight);
  }
  return status;
}

/* The deviation of vertex v, at the start, from the mean of its neighbours. */
static void from_smooth(const dsi *d, int32_t v, double out[3]) {
  for (int c = 0; c < 3; c++) {
    out[c] = 0;
    for (int32_t k = d->rows.offsets[v]; k < d->rows.offsets[v + 1]; k++)
      out[c] += d->rows.weights[k] * (start_of(d, v)[c] - start_of(d, d->rows.neighbours[k])[c]) / d->diagonal;
  }
}

static ts_status state_roughness(dsi *d) {
  int32_t most = 0;
  ts_status status = TS_OK;
  for (int32_t v = 0; v < d->m->vertex_count; v++)
    most =
        d->rows.offsets[v + 1] - d->rows.offsets[v] > most ? d->rows.offsets[v + 1] - d->rows.offsets[v] : most;
  double smooth[3];
  int32_t *unknowns = malloc(((size_t)most + 1) * sizeof *unknowns);
  double *coefficients = malloc(((size_t)most + 1) * sizeof *coefficients);
  if (!unknowns || !coefficients) status = TS_ERROR_OUT_OF_HOST_MEMORY;
  d->conditions = 0;
  for (int32_t v = 0; v < d->m->vertex_count && status == TS_OK; v++) {
    const int32_t first = d->rows.offsets[v], count = d->rows.offsets[v + 1] - first;
    if (!count) continue;
    unknowns[0] = v;
    coefficients[0] = -1;
    memcpy(unknowns + 1, d->rows.neighbours + first, (size_t)count * sizeof *unknowns);
    memcpy(coefficients + 1, d->rows.weights + first, (size_t)count * sizeof *coefficients);
    from_smooth(d, v, smooth);
    status = state(d, count + 1, unknowns, coefficients, smooth, 1);
    d->conditions++;
  }
  free(unknowns);
  free(coefficients);
  return status;
}

/* Adds conditions that keep vertices at the start. move_control moves control points later. */
static ts_status state_places(dsi *d, const double *weights) {
  static const double one = 1;
  ts_status status = TS_OK;
  for (int32_t v = 0; v < d->m->vertex_count && status == TS_OK; v++) {
    int32_t unknown = v;
    status = state(d, 1, &unknown, &one, NULL, isinf(weights[v]) ? 0 : weights[v]);
  }
  return status;
}

/* Locked vertices without a control point return to their start. */
static ts_status lock_all(dsi *d, const double *weights) {
  ts_status status = TS_OK;
  for (int32_t v = 0; v < d->m->vertex_count && status == TS_OK; v++) {
    const int locked = isinf(weights[v]) != 0;
    status = lock(d, v, locked);
    if (!locked || !stays(d, v) || status != TS_OK) continue;
    const dsi_control back = {v, {start_of(d, v)[0], start_of(d, v)[1], start_of(d, v)[2]}, DSI_FIXED};
    status = move_control(d, &back);
  }
  return status;
}

static int build(dsi *d, char message[MESH_MESSAGE]) {
  double *weights = calloc((size_t)d->m->vertex_count, sizeof *weights);
  if (!weights) return mesh_fail(message, "out of memory for %d vertices", (int)d->m->vertex_count);
  for (int32_t v = 0; v < d->m->vertex_count; v++) weights[v] = stays(d, v) ? DSI_FIXED : d->options.fit;
  for (int k = 0; k < d->controls.count; k++)
    weights[d->controls.points[k].vertex] = d->controls.points[k].weight;
  int failed = check_held(d, weights, message);
  if (!failed) {
    ts_status status = lock_all(d, weights);
    if (status == TS_OK) status = ts_system_begin(d->system);
    if (status == TS_OK) status = state_roughness(d);
    if (status == TS_OK) status = state_places(d, weights);
    if (status == TS_OK) status = ts_system_end(d->system);
    for (int k = 0; k < d->controls.count && status == TS_OK; k++)
      status = move_control(d, &d->controls.points[k]);
    if (status != TS_OK) failed = fail_status(d, status, message);
  }
  free(weights);
  d->stale = failed;
  return failed;
}

int dsi_set_controls(dsi *d, const dsi_controls *controls, char message[MESH_MESSAGE]) {
  const dsi_controls *old = &d->controls;
  int same = !d->stale && controls->count == old->count;
  for (int k = 0; same && k < controls->count; k++)
    same = controls->points[k].vertex == old->points[k].vertex &&
           controls->points[k].weight == old->points[k].weight;
  for (int k = 0; same && k < controls->count; k++) {
    const double *now = controls->points[k].place, *before = old->points[k].place;
    if (now[0] == before[0] && now[1] == before[1] && now[2] == before[2]) continue;
    const ts_status status = move_control(d, &controls->points[k]);
    if (status != TS_OK) return fail_status(d, status, message);
  }
  if (!same) d->stale = 1;
  if (dsi_controls_copy(controls, &d->controls, message)) return 1;
  return d->stale ? build(d, message) : 0;
}

int dsi_solve(dsi *d, const ts_system_solve_desc *how, ts_system_result *result, ts_status *status,
              char message[MESH_MESSAGE]) {
  ts_system_solve_desc with_format = *how;
  with_format.format = d->options.format;
  *status = ts_system_solve(d->system, &with_format, result);
  return *status < 0 ? fail_status(d, *status, message) : 0;
}

/* ---- Positions ---- */

int dsi_get_positions(dsi *d, float *unit, char message[MESH_MESSAGE]) {
  const size_t each = d->options.blocks ? block : 3, vertices = (size_t)d->m->vertex_count;
  const ts_status status = ts_system_get_values(d->system, ts_host(d->numbers, vertices * each));
  if (status != TS_OK) return fail_status(d, status, message);
  for (size_t v = 0; v < vertices; v++)
    for (size_t c = 0; c < 3; c++)
      unit[3 * v + c] =
          (float)((d->m->positions[3 * v + c] - d->centre[c]) / d->diagonal + d->numbers[each * v + c]);
  return 0;
}

/* A new layout of the matrix has a new space, so the vectors must be recreated. */
static ts_status renew_vectors(dsi *d, ts_space *space) {
  const ts_vector_desc three = {.components = 3};
  const size_t count = 3 * (size_t)d->m->vertex_count;
  if (d->shown && ts_vector_get_space(d->shown) == space) return TS_OK;
  ts_vector_destroy(&d->start);
  ts_vector_destroy(&d->shown);
  float *unit = malloc(count * sizeof *unit);
  if (!unit) return TS_ERROR_OUT_OF_HOST_MEMORY;
  mesh_to_unit(d->m, &d->measures, unit);
  ts_status status = ts_vector_create(space, &three, &d->start);
  if (status == TS_OK) status = ts_vector_write(d->start, ts_host(unit, count));
  if (status == TS_OK) status = ts_vector_create(space, &three, &d->shown);
  free(unit);
  return status;
}

int dsi_show(dsi *d, ts_vector **positions, char message[MESH_MESSAGE]) {
  const ts_vector *solution = ts_system_get_vector(d->system);
  *positions = NULL;
  if (!solution || d->options.blocks) return mesh_fail(message, "there is no solution on the device");
  ts_status status = renew_vectors(d, ts_vector_get_space(solution));
  if (status == TS_OK) status = ts_vector_copy(d->shown, d->start);
  if (status == TS_OK) status = ts_vector_axpby(d->shown, ts_constant(1), solution, ts_constant(1));
  if (status != TS_OK) return fail_status(d, status, message);
  *positions = d->shown;
  return 0;
}

void dsi_matrix_size(const dsi *d, size_t *bytes_device, int64_t *nonzeros) {
  ts_matrix_info info = {0};
  ts_matrix_get_info(ts_system_get_matrix(d->system), &info);
  *bytes_device = info.bytes_device;
  *nonzeros = info.nonzeros;
}

double dsi_roughness(const dsi *d, const float *unit) {
  double sum = 0;
  int32_t count = 0;
  for (int32_t v = 0; v < d->m->vertex_count; v++) {
    double away[3];
    for (size_t c = 0; c < 3; c++) away[c] = -(double)unit[3 * (size_t)v + c];
    for (int32_t k = d->rows.offsets[v]; k < d->rows.offsets[v + 1]; k++)
      for (size_t c = 0; c < 3; c++)
        away[c] += d->rows.weights[k] * (double)unit[3 * (size_t)d->rows.neighbours[k] + c];
    if (d->rows.offsets[v] == d->rows.offsets[v + 1]) continue;
    sum += away[0] * away[0] + away[1] * away[1] + away[2] * away[2];
    count++;
  }
  return count ? sqrt(sum / count) : 0;
}
