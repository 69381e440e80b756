/* Velocities of a fluid: advection, forces, stamps, prescribed values. A work item is a row of faces. */
#include "cpu_fluid.h"

typedef struct fluid_job {
  const tsi_fluid_domain *d;
  float *out;
  const float *velocity, *prescribed, *carried, *dye, *vorticity, *pressure;
  const tsi_fluid_forces *forces;
  float cells; /* dt / h */
} fluid_job;

/* A face that the fluid determines, and its position. */
typedef struct face {
  int32_t i, j; /* without the periodic copies */
  int component;
  vec2 at;
} face;

typedef float (*face_fn)(const fluid_job *job, const face *f);

/* Processes every face of rows first .. last-1: sets the prescribed value, or the result of `value`. */
CPU_INLINE void for_faces(const fluid_job *job, size_t first, size_t last, face_fn value) {
  const tsi_fluid_domain *d = job->d;
  const size_t points = (size_t)d->width + 1;
  const int staggered = d->layout == TS_FLUID_LAYOUT_STAGGERED;
  for (size_t j = first; j < last; j++)
    for (size_t i = 0; i < points; i++)
      for (int c = 0; c < 2; c++) {
        const size_t k = 2 * (j * points + i) + (size_t)c;
        if (job->prescribed[k] < TSI_FLUID_FREE) {
          job->out[k] = job->prescribed[k];
          continue;
        }
        face f = {(int32_t)i, (int32_t)j, c, {0, 0}};
        if (d->periodic_x && f.i == d->width) f.i = 0;
        if (d->periodic_y && f.j == d->height) f.j = 0;
        f.at.x = (float)f.i + (staggered && c == 0 ? 0 : 0.5f);
        f.at.y = (float)f.j + (staggered && c == 1 ? 0 : 0.5f);
        job->out[k] = value(job, &f);
      }
}

CPU_INLINE float velocity_of(const fluid_job *job, const float *field, const face *f) {
  return field[2 * ((size_t)f->j * ((size_t)job->d->width + 1) + (size_t)f->i) + (size_t)f->component];
}

/* ---- Advection ---- */

CPU_INLINE vec2 velocity_at_face(const fluid_job *job, const face *f) {
  const float own = velocity_of(job, job->velocity, f);
  const float other = cpu_velocity_sample(job->d, job->velocity, 1 - f->component, f->at).value;
  return f->component == 0 ? (vec2){own, other} : (vec2){other, own};
}

CPU_INLINE float advected(const fluid_job *job, const face *f) {
  const vec2 here = velocity_at_face(job, f);
  const vec2 from = cpu_trace(job->d, job->velocity, f->at, here, job->cells);
  return cpu_velocity_sample(job->d, job->velocity, f->component, from).value;
}

CPU_INLINE float corrected(const fluid_job *job, const face *f) {
  const vec2 here = velocity_at_face(job, f);
  const vec2 from = cpu_trace(job->d, job->velocity, f->at, here, job->cells);
  const vec2 to = cpu_trace(job->d, job->velocity, f->at, here, -job->cells);
  const float carried = velocity_of(job, job->carried, f);
  if (cpu_is_outside(job->d, from) || cpu_is_outside(job->d, to)) return carried;
  const cpu_sample before = cpu_velocity_sample(job->d, job->velocity, f->component, from);
  const float returned = cpu_velocity_sample(job->d, job->carried, f->component, to).value;
  const float value = carried + 0.5f * (velocity_of(job, job->velocity, f) - returned);
  /* These comparisons, unlike fminf, keep a NaN. */
  return value < before.low ? before.low : value > before.high ? before.high : value;
}

/* ---- Forces ---- */

CPU_INLINE int32_t neighbour(int32_t i, int32_t size, int periodic) {
  if (i < 0) return periodic ? i + size : 0;
  if (i >= size) return periodic ? i - size : size - 1;
  return i;
}

CPU_INLINE size_t cell_index(const tsi_fluid_domain *d, int32_t i, int32_t j) {
  return (size_t)neighbour(j, d->height, d->periodic_y) * (size_t)d->width +
         (size_t)neighbour(i, d->width, d->periodic_x);
}

