/* A rank calls MPI_Finalize while the others wait for it. They return an error that names it. Its context may
 * still be open or not. Each run of mpirun has one case. */
#include "ranks.h"
#include "ranks_rows.h"

static void wait_for_rank_1(void) {
  ref_matrix m = ref_grid(20, 20);
  ts_matrix *A = make_rows_matrix(&m, 0);
  char words[60];
  snprintf(words, sizeof words, "rank %d is gone", 1);
  for (int round = 0; round < 2; round++) { /* all later calls fail too */
    ts_matrix *B = NULL;
    rows r = copy_rows(&m);
    const ts_ranks_matrix_desc desc = describe(&m, &r);
    CHECK_FAILS(context, ts_ranks_matrix_create(context, &desc, &B), TS_ERROR_UNREACHABLE, words);
    CHECK(B == NULL);
    free_rows(&r);
  }
  ts_matrix_destroy(&A);
  test_close(&context);
  ref_free(&m);
}

static void leave(int closes) {
  context = test_open();
  rank = ts_ranks_get_rank(context);
  ranks = ts_ranks_get_count(context);
  if (ranks == 1) {
    test_close(&context);
    return;
  }
  if (rank != 1) {
    wait_for_rank_1();
    return;
  }
  ref_matrix m = ref_grid(20, 20);
  ts_matrix *A = make_rows_matrix(&m, 0);
  ts_matrix_destroy(&A);
  ref_free(&m);
  if (closes) test_close(&context);
  ranks_close(0);
}

static void with_its_context(void) {
  leave(0);
}
static void without_its_context(void) {
  leave(1);
}

TEST_MAIN(CASES(with_its_context, without_its_context))
