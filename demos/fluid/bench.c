/* fluid --bench: times of a step and of its stages, and the divergence that each solver leaves in equal
 * time. */
#include <math.h>
#include <stdio.h>

#include "message.h"
#include "progress.h"
#include "fluid.h"
#include "reports.h"

enum { paper_cycles = 2, warm_steps = 12, popular_jacobi = 20, groups = 9, few_steps = 7 };

static const double group_seconds = 0.25;

/* Bolz et al. 2003, section 4.3: a step with two V(4,2) cycles on 513 x 513 points, on a GeForce FX. */
static const double paper_seconds = 1.0 / 20;

/* Results; times in seconds. */

typedef struct bench_step {
  double median, fastest;
  int steps; /* number of timed steps; the host synchronises once per group of steps */
} bench_step;

/* One pressure solve, from 0. All cases solve the same problem. */
typedef struct bench_case {
  pressure_choice pressure;
  double seconds; /* of the pressure stage only */
  double before, after;
} bench_case;

typedef struct bench_result {
  bench_step paper, usual; /* two V(4,2) cycles with Jacobi; the chosen solver */
  double stages[TS_FLUID_STAGE_COUNT];
  bench_case multigrid, equal_time, popular, paper_case;
} bench_result;

typedef struct bench_state {
  simulation *s;
  ts_fluid_parameters usual, paper;
} bench_state;

static int step(const bench_state *b, int measure) {
  char why[SIMULATION_MESSAGE];
  return simulation_step(b->s, measure, 1, why) ? progress_fail(why) : 0;
}

static int set(const bench_state *b, const ts_fluid_parameters *p) {
  char why[SIMULATION_MESSAGE];
  return simulation_set_parameters(b->s, p, why) ? progress_fail(why) : 0;
}

/* Reproduces the initial flow of all measurements: a few steps of the usual solver from rest. */
static int warm_up(const bench_state *b) {
  char why[SIMULATION_MESSAGE];
  if (simulation_reset(b->s, why)) return progress_fail(why);
  if (set(b, &b->usual)) return -1;
  for (int k = 0; k < warm_steps; k++)
    if (step(b, 0)) return -1;
  return 0;
}

/* ---- Whole steps, without host synchronisation within a step ---- */

static int time_group(const bench_state *b, int steps, double *seconds) {
  ts_context *const context = b->s->context;
  if (ts_context_finish(context) != TS_OK) return progress_fail(ts_last_error(context));
  const double begin = seconds_now();
  for (int k = 0; k < steps; k++)
    if (step(b, 0)) return -1;
  if (ts_context_finish(context) != TS_OK) return progress_fail(ts_last_error(context));
  *seconds = (seconds_now() - begin) / steps;
  return 0;
}

static int time_steps(const bench_state *b, const ts_fluid_parameters *p, bench_step *result) {
  double seconds[groups], first = 0;
  if (warm_up(b) || set(b, p) || time_group(b, 2, &first) || time_group(b, 2, &first)) return -1;
  const int steps = first > group_seconds ? 1 : (int)ceil(group_seconds / first);
  for (int k = 0; k < groups; k++)
    if (time_group(b, steps, &seconds[k])) return -1;
  result->median = report_median(seconds, groups);
  result->fastest = seconds[0];
  result->steps = groups * steps;
  return 0;
}

/* ---- Stages ---- */

static int time_stages(const bench_state *b, const ts_fluid_parameters *p,
                       double result[TS_FLUID_STAGE_COUNT]) {
  double seconds[TS_FLUID_STAGE_COUNT][few_steps];
  if (warm_up(b) || set(b, p) || step(b, TS_FLUID_MEASURE_TIMES)) return -1;
  for (int k = 0; k < few_steps; k++) {
    if (step(b, TS_FLUID_MEASURE_TIMES)) return -1;
    for (int stage = 0; stage < TS_FLUID_STAGE_COUNT; stage++) seconds[stage][k] = b->s->result.seconds[stage];
  }
  for (int stage = 0; stage < TS_FLUID_STAGE_COUNT; stage++)
    result[stage] = report_median(seconds[stage], few_steps);
  return 0;
}

/* ---- Comparison of solvers ---- */

static void use(ts_fluid_parameters *p, int solver, int iterations) {
  pressure_set(&p->pressure, &(pressure_choice){.solver = solver, .iterations = iterations});
}

