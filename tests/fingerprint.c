/* Results that a change of structure must preserve. Each solve below prints a line "NAME WHAT=NUMBER,...": a
 * hash of the bits of its solution, its iterations, its host synchronisations, and with the check backend the
 * count of each operation. scripts/fingerprint compares them.
 *
 * fingerprint BACKEND [CASE...] */
#include <texsolve/solver.h>
#include <texsolve/mesh.h>
#include <texsolve/system.h>

#include "check/core/check.h"
#include "fluid_run.h"
#include "grid_solve.h"
#include "krylov_solve.h"
#include "mesh_run.h"
#include "poisson_samples.h"

static ts_context *context;

/* ---- Lines ---- */

/* FNV-1a, continuing the given hash. */
static uint64_t hash(uint64_t before, const void *data, size_t bytes) {
  const unsigned char *at = data;
  for (size_t k = 0; k < bytes; k++) before = (before ^ at[k]) * 1099511628211u;
  return before;
}

static uint64_t hash_vector(uint64_t before, const ts_vector *v) {
  float *values = read_vector(v);
  const uint64_t after = hash(before, values, vector_count(v) * sizeof *values);
  free(values);
  return after;
}

static const uint64_t hash_start = 14695981039346656037u;
static uint64_t waits_before;
static tsi_check_counts counted; /* of the last finished solve */

/* Starts counting. */
static void begin(void) {
  waits_before = context_info(context).host_synchronisations;
  if (tsi_check_counts_of(context)) *tsi_check_counts_of(context) = (tsi_check_counts){0};
}

/* Stops counting. Reads for the hash do not count. */
static uint64_t end(void) {
  if (tsi_check_counts_of(context)) counted = *tsi_check_counts_of(context);
  return context_info(context).host_synchronisations - waits_before;
}

static void print(uint64_t bits, int iterations, uint64_t waits) {
  printf(" bits=%016llx,iterations=%d,waits=%llu", (unsigned long long)bits, iterations,
         (unsigned long long)waits);
  if (tsi_check_counts_of(context)) {
    printf(",operations=%llu,longest=%llu", (unsigned long long)counted.operations,
           (unsigned long long)counted.longest);
    for (const tsi_check_operation *o = counted.each; o < counted.each + TSI_CHECK_OPERATIONS && o->name; o++)
      printf(",%s=%llu", o->name, (unsigned long long)o->times);
  }
  putchar('\n');
}

/* ---- Krylov methods ---- */

static const struct {
  const char *name;
  ts_preconditioner_kind kind;
} preconditioners[] = {{"none", TS_PRECONDITIONER_NONE}, {"jacobi", TS_PRECONDITIONER_JACOBI}};

enum { CG, CG_ONE_REDUCTION, BICGSTAB, GMRES, METHODS };
static const char *const methods[METHODS] = {"cg", "cg-one-reduction", "bicgstab", "gmres"};
enum { ITERATIONS = 60 };

static void solve_one(const char *name, ts_matrix *matrix, int32_t rows, ts_format format, int components) {
  const size_t count = (size_t)rows * (size_t)components;
  float *bs = ref_values(count, 41, -1, 1), *xs = malloc(count * sizeof *xs);
  for (int m = 0; m < METHODS; m++)
    for (int p = 0; p < 2; p++) {
      if (m == CG_ONE_REDUCTION && !has_one_reduction(context)) continue;
      ts_result result;
      const ts_solver_desc cg = {.preconditioner_kind = preconditioners[p].kind,
                                 .stop = p ? TS_STOP_RESIDUAL : TS_STOP_DELTA,
                                 .max_iterations = ITERATIONS,
                                 .reductions = m == CG_ONE_REDUCTION ? 1 : 2};
      const ts_solver_desc krylov = {.preconditioner_kind = preconditioners[p].kind,
                                     .max_iterations = ITERATIONS,
                                     .restart = m == GMRES ? 20 : 0};
      memset(xs, 0, count * sizeof *xs);
      begin();
      if (m <= CG_ONE_REDUCTION)
        krylov_solve(TS_METHOD_CG, matrix, &cg, components, bs, xs, &result);
      else
        krylov_solve(krylov_methods[m - BICGSTAB], matrix, &krylov, components, bs, xs, &result);
      end();
      printf("%s/%s/%d/%s/%s", name, ts_format_name(format), components, methods[m], preconditioners[p].name);
      print(hash(hash_start, xs, count * sizeof *xs), result.iterations,
            (uint64_t)result.host_synchronisations);
    }
  free(bs), free(xs);
}