/* One component of the force in cell (i, j). */
CPU_INLINE float force_in(const fluid_job *job, int32_t i, int32_t j, int component) {
  const tsi_fluid_domain *d = job->d;
  const tsi_fluid_forces *f = job->forces;
  float force = 0;
  if (component == 1) {
    const float *dye = job->dye + 4 * cell_index(d, i, j);
    force = f->buoyancy * dye[3] - f->smoke_weight * ((dye[0] + dye[1] + dye[2]) / 3);
  }
  if (job->vorticity) {
    const float *w = job->vorticity;
    const float x = fabsf(w[cell_index(d, i + 1, j)]) - fabsf(w[cell_index(d, i - 1, j)]);
    const float y = fabsf(w[cell_index(d, i, j + 1)]) - fabsf(w[cell_index(d, i, j - 1)]);
    const float omega = w[cell_index(d, i, j)];
    const float length = sqrtf(x * x + y * y) + 1e-3f * fabsf(omega);
    if (length > 0) force += f->confinement * omega * (component == 0 ? y : -x) / length;
  }
  return force;
}

CPU_INLINE float forced(const fluid_job *job, const face *f) {
  const float v = velocity_of(job, job->velocity, f) + job->forces->gravity[f->component];
  const float here = force_in(job, f->i, f->j, f->component);
  if (job->d->layout == TS_FLUID_LAYOUT_COLLOCATED) return v + here;
  const int horizontal = f->component == 0;
  return v + 0.5f * (here + force_in(job, f->i - horizontal, f->j - !horizontal, f->component));
}

/* ---- Projection ---- */

/* The pressure in a neighbour, as seen from the cell. Beyond a side or in a solid it is the cell's own
 * pressure. Beyond an outlet, where the pressure is 0 halfway, it is the negative. */
CPU_INLINE float pressure_beside(const fluid_job *job, int32_t i, int32_t j, int32_t x, int32_t y) {
  const tsi_fluid_domain *d = job->d;
  const float here = job->pressure[cell_index(d, i, j)];
  const int side = x < 0            ? TSI_LEFT
                   : x >= d->width  ? TSI_RIGHT
                   : y < 0          ? TSI_BOTTOM
                   : y >= d->height ? TSI_TOP
                                    : -1;
  if (side >= 0 && d->boundaries[side].kind != TS_FLUID_BOUNDARY_PERIODIC)
    return d->boundaries[side].kind == TS_FLUID_BOUNDARY_OUTLET ? -here : here;
  x = neighbour(x, d->width, d->periodic_x);
  y = neighbour(y, d->height, d->periodic_y);
  if (d->layout == TS_FLUID_LAYOUT_COLLOCATED &&
      job->prescribed[2 * ((size_t)y * ((size_t)d->width + 1) + (size_t)x)] < TSI_FLUID_FREE)
    return here;
  return job->pressure[(size_t)y * (size_t)d->width + (size_t)x];
}

CPU_INLINE float projected(const fluid_job *job, const face *f) {
  const tsi_fluid_domain *d = job->d;
  const float v = velocity_of(job, job->velocity, f);
  const int32_t dx = f->component == 0, dy = f->component == 1;
  if (d->layout == TS_FLUID_LAYOUT_COLLOCATED)
    return v - 0.5f * job->cells *
                   (pressure_beside(job, f->i, f->j, f->i + dx, f->j + dy) -
                    pressure_beside(job, f->i, f->j, f->i - dx, f->j - dy));
  /* The face separates cell (i, j) from the previous cell. One of the two may be beyond a boundary. */
  const int is_last = f->component == 0 ? f->i == d->width : f->j == d->height;
  const int32_t i = f->i - (is_last ? dx : 0), j = f->j - (is_last ? dy : 0);
  const float here = job->pressure[cell_index(d, i, j)];
  if (is_last) return v - job->cells * (pressure_beside(job, i, j, f->i, f->j) - here);
  return v - job->cells * (here - pressure_beside(job, i, j, f->i - dx, f->j - dy));
}

/* ---- Bodies and operations ---- */

#define FACE_BODY(name)                                                                                        \
  CPU_CLONES static void body_##name(const void *arguments, size_t first, size_t last) {                       \
    for_faces(arguments, first, last, name);                                                                   \
  }
FACE_BODY(advected)
FACE_BODY(corrected)
FACE_BODY(forced)
FACE_BODY(projected)

