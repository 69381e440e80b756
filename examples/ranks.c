/* Solves on several MPI processes. Each makes its own rows, with columns numbered across all of them, so no
 * process holds the whole matrix.
 * Build: mpicc ranks.c $(pkg-config --cflags --libs texsolve-mpi) -lm. Run: mpirun -n 3 ./a.out cpu
 * Prints the number of rows and iterations. */
#include <math.h>
#include <stdio.h>
#include <texsolve/mpi.h>
#include <texsolve/solver.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { ROWS = 1000 }; /* of each rank */

static int32_t offsets[ROWS + 1];
static int64_t columns[3 * ROWS];
static double values[3 * ROWS], numbers[ROWS];

static void assemble(int64_t first, int64_t total) { /* -1 2.1 -1 */
  int32_t count = 0;
  for (int64_t i = first; i < first + ROWS; i++) {
    for (int64_t j = i - 1; j <= i + 1; j++)
      if (j >= 0 && j < total) columns[count] = j, values[count++] = j == i ? 2.1 : -1;
    offsets[i - first + 1] = count;
    numbers[i - first] = 1;
  }
}

int main(int argc, char **argv) {
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "cpu"};
  ts_context *context = NULL;
  ts_matrix *A = NULL;
  ts_vector *b = NULL, *x = NULL;
  ts_solver *solver = NULL;
  ts_result result;

  MPI_Init(&argc, &argv);
  CHECK(ts_mpi_context_create(&device, MPI_COMM_WORLD, &context));
  const int rank = ts_ranks_get_rank(context), ranks = ts_ranks_get_count(context);
  assemble((int64_t)rank * ROWS, (int64_t)ranks * ROWS);
  ts_ranks_matrix_desc rows = {.csr = ts_host_csr(ROWS, 0, offsets, columns, values)};
  CHECK(ts_ranks_matrix_create(context, &rows, &A));
  CHECK(ts_vector_create(ts_matrix_get_row_space(A), NULL, &b));
  CHECK(ts_vector_create(ts_matrix_get_row_space(A), NULL, &x));
  CHECK(ts_ranks_vector_write(b, ts_host(numbers, ROWS)));
  CHECK(ts_solver_create(A, NULL, &solver));
  CHECK(ts_solver_solve(solver, b, x, &result)); // the same result on every rank
  CHECK(ts_ranks_vector_read(x, ts_host(numbers, ROWS)));
  if (rank == 0) printf("%d rows, %d iterations\n", ranks * ROWS, result.iterations);
  ts_solver_destroy(&solver);
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_matrix_destroy(&A);
  ts_context_destroy(&context);
  MPI_Finalize();
  return fabs(numbers[ROWS / 2] - 10) > 1e-3; // 0.1 x = 1 far from the ends
}
