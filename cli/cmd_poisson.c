/* `texsolve poisson`: solves a Poisson or Helmholtz problem on a regular grid by multigrid. */
#include <stdio.h>
#include <stdlib.h>

#include "backend.h"
#include "commands.h"
#include "grid_file.h"
#include "interrupt.h"
#include "message.h"
#include "poisson.h"
#include "progress.h"
#include "ranks.h"

static int write_outputs(const poisson_options *o, const poisson_problem *problem,
                         const poisson_outcome *outcome, const double *x, output_file *solution) {
  if (solution->stream && output_is_finite(o->output, x, (size_t)o->width * (size_t)o->height)) {
    char comment[300];
    snprintf(comment, sizeof comment,
             "texsolve %s poisson, backend %s: %s, relative residual %.3g; lowest row first", ts_version(),
             outcome->context.backend, poisson_how_it_ended(outcome), outcome->rounded_residual);
    progress_begin("writing %.50s", o->output);
    grid_file_write(solution, o->output, comment, o->width, o->height, x);
    if (output_commit(solution)) return -1;
  }
  progress_clear();
  if (o->json) return poisson_report_json(o, problem, outcome);
  if (!o->quiet) poisson_report_text(o, problem, outcome);
  return message_flush_stdout();
}

/* Suggests a remedy. */
static const char *hint(const poisson_options *o, const poisson_outcome *outcome) {
  switch (outcome->reason) {
  case TS_REASON_MAX_ITERATIONS:
    return o->cg ? " (hint: try a larger --max-cycles)" : " (hint: try a larger --max-cycles, or --cg)";
  case TS_REASON_STAGNATED:
  case TS_REASON_DIVERGED:
    if (o->precision == TS_PRECISION_SINGLE) return " (hint: try --precision auto, or a larger --rtol)";
    return o->cg ? " (hint: try a larger --rtol)" : " (hint: try --cg, or a larger --rtol)";
  default:
    return "";
  }
}

int cmd_poisson(int argc, char **argv) {
  poisson_options options;
  ranks_begin();
  poisson_parse(argc, argv, &options);
  if (ranks_are_several()) return ranks_refuse("poisson");
  message_set_quiet(options.quiet);
  progress_enable(!options.quiet);

  static poisson_outcome outcome;
  output_file solution = {0};
  poisson_problem problem = {0};
  ts_context *context = NULL;
  double *x = NULL;
  int result = EXIT_ERROR;
  const char *const inputs[] = {options.rhs, options.coefficient, options.solid};
  if (output_is_input(options.output, inputs, 3)) goto end;
  if (options.output && output_open(&solution, options.output)) goto end;
  const ts_context_desc desc = {.backend = options.backend, .threads = options.threads};
  result = backend_open(&desc, options.verbosity, &context);
  if (result) goto end;
  result = EXIT_ERROR;
  if (poisson_check_grid(&options, context)) goto end;
  const double start = seconds_now();
  progress_begin("making the problem");
  if (poisson_make(&options, &problem)) goto end;
  outcome.seconds_make = seconds_now() - start;
  if (poisson_solve(&options, &problem, context, &outcome, &x)) goto end;
  if (write_outputs(&options, &problem, &outcome, x, &solution)) goto end;
  result = EXIT_CONVERGED;
  if (outcome.status != TS_OK) {
    message("%s%s%s", outcome.reason == TS_REASON_STOPPED ? "" : "not converged: ",
            outcome.message[0] ? outcome.message : ts_reason_text(outcome.reason), hint(&options, &outcome));
    result = EXIT_NOT_CONVERGED;
  }
end:
  progress_clear();
  ts_context_destroy(&context);
  poisson_free(&problem);
  free(x);
  output_discard(&solution);
  return interrupt_finish(result);
}