static void krylov(void) {
  ts_format formats[8];
  const int format_count = list_formats(context, formats);
  struct {
    const char *name;
    ref_matrix matrix;
  } samples[] = {
      {"grid", ref_grid(33, 23)},
      {"uneven", ref_hubs(300, 200, 5)},
      {"dense-row", ref_arrow(150)},
      {"convection", ref_convection(17, 13, 10)},
      {"indefinite", ref_indefinite(9, 8)},
      {"large", ref_grid(190, 170)}}; /* several blocks of a reduction, texture rectangles, threads */
  for (size_t s = 0; s < sizeof samples / sizeof *samples; s++) {
    const int only_auto = samples[s].matrix.rows > 10000;
    for (int f = 0; f < (only_auto ? 1 : format_count); f++) {
      ts_matrix *matrix = make_matrix(context, &samples[s].matrix, formats[f]);
      const int most = s == 0 ? most_components(formats[f]) : 1;
      for (int components = 1; components <= most; components++)
        solve_one(samples[s].name, matrix, samples[s].matrix.rows, formats[f], components);
      ts_matrix_destroy(&matrix);
    }
    ref_free(&samples[s].matrix);
  }
}

static void least_squares_one(ts_matrix *matrix, ts_matrix *transposed, ts_format format, int p) {
  const ts_solver_desc desc = {.preconditioner_kind = preconditioners[p].kind, .max_iterations = ITERATIONS};
  ts_space *rows = ts_matrix_get_row_space(matrix), *columns = ts_matrix_get_column_space(matrix);
  float *bs = ref_values((size_t)ts_space_get_size(rows), 8, -1, 1);
  ts_vector *b = make_vector(rows, 1, bs), *x = make_vector(columns, 1, NULL);
  ts_solver *solver = NULL;
  ts_result result = {0};
  begin();
  CHECK_OK(context, create_cgls(matrix, transposed, &desc, &solver));
  CHECK(ts_solver_solve(solver, b, x, &result) >= 0);
  end();
  printf("rectangular/%s/1/cgls/%s", ts_format_name(format), preconditioners[p].name);
  print(hash_vector(hash_start, x), result.iterations, (uint64_t)result.host_synchronisations);
  ts_solver_destroy(&solver);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  free(bs);
}

static void least_squares(void) {
  ts_format formats[8];
  const int format_count = list_formats(context, formats);
  ref_matrix m = ref_uneven_rows(400, 90, 9, 5), t = ref_transpose(&m);
  for (int f = 0; f < format_count; f++) {
    ts_matrix *matrix = make_matrix(context, &m, formats[f]), *transposed = NULL;
    const ts_matrix_desc desc = {.csr = ref_csr(&t),
                                 .format = formats[f],
                                 .row_space = ts_matrix_get_column_space(matrix),
                                 .column_space = ts_matrix_get_row_space(matrix),
                                 .keep_host_copy = 1};
    CHECK_OK(context, ts_matrix_create(context, &desc, &transposed));
    for (int p = 0; p < 2; p++) least_squares_one(matrix, transposed, formats[f], p);
    ts_matrix_destroy(&matrix);
    ts_matrix_destroy(&transposed);
  }
  ref_free(&m), ref_free(&t);
}

/* ---- Systems: a curve through points, in two components, with one heavier condition ---- */

static void system_one(ts_method method, ts_normal normal, ts_order order, const char *name) {
  enum { N = 300, COMPONENTS = 2 };
  static const double bend[] = {1, -2.5, 1, 0.125};
  const ts_system_desc desc = {.unknowns = N, .components = COMPONENTS, .least_squares = 1};
  const ts_system_solve_desc how = {
      .solver.method = method, .normal = normal, .order = order, .solver.max_iterations = 200};
  ts_system *system = NULL;
  ts_system_result result = {0};
  double *values = calloc(N * COMPONENTS, sizeof *values);
  CHECK_OK(context, ts_system_create(context, &desc, &system));
  for (int k = 0; k < N; k += 60) {
    const double height[COMPONENTS] = {k % 7, k % 11};
    CHECK_OK(context, ts_system_set_value(system, k, height));
    CHECK_OK(context, ts_system_lock(system, k));
  }
  CHECK_OK(context, ts_system_begin(system));
  for (int32_t i = 0; i < N; i++) {
    const int32_t unknowns[] = {i, (i + 1) % N, (i + 2) % N, (int32_t)((i * 17L + 5) % N)};
    const double right[COMPONENTS] = {0.01 * (i % 5), 0};
    CHECK_OK(context, ts_system_row(system, 3 + i % 2, unknowns, bend, right, i % 50 ? 1 : 4));
  }
  CHECK_OK(context, ts_system_end(system));
  begin();
  CHECK(ts_system_solve(system, &how, &result) >= 0);
  end();
  CHECK_OK(context, ts_system_get_values(system, ts_host(values, N * COMPONENTS)));
  printf("system/%s", name);
  print(hash(hash_start, values, N * COMPONENTS * sizeof *values), result.iterations,
        (uint64_t)result.host_synchronisations);
  ts_system_destroy(&system);
  free(values);
}

