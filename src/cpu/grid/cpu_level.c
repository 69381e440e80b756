/* Levels: their arrays, and transfers of values in and out. */
#include <stdlib.h>
#include <string.h>

#include "cpu_grid.h"
#include "cpu_level.h"

/* ---- Arrays ---- */

ts_status cpu_parities_create(ts_context *context, cpu_level *l, cpu_parities *p, const char *what) {
  const size_t bytes = 4 * l->size * sizeof(float);
  TSI_TRY(tsi_device_alloc(context, bytes, what));
  p->block = tsi_calloc(context, 4 * l->size, sizeof(float));
  if (!p->block) {
    tsi_device_free(context, bytes);
    return tsi_out_of_memory(context, what, bytes);
  }
  l->bytes += bytes;
  for (int c = 0; c < 4; c++) p->of[c] = p->block + (size_t)c * l->size + l->stride + 1;
  return TS_OK;
}

static ts_status create_arrays(ts_context *context, const tsi_level *level, cpu_level *l) {
  for (int k = 0; k < CPU_DIRECTIONS; k++)
    if (!level->five_point || k == CPU_C || k & 1)
      TSI_TRY(cpu_parities_create(context, l, &l->coefficients[k], "a level's stencil"));
  TSI_TRY(cpu_parities_create(context, l, &l->inverse, "a level's diagonal"));
  TSI_TRY(cpu_parities_create(context, l, &l->x, "a level's unknowns"));
  TSI_TRY(cpu_parities_create(context, l, &l->b, "a level's right-hand side"));
  return cpu_parities_create(context, l, &l->r, "a level's residual");
}

void cpu_level_destroy(tsi_level *level) {
  ts_context *context = level->context;
  cpu_level *l = cpu_level_of(level);
  if (!l) return;
  for (int k = 0; k < CPU_DIRECTIONS; k++) tsi_free(context, l->coefficients[k].block);
  cpu_parities *fields[] = {&l->inverse, &l->x, &l->b, &l->r, &l->d};
  for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++) tsi_free(context, fields[k]->block);
  tsi_free(context, l->weights.block);
  tsi_free(context, l->dense);
  tsi_device_free(context, l->bytes + l->weights.bytes);
  tsi_free(context, l);
  level->impl = NULL;
}

ts_status cpu_level_create(tsi_level *level) {
  ts_context *context = level->context;
  cpu_level *l = tsi_calloc(context, 1, sizeof *l);
  if (!l) return tsi_out_of_memory(context, "a level", sizeof *l);
  l->width = level->grid.width;
  l->height = level->grid.height;
  l->columns = (l->width + 1) / 2;
  l->rows = (l->height + 1) / 2;
  /* One more column than the border needs, for the copy of an odd periodic row. */
  l->stride = l->columns + 3;
  l->size = (size_t)l->stride * (size_t)(l->rows + 3);
  level->impl = l;
  const ts_status status = create_arrays(context, level, l);
  if (status < 0) cpu_level_destroy(level);
  return status;
}

/* ---- Periodic sides ---- */

void cpu_sync_columns(const tsi_level *level, const cpu_parities *p, int32_t j) {
  const cpu_level *l = cpu_level_of(level);
  if (!level->grid.periodic_x) return;
  *cpu_level_at(l, p, -1, j) = *cpu_level_at(l, p, l->width - 1, j);
  *cpu_level_at(l, p, l->width, j) = *cpu_level_at(l, p, 0, j);
}

static void copy_row(const cpu_level *l, const cpu_parities *p, int32_t to, int32_t from) {
  for (int a = 0; a < 2; a++) {
    const float *source = cpu_level_at(l, p, a, from) - 1;
    memcpy(cpu_level_at(l, p, a, to) - 1, source, (size_t)(l->columns + 2) * sizeof(float));
  }
}

void cpu_sync(const tsi_level *level, const cpu_parities *p) {
  const cpu_level *l = cpu_level_of(level);
  if (level->grid.periodic_x)
    for (int32_t j = 0; j < l->height; j++) cpu_sync_columns(level, p, j);
  if (level->grid.periodic_y) {
    copy_row(l, p, -1, l->height - 1);
    copy_row(l, p, l->height, 0);
  }
}

