/* A step: collision detection, assembly, the solve on the device, motion of the bodies. */
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

static int fail_status(const simulation *s, ts_status status, char message[SIMULATION_MESSAGE]) {
  const char *text = ts_last_error(s->context);
  return simulation_fail(message, "%s", *text ? text : ts_status_text(status));
}

static int fail_memory(char message[SIMULATION_MESSAGE]) {
  return simulation_fail(message, "out of memory for bodies and contacts");
}

/* ---- A step's problem on the device ---- */

typedef struct problem {
  ts_lcp *lcp;
  ts_vector *q, *z;
} problem;

static ts_status upload(simulation *s, problem *p) {
  const assembly *a = &s->assembly;
  const size_t n = (size_t)a->jacobian.rows;
  const ts_lcp_desc desc = {.size = (int32_t)n,
                            .dimension = 3,
                            .jacobian = &a->jacobian,
                            .inverse_mass = ts_host(a->inverse_mass, 6 * (size_t)a->jacobian.columns),
                            .mass_block = 6,
                            .storage = ts_lcp_scheme_storage(s->parameters.scheme),
                            .friction = ts_host(a->friction, n / 3),
                            .precision = s->options.precision};
  const ts_vector_desc vector = {.components = 1, .precision = s->options.precision};
  ts_status status = ts_lcp_create(s->context, &desc, &p->lcp);
  if (status >= 0) status = ts_vector_create(ts_lcp_get_space(p->lcp), &vector, &p->q);
  if (status >= 0) status = ts_vector_create(ts_lcp_get_space(p->lcp), &vector, &p->z);
  if (status >= 0) status = ts_vector_write(p->q, ts_host(a->q, n));
  if (status >= 0) status = ts_vector_write(p->z, ts_host(a->z, n));
  return status;
}

static ts_status solve_with(simulation *s, problem *p) {
  const simulation_parameters *from = &s->parameters;
  const ts_lcp_settings settings = {.scheme = from->scheme,
                                    .acceleration = from->acceleration,
                                    .rtol = from->tolerance,
                                    .max_sweeps = from->sweeps};
  ts_lcp_result result;
  ts_status status = upload(s, p);
  if (status >= 0) status = ts_lcp_solve(p->lcp, p->q, p->z, &settings, &result);
  if (status < 0) return status;
  s->figures.sweeps = result.sweeps;
  s->figures.residual = result.relative_residual;
  s->figures.missed = status != TS_OK;
  return ts_vector_read(p->z, ts_host(s->assembly.z, (size_t)s->assembly.jacobian.rows));
}

static int solve(simulation *s, char message[SIMULATION_MESSAGE]) {
  problem p = {NULL, NULL, NULL};
  if (!s->world.contact_count) return 0;
  const ts_status status = solve_with(s, &p);
  const int failed = status < 0 ? fail_status(s, status, message) : 0;
  ts_vector_destroy(&p.z);
  ts_vector_destroy(&p.q);
  ts_lcp_destroy(&p.lcp);
  if (!failed) assembly_write_reactions(&s->assembly, &s->world);
  return failed;
}

/* ---- A step ---- */

static void remember_figures(simulation *s) {
  simulation_history *h = &s->history;
  const simulation_figures *f = &s->figures;
  float *const rows[] = {h->collision, h->assembly, h->solve, h->draw, h->residual, h->sweeps, h->energy};
  const double values[] = {1e3 * f->collision,
                           1e3 * f->assembly,
                           1e3 * f->solve,
                           0,
                           f->residual,
                           f->sweeps,
                           f->energy.kinetic + f->energy.potential};
  if (h->count == SIMULATION_HISTORY) {
    h->count--;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
      memmove(rows[k], rows[k] + 1, (SIMULATION_HISTORY - 1) * sizeof *rows[k]);
  }
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) rows[k][h->count] = (float)values[k];
  h->count++;
}

static double deepest(const world *w) {
  double depth = 0;
  for (int k = 0; k < w->contact_count; k++) depth = fmax(depth, -w->contacts[k].gap);
  return depth;
}

static int is_finite(const world *w) {
  const world_energy e = world_energy_of(w);
  return isfinite(e.kinetic) && isfinite(e.potential);
}

int simulation_step(simulation *s, char message[SIMULATION_MESSAGE]) {
  world *w = &s->world;
  const simulation_parameters *p = &s->parameters;
  w->step = p->step;
  w->friction = p->friction;
  w->restitution = p->restitution;
  s->figures = (simulation_figures){0};
  const double begin = seconds_now();
  world_begin(w);
  if (collision_detect(s->collision, w)) return fail_memory(message);
  const double detected = seconds_now();
  world_accelerate(w);
  if (assembly_make(&s->assembly, w, !p->cold_start)) return fail_memory(message);
  const double assembled = seconds_now();
  if (solve(s, message)) return 1;
  const double solved = seconds_now();
  world_advance(w);
  s->figures.collision = detected - begin;
  s->figures.assembly = assembled - detected + seconds_now() - solved;
  s->figures.solve = solved - assembled;
  s->figures.contacts = w->contact_count;
  s->figures.penetration = deepest(w);
  s->figures.energy = world_energy_of(w);
  s->missed_steps += s->figures.missed;
  s->steps++;
  remember_figures(s);
  if (is_finite(w)) return 0;
  s->broken = 1;
  return simulation_fail(message,
                         "step %d: the positions of the bodies diverged, expected a time step below %g s",
                         s->steps, p->step);
}

