/* A public function that creates, solves with or destroys several objects saves the application's OpenGL state
 * once, not for each of them. It restores the state around every function of the application, which may call
 * the library, and at its end. */
#include <GL/glew.h>

#include <texsolve/amg.h>
#include <texsolve/fluid.h>
#include <texsolve/lcp.h>
#include <texsolve/mesh.h>
#include <texsolve/operator.h>
#include <texsolve/system.h>

#include "common/core/core.h"
#include "gl_snapshot.h"
#include "helpers.h"
#include "mesh_samples.h"

enum { side = 24, n = side * side };

/* ---- Entries of the backend. Each one saves the state ---- */

static const tsi_ops *backend;
static tsi_ops counting;
static int entries;
static gl_snapshot before, after;

static ts_status count_enter(ts_context *context) {
  entries++;
  return backend->enter(context);
}

static ts_context *open_counted(void) {
  ts_context *context = test_open();
  if (!context) return NULL;
  backend = context->ops;
  counting = *backend;
  counting.enter = count_enter;
  context->ops = &counting;
  gl_snapshot_save(&before);
  return context;
}

static void close_counted(ts_context **context) {
  if (*context) (*context)->ops = backend;
  test_close(context);
}

static void same_state(const char *where) {
  CHECK_INT(glGetError(), GL_NO_ERROR);
  gl_snapshot_save(&after);
  gl_snapshot_compare(&before, &after, where);
}

