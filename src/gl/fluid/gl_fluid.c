/* The passes of a fluid, one per operation. See shaders/include/fluid.glsl for the layout of their
 * parameters. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fluid/fluid.h"
#include "gl/core/gl.h"
#include "gl/core/gl_shader.h"

TSI_FLUID_OPERATIONS(TSI_PROTOTYPE, gl_fluid_)

static int bits_of(float value) {
  int bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Sets p[5] to p[7]. */
static void set_domain(gl_pass *pass, const tsi_fluid_domain *d, float number) {
  int flags = 0;
  for (int side = 0; side < 4; side++) {
    const ts_fluid_boundary_kind kind = d->boundaries[side].kind;
    if (kind == TS_FLUID_BOUNDARY_WALL) flags |= 1 << side;
    if (tsi_fluid_is_open(d, side)) flags |= 16 << side;
    if (kind == TS_FLUID_BOUNDARY_OUTLET) flags |= 256 << side;
    pass->parameters[4 + (side ^ 2)] =
        bits_of(d->boundaries[side].velocity[side < 2]); /* tangential: bottom first */
    pass->parameters[8 + side] = bits_of(d->boundaries[side].velocity[side / 2]);
  }
  pass->parameters[0] = (int)((unsigned)d->width | (unsigned)d->height << 16);
  pass->parameters[2] = flags;
  pass->parameters[3] = bits_of(number);
}

static ts_status get_program(const tsi_fluid_domain *d, ts_context *context, const char *fragment,
                             const char *define, gl_pass *pass) {
  char defines[128];
  snprintf(defines, sizeof defines, "#define PERIODIC_X %d\n#define PERIODIC_Y %d\n#define COLLOCATED %d\n%s",
           d->periodic_x, d->periodic_y, d->layout == TS_FLUID_LAYOUT_COLLOCATED, define);
  return gl_program_get(context, "core/fullscreen.vert", fragment, defines, &pass->program);
}

static ts_status draw(const tsi_fluid_domain *d, ts_vector *out, const char *fragment, const char *define,
                      gl_pass *pass) {
  TSI_TRY(get_program(d, out->context, fragment, define, pass));
  return gl_draw_vector(out, pass);
}

/* ---- Velocities ---- */

ts_status gl_fluid_advect(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                          const ts_vector *prescribed, float dt) {
  gl_pass pass = {.inputs = {velocity, prescribed}};
  set_domain(&pass, domain, dt / domain->cell_size);
  return draw(domain, out, "fluid/fluid_advect.frag", "", &pass);
}

ts_status gl_fluid_correct(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                           const ts_vector *prescribed, const ts_vector *carried, float dt) {
  gl_pass pass = {.inputs = {velocity, prescribed, carried}};
  set_domain(&pass, domain, dt / domain->cell_size);
  return draw(domain, out, "fluid/fluid_correct.frag", "", &pass);
}

ts_status gl_fluid_forces(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                          const ts_vector *prescribed, const ts_vector *dye, const ts_vector *vorticity,
                          const tsi_fluid_forces *forces) {
  gl_pass pass = {.inputs = {velocity, prescribed, dye, vorticity}};
  const int lifts = forces->buoyancy != 0 || forces->smoke_weight != 0;
  set_domain(&pass, domain, 0);
  pass.parameters[4] = bits_of(forces->gravity[0]);
  pass.parameters[5] = bits_of(forces->gravity[1]);
  pass.parameters[6] = bits_of(forces->buoyancy);
  pass.parameters[7] = bits_of(forces->smoke_weight);
  pass.parameters[8] = bits_of(forces->confinement);
  char defines[48];
  snprintf(defines, sizeof defines, "%s%s", vorticity ? "#define CONFINEMENT\n" : "",
           lifts ? "#define LIFT\n" : "");
  return draw(domain, out, "fluid/fluid_forces.frag", defines, &pass);
}

ts_status gl_fluid_project(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                           const ts_vector *prescribed, const ts_vector *pressure, float dt) {
  gl_pass pass = {.inputs = {velocity, prescribed, pressure}};
  set_domain(&pass, domain, dt / domain->cell_size);
  return draw(domain, out, "fluid/fluid_project.frag", "", &pass);
}

ts_status gl_fluid_boundary(const tsi_fluid_domain *domain, ts_vector *velocity, const ts_vector *prescribed) {
  gl_pass pass = {.inputs = {velocity, prescribed}};
  return draw(domain, velocity, "fluid/fluid_boundary.frag", "", &pass);
}

ts_status gl_fluid_split(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                         int component) {
  gl_pass pass = {.inputs = {velocity}, .parameters = {component}};
  return draw(domain, out, "fluid/fluid_split.frag", "", &pass);
}

ts_status gl_fluid_merge(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *u,
                         const ts_vector *v) {
  const tsi_grid *grid = &u->space->grid;
  gl_pass pass = {.inputs = {u, v},
                  .parameters = {grid->width, grid->height, domain->layout == TS_FLUID_LAYOUT_COLLOCATED}};
  return draw(domain, out, "fluid/fluid_merge.frag", "", &pass);
}

/* ---- Cells ---- */

ts_status gl_fluid_divergence(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                              const ts_vector *walls, const ts_vector *compatibility, float scale) {
  gl_pass pass = {.inputs = {velocity, walls, compatibility}};
  set_domain(&pass, domain, scale);
  pass.parameters[4] = bits_of(domain->cell_size);
  return draw(domain, out, "fluid/fluid_divergence.frag", compatibility ? "#define COMPATIBILITY\n" : "",
              &pass);
}

