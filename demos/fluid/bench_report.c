#include <stdio.h>

#include "bench.h"
#include "report.h"
#include "reports.h"

/* Bolz et al. 2003, section 4.3: a step with two V(4,2) cycles on 513 x 513 points, on a GeForce FX. */
static const double paper_seconds = 1.0 / 20;

static void print_step(const char *name, const bench_step *step) {
  printf("  %-36s %10.3f ms   fastest %.3f ms, of %d steps\n", name, 1e3 * step->median, 1e3 * step->fastest,
         step->steps);
}

static void print_case(const char *name, const bench_case *c, const bench_case *reference) {
  printf("  %-24s %5d %-10s %9.3f ms  %12.4e", name, c->iterations,
         c->solver == TS_FLUID_MULTIGRID ? "cycles" : "iterations", 1e3 * c->seconds, c->after);
  if (c == reference)
    printf("          1\n");
  else
    printf("  %9.3g\n", c->after / reference->after);
}

void bench_print(const simulation *s, const bench_result *r) {
  char text[SIMULATION_MESSAGE];
  const ts_fluid_parameters *p = &s->parameters;
  double sum = 0;
  simulation_describe(s, text, sizeof text);
  printf("%s\n\n", text);
  printf("A whole step, without host synchronisation inside; medians of groups of steps:\n");
  print_step("two V(4,2) cycles with Jacobi", &r->paper);
  printf("  %-36s %10.3f ms   513 x 513 points, GeForce FX\n", "Bolz et al. 2003, the same cycles",
         1e3 * paper_seconds);
  snprintf(text, sizeof text, "%s, %d a step", ts_fluid_solver_name(p->solver), p->iterations);
  print_step(text, &r->usual);
  printf("\nIts stages, with a host synchronisation after each, which the step does not have:\n");
  for (int k = 0; k < TS_FLUID_STAGES; k++) sum += r->stages[k];
  for (int k = 0; k < TS_FLUID_STAGES; k++)
    printf("  %-36s %10.3f ms  %5.1f %%\n", ts_fluid_stage_name((ts_fluid_stage)k), 1e3 * r->stages[k],
           100 * r->stages[k] / sum);
  printf("\nOne pressure problem, from 0, after %d steps; divergence before it %.4e 1/s:\n", BENCH_WARM_STEPS,
         r->multigrid.before);
  printf("  %-24s %16s %12s  %12s  %9s\n", "", "", "time", "left, 1/s", "times");
  print_case("multigrid", &r->multigrid, &r->multigrid);
  print_case("Jacobi in the same time", &r->equal_time, &r->multigrid);
  print_case("Jacobi as often used", &r->popular, &r->multigrid);
  print_case("V(4,2) with Jacobi", &r->paper_case, &r->multigrid);
}

static json_t *step_json(const bench_step *step) {
  return json_pack("{s:f, s:f, s:i}", "milliseconds", 1e3 * step->median, "fastest_milliseconds",
                   1e3 * step->fastest, "steps", step->steps);
}

static json_t *case_json(const bench_case *c, const bench_case *reference) {
  return json_pack("{s:s, s:i, s:f, s:f, s:f, s:f}", "solver", ts_fluid_solver_name(c->solver), "iterations",
                   c->iterations, "pressure_milliseconds", 1e3 * c->seconds, "divergence_before", c->before,
                   "divergence_after", c->after, "times_multigrid", c->after / reference->after);
}

int bench_print_json(const simulation *s, const bench_result *r) {
  json_t *object = report_simulation_json(s), *stages = json_object();
  int lost = !object || !stages;
  for (int k = 0; k < TS_FLUID_STAGES; k++)
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
