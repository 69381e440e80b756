/* texsolve bench spmv: the product of a matrix and a vector in every format of the backend. */
#include "bench.h"

#include <math.h>
#include <stdio.h>

#include "report.h"
#include "spmv_measure.h"

static const report_column PRODUCTS[] = {
    {"matrix", "matrix", 's', -12, 0},
    {"format", "format", 's', -8, 0},
    {"microseconds", "time us", 'f', 9, 1},
    {"spread_percent", "spread%", 'f', 7, 1},
    {"gflops", "GFLOP/s", 'f', 7, 2},
    {"fetches", "Mfetches", 'f', 8, 2},
    {"megabytes", "MB", 'f', 8, 2},
    {"gigabytes_per_second", "GB/s", 'f', 7, 1},
    {"limit_microseconds", "limit us", 'f', 9, 1},
    {"percent_of_limit", "% limit", 'f', 7, 1},
};

static const report_column LAYOUTS[] = {
    {"matrix", "matrix", 's', -12, 0},
    {"format", "format", 's', -8, 0},
    {"rows", "rows", 'i', 9, 0},
    {"nonzeros", "nonzeros", 'i', 10, 0},
    {"padding_percent", "padding%", 'f', 8, 2},
    {"bytes_per_entry", "B/entry", 'f', 7, 2},
    {"longest_row", "longest", 'i', 7, 0},
    {"split_rows", "split", 'i', 5, 0},
    {"seconds_layout", "layout s", 'f', 8, 3},
    {"seconds_upload", "upload s", 'f', 8, 3},
};

static const report_column BLOCKS[] = {
    {"matrix", "matrix", 's', -12, 0},
    {"format", "format", 's', -8, 0},
    {"blocks", "blocks", 'i', 10, 0},
    {"fill_ratio", "fill ratio", 'f', 10, 3},
};

enum { MAX_RESULTS = 64, COLUMNS = 10, BLOCK_COLUMNS = 4 };

typedef struct named_result {
  char matrix[BENCH_NAME_SIZE];
  spmv_result result;
} named_result;

static void print_product(report *r, const named_result *n, const device_limits *limits) {
  const spmv_result *s = &n->result;
  const double limit = limits_seconds(limits, &s->w);
  report_row(r, n->matrix, spmv_format(s->info.format), s->t.seconds * 1e6, s->t.spread * 100,
             s->w.flops / s->t.seconds * 1e-9, limits->is_gl ? work_fetches(&s->w) * 1e-6 : NAN,
             s->w.bytes * 1e-6, s->w.bytes / s->t.seconds * 1e-9, limit * 1e6, 100 * limit / s->t.seconds);
}

static void print_layout(report *r, const named_result *n) {
  const ts_matrix_info *i = &n->result.info;
  const double padding = 100.0 * (double)(i->stored_entries - i->nonzeros) / (double)i->stored_entries;
  report_row(r, n->matrix, spmv_format(i->format), (long long)i->rows, (long long)i->nonzeros, padding,
             (double)i->bytes_device / (double)i->stored_entries, (long long)i->longest_row,
             (long long)i->split_rows, i->seconds_layout, i->seconds_upload);
}

/* Prints how full the blocks are, for formats that have blocks. */
static void print_blocks(report *r, const named_result *results, int count) {
  int begun = 0;
  for (int i = 0; i < count; ++i) {
    const ts_matrix_info *info = &results[i].result.info;
    if (!info->blocks) continue;
    if (!begun++) report_table(r, "blocks", "Blocks", BLOCKS, BLOCK_COLUMNS);
    report_row(r, results[i].matrix, spmv_format(info->format), (long long)info->blocks, info->fill_ratio);
  }
}

/* Measures every requested format on one matrix. The first matrix sets the size at which the limits are
 * measured. */
static int run_matrix(const bench_options *o, const bench_device *device, const char *name, int32_t rows,
                      device_limits *limits, named_result *results, int *count, report *r) {
  ts_context *context = NULL;
  generated_matrix A;
  if (bench_matrix(&A, name, rows)) return 1;
  int failed = 0;
  if (!*count) {
    failed = limits_measure(limits, o, spmv_bytes(&A, o->components, 2));
    if (!failed) {
      limits_describe(limits, r);
      report_table(r, "products", "Products y = A x", PRODUCTS, COLUMNS);
    }
  }
  failed = failed || bench_open(o, 0, 0, &context);
  for (int f = 0; ts_format_name((ts_format)f) && !failed && *count < MAX_RESULTS; ++f) {
    if (o->format == TS_FORMAT_AUTO ? !(device->formats & 1u << f) : f != (int)o->format) continue;
    const int blocks = f == TS_FORMAT_BCRS2 || f == TS_FORMAT_BCRS4;
    if (o->format == TS_FORMAT_AUTO && blocks && device->is_gl && o->components > 1) continue; /* no blocks */
    named_result *n = &results[*count];
    bench_short_name(n->matrix, name);
    failed = spmv_measure(context, &A, (ts_format)f, o->components, o->repeat, &n->result);
    if (failed) break;
    print_product(r, n, limits);
    ++*count;
  }
  ts_context_destroy(&context);
  generated_free(&A);
  return failed;
}

int bench_spmv(const bench_options *options, report *r) {
  static named_result results[MAX_RESULTS];
  bench_device device;
  device_limits limits;
  int count = 0;
  if (bench_describe(options, r, &device)) return 1;
  int failed = 0;
  const int32_t rows = options->size ? options->size : device.is_hardware ? 1 << 20 : 1 << 17;
  if (device.is_gl) {
    report_note(
        r, "Fetches: jagged: per stored off-diagonal entry one RG32UI and one of x; segments: three per entry");
    report_note(
        r, "(value, pointer, x) and one per row (start); both: per row the diagonal and its own x, one write.");
    report_note(
        r,
        "bcrs2: per block one RGBA32F, a pointer and one of x; bcrs4: four RGBA32F, a pointer and one of x.");
  }
  if (options->matrix) {
    failed = run_matrix(options, &device, options->matrix, rows, &limits, results, &count, r);
  } else {
    for (int i = 0; generated_name(i) && !failed; ++i)
      failed = run_matrix(options, &device, generated_name(i), rows, &limits, results, &count, r);
  }
  if (!failed) {
    report_table(r, "layouts", "Layouts", LAYOUTS, COLUMNS);
    for (int i = 0; i < count; ++i) print_layout(r, &results[i]);
    print_blocks(r, results, count);
  }
  return failed;
}
