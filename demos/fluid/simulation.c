#include "simulation.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform.h"

int simulation_fail(char message[SIMULATION_MESSAGE], const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, SIMULATION_MESSAGE, format, arguments);
  va_end(arguments);
  return 1;
}

int simulation_fail_status(const ts_context *context, ts_status status, char message[SIMULATION_MESSAGE]) {
  const char *text = ts_last_error(context);
  return simulation_fail(message, "%s", *text ? text : ts_status_text(status));
}

/* ---- Parameters ---- */

simulation_changes simulation_no_changes(void) {
  return (simulation_changes){.time_step = NAN,
                              .viscosity = NAN,
                              .reynolds = NAN,
                              .vorticity_confinement = NAN,
                              .buoyancy = NAN,
                              .solver = -1,
                              .iterations = -1,
                              .cold_start = -1};
}

/* Refuses a time step in which the flow crosses the whole domain: it would show nothing, and is probably a
 * typing error. */
static int check_time_step(const scene_setup *setup, double time_step, char message[SIMULATION_MESSAGE]) {
  const double across = setup->cell_size * (setup->width > setup->height ? setup->width : setup->height);
  const double longest = across / (setup->speed > 0 ? setup->speed : 0.1);
  if (time_step <= longest) return 0;
  return simulation_fail(message,
                         "a time step of %g s, expected at most %.3g s, in which the flow crosses the domain",
                         time_step, longest);
}

static int choose_parameters(const simulation_options *o, const scene_setup *setup, ts_fluid_parameters *p,
                             char message[SIMULATION_MESSAGE]) {
  const simulation_changes *c = &o->changes;
  *p = setup->parameters;
  if (!isnan(c->time_step)) p->time_step = c->time_step;
  if (!isnan(c->viscosity)) p->viscosity = c->viscosity;
  if (!isnan(c->vorticity_confinement)) p->vorticity_confinement = c->vorticity_confinement;
  if (!isnan(c->buoyancy)) p->buoyancy = c->buoyancy;
  if (!isnan(c->reynolds)) {
    if (!(setup->speed > 0))
      return simulation_fail(message,
                             "a Reynolds number of %g: this scene does not define a speed and a length, "
                             "expected a viscosity",
                             c->reynolds);
    p->viscosity = setup->speed * setup->length / c->reynolds;
  }
  if (c->advection) p->advection = c->advection;
  pressure_choice pressure = pressure_default(c->solver >= 0 ? c->solver : PRESSURE_MULTIGRID);
  if (c->iterations > 0) pressure.iterations = c->iterations;
  pressure_set(&p->pressure, &pressure);
  if (c->cold_start >= 0) p->pressure.zero_start = c->cold_start;
  p->multigrid = c->multigrid;
  return check_time_step(setup, p->time_step, message);
}

/* ---- Fluids ---- */

/* Everything that belongs to one fluid. A new one is complete before it replaces the old one. */
typedef struct domain {
  scene_setup setup;
  ts_fluid_parameters parameters;
  unsigned char *solid;
  ts_fluid *fluid;
} domain;

static void destroy_domain(domain *d) {
  ts_fluid_destroy(&d->fluid);
  free(d->solid);
  scene_setup_destroy(&d->setup);
}

/* Arranges about `count` particles in the proportions of the domain. */
static void spread_particles(int count, int32_t width, int32_t height, int32_t *columns, int32_t *rows) {
  *columns = *rows = 0;
  if (count <= 0) return;
  *columns = (int32_t)lround(sqrt((double)count * width / height));
  if (*columns < 1) *columns = 1;
  *rows = (int32_t)((count + *columns - 1) / *columns);
}

static ts_status set_particles(const simulation_options *o, const scene_setup *setup, ts_fluid *fluid) {
  int32_t columns = setup->particle_columns, rows = setup->particle_rows;
  if (o->particles >= 0) spread_particles(o->particles, setup->width, setup->height, &columns, &rows);
  return columns && rows ? ts_fluid_set_particles(fluid, columns, rows, setup->particle_lifetime) : TS_OK;
}

static int first_walls(const simulation_options *o, domain *d, char message[SIMULATION_MESSAGE]) {
  const size_t cells = (size_t)d->setup.width * (size_t)d->setup.height;
  if (o->walls) return simulation_read_walls(o->walls, d->setup.width, d->setup.height, &d->solid, message);
  d->solid = calloc(cells, 1);
  if (!d->solid) return simulation_fail(message, "out of memory for %zu cells", cells);
  if (d->setup.solid) memcpy(d->solid, d->setup.solid, cells);
  return 0;
}

