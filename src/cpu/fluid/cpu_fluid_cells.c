/* A fluid's fields in cells: divergence, vorticity, speed, dye, particles; and their stamps. */
#include "cpu_fluid.h"

typedef struct cell_job {
  const tsi_fluid_domain *d;
  float *out;
  const float *velocity, *walls, *compatibility, *dye, *carried, *particles;
  const tsi_fluid_transport *transport;
  const tsi_fluid_particles *step;
  float scale;
} cell_job;

CPU_INLINE int32_t wrap(int32_t i, int32_t size) {
  return i < 0 ? i + size : i >= size ? i - size : i;
}

CPU_INLINE int is_solid(const cell_job *job, int32_t i, int32_t j) {
  return job->walls[2 * ((size_t)j * (size_t)job->d->width + (size_t)i)] != 0;
}

CPU_INLINE const float *velocity_in(const cell_job *job, int32_t i, int32_t j) {
  return job->velocity + 2 * ((size_t)j * ((size_t)job->d->width + 1) + (size_t)i);
}

/* ---- Differences ---- */

/* Collocated layout: the velocity in the neighbour towards `side`, as seen from cell (i, j). A wall or a solid
 * has its velocity halfway between the two. */
CPU_INLINE vec2 velocity_beside(const cell_job *job, int32_t i, int32_t j, int side) {
  const tsi_fluid_domain *d = job->d;
  const float *here = velocity_in(job, i, j);
  int32_t x = i + (side == TSI_RIGHT) - (side == TSI_LEFT), y = j + (side == TSI_TOP) - (side == TSI_BOTTOM);
  const ts_fluid_boundary *s = &d->boundaries[side];
  if ((x < 0 || x >= d->width || y < 0 || y >= d->height) && s->kind != TS_FLUID_BOUNDARY_PERIODIC) {
    if (s->kind == TS_FLUID_BOUNDARY_WALL)
      return (vec2){2 * s->velocity[0] - here[0], 2 * s->velocity[1] - here[1]};
    if (s->kind == TS_FLUID_BOUNDARY_OUTLET) return (vec2){here[0], here[1]};
    return side / 2 == 0 ? (vec2){-here[0], here[1]} : (vec2){here[0], -here[1]};
  }
  x = wrap(x, d->width);
  y = wrap(y, d->height);
  const float *there = velocity_in(job, x, y);
  if (is_solid(job, x, y)) return (vec2){2 * there[0] - here[0], 2 * there[1] - here[1]};
  return (vec2){there[0], there[1]};
}

/* The divergence times h. */
CPU_INLINE float divergence_in(const cell_job *job, int32_t i, int32_t j) {
  if (job->d->layout == TS_FLUID_LAYOUT_STAGGERED) {
    const float *here = velocity_in(job, i, j);
    return (velocity_in(job, i + 1, j)[0] - here[0]) + (velocity_in(job, i, j + 1)[1] - here[1]);
  }
  return 0.5f * ((velocity_beside(job, i, j, TSI_RIGHT).x - velocity_beside(job, i, j, TSI_LEFT).x) +
                 (velocity_beside(job, i, j, TSI_TOP).y - velocity_beside(job, i, j, TSI_BOTTOM).y));
}

/* The velocity at the centre of a cell. Beyond a boundary, that of the last cell or its periodic copy. */
CPU_INLINE vec2 centre_velocity(const cell_job *job, int32_t i, int32_t j) {
  const tsi_fluid_domain *d = job->d;
  i = d->periodic_x ? wrap(i, d->width) : i < 0 ? 0 : i >= d->width ? d->width - 1 : i;
  j = d->periodic_y ? wrap(j, d->height) : j < 0 ? 0 : j >= d->height ? d->height - 1 : j;
  const float *here = velocity_in(job, i, j);
  if (d->layout == TS_FLUID_LAYOUT_COLLOCATED) return (vec2){here[0], here[1]};
  return (vec2){0.5f * (here[0] + velocity_in(job, i + 1, j)[0]),
                0.5f * (here[1] + velocity_in(job, i, j + 1)[1])};
}

CPU_CLONES static void body_divergence(const void *arguments, size_t first, size_t last) {
  const cell_job *job = arguments;
  const int32_t width = job->d->width;
  for (int32_t j = (int32_t)first; j < (int32_t)last; j++)
    for (int32_t i = 0; i < width; i++) {
      const size_t k = (size_t)j * (size_t)width + (size_t)i;
      const float d = divergence_in(job, i, j) / job->d->cell_size;
      job->out[k] =
          is_solid(job, i, j) ? 0 : job->scale * (d - (job->compatibility ? job->compatibility[k] : 0));
    }
}

