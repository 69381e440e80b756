// scale (div u - compatibility source), 0 in walls. p[5].w is the scale; p[6].x has the bits of h. Reads the velocity
// (input0), walls (input1) and, with COMPATIBILITY, the source (input2).
#include "include/fluid.glsl"

out vec4 result;

#if COLLOCATED
// A wall or a solid has its velocity halfway between the two cells.
float beside(ivec2 i, ivec2 step, int component, int side, int wall_bits, float here) {
  ivec2 other = i + step, inside = cell_at(other);
#if PERIODIC_X
  other.x = inside.x;
#endif
#if PERIODIC_Y
  other.y = inside.y;
#endif
  if (other != inside) {
    if (side_is(WALL_BIT, side)) return 2.0 * intBitsToFloat(wall_bits) - here;
    return side_is(OUTLET_BIT, side) ? here : -here;
  }
  float there = RAW0(other)[component];
  return RAW1(other).x != 0.0 ? 2.0 * there - here : there;
}

float difference(ivec2 i) {
  vec2 here = RAW0(i).xy;
  return 0.5 * ((beside(i, ivec2(1, 0), 0, RIGHT, p[7].y, here.x) - beside(i, ivec2(-1, 0), 0, LEFT, p[7].x, here.x)) +
                (beside(i, ivec2(0, 1), 1, TOP, p[7].w, here.y) - beside(i, ivec2(0, -1), 1, BOTTOM, p[7].z, here.y)));
}
#else
float difference(ivec2 i) {
  vec2 here = RAW0(i).xy;
  return (RAW0(i + ivec2(1, 0)).x - here.x) + (RAW0(i + ivec2(0, 1)).y - here.y);
}
#endif

void main() {
  ivec2 i = texel();
  result = vec4(0);
  if (RAW1(i).x != 0.0) return;
  float d = difference(i) / intBitsToFloat(p[6].x);
#ifdef COMPATIBILITY
  d -= RAW2(i).x;
#endif
  result.x = NUMBER * d;
}
