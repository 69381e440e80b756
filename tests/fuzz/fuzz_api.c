/* Calls of the API in any order on the CPU backend, with two bytes or more per call. Successful results are
 * used further, and a failure must have set a message. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <texsolve/grid.h>
#include <texsolve/solver.h>
#include <texsolve/system.h>
#include <texsolve/texsolve.h>

#include "fuzz.h"

enum { SLOTS = 3, MOST = 24, ENTRIES = 64 };

typedef struct state {
  fuzz_bytes in;
  ts_context *context;
  ts_space *spaces[SLOTS];
  ts_vector *vectors[SLOTS + 2];
  ts_scalars *scalars;
  ts_matrix *matrices[SLOTS];
  ts_solver *solver;
  ts_preconditioner *preconditioner;
  ts_multigrid *multigrid;
  ts_system *system;
} state;

static void check(const state *s, ts_status status) {
  if (status < 0 && !*ts_last_error(s->context) && !*ts_last_error(NULL)) abort();
}

static int pick(state *s) {
  return fuzz_read(&s->in, SLOTS);
}
static ts_vector *vector(state *s) {
  return s->vectors[fuzz_read(&s->in, SLOTS + 2)];
}

static ts_space *any_space(state *s) {
  ts_matrix *A = s->matrices[pick(s)];
  switch (fuzz_read(&s->in, 3)) {
  case 0:
    return ts_matrix_get_row_space(A);
  case 1:
    return ts_matrix_get_column_space(A);
  default:
    return s->spaces[pick(s)];
  }
}

static void make_matrix(state *s) {
  int32_t offsets[MOST + 1] = {0}, columns[ENTRIES];
  float values[ENTRIES];
  unsigned char constrained[MOST];
  ts_matrix **A = &s->matrices[pick(s)];
  const int rows = fuzz_read(&s->in, MOST + 1),
            wide = fuzz_read(&s->in, 4) == 0 ? fuzz_read(&s->in, MOST) : rows;
  const int fault = fuzz_read(&s->in, 16) == 0, spd = fuzz_read(&s->in, 2);
  int count = 0;
  for (int i = 0; i < rows; i++) {
    constrained[i] = fuzz_read(&s->in, 5) == 0;
    const int length = spd ? 1 : fuzz_read(&s->in, 4);
    for (int k = 0; k < length && count < ENTRIES; k++, count++) {
      columns[count] = spd ? i : fuzz_read(&s->in, (wide ? wide : 1) + fault);
      values[count] = spd ? 1 + (float)fuzz_read(&s->in, 9) : fuzz_float(&s->in);
    }
    offsets[i + 1] = count;
  }
  const float *given = fuzz_read(&s->in, 9) ? values : NULL;
  ts_matrix_desc desc = {.csr = ts_host_csr(rows, wide, offsets, columns, given),
                         .format = (ts_format)fuzz_read(&s->in, 9),
                         .keep_host_copy = fuzz_read(&s->in, 2),
                         .components = fuzz_read(&s->in, 6)};
  if (fuzz_read(&s->in, 3) == 0) desc.constrained = constrained;
  if (fuzz_read(&s->in, 4) == 0) desc.row_space = any_space(s);
  if (fuzz_read(&s->in, 4) == 0) desc.column_space = any_space(s);
  ts_matrix *made; /* it may be over a space of the matrix that it replaces */
  check(s, ts_matrix_create(s->context, &desc, &made));
  ts_matrix_destroy(A);
  *A = made;
}

static void change_matrix(state *s) {
  ts_matrix *A = s->matrices[pick(s)];
  ts_csr copy;
  float values[ENTRIES];
  if (!A || ts_matrix_get_host_copy(A, &copy) != TS_OK) return;
  for (int k = 0; k < ENTRIES; k++) values[k] = fuzz_float(&s->in);
  const int way = fuzz_read(&s->in, 4);
  if (way == 1) copy.values = ts_host(values, copy.column_indices.count);
  if (way == 2) copy.values = (ts_array){0};
  if (way == 3) copy.rows--;
  check(s, ts_matrix_set_values(A, &copy));
}