CPU_CLONES static void body_vorticity(const void *arguments, size_t first, size_t last) {
  const cell_job *job = arguments;
  const int32_t width = job->d->width;
  for (int32_t j = (int32_t)first; j < (int32_t)last; j++)
    for (int32_t i = 0; i < width; i++) {
      const float v = centre_velocity(job, i + 1, j).y - centre_velocity(job, i - 1, j).y;
      const float u = centre_velocity(job, i, j + 1).x - centre_velocity(job, i, j - 1).x;
      job->out[(size_t)j * (size_t)width + (size_t)i] =
          is_solid(job, i, j) ? 0 : 0.5f * (v - u) / job->d->cell_size;
    }
}

CPU_CLONES static void body_speed(const void *arguments, size_t first, size_t last) {
  const cell_job *job = arguments;
  const int32_t width = job->d->width;
  for (int32_t j = (int32_t)first; j < (int32_t)last; j++)
    for (int32_t i = 0; i < width; i++) {
      const vec2 v = centre_velocity(job, i, j);
      job->out[(size_t)j * (size_t)width + (size_t)i] = is_solid(job, i, j) ? 0 : sqrtf(v.x * v.x + v.y * v.y);
    }
}

/* ---- Dye ---- */

typedef struct dye_sample {
  float value[4], low[4], high[4];
} dye_sample;

CPU_INLINE dye_sample sample_dye(const tsi_fluid_domain *d, const float *dye, vec2 p) {
  const cpu_axis x = cpu_locate(p.x - 0.5f, d->width - 1, d->periodic_x);
  const cpu_axis y = cpu_locate(p.y - 0.5f, d->height - 1, d->periodic_y);
  const float beyond[4] = {x.below, x.above, y.below, y.above};
  float inside = 1;
  for (int side = 0; side < 4; side++)
    if (tsi_fluid_is_open(d, side)) inside *= 1 - cpu_min(beyond[side], 1);
  const float *south = dye + 4 * (size_t)d->width * (size_t)y.first;
  const float *north = dye + 4 * (size_t)d->width * (size_t)y.second;
  dye_sample s;
  for (size_t c = 0; c < 4; c++) {
    const float sw = south[4 * (size_t)x.first + c], se = south[4 * (size_t)x.second + c];
    const float nw = north[4 * (size_t)x.first + c], ne = north[4 * (size_t)x.second + c];
    s.value[c] = inside * cpu_mix(cpu_mix(sw, se, x.fraction), cpu_mix(nw, ne, x.fraction), y.fraction);
    s.low[c] = cpu_min(cpu_min(sw, se), cpu_min(nw, ne));
    s.high[c] = cpu_max(cpu_max(sw, se), cpu_max(nw, ne));
  }
  return s;
}

