/* Arrays of the application. Every function accepts all types that its comment names, with identical results.
 * It refuses all other arrays with a message that names the argument or the field. */
#include <texsolve/grid.h>
#include <texsolve/lcp.h>
#include <texsolve/reorder.h>
#include <texsolve/system.h>

#include "common/core/core.h"
#include "helpers.h"

static ts_context *context;

/* ---- One call with one array ----
 *
 * A probe calls a function with the given array as one argument and valid arrays as all others. It writes the
 * result to `seen`. */

enum {
  N = 6,        /* unknowns */
  ENTRIES = 16, /* of a tridiagonal matrix */
  W = 4,        /* a grid is W x W */
  MOST = 9 * W * W,
  FLOATING = 1 << TS_TYPE_FLOAT | 1 << TS_TYPE_DOUBLE,
  INTEGER = 1 << TS_TYPE_INT32 | 1 << TS_TYPE_INT64,
  INT32_ONLY = 1 << TS_TYPE_INT32
};

static const int32_t offsets[N + 1] = {0, 2, 5, 8, 11, 14, 16};
static const int32_t rows[ENTRIES] = {0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5};
static const int32_t columns[ENTRIES] = {0, 1, 0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5};
static const float entries[ENTRIES] = {4, -1, -1, 5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9};
static const double numbers[8] = {1, 0.5, -2, 3, 0.25, 7, -1, 2};
static const float ones[W * W] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static ts_csr sound_csr(void) {
  return ts_host_csr(N, N, offsets, columns, entries);
}
static ts_triplets sound_triplets(void) {
  return (ts_triplets){.rows = N,
                       .columns = N,
                       .row_indices = HOST(rows),
                       .column_indices = HOST(columns),
                       .values = HOST(entries)};
}

/* Writes A x of a fixed x to `seen` and destroys A. */
static ts_status product(ts_status status, ts_matrix *A, double *seen) {
  if (status == TS_OK) {
    ts_vector *x = make_parts(ts_matrix_get_column_space(A), 1, 1, numbers),
              *y = make_parts(ts_matrix_get_row_space(A), 1, 1, NULL);
    CHECK_OK(context, ts_matrix_multiply(y, A, x));
    CHECK_OK(context, ts_vector_read(y, ts_host(seen, N)));
    ts_vector_destroy(&x);
    ts_vector_destroy(&y);
  }
  ts_matrix_destroy(&A);
  return status;
}

static ts_status create(const ts_matrix_desc *desc, double *seen) {
  ts_matrix *A = NULL;
  const ts_status status = ts_matrix_create(context, desc, &A);
  return product(status, A, seen);
}

static ts_status csr_offsets(ts_array a, double *seen) {
  ts_matrix_desc desc = {.csr = sound_csr()};
  desc.csr.row_offsets = a;
  return create(&desc, seen);
}
static ts_status csr_columns(ts_array a, double *seen) {
  ts_matrix_desc desc = {.csr = sound_csr()};
  desc.csr.column_indices = a;
  return create(&desc, seen);
}
static ts_status csr_values(ts_array a, double *seen) {
  ts_matrix_desc desc = {.csr = sound_csr()};
  desc.csr.values = a;
  return create(&desc, seen);
}

static ts_status triplet_rows(ts_array a, double *seen) {
  ts_triplets list = sound_triplets();
  list.row_indices = a;
  return create(&(ts_matrix_desc){.triplets = &list}, seen);
}
static ts_status triplet_columns(ts_array a, double *seen) {
  ts_triplets list = sound_triplets();
  list.column_indices = a;
  return create(&(ts_matrix_desc){.triplets = &list}, seen);
}
static ts_status triplet_values(ts_array a, double *seen) {
  ts_triplets list = sound_triplets();
  list.values = a;
  return create(&(ts_matrix_desc){.triplets = &list}, seen);
}

/* Sets new values in a matrix that was created with others. */
static ts_status replace(const ts_csr *csr, const ts_triplets *list, double *seen) {
  const ts_triplets sound = sound_triplets();
  const float zeros[ENTRIES] = {0};
  ts_matrix_desc desc = {.triplets = list ? &sound : NULL};
  ts_matrix *A = NULL;
  if (csr) desc.csr = sound_csr(), desc.csr.values = HOST(zeros);
  CHECK_OK(context, ts_matrix_create(context, &desc, &A));
  const ts_status status = csr ? ts_matrix_set_values(A, csr) : ts_matrix_set_triplets(A, list);
  return product(status, A, seen);
}

