/* texsolve bench tune: the numbers that steer the library's choices on this device, and beside them what a
 * short measurement finds. Only weights of blocks are measured: how long a byte (in textures: a fetch) takes in
 * blocks against csr (where there is none, jagged), in products with full blocks that no cache holds. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "spmv_measure.h"

static const report_column COLUMNS[] = {
    {"name", "number", 's', -25, 0},     {"in_use", "in use", 'f', 10, 2},
    {"measured", "measured", 'f', 0, 3}, {"measured_here", "measured", 's', 12, 0},
    {"meaning", "meaning", 's', -47, 0},
};

typedef struct measured {
  const char *name;
  double value; /* NaN: not measured */
} measured;

/* Seconds of a product for each byte or fetch of the matrix. */
static int seconds_a_read(ts_context *context, const generated_matrix *A, ts_format format,
                          const bench_options *o, int is_gl, double *seconds) {
  spmv_result p;
  if (spmv_measure(context, A, format, o->components, o->repeat, &p)) return 1;
  *seconds = p.t.seconds / (is_gl ? work_fetches(&p.w) : (double)p.info.bytes_device);
  return 0;
}

static int measure_blocks(const bench_options *o, const bench_device *device, measured *bcrs2,
                          measured *bcrs4) {
  const int32_t rows = o->size ? o->size : device->is_gl ? 1 << (device->is_hardware ? 18 : 16) : 1 << 19;
  const ts_format base = device->formats & 1u << TS_FORMAT_CSR ? TS_FORMAT_CSR : TS_FORMAT_JAGGED;
  ts_context *context = NULL;
  generated_matrix A;
  double plain, two, four;
  if (bench_matrix(&A, "fem4", rows)) return 1;
  const int failed = bench_open(o, 0, 0, &context) ||
                     seconds_a_read(context, &A, base, o, device->is_gl, &plain) ||
                     seconds_a_read(context, &A, TS_FORMAT_BCRS2, o, device->is_gl, &two) ||
                     seconds_a_read(context, &A, TS_FORMAT_BCRS4, o, device->is_gl, &four);
  if (!failed) bcrs2->value = two / plain, bcrs4->value = four / plain;
  ts_context_destroy(&context);
  generated_free(&A);
  return failed;
}

static int print_all(ts_context *context, const measured *all, int count, report *r) {
  report_table(r, "tuning", "Numbers that steer choices", COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  ts_tuning_entry entry;
  for (int i = 0; ts_context_get_tuning(context, i, &entry) == TS_OK; ++i) {
    double value = NAN;
    char text[24] = "not measured";
    for (int k = 0; k < count; ++k)
      if (!strcmp(all[k].name, entry.name)) value = all[k].value;
    if (!isnan(value)) snprintf(text, sizeof text, "%.2f", value);
    report_row(r, entry.name, entry.value, value, text, entry.meaning);
  }
  return 0;
}

int bench_tune(const bench_options *options, report *r) {
  measured all[] = {{"bcrs2_weight", NAN}, {"bcrs4_weight", NAN}};
  bench_device device;
  ts_context *context = NULL;
  bench_options one = *options;
  one.components = 1;
  if (bench_describe(options, r, &device) || measure_blocks(&one, &device, &all[0], &all[1]) ||
      bench_open(options, 0, 0, &context))
    return 1;
  const int failed = print_all(context, all, sizeof all / sizeof *all, r);
  ts_context_destroy(&context);
  report_note(
      r, "0 in use: the backend has no such choice. src/common/core/tuning.c says where numbers come from.");
  return failed;
}
