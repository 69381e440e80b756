/* Viscosity: (I - nu dt laplace) u** = u* for each velocity component, by multigrid cycles from u*.
 *
 * A prescribed face has a value instead of an equation; its neighbours' equations use the value. Walls are at
 * half a cell's distance. Beyond a WALL's side, and inside a solid, a mirrored velocity makes the mean of the
 * two the wall's: u_ghost = 2 u_wall - u. The part that does not depend on u is added to the right-hand side.
 * No momentum flows towards boundaries that exert no friction. */
#include <string.h>

#include "common/core/core.h"
#include "fluid_object.h"

typedef struct system_values {
  float *stencil, *walls;
  int32_t width, height;
} system_values;

static float given_at(const ts_fluid *fluid, int32_t i, int32_t j, int component) {
  const size_t points = (size_t)fluid->domain.width + 1;
  return fluid->prescribed_host[2 * ((size_t)j * points + (size_t)i) + (size_t)component];
}

static int is_solid(const ts_fluid *fluid, int32_t i, int32_t j) {
  const tsi_fluid_domain *d = &fluid->domain;
  if (d->periodic_x) i = (i + d->width) % d->width;
  if (d->periodic_y) j = (j + d->height) % d->height;
  if (i < 0 || i >= d->width || j < 0 || j >= d->height) return 1;
  return fluid->solid[(size_t)j * (size_t)d->width + (size_t)i];
}

/* Whether a prescribed face is inside a solid rather than on its surface. */
static int is_inside(const ts_fluid *fluid, int32_t i, int32_t j, int component) {
  if (fluid->domain.layout == TS_FLUID_LAYOUT_COLLOCATED) return is_solid(fluid, i, j);
  return is_solid(fluid, i, j) && is_solid(fluid, i - (component == 0), j - (component == 1));
}

/* Adds the contribution of the neighbour towards `side` to the equation at (i, j). */
static void add_neighbour(const ts_fluid *fluid, const system_values *s, int32_t i, int32_t j, int side,
                          int component, double factor) {
  const tsi_fluid_domain *d = &fluid->domain;
  const size_t here = (size_t)j * (size_t)s->width + (size_t)i;
  float *a = s->stencil + 9 * here;
  const int dx = (side == TSI_RIGHT) - (side == TSI_LEFT), dy = (side == TSI_TOP) - (side == TSI_BOTTOM);
  int32_t x = i + dx, y = j + dy;
  if (d->periodic_x) x = (x + d->width) % d->width;
  if (d->periodic_y) y = (y + d->height) % d->height;
  /* At cell centres a component does not use the last column (row) of the grid. */
  const int at_x_faces = d->layout == TS_FLUID_LAYOUT_STAGGERED && component == 0;
  const int at_y_faces = d->layout == TS_FLUID_LAYOUT_STAGGERED && component == 1;
  const int beyond = x < 0 || x > d->width - !at_x_faces || y < 0 || y > d->height - !at_y_faces;
  double wall;
  if (beyond) {
    const ts_fluid_boundary *which = &d->boundaries[side];
    const int across = side / 2 == component;
    /* An outlet's own faces, and boundaries that exert no friction. */
    if (which->kind == TS_FLUID_BOUNDARY_OUTLET || (which->kind == TS_FLUID_BOUNDARY_SLIP && !across)) return;
    wall = (double)which->velocity[component];
  } else {
    const float given = given_at(fluid, x, y, component);
    if (given >= TSI_FLUID_FREE || !is_inside(fluid, x, y, component)) {
      a[4] += (float)factor;
      a[4 + dx + 3 * dy] -= (float)factor;
      return;
    }
    wall = (double)given;
  }
  a[4] += (float)(2 * factor);
  s->walls[here] += (float)(2 * factor * wall);
}

static void compute_values(const ts_fluid *fluid, const system_values *s, int component, double factor) {
  const size_t points = (size_t)s->width * (size_t)s->height;
  memset(s->stencil, 0, 9 * points * sizeof *s->stencil);
  memset(s->walls, 0, points * sizeof *s->walls);
  for (int32_t j = 0; j < s->height; j++)
    for (int32_t i = 0; i < s->width; i++) {
      if (given_at(fluid, i, j, component) < TSI_FLUID_FREE) continue;
      s->stencil[9 * ((size_t)j * (size_t)s->width + (size_t)i) + 4] = 1;
      for (int side = 0; side < 4; side++) add_neighbour(fluid, s, i, j, side, component, factor);
    }
}

/* ---- Objects ---- */

