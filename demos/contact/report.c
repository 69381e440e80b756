#include "contact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "message.h"
#include "platform.h"
#include "progress.h"
#include "reports.h"

void report_begin(const work_report *w) {
  const simulation *s = w->s;
  const simulation_parameters *p = &s->parameters;
  printf("scene       %s: %s\n", s->scene->name, s->scene->text);
  printf("bodies      %d moving, friction %.4g, restitution %.4g, steps of %.4g s\n", simulation_moving(s),
         p->friction, p->restitution, p->step);
  printf("backend     %s: %s\n", s->device.backend, s->device.device);
  if (!w->options->run.verbosity) return;
  printf("solver      scheme %s, acceleration %s, %s precision, tolerance %.1e ||q||, at most %d sweeps, start "
         "from %s\n",
         ts_lcp_scheme_name(p->scheme), ts_lcp_acceleration_name(p->acceleration),
         ts_precision_name(s->options.precision), p->tolerance, p->sweeps,
         p->cold_start ? "0" : "the previous step's forces");
}

void report_frame(const work_report *w) {
  const program_options *o = w->options;
  const frame_report *f = &w->frames[w->frame_count - 1];
  const simulation_figures *figures = &f->figures;
  if (o->run.json || o->run.quiet || (!o->run.verbosity && !platform_is_terminal(stdout))) return;
  progress_clear();
  if (w->frame_count == 1)
    printf("frame  contacts  sweeps   residual  collision ms  assembly ms   solve ms    draw ms   kinetic J  "
           "potential J\n");
  printf("%5d  %8d  %6d  %9.2e  %12.2f  %11.2f  %9.2f", w->frame_count, figures->contacts, figures->sweeps,
         figures->residual, 1e3 * figures->collision, 1e3 * figures->assembly, 1e3 * figures->solve);
  if (isfinite(f->draw))
    printf("  %9.2f", 1e3 * f->draw);
  else
    printf("  %9s", "-");
  printf("  %10.4g  %11.6g%s\n", figures->energy.kinetic, figures->energy.potential,
         figures->missed ? "  missed" : "");
  fflush(stdout);
}

/* ---- Over all frames ---- */

typedef struct frame_medians {
  /* seconds; `all` is the sum of collision, assembly and solve. NAN: no frames */
  double collision, assembly, solve, draw, all;
  double sweeps, contacts;
  double slow; /* the 95th percentile of `all` */
  int missed;  /* frames with a step that missed the tolerance */
} frame_medians;

enum { columns = 7 };

static double of_frame(const frame_report *f, int column) {
  const simulation_figures *x = &f->figures;
  const double values[columns] = {
      x->collision, x->assembly, x->solve, f->draw, x->collision + x->assembly + x->solve,
      x->sweeps,    x->contacts};
  return values[column];
}

static frame_medians medians_of(const work_report *w) {
  frame_medians m = {.missed = 0};
  double *const results[columns] = {&m.collision, &m.assembly, &m.solve,   &m.draw,
                                    &m.all,       &m.sweeps,   &m.contacts};
  double *values = malloc(((size_t)w->frame_count + 1) * sizeof *values);
  for (int column = 0; column < columns; column++) {
    int count = 0;
    for (int k = 0; values && k < w->frame_count; k++) {
      const double value = of_frame(&w->frames[k], column);
      if (isfinite(value)) values[count++] = value;
    }
    *results[column] = count ? report_median(values, count) : NAN; /* report_median sorts the values */
    if (results[column] == &m.all) m.slow = count ? values[count - 1 - count / 20] : NAN;
  }
  for (int k = 0; k < w->frame_count; k++) m.missed += w->frames[k].figures.missed > 0;
  free(values);
  return m;
}

/* Prints how far bodies overlap. Large scenes begin with overlapping bodies, which then separate. */
static void print_overlap(const work_report *w) {
  const double last = w->frames[w->frame_count - 1].figures.penetration,
               first = w->frames[0].figures.penetration;
  printf("overlap     %.2f mm at most in the last frame", 1e3 * last);
  if (first > last) printf("; %.2f mm in the first one, as the scene places the bodies", 1e3 * first);
  putchar('\n');
}

/* The effect of less exact forces on the bodies. One record for the frames that missed the tolerance, one for
 * the others. */
typedef struct frame_kind {
  double residual, overlap; /* largest residual; median overlap */
  double gain; /* largest relative rise of the energy in a frame; exact contacts only dissipate energy */
} frame_kind;

static double energy_of(const work_report *w, int frame) {
  const world_energy *e = &w->frames[frame].figures.energy;
  return e->kinetic + e->potential;
}

static frame_kind kind_of(const work_report *w, int missed) {
  frame_kind kind = {0, NAN, 0};
  double *values = malloc(((size_t)w->frame_count + 1) * sizeof *values);
  int count = 0;
  for (int k = 0; values && k < w->frame_count; k++) {
    const simulation_figures *f = &w->frames[k].figures;
    if (!f->missed != !missed) continue;
    values[count++] = f->penetration;
    kind.residual = fmax(kind.residual, f->residual);
    if (k > 0) kind.gain = fmax(kind.gain, energy_of(w, k) / energy_of(w, k - 1) - 1);
  }
  if (count) kind.overlap = report_median(values, count);
  free(values);
  return kind;
}

