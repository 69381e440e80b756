/* The report of `texsolve lcp`: a few lines, or one JSON object. */
#include <math.h>
#include <stdio.h>

#include "lcp.h"
#include "message.h"
#include "reports.h"

static const char *form_name(const lcp_problem *p) {
  switch (p->form) {
  case LCP_MATRIX_MARKET:
    return "matrix-market";
  case LCP_SICONOS:
    return "siconos";
  case LCP_FCLIB:
    return "fclib";
  }
  return "";
}

const char *lcp_how_it_ended(const lcp_outcome *outcome) {
  return outcome->status == TS_OK                      ? "converged"
         : outcome->result.reason == TS_REASON_STOPPED ? "stopped"
                                                       : "not converged";
}

void lcp_report_text(const lcp_options *options, const lcp_problem *p, const lcp_outcome *o) {
  const ts_lcp_result *r = &o->result;
  const int is_long = options->verbosity > 0;
  printf("problem     %s: %s, %d unknowns", message_safe(options->input), lcp_kind(p), (int)p->size);
  if (p->dimension > 1) printf(", %d contacts", (int)(p->size / p->dimension));
  if (is_long)
    printf("; %.1f %% of the matrix nonzero",
           100 * (double)p->matrix.nonzeros / ((double)p->size * (double)p->size));
  putchar('\n');
  printf("backend     %s: %s\n", o->context.backend, o->context.device);
  printf("method      Gauss-Seidel");
  if (is_long)
    printf(", scheme %s, %s storage, %s precision", ts_lcp_scheme_name(r->scheme),
           ts_lcp_storage_name(r->storage), ts_precision_name(o->precision));
  printf("\nresult      %s after ", lcp_how_it_ended(o));
  report_plural(r->sweeps, "sweep", "sweeps");
  if (is_long) printf(", %d host synchronisations", r->host_synchronisations);
  printf("\nresidual    %.3e = ||z - P(z - w)|| / ||q||, target %.3g\n", o->residual, options->rtol);
  if (isfinite(o->solution_distance))
    printf("solution    in the file: ||z - solution|| is %.3e of it; its own residual is %.3e\n",
           o->solution_distance, o->solution_residual);
  printf("seconds     read %.3f, set-up %.3f, solve %.3f\n", o->seconds_read, o->seconds_setup,
         o->seconds_solve);
  report_opengl(&o->context);
}

int lcp_report_json(const lcp_options *options, const lcp_problem *p, const lcp_outcome *o) {
  const ts_lcp_result *r = &o->result;
  json_t *const object = json_object();
  json_t *const seconds = json_object();
  int lost = 0;
#define PUT(where, key, value) lost |= json_object_set_new(where, key, value)
  PUT(object, "backend", json_string(o->context.backend));
  PUT(object, "device", json_string(o->context.device));
  PUT(object, "form", json_string(form_name(p)));
  PUT(object, "kind", json_string(lcp_kind_name(p)));
  PUT(object, "size", json_integer(p->size));
  PUT(object, "dimension", json_integer(p->dimension));
  PUT(object, "contacts", p->dimension > 1 ? json_integer(p->size / p->dimension) : json_null());
  PUT(object, "nonzeros", json_integer(p->matrix.nonzeros));
  PUT(object, "scheme", json_string(ts_lcp_scheme_name(r->scheme)));
  PUT(object, "storage", json_string(ts_lcp_storage_name(r->storage)));
  PUT(object, "local", p->dimension > 1 ? json_string(ts_lcp_local_name(options->local)) : json_null());
  PUT(object, "acceleration", json_string(ts_lcp_acceleration_name(options->acceleration)));
  PUT(object, "guess", p->guess ? json_integer(p->guess) : json_null());
  PUT(object, "precision", json_string(ts_precision_name(o->precision)));
  PUT(object, "rtol", report_number(options->rtol));
  PUT(object, "sweeps", json_integer(r->sweeps));
  PUT(object, "host_synchronisations", json_integer(r->host_synchronisations));
  PUT(object, "converged", json_boolean(o->status == TS_OK));
  PUT(object, "reason", json_string(ts_reason_text(r->reason)));
  PUT(object, "message", json_string(r->message[0] ? r->message : ts_reason_text(r->reason)));
  PUT(object, "norm_q", report_number(o->norm_q));
  PUT(object, "relative_residual", report_number(o->residual));
  PUT(object, "solver_relative_residual", report_number(r->relative_residual));
  PUT(object, "solution_distance", report_number(o->solution_distance));
  PUT(object, "solution_relative_residual", report_number(o->solution_residual));
  PUT(seconds, "read", report_number(o->seconds_read));
  PUT(seconds, "setup", report_number(o->seconds_setup));
  PUT(seconds, "solve", report_number(o->seconds_solve));
  PUT(object, "seconds", seconds);
#undef PUT
  return report_print(object, lost);
}
