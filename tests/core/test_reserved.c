/* Reserved fields of every descriptor must be 0, and the message names the one that is not. */
#include <texsolve/amg.h>
#include <texsolve/batch.h>
#include <texsolve/gl.h>
#include <texsolve/lcp.h>
#include <texsolve/mesh.h>
#include <texsolve/ranks.h>
#include <texsolve/reorder.h>
#include <texsolve/system.h>

#include "common/core/core.h"
#include "helpers.h"

static ts_context *context;

static const int32_t offsets[] = {0, 1, 2}, indices[] = {0, 1};
static const float values[] = {2, 3};

/* ---- A use of each descriptor, with reserved[k] set and all other fields valid ---- */

static ts_status of_space(int k) {
  ts_space_desc desc = {.size = 2};
  ts_space *space = NULL;
  desc.reserved[k] = 1;
  return ts_space_create(context, &desc, &space);
}
static ts_status of_scalars(int k) {
  ts_scalars_desc desc = {.count = 2};
  ts_scalars *scalars = NULL;
  desc.reserved[k] = 1;
  return ts_scalars_create(context, &desc, &scalars);
}
static ts_status of_vector(int k) {
  ts_vector_desc desc = {.components = 2};
  ts_space *space = make_space(context, 3);
  ts_vector *vector = NULL;
  desc.reserved[k] = 1;
  const ts_status status = ts_vector_create(space, &desc, &vector);
  ts_space_destroy(&space);
  return status;
}

static ts_csr good_csr(void) {
  return ts_host_csr(2, 2, offsets, indices, values);
}
static ts_matrix *good_matrix(void) {
  ts_matrix *A = NULL;
  CHECK_OK(context, ts_matrix_create(context, &(ts_matrix_desc){.csr = good_csr(), .keep_host_copy = 1}, &A));
  return A;
}
static ts_status create_matrix(const ts_matrix_desc *desc) {
  ts_matrix *A = NULL;
  return ts_matrix_create(context, desc, &A);
}
static ts_status of_matrix(int k) {
  ts_matrix_desc desc = {.csr = good_csr()};
  desc.reserved[k] = 1;
  return create_matrix(&desc);
}
static ts_status of_csr(int k) {
  ts_matrix_desc desc = {.csr = good_csr()};
  desc.csr.reserved[k] = 1;
  return create_matrix(&desc);
}
static ts_status of_new_values(int k) {
  ts_matrix *A = good_matrix();
  ts_csr csr = good_csr();
  csr.reserved[k] = 1;
  const ts_status status = ts_matrix_set_values(A, &csr);
  ts_matrix_destroy(&A);
  return status;
}
static ts_status of_triplets(int k) {
  ts_triplets list = {.rows = 2,
                      .columns = 2,
                      .row_indices = HOST(indices),
                      .column_indices = HOST(indices),
                      .values = HOST(values)};
  list.reserved[k] = 1;
  return create_matrix(&(ts_matrix_desc){.triplets = &list});
}
static ts_status of_bandwidth(int k) {
  ts_csr csr = good_csr();
  ts_bandwidth bandwidth;
  csr.reserved[k] = 1;
  return ts_csr_bandwidth(context, &csr, &bandwidth);
}
static ts_status of_permuted(int k) {
  const ts_csr csr = good_csr();
  int32_t order[2] = {1, 0}, new_offsets[3], new_indices[2];
  float new_values[2];
  ts_csr result = {
      .row_offsets = HOST(new_offsets), .column_indices = HOST(new_indices), .values = HOST(new_values)};
  result.reserved[k] = 1;
  return ts_csr_permute(context, &csr, order, &result);
}

