/* Makes a matrix from triplets, in any order and with duplicates, as finite elements produce them: a chain
 * of springs that is fixed at one end and pulled at the other.
 * Build: cc triplets.c $(pkg-config --cflags --libs texsolve) -lm. Run: ./a.out gl
 * Prints the entries of the matrix and the displacement of the free end, which is 1. */
#include <math.h>
#include <stdio.h>
#include <texsolve/solver.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { NODES = 100 }; /* without node 0, which is fixed */

static int32_t rows[4 * NODES], columns[4 * NODES];
static double values[4 * NODES], force[NODES], x[NODES];
static size_t count;

static void add(int32_t row, int32_t column, double value) {
  if (row < 0 || column < 0) return; // the fixed node
  rows[count] = row;
  columns[count] = column;
  values[count++] = value;
}

int main(int argc, char **argv) {
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  ts_context *context = NULL;
  ts_matrix *A = NULL;
  ts_matrix_info info;

  for (int32_t spring = 0; spring < NODES; spring++) {
    const int32_t upper = spring - 1, lower = spring;
    const double stiffness = NODES;
    add(upper, upper, stiffness);
    add(upper, lower, -stiffness);
    add(lower, upper, -stiffness);
    add(lower, lower, stiffness);
  }
  force[NODES - 1] = 1;

  ts_triplets entries = {NODES, NODES, ts_host(rows, count), ts_host(columns, count), ts_host(values, count),
                         {0}};
  ts_matrix_desc rod = {.triplets = &entries};
  CHECK(ts_context_create(&device, &context));
  CHECK(ts_matrix_create(context, &rod, &A));
  CHECK(ts_matrix_get_info(A, &info));
  CHECK(ts_solve(A, ts_host(force, NODES), ts_host(x, NODES), NULL, NULL));
  printf("%lld entries, %lld added to others, displacement of the end %.3f\n", (long long)info.nonzeros,
         (long long)info.duplicates, x[NODES - 1]);
  ts_matrix_destroy(&A);
  ts_context_destroy(&context);
  return fabs(x[NODES - 1] - 1) > 1e-3;
}