static ts_status cpu_fluid_run(ts_vector *out, tsi_body body, size_t cost, fluid_job *job) {
  job->out = cpu_data(out);
  const size_t rows = (size_t)job->d->height + 1, points = (size_t)job->d->width + 1;
  cpu_for(out->context, rows, cost * points, body, job);
  return TS_OK;
}

ts_status cpu_fluid_advect(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                           const ts_vector *prescribed, float dt) {
  return cpu_fluid_run(out, body_advected, 100,
                       &(fluid_job){.d = domain,
                                    .velocity = cpu_data(velocity),
                                    .prescribed = cpu_data(prescribed),
                                    .cells = dt / domain->cell_size});
}

ts_status cpu_fluid_correct(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                            const ts_vector *prescribed, const ts_vector *carried, float dt) {
  return cpu_fluid_run(out, body_corrected, 200,
                       &(fluid_job){.d = domain,
                                    .velocity = cpu_data(velocity),
                                    .prescribed = cpu_data(prescribed),
                                    .carried = cpu_data(carried),
                                    .cells = dt / domain->cell_size});
}

ts_status cpu_fluid_forces(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                           const ts_vector *prescribed, const ts_vector *dye, const ts_vector *vorticity,
                           const tsi_fluid_forces *forces) {
  return cpu_fluid_run(out, body_forced, 40,
                       &(fluid_job){.d = domain,
                                    .velocity = cpu_data(velocity),
                                    .prescribed = cpu_data(prescribed),
                                    .dye = cpu_data(dye),
                                    .vorticity = vorticity ? cpu_data(vorticity) : NULL,
                                    .forces = forces});
}

ts_status cpu_fluid_project(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                            const ts_vector *prescribed, const ts_vector *pressure, float dt) {
  return cpu_fluid_run(out, body_projected, 30,
                       &(fluid_job){.d = domain,
                                    .velocity = cpu_data(velocity),
                                    .prescribed = cpu_data(prescribed),
                                    .pressure = cpu_data(pressure),
                                    .cells = dt / domain->cell_size});
}

/* ---- In place ---- */

ts_status cpu_fluid_boundary(const tsi_fluid_domain *domain, ts_vector *velocity, const ts_vector *prescribed) {
  (void)domain;
  float *v = cpu_data(velocity);
  const float *given = cpu_data(prescribed);
  for (size_t k = 0; k < cpu_count(velocity); k++)
    if (given[k] < TSI_FLUID_FREE) v[k] = given[k];
  return TS_OK;
}

ts_status cpu_fluid_split(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                          int component) {
  const size_t points = (size_t)domain->width + 1, wide = (size_t)out->space->grid.width;
  const float *from = cpu_data(velocity);
  float *to = cpu_data(out);
  for (size_t j = 0; j < (size_t)out->space->grid.height; j++)
    for (size_t i = 0; i < wide; i++) to[j * wide + i] = from[2 * (j * points + i) + (size_t)component];
  return TS_OK;
}

ts_status cpu_fluid_merge(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *u,
                          const ts_vector *v) {
  const size_t points = (size_t)domain->width + 1;
  const size_t wide = (size_t)u->space->grid.width, high = (size_t)u->space->grid.height;
  const float *from[2] = {cpu_data(u), cpu_data(v)};
  float *to = cpu_data(out);
  /* Clears the unused copies: only u has one in the last column, and only v has one in the last row. */
  for (size_t j = 0; j <= (size_t)domain->height; j++)
    for (size_t i = 0; i < points; i++)
      for (int c = 0; c < 2; c++) {
        const int is_copy = (i == wide && c == 0) || (j == high && c == 1);
        const int is_nothing = (i == wide && c == 1) || (j == high && c == 0);
        const size_t x = i == wide ? 0 : i, y = j == high ? 0 : j;
        to[2 * (j * points + i) + (size_t)c] =
            is_nothing || (is_copy && domain->layout == TS_FLUID_LAYOUT_COLLOCATED) ? 0 : from[c][y * wide + x];
      }
  return TS_OK;
}

const tsi_fluid_ops cpu_fluid_ops = {TSI_FLUID_OPERATIONS(TSI_ENTRY, cpu_fluid_)};