static void systems(void) {
  system_one(TS_METHOD_AUTO, TS_NORMAL_AUTO, TS_ORDER_NATURAL, "auto");
  system_one(TS_METHOD_CG, TS_NORMAL_FORMED, TS_ORDER_RCM, "cg-rcm");
  system_one(TS_METHOD_CGLS, TS_NORMAL_APPLIED, TS_ORDER_NATURAL, "cgls");
  system_one(TS_METHOD_BICGSTAB, TS_NORMAL_FORMED, TS_ORDER_NATURAL, "bicgstab");
}

/* ---- Grids ---- */

static void poisson_one(const sample_objects *o, const ts_multigrid_desc *desc, int with_cg) {
  ts_multigrid *multigrid = NULL;
  int iterations = 0;
  begin();
  const ts_status status = ts_multigrid_create(o->A, desc, &multigrid);
  if (status == TS_ERROR_UNSUPPORTED) {
    puts(" unsupported");
    return;
  }
  CHECK_OK(context, status);
  if (with_cg) {
    ts_preconditioner *cycle = make_cycle(multigrid);
    const ts_solver_desc cg = {.preconditioner = cycle, .stop = TS_STOP_RESIDUAL, .max_iterations = 20};
    ts_solver *solver = make_cg(o->A, &cg);
    ts_result result = {0};
    CHECK(ts_solver_solve(solver, o->b, o->x, &result) >= 0);
    iterations = result.iterations;
    ts_solver_destroy(&solver);
    ts_preconditioner_destroy(&cycle);
  } else {
    ts_result result = {0};
    CHECK(ts_multigrid_solve(multigrid, o->b, o->x, &result) >= 0);
    iterations = result.iterations;
  }
  const uint64_t waits = end();
  print(hash_vector(hash_start, o->x), iterations, waits);
  ts_multigrid_destroy(&multigrid);
}

static void grid_one(const sample_desc *sample, ts_multigrid_desc desc, const char *name) {
  desc.rtol = 1e-5;
  desc.max_cycles = 12;
  for (int with_cg = 0; with_cg < 2; with_cg++) {
    poisson_sample poisson;
    sample_objects o;
    sample_make(sample, &poisson);
    if (sample_upload(context, &poisson, NULL, &o)) {
      printf("poisson/%s/", name);
      for (const char *c = sample->boundaries->name; *c; c++) putchar(*c == ' ' ? '-' : *c);
      printf("/%s", with_cg ? "cg" : "multigrid");
      poisson_one(&o, &desc, with_cg);
    }
    sample_destroy(&o);
    sample_free(&poisson);
  }
}

/* Even, odd and thin sizes, every boundary, samples at points and in cells. */
static void boundaries(void) {
  static const int32_t sizes[][2] = {{33, 33}, {65, 40}, {64, 3}};
  for (const sample_boundary_set *boundaries = sample_boundaries; boundaries->name; boundaries++)
    for (int k = 0; k < 3; k++) {
      const sample_desc sample = {.boundaries = boundaries,
                                  .centring = k == 1 ? TS_CENTRING_CELL : TS_CENTRING_VERTEX,
                                  .width = sizes[k][0],
                                  .height = sizes[k][1],
                                  .variable = k == 1,
                                  .sigma = k == 2 ? 0.5 : 0};
      char name[32];
      snprintf(name, sizeof name, "%dx%d", sizes[k][0], sizes[k][1]);
      grid_one(&sample, (ts_multigrid_desc){0}, name);
    }
}

/* Every smoother in every storage, and every cycle. */
static void smoothers(void) {
  const sample_desc sample = {
      .boundaries = sample_boundaries_named("mixed"), .width = 41, .height = 37, .variable = 1};
  for (int s = 1; ts_smoother_name((ts_smoother)s); s++)
    for (int storage = 1; ts_grid_storage_name((ts_grid_storage)storage); storage++) {
      char name[64];
      snprintf(name, sizeof name, "%s-%s", ts_smoother_name((ts_smoother)s),
               ts_grid_storage_name((ts_grid_storage)storage));
      grid_one(&sample, (ts_multigrid_desc){.smoother = (ts_smoother)s, .storage = (ts_grid_storage)storage},
               name);
    }
  for (int cycle = 0; ts_cycle_name((ts_cycle)cycle); cycle++) {
    char name[64];
    snprintf(name, sizeof name, "cycle-%s", ts_cycle_name((ts_cycle)cycle));
    grid_one(&sample,
             (ts_multigrid_desc){
                 .cycle = (ts_cycle)cycle, .full = cycle == 1, .interpolation = TS_INTERPOLATION_BILINEAR},
             name);
  }
  grid_one(&sample, (ts_multigrid_desc){.max_levels = 2, .coarsest_sweeps = 20}, "two-levels");
}