static ts_fluid_parameters from_zero(const ts_fluid_parameters *p, int solver, int iterations) {
  ts_fluid_parameters changed = *p;
  use(&changed, solver, iterations);
  changed.pressure.zero_start = 1;
  return changed;
}

static int solve(const bench_state *b, const ts_fluid_parameters *p, bench_case *result) {
  double stages[TS_FLUID_STAGE_COUNT];
  result->pressure = pressure_of(&p->pressure);
  if (warm_up(b) || set(b, p) || step(b, TS_FLUID_MEASURE_DIVERGENCE)) return -1;
  result->before = b->s->result.divergence_before;
  result->after = b->s->result.divergence_after;
  if (time_stages(b, p, stages)) return -1;
  result->seconds = stages[TS_FLUID_STAGE_PRESSURE];
  return 0;
}

/* Finds the number of Jacobi iterations that take this long. */
static int fit_jacobi(const bench_state *b, double seconds, int *iterations) {
  enum { few = 20, many = 120 };
  double short_run[TS_FLUID_STAGE_COUNT], long_run[TS_FLUID_STAGE_COUNT];
  ts_fluid_parameters p = from_zero(&b->usual, PRESSURE_JACOBI, few);
  if (time_stages(b, &p, short_run)) return -1;
  use(&p, PRESSURE_JACOBI, many);
  if (time_stages(b, &p, long_run)) return -1;
  const double once = short_run[TS_FLUID_STAGE_PRESSURE],
               each = fmax((long_run[TS_FLUID_STAGE_PRESSURE] - once) / (many - few), 1e-9);
  const double fitting = floor((seconds - (once - few * each)) / each);
  *iterations = fitting < 1 ? 1 : fitting > 1000 ? 1000 : (int)fitting;
  return 0;
}

static int compare(const bench_state *b, bench_result *r) {
  int iterations;
  const pressure_choice usual = pressure_of(&b->usual.pressure);
  ts_fluid_parameters p = from_zero(&b->usual, PRESSURE_MULTIGRID,
                                    usual.solver == PRESSURE_MULTIGRID ? usual.iterations : paper_cycles);
  if (solve(b, &p, &r->multigrid) || fit_jacobi(b, r->multigrid.seconds, &iterations)) return -1;
  p = from_zero(&b->usual, PRESSURE_JACOBI, iterations);
  if (solve(b, &p, &r->equal_time)) return -1;
  use(&p, PRESSURE_JACOBI, popular_jacobi);
  if (solve(b, &p, &r->popular)) return -1;
  p = from_zero(&b->paper, PRESSURE_MULTIGRID, paper_cycles);
  return solve(b, &p, &r->paper_case);
}

/* ---- Report ---- */

static void print_step(const char *name, const bench_step *step) {
  printf("  %-36s %10.3f ms   fastest %.3f ms, of %d steps\n", name, 1e3 * step->median, 1e3 * step->fastest,
         step->steps);
}

static void print_case(const char *name, const bench_case *c, const bench_case *reference) {
  printf("  %-24s %5d %-10s %9.3f ms  %12.4e", name, c->pressure.iterations,
         c->pressure.solver == PRESSURE_MULTIGRID ? "cycles" : "iterations", 1e3 * c->seconds, c->after);
  if (c == reference)
    printf("          1\n");
  else
    printf("  %9.3g\n", c->after / reference->after);
}

static void print_text(const simulation *s, const bench_result *r) {
  char text[SIMULATION_MESSAGE];
  const pressure_choice usual = pressure_of(&s->parameters.pressure);
  double sum = 0;
  simulation_describe(s, text, sizeof text);
  printf("%s\n\n", text);
  printf("A whole step, without host synchronisation in it; medians over groups of steps:\n");
  print_step("two V(4,2) cycles with Jacobi", &r->paper);
  printf("  %-36s %10.3f ms   513 x 513 points, GeForce FX\n", "Bolz et al. 2003, the same cycles",
         1e3 * paper_seconds);
  snprintf(text, sizeof text, "%s, %d per step", pressure_name(usual.solver), usual.iterations);
  print_step(text, &r->usual);
  printf("\nIts stages, with a host synchronisation after each, which a normal step does not have:\n");
  for (int k = 0; k < TS_FLUID_STAGE_COUNT; k++) sum += r->stages[k];
  for (int k = 0; k < TS_FLUID_STAGE_COUNT; k++)
    printf("  %-36s %10.3f ms  %5.1f %%\n", ts_fluid_stage_name((ts_fluid_stage)k), 1e3 * r->stages[k],
           100 * r->stages[k] / sum);
  printf("\nOne pressure solve, from 0, after %d steps; divergence before it %.4e 1/s:\n", (int)warm_steps,
         r->multigrid.before);
  printf("  %-24s %16s %12s  %12s  %9s\n", "", "", "time", "after, 1/s", "ratio");
  print_case("multigrid", &r->multigrid, &r->multigrid);
  print_case("Jacobi, equal time", &r->equal_time, &r->multigrid);
  print_case("Jacobi, usual number", &r->popular, &r->multigrid);
  print_case("V(4,2) with Jacobi", &r->paper_case, &r->multigrid);
}