static ts_status of_solver(int k) {
  ts_solver_desc desc = {.method = TS_METHOD_CG};
  ts_matrix *A = good_matrix();
  ts_solver *solver = NULL;
  desc.reserved[k] = 1;
  const ts_status status = ts_solver_create(A, &desc, &solver);
  ts_matrix_destroy(&A);
  return status;
}
static ts_status of_batch(int k) {
  const double b[] = {2, 3};
  double x[] = {0, 0};
  ts_batch_desc desc = {.systems = 1,
                        .rows = 2,
                        .row_offsets = HOST(offsets),
                        .column_indices = HOST(indices),
                        .values = HOST(values)};
  desc.reserved[k] = 1;
  return ts_batch_solve(context, &desc, HOST(b), HOST(x), NULL);
}
static ts_status of_preconditioner(int k) {
  ts_preconditioner_desc desc = {.kind = TS_PRECONDITIONER_JACOBI};
  ts_matrix *A = good_matrix();
  ts_preconditioner *M = NULL;
  desc.reserved[k] = 1;
  const ts_status status = ts_preconditioner_create(A, &desc, &M);
  ts_matrix_destroy(&A);
  return status;
}
static ts_status of_amg(int k) {
  ts_amg_desc amg = {0};
  const ts_preconditioner_desc desc = {.kind = TS_PRECONDITIONER_AMG, .amg = &amg};
  ts_matrix *A = good_matrix();
  ts_preconditioner *M = NULL;
  amg.reserved[k] = 1;
  const ts_status status = ts_preconditioner_create(A, &desc, &M);
  ts_matrix_destroy(&A);
  return status;
}

/* A system with one equation. */
static ts_status solve_system(const ts_system_solve_desc *desc) {
  ts_system *system = NULL;
  CHECK_OK(context, ts_system_create(context, &(ts_system_desc){.unknowns = 1}, &system));
  CHECK_OK(context, ts_system_begin(system));
  CHECK_OK(context, ts_system_add(system, 0, 0, 1));
  CHECK_OK(context, ts_system_end(system));
  const ts_status status = ts_system_solve(system, desc, NULL);
  ts_system_destroy(&system);
  return status;
}
static ts_status of_system(int k) {
  ts_system_desc desc = {.unknowns = 1};
  ts_system *system = NULL;
  desc.reserved[k] = 1;
  return ts_system_create(context, &desc, &system);
}
static ts_status of_system_solve(int k) {
  ts_system_solve_desc desc = {.order = TS_ORDER_NATURAL};
  desc.reserved[k] = 1;
  return solve_system(&desc);
}
static ts_status of_system_solver(int k) {
  ts_system_solve_desc desc = {.order = TS_ORDER_NATURAL};
  desc.solver.reserved[k] = 1;
  return solve_system(&desc);
}

static ts_status of_poisson_grid(int k) {
  ts_poisson_desc desc = {.width = 4, .height = 4};
  ts_grid_desc grid;
  desc.reserved[k] = 1;
  return ts_poisson_grid(&desc, &grid);
}
static ts_status of_poisson(int k) {
  ts_poisson_desc desc = {.width = 4, .height = 4};
  float nine[144];
  desc.reserved[k] = 1;
  return ts_poisson_stencil(context, &desc, HOST(nine));
}
static ts_status of_boundary(int k) {
  const ts_poisson_desc desc = {.width = 4, .height = 4};
  ts_boundary_values boundary = {0};
  float b[16], x[16];
  boundary.reserved[k] = 1;
  return ts_poisson_right_hand_side(context, &desc, (ts_array){0}, &boundary, HOST(b), HOST(x));
}
static ts_status of_grid(int k) {
  ts_grid_desc desc = {.width = 4, .height = 4};
  ts_space *grid = NULL;
  desc.reserved[k] = 1;
  return ts_grid_create(context, &desc, &grid);
}
static ts_status of_multigrid(int k) {
  const ts_poisson_desc poisson = {.width = 4, .height = 4};
  ts_multigrid_desc desc = {.pre = 1};
  float nine[144];
  ts_space *grid = NULL;
  ts_matrix *A = NULL;
  ts_multigrid *multigrid = NULL;
  CHECK_OK(context, ts_poisson_stencil(context, &poisson, HOST(nine)));
  CHECK_OK(context, ts_grid_create(context, &(ts_grid_desc){.width = 4, .height = 4}, &grid));
  CHECK_OK(context, ts_stencil_create(grid, HOST(nine), &A));
  desc.reserved[k] = 1;
  const ts_status status = ts_multigrid_create(A, &desc, &multigrid);
  ts_matrix_destroy(&A);
  ts_space_destroy(&grid);
  return status;
}

