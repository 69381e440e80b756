/* mesh-param --bench: computes the same map with every format of the backend. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "progress.h"
#include "mesh_param.h"
#include "reports.h"

typedef struct bench_row {
  ts_format format;
  conformal_result r;
} bench_row;

enum { most_rows = 8 };

static int run_format(const program_options *o, ts_context *context, flattening *f, const double *start,
                      bench_row *row, char why[MESH_MESSAGE]) {
  conformal_options conformal = o->conformal;
  conformal.format = row->format;
  /* Compare the iterations of the formats, not the set-up of a preconditioner. */
  if (conformal.preconditioner == CONFORMAL_AUTO) conformal.preconditioner = CONFORMAL_JACOBI;
  memcpy(f->solved, start, 2 * (size_t)f->c.vertices * sizeof *start);
  f->fresh = 0; /* do not start from coarser meshes */
  progress_begin("%s", ts_format_name(row->format));
  const int failed = flattening_find(f, context, f->pinned, &conformal, f->solved, NULL, &row->r, why);
  progress_clear();
  return failed;
}

static void print_rows(const flattening *f, const ts_context_info *device, const bench_row *rows, int count,
                       const char *name) {
  printf("mesh        %s: %d flat vertices, %d triangles\n", name, (int)f->c.vertices,
         (int)f->m.triangle_count);
  printf("backend     %s: %s\n", device->backend, device->device);
  printf("system      %d unknowns, normal equations %s: %lld entries\n\n", (int)rows[0].r.unknowns,
         report_normal_name(rows[0].r.normal), (long long)rows[0].r.nonzeros);
  printf("format      iterations   residual   build s  layout s   solve s  ms per iteration        MB\n");
  for (int i = 0; i < count; i++) {
    const conformal_result *r = &rows[i].r;
    printf("%-10s  %10d  %9.2e  %8.3f  %8.3f  %8.3f  %16.4f  %8.2f\n", ts_format_name(r->format), r->iterations,
           r->residual, r->seconds_build, r->seconds_layout, r->seconds_solve,
           r->iterations ? 1e3 * r->seconds_solve / r->iterations : 0, 1e-6 * (double)r->bytes_device);
  }
}

static int print_json(const flattening *f, const ts_context_info *device, const bench_row *rows, int count,
                      const char *name) {
  json_t *const list = json_array();
  for (int i = 0; i < count; i++) {
    const conformal_result *r = &rows[i].r;
    json_array_append_new(
        list, json_pack("{s:s, s:i, s:b, s:f, s:f, s:f, s:f, s:I}", "format", ts_format_name(r->format),
                        "iterations", r->iterations, "converged", r->converged, "residual", r->residual,
                        "seconds_build", r->seconds_build, "seconds_layout", r->seconds_layout, "seconds_solve",
                        r->seconds_solve, "bytes_device", (json_int_t)r->bytes_device));
  }
  json_t *const object = json_pack(
      "{s:s, s:i, s:i, s:s, s:s, s:i, s:I, s:o}", "file", name, "flat_vertices", (int)f->c.vertices,
      "triangles", (int)f->m.triangle_count, "backend", device->backend, "device", device->device, "unknowns",
      (int)rows[0].r.unknowns, "nonzeros", (json_int_t)rows[0].r.nonzeros, "formats", list);
  return report_print(object, 0);
}

static int bench(const program_options *o, ts_context *context, flattening *f, const char *name) {
  char why[MESH_MESSAGE];
  ts_context_info device;
  bench_row rows[most_rows];
  int count = 0;
  double *start = malloc(2 * (size_t)f->c.vertices * sizeof *start);
  if (!start || ts_context_get_info(context, &device) != TS_OK) {
    message("out of memory for %d flat vertices", (int)f->c.vertices);
    free(start);
    return EXIT_ERROR;
  }
  memcpy(start, f->solved, 2 * (size_t)f->c.vertices * sizeof *start);
  int failed = 0;
  for (int format = TS_FORMAT_JAGGED; ts_format_name((ts_format)format) && count < most_rows && !failed;
       format++) {
    if (!(device.formats >> format & 1) || format == TS_FORMAT_STENCIL) continue;
    if (o->conformal.format != TS_FORMAT_AUTO && (int)o->conformal.format != format) continue;
    rows[count].format = (ts_format)format;
    failed = run_format(o, context, f, start, &rows[count++], why);
  }
  free(start);
  if (failed) {
    message("%s: %s", name, why);
    return EXIT_ERROR;
  }
  if (!count) {
    message("%s: the backend does not have the format %s", name, ts_format_name(o->conformal.format));
    return EXIT_ERROR;
  }
  if (o->run.json)
    failed = print_json(f, &device, rows, count, name);
  else
    print_rows(f, &device, rows, count, name);
  return failed || message_flush_stdout() ? EXIT_ERROR : EXIT_MADE;
}

int run_bench(const program_options *o) {
  load_report loaded;
  flattening f;
  ts_context *context = NULL;
  if (open_flattening(o, o->flattening.cut, &loaded, &f)) return EXIT_ERROR;
  int status = EXIT_ERROR;
  ts_context_desc desc = o->device;
  desc.gl = &o->gl;
  if (ts_context_create(&desc, &context) != TS_OK)
    message("%s", ts_last_error(NULL));
  else
    status = bench(o, context, &f, loaded.name);
  ts_context_destroy(&context);
  flattening_destroy(&f);
  return status;
}