static ts_array nine_of(const ts_space *grid, float *values) {
  return ts_host(values, 9 * (size_t)ts_space_get_size(grid));
}

static void make_stencil(state *s) {
  const ts_grid_desc desc = {.width = fuzz_read(&s->in, 12),
                             .height = fuzz_read(&s->in, 12),
                             .periodic_x = fuzz_read(&s->in, 2),
                             .periodic_y = fuzz_read(&s->in, 2)};
  float values[9 * 144] = {0};
  const int k = pick(s), any = fuzz_read(&s->in, 3) == 0;
  ts_space_destroy(&s->spaces[k]);
  const ts_status status = ts_grid_create(s->context, &desc, &s->spaces[k]);
  check(s, status);
  if (status != TS_OK) return;
  if (any) {
    for (int i = 0; i < 9 * desc.width * desc.height; i++) values[i] = fuzz_float(&s->in);
  } else {
    const ts_poisson_desc poisson = {.width = desc.width,
                                     .height = desc.height,
                                     .left = (ts_boundary)fuzz_read(&s->in, 4),
                                     .right = (ts_boundary)fuzz_read(&s->in, 4),
                                     .bottom = (ts_boundary)fuzz_read(&s->in, 4),
                                     .top = (ts_boundary)fuzz_read(&s->in, 4),
                                     .centring = (ts_centring)fuzz_read(&s->in, 3),
                                     .spacing = fuzz_number(&s->in),
                                     .uniform_sigma = fuzz_number(&s->in)};
    check(s, ts_poisson_stencil(s->context, &poisson,
                                ts_host(values, 9 * (size_t)poisson.width * (size_t)poisson.height)));
  }
  ts_matrix **A = &s->matrices[pick(s)];
  if (*A && fuzz_read(&s->in, 2)) {
    ts_matrix_info info;
    if (ts_matrix_get_info(*A, &info) == TS_OK && info.format == TS_FORMAT_STENCIL &&
        info.rows <= desc.width * desc.height)
      check(s, ts_stencil_set_values(*A, nine_of(ts_matrix_get_row_space(*A), values)));
    return;
  }
  ts_matrix_destroy(A);
  check(s, ts_stencil_create(s->spaces[k], nine_of(s->spaces[k], values), A));
}

static void operate(state *s) {
  ts_vector *x = vector(s), *y = vector(s), *z = vector(s);
  const int index = fuzz_read(&s->in, 6);
  const ts_coefficient a =
      fuzz_read(&s->in, 2) ? ts_constant(fuzz_float(&s->in)) : ts_scaled(fuzz_float(&s->in), s->scalars, index);
  switch (fuzz_read(&s->in, 13)) {
  case 0:
    check(s, ts_vector_fill(y, fuzz_float(&s->in)));
    break;
  case 1:
    check(s, ts_vector_copy(y, x));
    break;
  case 2:
    check(s, ts_vector_scale(y, a));
    break;
  case 3:
    check(s, ts_vector_axpby(y, a, x, a));
    break;
  case 4:
    check(s, ts_vector_multiply(z, x, y));
    break;
  case 5:
    check(s, ts_vector_reciprocal(y, x));
    break;
  case 6:
    check(s, ts_vector_dot(s->scalars, index, x, y));
    break;
  case 7:
    check(s, ts_vector_norm(s->scalars, index, x, (ts_norm)fuzz_read(&s->in, 3)));
    break;
  case 8:
    check(s, ts_vector_sum(s->scalars, index, x));
    break;
  case 9:
    check(s, ts_matrix_multiply(y, s->matrices[pick(s)], x));
    break;
  case 10:
    check(s, ts_matrix_multiply_transposed(y, s->matrices[pick(s)], x));
    break;
  case 11:
    check(s, ts_matrix_residual(y, z, s->matrices[pick(s)], x));
    break;
  default:
    check(s, ts_matrix_diagonal(y, s->matrices[pick(s)]));
    break;
  }
}

