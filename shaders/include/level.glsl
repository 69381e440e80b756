// The fields of a multigrid level and their storage, with a border of one texel that holds 0:
//   (plain)    point i at texel i + 1
//   PARITIES   the points of each parity i & 1 are a region; regions are side by side with a border between them. With
//              PACKED, the channels of a texel are four points of a row of a region
//   LAYERED    the channels of texel t + 1 are the four points 2 t + (0, 0), (1, 0), (0, 1), (1, 1) (Bolz et al. 2003, 4.2)
// The level's coefficients have the layout of its fields. Plain coefficients have no border.
#include "include/pass.glsl"
#include "include/grid.glsl"

uniform sampler2D stencil_centre;

#if defined(LAYERED) || defined(PACKED)
#define FOUR_POINTS // per texel
#endif

#ifdef PACKED
// The distance between regions.
ivec2 pitch(ivec4 grid) { return (grid.xy + ivec2(15, 3)) >> ivec2(3, 1); }
ivec2 place(ivec2 i, ivec4 grid) { return (i >> ivec2(3, 1)) + 1 + (i & 1) * pitch(grid); }
ivec2 place_coefficient(ivec2 i) { return place(i, FINE); }
ivec2 point_at(ivec2 t, ivec4 grid) {
  ivec2 parity = ivec2(greaterThan(t, pitch(grid)));
  return ivec2(8, 2) * (t - 1 - parity * pitch(grid)) + parity;
}
#elif defined(PARITIES)
// The distance between regions.
ivec2 pitch(ivec4 grid) { return (grid.xy + 3) >> 1; }
ivec2 place(ivec2 i, ivec4 grid) { return (i >> 1) + 1 + (i & 1) * pitch(grid); }
ivec2 place_coefficient(ivec2 i) { return place(i, FINE); }
ivec2 point_at(ivec2 t, ivec4 grid) {
  ivec2 parity = ivec2(greaterThan(t, pitch(grid)));
  return 2 * (t - 1 - parity * pitch(grid)) + parity;
}
#elif defined(LAYERED)
ivec2 place(ivec2 i, ivec4 grid) { return (i >> 1) + 1; }
ivec2 place_coefficient(ivec2 i) { return place(i, FINE); }
ivec2 point_at(ivec2 t, ivec4 grid) { return 2 * (t - 1); }
#else
ivec2 place(ivec2 i, ivec4 grid) { return i + 1; }
ivec2 place_coefficient(ivec2 i) { return i; }
ivec2 point_at(ivec2 t, ivec4 grid) { return t - 1; }
#endif

// The points of a texel; point_at is the first.
#ifdef PACKED
ivec2 point_of(ivec2 first, int k) { return first + ivec2(2 * k, 0); }
#else
ivec2 point_of(ivec2 first, int k) { return first + ivec2(k & 1, k >> 1); }
#endif

// The value of point i in its texel.
float channel(vec4 texel, ivec2 i) {
#ifdef PACKED
  vec2 half_of = (i.x & 4) == 0 ? texel.rg : texel.ba;
  return (i.x & 2) == 0 ? half_of.x : half_of.y;
#elif defined(LAYERED)
  vec2 row = (i.y & 1) == 0 ? texel.rg : texel.ba;
  return (i.x & 1) == 0 ? row.x : row.y;
#else
  return texel.r;
#endif
}

// A field at a point up to one beyond the grid; 0 beyond a boundary.
float field(sampler2D values, ivec2 origin, ivec2 i, ivec4 grid) {
  i = wrap(i, grid);
  return channel(fetch_texel(values, place(i, grid) + origin), i);
}
#define FIELD0(i, grid) field(input0, INPUT0_ORIGIN, i, grid)
#define FIELD1(i, grid) field(input1, INPUT1_ORIGIN, i, grid)

float centre_at(ivec2 i) { return channel(fetch_texel(stencil_centre, place_coefficient(i)), i); }
