/* Solves with six right-hand sides in one call: forces at six nodes of a chain of springs. The library
 * solves for four of them at a time, so that it reads the matrix once for all four.
 * Build: cc right_hand_sides.c $(pkg-config --cflags --libs texsolve) -lm. Run: ./a.out gl
 * Prints the displacement of the free end for each force: the springs from there to the fixed end. */
#include <math.h>
#include <stdio.h>
#include <texsolve/solver.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { NODES = 60, FORCES = 6, NUMBERS = NODES * FORCES };

int main(int argc, char **argv) {
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  static int32_t offsets[NODES + 1], columns[3 * NODES];
  static double values[3 * NODES], b[NODES][FORCES], x[NODES][FORCES]; /* number i * FORCES + force */
  int32_t count = 0;
  ts_context *context = NULL;
  ts_matrix *A = NULL;
  double wrong = 0;

  for (int32_t i = 0; i < NODES; i++) { // -1 2 -1, and 1 at the free end
    for (int32_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < NODES; j++) {
      columns[count] = j;
      values[count++] = j != i ? -1 : i == NODES - 1 ? 1 : 2;
    }
    offsets[i + 1] = count;
  }
  for (int force = 0; force < FORCES; force++) b[10 * force + 9][force] = 1;

  ts_matrix_desc rod = {.csr = ts_host_csr(NODES, NODES, offsets, columns, values)};
  CHECK(ts_context_create(&device, &context));
  CHECK(ts_matrix_create(context, &rod, &A));
  CHECK(ts_solve(A, ts_host(&b[0][0], NUMBERS), ts_host(&x[0][0], NUMBERS), NULL, NULL));
  printf("displacements of the end:");
  for (int force = 0; force < FORCES; force++) {
    printf(" %.2f", x[NODES - 1][force]);
    wrong = fmax(wrong, fabs(x[NODES - 1][force] - 10 * (force + 1)));
  }
  printf("\n");
  ts_matrix_destroy(&A);
  ts_context_destroy(&context);
  return wrong > 0.05;
}