void tsi_fluid_viscosity_destroy(tsi_fluid_viscosity *v) {
  for (int c = 0; c < 2; c++) {
    ts_multigrid_destroy(&v->multigrids[c]);
    ts_matrix_destroy(&v->matrices[c]);
    ts_vector_destroy(&v->unknowns[c]);
    ts_vector_destroy(&v->walls[c]);
  }
  ts_vector_destroy(&v->right);
  ts_space_destroy(&v->grid);
  v->factor = 0;
}

static ts_status create_vectors(ts_fluid *fluid) {
  const tsi_fluid_domain *d = &fluid->domain;
  tsi_fluid_viscosity *v = &fluid->viscosity;
  const ts_grid_desc grid = {.width = d->width + !d->periodic_x,
                             .height = d->height + !d->periodic_y,
                             .periodic_x = d->periodic_x,
                             .periodic_y = d->periodic_y};
  if (!v->grid) TSI_TRY(ts_grid_create(fluid->context, &grid, &v->grid));
  if (!v->right) TSI_TRY(ts_vector_create(v->grid, NULL, &v->right));
  for (int c = 0; c < 2; c++) {
    if (!v->unknowns[c]) TSI_TRY(ts_vector_create(v->grid, NULL, &v->unknowns[c]));
    if (!v->walls[c]) TSI_TRY(ts_vector_create(v->grid, NULL, &v->walls[c]));
  }
  return TS_OK;
}

static ts_status build_system(ts_fluid *fluid, const system_values *s, int component, double factor) {
  tsi_fluid_viscosity *v = &fluid->viscosity;
  compute_values(fluid, s, component, factor);
  TSI_TRY(tsi_vector_write_floats(v->walls[component], s->walls));
  ts_matrix **matrix = &v->matrices[component];
  const ts_array stencil = ts_host(s->stencil, 9 * (size_t)s->width * (size_t)s->height);
  TSI_TRY(*matrix ? ts_stencil_set_values(*matrix, stencil) : ts_stencil_create(v->grid, stencil, matrix));
  if (v->multigrids[component]) return ts_multigrid_update(v->multigrids[component]);
  return ts_multigrid_create(v->matrices[component], NULL, &v->multigrids[component]);
}

static ts_status fluid_viscosity_build(ts_fluid *fluid, double factor) {
  ts_context *context = fluid->context;
  tsi_fluid_viscosity *v = &fluid->viscosity;
  v->factor = 0; /* until all is built */
  TSI_TRY(create_vectors(fluid));
  system_values s = {.width = v->grid->grid.width, .height = v->grid->grid.height};
  const size_t points = (size_t)s.width * (size_t)s.height;
  s.stencil = tsi_malloc(context, 10 * points, sizeof *s.stencil);
  if (!s.stencil) return tsi_out_of_memory(context, "a fluid's viscosity", 10 * points * sizeof *s.stencil);
  s.walls = s.stencil + 9 * points;
  ts_status status = build_system(fluid, &s, 0, factor);
  if (status == TS_OK) status = build_system(fluid, &s, 1, factor);
  tsi_free(context, s.stencil);
  if (status == TS_OK) v->factor = factor;
  return status;
}

/* ---- Solving ---- */

/* Sets the right-hand side, and u* as the start. */
static ts_status fluid_viscosity_begin(ts_fluid *fluid, int component) {
  const tsi_ops *ops = fluid->context->ops;
  tsi_fluid_viscosity *v = &fluid->viscosity;
  TSI_TRY(ops->fluid->split(&fluid->domain, v->unknowns[component], fluid->velocity, component));
  return ops->axpby(v->right, ts_constant(1), v->unknowns[component], ts_constant(1), v->walls[component]);
}

ts_status tsi_fluid_viscosity_solve(ts_fluid *fluid) {
  ts_context *context = fluid->context;
  tsi_fluid_viscosity *v = &fluid->viscosity;
  const ts_fluid_parameters *p = &fluid->parameters;
  const double factor = p->viscosity * p->time_step / (fluid->cell_size * fluid->cell_size);
  /* Below this the change is lost in single precision. */
  if (factor < 1e-8) return TS_OK;
  if (factor != v->factor) TSI_TRY(fluid_viscosity_build(fluid, factor));
  for (int c = 0; c < 2; c++) {
    TSI_TRY(tsi_enter(context));
    TSI_TRY(tsi_leave(context, fluid_viscosity_begin(fluid, c)));
    TSI_TRY(ts_multigrid_cycle(v->multigrids[c], v->right, v->unknowns[c], 2));
  }
  TSI_TRY(tsi_enter(context));
  const ts_status status =
      context->ops->fluid->merge(&fluid->domain, fluid->velocity_next, v->unknowns[0], v->unknowns[1]);
  TSI_TRY(tsi_leave(context, status));
  ts_vector *next = fluid->velocity_next;
  fluid->velocity_next = fluid->velocity;
  fluid->velocity = next;
  return TS_OK;
}