static ts_status set_offsets(ts_array a, double *seen) {
  ts_csr csr = sound_csr();
  csr.row_offsets = a;
  return replace(&csr, NULL, seen);
}
static ts_status set_columns(ts_array a, double *seen) {
  ts_csr csr = sound_csr();
  csr.column_indices = a;
  return replace(&csr, NULL, seen);
}
static ts_status set_values(ts_array a, double *seen) {
  ts_csr csr = sound_csr();
  csr.values = a;
  return replace(&csr, NULL, seen);
}
static ts_status set_triplet_rows(ts_array a, double *seen) {
  ts_triplets list = sound_triplets();
  list.row_indices = a;
  return replace(NULL, &list, seen);
}
static ts_status set_triplet_columns(ts_array a, double *seen) {
  ts_triplets list = sound_triplets();
  list.column_indices = a;
  return replace(NULL, &list, seen);
}
static ts_status set_triplet_values(ts_array a, double *seen) {
  ts_triplets list = sound_triplets();
  list.values = a;
  return replace(NULL, &list, seen);
}

static ts_status vector_write(ts_array a, double *seen) {
  ts_space *space = make_space(context, N);
  ts_vector *v = make_vector(space, 1, NULL);
  const ts_status status = ts_vector_write(v, a);
  if (status == TS_OK) CHECK_OK(context, ts_vector_read(v, ts_host(seen, N)));
  ts_vector_destroy(&v);
  ts_space_destroy(&space);
  return status;
}
static ts_status vector_read(ts_array a, double *seen) {
  (void)seen;
  ts_space *space = make_space(context, N);
  ts_vector *v = make_parts(space, 1, 1, numbers);
  const ts_status status = ts_vector_read(v, a);
  ts_vector_destroy(&v);
  ts_space_destroy(&space);
  return status;
}
static ts_status scalars_write(ts_array a, double *seen) {
  ts_scalars *s = make_scalars(context, 2);
  const ts_status status = ts_scalars_write(s, 0, a);
  if (status == TS_OK) CHECK_OK(context, ts_scalars_read(s, 0, ts_host(seen, 8)));
  ts_scalars_destroy(&s);
  return status;
}
static ts_status scalars_read(ts_array a, double *seen) {
  (void)seen;
  ts_scalars *s = make_scalars(context, 2);
  CHECK_OK(context, ts_scalars_write(s, 0, HOST(numbers)));
  const ts_status status = ts_scalars_read(s, 0, a);
  ts_scalars_destroy(&s);
  return status;
}

static ts_status solve(ts_array b, ts_array x, double *seen) {
  const ts_csr csr = sound_csr();
  ts_matrix *A = NULL;
  (void)seen;
  CHECK_OK(context, ts_matrix_create(context, &(ts_matrix_desc){.csr = csr}, &A));
  const ts_status status = ts_solve(A, b, x, &(ts_solver_desc){.fixed_iterations = 3}, NULL);
  ts_matrix_destroy(&A);
  return status;
}
static ts_status solve_b(ts_array a, double *seen) {
  return solve(a, ts_host(seen, N), seen);
}
static ts_status solve_x(ts_array a, double *seen) {
  return solve(ts_host(numbers, N), a, seen);
}

static ts_status bandwidth_offsets(ts_array a, double *seen) {
  ts_csr csr = sound_csr();
  ts_bandwidth b = {0};
  csr.row_offsets = a;
  const ts_status status = ts_csr_bandwidth(context, &csr, &b);
  seen[0] = b.maximum, seen[1] = b.mean;
  return status;
}
static ts_status rcm_columns(ts_array a, double *seen) {
  ts_csr csr = sound_csr();
  int32_t order[N] = {0};
  csr.column_indices = a;
  const ts_status status = ts_reorder_rcm(context, &csr, order);
  for (int i = 0; i < N; i++) seen[i] = order[i];
  return status;
}

/* `which`: the array of the result that is replaced by `a`. */
static ts_status permute(ts_array a, int which) {
  const ts_csr csr = sound_csr();
  const int32_t order[N] = {3, 1, 0, 5, 4, 2};
  int32_t new_offsets[N + 1], new_columns[ENTRIES];
  float new_values[ENTRIES];
  const ts_csr result = {.row_offsets = which == 0 ? a : HOST(new_offsets),
                         .column_indices = which == 1 ? a : HOST(new_columns),
                         .values = which == 2 ? a : HOST(new_values)};
  return ts_csr_permute(context, &csr, order, &result);
}
static ts_status permuted_offsets(ts_array a, double *seen) {
  (void)seen;
  return permute(a, 0);
}
static ts_status permuted_columns(ts_array a, double *seen) {
  (void)seen;
  return permute(a, 1);
}
static ts_status permuted_values(ts_array a, double *seen) {
  (void)seen;
  return permute(a, 2);
}

/* ---- Grids ---- */

static ts_space *make_grid(void) {
  ts_space *grid = NULL;
  CHECK_OK(context, ts_grid_create(context, &(ts_grid_desc){.width = W, .height = W}, &grid));
  return grid;
}

