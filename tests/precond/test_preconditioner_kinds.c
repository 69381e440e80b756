/* Every kind of preconditioner in one table: its properties, its cost and the consequences of the cost. Also
 * the choice of auto if AMG cannot be used. */
#include <texsolve/amg.h>
#include <texsolve/solver.h>

#include "common/core/core.h"
#include "krylov_solve.h"
#include "grid_samples.h"
#include "grid_solve.h"

static ts_context *context;

static ts_matrix *make_with_copy(const ref_matrix *m, int keep_host_copy) {
  const ts_matrix_desc desc = {.csr = ref_csr(m), .keep_host_copy = keep_host_copy};
  ts_matrix *matrix = NULL;
  CHECK_OK(context, ts_matrix_create(context, &desc, &matrix));
  return matrix;
}

/* M = I as a custom preconditioner. */
static ts_status copy(void *user, ts_vector *z, const ts_vector *r) {
  (void)user;
  return ts_vector_copy(z, r);
}

/* ---- Properties and costs ---- */

typedef struct cost {
  ts_preconditioner_desc desc;
  double products; /* per application */
} cost;

static void check_info(ts_preconditioner *M, const cost *c) {
  const ts_preconditioner_info info = preconditioner_info(M);
  CHECK_INT(info.kind, c->desc.kind);
  CHECK(info.choice[0] == 0);
  CHECK_CLOSE(info.products, c->products, 1e-12 * c->products);
  CHECK((info.operations > 0) == (info.products > 0));
  CHECK(info.sums == c->desc.sums);
  CHECK(info.symmetric == 1);
  CHECK(info.seconds_setup >= 0);
}

/* An application does not change r and writes all of z. cg accepts each kind. */
static void check_use(ts_matrix *A, ts_preconditioner *M) {
  ts_space *space = ts_matrix_get_row_space(A);
  float *ones = ref_values((size_t)ts_space_get_size(space), 1, 1, 1);
  ts_vector *r = make_vector(space, 1, ones), *z = make_vector(space, 1, ones),
            *x = make_vector(space, 1, NULL);
  ts_result result = {0};
  CHECK_OK(context, ts_preconditioner_update(M));
  CHECK_OK(context, ts_preconditioner_apply(M, z, r));
  float *zs = read_vector(z), *rs = read_vector(r);
  for (size_t i = 0; i < vector_count(z); i++) CHECK(zs[i] > 0 && rs[i] == 1);
  CHECK_OK(context,
           solve_vectors(A, r, x, &(ts_solver_desc){.method = TS_METHOD_CG, .preconditioner = M}, &result));
  CHECK(result.relative_residual <= 1e-5);
  free(zs), free(rs), free(ones);
  ts_vector_destroy(&r);
  ts_vector_destroy(&z);
  ts_vector_destroy(&x);
}

static void check_kind(ts_matrix *A, const cost *c) {
  test_context_label("%s", ts_preconditioner_kind_name(c->desc.kind));
  ts_preconditioner *M = make_preconditioner(A, &c->desc);
  if (!M) return;
  check_info(M, c);
  check_use(A, M);
  check_info(M, c);
  ts_solver *solver = NULL;
  CHECK_OK(context, ts_solver_create(A, &(ts_solver_desc){.preconditioner = M}, &solver));
  CHECK(ts_solver_get_preconditioner(solver) == M);
  ts_solver_destroy(&solver);
  ts_preconditioner_destroy(&M);
}

