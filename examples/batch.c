/* Solves a thousand small systems in one call: cooling fins of 100 points, each with its own loss of heat m.
 * The temperature is 1 at the wall, and the end is insulated: u'' = m^2 u, u(0) = 1, u'(1) = 0. Build: cc
 * batch.c $(pkg-config --cflags --libs texsolve) -lm. Run: ./a.out cuda Prints the temperatures of the ends,
 * which are 1 / cosh(m): 0.887 for m = 0.5 and 0.099 for m = 3. */
#include <math.h>
#include <stdio.h>
#include <texsolve/batch.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { FINS = 1000, N = 100, ENTRIES = 3 * N - 2, NUMBERS = FINS * N, VALUES = FINS * ENTRIES };

static int32_t offsets[N + 1], columns[ENTRIES];
static double values[FINS][ENTRIES], b[FINS][N], x[FINS][N];
static ts_batch_result results[FINS];

static double loss(int fin) {
  return 0.5 + 2.5 * fin / (FINS - 1);
}

int main(int argc, char **argv) {
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  ts_context *context = NULL;
  int32_t count = 0;
  int least = 1000, most = 0;
  double wrong = 0;

  for (int32_t i = 0; i < N; i++) { // points at (i + 1) / N; the last one has half a cell
    for (int32_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < N; j++) {
      const double share = i < N - 1 ? 1 : 0.5;
      for (int fin = 0; fin < FINS; fin++)
        values[fin][count] = j != i ? -1 : share * (2 + loss(fin) * loss(fin) / N / N);
      columns[count++] = j;
    }
    offsets[i + 1] = count;
  }
  for (int fin = 0; fin < FINS; fin++) b[fin][0] = 1;

  ts_batch_desc fins = {.systems = FINS, .rows = N, .rtol = 1e-8, .zero_start = 1};
  fins.row_offsets = ts_host(offsets, N + 1);
  fins.column_indices = ts_host(columns, ENTRIES);
  fins.values = ts_host(&values[0][0], VALUES);
  CHECK(ts_context_create(&device, &context));
  CHECK(ts_batch_solve(context, &fins, ts_host(&b[0][0], NUMBERS), ts_host(&x[0][0], NUMBERS), results));
  for (int fin = 0; fin < FINS; fin++) {
    if (results[fin].iterations < least) least = results[fin].iterations;
    if (results[fin].iterations > most) most = results[fin].iterations;
    wrong = fmax(wrong, fabs(x[fin][N - 1] - 1 / cosh(loss(fin))));
  }
  printf("%d systems, %d to %d iterations, ends from %.3f to %.3f\n", FINS, least, most, x[0][N - 1],
         x[FINS - 1][N - 1]);
  ts_context_destroy(&context);
  return wrong > 1e-4;
}