static void move_values(state *s) {
  float values[4 * 144 + 4];
  ts_vector *v = vector(s);
  if (!v) return;
  const size_t count = (size_t)ts_space_get_size(ts_vector_get_space(v)) * (size_t)ts_vector_get_components(v);
  if (count > sizeof values / sizeof *values) return;
  for (size_t i = 0; i < count; i++) values[i] = fuzz_float(&s->in);
  const size_t claimed = fuzz_read(&s->in, 9) ? count : (size_t)fuzz_read(&s->in, 9);
  if (claimed > count) return;
  check(s, fuzz_read(&s->in, 2) ? ts_vector_write(v, ts_host(values, claimed))
                                : ts_vector_read(v, ts_host(values, claimed)));
}

/* Up to three columns, sometimes with missing numbers. */
static void solve_arrays(state *s, ts_matrix *A, const ts_solver_desc *desc) {
  double right[3 * 144], numbers[3 * 144];
  float rounded[3 * 144];
  ts_result result;
  const size_t columns = (size_t)fuzz_read(&s->in, 4), fault = fuzz_read(&s->in, 16) == 0,
               rows = columns * (size_t)ts_space_get_size(ts_matrix_get_row_space(A)),
               unknowns = columns * (size_t)ts_space_get_size(ts_matrix_get_column_space(A));
  for (size_t i = 0; i < 3 * 144; i++) right[i] = numbers[i] = fuzz_number(&s->in), rounded[i] = 0;
  const ts_array b = ts_host(right, rows > fault ? rows - fault : 0);
  const ts_array x = fuzz_read(&s->in, 2) ? ts_host(numbers, unknowns) : ts_host(rounded, unknowns);
  if (fuzz_read(&s->in, 2)) {
    check(s, ts_solve(A, b, x, desc, &result));
    return;
  }
  ts_solver *solver = NULL;
  const ts_array start = fuzz_read(&s->in, 2) ? x : (ts_array){0};
  check(s, ts_solver_create(A, desc, &solver));
  for (int times = 0; times < 2 && solver; times++)
    check(s, ts_solver_solve_arrays(solver, b, start, x, &result));
  ts_solver_destroy(&solver);
}