/* 143 rows: 35 blocks of 4 and one of 3. ISAI multiplies by both triangles. AMG has only a dense inverse. */
static void kinds(void) {
  ref_matrix m = ref_grid(13, 11);
  ts_matrix *A = make_with_copy(&m, 1);
  const double entries = (double)matrix_info(A).nonzeros;
  const cost costs[] = {
      {{.kind = TS_PRECONDITIONER_NONE}, 0},
      {{.kind = TS_PRECONDITIONER_JACOBI}, 0},
      {{.kind = TS_PRECONDITIONER_BLOCK_JACOBI, .block_size = 4}, (35 * 16 + 9) / entries},
      {{.kind = TS_PRECONDITIONER_CHEBYSHEV}, 3},
      {{.kind = TS_PRECONDITIONER_CHEBYSHEV, .degree = 7}, 6},
      {{.kind = TS_PRECONDITIONER_ISAI}, (entries + 143) / entries},
      {{.kind = TS_PRECONDITIONER_AMG}, 143 * 143 / entries},
      {{.kind = TS_PRECONDITIONER_CUSTOM, .apply = copy, .symmetric = 1, .products = 2.5, .sums = 3}, 2.5}};
  for (size_t k = 0; A && k < sizeof costs / sizeof *costs; k++) check_kind(A, &costs[k]);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* Two smoothing steps and a residual on 65 x 65 and on 33 x 33 points, then an exact solution on 17 x 17. */
static void cycle(void) {
  if (!context->caps.grid_storages) return;
  grid_sample sample = grid_poisson(&(grid_problem){65, 65, "DDDD", NULL, NULL, 0});
  ts_matrix *A = make_stencil(context, &sample);
  ts_multigrid *mg = make_multigrid(A, NULL);
  const double points[] = {65 * 65, 33 * 33, 17 * 17};
  const cost c = {{.kind = TS_PRECONDITIONER_MULTIGRID, .multigrid = mg},
                  3 + 3 * points[1] / points[0] + points[2] / 5 * points[2] / points[0]};
  ts_preconditioner *M = make_cycle(mg);
  if (M) check_info(M, &c);
  ts_preconditioner_destroy(&M);
  ts_multigrid_destroy(&mg);
  ts_matrix_destroy(&A);
  grid_free(&sample);
}

/* Coarse levels have fewer entries, but they count: a cycle costs more than its first level. */
static void hierarchy(void) {
  ref_matrix m = ref_grid(60, 50);
  ts_matrix *A = make_with_copy(&m, 1);
  ts_preconditioner *M = make_preconditioner(A, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_AMG});
  ts_amg_info amg = {0};
  CHECK_OK(context, ts_preconditioner_get_amg_info(M, &amg));
  const ts_preconditioner_info info = preconditioner_info(M);
  CHECK(amg.levels > 1);
  CHECK(info.products > 4 && info.products < 60);
  CHECK(info.operations > 15);
  CHECK(info.bytes_device >= amg.bytes_device);
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* ---- Consequences of the cost ---- */

static int count(const ts_progress *progress, void *user) {
  (void)progress;
  return ++*(int *)user, 0;
}

static ts_result solve_at_cost(ts_matrix *A, double products, int *checks) {
  const ts_preconditioner_desc desc = {
      .kind = TS_PRECONDITIONER_CUSTOM, .apply = copy, .symmetric = 1, .products = products};
  ts_preconditioner *M = make_preconditioner(A, &desc);
  float *bs = ref_values((size_t)matrix_info(A).rows, 5, -1, 1);
  ts_vector *b = make_vector(ts_matrix_get_row_space(A), 1, bs),
            *x = make_vector(ts_matrix_get_row_space(A), 1, NULL);
  const ts_solver_desc how = {
      .method = TS_METHOD_CG, .preconditioner = M, .progress = count, .progress_user = checks};
  ts_result result = {0};
  *checks = 0;
  CHECK_OK(context, solve_vectors(A, b, x, &how, &result));
  free(bs);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_preconditioner_destroy(&M);
  return result;
}

/* If a function is declared expensive, the solver uses double precision and checks every iteration. */
static void consequences(void) {
  ref_matrix m = ref_grid(20, 21);
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  int few, many;
  const ts_result cheap = solve_at_cost(A, 0, &few), costly = solve_at_cost(A, 20, &many);
  CHECK(cheap.precision_iterations[TS_PRECISION_SINGLE] > 0);
  CHECK_INT(cheap.precision_iterations[TS_PRECISION_DOUBLE], 0);
  CHECK(costly.precision_iterations[context->caps.pairs ? TS_PRECISION_DOUBLE : TS_PRECISION_SINGLE] ==
        costly.iterations);
  printf("  %d checks of %d iterations, %d of %d\n", few, cheap.iterations, many, costly.iterations);
  CHECK_INT(many, costly.iterations);
  CHECK(context->tuning.check_interval > 1 ? few < many / 2 : few >= many - 2);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

/* ---- Auto without alternatives ---- */

static void check_auto(ts_matrix *A, ts_solver_desc desc, ts_preconditioner_kind kind, const char *why) {
  ts_solver *solver = NULL;
  test_context_label("%s", why);
  CHECK_OK(context, ts_solver_create(A, &desc, &solver));
  const ts_preconditioner_info info = preconditioner_info(ts_solver_get_preconditioner(solver));
  CHECK_INT(info.kind, kind);
  CHECK(strstr(info.choice, why) != NULL);
  ts_solver_destroy(&solver);
}

/* cgls uses Jacobi without a host copy. */
static void without_choice(void) {
  ref_matrix m = ref_grid(9, 8), wide = ref_dense(3, 5, 1), t = ref_transpose(&wide), broken = ref_grid(9, 8);
  for (int32_t k = broken.offsets[5]; k < broken.offsets[6]; k++)
    if (broken.indices[k] == 5) broken.values[k] = 0;
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO),
            *rectangular = make_matrix(context, &wide, TS_FORMAT_AUTO),
            *zero = make_matrix(context, &broken, TS_FORMAT_AUTO);
  check_auto(A, (ts_solver_desc){0}, TS_PRECONDITIONER_JACOBI, "72 rows, less than 8192");
  check_auto(A, (ts_solver_desc){.fixed_iterations = 3}, TS_PRECONDITIONER_JACOBI,
             "the number of iterations is fixed");
  check_auto(zero, (ts_solver_desc){.method = TS_METHOD_BICGSTAB}, TS_PRECONDITIONER_NONE, "none: ");
  check_auto(zero, (ts_solver_desc){0}, TS_PRECONDITIONER_JACOBI, "the method is minres");
  if (!context->ops->ranks) /* over several processes only a host copy is transposed */
    check_auto(rectangular, (ts_solver_desc){.method = TS_METHOD_CGLS}, TS_PRECONDITIONER_JACOBI,
               "the method is cgls");
  for (int keep = -1; keep < 2; keep += 2) {
    const ts_matrix_desc transposed = {.csr = ref_csr(&t),
                                       .row_space = ts_matrix_get_column_space(rectangular),
                                       .column_space = ts_matrix_get_row_space(rectangular),
                                       .keep_host_copy = keep};
    ts_matrix *At = NULL;
    CHECK_OK(context, ts_matrix_create(context, &transposed, &At));
    check_auto(rectangular, (ts_solver_desc){.transposed = At}, TS_PRECONDITIONER_JACOBI, "the method is lsmr");
    ts_matrix_destroy(&At);
  }
  CHECK(ts_solver_get_preconditioner(NULL) == NULL);
  ts_matrix_destroy(&A);
  ts_matrix_destroy(&rectangular);
  ts_matrix_destroy(&zero);
  ref_free(&m), ref_free(&wide), ref_free(&t), ref_free(&broken);
}

static void stencil(void) {
  if (!context->caps.grid_storages) return;
  grid_sample sample = grid_poisson(&(grid_problem){12, 9, "DNND", NULL, NULL, 0});
  ts_matrix *A = make_stencil(context, &sample);
  ts_preconditioner *M = NULL;
  check_auto(A, (ts_solver_desc){0}, TS_PRECONDITIONER_JACOBI, "the matrix is a stencil");
  CHECK_FAILS(context,
              ts_preconditioner_create(A, &(ts_preconditioner_desc){.kind = TS_PRECONDITIONER_AMG}, &M),
              TS_ERROR_UNSUPPORTED, "the matrix is a stencil, which amg does not support");
  ts_matrix_destroy(&A);
  grid_free(&sample);
}

/* The matrix keeps its copy if auto becomes AMG. Otherwise the reason is reported. */
static void host_copies(void) {
  ref_matrix large = ref_graph(50, 400), wide = ref_graph(130, 130);
  ts_csr csr;
  if (context->device_ops->arrays) /* a device that creates layouts needs no copies */
    CHECK_OK(context, ts_context_set_tuning(context, "device_entries", 1e15));
  CHECK_OK(context, ts_context_set_tuning(context, "amg_couplings", 256)); /* depends on the backend */
  CHECK_OK(context, ts_context_set_tuning(context, "diagonals_part", 1));  /* likewise */
  ts_matrix *matrices[] = {make_with_copy(&large, 0), make_with_copy(&large, -1), make_with_copy(&wide, 0)};
  check_auto(matrices[0], (ts_solver_desc){0}, TS_PRECONDITIONER_AMG, ", at least 256");
  check_auto(matrices[1], (ts_solver_desc){0}, TS_PRECONDITIONER_JACOBI, "no host copy");
  check_auto(matrices[2], (ts_solver_desc){0}, TS_PRECONDITIONER_JACOBI, ", less than 256");
  CHECK_OK(context, ts_matrix_get_host_copy(matrices[0], &csr));
  CHECK_FAILS(context, ts_matrix_get_host_copy(matrices[1], &csr), TS_ERROR_INVALID_ARGUMENT, "keep_host_copy");
  for (int k = 0; k < 3; k++) ts_matrix_destroy(&matrices[k]);
  ref_free(&large), ref_free(&wide);
}

/* ---- Refusals ---- */

#define INVALID(call, ...) CHECK_FAILS(context, call, TS_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static void errors(void) {
  ref_matrix m = ref_grid(6, 6);
  ts_matrix *A = make_matrix(context, &m, TS_FORMAT_AUTO);
  ts_preconditioner *M = NULL;
  ts_preconditioner_desc desc = {.kind = TS_PRECONDITIONER_CUSTOM, .apply = copy, .products = -1};
  INVALID(ts_preconditioner_create(A, &desc, &M), "products is -1");
  desc.products = NAN;
  INVALID(ts_preconditioner_create(A, &desc, &M), "products is");
  desc.products = 0, desc.sums = -2;
  INVALID(ts_preconditioner_create(A, &desc, &M), "sums is -2");
  INVALID(ts_preconditioner_create(A, &(ts_preconditioner_desc){.products = 1}, &M), "products is set",
          "kind is auto");
  CHECK(M == NULL);
  ts_preconditioner_info info;
  M = make_preconditioner(A, NULL);
  INVALID(ts_preconditioner_get_info(M, NULL), "info is NULL");
  CHECK_FAILS(NULL, ts_preconditioner_get_info(NULL, &info), TS_ERROR_INVALID_ARGUMENT,
              "preconditioner is NULL");
  ts_preconditioner_destroy(&M);
  ts_matrix_destroy(&A);
  ref_free(&m);
}

TEST_MAIN(CASES_IN_CONTEXT(kinds, cycle, hierarchy, consequences, without_choice, stencil, host_copies, errors))