/* -1, 4, -1 at all points. Entries at the sides that point outside the grid are ignored. */
static void fill_stencil(float *nine) {
  const ts_poisson_desc desc = {.width = W, .height = W, .centring = TS_CENTRING_CELL, .spacing = 1};
  CHECK_OK(context, ts_poisson_stencil(context, &desc, ts_host(nine, MOST)));
}

static ts_status stencil_create(ts_array a, double *seen) {
  ts_space *grid = make_grid();
  ts_matrix *A = NULL;
  const ts_status status = ts_stencil_create(grid, a, &A);
  if (status == TS_OK) CHECK_OK(context, ts_stencil_read(A, ts_host(seen, MOST)));
  ts_matrix_destroy(&A);
  ts_space_destroy(&grid);
  return status;
}
/* The stencil's values, or those of its multigrid's finest level. */
static ts_status with_stencil(ts_array a, int what, double *seen) {
  float nine[MOST];
  ts_space *grid = make_grid();
  ts_matrix *A = NULL;
  ts_multigrid *mg = NULL;
  fill_stencil(nine);
  CHECK_OK(context, ts_stencil_create(grid, HOST(nine), &A));
  if (what == 2) CHECK_OK(context, ts_multigrid_create(A, NULL, &mg));
  const ts_status status = what == 0   ? ts_stencil_set_values(A, a)
                           : what == 1 ? ts_stencil_read(A, a)
                                       : ts_multigrid_read_level(mg, 0, NULL, a);
  if (what == 0 && status == TS_OK) CHECK_OK(context, ts_stencil_read(A, ts_host(seen, MOST)));
  ts_multigrid_destroy(&mg);
  ts_matrix_destroy(&A);
  ts_space_destroy(&grid);
  return status;
}
static ts_status stencil_set(ts_array a, double *seen) {
  return with_stencil(a, 0, seen);
}
static ts_status stencil_read(ts_array a, double *seen) {
  return with_stencil(a, 1, seen);
}
static ts_status level_read(ts_array a, double *seen) {
  return with_stencil(a, 2, seen);
}

/* A problem with a Dirichlet boundary on the left and Neumann boundaries on the other sides. */
static ts_poisson_desc problem(void) {
  return (ts_poisson_desc){.width = W,
                           .height = W,
                           .spacing = 1,
                           .right = TS_BOUNDARY_NEUMANN,
                           .bottom = TS_BOUNDARY_NEUMANN,
                           .top = TS_BOUNDARY_NEUMANN};
}
static ts_status poisson_stencil(ts_array a, double *seen) {
  const ts_poisson_desc desc = problem();
  (void)seen;
  return ts_poisson_stencil(context, &desc, a);
}
static ts_status poisson_coefficient(ts_array a, double *seen) {
  ts_poisson_desc desc = problem();
  desc.coefficient = a;
  return ts_poisson_stencil(context, &desc, ts_host(seen, MOST));
}
static ts_status poisson_sigma(ts_array a, double *seen) {
  ts_poisson_desc desc = problem();
  desc.sigma = a;
  return ts_poisson_stencil(context, &desc, ts_host(seen, MOST));
}

/* `which`: g, b, x, left, right, bottom, top. */
static ts_status right_hand_side(ts_array a, int which, double *seen) {
  const ts_poisson_desc desc = problem();
  ts_boundary_values boundary = {0};
  ts_array *sides[] = {&boundary.left, &boundary.right, &boundary.bottom, &boundary.top};
  boundary.left = ts_host(numbers, W);
  if (which >= 3) *sides[which - 3] = a;
  return ts_poisson_right_hand_side(context, &desc, which == 0 ? a : HOST(ones), &boundary,
                                    which == 1 ? a : ts_host(seen, W * W),
                                    which == 2 ? a : ts_host(seen + W * W, W * W));
}
static ts_status poisson_g(ts_array a, double *seen) {
  return right_hand_side(a, 0, seen);
}
static ts_status poisson_b(ts_array a, double *seen) {
  return right_hand_side(a, 1, seen);
}
static ts_status poisson_x(ts_array a, double *seen) {
  return right_hand_side(a, 2, seen);
}
static ts_status poisson_left(ts_array a, double *seen) {
  return right_hand_side(a, 3, seen);
}
static ts_status poisson_right(ts_array a, double *seen) {
  return right_hand_side(a, 4, seen);
}
static ts_status poisson_bottom(ts_array a, double *seen) {
  return right_hand_side(a, 5, seen);
}
static ts_status poisson_top(ts_array a, double *seen) {
  return right_hand_side(a, 6, seen);
}

/* ---- Systems of equations ---- */