static void solve(state *s) {
  ts_result result;
  const ts_solver_desc desc = {.method = (ts_method)fuzz_read(&s->in, 6),
                               .transposed = fuzz_read(&s->in, 3) ? NULL : s->matrices[pick(s)],
                               .preconditioner_kind = (ts_preconditioner_kind)fuzz_read(&s->in, 9),
                               .preconditioner = fuzz_read(&s->in, 3) ? NULL : s->preconditioner,
                               .stop = (ts_stop)fuzz_read(&s->in, 3),
                               .rtol = fuzz_number(&s->in) * 1e-3,
                               .atol = fuzz_read(&s->in, 3) ? 0 : fuzz_number(&s->in),
                               .max_iterations = 1 + fuzz_read(&s->in, 40),
                               .check_interval = fuzz_read(&s->in, 5),
                               .zero_start = fuzz_read(&s->in, 2),
                               .reductions = fuzz_read(&s->in, 4) ? 0 : fuzz_read(&s->in, 4),
                               .restart = fuzz_read(&s->in, 4) ? 0 : fuzz_read(&s->in, 9)};
  const ts_solver_desc fixed = {.method = desc.method,
                                .preconditioner_kind = desc.preconditioner_kind,
                                .fixed_iterations = fuzz_read(&s->in, 20)};
  const ts_preconditioner_desc how = {.kind = (ts_preconditioner_kind)fuzz_read(&s->in, 9),
                                      .block_size = fuzz_read(&s->in, 3) ? 0 : fuzz_read(&s->in, 20),
                                      .multigrid = fuzz_read(&s->in, 2) ? s->multigrid : NULL};
  const ts_multigrid_desc grid = {.smoother = (ts_smoother)fuzz_read(&s->in, 5),
                                  .storage = (ts_grid_storage)fuzz_read(&s->in, 5),
                                  .cycle = (ts_cycle)fuzz_read(&s->in, 4),
                                  .interpolation = (ts_interpolation)fuzz_read(&s->in, 4),
                                  .pre = fuzz_read(&s->in, 4),
                                  .post = fuzz_read(&s->in, 4),
                                  .max_levels = fuzz_read(&s->in, 5),
                                  .symmetric = fuzz_read(&s->in, 2),
                                  .full = fuzz_read(&s->in, 2)};
  ts_matrix *A = s->matrices[pick(s)];
  ts_vector *b = vector(s), *x = vector(s);
  switch (fuzz_read(&s->in, 10)) {
  case 0:
  case 1:
    ts_solver_destroy(&s->solver);
    check(s, ts_solver_create(A, fuzz_read(&s->in, 4) ? &desc : NULL, &s->solver));
    break;
  case 2:
    ts_solver_destroy(&s->solver); /* it may use the matrix */
    ts_preconditioner_destroy(&s->preconditioner);
    check(s, ts_preconditioner_create(A, &how, &s->preconditioner));
    break;
  case 3:
    ts_solver_destroy(&s->solver); /* it may use the cycle */
    ts_preconditioner_destroy(&s->preconditioner);
    ts_multigrid_destroy(&s->multigrid);
    check(s, ts_multigrid_create(A, &grid, &s->multigrid));
    break;
  case 4:
    check(s, ts_preconditioner_update(s->preconditioner));
    break;
  case 5:
    check(s, ts_preconditioner_apply(s->preconditioner, b, x));
    break;
  case 6:
    solve_arrays(s, A, fuzz_read(&s->in, 2) ? &desc : &fixed);
    break;
  case 7:
    check(s, ts_solver_solve(s->solver, b, x, &result));
    break;
  case 8:
    check(s, ts_multigrid_solve(s->multigrid, b, x, &result));
    break;
  default:
    check(s, ts_multigrid_cycle(s->multigrid, b, x, fuzz_read(&s->in, 3)));
    break;
  }
}

static void use_system(state *s) {
  double numbers[4];
  for (int k = 0; k < 4; k++) numbers[k] = fuzz_number(&s->in);
  const int32_t i = fuzz_read(&s->in, MOST) - 1, j = fuzz_read(&s->in, MOST) - 1;
  const ts_system_desc desc = {.unknowns = i,
                               .components = fuzz_read(&s->in, 6),
                               .least_squares = fuzz_read(&s->in, 2),
                               .symmetric = fuzz_read(&s->in, 3) == 0,
                               .allow_singular = fuzz_read(&s->in, 2),
                               .group = fuzz_read(&s->in, 6)};
  const ts_system_solve_desc how = {.solver.method = (ts_method)fuzz_read(&s->in, 6),
                                    .solver.preconditioner_kind = (ts_preconditioner_kind)fuzz_read(&s->in, 3),
                                    .solver.rtol = numbers[1] * 1e-3,
                                    .solver.max_iterations = 1 + fuzz_read(&s->in, 50),
                                    .normal = (ts_normal)fuzz_read(&s->in, 4),
                                    .order = (ts_order)fuzz_read(&s->in, 4),
                                    .format = (ts_format)fuzz_read(&s->in, 9),
                                    .leave_on_device = fuzz_read(&s->in, 2)};
  ts_system_result result;
  switch (fuzz_read(&s->in, 16)) {
  case 0:
    ts_system_destroy(&s->system);
    check(s, ts_system_create(s->context, &desc, &s->system));
    break;
  case 1:
    check(s, ts_system_set_value(s->system, i, numbers));
    break;
  case 2:
    check(s, ts_system_get_value(s->system, i, numbers));
    break;
  case 3:
    check(s, ts_system_lock(s->system, i));
    break;
  case 4:
    check(s, ts_system_unlock(s->system, i));
    break;
  case 5:
    check(s, ts_system_begin(s->system));
    break;
  case 6:
    check(s, ts_system_begin_row(s->system));
    break;
  case 7:
  case 8:
    check(s, ts_system_coefficient(s->system, i, numbers[0]));
    break;
  case 9:
    check(s, ts_system_right_hand_side(s->system, j, numbers[0]));
    break;
  case 10:
    check(s, ts_system_end_row(s->system, numbers[0]));
    break;
  case 11:
    check(s, ts_system_add(s->system, i, j, numbers[0]));
    break;
  case 12:
    check(s, ts_system_add_right_hand_side(s->system, i, j, numbers[0]));
    break;
  case 13:
    check(s, ts_system_end(s->system));
    break;
  case 14:
    check(s, ts_system_set_right_hand_side(s->system, i, numbers));
    break;
  default:
    check(s, ts_system_solve(s->system, &how, &result));
    break;
  }
}