/* A call that enters `expected` times. */
#define ENTERS(expected, call)                                                                                 \
  do {                                                                                                         \
    entries = 0;                                                                                               \
    call;                                                                                                      \
    test_context_label("%s", #call);                                                                           \
    CHECK_INT(entries, expected);                                                                              \
    same_state(#call);                                                                                         \
    test_context_label("%s", "");                                                                              \
  } while (0)
#define ONCE(context, call) ENTERS(1, CHECK_OK(context, call))

/* ---- Functions of the application ---- */

static int calls;

static int look(const ts_progress *progress, void *user) {
  (void)progress;
  (void)user;
  calls++;
  same_state("a progress function");
  return 0;
}

/* y = 4 x; its call of the library enters again. */
static ts_status multiply_by_four(void *user, ts_vector *y, const ts_vector *x) {
  (void)user;
  calls++;
  same_state("an operator");
  const ts_status status = ts_vector_axpby(y, ts_constant(4), x, ts_constant(0));
  same_state("a call of an operator");
  return status;
}

static ts_status copy(void *user, ts_vector *z, const ts_vector *r) {
  (void)user;
  calls++;
  same_state("a preconditioner");
  return ts_vector_copy(z, r);
}

/* ---- Objects ---- */

static void matrices_and_solvers(void) {
  ts_context *context = open_counted();
  if (!context) return;
  ref_matrix m = ref_grid(side, side);
  float *values = ref_values(n, 3, -1, 1);
  const ts_matrix_desc matrix = {.csr = ref_csr(&m), .keep_host_copy = 1};
  const ts_preconditioner_desc amg = {.kind = TS_PRECONDITIONER_AMG};
  const ts_solver_desc plain = {.preconditioner_kind = TS_PRECONDITIONER_AMG, .rtol = 1e-4},
                       watched = {.rtol = 1e-4, .progress = look};
  ts_matrix *A = NULL;
  ts_preconditioner *M = NULL;
  ts_solver *solver = NULL;
  ONCE(context, ts_matrix_create(context, &matrix, &A));
  ONCE(context, ts_matrix_set_values(A, &matrix.csr));
  ts_vector *b = make_vector(ts_matrix_get_row_space(A), 1, values),
            *x = make_vector(ts_matrix_get_row_space(A), 1, NULL);
  ONCE(context, ts_preconditioner_create(A, &amg, &M));
  ONCE(context, ts_preconditioner_update(M));
  ENTERS(1, ts_preconditioner_destroy(&M));
  ONCE(context, ts_solver_create(A, &plain, &solver));
  ONCE(context, ts_solver_solve(solver, b, x, NULL));
  ENTERS(1, ts_solver_destroy(&solver));
  ONCE(context, ts_solver_create(A, &watched, &solver));
  CHECK_OK(context, ts_vector_fill(x, 0));
  calls = 0;
  ENTERS(1 + calls, CHECK_OK(context, ts_solver_solve(solver, b, x, NULL)));
  CHECK(calls > 0);
  ENTERS(1, ts_solver_destroy(&solver));
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ENTERS(1, ts_matrix_destroy(&A));
  free(values);
  ref_free(&m);
  close_counted(&context);
}

static void functions_of_the_application(void) {
  ts_context *context = open_counted();
  if (!context) return;
  float *values = ref_values(n, 3, -1, 1);
  ts_space *space = make_space(context, n);
  ts_vector *b = make_vector(space, 1, values), *x = make_vector(space, 1, NULL);
  const ts_operator_desc four = {.apply = multiply_by_four, .symmetric = 1};
  const ts_preconditioner_desc identity = {.kind = TS_PRECONDITIONER_CUSTOM, .apply = copy, .symmetric = 1};
  ts_matrix *A = NULL;
  ts_preconditioner *M = NULL;
  ts_solver *solver = NULL;
  CHECK_OK(context, ts_operator_create(space, space, &four, &A));
  CHECK_OK(context, ts_preconditioner_create(A, &identity, &M));
  const ts_solver_desc desc = {.rtol = 1e-4, .preconditioner = M};
  CHECK_OK(context, ts_solver_create(A, &desc, &solver));
  calls = 0;
  /* Every function is left once, and enters once itself. */
  ENTERS(1 + 2 * calls, CHECK_OK(context, ts_solver_solve(solver, b, x, NULL)));
  CHECK(calls > 1);
  ts_solver_destroy(&solver);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_space_destroy(&space);
  free(values);
  close_counted(&context);
}

static void fluids(void) {
  ts_context *context = open_counted();
  if (!context) return;
  ts_fluid_parameters parameters;
  ts_fluid_default_parameters(&parameters);
  parameters.pressure = (ts_solver_desc){.method = TS_METHOD_CG};
  parameters.viscosity = 1e-3;
  const ts_fluid_desc plain = {.width = 32, .height = 32},
                      more = {.width = 32, .height = 32, .parameters = &parameters};
  unsigned char solid[32 * 32] = {0};
  solid[500] = solid[501] = 1;
  for (int k = 0; k < 2; k++) {
    ts_fluid *fluid = NULL;
    ONCE(context, ts_fluid_create(context, k ? &more : &plain, &fluid));
    ONCE(context, ts_fluid_splat(fluid, 0.5, 0.5, 0.1, (const float[]){1, 0}, NULL, 0));
    ONCE(context, ts_fluid_step(fluid, 0, NULL));
    ONCE(context, ts_fluid_step(fluid, TS_FLUID_MEASURE_DIVERGENCE | TS_FLUID_MEASURE_TIMES, NULL));
    ONCE(context, ts_fluid_set_walls(fluid, solid, NULL));
    ONCE(context, ts_fluid_set_particles(fluid, 8, 8, 0));
    ONCE(context, ts_fluid_reset(fluid));
    ENTERS(1, ts_fluid_destroy(&fluid));
  }
  close_counted(&context);
}

static void multigrids(void) {
  ts_context *context = open_counted();
  if (!context) return;
  const ts_poisson_desc desc = {.width = 32, .height = 32, .spacing = 1};
  float *values = calloc(9 * POINTS(&desc), sizeof *values);
  ts_space *grid = NULL;
  ts_matrix *A = NULL;
  ts_multigrid *mg = NULL;
  CHECK_OK(context, ts_poisson_stencil(context, &desc, ts_host(values, 9 * POINTS(&desc))));
  CHECK_OK(context, ts_grid_create(context, &(ts_grid_desc){.width = 32, .height = 32}, &grid));
  ONCE(context, ts_stencil_create(grid, stencil_over(grid, values), &A));
  ONCE(context, ts_multigrid_create(A, NULL, &mg));
  ONCE(context, ts_multigrid_update(mg));
  ENTERS(1, ts_multigrid_destroy(&mg));
  ts_matrix_destroy(&A);
  ts_space_destroy(&grid);
  free(values);
  close_counted(&context);
}

static void meshes(void) {
  ts_context *context = open_counted();
  if (!context) return;
  mesh_sample m = mesh_sphere(2);
  const ts_mesh_flow_desc desc = {.vertices = m.vertices, .triangles = m.triangles, .triangle_vertices = m.t};
  const ts_vector_desc three = {.components = 3};
  ts_mesh_flow *flow = NULL;
  ts_vector *x = NULL;
  ONCE(context, ts_mesh_flow_create(context, &desc, &flow));
  CHECK_OK(context, ts_vector_create(ts_mesh_flow_get_space(flow), &three, &x));
  CHECK_OK(context, ts_vector_write(x, ts_host(m.x, 3 * (size_t)m.vertices)));
  ONCE(context, ts_mesh_flow_step(flow, x, 1e-3, NULL));
  ONCE(context, ts_mesh_flow_set_solver(flow, NULL));
  ENTERS(1, ts_mesh_flow_destroy(&flow));
  ts_vector_destroy(&x);
  mesh_free(&m);
  close_counted(&context);
}

static void complementarity(void) {
  ts_context *context = open_counted();
  if (!context) return;
  const double matrix[] = {2, 1, 1, 2}, numbers[] = {-3, 1};
  const ts_lcp_desc desc = {.size = 2, .matrix = HOST(matrix)};
  ts_lcp *lcp = NULL;
  ts_vector *q = NULL, *z = NULL;
  ONCE(context, ts_lcp_create(context, &desc, &lcp));
  CHECK_OK(context, ts_vector_create(ts_lcp_get_space(lcp), NULL, &q));
  CHECK_OK(context, ts_vector_create(ts_lcp_get_space(lcp), NULL, &z));
  CHECK_OK(context, ts_vector_write(q, HOST(numbers)));
  ONCE(context, ts_lcp_set_matrix(lcp, &desc));
  ONCE(context, ts_lcp_solve(lcp, q, z, NULL, NULL));
  ENTERS(1, ts_lcp_destroy(&lcp));
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  close_counted(&context);
}

static void systems(void) {
  ts_context *context = open_counted();
  if (!context) return;
  const ts_system_desc desc = {.unknowns = 40};
  const ts_system_solve_desc watched = {.solver = {.rtol = 1e-4, .progress = look}};
  ts_system *s = NULL;
  CHECK_OK(context, ts_system_create(context, &desc, &s));
  CHECK_OK(context, ts_system_begin(s));
  for (int32_t i = 0; i < 40; i++) {
    const int32_t unknowns[] = {i, (i + 1) % 40, (i + 39) % 40};
    CHECK_OK(context, ts_system_row(s, 3, unknowns, (const double[]){3, -1, -1}, (const double[]){1}, 1));
  }
  CHECK_OK(context, ts_system_end(s));
  calls = 0;
  ENTERS(1 + calls, CHECK_OK(context, ts_system_solve(s, &watched, NULL)));
  CHECK(calls > 0);
  ENTERS(1, ts_system_destroy(&s));
  close_counted(&context);
}

TEST_MAIN(CASES(matrices_and_solvers, functions_of_the_application, fluids, multigrids, meshes, complementarity,
                systems))
