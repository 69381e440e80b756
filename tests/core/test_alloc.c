/* Host memory runs out at the first, second, third, ... allocation of every call. The call reports it and frees
 * what it had allocated, and it succeeds when it is repeated with enough memory. */
#include <texsolve/amg.h>
#include <texsolve/fluid.h>
#include <texsolve/lcp.h>
#include <texsolve/mesh.h>
#include <texsolve/operator.h>
#include <texsolve/reorder.h>

#include "common/core/core.h"
#include "common/matrix/csr.h"
#include "grid_samples.h"
#include "heap.h"
#include "krylov_solve.h"
#include "mesh_samples.h"

static void contexts(void) {
  const ts_context_desc desc = heap_desc();
  int succeeded = 0;
  for (long n = 0; n < 1000 && !succeeded; n = heap_next(n)) {
    ts_context *context = NULL;
    memory.countdown = n;
    memory.failed = 0;
    test_context_label("allocation %ld", n);
    const ts_status status = ts_context_create(&desc, &context);
    memory.countdown = -1;
    if (memory.failed == 0) {
      succeeded = CHECK_INT(status, TS_OK);
      test_close(&context);
      CHECK_INT(memory.live, 0);
      if (!succeeded) return;
      break;
    }
    CHECK_FAILS(NULL, status, TS_ERROR_OUT_OF_HOST_MEMORY, "memory");
    CHECK(context == NULL);
    if (!CHECK_INT(memory.live, 0)) return;
    ts_context_destroy(&context);
  }
  CHECK(succeeded);
}

static ts_precision best_precision(const ts_context *context) {
  return context->caps.pairs ? TS_PRECISION_DOUBLE : TS_PRECISION_SINGLE;
}

