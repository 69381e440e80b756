#include "mesh_param.h"

#include <math.h>
#include <stdio.h>

#include "interrupt.h"
#include "message.h"
#include "reports.h"

const char *report_normal_name(ts_normal normal) {
  return normal == TS_NORMAL_APPLIED ? "applied" : "formed";
}

void report_begin(const work_report *w) {
  const flattening *f = w->f;
  int32_t loops = 0;
  for (int32_t k = 0; k < f->c.count; k++) loops += f->c.chart[k].loops;
  printf("mesh        %s: %d vertices, %d triangles; ", message_safe(w->loaded->name), (int)f->m.vertex_count,
         (int)f->m.triangle_count);
  if (f->measures.closed)
    printf("closed");
  else
    report_plural(f->measures.boundary_loops, "boundary loop", "boundary loops");
  printf("\ncharts      %d, with ", (int)f->c.count);
  report_plural(loops, "boundary loop", "boundary loops");
  printf(" and %d flat vertices", (int)f->c.vertices);
  if (f->cut.edges) printf("; cut along %d edges", (int)f->cut.edges);
  printf("\npins        ");
  if (f->pin_count)
    printf("%d given\n", (int)f->pin_count);
  else
    printf("two vertices of each chart, far apart\n");
  printf("backend     %s: %s\n", w->device->backend, w->device->device);
}

/* The lines that -v adds. */
static void print_system(const work_report *w) {
  const conformal_result *r = w->solved;
  printf("system      %d rows for %d unknowns, normal equations %s: %lld entries\n", (int)r->rows,
         (int)r->unknowns, report_normal_name(r->normal), (long long)r->nonzeros);
  printf("format      %s, %.2f MB on the device\n", ts_format_name(r->format), 1e-6 * (double)r->bytes_device);
  if (r->choice[0]) printf("choice      %s\n", r->choice);
  printf("method      %s, target residual of the normal equations %g\n", ts_method_name(r->method),
         w->options->conformal.rtol);
  printf("precond.    %s", conformal_preconditioner_name(r->preconditioner));
  if (r->preconditioner == CONFORMAL_AMG) {
    printf(", ");
    report_plural(r->coarser, "coarser level", "coarser levels");
  }
  putchar('\n');
  if (r->levels.levels) {
    printf("start       from ");
    report_plural(r->levels.levels, "coarser mesh", "coarser meshes");
    printf(": %d iterations, %.3f s\n", r->levels.iterations, r->levels.seconds);
  }
}

int report_end(const work_report *w) {
  const conformal_result *r = w->solved;
  const flattening *f = w->f;
  const distortion *d = &f->d;
  if (w->options->run.verbosity) print_system(w);
  printf("result      %s after %d iterations in ",
         r->converged           ? "converged"
         : interrupt_is_asked() ? "stopped"
                                : "NOT converged",
         r->iterations);
  report_plural(r->passes, "pass", "passes");
  printf("\nresidual    %.2e of the normal equations, target %g\n", r->residual, w->options->conformal.rtol);
  printf("angles      stretch %.5f on average, %.4g at most; 1 is conformal\n", d->angle_mean, d->angle_max);
  printf("areas       mean %.4f, from %.4g to %.4g: share of the UV map / share of the mesh\n", d->area_mean,
         d->area_least, d->area_most);
  printf("flipped     ");
  report_plural(d->flipped, "triangle", "triangles");
  if (d->flipped) printf(", the first %d", (int)d->first_flipped);
  if (d->collapsed) printf("; %d without area in the UV map", (int)d->collapsed);
  putchar('\n');
  if (f->pin_count)
    printf("map         at the pins, not packed\n");
  else
    printf("map         packed into the unit square, %.0f %% of it covered\n", 100 * f->packed.fill);
  printf("seconds     read %.3f, charts %.3f, ", w->seconds.read, w->seconds.charts);
  if (w->options->run.verbosity)
    printf("build %.3f, layout %.3f, solve %.3f", r->seconds_build, r->seconds_layout, r->seconds_solve);
  else
    printf("solve %.3f", w->seconds.solve);
  if (w->options->run.picture) printf(", draw %.3f", w->seconds.draw);
  if (w->options->output) printf(", write %.3f", w->seconds.write);
  putchar('\n');
  if (w->options->output)
    printf("written     %s%s\n", message_safe(w->options->output),
           f->uv_is_double ? ", u and v in double precision" : "");
  if (w->options->run.picture)
    printf("picture     %s, %d x %d pixels%s%s\n", message_safe(w->options->run.picture),
           w->options->run.picture_width, w->options->run.picture_height,
           w->options->run.verbosity ? "; u and v: " : "", w->options->run.verbosity ? w->drawn : "");
  return message_flush_stdout();
}

