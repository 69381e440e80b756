/* Walls and boundaries: prescribed faces, closed parts of the domain, and their inflow without an outlet. The
 * host computes all of them whenever walls or boundaries change. */
#include <math.h>
#include <string.h>

#include "common/core/core.h"
#include "fluid_object.h"

static const char *const boundary_names[4] = {"left", "right", "bottom", "top"};

ts_status tsi_fluid_check_boundaries(ts_context *context, const ts_fluid_boundary boundaries[4]) {
  for (int k = 0; k < 4; k++) {
    const ts_fluid_boundary *s = &boundaries[k];
    if (!ts_fluid_boundary_name(s->kind))
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s.kind is %d, not a ts_fluid_boundary_kind",
                      boundary_names[k], s->kind);
    if (s->kind == TS_FLUID_BOUNDARY_PERIODIC && boundaries[k ^ 1].kind != TS_FLUID_BOUNDARY_PERIODIC)
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                      "%s is periodic and %s is %s; opposite boundaries must both be periodic",
                      boundary_names[k], boundary_names[k ^ 1], ts_fluid_boundary_name(boundaries[k ^ 1].kind));
    for (int c = 0; s->kind == TS_FLUID_BOUNDARY_WALL && c < 2; c++)
      if (!(fabsf(s->velocity[c]) <= 1e6f))
        return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                        "%s.velocity[%d] is %g m/s; a wall's speed is at most 1e6 m/s", boundary_names[k], c,
                        (double)s->velocity[c]);
  }
  return TS_OK;
}

ts_status tsi_fluid_check_walls(ts_context *context, const tsi_fluid_domain *d, const unsigned char *solid,
                                const float *solid_velocity) {
  const size_t cells = (size_t)d->width * (size_t)d->height;
  size_t fluid_cells = 0;
  for (size_t k = 0; solid && k < cells; k++) {
    fluid_cells += !solid[k];
    for (size_t c = 0; solid[k] && solid_velocity && c < 2; c++)
      if (!(fabsf(solid_velocity[2 * k + c]) <= 1e6f))
        return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                        "solid_velocity[%zu] of cell (%zu, %zu) is %g m/s; a wall's speed is at most 1e6 m/s",
                        c, k % (size_t)d->width, k / (size_t)d->width, (double)solid_velocity[2 * k + c]);
  }
  if (solid && !fluid_cells)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "solid: all %d x %d cells are walls; no fluid is left",
                    d->width, d->height);
  return TS_OK;
}

/* ---- Faces ---- */

/* The cell at (i, j), which may be outside the domain; -1 outside. */
static int64_t cell_at(const tsi_fluid_domain *d, int32_t i, int32_t j) {
  if (d->periodic_x) i = (i + d->width) % d->width;
  if (d->periodic_y) j = (j + d->height) % d->height;
  return i < 0 || i >= d->width || j < 0 || j >= d->height ? -1 : (int64_t)j * d->width + i;
}

/* The velocity through the face between two adjacent cells. One of them may be outside the domain, beyond
 * `side`. */
static float between(const ts_fluid *fluid, int64_t a, int64_t b, int side, int component) {
  const int solid_a = a >= 0 && fluid->solid[a], solid_b = b >= 0 && fluid->solid[b];
  const float *velocity = fluid->solid_velocity;
  if (solid_a && solid_b) return 0.5f * (velocity[2 * a + component] + velocity[2 * b + component]);
  if (solid_a) return velocity[2 * a + component];
  if (solid_b) return velocity[2 * b + component];
  if (a >= 0 && b >= 0) return TSI_FLUID_FREE;
  const ts_fluid_boundary *s = &fluid->domain.boundaries[side];
  return s->kind == TS_FLUID_BOUNDARY_OUTLET ? TSI_FLUID_FREE : s->velocity[component];
}

static float face(const ts_fluid *fluid, int32_t i, int32_t j, int component) {
  const tsi_fluid_domain *d = &fluid->domain;
  if (d->layout == TS_FLUID_LAYOUT_COLLOCATED) {
    if (i == d->width || j == d->height) return 0;
    const size_t k = (size_t)j * (size_t)d->width + (size_t)i;
    return fluid->solid[k] ? fluid->solid_velocity[2 * k + (size_t)component] : TSI_FLUID_FREE;
  }
  if (component == 0 ? j == d->height : i == d->width) return 0;
  const int64_t a = cell_at(d, i - (component == 0), j - (component == 1)), b = cell_at(d, i, j);
  return between(fluid, a, b, 2 * component + (b < 0), component);
}

