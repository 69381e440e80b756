// x[i] = sum over the grid's points j of inverse[i, j] b[j]. Row i of the inverse is row i.y width + i.x of its texture,
// four points j of a grid row to a texel, grid row after grid row. Reads b (input0).
#include "include/level.glsl"

uniform sampler2D inverse;

float b_at(int x, int y) { return x < FINE.x ? field(input0, INPUT0_ORIGIN, ivec2(x, y), FINE) : 0.0; }

float value(ivec2 i) {
  int row = i.y * FINE.x + i.x;
  float sum = 0.0;
  ivec2 at = ivec2(0, row);
  for (int y = 0; y < FINE.y; y++)
    for (int x = 0; x < FINE.x; x += 4, at.x++)
      sum += dot(texelFetch(inverse, at, 0), vec4(b_at(x, y), b_at(x + 1, y), b_at(x + 2, y), b_at(x + 3, y)));
  return sum;
}

#define OUT FINE
#include "include/level_main.glsl"