static ts_status with_system(ts_array a, int what, double *seen) {
  ts_system *system = NULL;
  CHECK_OK(context, ts_system_create(context, &(ts_system_desc){.unknowns = N}, &system));
  CHECK_OK(context, ts_system_begin(system));
  for (int32_t i = 0; i < N; i++) CHECK_OK(context, ts_system_add(system, i, i, 2));
  CHECK_OK(context, ts_system_end(system));
  if (what == 1) CHECK_OK(context, ts_system_set_values(system, ts_host(numbers, N)));
  const ts_status status = what == 0   ? ts_system_set_values(system, a)
                           : what == 1 ? ts_system_get_values(system, a)
                                       : ts_system_set_right_hand_sides(system, a);
  if (what == 2 && status == TS_OK) CHECK_OK(context, ts_system_solve(system, NULL, NULL));
  if (what != 1 && status == TS_OK) CHECK_OK(context, ts_system_get_values(system, ts_host(seen, N)));
  ts_system_destroy(&system);
  return status;
}
static ts_status system_set(ts_array a, double *seen) {
  return with_system(a, 0, seen);
}
static ts_status system_get(ts_array a, double *seen) {
  return with_system(a, 1, seen);
}
static ts_status system_rights(ts_array a, double *seen) {
  return with_system(a, 2, seen);
}

/* ---- Complementarity problems ---- */

static const double dense[4] = {2, 0.5, 0.5, 2}, unit[2] = {1, 1};
static const int32_t two_offsets[] = {0, 1, 2}, two_columns[] = {0, 1};

/* Writes z of three sweeps to `seen` and destroys the problem. */
static ts_status sweep(ts_status status, ts_lcp *lcp, double *seen) {
  if (status == TS_OK) {
    ts_vector *q = make_parts(ts_lcp_get_space(lcp), 1, 1, (const double[]){-3, -1}),
              *z = make_parts(ts_lcp_get_space(lcp), 1, 1, NULL);
    CHECK_OK(context, ts_lcp_solve(lcp, q, z, &(ts_lcp_settings){.fixed_sweeps = 3}, NULL));
    CHECK_OK(context, ts_vector_read(z, ts_host(seen, 2)));
    ts_vector_destroy(&q);
    ts_vector_destroy(&z);
  }
  ts_lcp_destroy(&lcp);
  return status;
}
static ts_status create_lcp(const ts_lcp_desc *desc, double *seen) {
  ts_lcp *lcp = NULL;
  const ts_status status = ts_lcp_create(context, desc, &lcp);
  return sweep(status, lcp, seen);
}
static ts_status lcp_matrix(ts_array a, double *seen) {
  return create_lcp(&(ts_lcp_desc){.size = 2, .matrix = a}, seen);
}
static ts_status lcp_lower(ts_array a, double *seen) {
  return create_lcp(&(ts_lcp_desc){.size = 2, .matrix = HOST(dense), .lower = a}, seen);
}
static ts_status lcp_upper(ts_array a, double *seen) {
  return create_lcp(&(ts_lcp_desc){.size = 2, .matrix = HOST(dense), .upper = a}, seen);
}
static ts_status lcp_friction(ts_array a, double *seen) {
  return create_lcp(&(ts_lcp_desc){.size = 2, .dimension = 2, .matrix = HOST(dense), .friction = a}, seen);
}
static ts_status lcp_mass(ts_array a, double *seen) {
  const ts_csr H = ts_host_csr(2, 2, two_offsets, two_columns, unit);
  return create_lcp(&(ts_lcp_desc){.size = 2, .jacobian = &H, .inverse_mass = a}, seen);
}
static ts_status lcp_jacobian(ts_array a, double *seen) {
  ts_csr H = ts_host_csr(2, 2, two_offsets, two_columns, unit);
  H.row_offsets = a;
  return create_lcp(&(ts_lcp_desc){.size = 2, .jacobian = &H, .inverse_mass = HOST(unit)}, seen);
}
static ts_status lcp_sparse(ts_array a, double *seen) {
  ts_csr M = ts_host_csr(2, 2, two_offsets, two_columns, unit);
  M.column_indices = a;
  return create_lcp(&(ts_lcp_desc){.size = 2, .sparse_matrix = &M}, seen);
}
static ts_status change_lcp(ts_array a, int what, double *seen) {
  ts_lcp *lcp = NULL;
  ts_lcp_desc desc = {.size = 2, .matrix = HOST(dense)};
  if (what == 3) desc.dimension = 2, desc.friction = ts_host(unit, 1);
  CHECK_OK(context, ts_lcp_create(context, &desc, &lcp));
  const ts_array none = {0};
  const ts_status status = what == 0   ? ts_lcp_set_matrix(lcp, &(ts_lcp_desc){.matrix = a})
                           : what == 1 ? ts_lcp_set_bounds(lcp, a, none)
                           : what == 2 ? ts_lcp_set_bounds(lcp, none, a)
                                       : ts_lcp_set_friction(lcp, a);
  return sweep(status, lcp, seen);
}
static ts_status lcp_set_matrix(ts_array a, double *seen) {
  return change_lcp(a, 0, seen);
}
static ts_status lcp_set_lower(ts_array a, double *seen) {
  return change_lcp(a, 1, seen);
}
static ts_status lcp_set_upper(ts_array a, double *seen) {
  return change_lcp(a, 2, seen);
}
static ts_status lcp_set_friction(ts_array a, double *seen) {
  return change_lcp(a, 3, seen);
}

