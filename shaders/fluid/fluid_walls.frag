// Dye and temperature in walls: the mean of the adjacent fluid, so that interpolation next to walls loses nothing.
// Draws from cell p[5].y, x | y << 16. Reads dye (input0) and walls (input1).
#include "include/fluid.glsl"

out vec4 result;

vec4 sum_around;
float count_around;
void look(ivec2 i) {
  ivec2 other = cell_at(i);
#if PERIODIC_X
  i.x = other.x;
#endif
#if PERIODIC_Y
  i.y = other.y;
#endif
  if (i != other || RAW1(i).x != 0.0) return;
  sum_around += RAW0(i);
  count_around += 1.0;
}

void main() {
  ivec2 i = texel() + ivec2(p[5].y & 0xffff, int(uint(p[5].y) >> 16));
  if (RAW1(i).x == 0.0) discard;
  sum_around = vec4(0);
  count_around = 0.0;
  look(i + ivec2(-1, 0));
  look(i + ivec2(1, 0));
  look(i + ivec2(0, -1));
  look(i + ivec2(0, 1));
  result = count_around > 0.0 ? sum_around / count_around : vec4(0);
}