/* ---- Natural order ---- */

void cpu_level_row(const cpu_level *l, const cpu_parities *p, int32_t j, int32_t first, int32_t count,
                   float *values) {
  const float *same = cpu_level_at(l, p, first, j), *other = cpu_level_at(l, p, first + 1, j);
  for (ptrdiff_t k = 0; 2 * k < count; k++) values[2 * k] = same[k];
  for (ptrdiff_t k = 0; 2 * k + 1 < count; k++) values[2 * k + 1] = other[k];
}

typedef struct level_job {
  const cpu_level *l;
  cpu_parities *field;
  float *natural;
  const float *source;
  int add;
} level_job;

static void body_load(const void *arguments, size_t first, size_t last) {
  const level_job *job = arguments;
  const cpu_level *l = job->l;
  for (int32_t j = (int32_t)first; j < (int32_t)last; j++)
    for (int32_t a = 0; a < 2 && a < l->width; a++) {
      const float *restrict from = job->source + (size_t)j * (size_t)l->width + a;
      float *restrict to = cpu_level_at(l, job->field, a, j);
      for (int32_t k = 0; 2 * k + a < l->width; k++) to[k] = from[2 * (ptrdiff_t)k];
    }
}

ts_status cpu_level_load(tsi_level *level, tsi_level_field field, const ts_vector *v) {
  cpu_level *l = cpu_level_of(level);
  const level_job job = {.l = l, .field = field == TSI_LEVEL_X ? &l->x : &l->b, .source = cpu_data(v)};
  cpu_for(level->context, (size_t)l->height, 2 * (size_t)l->width, body_load, &job);
  if (field == TSI_LEVEL_X) cpu_sync(level, &l->x);
  return TS_OK;
}

static void body_store(const void *arguments, size_t first, size_t last) {
  const level_job *job = arguments;
  const cpu_level *l = job->l;
  for (int32_t j = (int32_t)first; j < (int32_t)last; j++)
    for (int32_t a = 0; a < 2 && a < l->width; a++) {
      float *restrict to = job->natural + (size_t)j * (size_t)l->width + a;
      const float *restrict x = cpu_level_at(l, &l->x, a, j);
      const float *restrict inverse = cpu_level_at(l, &l->inverse, a, j);
      for (int32_t k = 0; 2 * k + a < l->width; k++) {
        const float old = to[2 * (ptrdiff_t)k];
        to[2 * (ptrdiff_t)k] = inverse[k] == 0 ? old : job->add ? old + x[k] : x[k];
      }
    }
}

ts_status cpu_level_store(ts_vector *v, const tsi_level *level, int add) {
  const cpu_level *l = cpu_level_of(level);
  const level_job job = {.l = l, .natural = cpu_data(v), .add = add};
  cpu_for(level->context, (size_t)l->height, 3 * (size_t)l->width, body_store, &job);
  return TS_OK;
}

ts_status cpu_level_clear(tsi_level *level) {
  cpu_level *l = cpu_level_of(level);
  memset(l->x.block, 0, 4 * l->size * sizeof(float));
  return TS_OK;
}

/* ---- Stencils ---- */

/* Reads the planes of the matrix. The level was created for its `five_point` and has all blocks it needs. */
static void body_load_matrix(const void *arguments, size_t first, size_t last) {
  const level_job *job = arguments;
  const cpu_level *l = job->l;
  const size_t points = (size_t)l->width * (size_t)l->height;
  for (int plane = 0; plane < 9; plane++) {
    const cpu_parities *to = &l->coefficients[cpu_value_index(plane)];
    for (int32_t j = (int32_t)first; j < (int32_t)last && to->block; j++)
      for (int32_t a = 0; a < 2; a++) {
        const float *restrict from = job->source + (size_t)plane * points + (size_t)j * (size_t)l->width + a;
        float *restrict row = cpu_level_at(l, to, a, j);
        for (int32_t k = 0; 2 * k + a < l->width; k++) row[k] = from[2 * (ptrdiff_t)k];
      }
  }
}