static int make_domain(ts_context *context, const simulation_options *o, domain *d,
                       char message[SIMULATION_MESSAGE]) {
  int32_t width = o->width, height = o->height;
  *d = (domain){0};
  if (!width) {
    width = o->scene->width;
    height = o->scene->height;
  }
  /* ts_fluid_create has a more precise check of the size, but the setup below already allocates memory for
   * it. */
  if (width < 4 || height < 4 || width > 32768 || height > 32768)
    return simulation_fail(message, "a size of %d x %d cells, expected 4 to 32768 each", (int)width,
                           (int)height);
  if (scene_set_up(o->scene, width, height, &d->setup))
    return simulation_fail(message, "out of memory for %d x %d cells", (int)width, (int)height);
  if (choose_parameters(o, &d->setup, &d->parameters, message) || first_walls(o, d, message)) return 1;
  const ts_fluid_desc desc = {.width = width,
                              .height = height,
                              .cell_size = d->setup.cell_size,
                              .layout = o->layout,
                              .left = d->setup.left,
                              .right = d->setup.right,
                              .bottom = d->setup.bottom,
                              .top = d->setup.top,
                              .solid = d->solid,
                              .parameters = &d->parameters};
  ts_status status = ts_fluid_create(context, &desc, &d->fluid);
  if (status == TS_OK) status = ts_fluid_set_sources(d->fluid, d->setup.sources, d->setup.source_count);
  if (status == TS_OK) status = set_particles(o, &d->setup, d->fluid);
  return status == TS_OK ? 0 : simulation_fail_status(context, status, message);
}

static int replace_fluid(simulation *s, const simulation_options *o, char message[SIMULATION_MESSAGE]) {
  domain next;
  if (make_domain(s->context, o, &next, message)) {
    destroy_domain(&next);
    return 1;
  }
  domain past = {.setup = s->setup, .solid = s->solid, .fluid = s->fluid};
  destroy_domain(&past);
  s->setup = next.setup;
  s->parameters = next.parameters;
  s->solid = next.solid;
  s->fluid = next.fluid;
  s->options = *o;
  s->walls_changed = 0;
  simulation_forget(s);
  return simulation_look(s, message);
}

int simulation_create(const simulation_options *options, simulation **made, char message[SIMULATION_MESSAGE]) {
  simulation_options o = *options;
  *made = NULL;
  if (!o.scene) o.scene = scene_at(0);
  simulation *s = calloc(1, sizeof *s);
  if (!s) return simulation_fail(message, "out of memory");
  const ts_gl_desc gl = {.platform = o.platform};
  const ts_context_desc desc = {.backend = o.backend, .gl = &gl};
  ts_status status = ts_context_create(&desc, &s->context);
  int failed = status == TS_OK ? 0 : simulation_fail_status(NULL, status, message);
  if (!failed && o.walls) {
    s->walls_path = copy_text(o.walls);
    o.walls = s->walls_path;
    if (!o.walls) failed = simulation_fail(message, "out of memory");
  }
  if (!failed) status = ts_context_get_info(s->context, &s->device);
  if (!failed && status != TS_OK) failed = simulation_fail_status(s->context, status, message);
  if (!failed) failed = replace_fluid(s, &o, message);
  if (failed)
    simulation_destroy(&s);
  else
    *made = s;
  return failed;
}

void simulation_destroy(simulation **made) {
  if (!made || !*made) return;
  simulation *s = *made;
  ts_fluid_destroy(&s->fluid);
  scene_setup_destroy(&s->setup);
  ts_context_destroy(&s->context);
  free(s->solid);
  free(s->walls_path);
  free(s);
  *made = NULL;
}

/* ---- Changes ---- */

int simulation_set_scene(simulation *s, const scene *next, int32_t width, int32_t height,
                         char message[SIMULATION_MESSAGE]) {
  simulation_options o = s->options;
  o.width = width;
  o.height = height;
  if (next != o.scene) {
    /* These were given for the previous scene. */
    const simulation_changes none = simulation_no_changes();
    o.walls = NULL;
    o.changes.time_step = none.time_step;
    o.changes.viscosity = none.viscosity;
    o.changes.reynolds = none.reynolds;
    o.changes.vorticity_confinement = none.vorticity_confinement;
    o.changes.buoyancy = none.buoyancy;
  }
  o.scene = next;
  return replace_fluid(s, &o, message);
}

int simulation_set_layout(simulation *s, ts_fluid_layout layout, char message[SIMULATION_MESSAGE]) {
  simulation_options o = s->options;
  o.layout = layout;
  return replace_fluid(s, &o, message);
}

int simulation_set_parameters(simulation *s, const ts_fluid_parameters *parameters,
                              char message[SIMULATION_MESSAGE]) {
  if (check_time_step(&s->setup, parameters->time_step, message)) return 1;
  const ts_status status = ts_fluid_set_parameters(s->fluid, parameters);
  if (status != TS_OK) return simulation_fail_status(s->context, status, message);
  simulation_changes *c = &s->options.changes;
  const ts_fluid_parameters *now = &s->parameters;
  const pressure_choice wanted = pressure_of(&parameters->pressure), old = pressure_of(&now->pressure);
  if (wanted.solver != old.solver) c->solver = wanted.solver;
  if (wanted.iterations != old.iterations) c->iterations = wanted.iterations;
  if (parameters->advection != now->advection) c->advection = parameters->advection;
  if (parameters->pressure.zero_start != now->pressure.zero_start)
    c->cold_start = parameters->pressure.zero_start;
  c->multigrid = parameters->multigrid;
  s->parameters = *parameters;
  return simulation_look(s, message);
}