/* ---- The table ---- */

enum { GRID = 1, LCP = 2, OUTPUT = 4, OPTIONAL = 8, COUNTS = 16 /* other arrays must have the same count */ };

typedef struct probe {
  ts_status (*call)(ts_array a, double *seen);
  const char *name; /* in messages */
  size_t count;
  int types, flags;
  const void *given; /* the numbers, of type `given_as` */
  ts_type given_as;
} probe;

#define FLOATS(numbers) numbers, TS_TYPE_FLOAT
#define DOUBLES(numbers) numbers, TS_TYPE_DOUBLE
#define INTS(numbers) numbers, TS_TYPE_INT32
#define NOTHING NULL, TS_TYPE_NONE

static float nine_numbers[MOST]; /* coefficients of a stencil */

static const probe probes[] = {
    {csr_offsets, "row_offsets", N + 1, INTEGER, 0, INTS(offsets)},
    {csr_columns, "column_indices", ENTRIES, INTEGER, 0, INTS(columns)},
    {csr_values, "values", ENTRIES, FLOATING, OPTIONAL, FLOATS(entries)},
    {triplet_rows, "row_indices", ENTRIES, INTEGER, 0, INTS(rows)},
    {triplet_columns, "column_indices", ENTRIES, INTEGER, COUNTS, INTS(columns)},
    {triplet_values, "values", ENTRIES, FLOATING, OPTIONAL, FLOATS(entries)},
    {set_offsets, "row_offsets", N + 1, INTEGER, 0, INTS(offsets)},
    {set_columns, "column_indices", ENTRIES, INTEGER, 0, INTS(columns)},
    {set_values, "values", ENTRIES, FLOATING, OPTIONAL, FLOATS(entries)},
    {set_triplet_rows, "row_indices", ENTRIES, INTEGER, 0, INTS(rows)},
    {set_triplet_columns, "column_indices", ENTRIES, INTEGER, COUNTS, INTS(columns)},
    {set_triplet_values, "values", ENTRIES, FLOATING, OPTIONAL, FLOATS(entries)},
    {vector_write, "values", N, FLOATING, 0, DOUBLES(numbers)},
    {vector_read, "values", N, FLOATING, OUTPUT, NOTHING},
    {scalars_write, "values", 8, FLOATING, 0, DOUBLES(numbers)},
    {scalars_read, "values", 8, FLOATING, OUTPUT, NOTHING},
    {solve_b, "b", N, FLOATING, 0, DOUBLES(numbers)},
    {solve_x, "x", N, FLOATING, OUTPUT, NOTHING},
    {bandwidth_offsets, "row_offsets", N + 1, INTEGER, 0, INTS(offsets)},
    {rcm_columns, "column_indices", ENTRIES, INTEGER, 0, INTS(columns)},
    {permuted_offsets, "result.row_offsets", N + 1, INT32_ONLY, OUTPUT, NOTHING},
    {permuted_columns, "result.column_indices", ENTRIES, INT32_ONLY, OUTPUT, NOTHING},
    {permuted_values, "result.values", ENTRIES, FLOATING, OUTPUT, NOTHING},
    {stencil_create, "values", MOST, FLOATING, GRID, FLOATS(nine_numbers)},
    {stencil_set, "values", MOST, FLOATING, GRID, FLOATS(nine_numbers)},
    {stencil_read, "values", MOST, FLOATING, GRID | OUTPUT, NOTHING},
    {level_read, "values", MOST, FLOATING, GRID | OUTPUT | OPTIONAL, NOTHING},
    {poisson_stencil, "values", MOST, FLOATING, OUTPUT, NOTHING},
    {poisson_coefficient, "coefficient", W *W, FLOATING, OPTIONAL, FLOATS(ones)},
    {poisson_sigma, "sigma", W *W, FLOATING, OPTIONAL, FLOATS(ones)},
    {poisson_g, "g", W *W, FLOATING, OPTIONAL, FLOATS(ones)},
    {poisson_b, "b", W *W, FLOATING, OUTPUT, NOTHING},
    {poisson_x, "x", W *W, FLOATING, OUTPUT, NOTHING},
    {poisson_left, "left", W, FLOATING, OPTIONAL, DOUBLES(numbers)},
    {poisson_right, "right", W, FLOATING, OPTIONAL, DOUBLES(numbers)},
    {poisson_bottom, "bottom", W, FLOATING, OPTIONAL, DOUBLES(numbers)},
    {poisson_top, "top", W, FLOATING, OPTIONAL, DOUBLES(numbers)},
    {system_set, "values", N, FLOATING, 0, DOUBLES(numbers)},
    {system_get, "values", N, FLOATING, OUTPUT, NOTHING},
    {system_rights, "right_hand_sides", N, FLOATING, 0, DOUBLES(numbers)},
    {lcp_matrix, "matrix", 4, FLOATING, LCP, DOUBLES(dense)},
    {lcp_lower, "lower", 2, FLOATING, LCP | OPTIONAL, DOUBLES(unit)},
    {lcp_upper, "upper", 2, FLOATING, LCP | OPTIONAL, DOUBLES(unit)},
    {lcp_friction, "friction", 1, FLOATING, LCP, DOUBLES(unit)},
    {lcp_mass, "inverse_mass", 2, FLOATING, LCP, DOUBLES(unit)},
    {lcp_jacobian, "row_offsets", 3, INTEGER, LCP, INTS(two_offsets)},
    {lcp_sparse, "column_indices", 2, INTEGER, LCP, INTS(two_columns)},
    {lcp_set_matrix, "matrix", 4, FLOATING, LCP, DOUBLES(dense)},
    {lcp_set_lower, "lower", 2, FLOATING, LCP | OPTIONAL, DOUBLES(unit)},
    {lcp_set_upper, "upper", 2, FLOATING, LCP | OPTIONAL, DOUBLES(unit)},
    {lcp_set_friction, "friction", 1, FLOATING, LCP, DOUBLES(unit)},
};