static void body_invert(const void *arguments, size_t first, size_t last) {
  const cpu_level *l = ((const level_job *)arguments)->l;
  for (int32_t j = (int32_t)first; j < (int32_t)last; j++)
    for (int32_t a = 0; a < 2; a++) {
      const float *restrict centre = cpu_level_at(l, &l->coefficients[CPU_C], a, j);
      float *restrict inverse = cpu_level_at(l, &l->inverse, a, j);
      for (int32_t k = 0; 2 * k + a < l->width; k++) inverse[k] = centre[k] != 0 ? 1 / centre[k] : 0;
    }
}

ts_status cpu_level_prepare(tsi_level *level) {
  cpu_level *l = cpu_level_of(level);
  const size_t rows = (size_t)l->height, width = (size_t)l->width;
  level_job job = {.l = l};
  if (level->matrix) {
    job.source = ((const cpu_stencil *)level->matrix->impl)->planes;
    cpu_for(level->context, rows, 18 * width, body_load_matrix, &job);
  }
  for (int k = 0; k < CPU_DIRECTIONS; k++)
    if (l->coefficients[k].block) cpu_sync(level, &l->coefficients[k]);
  cpu_for(level->context, rows, 2 * width, body_invert, &job);
  return TS_OK;
}

ts_status cpu_level_read(const tsi_level *level, float *values) {
  const cpu_level *l = cpu_level_of(level);
  for (int32_t j = 0; j < l->height; j++)
    for (int32_t i = 0; i < l->width; i++)
      for (int k = 0; k < CPU_DIRECTIONS; k++)
        *values++ = l->coefficients[k].block ? *cpu_level_at(l, &l->coefficients[k], i, j) : 0;
  return TS_OK;
}

/* ---- The coarsest level ---- */

/* The inverse, followed by room for b in natural order. */
ts_status cpu_level_set_inverse(tsi_level *level, const float *inverse) {
  cpu_level *l = cpu_level_of(level);
  const size_t n = (size_t)l->width * (size_t)l->height, bytes = n * (n + 1) * sizeof(float);
  if (!l->dense) {
    TSI_TRY(tsi_device_alloc(level->context, bytes, "the coarsest level's inverse"));
    l->dense = tsi_malloc(level->context, bytes, 1);
    if (!l->dense) {
      tsi_device_free(level->context, bytes);
      return tsi_out_of_memory(level->context, "the coarsest level's inverse", bytes);
    }
    l->bytes += bytes;
  }
  memcpy(l->dense, inverse, n * n * sizeof(float));
  return TS_OK;
}

/* A sum in a fixed number of lanes, so that its bits do not depend on the vector width. */
CPU_CLONES static double dense_dot(const float *row, const float *b, size_t count) {
  enum { LANES = 16 };
  double sum[LANES] = {0};
  size_t p = 0;
  for (; p + LANES <= count; p += LANES) {
    CPU_SIMD
    for (size_t lane = 0; lane < LANES; lane++) sum[lane] += (double)row[p + lane] * (double)b[p + lane];
  }
  for (; p < count; p++) sum[0] += (double)row[p] * (double)b[p];
  double total = 0;
  for (size_t lane = 0; lane < LANES; lane++) total += sum[lane];
  return total;
}

ts_status cpu_level_coarse_solve(tsi_level *level) {
  cpu_level *l = cpu_level_of(level);
  const size_t n = (size_t)l->width * (size_t)l->height;
  float *b = l->dense + n * n;
  for (int32_t j = 0; j < l->height; j++)
    cpu_level_row(l, &l->b, j, 0, l->width, b + (size_t)j * (size_t)l->width);
  const float *row = l->dense;
  for (int32_t j = 0; j < l->height; j++)
    for (int32_t i = 0; i < l->width; i++, row += n)
      *cpu_level_at(l, &l->x, i, j) = (float)dense_dot(row, b, n);
  cpu_sync(level, &l->x);
  return TS_OK;
}

const tsi_grid_ops cpu_grid_ops = {TSI_GRID_OPERATIONS(TSI_ENTRY, TSI_ENTRY, TSI_OMIT, cpu_)};
