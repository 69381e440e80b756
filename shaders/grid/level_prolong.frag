// x = x + S e, or x = S e without ADD. Every fine point interpolates e of its coarse points with the weights of the
// cell between them. Points without an equation keep their x.
// Reads x (input0) and e (input1), a field of the coarse grid. Reads the weights of a cell (plain, coarse grid): west
// and east for the midpoint of its southern side, south and north for that of its western side, and the four of its
// centre. With BILINEAR they are 1/2 and 1/4. Also reads the centres of the fine coefficients.
#include "include/level.glsl"

uniform sampler2D weights0, weights1;

float e_at(ivec2 I) { return FIELD1(I, COARSE); }

#ifdef LAYERED
// The four points of a texel form a cell: a coarse point, the two midpoints towards its neighbours, and the cell's
// centre.
out vec4 result;

vec4 interpolate(ivec2 I) {
  float here = e_at(I), east = e_at(I + ivec2(1, 0)), north = e_at(I + ivec2(0, 1)), beyond = e_at(I + ivec2(1));
#ifdef BILINEAR
  vec4 sides = vec4(0.5), middle = vec4(0.25);
#else
  vec4 sides = fetch_texel(weights0, I), middle = fetch_texel(weights1, I);
#endif
  return vec4(here, sides.x * here + sides.y * east, sides.z * here + sides.w * north,
              dot(middle, vec4(here, east, north, beyond)));
}

void main() {
  ivec2 t = texel(), i = point_at(t, FINE);
  vec4 x = fetch_texel(input0, t + INPUT0_ORIGIN), centre = fetch_texel(stencil_centre, t);
  result = x;
  if (outside(i, FINE)) return;
  vec4 e = interpolate(i >> 1);
#ifdef ADD
  e += x;
#endif
  result = mix(e, x, equal(centre, vec4(0)));
}
#else
#ifdef NEAREST
// Has no branches, because a software rasterizer executes all of them.
float interpolate(ivec2 i) {
  ivec2 I = i >> 1;
  bool odd_x = (i.x & 1) == 1, odd_y = (i.y & 1) == 1;
#ifdef BILINEAR
  vec4 sides = vec4(0.5), middle = vec4(0.25);
#else
  vec4 sides = fetch_texel(weights0, I), middle = fetch_texel(weights1, I);
#endif
  vec4 row = odd_x ? vec4(sides.xy, 0, 0) : vec4(1, 0, 0, 0);
  vec4 w = odd_y ? (odd_x ? middle : vec4(sides.z, 0, sides.w, 0)) : row;
  return w.x * e_at(I) + w.y * e_at(I + ivec2(1, 0)) + w.z * e_at(I + ivec2(0, 1)) + w.w * e_at(I + ivec2(1, 1));
}
#else
float interpolate(ivec2 i) {
  ivec2 I = i >> 1, odd = i & 1;
  if (odd == ivec2(0)) return e_at(I);
#ifdef BILINEAR
  vec4 w = odd == ivec2(1) ? vec4(0.25) : vec4(0.5);
#else
  vec4 w = odd == ivec2(1) ? fetch_texel(weights1, I) : fetch_texel(weights0, I);
#endif
  if (odd.y == 0) return w.x * e_at(I) + w.y * e_at(I + ivec2(1, 0));
  if (odd.x == 0) return w.z * e_at(I) + w.w * e_at(I + ivec2(0, 1));
  return w.x * e_at(I) + w.y * e_at(I + ivec2(1, 0)) + w.z * e_at(I + ivec2(0, 1)) + w.w * e_at(I + ivec2(1, 1));
}
#endif

float value(ivec2 i) {
  float x = FIELD0(i, FINE);
  if (centre_at(i) == 0.0) return x;
#ifdef ADD
  return x + interpolate(i);
#else
  return interpolate(i);
#endif
}

#define OUT FINE
#include "include/level_main.glsl"
#endif
