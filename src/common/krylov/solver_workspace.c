/* State of a solver between solves: numbers on the host, vectors and slots on the device. The vectors are
 * created for the components of the first solve, and again when the components or the precision change. */
#include "common/core/core.h"
#include "solver.h"

/* Upper bound, including all optional vectors. */
static size_t most_vectors(const ts_solver *k) {
  enum { shared = 9 };
  return shared + (size_t)k->most_own_vectors + (size_t)k->own_row_vectors;
}

/* Host arrays with sizes set by plan(). */
static ts_status allocate_numbers(ts_solver *k) {
  const size_t slots = TSI_SLOT_OWN + (size_t)k->own_slots;
  k->history = tsi_malloc(k->context, (size_t)k->history_size, sizeof *k->history);
  k->numbers = tsi_malloc(k->context, slots, 4 * sizeof *k->numbers);
  k->work = tsi_malloc(k->context, (size_t)k->work_size + 1, sizeof *k->work);
  return k->history && k->numbers && k->work
             ? TS_OK
             : tsi_out_of_memory(k->context, "a solver", slots * 4 * sizeof *k->numbers);
}

static void free_numbers(const ts_solver *k) {
  tsi_free(k->context, k->history);
  tsi_free(k->context, k->work);
  tsi_free(k->context, k->numbers);
}

void tsi_solver_free(const ts_solver *k) {
  free_numbers(k);
  tsi_free(k->context, k->kept_history.numbers);
  tsi_free(k->context, k->vectors);
}

ts_status tsi_solver_allocate(ts_solver *k) {
  const size_t vectors = most_vectors(k) + (size_t)k->most_own_vectors;
  k->vectors = tsi_calloc(k->context, vectors, sizeof(ts_vector *));
  if (!k->vectors) return tsi_out_of_memory(k->context, "a solver", vectors * sizeof(ts_vector *));
  return allocate_numbers(k);
}

void tsi_solver_destroy_workspace(ts_solver *k) {
  for (int i = 0; i < k->vector_count; i++) ts_vector_destroy(&k->vectors[i]);
  ts_vector_destroy(&k->r_low);
  ts_vector_destroy(&k->best);
  ts_scalars_destroy(&k->slots);
  k->components = k->vector_count = 0;
}

/* 1 / diagonal, or a multiple of the identity that scales a matrix far from 1 to about 1. */
static int needs_m(const ts_solver *k) {
  const ts_preconditioner *M = k->preconditioner;
  return tsi_preconditioner_inverts_diagonal(M) ||
         (tsi_preconditioner_is_diagonal(M) && !k->transposed && tsi_scale_exponent(k->matrix));
}

/* A preconditioner that is applied writes to z. So do methods that are preconditioned from the right. */
static int needs_z(const ts_solver *k, int m) {
  return !tsi_preconditioner_is_diagonal(k->preconditioner) || (m && k->method->preconditioned_from_right);
}

/* Assigns the vectors over the columns. e and r of a square system are adjacent, because axpy2_dot updates
 * both. */
static int name_vectors(ts_solver *k, int m, int z) {
  ts_vector **next = k->vectors;
  k->e = *next++;
  if (k->transposed)
    k->gradient = *next++;
  else
    k->r = *next++;
  k->x = *next++;
  k->x_new = k->method == &tsi_cg || k->method == &tsi_richardson ? NULL : *next++;
  if (!k->transposed) k->b = *next++;
  k->m = m ? *next++ : NULL;
  k->z = z ? *next++ : NULL;
  k->scratch = tsi_needs_scratch(k->context) ? *next++ : NULL;
  k->own = k->vectors + most_vectors(k);
  for (int i = 0; i < k->own_vectors; i++) k->own[i] = *next++;
  return (int)(next - k->vectors);
}

/* Least squares: the slots are allocated separately from the vectors, since they receive sums over both
 * spaces. */