/* Storage for the same numbers in each type. */
typedef union typed {
  float floats[MOST];
  double doubles[MOST];
  int32_t int32s[MOST];
  int64_t int64s[MOST];
} typed;

static double number(const void *given, ts_type type, size_t k) {
  switch (type) {
  case TS_TYPE_FLOAT:
    return (double)((const float *)given)[k];
  case TS_TYPE_DOUBLE:
    return ((const double *)given)[k];
  case TS_TYPE_INT32:
    return ((const int32_t *)given)[k];
  case TS_TYPE_INT64:
    return (double)((const int64_t *)given)[k];
  default:
    return 0;
  }
}

static ts_array array_of(const probe *p, ts_type type, typed *memory) {
  for (size_t k = 0; k < p->count; k++) {
    const double value = number(p->given, p->given_as, k);
    if (type == TS_TYPE_FLOAT) memory->floats[k] = (float)value;
    if (type == TS_TYPE_DOUBLE) memory->doubles[k] = value;
    if (type == TS_TYPE_INT32) memory->int32s[k] = (int32_t)value;
    if (type == TS_TYPE_INT64) memory->int64s[k] = (int64_t)value;
  }
  return ts_array_make(memory, p->count, type, 0);
}

static int is_left_out(const probe *p) {
  return (p->flags & GRID && !context->ops->grid) || (p->flags & LCP && !context->ops->lcp);
}

static ts_type first_type(const probe *p) {
  ts_type type = TS_TYPE_FLOAT;
  while (!(p->types & 1 << type)) type++;
  return type;
}

#define EACH_PROBE(p)                                                                                          \
  for (const probe *p = probes; p < probes + sizeof probes / sizeof *probes; p++)                              \
    if (!is_left_out(p))

static const char *name_of(ts_type type) {
  static const char *const names[] = {"none", "float", "double", "int32", "int64"};
  return names[type];
}

/* ---- Arrays that are accepted ---- */

/* All numbers are exact in single precision, so no type rounds them. */
static void types(void) {
  fill_stencil(nine_numbers);
  EACH_PROBE(p) {
    double first[MOST], seen[MOST];
    int tested = 0;
    for (ts_type type = TS_TYPE_FLOAT; type <= TS_TYPE_INT64; type++) {
      typed memory = {{0}};
      if (!(p->types & 1 << type)) continue;
      test_context_label("probe %d, %s as %s", (int)(p - probes), p->name, name_of(type));
      memset(seen, 0, sizeof seen);
      ts_array a = array_of(p, type, &memory);
      a.read_only = !(p->flags & OUTPUT);
      CHECK_OK(context, p->call(a, seen));
      for (size_t k = 0; k < p->count && p->flags & OUTPUT; k++) seen[k] = number(&memory, type, k);
      /* Output floats are the output doubles, rounded. */
      const int rounds = p->flags & OUTPUT && p->types == FLOATING && tested;
      for (size_t k = 0; k < MOST && tested; k++)
        if (!CHECK(rounds ? (float)seen[k] == (float)first[k] : memcmp(seen + k, first + k, sizeof *seen) == 0))
          break;
      if (!tested++) memcpy(first, seen, sizeof first);
    }
    int any = 0;
    for (size_t k = 0; k < MOST; k++) any += first[k] != 0;
    CHECK(any > 0); /* otherwise the array has no effect */
  }
}