void simulation_note_draw(simulation *s, double seconds) {
  if (s->history.count) s->history.draw[s->history.count - 1] = (float)(1e3 * seconds);
}

/* ---- Creation and reset ---- */

static int build(simulation *s, char message[SIMULATION_MESSAGE]) {
  collision_destroy(&s->collision);
  world_destroy(&s->world);
  s->world.gravity = 9.81;
  s->history.count = s->steps = s->missed_steps = s->broken = 0;
  s->figures = (simulation_figures){0};
  if (s->scene->build(&s->world, s->options.bodies ? s->options.bodies : s->scene->bodies))
    return fail_memory(message);
  s->collision = collision_create(&s->world, s->workers);
  return s->collision ? 0 : fail_memory(message);
}

int simulation_reset(simulation *s, char message[SIMULATION_MESSAGE]) {
  return build(s, message);
}

int simulation_set_scene(simulation *s, const scene *next, int bodies, char message[SIMULATION_MESSAGE]) {
  s->scene = next;
  s->options.bodies = bodies;
  s->parameters.friction = next->friction;
  if (!s->options.parameters.sweeps) s->parameters.sweeps = next->sweeps;
  return build(s, message);
}

static simulation_parameters complete(const simulation_parameters *given, const scene *of) {
  simulation_parameters p = *given;
  if (isnan(p.friction)) p.friction = of->friction;
  if (isnan(p.restitution)) p.restitution = 0;
  if (!(p.step > 0)) p.step = 1.0 / 60;
  if (!(p.tolerance > 0)) p.tolerance = 1e-4;
  if (!p.sweeps) p.sweeps = of->sweeps;
  if (p.acceleration == TS_LCP_ACCELERATION_AUTO) p.acceleration = TS_LCP_ACCELERATION_MOMENTUM;
  return p;
}

static int open_device(simulation *s, char message[SIMULATION_MESSAGE]) {
  const ts_gl_desc gl = {.platform = s->options.platform};
  const ts_context_desc desc = {.backend = s->options.backend, .threads = s->options.threads, .gl = &gl};
  const ts_status status = ts_context_create(&desc, &s->context);
  if (status < 0) return fail_status(s, status, message);
  ts_context_get_info(s->context, &s->device);
  /* Single precision takes up to twice as many sweeps as double, but on a GPU a sweep takes half the time. */
  if (s->options.precision == TS_PRECISION_AUTO)
    s->options.precision = strstr(s->device.backend, "cpu") ? TS_PRECISION_DOUBLE : TS_PRECISION_SINGLE;
  if (ts_lcp_has_scheme(s->context, s->parameters.scheme)) return 0;
  return simulation_fail(message, "--scheme: %s is not available on %s",
                         ts_lcp_scheme_name(s->parameters.scheme), s->device.backend);
}

int simulation_create(const simulation_options *options, simulation **made, char message[SIMULATION_MESSAGE]) {
  simulation *s = calloc(1, sizeof *s);
  *made = NULL;
  if (!s) return fail_memory(message);
  s->options = *options;
  s->scene = options->scene ? options->scene : scene_at(0);
  s->parameters = complete(&options->parameters, s->scene);
  s->world.held = -1;
  s->workers = workers_create(s->options.threads);
  if (!s->workers) {
    simulation_destroy(&s);
    return fail_memory(message);
  }
  if (open_device(s, message) || build(s, message)) {
    simulation_destroy(&s);
    return 1;
  }
  *made = s;
  return 0;
}

void simulation_destroy(simulation **made) {
  simulation *s = *made;
  if (!s) return;
  collision_destroy(&s->collision);
  world_destroy(&s->world);
  assembly_free(&s->assembly);
  ts_context_destroy(&s->context);
  workers_destroy(&s->workers);
  free(s);
  *made = NULL;
}

int simulation_throw(simulation *s, const double from[3], const double velocity[3], double radius,
                     char message[SIMULATION_MESSAGE]) {
  const double half[3] = {radius, radius, radius};
  body *b = world_add(&s->world, BODY_SPHERE, half, 1, from, 1000);
  if (!b) return fail_memory(message);
  memcpy(b->velocity, velocity, sizeof b->velocity);
  return 0;
}

void simulation_describe(const simulation *s, char *text, size_t size) {
  snprintf(text, size, "%s, %d bodies, %s: %s", s->scene->name, simulation_moving(s), s->device.backend,
           s->device.device);
}

int simulation_moving(const simulation *s) {
  int moving = 0;
  for (int k = 0; k < s->world.count; k++) moving += s->world.bodies[k].mass > 0;
  return moving;
}
