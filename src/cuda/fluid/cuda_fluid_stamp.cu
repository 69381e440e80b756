/* Splats and sources, in place. The threads cover the area that a stamp reaches. */
#include <math.h>

#include "cuda_fluid.cuh"

/* Columns left .. left + width - 1, and rows likewise. */
struct stamp_area {
  int left, bottom, width, height;
};

/* The range of `size` numbers, at k or k + 1/2, within `reach` of `centre`; it may have one more at each
 * end. */
static void range(float centre, float reach, int size, int *first, int *count) {
  const float low = floorf(centre - reach) - 1, high = ceilf(centre + reach) + 1;
  const int begin = low > 0 ? (low < (float)size ? (int)low : size) : 0;
  const int end = high < (float)size ? (high > 0 ? (int)high : 0) : size;
  *first = begin;
  *count = end > begin ? end - begin : 0;
}

static stamp_area area_of(const tsi_fluid_stamp *stamp, int width, int height) {
  stamp_area a;
  float x, y;
  tsi_fluid_stamp_reach(stamp, &x, &y);
  range(stamp->x, x, width, &a.left, &a.width);
  range(stamp->y, y, height, &a.bottom, &a.height);
  return a;
}

/* 0 if the stamp changes nothing, 1 if it replaces the value. */
FLUID_INLINE float weight_at(const tsi_fluid_stamp &s, float x, float y) {
  const float dx = x - s.x, dy = y - s.y, squared = dx * dx + dy * dy, radius = s.half_width;
  if (!s.sets) return expf(-squared / (radius * radius));
  if (s.half_height > 0) return fabsf(dx) <= s.half_width && fabsf(dy) <= s.half_height ? 1 : 0;
  return squared <= radius * radius ? 1 : 0;
}

FLUID_INLINE float stamped(const tsi_fluid_stamp &s, float here, float weight, float value) {
  return weight == 0 ? here : s.sets ? value : here + weight * value;
}

__global__ static void stamp_velocity(const __grid_constant__ tsi_fluid_domain d, const stamp_area area,
                                      float2 *velocity, const float2 *prescribed,
                                      const __grid_constant__ tsi_fluid_stamp s) {
  const int column = fluid_i(), row = fluid_j();
  if (column >= area.width || row >= area.height) return;
  const int i = area.left + column, j = area.bottom + row, k = j * (d.width + 1) + i;
  const float half = d.layout == TS_FLUID_LAYOUT_STAGGERED ? 0 : 0.5f, x = (float)i, y = (float)j;
  const float2 given = prescribed[k];
  float2 v = velocity[k];
  if (!(given.x < TSI_FLUID_FREE)) v.x = stamped(s, v.x, weight_at(s, x + half, y + 0.5f), s.velocity[0]);
  if (!(given.y < TSI_FLUID_FREE)) v.y = stamped(s, v.y, weight_at(s, x + 0.5f, y + half), s.velocity[1]);
  velocity[k] = v;
}

ts_status cuda_fluid_stamp_velocity(const tsi_fluid_domain *domain, ts_vector *velocity,
                                    const ts_vector *prescribed, const tsi_fluid_stamp *stamp) {
  const stamp_area area = area_of(stamp, domain->width + 1, domain->height + 1);
  if (area.width == 0 || area.height == 0) return TS_OK;
  TSI_TRY(cuda_launch(velocity->context, "fluid_stamp_velocity", stamp_velocity,
                      fluid_blocks(area.width, area.height), fluid_block(), *domain, area, cuda_two(velocity),
                      cuda_two(prescribed), *stamp));
  return TS_OK;
}

__global__ static void stamp_dye(const stamp_area area, int wide, float4 *dye,
                                 const __grid_constant__ tsi_fluid_stamp s) {
  const int column = fluid_i(), row = fluid_j();
  if (column >= area.width || row >= area.height) return;
  const int i = area.left + column, j = area.bottom + row, k = j * wide + i;
  const float weight = weight_at(s, (float)i + 0.5f, (float)j + 0.5f);
  const float color = s.sets && !s.sets_color ? 0 : weight;
  const float temperature = s.sets && !s.sets_temperature ? 0 : weight;
  const float4 here = dye[k];
  dye[k] = make_float4(stamped(s, here.x, color, s.dye[0]), stamped(s, here.y, color, s.dye[1]),
                       stamped(s, here.z, color, s.dye[2]), stamped(s, here.w, temperature, s.dye[3]));
}

ts_status cuda_fluid_stamp_dye(const tsi_fluid_domain *domain, ts_vector *dye, const tsi_fluid_stamp *stamp) {
  const stamp_area area = area_of(stamp, domain->width, domain->height);
  if (area.width == 0 || area.height == 0) return TS_OK;
  TSI_TRY(cuda_launch(dye->context, "fluid_stamp_dye", stamp_dye, fluid_blocks(area.width, area.height),
                      fluid_block(), area, domain->width, cuda_four(dye), *stamp));
  return TS_OK;
}