static void spaces_vectors_scalars(void) {
  const ts_context_desc desc = heap_desc();
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  const ts_space_desc size = {.size = 5000};
  const ts_vector_desc three = {.components = 3};
  const ts_scalars_desc many = {.count = 100};
  ts_space *space = NULL;
  const ts_vector_desc doubles = {.components = 3, .precision = best_precision(context)};
  ts_vector *x = NULL, *y = NULL;
  ts_scalars *scalars = NULL;
  FAIL_EACH_CREATION(context, space, ts_space_create(context, &size, &space));
  FAIL_EACH_CREATION(context, x, ts_vector_create(space, &three, &x));
  FAIL_EACH_CREATION(context, y, ts_vector_create(space, &doubles, &y));
  FAIL_EACH_CREATION(context, scalars, ts_scalars_create(context, &many, &scalars));
  float *values = ref_values(15000, 1, -1, 1), *read = calloc(15000, sizeof *read), slot[4];
  FAIL_EACH_USE(context, ts_vector_write(x, ts_host(values, 15000)));
  FAIL_EACH_USE(context, ts_vector_read(x, ts_host(read, 15000)));
  CHECK(memcmp(values, read, 15000 * sizeof *values) == 0);
  FAIL_EACH_USE(context, ts_vector_scale(x, ts_constant(2)));
  FAIL_EACH_USE(context, ts_vector_dot(scalars, 7, x, x));
  FAIL_EACH_USE(context, ts_vector_max(scalars, 8, x));
  FAIL_EACH_USE(context, ts_vector_axpby(y, ts_constant(3), x, ts_constant(0)));
  FAIL_EACH_USE(context, ts_vector_dot(scalars, 9, y, y));
  FAIL_EACH_USE(context, ts_scalars_read(scalars, 7, ts_host(slot, 4)));
  CHECK_CLOSE(slot[1], 4 * ref_dot(5000, 3, 1, values, values, NULL), 0.05);
  free(values), free(read);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_scalars_destroy(&scalars);
  ts_space_destroy(&space);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

static void matrices(void) {
  const ts_context_desc desc = heap_desc();
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  ts_format formats[8];
  const int format_count = list_formats(context, formats);
  ref_matrix samples[] = {ref_grid(20, 20), ref_dense_row(3000, 7, 3), ref_uneven_rows(300, 200, 30, 5)};
  unsigned char constrained[400] = {0, 1, 1};
  for (int s = 0; s < 3; s++) {
    /* The rows of the sample in descending order of columns, so that the library must make a sorted copy. */
    ref_matrix *m = &samples[s];
    for (int32_t i = 0; i < m->rows; i++)
      for (int32_t a = m->offsets[i], b = m->offsets[i + 1] - 1; a < b; a++, b--) {
        const int32_t column = m->indices[a];
        const float value = m->values[a];
        m->indices[a] = m->indices[b], m->values[a] = m->values[b];
        m->indices[b] = column, m->values[b] = value;
      }
    for (int f = 0; f < format_count; f++)
      for (int kind = 0; kind < 2; kind++) {
        ts_matrix_desc matrix_desc = {0};
        matrix_desc.csr = ref_csr(m);
        matrix_desc.format = formats[f];
        matrix_desc.keep_host_copy = kind;
        matrix_desc.constrained = kind && s == 0 ? constrained : NULL;
        ts_matrix *matrix = NULL;
        FAIL_EACH_CREATION(context, matrix, ts_matrix_create(context, &matrix_desc, &matrix));
        const ts_csr csr = ref_csr(m);
        if (matrix) FAIL_EACH_USE(context, ts_matrix_set_values(matrix, &csr));
        if (matrix) {
          ts_vector *x = make_vector(ts_matrix_get_column_space(matrix), 1, NULL);
          ts_vector *y = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
          FAIL_EACH_USE(context, ts_matrix_multiply(y, matrix, x));
          FAIL_EACH_USE(context, ts_matrix_residual(y, y, matrix, x));
          ts_vector_destroy(&x);
          ts_vector_destroy(&y);
        }
        ts_matrix_destroy(&matrix);
      }
    ref_free(m);
  }
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

static void solvers(void) {
  const ts_context_desc desc = heap_desc();
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  ref_matrix m = ref_grid(20, 20);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  float *bs = ref_values(800, 3, -1, 1);
  ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 2, bs), *x = NULL;
  x = make_vector(ts_matrix_get_row_space(matrix), 2, NULL);
  ts_solver *cg = NULL;
  const ts_precision precisions[2] = {TS_PRECISION_SINGLE, best_precision(context)};
  for (int p = 0; p < 2; p++) {
    const ts_solver_desc solver_desc = {.method = TS_METHOD_CG, .precision = precisions[p]};
    FAIL_EACH_CREATION(context, cg, ts_solver_create(matrix, &solver_desc, &cg));
    /* The first solve allocates the workspace. A solve that failed to get one can be repeated. */
    CHECK_OK(context, ts_vector_fill(x, 0));
    FAIL_EACH_USE(context, ts_solver_solve(cg, b, x, NULL));
    float *xs = read_vector(x);
    CHECK(ref_worst_residual(&m, NULL, 2, xs, bs) <= 1e-4);
    free(xs);
    ts_solver_destroy(&cg);
  }
  free(bs);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

static ts_status apply(void *user, ts_vector *y, const ts_vector *x) {
  return ts_matrix_multiply(y, user, x);
}

/* The transpose of a matrix without a host copy, and an operator that applies the matrix. */
static void transposed_and_operator(ts_context *context, ts_matrix *matrix) {
  ts_space *space = ts_matrix_get_row_space(matrix);
  ts_vector *x = make_vector(space, 1, NULL), *y = make_vector(space, 1, NULL),
            *d = make_vector(space, 1, NULL);
  CHECK_OK(context, ts_vector_fill(x, 1));
  CHECK_OK(context, ts_matrix_diagonal(d, matrix));
  FAIL_EACH_USE(context, ts_matrix_multiply_transposed(y, matrix, x));
  const ts_operator_desc desc = {.apply = apply, .user = matrix, .symmetric = 1, .diagonal = d};
  ts_matrix *A = NULL;
  FAIL_EACH_CREATION(context, A, ts_operator_create(space, space, &desc, &A));
  FAIL_EACH_USE(context, ts_matrix_multiply_transposed(y, A, x));
  FAIL_EACH_USE(context, ts_matrix_residual(y, x, A, x));
  FAIL_EACH_USE(context, ts_matrix_diagonal(y, A));
  ts_matrix_destroy(&A);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_vector_destroy(&d);
}

static void krylov_solvers(void) {
  const ts_context_desc desc = heap_desc();
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  ref_matrix m = test_is_brief() ? ref_convection(10, 10, 2) : ref_convection(20, 20, 2);
  ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
  float *bs = ref_values(800, 3, -1, 1);
  ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 2, bs);
  for (int k = 0; k < KRYLOV_METHODS; k++) {
    ts_vector *x = make_vector(ts_matrix_get_row_space(matrix), 2, NULL);
    ts_solver *solver = NULL;
    FAIL_EACH_CREATION(context, solver, create_solver(matrix, krylov_methods[k], NULL, &solver));
    FAIL_EACH_USE(context, ts_solver_solve(solver, b, x, NULL));
    float *xs = read_vector(x);
    CHECK(ref_worst_residual(&m, NULL, 2, xs, bs) <= 1.1e-5);
    free(xs);
    ts_solver_destroy(&solver);
    ts_vector_destroy(&x);
  }
  ref_matrix t = ref_transpose(&m);
  const ts_matrix_desc transposed_desc = {.csr = ref_csr(&t),
                                          .row_space = ts_matrix_get_column_space(matrix),
                                          .column_space = ts_matrix_get_row_space(matrix),
                                          .keep_host_copy = 1};
  ts_matrix *transposed = NULL;
  REQUIRE_OK(context, ts_matrix_create(context, &transposed_desc, &transposed));
  ts_vector *x = make_vector(ts_matrix_get_row_space(matrix), 2, NULL);
  ts_solver *cgls = NULL;
  FAIL_EACH_CREATION(context, cgls, create_cgls(matrix, transposed, NULL, &cgls));
  FAIL_EACH_USE(context, ts_solver_solve(cgls, b, x, NULL));
  float *xs = read_vector(x);
  CHECK(ref_worst_residual(&m, NULL, 2, xs, bs) <= 1e-3);
  free(xs);
  ts_solver_destroy(&cgls);
  ts_vector_destroy(&x);
  ts_matrix_destroy(&transposed);
  transposed_and_operator(context, matrix);
  ref_free(&t);
  free(bs);
  ts_vector_destroy(&b);
  ts_matrix_destroy(&matrix);
  ref_free(&m);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

/* Both functions allocate with the context's allocator. */
static void orders(void) {
  const ts_context_desc desc = heap_desc();
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  ref_matrix m = ref_skew(50);
  const ts_csr csr = ref_csr(&m);
  int32_t order[50], offsets[51], columns[98];
  float values[98];
  FAIL_EACH_USE(context, ts_reorder_rcm(context, &csr, order));
  const ts_csr permuted = {
      .row_offsets = HOST(offsets), .column_indices = HOST(columns), .values = HOST(values)};
  FAIL_EACH_USE(context, ts_csr_permute(context, &csr, order, &permuted));
  CHECK_INT(columns[0], 1); /* the sample is a path: row 0 has its only entry in column 1 */
  ref_free(&m);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

/* Six columns in two groups. A solve that fails leaves x unchanged. */
static ts_status solve_columns(ts_matrix *A, const float *b, size_t count) {
  double *x = calloc(count, sizeof *x);
  const ts_solver_desc solver = {.method = TS_METHOD_CG, .fixed_iterations = 5};
  const ts_status status = ts_solve(A, ts_host(b, count), ts_host(x, count), &solver, NULL);
  for (size_t k = 0; k < count; k++)
    if (!CHECK((x[k] == 0) == (status < 0))) break;
  free(x);
  return status;
}

/* Arrays that are converted, sorted or copied. */
static void arrays(void) {
  enum { n = 50, columns = 6 };
  const ts_context_desc desc = heap_desc();
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  ref_matrix m = ref_random_spd(n, 4, 3);
  const size_t entries = (size_t)ref_nonzeros(&m);
  int64_t offsets[n + 1];
  int32_t *rows = malloc(entries * sizeof *rows);
  for (int32_t i = 0; i <= n; i++) offsets[i] = m.offsets[i];
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = m.offsets[i]; k < m.offsets[i + 1]; k++) rows[k] = i;
  ts_matrix_desc from_rows = {.csr = ts_host_csr(n, n, offsets, m.indices, m.values)};
  const ts_triplets list = {.rows = n,
                            .columns = n,
                            .row_indices = ts_host(rows, entries),
                            .column_indices = ts_host(m.indices, entries),
                            .values = ts_host(m.values, entries)};
  const ts_matrix_desc from_list = {.triplets = &list};
  ts_matrix *A = NULL, *B = NULL;
  FAIL_EACH_CREATION(context, A, ts_matrix_create(context, &from_rows, &A));
  FAIL_EACH_USE(context, ts_matrix_set_values(A, &from_rows.csr));
  FAIL_EACH_CREATION(context, B, ts_matrix_create(context, &from_list, &B));
  FAIL_EACH_USE(context, ts_matrix_set_triplets(B, &list));
  float b[n * columns], read[8];
  double numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (int k = 0; k < n * columns; k++) b[k] = 1 + (float)k / 7;
  FAIL_EACH_USE(context, solve_columns(A, b, n * columns));
  ts_scalars *slots = make_scalars(context, 2);
  FAIL_EACH_USE(context, ts_scalars_write(slots, 0, ts_host((const float *)b, 8)));
  FAIL_EACH_USE(context, ts_scalars_write(slots, 0, HOST(numbers)));
  FAIL_EACH_USE(context, ts_scalars_read(slots, 0, HOST(read)));
  CHECK(read[7] == 8);
  ts_scalars_destroy(&slots);
  ts_matrix_destroy(&A);
  ts_matrix_destroy(&B);
  free(rows);
  ref_free(&m);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

static void mesh_flows(void) {
  if (test_is_multi()) return; /* the refusal is tested in test_multi */
  const ts_context_desc desc = heap_desc();
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  ts_format formats[8];
  const int format_count = list_mesh_formats(context, formats);
  mesh_sample meshes[] = {mesh_disk(6), mesh_cone(700, 0.5f)};
  for (int k = 0; k < 2 * format_count; k++) {
    const mesh_sample *m = &meshes[k & 1];
    if (test_is_brief() && (k / 2 + k) % 2) continue;
    const ts_mesh_flow_desc flow_desc = {.vertices = m->vertices,
                                         .triangles = m->triangles,
                                         .triangle_vertices = m->t,
                                         .format = formats[k / 2],
                                         .boundary = TS_MESH_BOUNDARY_FLOW};
    ts_mesh_flow *flow = NULL;
    FAIL_EACH_CREATION(context, flow, ts_mesh_flow_create(context, &flow_desc, &flow));
    if (!flow) continue;
    ts_vector *x = make_vector(ts_mesh_flow_get_space(flow), 3, m->x);
    FAIL_EACH_USE(context, ts_mesh_flow_assemble(flow, x, 1e-3));
    /* A step that runs out of memory has not moved any vertex: all allocations are in the first solve. */
    FAIL_EACH_USE(context, ts_mesh_flow_step(flow, x, 1e-3, NULL));
    const ts_solver_desc cg = {.rtol = 1e-3};
    FAIL_EACH_USE(context, ts_mesh_flow_set_solver(flow, &cg));
    FAIL_EACH_USE(context, ts_mesh_flow_step(flow, x, 1e-3, NULL));
    ts_vector_destroy(&x);
    ts_mesh_flow_destroy(&flow);
  }
  mesh_free(&meshes[0]);
  mesh_free(&meshes[1]);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

/* A batch, because backends fill its padding, with every scheme. */
static void complementarity(void) {
  const ts_context_desc desc = heap_desc();
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  if (!context->ops->lcp) { /* the refusals are tested in test_multi */
    test_close(&context);
    return;
  }
  const double matrices[] = {2, 1, 1, 1, 2, 1, 1, 1, 2, 3, 0, 0, 0, 3, 0, 0, 0, 3};
  const double q[] = {-5, -6, 1, -1, -2, -3}, lower[6] = {0}, upper[6] = {1, 1, 1, 1, 1, 1};
  const ts_precision precisions[2] = {TS_PRECISION_SINGLE, best_precision(context)};
  for (int p = 0; p < 2; p++) {
    const ts_lcp_desc lcp_desc = {.size = 3,
                                  .batch = 2,
                                  .matrix = HOST(matrices),
                                  .lower = HOST(lower),
                                  .upper = HOST(upper),
                                  .precision = precisions[p]};
    ts_lcp *lcp = NULL;
    FAIL_EACH_CREATION(context, lcp, ts_lcp_create(context, &lcp_desc, &lcp));
    FAIL_EACH_USE(context, ts_lcp_set_matrix(lcp, &lcp_desc));
    FAIL_EACH_USE(context, ts_lcp_set_bounds(lcp, (ts_array){0}, (ts_array){0}));
    FAIL_EACH_USE(context, ts_lcp_set_bounds(lcp, HOST(lower), HOST(upper)));
    ts_vector *b = make_parts(ts_lcp_get_space(lcp), 1, 1, q),
              *z = make_parts(ts_lcp_get_space(lcp), 1, 1, NULL);
    for (int k = 0; k <= TS_LCP_SCHEME_RELAXED; k++) {
      const ts_lcp_settings settings = {.scheme = (ts_lcp_scheme)k, .zero_start = 1};
      if (!ts_lcp_has_scheme(context, settings.scheme)) continue;
      FAIL_EACH_USE(context, ts_lcp_solve(lcp, b, z, &settings, NULL));
      double *found = read_doubles(z);
      CHECK(found[0] == 1 && found[1] == 1 && found[2] == 0);
      CHECK_CLOSE(found[3], 1.0 / 3, 1e-5);
      CHECK(found[5] == 1);
      free(found);
    }
    ts_vector_destroy(&b);
    ts_vector_destroy(&z);
    ts_lcp_destroy(&lcp);
  }
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

/* Storage SPARSE of H M^-1 H^T with M, and of a dense array, with the schemes that use it. */
static void sparse_contacts(void) {
  const ts_context_desc desc = heap_desc();
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  const int32_t offsets[] = {0, 1, 3, 4}, columns[] = {0, 0, 1, 1};
  const double values[] = {1, 1, -1, 1}, mass[] = {1, 1}, q[] = {1, -2, 2};
  const double dense[] = {1, 1, 0, 1, 2, -1, 0, -1, 1};
  const ts_csr H = ts_host_csr(3, 2, offsets, columns, values);
  ts_lcp_desc lcp_desc = {
      .size = 3, .jacobian = &H, .inverse_mass = HOST(mass), .storage = TS_LCP_STORAGE_SPARSE};
  ts_lcp_desc other = {.size = 3, .matrix = HOST(dense)};
  for (int k = 0; k < 3; k++) {
    static const ts_lcp_scheme schemes[] = {TS_LCP_SCHEME_ROW, TS_LCP_SCHEME_GRAPH, TS_LCP_SCHEME_COLOUR};
    const ts_lcp_settings settings = {.scheme = schemes[k], .zero_start = 1};
    ts_lcp *lcp = NULL;
    if (!ts_lcp_has_scheme(context, settings.scheme)) continue;
    FAIL_EACH_CREATION(context, lcp, ts_lcp_create(context, &lcp_desc, &lcp));
    ts_vector *b = make_parts(ts_lcp_get_space(lcp), 1, 1, q),
              *z = make_parts(ts_lcp_get_space(lcp), 1, 1, NULL);
    FAIL_EACH_USE(context, ts_lcp_solve(lcp, b, z, &settings, NULL));
    FAIL_EACH_USE(context, ts_lcp_set_matrix(lcp, &other));
    FAIL_EACH_USE(context, ts_lcp_solve(lcp, b, z, &settings, NULL));
    double *found = read_doubles(z);
    CHECK(found[0] == 0 && found[2] == 0);
    CHECK_CLOSE(found[1], 1, 1e-5);
    free(found);
    ts_vector_destroy(&b);
    ts_vector_destroy(&z);
    ts_lcp_destroy(&lcp);
  }
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

/* With a hierarchy: the mesh is kept on the host, the first step creates the hierarchy, the next one updates
 * it. */
static void mesh_flow_with_amg(void) {
  if (test_is_multi()) return; /* the refusal is tested in test_multi */
  const ts_context_desc desc = heap_desc();
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  mesh_sample m = mesh_square(26);
  const ts_mesh_flow_desc flow_desc = {.vertices = m.vertices,
                                       .triangles = m.triangles,
                                       .triangle_vertices = m.t,
                                       .boundary = TS_MESH_BOUNDARY_FLOW,
                                       .solver.preconditioner_kind = TS_PRECONDITIONER_AMG};
  ts_mesh_flow *flow = NULL;
  FAIL_EACH_CREATION(context, flow, ts_mesh_flow_create(context, &flow_desc, &flow));
  ts_vector *x = make_vector(ts_mesh_flow_get_space(flow), 3, m.x);
  FAIL_EACH_USE(context, ts_mesh_flow_step(flow, x, 1e-3, NULL));
  FAIL_EACH_USE(context, ts_mesh_flow_step(flow, x, 1e-3, NULL));
  FAIL_EACH_USE(context, ts_mesh_flow_set_solver(flow, &flow_desc.solver));
  CHECK_OK(context, ts_mesh_flow_step(flow, x, 1e-3, NULL));
  ts_vector_destroy(&x);
  ts_mesh_flow_destroy(&flow);
  mesh_free(&m);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

static void grids(void) {
  if (test_is_multi()) return; /* the refusal is tested in test_multi */
  const ts_context_desc desc = heap_desc();
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  /* A grid with holes and several null-space components. Each component needs a vector, and there are more
   * parts than the library keeps. */
  unsigned char *rooms = grid_rooms(59, 23);
  grid_sample sample = grid_poisson(&(grid_problem){59, 23, "NNNN", NULL, rooms, 0});
  grid_sample nine = grid_random(&sample.grid, 1, 9, 3);
  float *values = malloc(9 * grid_points(&sample) * sizeof *values);
  ts_space *grid = NULL;
  ts_matrix *matrix = NULL;
  FAIL_EACH_CREATION(context, grid, ts_grid_create(context, &sample.grid, &grid));
  FAIL_EACH_CREATION(context, matrix, ts_stencil_create(grid, stencil_over(grid, sample.values), &matrix));
  FAIL_EACH_USE(context, ts_stencil_set_values(matrix, stencil_of(matrix, nine.values)));
  FAIL_EACH_USE(context, ts_stencil_read(matrix, stencil_of(matrix, values)));
  CHECK(memcmp(values, nine.values, 9 * grid_points(&sample) * sizeof *values) == 0);
  double *doubles = malloc(9 * grid_points(&sample) * sizeof *doubles);
  for (size_t k = 0; k < 9 * grid_points(&sample); k++) doubles[k] = (double)nine.values[k] / 3;
  ts_matrix *double_matrix = NULL;
  FAIL_EACH_CREATION(context, double_matrix,
                     ts_stencil_create(grid, stencil_over(grid, doubles), &double_matrix));
  ts_matrix_destroy(&double_matrix);
  FAIL_EACH_USE(context, ts_stencil_set_values(matrix, stencil_of(matrix, doubles)));
  free(doubles);
  FAIL_EACH_USE(context, ts_stencil_set_values(matrix, stencil_of(matrix, sample.values)));
  for (int s = TS_SMOOTHER_JACOBI; s <= TS_SMOOTHER_FOUR_COLOUR && context->caps.grid_storages; s++) {
    const ts_multigrid_desc multigrid_desc = {.smoother = (ts_smoother)s};
    ts_multigrid *multigrid = NULL;
    FAIL_EACH_CREATION(context, multigrid, ts_multigrid_create(matrix, &multigrid_desc, &multigrid));
    if (!multigrid) continue;
    ts_vector *b = make_vector(grid, 1, NULL), *x = make_vector(grid, 1, NULL);
    CHECK_OK(context, ts_vector_fill(b, 1));
    FAIL_EACH_USE(context, ts_multigrid_cycle(multigrid, b, x, 1));
    FAIL_EACH_USE(context, ts_multigrid_solve(multigrid, b, x, NULL));
    CHECK_OK(context, ts_stencil_set_values(matrix, stencil_of(matrix, nine.values)));
    FAIL_EACH_USE(context, ts_multigrid_update(multigrid));
    FAIL_EACH_USE(context, ts_multigrid_cycle(multigrid, b, x, 1));
    CHECK_OK(context, ts_stencil_set_values(matrix, stencil_of(matrix, sample.values)));
    FAIL_EACH_USE(context, ts_multigrid_update(multigrid));
    const ts_preconditioner_desc cycle_desc = {.kind = TS_PRECONDITIONER_MULTIGRID, .multigrid = multigrid};
    ts_preconditioner *cycle = NULL;
    FAIL_EACH_CREATION(context, cycle, ts_preconditioner_create(NULL, &cycle_desc, &cycle));
    const ts_solver_desc cg_desc = {.preconditioner = cycle};
    ts_solver *cg = NULL;
    FAIL_EACH_CREATION(context, cg, ts_solver_create(matrix, &cg_desc, &cg));
    ts_solver_destroy(&cg);
    ts_preconditioner_destroy(&cycle);
    ts_vector_destroy(&b);
    ts_vector_destroy(&x);
    ts_multigrid_destroy(&multigrid);
  }
  ts_matrix_destroy(&matrix);
  ts_space_destroy(&grid);
  grid_free(&sample);
  grid_free(&nine);
  free(values), free(rooms);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

static void algebraic_multigrid_of(const ref_matrix *grid, int first, int last) {
  const ts_context_desc desc = heap_desc();
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  const ts_matrix_desc matrix_desc = {.csr = ref_csr(grid), .keep_host_copy = 1};
  ts_matrix *A = NULL;
  CHECK_OK(context, ts_matrix_create(context, &matrix_desc, &A));
  for (int smoother = first; smoother <= last; smoother++) {
    const ts_amg_desc amg = {.smoother = (ts_amg_smoother)smoother, .coarsest = 10};
    const ts_preconditioner_desc M_desc = {.kind = TS_PRECONDITIONER_AMG, .amg = &amg};
    ts_preconditioner *M = NULL;
    FAIL_EACH_CREATION(context, M, ts_preconditioner_create(A, &M_desc, &M));
    FAIL_EACH_USE(context, ts_preconditioner_update(M));
    ts_vector *r = make_vector(ts_matrix_get_row_space(A), 2, NULL),
              *z = make_vector(ts_matrix_get_row_space(A), 2, NULL);
    FAIL_EACH_USE(context, ts_preconditioner_apply(M, z, r));
    ts_vector_destroy(&r);
    ts_vector_destroy(&z);
    ts_preconditioner_destroy(&M);
  }
  ts_matrix_destroy(&A);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

static void algebraic_multigrid(void) {
  ref_matrix grid = ref_grid(15, 13);
  algebraic_multigrid_of(&grid, TS_AMG_SMOOTHER_CHEBYSHEV, TS_AMG_SMOOTHER_L1_JACOBI);
  ref_free(&grid);
}

static void unsymmetric_multigrid(void) {
  ref_matrix convection = ref_convection(15, 13, 5);
  algebraic_multigrid_of(&convection, TS_AMG_SMOOTHER_AUTO, TS_AMG_SMOOTHER_AUTO);
  ref_free(&convection);
}

/* Allocations of AUTO: its examination of the matrix, the hierarchy, and the solver around them. */
static void automatic(void) {
  const ts_context_desc desc = heap_desc();
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  CHECK_OK(context, ts_context_set_tuning(context, "amg_couplings", 256));
  CHECK_OK(context, ts_context_set_tuning(context, "diagonals_part", 1));
  ref_matrix long_grid = ref_graph(60, 300);
  const ts_matrix_desc matrix_desc = {.csr = ref_csr(&long_grid)};
  const ts_preconditioner_desc M_desc = {.kind = TS_PRECONDITIONER_AUTO};
  const ts_solver_desc solver_desc = {.preconditioner_kind = TS_PRECONDITIONER_AUTO};
  ts_matrix *A = NULL;
  ts_preconditioner *M = NULL;
  ts_solver *solver = NULL;
  FAIL_EACH_CREATION(context, A, ts_matrix_create(context, &matrix_desc, &A));
  FAIL_EACH_CREATION(context, M, ts_preconditioner_create(A, &M_desc, &M));
  CHECK(preconditioner_info(M).kind == TS_PRECONDITIONER_AMG);
  ts_preconditioner_destroy(&M);
  FAIL_EACH_CREATION(context, solver, ts_solver_create(A, &solver_desc, &solver));
  CHECK(preconditioner_info(ts_solver_get_preconditioner(solver)).kind == TS_PRECONDITIONER_AMG);
  ts_solver_destroy(&solver);
  ts_matrix_destroy(&A);
  ref_free(&long_grid);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

/* A copy that was read back lacks stored zeros, so new values replace it. Without memory for that it is read
 * back again, with the new values. */
static void copy_read_back(void) {
  const ts_context_desc desc = heap_desc();
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  ref_matrix full = ref_grid(20, 20), with_zeros = ref_grid(20, 20);
  for (int32_t i = 0; i < full.rows; i++)
    for (int32_t k = full.offsets[i]; k < full.offsets[i + 1]; k++)
      if (abs(full.indices[k] - i) == 1) with_zeros.values[k] = 0;
  const int has_blocks = context->caps.formats >> TS_FORMAT_BCRS2 & 1;
  const ts_matrix_desc matrix_desc = {.csr = ref_csr(&with_zeros),
                                      .format = has_blocks ? TS_FORMAT_BCRS2 : TS_FORMAT_AUTO,
                                      .keep_host_copy = -1};
  const ts_csr zeros = ref_csr(&with_zeros), values = ref_csr(&full);
  ts_matrix *A = NULL;
  REQUIRE_OK(context, ts_matrix_create(context, &matrix_desc, &A));
  int succeeded = 0;
  for (long n = 0; n < 1000 && !succeeded; n = heap_next(n)) {
    ts_csr copy;
    test_context_label("allocation %ld", n);
    tsi_matrix_drop_host_copy(A);
    CHECK_OK(context, ts_matrix_set_values(A, &zeros));
    CHECK_OK(context, tsi_matrix_keep_host_copy(A));
    memory.countdown = n;
    memory.failed = 0;
    const ts_status status = ts_matrix_set_values(A, &values);
    memory.countdown = -1;
    succeeded = memory.failed == 0;
    if (succeeded) CHECK_INT(status, TS_OK);
    if (!succeeded) CHECK_INT(status, TS_ERROR_OUT_OF_HOST_MEMORY);
    CHECK_OK(context, ts_matrix_set_values(A, &values));
    CHECK_OK(context, tsi_matrix_keep_host_copy(A));
    CHECK_OK(context, ts_matrix_get_host_copy(A, &copy));
    CHECK_INT(copy.values.count, ref_nonzeros(&full));
    CHECK(!memcmp(copy.values.data, full.values, copy.values.count * sizeof(float)));
  }
  CHECK(succeeded);
  ts_matrix_destroy(&A);
  ref_free(&full), ref_free(&with_zeros);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

static void preconditioners(void) {
  const ts_context_desc desc = heap_desc();
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  ref_matrix samples[] = {ref_grid(15, 13), ref_convection(15, 13, 2)};
  const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_BLOCK_JACOBI, TS_PRECONDITIONER_CHEBYSHEV,
                                          TS_PRECONDITIONER_ISAI, TS_PRECONDITIONER_ILU, TS_PRECONDITIONER_IC};
  for (int s = 0; s < 2; s++) {
    const ts_matrix_desc matrix_desc = {.csr = ref_csr(&samples[s]), .keep_host_copy = 1};
    ts_matrix *A = NULL;
    CHECK_OK(context, ts_matrix_create(context, &matrix_desc, &A));
    for (int k = 0; k < (s == 0 ? 5 : 4) && A; k++) { /* the last kind needs a symmetric matrix */
      const ts_preconditioner_desc M_desc = {.kind = kinds[k]};
      ts_preconditioner *M = NULL;
      FAIL_EACH_CREATION(context, M, ts_preconditioner_create(A, &M_desc, &M));
      FAIL_EACH_USE(context, ts_preconditioner_update(M));
      ts_vector *r = make_vector(ts_matrix_get_row_space(A), 2, NULL), *z = NULL;
      z = make_vector(ts_matrix_get_row_space(A), 2, NULL);
      FAIL_EACH_USE(context, ts_preconditioner_apply(M, z, r));
      ts_vector_destroy(&r);
      ts_vector_destroy(&z);
      ts_preconditioner_destroy(&M);
    }
    ts_matrix_destroy(&A);
    ref_free(&samples[s]);
  }
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

/* All memory of the library is from the allocator. A context with a solver and vectors holds live blocks there,
 * and frees all of them in any order of destruction. */
static void order_of_destruction(void) {
  for (int order = 0; order < 6; order++) {
    const ts_context_desc desc = heap_desc();
    ts_context *context = NULL;
    REQUIRE_OK(NULL, ts_context_create(&desc, &context));
    ref_matrix m = test_is_brief() ? ref_grid(5, 5) : ref_grid(12, 12);
    ts_matrix *matrix = make_matrix(context, &m, TS_FORMAT_AUTO);
    ts_vector *b = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
    ts_vector *x = make_vector(ts_matrix_get_row_space(matrix), 1, NULL);
    ts_solver *cg = make_cg(matrix, NULL);
    CHECK_OK(context, ts_vector_fill(b, 1));
    CHECK_OK(context, ts_solver_solve(cg, b, x, NULL));
    CHECK(memory.live > 5);
    for (int k = 0; k < 3; k++) {
      const int which = (order + (order < 3 ? k : 2 * k)) % 3;
      if (which == 0) ts_matrix_destroy(&matrix);
      if (which == 1) ts_vector_destroy(&x), ts_vector_destroy(&b);
      if (which == 2) ts_solver_destroy(&cg);
    }
    ref_free(&m);
    test_close(&context);
    CHECK_INT(memory.live, 0);
  }
}

/* Every call on a fluid that allocates. The fluid works afterwards. */
static void fluids(void) {
  if (test_is_multi()) return; /* the refusal is tested in test_multi */
  const ts_context_desc desc = heap_desc();
  ts_context *context = NULL;
  REQUIRE_OK(NULL, ts_context_create(&desc, &context));
  unsigned char solid[64] = {0};
  solid[20] = 1;
  ts_fluid_parameters parameters;
  ts_fluid_default_parameters(&parameters);
  const ts_fluid_desc fluid_desc = {
      .width = 8, .height = 8, .left = {TS_FLUID_BOUNDARY_WALL, {1, 0}}, .parameters = &parameters};
  ts_fluid *fluid = NULL;
  FAIL_EACH_CREATION(context, fluid, ts_fluid_create(context, &fluid_desc, &fluid));
  if (fluid) {
    FAIL_EACH_USE(context, ts_fluid_step(fluid, TS_FLUID_MEASURE_DIVERGENCE, NULL));
    parameters.pressure.method = TS_METHOD_CG;
    parameters.viscosity = 0.01;
    parameters.vorticity_confinement = 1;
    parameters.advection = TS_FLUID_ADVECTION_MACCORMACK;
    FAIL_EACH_USE(context, ts_fluid_set_parameters(fluid, &parameters));
    FAIL_EACH_USE(context, ts_fluid_step(fluid, 0, NULL));
    FAIL_EACH_USE(context, ts_fluid_set_particles(fluid, 4, 4, 1));
    FAIL_EACH_USE(context, ts_fluid_set_walls(fluid, solid, NULL));
    FAIL_EACH_USE(context, ts_fluid_splat(fluid, 0.5, 0.5, 0.1, (float[2]){1, 1}, NULL, 0));
    FAIL_EACH_USE(context, ts_fluid_reset(fluid));
    ts_fluid_result result;
    CHECK_OK(context, ts_fluid_step(fluid, TS_FLUID_MEASURE_DIVERGENCE, &result));
    CHECK(result.largest_speed >= 0.5 && result.largest_speed < 10);
  }
  ts_fluid_destroy(&fluid);
  test_close(&context);
  CHECK_INT(memory.live, 0);
}

TEST_MAIN(CASES(contexts, spaces_vectors_scalars, matrices, solvers, krylov_solvers, orders, arrays, mesh_flows,
                complementarity, sparse_contacts, mesh_flow_with_amg, grids, algebraic_multigrid,
                unsymmetric_multigrid, automatic, copy_read_back, preconditioners, fluids,
                order_of_destruction))