static ts_status create_least_squares_vectors(ts_solver *k, int components, int count) {
  const ts_scalars_desc slots = {.count = TSI_SLOT_OWN + k->own_slots,
                                 .precision = k->pairs ? TS_PRECISION_DOUBLE : TS_PRECISION_SINGLE};
  TSI_TRY(ts_scalars_create(k->context, &slots, &k->slots));
  TSI_TRY(tsi_enter(k->context));
  ts_status status =
      tsi_arena_create(k->matrix->column_space, components, 1 + k->pairs, k->vectors, count, 0, NULL);
  if (status == TS_OK) {
    k->vector_count = count;
    status = tsi_arena_create(k->matrix->row_space, components, 1 + k->pairs, k->vectors + count,
                              2 + k->own_row_vectors, 0, NULL);
  }
  if (status == TS_OK) k->vector_count = count + 2 + k->own_row_vectors;
  return tsi_leave(k->context, status);
}

static ts_status create_vectors(ts_solver *k, int components, int m, int z) {
  const int count = name_vectors(k, m, z);
  if (k->transposed) {
    TSI_TRY(create_least_squares_vectors(k, components, count));
    k->b = k->vectors[count];
    k->r = k->vectors[count + 1];
  } else {
    TSI_TRY(tsi_enter(k->context));
    TSI_TRY(tsi_leave(k->context, tsi_arena_create(k->matrix->row_space, components, 1 + k->pairs, k->vectors,
                                                   count, TSI_SLOT_OWN + k->own_slots, &k->slots)));
    k->vector_count = count;
  }
  name_vectors(k, m, z);
  return TS_OK;
}

/* Vectors with a single part in a workspace of pairs. */
static void drop_low(ts_vector *v) {
  tsi_enter_to_destroy(v->context);
  tsi_vector_drop_low(v);
  tsi_leave(v->context, TS_OK);
}

/* A gmres cycle that grew in another solve or precision may exceed the memory that is available now. */
static int may_shrink(ts_solver *k, ts_status status) {
  const int extra = k->desc.restart - TSI_RESTART;
  if (!tsi_is_memory(status) || !k->restart_is_open || extra <= 0) return 0;
  tsi_solver_destroy_workspace(k);
  tsi_clear_error(k->context);
  k->desc.restart = TSI_RESTART;
  k->method->plan(k);
  return 1;
}

ts_status tsi_solver_create_workspace(ts_solver *k, int components, int pairs) {
  const int m = needs_m(k), z = needs_z(k, m);
  if (k->components == components && k->pairs == pairs && !k->m == !m) return TS_OK;
  tsi_solver_destroy_workspace(k);
  k->pairs = pairs;
  k->jacobi_changes = -1;
  ts_status status = create_vectors(k, components, m, z);
  if (may_shrink(k, status)) status = create_vectors(k, components, m, z);
  if (status == TS_OK && k->m) drop_low(k->m);
  if (status == TS_OK && k->z && !k->m && !k->preconditioner->kind->writes_low) drop_low(k->z);
  k->components = components;
  if (status == TS_OK && k->method->prepare) status = k->method->prepare(k);
  if (status < 0) tsi_solver_destroy_workspace(k);
  return status;
}

/* ---- Extension ---- */

static ts_status copy_common_slots(const ts_solver *k, ts_scalars *to) {
  TSI_TRY(tsi_scalars_read(k->slots, 0, TSI_SLOT_OWN, k->numbers));
  return tsi_scalars_write(to, 0, TSI_SLOT_OWN, k->numbers);
}

ts_status tsi_solver_extend_workspace(ts_solver *k, const ts_solver *before) {
  const int first = before->own_vectors, more = k->own_vectors - first;
  ts_vector **added = k->vectors + k->vector_count;
  ts_scalars *slots = NULL;
  ts_status status = allocate_numbers(k);
  if (status == TS_OK)
    status = tsi_arena_create(k->matrix->row_space, k->components, 1 + k->pairs, added, more,
                              TSI_SLOT_OWN + k->own_slots, &slots);
  if (status == TS_OK) {
    for (int i = 0; i < more; i++) k->own[first + i] = added[i];
    k->vector_count += more;
    status = copy_common_slots(k, slots);
    tsi_scalars_destroy(k->slots);
    k->slots = slots;
    free_numbers(before);
    return status;
  }
  free_numbers(k);
  k->history = before->history;
  k->work = before->work;
  k->numbers = before->numbers;
  return status;
}