/* ---- Meshes ---- */

static void mesh_one(const char *name, mesh_sample mesh, ts_mesh_flow_desc desc) {
  mesh_run r = {0};
  int iterations = 0;
  uint64_t waits = 0;
  begin();
  if (mesh_run_open(&r, context, mesh, desc)) {
    for (int k = 0; k < 2; k++) {
      ts_mesh_flow_result result = {0};
      CHECK(ts_mesh_flow_step(r.flow, r.x, 1e-3, &result) >= 0);
      iterations += result.iterations;
    }
    waits = end();
    printf("mesh/%s/%s", name, ts_format_name(desc.format));
    print(hash(hash_start, mesh_run_look(&r), 3 * (size_t)r.mesh.vertices * sizeof(float)), iterations, waits);
  }
  mesh_run_close(&r);
}

static void meshes(void) {
  ts_format formats[8];
  const int format_count = list_mesh_formats(context, formats);
  for (int f = 0; f < format_count; f++) {
    ts_mesh_flow_desc desc = {.format = formats[f]};
    mesh_one("sphere", mesh_sphere(2), desc);
    mesh_one("irregular-fixed", mesh_irregular(12, 1, 3), desc);
    desc.boundary = TS_MESH_BOUNDARY_FLOW;
    mesh_one("square-free", mesh_square(10), desc);
    desc.solver.max_iterations = 5;
    mesh_one("irregular-free-5", mesh_irregular(12, 0, 3), desc);
  }
}

/* ---- Fluids ---- */

static void fluid_one(const char *name, fluid_run run) {
  const ts_fluid_source source = {.x = 0.3f,
                                  .y = 0.3f,
                                  .half_width = 0.1f,
                                  .dye = {1, 0.5f, 0.25f},
                                  .temperature = 1,
                                  .sets_dye = 1,
                                  .sets_temperature = 1};
  const float push[2] = {2, 1};
  uint64_t bits = hash_start;
  begin();
  if (fluid_open(&run, context)) {
    CHECK_OK(context, ts_fluid_set_sources(run.fluid, &source, 1));
    CHECK_OK(context, ts_fluid_set_particles(run.fluid, 16, 8, 0.05));
    CHECK_OK(context, ts_fluid_splat(run.fluid, 0.5, 0.4, 0.1, push, NULL, 0));
    fluid_steps(&run, 3, TS_FLUID_MEASURE_DIVERGENCE);
    const uint64_t waits = end();
    ts_vector *const fields[] = {ts_fluid_get_velocity(run.fluid), ts_fluid_get_pressure(run.fluid),
                                 ts_fluid_get_dye(run.fluid), ts_fluid_get_particles(run.fluid)};
    for (int k = 0; k < 4; k++) bits = hash_vector(bits, fields[k]);
    printf("fluid/%s", name);
    print(bits, run.result.iterations, waits);
  }
  fluid_close(&run);
}

static void fluids(void) {
  const fluid_run box = fluid_make((ts_fluid_desc){.width = 48, .height = 33});
  unsigned char solid[48 * 33] = {0};
  fluid_run run = box;
  for (int j = 12; j < 18; j++) memset(solid + 48 * j + 10, 1, 5);
  for (int solver = 0; solver < FLUID_SOLVERS; solver++) {
    fluid_use(&run, solver);
    fluid_one(fluid_solvers[solver].name, run);
  }
  run = box;
  run.desc.layout = TS_FLUID_LAYOUT_COLLOCATED;
  run.parameters.advection = TS_FLUID_ADVECTION_MACCORMACK;
  fluid_one("collocated-maccormack", run);
  run = box;
  run.desc.solid = solid;
  run.desc.left = (ts_fluid_boundary){TS_FLUID_BOUNDARY_WALL, {1, 0}};
  run.desc.right.kind = TS_FLUID_BOUNDARY_OUTLET;
  run.desc.top.kind = TS_FLUID_BOUNDARY_SLIP;
  run.parameters.advection = TS_FLUID_ADVECTION_MACCORMACK;
  run.parameters.viscosity = 1e-3;
  run.parameters.vorticity_confinement = 2;
  run.parameters.dye_decay = 1;
  fluid_one("channel", run);
  run = box;
  run.desc.left.kind = run.desc.right.kind = run.desc.bottom.kind = run.desc.top.kind =
      TS_FLUID_BOUNDARY_PERIODIC;
  run.parameters.buoyancy = 3;
  run.parameters.viscosity = 1e-3;
  fluid_one("periodic", run);
}

/* ---- The program ---- */

TEST_MAIN(CASES_IN_CONTEXT(krylov, least_squares, systems, boundaries, smoothers, meshes, fluids))
