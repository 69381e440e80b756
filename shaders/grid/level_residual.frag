// r = b - A x, 0 at points without an equation. Reads b (input0), x (input1), the level's coefficients.
#include "include/level.glsl"
#include "include/level_row.glsl"

float value(ivec2 i) {
  float centre = fetch_texel(stencil_centre, place_coefficient(i)).r;
  if (centre == 0.0) return 0.0;
  ivec2 at = place(i, FINE);
  float b = fetch_texel(input0, at + INPUT0_ORIGIN).r, x = fetch_texel(input1, at + INPUT1_ORIGIN).r;
  return b - sum_of_neighbours(i) - centre * x;
}

#define OUT FINE
#include "include/level_main.glsl"