static void find_prescribed(const ts_fluid *fluid, float *prescribed) {
  const tsi_fluid_domain *d = &fluid->domain;
  for (int32_t j = 0; j <= d->height; j++)
    for (int32_t i = 0; i <= d->width; i++)
      for (int c = 0; c < 2; c++) *prescribed++ = face(fluid, i, j, c);
}

/* ---- Parts ---- */

typedef struct part {
  int32_t cells;
  int outlets;
  double inflow, gross; /* sums of the inward velocities and of their magnitudes */
} part;

/* Adds the flow between cell k and its neighbour towards `side`. Returns the neighbour if fluid passes. */
static int64_t look_through(const ts_fluid *fluid, int64_t k, int side, part *p) {
  const tsi_fluid_domain *d = &fluid->domain;
  const int32_t i = (int32_t)(k % d->width), j = (int32_t)(k / d->width);
  const int component = side / 2, inwards = side & 1 ? -1 : 1;
  const int64_t other =
      cell_at(d, i + (side == TSI_RIGHT) - (side == TSI_LEFT), j + (side == TSI_TOP) - (side == TSI_BOTTOM));
  const float v = between(fluid, k, other, side, component);
  if (v < TSI_FLUID_FREE) {
    p->inflow += inwards * (double)v;
    p->gross += fabs((double)v);
    return -1;
  }
  if (other < 0) p->outlets++;
  return other;
}

/* Labels all cells connected with `first`. */
static part flood(const ts_fluid *fluid, int64_t first, int32_t label, int32_t *labels, int32_t *stack) {
  part p = {0, 0, 0, 0};
  int32_t depth = 0;
  stack[depth++] = (int32_t)first;
  labels[first] = label;
  while (depth > 0) {
    const int32_t k = stack[--depth];
    p.cells++;
    for (int side = 0; side < 4; side++) {
      const int64_t other = look_through(fluid, k, side, &p);
      if (other < 0 || labels[other]) continue;
      labels[other] = label;
      stack[depth++] = (int32_t)other;
    }
  }
  return p;
}

/* The inflow through the boundaries of the domain. */
static double total_inflow(const ts_fluid *fluid) {
  const tsi_fluid_domain *d = &fluid->domain;
  double sum = 0;
  for (int side = 0; side < 4; side++) {
    const ts_fluid_boundary *s = &d->boundaries[side];
    const double inwards = (side & 1 ? -1 : 1) * (double)s->velocity[side / 2];
    if (s->kind != TS_FLUID_BOUNDARY_WALL || !(inwards > 0)) continue;
    const int32_t count = side / 2 == 0 ? d->height : d->width;
    for (int32_t k = 0; k < count; k++) {
      const int32_t i = side / 2 == 0 ? (side & 1 ? d->width - 1 : 0) : k;
      const int32_t j = side / 2 == 0 ? k : (side & 1 ? d->height - 1 : 0);
      if (!fluid->solid[(size_t)j * (size_t)d->width + (size_t)i]) sum += inwards;
    }
  }
  return sum * fluid->cell_size;
}

/* Labels the parts, and computes the divergence per cell that no pressure can remove. */
static void find_parts(ts_fluid *fluid, int32_t *labels, int32_t *stack, float *compatibility,
                       int *has_compatibility) {
  const tsi_fluid_domain *d = &fluid->domain;
  const int64_t cells = (int64_t)d->width * d->height;
  ts_fluid_info *info = &fluid->info;
  int has_outlet = 0, outlets = 0;
  for (int side = 0; side < 4; side++) has_outlet |= d->boundaries[side].kind == TS_FLUID_BOUNDARY_OUTLET;
  info->fluid_cells = info->closed = 0;
  info->incompatible = 0;
  info->inflow = total_inflow(fluid);
  memset(labels, 0, (size_t)cells * sizeof *labels);
  memset(compatibility, 0, (size_t)cells * sizeof *compatibility);
  *has_compatibility = 0;
  int32_t label = 0;
  for (int64_t k = 0; k < cells; k++) {
    if (fluid->solid[k] || labels[k]) continue;
    const part p = flood(fluid, k, ++label, labels, stack);
    info->fluid_cells += p.cells;
    outlets += p.outlets;
    info->closed += !p.outlets;
    /* The sum of single-precision velocities that cancel is rounding error. */
    if (p.outlets || !(fabs(p.inflow) > 1e-6 * p.gross)) continue;
    info->incompatible += fabs(p.inflow) * fluid->cell_size;
    *has_compatibility = 1;
    const float each = (float)(-p.inflow / ((double)p.cells * fluid->cell_size));
    for (int64_t m = k; m < cells; m++)
      if (labels[m] == label) compatibility[m] = each;
  }
  info->outlet_closed = has_outlet && !outlets;
}

