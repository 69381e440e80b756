/* Sampling of a fluid's fields, as defined in src/fluid/fluid.h. Positions are in cells. */
#ifndef CPU_FLUID_H
#define CPU_FLUID_H

#include <math.h>

#include "cpu/core/cpu.h"
#include "fluid/fluid.h"

TSI_FLUID_OPERATIONS(TSI_PROTOTYPE, cpu_fluid_)

typedef struct vec2 {
  float x, y;
} vec2;

/* Avoid the library functions fminf and fmaxf, which must check for NaNs and may be calls. */
CPU_INLINE float cpu_min(float a, float b) {
  return a < b ? a : b;
}

CPU_INLINE float cpu_max(float a, float b) {
  return a > b ? a : b;
}

/* Two neighbours in one dimension, and the distance of the position beyond the first or the last one. */
typedef struct cpu_axis {
  int32_t first, second;
  float fraction, below, above;
} cpu_axis;

/* Values are at 0 .. last. With `period` (last + 1) they repeat. */
CPU_INLINE cpu_axis cpu_locate(float at, int32_t last, int periodic) {
  cpu_axis a = {0, 0, 0, 0, 0};
  if (periodic) {
    const float period = (float)(last + 1);
    at -= period * floorf(at / period);
    if (!(at >= 0 && at < period)) at = 0;
    a.first = (int32_t)at;
    a.second = a.first == last ? 0 : a.first + 1;
  } else {
    const float inside = cpu_min(cpu_max(at, 0), (float)last);
    a.below = cpu_max(-at, 0);
    a.above = cpu_max(at - (float)last, 0);
    at = inside;
    a.first = (int32_t)at;
    a.second = a.first < last ? a.first + 1 : last;
  }
  a.fraction = at - (float)a.first;
  /* If the position coincides with a value, the neighbour has weight 0 and must not widen the limits of a
   * correction. */
  if (a.fraction == 0) a.second = a.first;
  return a;
}

CPU_INLINE float cpu_mix(float a, float b, float t) {
  return a + (b - a) * t;
}

/* An interpolated value, and the limits of the four values and wall values that it used. */
typedef struct cpu_sample {
  float value, low, high;
} cpu_sample;

CPU_INLINE void cpu_blend(cpu_sample *s, const ts_fluid_boundary *side, int component, float beyond) {
  if (side->kind != TS_FLUID_BOUNDARY_WALL || !(beyond > 0)) return;
  const float wall = side->velocity[component];
  s->value = cpu_mix(s->value, wall, cpu_min(2 * beyond, 1));
  s->low = cpu_min(s->low, wall);
  s->high = cpu_max(s->high, wall);
}

/* One component of the velocity at a position. */
CPU_INLINE cpu_sample cpu_velocity_sample(const tsi_fluid_domain *d, const float *velocity, int component,
                                          vec2 p) {
  const int at_x_faces = d->layout == TS_FLUID_LAYOUT_STAGGERED && component == 0;
  const int at_y_faces = d->layout == TS_FLUID_LAYOUT_STAGGERED && component == 1;
  const cpu_axis x = at_x_faces ? cpu_locate(p.x, d->width - d->periodic_x, d->periodic_x)
                                : cpu_locate(p.x - 0.5f, d->width - 1, d->periodic_x);
  const cpu_axis y = at_y_faces ? cpu_locate(p.y, d->height - d->periodic_y, d->periodic_y)
                                : cpu_locate(p.y - 0.5f, d->height - 1, d->periodic_y);
  const size_t row = 2 * ((size_t)d->width + 1);
  const float *south = velocity + row * (size_t)y.first + component;
  const float *north = velocity + row * (size_t)y.second + component;
  const float sw = south[2 * (size_t)x.first], se = south[2 * (size_t)x.second];
  const float nw = north[2 * (size_t)x.first], ne = north[2 * (size_t)x.second];
  cpu_sample s = {cpu_mix(cpu_mix(sw, se, x.fraction), cpu_mix(nw, ne, x.fraction), y.fraction),
                  cpu_min(cpu_min(sw, se), cpu_min(nw, ne)), cpu_max(cpu_max(sw, se), cpu_max(nw, ne))};
  cpu_blend(&s, &d->boundaries[TSI_LEFT], component, at_x_faces ? 0 : x.below);
  cpu_blend(&s, &d->boundaries[TSI_RIGHT], component, at_x_faces ? 0 : x.above);
  cpu_blend(&s, &d->boundaries[TSI_BOTTOM], component, at_y_faces ? 0 : y.below);
  cpu_blend(&s, &d->boundaries[TSI_TOP], component, at_y_faces ? 0 : y.above);
  return s;
}

CPU_INLINE vec2 cpu_velocity_at(const tsi_fluid_domain *d, const float *velocity, vec2 p) {
  return (vec2){cpu_velocity_sample(d, velocity, 0, p).value, cpu_velocity_sample(d, velocity, 1, p).value};
}

/* The position, `cells` = dt / h earlier, of the fluid that is now at p, by the midpoint rule. `here` is the
 * velocity at p. */
CPU_INLINE vec2 cpu_trace(const tsi_fluid_domain *d, const float *velocity, vec2 p, vec2 here, float cells) {
  const vec2 middle = {p.x - 0.5f * cells * here.x, p.y - 0.5f * cells * here.y};
  const vec2 v = cpu_velocity_at(d, velocity, middle);
  return (vec2){p.x - cells * v.x, p.y - cells * v.y};
}

CPU_INLINE int cpu_is_outside(const tsi_fluid_domain *d, vec2 p) {
  return (!d->periodic_x && !(p.x >= 0 && p.x <= (float)d->width)) ||
         (!d->periodic_y && !(p.y >= 0 && p.y <= (float)d->height));
}

/* The cell that contains a position, which must be inside or in a periodic dimension. */
CPU_INLINE size_t cpu_cell_at(const tsi_fluid_domain *d, vec2 p) {
  const float w = (float)d->width, h = (float)d->height;
  float x = d->periodic_x ? p.x - w * floorf(p.x / w) : p.x;
  float y = d->periodic_y ? p.y - h * floorf(p.y / h) : p.y;
  x = cpu_min(cpu_max(x, 0), w - 1);
  y = cpu_min(cpu_max(y, 0), h - 1);
  return (size_t)(int32_t)y * (size_t)d->width + (size_t)(int32_t)x;
}

#endif
