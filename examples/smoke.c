/* Simulates smoke above a warm source at the bottom of a closed box, for one second. Each step solves for
 * the pressure that removes the divergence of the velocity.
 * Build: cc smoke.c $(pkg-config --cflags --libs texsolve). Run: ./a.out gl
 * Prints the divergence before and after the last projection, and the height of the smoke. */
#include <stdio.h>
#include <texsolve/fluid.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { N = 64, NUMBERS = 4 * N * N };

int main(int argc, char **argv) {
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  ts_fluid_desc box = {.width = N, .height = N}; // 1 m high
  ts_fluid_source source = {.x = 0.5f, .y = 0.1f, .half_width = 0.05f, .dye = {1, 1, 1}, .temperature = 1};
  static float smoke[N][N][4]; // red, green, blue, temperature
  double height = 0;
  ts_fluid_parameters parameters;
  ts_context *context = NULL;
  ts_fluid *fluid = NULL;
  ts_fluid_result result;

  ts_fluid_default_parameters(&parameters);
  parameters.buoyancy = 2;
  box.parameters = &parameters;
  source.sets_dye = source.sets_temperature = 1;
  CHECK(ts_context_create(&device, &context));
  CHECK(ts_fluid_create(context, &box, &fluid));
  CHECK(ts_fluid_set_sources(fluid, &source, 1));
  for (int step = 1; step <= 60; step++)
    CHECK(ts_fluid_step(fluid, step == 60 ? TS_FLUID_MEASURE_DIVERGENCE : 0, &result));
  CHECK(ts_vector_read(ts_fluid_get_dye(fluid), ts_host(&smoke[0][0][0], NUMBERS)));
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++)
      if (smoke[j][i][0] > 0.1f) height = (j + 0.5) / N;
  printf("%.2f s, divergence %.1e to %.1e per second, height %.2f m\n", result.time, result.divergence_before,
         result.divergence_after, height);
  ts_fluid_destroy(&fluid);
  ts_context_destroy(&context);
  return result.divergence_after > 0.1 * result.divergence_before || height < 0.3;
}