/* ---- To the device ---- */

static ts_status apply(ts_fluid *fluid, ts_vector *velocity, const ts_vector *prescribed) {
  ts_context *context = fluid->context;
  TSI_TRY(tsi_enter(context));
  return tsi_leave(context, context->ops->fluid->boundary(&fluid->domain, velocity, prescribed));
}

/* Writes `prescribed`. `old` is the previous array, or NULL initially. */
static ts_status write_faces(ts_fluid *fluid, const float *prescribed, float *old, size_t count) {
  if (old) {
    for (size_t k = 0; k < count; k++)
      old[k] = prescribed[k] < TSI_FLUID_FREE ? prescribed[k] : old[k] < TSI_FLUID_FREE ? 0 : TSI_FLUID_FREE;
    TSI_TRY(tsi_vector_write_floats(fluid->prescribed, old));
    TSI_TRY(apply(fluid, fluid->velocity, fluid->prescribed));
  }
  return tsi_vector_write_floats(fluid->prescribed, prescribed);
}

static ts_status write_cells(ts_fluid *fluid, float *values, const float *compatibility, int has_compatibility,
                             size_t cells) {
  for (size_t k = 0; k < cells; k++) {
    values[2 * k] = fluid->solid[k] ? 1 : 0;
    values[2 * k + 1] = 0;
  }
  TSI_TRY(tsi_vector_write_floats(fluid->walls, values));
  if (!has_compatibility) {
    ts_vector_destroy(&fluid->compatibility);
    return TS_OK;
  }
  if (!fluid->compatibility) TSI_TRY(ts_vector_create(fluid->cells, NULL, &fluid->compatibility));
  return tsi_vector_write_floats(fluid->compatibility, compatibility);
}

ts_status tsi_fluid_build(ts_fluid *fluid) {
  ts_context *context = fluid->context;
  const size_t cells = (size_t)fluid->domain.width * (size_t)fluid->domain.height;
  const size_t count = 2 * ((size_t)fluid->domain.width + 1) * ((size_t)fluid->domain.height + 1);
  /* compatibility source and walls; the labels and the stack of the flood fill have the same size */
  float *values = tsi_malloc(context, 3 * cells, sizeof *values),
        *prescribed = tsi_malloc(context, count, sizeof *prescribed);
  int32_t *labels = tsi_malloc(context, 2 * cells, sizeof *labels);
  ts_status status = TS_OK;
  if (!values || !prescribed || !labels) {
    status = tsi_out_of_memory(context, "the walls of a fluid", count * sizeof *prescribed);
  } else {
    int has_compatibility = 0;
    find_prescribed(fluid, prescribed);
    find_parts(fluid, labels, labels + cells, values, &has_compatibility);
    status = write_faces(fluid, prescribed, fluid->prescribed_host, count);
    if (status == TS_OK) status = write_cells(fluid, values + cells, values, has_compatibility, cells);
  }
  if (status == TS_OK) {
    tsi_free(context, fluid->prescribed_host);
    fluid->prescribed_host = prescribed;
    prescribed = NULL;
  }
  tsi_free(context, values);
  tsi_free(context, prescribed);
  tsi_free(context, labels);
  if (status == TS_OK) status = tsi_fluid_pressure_update(fluid);
  fluid->viscosity.factor = 0;
  return status;
}

