// r = b - A x, 0 at points without equation. Reads b (input0), x (input1), the level's coefficients.
#include "include/level.glsl"
#include "include/level_row.glsl"

float value(ivec2 i) {
  float centre = texelFetch(stencil_centre, place_coefficient(i), 0).r;
  if (centre == 0.0) return 0.0;
  ivec2 at = place(i, FINE);
  float b = texelFetch(input0, at + INPUT0_ORIGIN, 0).r, x = texelFetch(input1, at + INPUT1_ORIGIN, 0).r;
  return b - sum_of_neighbours(i) - centre * x;
}

#define OUT FINE
#include "include/level_main.glsl"