/* An array with a NULL pointer counts as not given, regardless of its other fields. */
static void optional(void) {
  EACH_PROBE(p) {
    double seen[MOST] = {0}, same[MOST] = {0};
    if (!(p->flags & OPTIONAL)) continue;
    test_context_label("probe %d, %s", (int)(p - probes), p->name);
    CHECK_OK(context, p->call((ts_array){0}, seen));
    for (ts_type type = TS_TYPE_FLOAT; type <= TS_TYPE_INT64; type++) {
      CHECK_OK(context, p->call((ts_array){.count = 3, .type = type, .reserved = 1}, same));
      CHECK(memcmp(seen, same, sizeof seen) == 0);
    }
  }
}

/* ---- Arrays that are refused ---- */

static void refuse(const probe *p, ts_array a, ts_status status, const char *part) {
  double seen[MOST] = {0};
  CHECK_FAILS(context, p->call(a, seen), status, p->name, part);
}

static void refusals(void) {
  fill_stencil(nine_numbers);
  EACH_PROBE(p) {
    typed memory = {{0}};
    const ts_type type = first_type(p);
    const ts_array sound = array_of(p, type, &memory);
    ts_array a = sound;
    test_context_label("probe %d, %s", (int)(p - probes), p->name);
    if (!(p->flags & OPTIONAL)) {
      a.data = NULL;
      refuse(p, a, TS_ERROR_INVALID_ARGUMENT, "NULL");
    }
    for (int k = -1; k <= 1 && !(p->flags & COUNTS); k += 2) {
      char count[32];
      a = sound, a.count += (size_t)k;
      snprintf(count, sizeof count, "%zu", a.count);
      refuse(p, a, TS_ERROR_INVALID_ARGUMENT, count);
    }
    for (a = sound, a.type = TS_TYPE_NONE; a.type <= TS_TYPE_INT64; a.type++)
      if (!(p->types & 1 << a.type))
        refuse(p, a, TS_ERROR_INVALID_ARGUMENT,
               p->types == FLOATING  ? "must hold floats or doubles"
               : p->types == INTEGER ? "must hold integers of 32 or 64 bits"
                                     : "must hold integers of 32 bits");
    a = sound, a.type = (ts_type)5;
    refuse(p, a, TS_ERROR_INVALID_ARGUMENT, "type is 5");
    a = sound, a.type = (ts_type)-1;
    refuse(p, a, TS_ERROR_INVALID_ARGUMENT, "type is -1");
    a = sound, a.memory = (ts_memory)7;
    refuse(p, a, TS_ERROR_INVALID_ARGUMENT, "memory is 7");
    a = sound, a.reserved = -2;
    refuse(p, a, TS_ERROR_INVALID_ARGUMENT, "reserved is -2");
    a = sound, a.stream = (struct CUstream_st *)(uintptr_t)&memory;
    refuse(p, a, TS_ERROR_INVALID_ARGUMENT, "stream");
    if (p->flags & OUTPUT) {
      a = sound, a.read_only = 1;
      refuse(p, a, TS_ERROR_INVALID_ARGUMENT, "pointer to const");
    }
    if (strstr(test_backend, "cuda") == NULL)
      refuse(p, ts_array_on_cuda(sound, NULL), TS_ERROR_UNSUPPORTED, "memory");
  }
}

/* ---- Sizes ---- */

