/* The conformal map of the npm package, native: web/bench/lscm.mjs compares it with WebAssembly.
 *   web-lscm FILE RUNS [cg]
 * FILE has, as 32-bit integers: vertices, triangles, pins; then positions (doubles), corners and pins
 * (integers), and coordinates of the pins (doubles). For each run it prints the
 * seconds of the clock and of the processor, iterations and residual. One thread. With cg the library iterates.
 */
#include <stdio.h>
#include <stdlib.h>
#include <texsolve/solver.h>
#include <time.h>

#include "native/lscm.h"

static double now(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *read_block(FILE *file, size_t count, size_t size) {
  void *block = malloc(count * size);
  if (block && fread(block, size, count, file) == count) return block;
  fprintf(stderr, "web-lscm: the file is too short\n");
  exit(1);
}

int main(int argc, char **argv) {
  FILE *file = argc >= 3 ? fopen(argv[1], "rb") : NULL;
  if (!file) {
    fprintf(stderr, "usage: web-lscm FILE RUNS [cg]\n");
    return 2;
  }
  int32_t *head = read_block(file, 4, sizeof *head); /* the fourth is padding */
  const size_t vertices = (size_t)head[0], triangles = (size_t)head[1], pin_count = (size_t)head[2];
  double *positions = read_block(file, 3 * vertices, sizeof *positions);
  double *pin_uv = read_block(file, 2 * pin_count, sizeof *pin_uv), *uv = malloc(2 * vertices * sizeof *uv);
  int32_t *corners = read_block(file, 3 * triangles, sizeof *corners);
  int32_t *pins = read_block(file, pin_count, sizeof *pins);
  const ts_context_desc device = {.backend = "cpu", .threads = 1};
  const ts_solver_desc desc = {.method = argc > 3 ? TS_METHOD_CG : TS_METHOD_AUTO, .rtol = 1e-8};
  ts_context *context = NULL;
  ts_status status = ts_context_create(&device, &context);
  for (int run = 0; run < atoi(argv[2]) && status == TS_OK; run++) {
    ts_result result;
    const double begin = now();
    const clock_t before = clock();
    status = tsw_lscm(context, positions, head[0], corners, head[1], pins, head[2], pin_uv, &desc, uv, &result);
    printf("%.6f %.6f %d %.3e\n", now() - begin, (double)(clock() - before) / CLOCKS_PER_SEC, result.iterations,
           result.relative_residual);
  }
  if (status != TS_OK) fprintf(stderr, "web-lscm: %s\n", ts_last_error(context));
  ts_context_destroy(&context);
  free(head);
  free(positions);
  free(pin_uv);
  free(uv);
  free(corners);
  free(pins);
  fclose(file);
  return status != TS_OK;
}
