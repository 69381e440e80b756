/* Splats and sources, applied in place. */
#include "cpu_fluid.h"

/* The indices first .. last - 1 of `count` values at k + offset that are within `reach` of `centre`. */
static void range(float centre, float reach, float offset, int32_t count, int32_t *first, int32_t *last) {
  const float low = ceilf(centre - reach - offset), high = floorf(centre + reach - offset) + 1;
  *first = low > 0 ? (low < (float)count ? (int32_t)low : count) : 0;
  *last = high < (float)count ? (high > 0 ? (int32_t)high : 0) : count;
}

/* 0: the stamp has no effect here; 1: it replaces the value. */
static float weight_at(const tsi_fluid_stamp *s, float x, float y) {
  const float dx = x - s->x, dy = y - s->y, squared = dx * dx + dy * dy, radius = s->half_width;
  if (!s->sets) return expf(-squared / (radius * radius));
  if (s->half_height > 0) return fabsf(dx) <= s->half_width && fabsf(dy) <= s->half_height ? 1 : 0;
  return squared <= radius * radius ? 1 : 0;
}

ts_status cpu_fluid_stamp_velocity(const tsi_fluid_domain *domain, ts_vector *velocity,
                                   const ts_vector *prescribed, const tsi_fluid_stamp *stamp) {
  const int staggered = domain->layout == TS_FLUID_LAYOUT_STAGGERED;
  const size_t points = (size_t)domain->width + 1;
  const float *given = cpu_data(prescribed);
  float *v = cpu_data(velocity), reach_x, reach_y;
  tsi_fluid_stamp_reach(stamp, &reach_x, &reach_y);
  for (int c = 0; c < 2; c++) {
    const float offset_x = staggered && c == 0 ? 0 : 0.5f, offset_y = staggered && c == 1 ? 0 : 0.5f;
    int32_t left, right, bottom, top;
    range(stamp->x, reach_x, offset_x, domain->width + 1, &left, &right);
    range(stamp->y, reach_y, offset_y, domain->height + 1, &bottom, &top);
    for (int32_t j = bottom; j < top; j++)
      for (int32_t i = left; i < right; i++) {
        const size_t k = 2 * ((size_t)j * points + (size_t)i) + (size_t)c;
        const float weight = weight_at(stamp, (float)i + offset_x, (float)j + offset_y);
        if (given[k] < TSI_FLUID_FREE || weight == 0) continue;
        v[k] = stamp->sets ? stamp->velocity[c] : v[k] + weight * stamp->velocity[c];
      }
  }
  return TS_OK;
}

ts_status cpu_fluid_stamp_dye(const tsi_fluid_domain *domain, ts_vector *dye, const tsi_fluid_stamp *stamp) {
  int32_t left, right, bottom, top;
  float reach_x, reach_y;
  tsi_fluid_stamp_reach(stamp, &reach_x, &reach_y);
  range(stamp->x, reach_x, 0.5f, domain->width, &left, &right);
  range(stamp->y, reach_y, 0.5f, domain->height, &bottom, &top);
  for (int32_t j = bottom; j < top; j++)
    for (int32_t i = left; i < right; i++) {
      float *here = cpu_data(dye) + 4 * ((size_t)j * (size_t)domain->width + (size_t)i);
      const float weight = weight_at(stamp, (float)i + 0.5f, (float)j + 0.5f);
      if (weight == 0) continue;
      for (int c = 0; c < 4; c++)
        if (!stamp->sets)
          here[c] += weight * stamp->dye[c];
        else if (c < 3 ? stamp->sets_color : stamp->sets_temperature)
          here[c] = stamp->dye[c];
    }
  return TS_OK;
}