static const double dense[] = {2, 0, 0, 2};

static ts_status of_lcp(int k) {
  ts_lcp_desc desc = {.size = 2, .matrix = HOST(dense)};
  ts_lcp *lcp = NULL;
  desc.reserved[k] = 1;
  return ts_lcp_create(context, &desc, &lcp);
}
static ts_status of_jacobian(int k) {
  ts_csr H = good_csr();
  ts_lcp *lcp = NULL;
  H.reserved[k] = 1;
  const double mass[] = {1, 1};
  return ts_lcp_create(context, &(ts_lcp_desc){.size = 2, .jacobian = &H, .inverse_mass = HOST(mass)}, &lcp);
}
static ts_status of_lcp_settings(int k) {
  ts_lcp *lcp = NULL;
  ts_lcp_settings settings = {.max_sweeps = 3};
  CHECK_OK(context, ts_lcp_create(context, &(ts_lcp_desc){.size = 2, .matrix = HOST(dense)}, &lcp));
  ts_vector *q = make_vector(ts_lcp_get_space(lcp), 1, NULL), *z = make_vector(ts_lcp_get_space(lcp), 1, NULL);
  settings.reserved[k] = 1;
  const ts_status status = ts_lcp_solve(lcp, q, z, &settings, NULL);
  ts_vector_destroy(&q);
  ts_vector_destroy(&z);
  ts_lcp_destroy(&lcp);
  return status;
}

static ts_status create_mesh(ts_mesh_flow_desc *desc) {
  static const int32_t triangle[] = {0, 1, 2};
  ts_mesh_flow *flow = NULL;
  desc->vertices = 3, desc->triangles = 1, desc->triangle_vertices = triangle;
  desc->boundary = TS_MESH_BOUNDARY_FLOW;
  return ts_mesh_flow_create(context, desc, &flow);
}
static ts_status of_mesh(int k) {
  ts_mesh_flow_desc desc = {.reserved = {0}};
  desc.reserved[k] = 1;
  return create_mesh(&desc);
}
static ts_status of_mesh_solver(int k) {
  ts_mesh_flow_desc desc = {.reserved = {0}};
  desc.solver.reserved[k] = 1;
  return create_mesh(&desc);
}

static ts_status of_ranks_matrix(int k) {
  ts_ranks_matrix_desc desc = {.csr = good_csr()};
  ts_matrix *A = NULL;
  desc.reserved[k] = 1;
  return ts_ranks_matrix_create(context, &desc, &A);
}
static ts_status of_ranks_csr(int k) {
  ts_ranks_matrix_desc desc = {.csr = good_csr()};
  ts_matrix *A = NULL;
  desc.csr.reserved[k] = 1;
  return ts_ranks_matrix_create(context, &desc, &A);
}
static ts_status of_whole_matrix(int k) {
  ts_matrix_desc desc = {.csr = good_csr()};
  ts_matrix *A = NULL;
  desc.reserved[k] = 1;
  return ts_ranks_matrix_from(context, 0, &desc, &A);
}

/* ---- The table ---- */

enum { GRID = 1, LCP = 2, MESH = 4, RANKS = 8, NO_CONTEXT = 16 };

typedef struct descriptor {
  ts_status (*use)(int k);
  const char *name; /* the prefix of "reserved" in messages */
  int words, flags;
} descriptor;

#define WORDS(type) (int)(sizeof((type *)NULL)->reserved / sizeof(uint64_t))

