/* contact --bench: times of a step's parts once the bodies have met, starting from the previous step's forces
 * and from 0. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "contact.h"
#include "message.h"
#include "platform.h"
#include "progress.h"
#include "reports.h"

enum { meeting_frames = 90, timed_frames = 60, measured = 6 };

/* Medians over the timed steps; times in seconds. */
typedef struct bench_result {
  double collision, assembly, solve, all, sweeps, contacts;
  int missed;
} bench_result;

static int steps(simulation *s, int count) {
  char why[SIMULATION_MESSAGE];
  for (int k = 0; k < count; k++) {
    progress_begin("step %d", s->steps + 1);
    if (simulation_step(s, why)) return progress_fail(why);
  }
  return 0;
}

static int measure(simulation *s, int cold, bench_result *r) {
  char why[SIMULATION_MESSAGE];
  double values[measured][timed_frames], *const results[] = {&r->collision, &r->assembly, &r->solve,
                                                             &r->all,       &r->sweeps,   &r->contacts};
  if (simulation_reset(s, why)) return progress_fail(why);
  /* warm starts until here, so that both cases begin with the same heap, apart from rounding */
  s->parameters.cold_start = 0;
  if (steps(s, meeting_frames)) return -1;
  s->parameters.cold_start = cold;
  s->missed_steps = 0;
  for (int k = 0; k < timed_frames; k++) {
    if (steps(s, 1)) return -1;
    const simulation_figures *f = &s->figures;
    const double row[measured] = {f->collision, f->assembly, f->solve, f->collision + f->assembly + f->solve,
                                  f->sweeps,    f->contacts};
    for (int i = 0; i < measured; i++) values[i][k] = row[i];
  }
  for (int i = 0; i < measured; i++) *results[i] = report_median(values[i], timed_frames);
  r->missed = s->missed_steps;
  return 0;
}

static void print_text(const simulation *s, const bench_result r[2]) {
  char text[SIMULATION_MESSAGE];
  simulation_describe(s, text, sizeof text);
  printf("%s\n\nMedians of %d steps after the first %d, in ms:\n", text, (int)timed_frames,
         (int)meeting_frames);
  printf("  %-12s %9s %9s %9s %9s %9s %9s %7s\n", "start", "collision", "assembly", "solve", "all", "contacts",
         "sweeps", "missed");
  for (int cold = 0; cold < 2; cold++)
    printf("  %-12s %9.2f %9.2f %9.2f %9.2f %9.0f %9.0f %7d\n", cold ? "0" : "last forces",
           1e3 * r[cold].collision, 1e3 * r[cold].assembly, 1e3 * r[cold].solve, 1e3 * r[cold].all,
           r[cold].contacts, r[cold].sweeps, r[cold].missed);
}

static json_t *result_json(const bench_result *r) {
  return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:i}", "collision_milliseconds", 1e3 * r->collision,
                   "assembly_milliseconds", 1e3 * r->assembly, "solve_milliseconds", 1e3 * r->solve,
                   "frame_milliseconds", 1e3 * r->all, "contacts", r->contacts, "sweeps", r->sweeps, "missed",
                   r->missed);
}

static int print_json(const simulation *s, const bench_result r[2]) {
  json_t *object = report_simulation_json(s);
  int lost = !object;
  lost |= json_object_set_new(object, "steps", json_integer(timed_frames));
  lost |= json_object_set_new(object, "warm_start", result_json(&r[0]));
  lost |= json_object_set_new(object, "start_from_0", result_json(&r[1]));
  return report_print(object, lost);
}

int run_bench(const program_options *o) {
  char why[SIMULATION_MESSAGE];
  simulation_options options = o->simulation;
  simulation *s;
  bench_result results[2] = {{0}};
  if (!options.scene) options.scene = scene_find("boxes");
  progress_begin("preparing");
  if (simulation_create(&options, &s, why)) {
    progress_fail(why);
    return EXIT_ERROR;
  }
  int failed = measure(s, 0, &results[0]) || measure(s, 1, &results[1]);
  progress_clear();
  if (!failed && o->run.json) failed = print_json(s, results);
  if (!failed && !o->run.json) print_text(s, results);
  if (!failed && message_flush_stdout()) failed = 1;
  simulation_destroy(&s);
  return failed ? EXIT_ERROR : EXIT_MADE;
}