/* Walls hold the mean of the adjacent fluid, so that interpolation next to them loses no dye. */
CPU_INLINE void dye_of_wall(const cell_job *job, int32_t i, int32_t j, float *out) {
  static const int32_t steps[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
  const tsi_fluid_domain *d = job->d;
  float sum[4] = {0, 0, 0, 0}, count = 0;
  for (int k = 0; k < 4; k++) {
    int32_t x = i + steps[k][0], y = j + steps[k][1];
    if (d->periodic_x) x = wrap(x, d->width);
    if (d->periodic_y) y = wrap(y, d->height);
    if (x < 0 || x >= d->width || y < 0 || y >= d->height || is_solid(job, x, y)) continue;
    const float *there = job->dye + 4 * ((size_t)y * (size_t)d->width + (size_t)x);
    for (int c = 0; c < 4; c++) sum[c] += there[c];
    count++;
  }
  for (int c = 0; c < 4; c++) out[c] = count > 0 ? sum[c] / count : 0;
}

CPU_INLINE void dye_of_fluid(const cell_job *job, int32_t i, int32_t j, float *out) {
  const tsi_fluid_domain *d = job->d;
  const float cells = job->transport->dt / d->cell_size;
  const vec2 p = {(float)i + 0.5f, (float)j + 0.5f}, here = centre_velocity(job, i, j);
  const vec2 from = cpu_trace(d, job->velocity, p, here, cells);
  const dye_sample before = sample_dye(d, job->dye, from);
  const float left[4] = {job->transport->color_left, job->transport->color_left, job->transport->color_left,
                         job->transport->temperature_left};
  const size_t k = 4 * ((size_t)j * (size_t)d->width + (size_t)i);
  const vec2 to = job->carried ? cpu_trace(d, job->velocity, p, here, -cells) : p;
  const int corrects = job->carried && !cpu_is_outside(d, from) && !cpu_is_outside(d, to);
  const dye_sample returned = corrects ? sample_dye(d, job->carried, to) : before;
  for (size_t c = 0; c < 4; c++) {
    float value = job->carried ? job->carried[k + c] : before.value[c];
    if (corrects) {
      value += 0.5f * (job->dye[k + c] - returned.value[c]);
      value = value < before.low[c] ? before.low[c] : value > before.high[c] ? before.high[c] : value;
    }
    out[c] = left[c] * value;
  }
}

CPU_CLONES static void body_transport(const void *arguments, size_t first, size_t last) {
  const cell_job *job = arguments;
  const int32_t width = job->d->width;
  for (int32_t j = (int32_t)first; j < (int32_t)last; j++)
    for (int32_t i = 0; i < width; i++) {
      float *out = job->out + 4 * ((size_t)j * (size_t)width + (size_t)i);
      if (is_solid(job, i, j))
        dye_of_wall(job, i, j, out);
      else
        dye_of_fluid(job, i, j, out);
    }
}

/* ---- Particles ---- */

CPU_INLINE float random_number(uint32_t seed, uint32_t particle, uint32_t k) {
  return (float)(tsi_fluid_hash(particle + tsi_fluid_hash(seed + k)) >> 8) * 0x1p-24f;
}

CPU_INLINE void move_particle(const cell_job *job, uint32_t particle, const float *in, float *out) {
  const tsi_fluid_domain *d = job->d;
  const float h = d->cell_size, cells = job->step->dt / h;
  const uint32_t seed = job->step->seed;
  vec2 p = {in[0] / h, in[1] / h};
  vec2 v = cpu_velocity_at(d, job->velocity, p);
  p = cpu_trace(d, job->velocity, p, v, -cells);
  float age = in[2] + job->step->dt;
  /* Lifetimes vary by half, so that not all particles restart at once. */
  const float most = job->step->lifetime * (0.75f + 0.5f * random_number(0, particle, 0));
  if (cpu_is_outside(d, p) || job->walls[2 * cpu_cell_at(d, p)] != 0 || (most > 0 && age >= most)) {
    age = 0;
    for (uint32_t k = 1; k <= 7; k += 2) {
      p.x = (float)d->width * random_number(seed, particle, k);
      p.y = (float)d->height * random_number(seed, particle, k + 1);
      if (job->walls[2 * cpu_cell_at(d, p)] == 0) break;
    }
  }
  if (d->periodic_x) p.x -= (float)d->width * floorf(p.x / (float)d->width);
  if (d->periodic_y) p.y -= (float)d->height * floorf(p.y / (float)d->height);
  v = cpu_velocity_at(d, job->velocity, p);
  out[0] = p.x * h;
  out[1] = p.y * h;
  out[2] = age;
  out[3] = sqrtf(v.x * v.x + v.y * v.y);
}

CPU_CLONES static void body_particles(const void *arguments, size_t first, size_t last) {
  const cell_job *job = arguments;
  for (size_t k = first; k < last; k++)
    move_particle(job, (uint32_t)k, job->particles + 4 * k, job->out + 4 * k);
}

/* ---- Operations ---- */

static ts_status cpu_fluid_cells_run(ts_vector *out, tsi_body body, size_t cost, cell_job *job) {
  job->out = cpu_data(out);
  cpu_for(out->context, (size_t)job->d->height, cost * (size_t)job->d->width, body, job);
  return TS_OK;
}

ts_status cpu_fluid_divergence(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                               const ts_vector *walls, const ts_vector *compatibility, float scale) {
  return cpu_fluid_cells_run(out, body_divergence, 8,
                             &(cell_job){.d = domain,
                                         .velocity = cpu_data(velocity),
                                         .walls = cpu_data(walls),
                                         .compatibility = compatibility ? cpu_data(compatibility) : NULL,
                                         .scale = scale});
}

ts_status cpu_fluid_vorticity(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                              const ts_vector *walls) {
  return cpu_fluid_cells_run(
      out, body_vorticity, 12,
      &(cell_job){.d = domain, .velocity = cpu_data(velocity), .walls = cpu_data(walls)});
}

ts_status cpu_fluid_speed(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *velocity,
                          const ts_vector *walls) {
  return cpu_fluid_cells_run(
      out, body_speed, 8, &(cell_job){.d = domain, .velocity = cpu_data(velocity), .walls = cpu_data(walls)});
}

ts_status cpu_fluid_transport(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *dye,
                              const ts_vector *velocity, const ts_vector *walls, const ts_vector *carried,
                              const tsi_fluid_transport *transport) {
  return cpu_fluid_cells_run(out, body_transport, 100,
                             &(cell_job){.d = domain,
                                         .velocity = cpu_data(velocity),
                                         .walls = cpu_data(walls),
                                         .dye = cpu_data(dye),
                                         .carried = carried ? cpu_data(carried) : NULL,
                                         .transport = transport});
}

ts_status cpu_fluid_particles(const tsi_fluid_domain *domain, ts_vector *out, const ts_vector *particles,
                              const ts_vector *velocity, const ts_vector *walls,
                              const tsi_fluid_particles *step) {
  cell_job job = {.d = domain,
                  .out = cpu_data(out),
                  .velocity = cpu_data(velocity),
                  .walls = cpu_data(walls),
                  .particles = cpu_data(particles),
                  .step = step};
  cpu_for(out->context, cpu_count(out) / 4, 100, body_particles, &job);
  return TS_OK;
}
