/* Host memory of one rank runs out at its n-th allocation, for every n, in every call that all ranks make
 * together. All ranks return that error, none waits, and the call works when memory is available again. Either
 * only that allocation fails, or all later ones fail too. */
#include <texsolve/amg.h>
#include <texsolve/solver.h>

#include "heap.h"
#include "ranks_rows.h"

static int by; /* the rank without memory */

static void run_out_at(long n, int once) {
  memory.countdown = rank == by ? n : -1;
  memory.once = once;
  memory.failed = 0;
}

/* True if the call has succeeded without a failing allocation. The result is the same on every rank. */
static int is_through(ts_context *in, ts_status status) {
  char name[20];
  memory.countdown = -1;
  if (status == TS_OK) {
    CHECK(rank != by || memory.failed == 0);
    return 1;
  }
  snprintf(name, sizeof name, "rank %d: ", by);
  if (ranks > 1)
    CHECK_FAILS(in, status, TS_ERROR_OUT_OF_HOST_MEMORY, "memory", name);
  else
    CHECK_FAILS(in, status, TS_ERROR_OUT_OF_HOST_MEMORY, "memory");
  return 0;
}

#define EACH(call, undo)                                                                                       \
  do {                                                                                                         \
    for (int once_ = 0; once_ < 2; once_++) {                                                                  \
      int through_ = 0;                                                                                        \
      for (long n_ = 0; n_ < 5000 && !through_; n_ = heap_next(n_)) {                                          \
        test_context_label("%s, rank %d, allocation %ld%s", #call, by, n_, once_ ? " alone" : "");             \
        run_out_at(n_, once_);                                                                                 \
        through_ = is_through(context, call);                                                                  \
        if (!(through_ && once_)) undo;                                                                        \
      }                                                                                                        \
      CHECK(through_);                                                                                         \
    }                                                                                                          \
    test_context_label("%s", "");                                                                              \
  } while (0)
#define NOTHING                                                                                                \
  do {                                                                                                         \
  } while (0)

/* ---- Opening ---- */

static void know_ranks(void) {
  context = test_open();
  rank = ts_ranks_get_rank(context);
  ranks = ts_ranks_get_count(context);
  test_close(&context);
}

static void opening(void) {
  know_ranks();
  ts_context_desc desc = heap_desc();
  desc.threads = 1;
  for (by = 0; by < ranks; by++)
    for (int once = 0; once < 2; once++) {
      int through = 0;
      for (long n = 0; n < 1000 && !through; n++) {
        test_context_label("rank %d, allocation %ld%s", by, n, once ? " alone" : "");
        run_out_at(n, once);
        through = is_through(NULL, ts_context_create(&desc, &context));
        CHECK(!context == !through);
        test_close(&context);
        if (!CHECK_INT(memory.live, 0)) return;
      }
      CHECK(through);
    }
}

/* Errors on one rank before it has a context. */
static void opening_with_errors(void) {
  know_ranks();
  for (by = 0; by < ranks; by++) {
    ts_context_desc desc = test_desc();
    test_context_label("rank %d", by);
    if (rank == by) desc.threads = -1;
    CHECK_FAILS(NULL, ts_context_create(&desc, &context), TS_ERROR_INVALID_ARGUMENT, "threads is -1");
    desc = test_desc();
    CHECK_FAILS(NULL, ts_context_create(&desc, rank == by ? NULL : &context), TS_ERROR_INVALID_ARGUMENT,
                "context is NULL");
    CHECK(context == NULL);
  }
}

/* ---- All other calls ---- */

static void objects_of(const ref_matrix *m, int moves) {
  rows r = copy_rows(m);
  ts_ranks_matrix_desc desc = describe(m, &r);
  desc.keep_host_copy = 1;
  desc.may_move = moves;
  static const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_BLOCK_JACOBI, TS_PRECONDITIONER_CHEBYSHEV,
                                                 TS_PRECONDITIONER_ISAI, TS_PRECONDITIONER_AMG};
  ts_matrix *A = NULL;
  ts_vector *b = NULL, *x = NULL;
  EACH(ts_ranks_matrix_create(context, &desc, &A), ts_matrix_destroy(&A));
  ts_space *space = ts_matrix_get_row_space(A);
  const ts_vector_desc doubles = {.precision = TS_PRECISION_DOUBLE};
  double *values = ref_doubles((size_t)r.count, 3, -1, 1);
  EACH(ts_vector_create(space, &doubles, &b), ts_vector_destroy(&b));
  EACH(ts_vector_create(space, &doubles, &x), ts_vector_destroy(&x));
  EACH(ts_ranks_vector_write(b, ts_host(values, (size_t)r.count)), NOTHING);
  if (!moves) EACH(ts_ranks_matrix_set_values(A, &desc), NOTHING);
  for (int k = 0; k < 4; k++) {
    const ts_preconditioner_desc of = {.kind = kinds[k]};
    ts_preconditioner *M = NULL;
    ts_solver *solver = NULL;
    EACH(ts_preconditioner_create(A, &of, &M), ts_preconditioner_destroy(&M));
    EACH(ts_preconditioner_update(M), NOTHING);
    const ts_solver_desc by_cg = {.method = TS_METHOD_CG, .preconditioner = M, .rtol = 1e-8};
    EACH(ts_solver_create(A, &by_cg, &solver), ts_solver_destroy(&solver));
    EACH(ts_solver_solve(solver, b, x, NULL), NOTHING);
    ts_solver_destroy(&solver);
    ts_preconditioner_destroy(&M);
  }
  EACH(ts_ranks_vector_read(x, ts_host(values, (size_t)r.count)), NOTHING);
  free(values);
  ts_vector_destroy(&x), ts_vector_destroy(&b);
  ts_matrix_destroy(&A);
  free_rows(&r);
}

static void objects(void) {
  know_ranks();
  ref_matrix m = ref_grid(14, 12);
  ts_context_desc desc = heap_desc();
  desc.threads = 1;
  const int step = ranks > 1 ? ranks - 1 : 1;
  for (by = 0; by < ranks; by += step) {
    REQUIRE_OK(NULL, ts_context_create(&desc, &context));
    objects_of(&m, by > 0); /* moves rows if PT-Scotch is available */
    test_close(&context);
    CHECK_INT(memory.live, 0);
  }
  ref_free(&m);
}

TEST_MAIN(CASES(opening, opening_with_errors, objects))