ts_status gl_fluid_vorticity(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                             const ts_vector *walls) {
  gl_pass pass = {.inputs = {velocity, walls}};
  set_domain(&pass, domain, domain->cell_size);
  return draw(domain, out, "fluid/fluid_vorticity.frag", "", &pass);
}

ts_status gl_fluid_speed(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                         const ts_vector *walls) {
  gl_pass pass = {.inputs = {velocity, walls}};
  set_domain(&pass, domain, 0);
  return draw(domain, out, "fluid/fluid_speed.frag", "", &pass);
}

/* Extends the dye into the solid cells. Draws only the region that contains them, because a software rasterizer
 * would otherwise compute it everywhere. */
static ts_status carry_into_walls(const tsi_fluid_domain *d, ts_vector *out, const ts_vector *dye,
                                  const ts_vector *walls) {
  const gl_vector *v = gl_vector_of(out);
  const int32_t *columns = d->solid_columns, *rows = d->solid_rows;
  if (columns[1] < columns[0]) return TS_OK;
  gl_pass pass = {.inputs = {dye, walls},
                  .target = v->texture,
                  .x = v->x + columns[0],
                  .y = v->y + rows[0],
                  .width = columns[1] - columns[0] + 1,
                  .height = rows[1] - rows[0] + 1};
  set_domain(&pass, d, 0);
  pass.parameters[1] = (int)((unsigned)columns[0] | (unsigned)rows[0] << 16);
  TSI_TRY(get_program(d, out->context, "fluid/fluid_walls.frag", "", &pass));
  return gl_draw(out->context, &pass);
}

ts_status gl_fluid_transport(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *dye,
                             const ts_vector *velocity, const ts_vector *walls, const ts_vector *carried,
                             const tsi_fluid_transport *transport) {
  gl_pass pass = {
      .inputs = {velocity, dye, carried},
      .coefficient_count = 2,
      .coefficients = {ts_constant(transport->color_left), ts_constant(transport->temperature_left)}};
  set_domain(&pass, domain, transport->dt / domain->cell_size);
  TSI_TRY(draw(domain, out, "fluid/fluid_transport.frag", carried ? "#define CORRECTS\n" : "", &pass));
  return carry_into_walls(domain, out, dye, walls);
}

ts_status gl_fluid_particles(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *particles,
                             const ts_vector *velocity, const ts_vector *walls,
                             const tsi_fluid_particles *step) {
  gl_pass pass = {.inputs = {velocity, walls, particles},
                  .coefficient_count = 2,
                  .coefficients = {ts_constant(domain->cell_size), ts_constant(step->lifetime)}};
  set_domain(&pass, domain, step->dt);
  pass.parameters[1] = (int)step->seed;
  return draw(domain, out, "fluid/fluid_particles.frag", "", &pass);
}

/* ---- Stamps: if a texture may be read while it is drawn, only the texels within reach are drawn ---- */

static void reached(float centre, float reach, int size, int *first, int *count) {
  const float low = floorf(centre - reach) - 1, high = ceilf(centre + reach) + 1;
  const int begin = low > 0 ? (low < (float)size ? (int)low : size) : 0;
  const int end = high < (float)size ? (high > 0 ? (int)high : 0) : size;
  *first = begin;
  *count = end > begin ? end - begin : 0;
}

static ts_status stamp(const tsi_fluid_domain *d, ts_vector *out, const char *fragment, gl_pass *pass,
                       const tsi_fluid_stamp *s) {
  const float place[4] = {s->x, s->y, s->half_width, s->half_height};
  for (int k = 0; k < 4; k++) pass->parameters[k] = bits_of(place[k]);
  pass->parameters[10] = s->sets;
  if (!out->context->caps.texture_barrier) return draw(d, out, fragment, "", pass);
  const gl_vector *v = gl_vector_of(out);
  float reach_x, reach_y;
  tsi_fluid_stamp_reach(s, &reach_x, &reach_y);
  reached(s->x, reach_x, out->space->tiling.width, &pass->parameters[8], &pass->width);
  reached(s->y, reach_y, out->space->tiling.height, &pass->parameters[9], &pass->height);
  if (!pass->width || !pass->height) return TS_OK;
  pass->target = v->texture;
  pass->x = v->x + pass->parameters[8];
  pass->y = v->y + pass->parameters[9];
  char defines[32];
  snprintf(defines, sizeof defines, "#define COLLOCATED %d\n", d->layout == TS_FLUID_LAYOUT_COLLOCATED);
  TSI_TRY(gl_program_get(out->context, "core/fullscreen.vert", fragment, defines, &pass->program));
  return gl_draw(out->context, pass);
}

ts_status gl_fluid_stamp_velocity(const tsi_fluid_domain *domain, ts_vector *velocity,
                                  const ts_vector *prescribed, const tsi_fluid_stamp *s) {
  gl_pass pass = {.inputs = {velocity, prescribed}};
  pass.parameters[4] = bits_of(s->velocity[0]);
  pass.parameters[5] = bits_of(s->velocity[1]);
  return stamp(domain, velocity, "fluid/fluid_stamp_velocity.frag", &pass, s);
}

ts_status gl_fluid_stamp_dye(const tsi_fluid_domain *domain, ts_vector *dye, const tsi_fluid_stamp *s) {
  gl_pass pass = {.inputs = {dye}};
  for (int c = 0; c < 4; c++) pass.parameters[4 + c] = bits_of(s->dye[c]);
  pass.parameters[11] = s->sets_color | s->sets_temperature << 1;
  return stamp(domain, dye, "fluid/fluid_stamp_dye.frag", &pass, s);
}

const tsi_fluid_ops gl_fluid_ops = {TSI_FLUID_OPERATIONS(TSI_ENTRY, gl_fluid_)};
