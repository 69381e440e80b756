/* Slots in host memory. A read never waits, but it keeps the two steps that solvers use on other devices. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "cpu.h"

static cpu_scalars *scalars_of(const ts_scalars *s) {
  return s->impl;
}

static size_t slot_bytes(int count) {
  return (size_t)count * 4 * sizeof(float);
}

ts_status cpu_scalars_create(ts_scalars *s) {
  TSI_TRY(tsi_device_alloc(s->context, slot_bytes(s->count), "scalars"));
  cpu_scalars *impl = tsi_calloc(s->context, 1, sizeof *impl);
  float *values = tsi_calloc(s->context, (size_t)s->count, 2 * slot_bytes(1));
  if (!impl || !values) {
    tsi_free(s->context, impl);
    tsi_free(s->context, values);
    tsi_device_free(s->context, slot_bytes(s->count));
    return tsi_out_of_memory(s->context, "scalars", 2 * slot_bytes(s->count));
  }
  impl->values = values;
  impl->snapshot = values + (size_t)s->count * 4;
  s->impl = impl;
  return TS_OK;
}

void cpu_scalars_destroy(ts_scalars *s) {
  tsi_free(s->context, scalars_of(s)->values);
  tsi_free(s->context, s->impl);
  s->impl = NULL;
  tsi_device_free(s->context, slot_bytes(s->count));
}

ts_status cpu_scalars_write(ts_scalars *s, int first, int count, const float *values) {
  memcpy(cpu_slot(s, first), values, slot_bytes(count));
  return TS_OK;
}

ts_status cpu_scalars_normalise(ts_scalars *s, int from, int to) {
  for (int c = 0; c < 4; c++) {
    const float largest = cpu_slot(s, from)[c];
    int exponent = 0;
    if (largest > 0 && isfinite(largest)) frexpf(largest, &exponent);
    if (exponent > 120) exponent = 120;
    if (exponent < -120) exponent = -120;
    cpu_slot(s, to)[c] = ldexpf(1, -exponent);
    cpu_slot(s, to + 1)[c] = ldexpf(1, exponent);
  }
  return TS_OK;
}

ts_status cpu_scalars_read_begin(ts_scalars *s, int first, int count) {
  cpu_scalars *impl = scalars_of(s);
  memcpy(impl->snapshot, cpu_slot(s, first), slot_bytes(count));
  impl->snapshot_slots = count;
  return TS_OK;
}

ts_status cpu_scalars_read_end(ts_scalars *s, double *values) {
  const cpu_scalars *impl = scalars_of(s);
  for (int i = 0; i < 4 * impl->snapshot_slots; i++) values[i] = (double)impl->snapshot[i];
  return TS_OK;
}

float *cpu_slot(ts_scalars *s, int index) {
  return scalars_of(s)->values + (size_t)index * 4;
}

static float slot_component(ts_slot slot, int component) {
  return slot.scalars ? scalars_of(slot.scalars)->values[(size_t)slot.index * 4 + (size_t)component] : 1.0f;
}

void cpu_coefficient(ts_coefficient c, int components, float lanes[CPU_LANES]) {
  float value[4] = {0, 0, 0, 0};
  for (int k = 0; k < components; k++) {
    const float denominator = slot_component(c.denominator, k);
    value[k] = fabsf(denominator) < FLT_MIN ? 0 : (float)c.scale * slot_component(c.numerator, k) / denominator;
  }
  for (int l = 0; l < CPU_LANES; l++) lanes[l] = value[l % components];
}

static double pair_component(ts_slot slot, int component) {
  if (!slot.scalars) return 1;
  double value = (double)slot_component(slot, component);
  if (slot.scalars->low) value += (double)slot_component((ts_slot){slot.scalars->low, slot.index}, component);
  return value;
}

void cpu_pair_coefficient(ts_coefficient c, int components, double lanes[CPU_LANES]) {
  double value[4] = {0, 0, 0, 0};
  for (int k = 0; k < components && c.scale != 0; k++) {
    const double denominator = pair_component(c.denominator, k);
    value[k] = fabs(denominator) < FLT_MIN ? 0 : c.scale * pair_component(c.numerator, k) / denominator;
  }
  for (int l = 0; l < CPU_LANES; l++) lanes[l] = value[l % components];
}
