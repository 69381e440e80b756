/* Solves a complementarity problem: a string is stretched over a round obstacle, and held at height 0 at
 * both ends. Each point is on the obstacle or above it, and only points on it are pushed up.
 * Build: cc obstacle.c $(pkg-config --cflags --libs texsolve) -lm. Run: ./a.out gl
 * Prints the sweeps and the part of the string that touches the obstacle, which is 0.3 to 0.7. */
#include <math.h>
#include <stdio.h>
#include <texsolve/lcp.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { N = 39 };

int main(int argc, char **argv) {
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  ts_lcp_settings settings = {.atol = 1e-6};
  static int32_t offsets[N + 1], columns[3 * N];
  static double values[3 * N], obstacle[N], z[N];
  int32_t count = 0;
  double from = 1, to = 0;
  ts_context *context = NULL;
  ts_lcp *lcp = NULL;
  ts_vector *force = NULL, *height = NULL;
  ts_lcp_result result;

  for (int32_t i = 0; i < N; i++) { // -1 2 -1
    const double t = (i + 1.0) / (N + 1);
    for (int32_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < N; j++)
      columns[count] = j, values[count++] = j == i ? 2 : -1;
    offsets[i + 1] = count;
    obstacle[i] = 0.32 - 2 * (t - 0.5) * (t - 0.5);
  }
  ts_csr M = ts_host_csr(N, N, offsets, columns, values);
  ts_lcp_desc string = {.size = N, .sparse_matrix = &M, .lower = ts_host(obstacle, N)};
  CHECK(ts_context_create(&device, &context));
  CHECK(ts_lcp_create(context, &string, &lcp));
  CHECK(ts_vector_create(ts_lcp_get_space(lcp), NULL, &force)); // 0: the string has no weight
  CHECK(ts_vector_create(ts_lcp_get_space(lcp), NULL, &height));
  CHECK(ts_lcp_solve(lcp, force, height, &settings, &result));
  CHECK(ts_vector_read(height, ts_host(z, N)));
  for (int i = 0; i < N; i++)
    if (z[i] - obstacle[i] < 1e-5) from = fmin(from, (i + 1.0) / (N + 1)), to = (i + 1.0) / (N + 1);
  printf("%d sweeps, the string touches from %.3f to %.3f\n", result.sweeps, from, to);
  ts_vector_destroy(&height);
  ts_vector_destroy(&force);
  ts_lcp_destroy(&lcp);
  ts_context_destroy(&context);
  return fabs(from - 0.3) > 0.03 || fabs(to - 0.7) > 0.03;
}