/* The sizes are wrong and the arrays much shorter, so the library must read only the first few numbers. */
static void too_large(void) {
  const int64_t wide_offsets[] = {0, 1, (int64_t)1 << 33}, inner_offsets[] = {0, (int64_t)1 << 32, 2},
                wide_columns[] = {0, (int64_t)1 << 40}, below[] = {0, INT32_MIN - (int64_t)1};
  const float two[] = {1, 1};
  ts_matrix *A = NULL;
  ts_matrix_desc desc = {.csr = ts_host_csr(2, 2, wide_offsets, wide_columns, two)};
  CHECK_FAILS(context, ts_matrix_create(context, &desc, &A), TS_ERROR_LIMIT, "8589934592 entries");
  desc.csr.column_indices.count = desc.csr.values.count = 2;
  CHECK_FAILS(context, ts_matrix_create(context, &desc, &A), TS_ERROR_LIMIT, "row_offsets[2]", "8589934592");
  desc.csr = ts_host_csr(2, 2, inner_offsets, two_columns, two);
  CHECK_FAILS(context, ts_matrix_create(context, &desc, &A), TS_ERROR_LIMIT, "row_offsets[1]", "4294967296");
  desc.csr = ts_host_csr(2, 2, two_offsets, wide_columns, two);
  CHECK_FAILS(context, ts_matrix_create(context, &desc, &A), TS_ERROR_LIMIT, "column_indices[1]",
              "1099511627776");
  desc.csr.column_indices = HOST(below);
  CHECK_FAILS(context, ts_matrix_create(context, &desc, &A), TS_ERROR_LIMIT, "column_indices[1]",
              "-2147483649");
  const int64_t sizes[] = {(int64_t)1 << 31, (int64_t)1 << 40, INT64_MAX};
  for (int k = 0; k < 3; k++) {
    char name[64];
    snprintf(name, sizeof name, "%lld", (long long)sizes[k]);
    test_context_label("%s", name);
    desc.csr = ts_host_csr(2, 2, two_offsets, two_columns, two);
    desc.csr.rows = sizes[k];
    CHECK_FAILS(context, ts_matrix_create(context, &desc, &A), TS_ERROR_LIMIT, name, "rows and columns");
    desc.csr.rows = 2, desc.csr.columns = sizes[k];
    CHECK_FAILS(context, ts_matrix_create(context, &desc, &A), TS_ERROR_LIMIT, name, "rows and columns");
    ts_triplets list = {.rows = sizes[k],
                        .columns = 2,
                        .row_indices = HOST(two_columns),
                        .column_indices = HOST(two_columns),
                        .values = HOST(two)};
    ts_matrix_desc from_list = {.triplets = &list};
    CHECK_FAILS(context, ts_matrix_create(context, &from_list, &A), TS_ERROR_LIMIT, name, "rows and columns");
    list.rows = 2, list.row_indices.count = list.column_indices.count = (size_t)sizes[k];
    CHECK_FAILS(context, ts_matrix_create(context, &from_list, &A), TS_ERROR_LIMIT, name, "entries");
    list.columns = sizes[k];
    CHECK_FAILS(context, ts_matrix_create(context, &from_list, &A), TS_ERROR_LIMIT, name, "rows and columns");
  }
  CHECK(A == NULL);
}

/* ---- Short forms ---- */

static void forms(void) {
  float f[2] = {0};
  const double d[3] = {0};
  int i = 0;
  const long l = 0;
  long long ll = 0;
  void *none = NULL;
  struct CUstream_st *stream = (struct CUstream_st *)(uintptr_t)f;
  ts_array a = ts_host(f, 2);
  CHECK(a.data == f && a.count == 2 && a.type == TS_TYPE_FLOAT && a.memory == TS_MEMORY_HOST);
  CHECK(!a.read_only && !a.reserved && !a.stream);
  a = ts_host(d, 3);
  CHECK(a.data == d && a.type == TS_TYPE_DOUBLE && a.read_only == 1);
  CHECK(ts_host(&i, 1).type == TS_TYPE_INT32 && !ts_host(&i, 1).read_only);
  CHECK(ts_host(&l, 1).type == (sizeof l == 8 ? TS_TYPE_INT64 : TS_TYPE_INT32) && ts_host(&l, 1).read_only);
  CHECK(ts_host(&ll, 1).type == TS_TYPE_INT64);
  CHECK(ts_host(none, 4).type == TS_TYPE_NONE && ts_host(NULL, 0).data == NULL);
  a = ts_cuda(d, 3, stream);
  CHECK(a.data == d && a.count == 3 && a.type == TS_TYPE_DOUBLE && a.memory == TS_MEMORY_CUDA);
  CHECK(a.stream == stream && a.read_only);
  const ts_csr csr = ts_host_csr(N, N + 1, offsets, columns, entries);
  CHECK(csr.rows == N && csr.columns == N + 1 && csr.row_offsets.count == N + 1);
  CHECK(csr.column_indices.count == ENTRIES && csr.values.count == ENTRIES && csr.values.read_only);
  CHECK(ts_host_csr(N, N, offsets, columns, NULL).values.count == 0);
  CHECK(ts_host_csr(0, N, offsets, columns, entries).column_indices.count == 0);
  CHECK(ts_host_csr(-1, N, offsets, columns, entries).row_offsets.count == 0);
  CHECK(ts_host_csr(N, N, NULL, columns, entries).column_indices.count == 0);
}

TEST_MAIN(CASES_IN_CONTEXT(types, optional, refusals, too_large), CASES(forms))