static json_t *step_json(const bench_step *step) {
  return json_pack("{s:f, s:f, s:i}", "milliseconds", 1e3 * step->median, "fastest_milliseconds",
                   1e3 * step->fastest, "steps", step->steps);
}

static json_t *case_json(const bench_case *c, const bench_case *reference) {
  return json_pack("{s:s, s:i, s:f, s:f, s:f, s:f}", "solver", pressure_name(c->pressure.solver), "iterations",
                   c->pressure.iterations, "pressure_milliseconds", 1e3 * c->seconds, "divergence_before",
                   c->before, "divergence_after", c->after, "times_multigrid", c->after / reference->after);
}

static int print_json(const simulation *s, const bench_result *r) {
  json_t *object = report_simulation_json(s), *stages = json_object();
  int lost = !object || !stages;
  for (int k = 0; k < TS_FLUID_STAGE_COUNT; k++)
    lost |= json_object_set_new(stages, ts_fluid_stage_name((ts_fluid_stage)k), json_real(1e3 * r->stages[k]));
  lost |= json_object_set_new(object, "paper_milliseconds", json_real(1e3 * paper_seconds));
  lost |= json_object_set_new(object, "step_paper_cycles", step_json(&r->paper));
  lost |= json_object_set_new(object, "step", step_json(&r->usual));
  lost |= json_object_set_new(object, "stage_milliseconds", stages);
  lost |= json_object_set_new(object, "multigrid", case_json(&r->multigrid, &r->multigrid));
  lost |= json_object_set_new(object, "jacobi_equal_time", case_json(&r->equal_time, &r->multigrid));
  lost |= json_object_set_new(object, "jacobi_popular", case_json(&r->popular, &r->multigrid));
  lost |= json_object_set_new(object, "paper_cycles", case_json(&r->paper_case, &r->multigrid));
  return report_print(object, lost);
}

static int measure(const bench_state *b, bench_result *r) {
  progress_begin("whole steps");
  if (time_steps(b, &b->paper, &r->paper) || time_steps(b, &b->usual, &r->usual)) return -1;
  progress_begin("stages");
  if (time_stages(b, &b->usual, r->stages)) return -1;
  progress_begin("solvers");
  return compare(b, r);
}

int run_bench(const program_options *o) {
  char why[SIMULATION_MESSAGE];
  simulation_options options = o->simulation;
  bench_state b = {0};
  bench_result result;
  if (!options.width) options.width = options.height = 513;
  if (options.particles < 0) options.particles = 0;
  progress_begin("preparing");
  if (simulation_create(&options, &b.s, why)) {
    progress_fail(why);
    return EXIT_ERROR;
  }
  b.usual = b.paper = b.s->parameters;
  use(&b.paper, PRESSURE_MULTIGRID, paper_cycles);
  b.paper.multigrid = (ts_multigrid_desc){
      .smoother = TS_SMOOTHER_JACOBI, .storage = b.usual.multigrid.storage, .pre = 4, .post = 2};
  b.paper.advection = TS_FLUID_ADVECTION_SEMI_LAGRANGIAN; /* the paper's advection */
  b.paper.vorticity_confinement = 0;
  int failed = measure(&b, &result);
  if (!failed && set(&b, &b.usual)) failed = 1;
  progress_clear();
  if (!failed && o->run.json) failed = print_json(b.s, &result);
  if (!failed && !o->run.json) print_text(b.s, &result);
  if (!failed && message_flush_stdout()) failed = 1;
  simulation_destroy(&b.s);
  return failed ? EXIT_ERROR : EXIT_MADE;
}