static void print_missed(const work_report *w, int missed) {
  if (!missed) return;
  const frame_kind in = kind_of(w, 1), others = kind_of(w, 0);
  printf("forces      ");
  report_plural(missed, "frame", "frames");
  printf(" missed the tolerance %.1e ||q|| after %d sweep%s (worst residual %.1e; hint: --max-sweeps)\n",
         w->s->parameters.tolerance, w->s->parameters.sweeps, w->s->parameters.sweeps == 1 ? "" : "s",
         in.residual);
  printf("            median overlap in these frames %.2f mm", 1e3 * in.overlap);
  if (isfinite(others.overlap)) printf(", in the others %.2f mm", 1e3 * others.overlap);
  if (in.gain > 1e-6)
    printf(", and the energy rose by up to %.2g %% in a frame\n", 100 * in.gain);
  else
    puts(", and the energy never rose");
}

static void print_details(const work_report *w, const frame_medians *m) {
  const simulation_figures *last = &w->frames[w->frame_count - 1].figures;
  printf("median      %.2f ms per frame: collision %.2f, assembly %.2f, solve %.2f", 1e3 * m->all,
         1e3 * m->collision, 1e3 * m->assembly, 1e3 * m->solve);
  if (isfinite(m->draw)) printf("; drawing %.2f more", 1e3 * m->draw);
  printf("\n            %.0f contacts, %.0f sweeps; one frame in twenty took more than %.2f ms\n", m->contacts,
         m->sweeps, 1e3 * m->slow);
  printf("last        %d contacts, residual %.2e, energy %.4g J and %.6g J potential\n", last->contacts,
         last->residual, last->energy.kinetic, last->energy.potential);
}

int report_end(const work_report *w) {
  const program_options *o = w->options;
  printf("result      %d frames of %d step%s", w->frame_count, w->steps_per_frame,
         w->steps_per_frame == 1 ? "" : "s");
  if (w->frame_count) {
    const frame_medians m = medians_of(w);
    printf(", %.4g s of simulated time\n", w->s->world.time);
    print_overlap(w);
    print_missed(w, m.missed);
    if (o->run.verbosity) print_details(w, &m);
    printf("seconds     prepare %.3f, frames %.3f", w->prepare, w->total);
    if (isfinite(m.draw))
      printf(" (about %.0f ms to compute one, %.0f ms to draw it)", 1e3 * m.all, 1e3 * m.draw);
    putchar('\n');
  } else {
    putchar('\n');
  }
  if (o->run.picture)
    printf("picture     %s, %d x %d pixels\n", message_safe(o->run.picture), w->picture_width,
           w->picture_height);
  if (o->run.video)
    printf("video       %s, %d x %d pixels\n", message_safe(o->run.video), w->picture_width, w->picture_height);
  if (o->run.frames_dir)
    printf("frames      %s/frame-00000.png ..., %d x %d pixels\n", message_safe(o->run.frames_dir),
           w->picture_width, w->picture_height);
  return message_flush_stdout();
}

/* ---- JSON ---- */

static json_t *parameters(const simulation *s) {
  const simulation_parameters *p = &s->parameters;
  return json_pack("{s:o, s:o, s:o, s:o, s:i, s:s, s:s, s:b, s:s}", "friction", report_number(p->friction),
                   "restitution", report_number(p->restitution), "time_step", report_number(p->step), "rtol",
                   report_number(p->tolerance), "max_sweeps", p->sweeps, "scheme",
                   ts_lcp_scheme_name(p->scheme), "acceleration", ts_lcp_acceleration_name(p->acceleration),
                   "cold_start", p->cold_start, "precision", ts_precision_name(s->options.precision));
}

json_t *report_simulation_json(const simulation *s) {
  return json_pack("{s:s, s:i, s:s, s:s, s:o}", "scene", s->scene->name, "bodies", simulation_moving(s),
                   "backend", s->device.backend, "device", s->device.device, "parameters", parameters(s));
}

static json_t *milliseconds(double collision, double assembly, double solve, double all, double draw) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "collision", report_milliseconds(collision), "assembly",
                   report_milliseconds(assembly), "solve", report_milliseconds(solve), "frame",
                   report_milliseconds(all), "draw", report_milliseconds(draw));
}

static json_t *frame_json(const frame_report *f) {
  const simulation_figures *x = &f->figures;
  return json_pack(
      "{s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "contacts", x->contacts, "sweeps", x->sweeps, "missed",
      x->missed, "residual", report_number(x->residual), "penetration", report_number(x->penetration),
      "kinetic_energy", report_number(x->energy.kinetic), "potential_energy",
      report_number(x->energy.potential), "milliseconds",
      milliseconds(x->collision, x->assembly, x->solve, x->collision + x->assembly + x->solve, f->draw));
}

static json_t *median_json(const work_report *w) {
  const frame_medians m = medians_of(w);
  return json_pack("{s:o, s:o, s:o}", "contacts", report_number(m.contacts), "sweeps", report_number(m.sweeps),
                   "milliseconds", milliseconds(m.collision, m.assembly, m.solve, m.all, m.draw));
}

int report_json(const work_report *w) {
  json_t *object = report_simulation_json(w->s), *frames = json_array();
  int lost = !object;
  for (int k = 0; k < w->frame_count; k++) lost |= json_array_append_new(frames, frame_json(&w->frames[k]));
  lost |= json_object_set_new(object, "steps_per_frame", json_integer(w->steps_per_frame));
  lost |= json_object_set_new(object, "stopped", json_boolean(w->stopped));
  lost |= json_object_set_new(object, "finite", json_boolean(!w->s->broken));
  lost |= json_object_set_new(object, "missed_frames", json_integer(medians_of(w).missed));
  lost |= json_object_set_new(object, "median", median_json(w));
  lost |= json_object_set_new(object, "seconds", report_number(w->total));
  lost |= json_object_set_new(object, "frames", frames);
  return report_print(object, lost);
}