static const descriptor descriptors[] = {
    {of_space, "", WORDS(ts_space_desc), 0},
    {of_scalars, "", WORDS(ts_scalars_desc), 0},
    {of_vector, "", WORDS(ts_vector_desc), 0},
    {of_matrix, "", WORDS(ts_matrix_desc), 0},
    {of_csr, "csr.", WORDS(ts_csr), 0},
    {of_new_values, "csr.", WORDS(ts_csr), 0},
    {of_triplets, "triplets.", WORDS(ts_triplets), 0},
    {of_bandwidth, "csr.", WORDS(ts_csr), 0},
    {of_permuted, "result.", WORDS(ts_csr), 0},
    {of_solver, "", WORDS(ts_solver_desc), 0},
    {of_batch, "", WORDS(ts_batch_desc), 0},
    {of_preconditioner, "", WORDS(ts_preconditioner_desc), 0},
    {of_amg, "amg.", WORDS(ts_amg_desc), 0},
    {of_system, "", WORDS(ts_system_desc), 0},
    {of_system_solve, "", WORDS(ts_system_solve_desc), 0},
    {of_system_solver, "", WORDS(ts_solver_desc), 0},
    {of_poisson_grid, "", WORDS(ts_poisson_desc), NO_CONTEXT},
    {of_poisson, "", WORDS(ts_poisson_desc), 0},
    {of_boundary, "boundary.", WORDS(ts_boundary_values), 0},
    {of_grid, "", WORDS(ts_grid_desc), GRID},
    {of_multigrid, "", WORDS(ts_multigrid_desc), GRID},
    {of_lcp, "", WORDS(ts_lcp_desc), LCP},
    {of_jacobian, "csr.", WORDS(ts_csr), LCP},
    {of_lcp_settings, "", WORDS(ts_lcp_settings), LCP},
    {of_mesh, "", WORDS(ts_mesh_flow_desc), MESH},
    {of_mesh_solver, "", WORDS(ts_solver_desc), MESH},
    {of_ranks_matrix, "", WORDS(ts_ranks_matrix_desc), RANKS},
    {of_ranks_csr, "csr.", WORDS(ts_csr), RANKS},
    {of_whole_matrix, "", WORDS(ts_matrix_desc), RANKS},
};

static void each(void) {
  const int has = (context->ops->grid ? GRID : 0) | (context->ops->lcp ? LCP : 0) |
                  (context->ops->mesh ? MESH : 0) | (context->ops->agree ? RANKS : 0) | NO_CONTEXT;
  for (size_t n = 0; n < sizeof descriptors / sizeof *descriptors; n++) {
    const descriptor *d = &descriptors[n];
    if (d->flags & ~has) continue;
    for (int k = 0; k < d->words; k++) {
      char part[48];
      snprintf(part, sizeof part, "%sreserved[%d] is 1; it must be 0", d->name, k);
      test_context_label("descriptor %d, reserved[%d]", (int)n, k);
      CHECK_FAILS(d->flags & NO_CONTEXT ? NULL : context, d->use(k), TS_ERROR_INVALID_ARGUMENT, part);
    }
  }
}

/* All bits of a word are checked. */
static void any_bit(void) {
  ts_space_desc desc = {.size = 2};
  ts_space *space = NULL;
  desc.reserved[7] = (uint64_t)1 << 63;
  CHECK_FAILS(context, ts_space_create(context, &desc, &space), TS_ERROR_INVALID_ARGUMENT,
              "reserved[7] is 9223372036854775808");
}

static void contexts(void) {
  ts_context *refused = NULL;
  for (int k = 0; k < WORDS(ts_context_desc); k++) {
    char part[32];
    ts_context_desc desc = {.backend = "cpu"};
    ts_gl_desc gl = {.reserved = {0}};
    snprintf(part, sizeof part, "reserved[%d] is 1", k);
    desc.reserved[k] = 1;
    CHECK_FAILS(NULL, ts_context_create(&desc, &refused), TS_ERROR_INVALID_ARGUMENT, part);
    desc = (ts_context_desc){.backend = "gl", .gl = &gl};
    gl.reserved[k] = 1;
    CHECK_FAILS(NULL, ts_context_create(&desc, &refused), TS_ERROR_INVALID_ARGUMENT, "gl.", part);
  }
  CHECK(refused == NULL);
}

TEST_MAIN(CASES_IN_CONTEXT(each, any_bit), CASES(contexts))
