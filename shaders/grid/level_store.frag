// v = x, or v = v + x with ADD, at points with an equation; other points keep v.
// Reads x (input0), a level's field, v (input1), a vector over the grid, and the centres of the plain coefficients.
#include "include/level.glsl"

float value(ivec2 i) {
  float x = FIELD0(i, FINE);
  bool has_equation = fetch_texel(stencil_centre, i).r != 0.0;
#ifdef ADD
  float v = fetch_texel(input1, i + INPUT1_ORIGIN).r;
  return has_equation ? v + x : v;
#else
  return has_equation ? x : fetch_texel(input1, i + INPUT1_ORIGIN).r;
#endif
}

#define VECTOR
#include "include/level_main.glsl"