ts_status tsi_fluid_set_at_rest(ts_fluid *fluid) {
  TSI_TRY(ts_vector_fill(fluid->velocity, 0));
  return apply(fluid, fluid->velocity, fluid->prescribed);
}

/* ---- Changes ---- */

static void find_solid_rectangle(ts_fluid *fluid) {
  tsi_fluid_domain *d = &fluid->domain;
  int32_t *columns = d->solid_columns, *rows = d->solid_rows;
  columns[0] = d->width;
  rows[0] = d->height;
  columns[1] = rows[1] = -1;
  const size_t width = (size_t)d->width, cells = width * (size_t)d->height;
  for (size_t k = 0; k < cells; k++) {
    if (!fluid->solid[k]) continue;
    const int32_t i = (int32_t)(k % width), j = (int32_t)(k / width);
    if (i < columns[0]) columns[0] = i;
    if (i > columns[1]) columns[1] = i;
    if (j < rows[0]) rows[0] = j;
    rows[1] = j;
  }
}

void tsi_fluid_copy_walls(ts_fluid *fluid, const unsigned char *solid, const float *solid_velocity) {
  const size_t cells = (size_t)fluid->domain.width * (size_t)fluid->domain.height;
  for (size_t k = 0; k < cells; k++) {
    fluid->solid[k] = solid && solid[k];
    for (size_t c = 0; c < 2; c++)
      fluid->solid_velocity[2 * k + c] = solid && solid[k] && solid_velocity ? solid_velocity[2 * k + c] : 0;
  }
  find_solid_rectangle(fluid);
}

void tsi_fluid_set_domain_boundaries(tsi_fluid_domain *d, const ts_fluid_boundary boundaries[4]) {
  for (int k = 0; k < 4; k++) {
    d->boundaries[k] = boundaries[k];
    if (boundaries[k].kind != TS_FLUID_BOUNDARY_WALL)
      d->boundaries[k].velocity[0] = d->boundaries[k].velocity[1] = 0;
  }
  d->periodic_x = boundaries[TSI_LEFT].kind == TS_FLUID_BOUNDARY_PERIODIC;
  d->periodic_y = boundaries[TSI_BOTTOM].kind == TS_FLUID_BOUNDARY_PERIODIC;
}

ts_status ts_fluid_set_walls(ts_fluid *fluid, const unsigned char *solid, const float *solid_velocity) {
  TSI_BEGIN(fluid, fluid->context);
  ts_context *context = fluid->context;
  TSI_TRY(tsi_fluid_check_walls(context, &fluid->domain, solid, solid_velocity));
  const size_t before = context->bytes_device;
  tsi_fluid_copy_walls(fluid, solid, solid_velocity);
  tsi_stay_begin(context);
  const ts_status status = tsi_stay_end(context, tsi_fluid_build(fluid));
  fluid->info.bytes_device += context->bytes_device - before;
  return status;
}

ts_status ts_fluid_set_boundaries(ts_fluid *fluid, const ts_fluid_boundary *left,
                                  const ts_fluid_boundary *right, const ts_fluid_boundary *bottom,
                                  const ts_fluid_boundary *top) {
  TSI_BEGIN(fluid, fluid->context);
  ts_context *context = fluid->context;
  const ts_fluid_boundary *given[4] = {left, right, bottom, top};
  ts_fluid_boundary boundaries[4];
  for (int k = 0; k < 4; k++) boundaries[k] = given[k] ? *given[k] : fluid->domain.boundaries[k];
  TSI_TRY(tsi_fluid_check_boundaries(context, boundaries));
  const int periodic_x = boundaries[TSI_LEFT].kind == TS_FLUID_BOUNDARY_PERIODIC;
  const int periodic_y = boundaries[TSI_BOTTOM].kind == TS_FLUID_BOUNDARY_PERIODIC;
  if (periodic_x != fluid->domain.periodic_x || periodic_y != fluid->domain.periodic_y)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "a boundary of a fluid cannot become periodic, or cease to be; create another fluid");
  const size_t before = context->bytes_device;
  tsi_fluid_set_domain_boundaries(&fluid->domain, boundaries);
  tsi_stay_begin(context);
  const ts_status status = tsi_stay_end(context, tsi_fluid_build(fluid));
  fluid->info.bytes_device += context->bytes_device - before;
  return status;
}