/* ---- JSON ---- */

static json_t *chart_list(const flattening *f) {
  json_t *const list = json_array();
  int lost = !list;
  for (int32_t k = 0; k < f->c.count && !lost; k++)
    lost = json_array_append_new(list, json_pack("{s:i, s:i, s:i}", "vertices", (int)f->c.chart[k].vertices,
                                                 "triangles", (int)f->c.chart[k].triangles, "boundary_loops",
                                                 (int)f->c.chart[k].loops));
  return list;
}

static json_t *solution(const work_report *w) {
  const conformal_result *r = w->solved;
  return json_pack(
      "{s:i, s:i, s:I, s:s, s:s, s:s, s:s, s:I, s:b, s:i, s:i, s:i, s:i, s:o, s:s, s:i, s:o, s:o, s:o, "
      "s:s}",
      "unknowns", (int)r->unknowns, "rows", (int)r->rows, "nonzeros", (json_int_t)r->nonzeros, "format",
      ts_format_name(r->format), "choice", r->choice, "normal_equations", report_normal_name(r->normal),
      "method", ts_method_name(r->method), "bytes_device", (json_int_t)r->bytes_device, "converged",
      r->converged, "iterations", r->iterations, "passes", r->passes, "levels", r->levels.levels,
      "levels_iterations", r->levels.iterations, "levels_milliseconds", report_milliseconds(r->levels.seconds),
      "preconditioner", conformal_preconditioner_name(r->preconditioner), "coarser_levels", r->coarser,
      "residual", report_number(r->residual), "residual_start", report_number(r->residual_start), "energy",
      report_number(r->energy), "message", r->message);
}

static json_t *distortions(const distortion *d) {
  return json_pack("{s:{s:o, s:o}, s:{s:o, s:o, s:o}, s:i, s:i}", "angle", "mean", report_number(d->angle_mean),
                   "largest", report_number(d->angle_max), "area", "mean", report_number(d->area_mean), "least",
                   report_number(d->area_least), "largest", report_number(d->area_most), "flipped",
                   (int)d->flipped, "collapsed", (int)d->collapsed);
}

static json_t *milliseconds(const work_report *w) {
  const work_seconds *s = &w->seconds;
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "read", report_milliseconds(s->read), "charts",
                   report_milliseconds(s->charts), "build", report_milliseconds(w->solved->seconds_build),
                   "layout", report_milliseconds(w->solved->seconds_layout), "solve",
                   report_milliseconds(w->solved->seconds_solve), "draw", report_milliseconds(s->draw), "write",
                   report_milliseconds(s->write));
}

int report_json(const work_report *w) {
  const flattening *f = w->f;
  json_t *const object = json_object();
  int lost = !object;
#define PUT(key, value) lost |= json_object_set_new(object, key, value)
  PUT("file", json_string(w->loaded->name));
  PUT("vertices", json_integer(f->m.vertex_count));
  PUT("triangles", json_integer(f->m.triangle_count));
  PUT("boundary_loops", json_integer(f->measures.boundary_loops));
  PUT("closed", json_boolean(f->measures.closed));
  PUT("repairs", load_repairs(w->loaded));
  PUT("cut_edges", json_integer(f->cut.edges));
  PUT("handles", json_integer(f->cut.handles));
  PUT("flat_vertices", json_integer(f->c.vertices));
  PUT("charts", chart_list(f));
  PUT("pins", json_integer(f->pin_count));
  PUT("backend", json_string(w->device->backend));
  PUT("device", json_string(w->device->device));
  if (w->device->threads) PUT("threads", json_integer(w->device->threads));
  PUT("rtol", report_number(w->options->conformal.rtol));
  PUT("solution", solution(w));
  PUT("distortion", distortions(&f->d));
  PUT("uv_precision", json_string(f->uv_is_double ? "double" : "single"));
  PUT("covered", f->pin_count ? json_null() : report_number(f->packed.fill));
  PUT("drawn", report_text(w->drawn));
  PUT("milliseconds", milliseconds(w));
#undef PUT
  return report_print(object, lost);
}
