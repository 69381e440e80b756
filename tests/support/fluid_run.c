#include "fluid_run.h"

const fluid_solver fluid_solvers[FLUID_SOLVERS] = {
    {"multigrid", TS_METHOD_RICHARDSON, TS_PRECONDITIONER_MULTIGRID},
    {"multigrid-cg", TS_METHOD_CG, TS_PRECONDITIONER_MULTIGRID},
    {"cg", TS_METHOD_CG, TS_PRECONDITIONER_JACOBI},
    {"jacobi", TS_METHOD_RICHARDSON, TS_PRECONDITIONER_JACOBI}};

void fluid_use(fluid_run *run, int solver) {
  run->parameters.pressure.method = fluid_solvers[solver].method;
  run->parameters.pressure.preconditioner_kind = fluid_solvers[solver].preconditioner_kind;
}

fluid_run fluid_make(ts_fluid_desc desc) {
  fluid_run run = {.desc = desc};
  ts_fluid_default_parameters(&run.parameters);
  return run;
}

int fluid_open(fluid_run *run, ts_context *context) {
  run->context = context;
  if (!run->desc.parameters) run->desc.parameters = &run->parameters;
  const ts_status status = ts_fluid_create(context, &run->desc, &run->fluid);
  run->desc.parameters = NULL; /* a fluid_run may be moved in memory */
  if (!CHECK_OK(context, status)) return 0;
  ts_fluid_info info;
  CHECK_OK(context, ts_fluid_get_info(run->fluid, &info));
  run->h = info.cell_size;
  return 1;
}

int fluid_steps(fluid_run *run, int count, int measure) {
  for (int k = 0; k < count; k++)
    if (!CHECK_OK(run->context, ts_fluid_step(run->fluid, measure, &run->result))) return 0;
  return 1;
}

void fluid_close(fluid_run *run) {
  ts_fluid_destroy(&run->fluid);
}

int fluid_place(const fluid_run *run, int i, int j, int c, double *x, double *y) {
  const int w = run->desc.width, h = run->desc.height;
  const int staggered = run->desc.layout != TS_FLUID_LAYOUT_COLLOCATED;
  *x = run->h * (i + (staggered && c == 0 ? 0 : 0.5));
  *y = run->h * (j + (staggered && c == 1 ? 0 : 0.5));
  if (!staggered) return i < w && j < h;
  return c == 0 ? j < h : i < w;
}

void fluid_write_velocity(fluid_run *run, fluid_function f) {
  const int w = run->desc.width + 1, h = run->desc.height + 1;
  ts_vector *velocity = ts_fluid_get_velocity(run->fluid);
  float *values = read_vector(velocity);
  double x, y;
  for (int k = 0; k < 2 * w * h; k++)
    if (fluid_place(run, k / 2 % w, k / 2 / w, k % 2, &x, &y)) values[k] = (float)f(x, y, k % 2);
  CHECK_OK(run->context, ts_vector_write(velocity, ts_host(values, 2 * (size_t)w * (size_t)h)));
  free(values);
  /* Setting the same walls again restores fixed velocities. */
  CHECK_OK(run->context, ts_fluid_set_walls(run->fluid, run->desc.solid, run->desc.solid_velocity));
}

static double cell_centre(const fluid_run *run, int number) {
  return run->h * ((double)number + 0.5);
}

void fluid_write_dye(fluid_run *run, fluid_function f) {
  const int w = run->desc.width, h = run->desc.height;
  const size_t count = 4 * (size_t)w * (size_t)h;
  float *values = malloc(count * sizeof *values), *next = values;
  if (!CHECK(values != NULL)) return;
  for (int j = 0; j < h; j++)
    for (int i = 0; i < w; i++)
      for (int c = 0; c < 4; c++) *next++ = (float)f(cell_centre(run, i), cell_centre(run, j), c);
  CHECK_OK(run->context, ts_vector_write(ts_fluid_get_dye(run->fluid), ts_host(values, count)));
  free(values);
}

double fluid_velocity_error(fluid_run *run, fluid_function f) {
  const int w = run->desc.width + 1, h = run->desc.height + 1;
  float *values = read_vector(ts_fluid_get_velocity(run->fluid));
  double sum = 0, x, y;
  int count = 0;
  for (int k = 0; k < 2 * w * h; k++)
    if (fluid_place(run, k / 2 % w, k / 2 / w, k % 2, &x, &y)) {
      sum += pow((double)values[k] - f(x, y, k % 2), 2);
      count++;
    }
  free(values);
  return sqrt(sum / count);
}

double fluid_dye_error(fluid_run *run, fluid_function f) {
  const int w = run->desc.width, h = run->desc.height;
  float *values = read_vector(ts_fluid_get_dye(run->fluid));
  const float *next = values;
  double sum = 0;
  for (int j = 0; j < h; j++)
    for (int i = 0; i < w; i++, next += 4)
      sum += pow((double)*next - f(cell_centre(run, i), cell_centre(run, j), 0), 2);
  free(values);
  return sqrt(sum / (w * h));
}