static void destroy(state *s) {
  switch (fuzz_read(&s->in, 9)) {
  case 0:
    ts_space_destroy(&s->spaces[pick(s)]);
    break;
  case 1:
    ts_vector_destroy(&s->vectors[pick(s)]);
    break;
  case 2:
    ts_scalars_destroy(&s->scalars);
    break;
  case 3:
    ts_matrix_destroy(&s->matrices[pick(s)]);
    break;
  case 4:
    ts_solver_destroy(&s->solver);
    break;
  case 5:
    ts_preconditioner_destroy(&s->preconditioner); /* the solver keeps a reference */
    break;
  case 6:
    ts_solver_destroy(&s->solver);
    ts_preconditioner_destroy(&s->preconditioner);
    ts_multigrid_destroy(&s->multigrid);
    break;
  default:
    ts_system_destroy(&s->system);
    break;
  }
}

static void call(state *s) {
  const int k = pick(s);
  switch (fuzz_read(&s->in, 16)) {
  case 0:
    ts_space_destroy(&s->spaces[k]);
    check(s, ts_space_create(s->context, &(ts_space_desc){.size = fuzz_read(&s->in, MOST)}, &s->spaces[k]));
    break;
  case 1:
  case 2:
    ts_vector_destroy(&s->vectors[k]);
    check(s, ts_vector_create(any_space(s), &(ts_vector_desc){.components = fuzz_read(&s->in, 6)},
                              &s->vectors[k]));
    break;
  case 3:
    ts_scalars_destroy(&s->scalars);
    check(s, ts_scalars_create(s->context, &(ts_scalars_desc){.count = fuzz_read(&s->in, 6)}, &s->scalars));
    break;
  case 4:
    make_matrix(s);
    break;
  case 5:
    change_matrix(s);
    break;
  case 6:
    make_stencil(s);
    break;
  case 7:
  case 8:
    move_values(s);
    break;
  case 9:
    destroy(s);
    break;
  case 10:
  case 11:
    operate(s);
    break;
  case 12:
  case 13:
    solve(s);
    break;
  default:
    use_system(s);
    break;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const backends[] = {"cpu", "check:cpu"};
  state s = {.in = {data, data + size}};
  const ts_context_desc desc = {.backend = backends[fuzz_read(&s.in, 2)],
                                .threads = 1,
                                .flags = fuzz_read(&s.in, 2) ? TS_CONTEXT_NO_FUSED_OPERATIONS : 0};
  if (ts_context_create(&desc, &s.context) != TS_OK) abort();
  for (int calls = 0; s.in.next < s.in.end && calls < 200; calls++) call(&s);
  ts_solver_destroy(&s.solver);
  ts_preconditioner_destroy(&s.preconditioner);
  ts_multigrid_destroy(&s.multigrid);
  ts_system_destroy(&s.system);
  for (int k = 0; k < SLOTS; k++) ts_space_destroy(&s.spaces[k]);
  for (int k = 0; k < SLOTS; k++) ts_matrix_destroy(&s.matrices[k]);
  for (int k = 0; k < SLOTS + 2; k++) ts_vector_destroy(&s.vectors[k]);
  ts_scalars_destroy(&s.scalars);
  ts_context_destroy(&s.context);
  return 0;
}
