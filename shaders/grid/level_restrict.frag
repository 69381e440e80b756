// coarse b[I] = 1/4 sum over e in {-1, 0, 1}^2 of w^e[I] r[2 I + e], 0 at coarse points without an equation, where r is
//   ROWS         b - A x, computed here: b (input0), x (input1)
//   MASKED       b (input0) at points with an equation
//   otherwise    a field (input0)
// With BILINEAR the weights are 1, 1/2 and 1/4. Otherwise they are textures in the storage of the coarse fields (plain
// if texels hold four points): towards the sides (west, east, south, north) and towards the corners. Reads the weights,
// the fine coefficients (ROWS, MASKED) and the centres of the coarse ones.
#include "include/level.glsl"
#ifdef ROWS
#include "include/level_row.glsl"
#endif

uniform sampler2D weights0, weights1, coarse_centre;

// Without periodic boundaries the border of a residual is 0, and the nine points of a coarse point are in four texels.
#if defined(LAYERED) && !defined(ROWS) && !defined(MASKED) && !defined(PERIODIC)
#define WHOLE_TEXELS
#define R(t) fetch_texel(input0, (t) + 1 + INPUT0_ORIGIN)
#endif

float r_at(ivec2 i) {
#if defined(ROWS) || defined(MASKED)
  float centre = centre_at(i);
  if (centre == 0.0) return 0.0;
#endif
  float r = FIELD0(i, FINE);
#ifdef ROWS
  r -= sum_of_neighbours(i) + centre * FIELD1(i, FINE);
#endif
  return r;
}

#ifndef BILINEAR
// The weights of a coarse point: for the fine points west, east, south and north of it, and for those at its corners.
float weight(int k, vec4 sides, vec4 corners) {
  return k == 4 ? 1.0 : (k & 1) == 1 ? (k == 3 ? sides.x : k == 5 ? sides.y : k == 1 ? sides.z : sides.w)
                                     : (k == 0 ? corners.x : k == 2 ? corners.y : k == 6 ? corners.z : corners.w);
}
#endif

float sum_at(ivec2 I) {
#ifdef FOUR_POINTS
  ivec2 at = I;
#else
  ivec2 at = place(I, COARSE);
#endif
#ifndef BILINEAR
  vec4 sides = fetch_texel(weights0, at), corners = fetch_texel(weights1, at);
#endif
#ifdef WHOLE_TEXELS
#ifdef BILINEAR
  vec4 sides = vec4(0.5), corners = vec4(0.25);
#endif
  // Texel I contains fine point 2 I and those to the east and north of it.
  vec4 here = R(I), west = R(I - ivec2(1, 0)), south = R(I - ivec2(0, 1)), beyond = R(I - 1);
  return 0.25 * (here.x + dot(sides, vec4(west.y, here.y, south.z, here.z)) +
                 dot(corners, vec4(beyond.w, south.w, west.w, here.w)));
#else
  float sum = 0.0;
  for (int k = 0; k < 9; k++) {
    ivec2 e = ivec2(k % 3 - 1, k / 3 - 1), i;
#if defined(PARITIES) && !defined(PERIODIC)
    i = 2 * I + e; // beyond a boundary this is the border, which is 0
#else
    if (!find_fine(I, e, i)) continue;
#endif
#ifdef BILINEAR
    float w = 1.0 / float((1 + abs(e.x)) * (1 + abs(e.y)));
#else
    float w = weight(k, sides, corners);
#endif
    sum += w * r_at(i);
  }
  return 0.25 * sum;
#endif
}

float value(ivec2 I) {
#if defined(LAYERED) || defined(PARITIES)
  ivec2 coarse_at = place(I, COARSE);
#else
  ivec2 coarse_at = I;
#endif
  if (channel(fetch_texel(coarse_centre, coarse_at), I) == 0.0) return 0.0;
#ifdef PERIODIC
  float sum = 0.0;
  int count = count_of(I);
  for (int k = 0; k < count; k++) sum += sum_at(counted_as(I, k));
  return sum;
#else
  return sum_at(I);
#endif
}

#define OUT COARSE
#include "include/level_main.glsl"
