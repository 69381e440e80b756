/* The smoothest curve through three points, by least squares, on the backend given as the first argument:
 * spline gl */
#include <stdio.h>
#include <texsolve/system.h>

int main(int argc, char **argv) {
  enum { N = 41 };
  const double bend[] = {1, -2, 1}, heights[] = {0, 1, 0};
  const ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  const ts_system_desc curve = {.unknowns = N, .least_squares = 1};
  const ts_system_solve_desc precise = {.solver.rtol = 1e-6};
  ts_context *context = NULL;
  ts_system *system = NULL;
  ts_system_result result;
  double x[N];

  ts_status status = ts_context_create(&device, &context);
  if (status == TS_OK) status = ts_system_create(context, &curve, &system);
  for (int k = 0; k < 3 && status == TS_OK; k++) { /* points 0, 20 and 40 are fixed */
    status = ts_system_set_value(system, 20 * k, &heights[k]);
    if (status == TS_OK) status = ts_system_lock(system, 20 * k);
  }
  if (status == TS_OK) status = ts_system_begin(system);
  /* x_i - 2 x_i+1 + x_i+2 = 0 in the least-squares sense */
  for (int32_t i = 0; i + 2 < N && status == TS_OK; i++)
    status = ts_system_row(system, 3, (const int32_t[]){i, i + 1, i + 2}, bend, NULL, 1);
  if (status == TS_OK) status = ts_system_end(system);
  if (status == TS_OK) status = ts_system_solve(system, &precise, &result);
  if (status == TS_OK) status = ts_system_get_values(system, ts_host(x, N));
  if (status == TS_OK)
    printf("x_10 = %.3f, x_20 = %.0f, x_30 = %.3f by %s\n", x[10], x[20], x[30], ts_method_name(result.method));
  else
    fprintf(stderr, "spline: %s\n", status > 0 ? result.message : ts_last_error(context));
  ts_system_destroy(&system);
  ts_context_destroy(&context);
  return status != TS_OK;
}