int simulation_default_parameters(simulation *s, char message[SIMULATION_MESSAGE]) {
  ts_fluid_parameters parameters;
  s->options.changes = simulation_no_changes();
  if (choose_parameters(&s->options, &s->setup, &parameters, message)) return 1;
  const ts_status status = ts_fluid_set_parameters(s->fluid, &parameters);
  if (status != TS_OK) return simulation_fail_status(s->context, status, message);
  s->parameters = parameters;
  return simulation_look(s, message);
}

int simulation_set_particles(simulation *s, int count, char message[SIMULATION_MESSAGE]) {
  int32_t columns, rows;
  spread_particles(count, s->setup.width, s->setup.height, &columns, &rows);
  const ts_status status = ts_fluid_set_particles(s->fluid, columns, rows, s->setup.particle_lifetime);
  if (status != TS_OK) return simulation_fail_status(s->context, status, message);
  s->options.particles = count;
  return simulation_look(s, message);
}

/* ---- History ---- */

static void push(float *values, int count, double value) {
  if (count == SIMULATION_HISTORY) {
    memmove(values, values + 1, (SIMULATION_HISTORY - 1) * sizeof *values);
    count--;
  }
  values[count] = isfinite(value) ? (float)value : 0;
}

static void remember(simulation *s) {
  simulation_history *h = &s->history;
  const ts_fluid_result *r = &s->result;
  for (int k = 0; k < TS_FLUID_STAGE_COUNT; k++) push(h->milliseconds[k], h->count, 1e3 * r->seconds[k]);
  push(h->draw, h->count, 0);
  push(h->divergence_before, h->count, r->divergence_before);
  push(h->divergence_after, h->count, r->divergence_after);
  if (h->count < SIMULATION_HISTORY) h->count++;
}

void simulation_note_draw(simulation *s, double seconds) {
  if (s->history.count) s->history.draw[s->history.count - 1] += (float)(1e3 * seconds);
}

void simulation_forget(simulation *s) {
  s->history = (simulation_history){0};
  s->result = (ts_fluid_result){0};
  s->steps = s->broken = 0;
}

int simulation_reset(simulation *s, char message[SIMULATION_MESSAGE]) {
  const size_t cells = (size_t)s->setup.width * (size_t)s->setup.height;
  ts_status status = ts_fluid_reset(s->fluid);
  if (status != TS_OK) return simulation_fail_status(s->context, status, message);
  simulation_forget(s);
  if (s->options.walls) return simulation_load_walls(s, s->options.walls, message);
  memset(s->solid, 0, cells);
  if (s->setup.solid) memcpy(s->solid, s->setup.solid, cells);
  s->walls_changed = 1;
  return simulation_apply_walls(s, message);
}

/* ---- Steps ---- */

int simulation_splat(simulation *s, const scene_splat *splat, char message[SIMULATION_MESSAGE]) {
  const ts_status status = ts_fluid_splat(s->fluid, splat->x, splat->y, splat->radius, splat->velocity,
                                          splat->dye, splat->temperature);
  return status == TS_OK ? 0 : simulation_fail_status(s->context, status, message);
}

int simulation_step(simulation *s, int measure, int scripted, char message[SIMULATION_MESSAGE]) {
  enum { most = 8 };
  scene_splat splats[most];
  if (simulation_apply_walls(s, message)) return 1;
  const scene *at = s->options.scene;
  const int by_itself = at->splats && (scripted || !at->scripted);
  const int count = by_itself ? at->splats(&s->setup, s->steps, splats, most) : 0;
  for (int k = 0; k < count; k++)
    if (simulation_splat(s, &splats[k], message)) return 1;
  const ts_status status = ts_fluid_step(s->fluid, measure, &s->result);
  if (status < 0) return simulation_fail_status(s->context, status, message);
  s->steps++;
  remember(s);
  if (status == TS_OK) return 0;
  s->broken = 1;
  return simulation_fail(message,
                         "step %d: the flow became infinite or NaN, expected a time step below %g s or "
                         "weaker forces",
                         s->steps, s->parameters.time_step);
}

/* ---- Description ---- */

double simulation_reynolds(const simulation *s) {
  if (!(s->setup.speed > 0) || !(s->parameters.viscosity > 0)) return NAN;
  return s->setup.speed * s->setup.length / s->parameters.viscosity;
}

void simulation_describe(const simulation *s, char *text, size_t size) {
  snprintf(text, size, "%s %d x %d, %s: %s, %.1f MB", s->options.scene->name, (int)s->info.width,
           (int)s->info.height, s->device.backend, s->device.device, 1e-6 * (double)s->info.bytes_device);
}
