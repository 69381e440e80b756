// Interpolation weights based on the fine grid's plain coefficients (Alcouffe et al. 1981, Dendy 1982; the rules are in
// src/common/grid/grid.h). With BILINEAR they are 1/2 and 1/4.
//   PART 0, 1   of a cell of the coarse grid, as level_prolong.frag reads them; PART 1 reads PART 0 (weights0)
//   PART 2, 3   of a coarse point, as level_restrict.frag reads them, from PARTs 0 and 1 (weights0, weights1)
// Points beyond the grid have weight 0. Sums keep their rounding errors, because coefficients of both signs may cancel.
#include "include/exact.glsl"
#include "include/level.glsl"

uniform sampler2D stencil_sides, stencil_corners, weights0, weights1;
out vec4 result;

// These passes run once per matrix, so one program serves stencils with and without corners.
#define IS_FIVE_POINT (p[7].z != 0)

#if PART < 2
// Plain with every storage of the level.
float centre_of(ivec2 i) { return fetch_texel(stencil_centre, i).r; }

float add_up(float a, float b, float c) {
  vec2 sum = vec2(a, 0);
  add_exactly(sum, b);
  add_exactly(sum, c);
  return sum.x + sum.y;
}

// Sums of a point's coefficients: towards one side, in the middle, towards the other side.
vec3 sums_across(float centre, vec4 s, vec4 c) {
  return vec3(add_up(c.x, s.x, c.z), add_up(s.z, centre, s.w), add_up(c.y, s.y, c.w));
}
vec3 sums_up(float centre, vec4 s, vec4 c) {
  return vec3(add_up(c.x, s.z, c.y), add_up(s.x, centre, s.y), add_up(c.z, s.w, c.w));
}

bool is_nothing(float a, float beside) { return abs(a) <= 1e-6 * abs(beside); }
bool is_one_sided(vec3 sums) { return is_nothing(sums.x, sums.z) || is_nothing(sums.z, sums.x); }

// Whether the boundary beyond the last column or row fixes the unknown (Dirichlet).
bool is_held(vec3 sums) { return sums.x + sums.y > 0.1 * abs(sums.x); }

// The last column or row of a grid that is not periodic.
bvec2 is_last(ivec2 i) { return equal(i + 1 + 2 * FINE.xy * FINE.zw, FINE.xy); }

// The coefficients of a point between coarse points. If the eastern coarse point is beyond the grid and the boundary
// does not fix the unknown, the eastern coefficients mirror the western ones. The same applies in the north.
void fetch(ivec2 i, out float centre, out vec4 sides, out vec4 corners) {
  centre = centre_of(i);
  sides = fetch_texel(stencil_sides, i);
  corners = IS_FIVE_POINT ? vec4(0) : fetch_texel(stencil_corners, i);
  bvec2 last = is_last(i);
  bool east = last.x && (i.x & 1) == 1 && !is_held(sums_across(centre, sides, corners));
  bool north = last.y && (i.y & 1) == 1 && !is_held(sums_up(centre, sides, corners));
  if (east) {
    sides.y = sides.x;
    corners.yw = corners.xz;
  }
  if (north) {
    sides.w = sides.z;
    corners.zw = corners.xy;
  }
}

// 1 if coarse point I has no equation: its fine point has none. If the fine point is beyond the grid, all its
// neighbours have none.
float is_dead(ivec2 I) {
  ivec2 i = wrap(2 * I, FINE);
  if (!outside(i, FINE)) return centre_of(i) == 0.0 ? 1.0 : 0.0;
  int count = 9 + p[7].w; // 9, but compilers do not know it: unrolled, this compiles slowly
  for (int k = 0; k < count; k++) {
    ivec2 j = wrap(i + ivec2(k % 3 - 1, k / 3 - 1), FINE);
    if (!outside(j, FINE) && centre_of(j) != 0.0) return 0.0;
  }
  return 1.0;
}

vec2 between_two(ivec2 I, ivec2 step) {
  ivec2 i = 2 * I + step;
  if (outside(i, FINE)) return vec2(0);
  float centre;
  vec4 s, c;
  fetch(i, centre, s, c);
  vec2 dead = vec2(is_dead(I), is_dead(I + step));
  // The value of a point without an equation is given. It interpolates only from coarse points without an equation.
  if (centre == 0.0) return dead / max(dead.x + dead.y, 1.0);
#ifdef BILINEAR
  return vec2(0.5);
#else
  vec3 sums = step.x == 1 ? sums_across(centre, s, c) : sums_up(centre, s, c);
  // Adds the coefficients that lead past a coarse point inside a wall to the middle.
  vec2 towards = step.x == 1 ? s.xy : s.zw;
  if (towards.x == 0.0 && dead.x == 1.0) sums = vec3(0, sums.y + sums.x, sums.z);
  if (towards.y == 0.0 && dead.y == 1.0) sums = vec3(sums.x, sums.y + sums.z, 0);
  // If one of the two sums vanishes, the middle sum determines the distance to a given value.
  float divisor = is_one_sided(sums) ? -sums.y : sums.x + sums.z;
  return abs(divisor) <= 1e-6 * abs(sums.y) || divisor == 0.0 ? vec2(0) : sums.xz / divisor;
#endif
}

vec4 between_four(ivec2 I) {
  ivec2 i = 2 * I + 1;
  if (outside(i, FINE)) return vec4(0);
  float centre;
  vec4 s, c;
  fetch(i, centre, s, c);
  if (centre == 0.0) {
    vec4 dead = vec4(0);
    int count = 4 + p[7].w;
    for (int k = 0; k < count; k++) dead[k] = is_dead(I + ivec2(k & 1, k >> 1));
    return dead / max(dead.x + dead.y + dead.z + dead.w, 1.0);
  }
#ifdef BILINEAR
  return vec4(0.25);
#else
  bool open = is_one_sided(sums_across(centre, s, c)) || is_one_sided(sums_up(centre, s, c));
  vec2 around = vec2(0);
  for (int k = 0; k < 4; k++) {
    add_exactly(around, s[k]);
    add_exactly(around, c[k]);
  }
  float d = open ? centre : -(around.x + around.y);
  if (abs(d) <= 1e-6 * abs(centre)) return vec4(0);
  // The weights of the four points around. A point beyond the grid is the image of the opposite one.
  ivec2 next = wrap(I + 1, POINTS);
  bvec2 image = is_last(i);
  vec4 here = fetch_texel(weights0, I);
  vec2 south = here.xy, west = here.zw;
  vec2 north = image.y ? south : fetch_texel(weights0, ivec2(I.x, next.y)).xy;
  vec2 east = image.x ? west : fetch_texel(weights0, ivec2(next.x, I.y)).zw;
  return -vec4(c.x + s.z * south.x + s.x * west.x, c.y + s.z * south.y + s.y * east.x,
               c.z + s.w * north.x + s.x * west.y, c.w + s.w * north.y + s.y * east.y) / d;
#endif
}

void main() {
  ivec2 I = texel();
#if PART == 0
  vec2 weights[2];
  int count = 2 + p[7].w;
  for (int k = 0; k < count; k++) weights[k] = between_two(I, ivec2(1 - k, k));
  result = vec4(weights[0], weights[1]);
#else
  result = between_four(I);
#endif
}

#else
vec4 cell(sampler2D weights, ivec2 I) {
  I = wrap(I, POINTS);
  return outside(I, POINTS) ? vec4(0) : fetch_texel(weights, I);
}

void main() {
#ifdef FOUR_POINTS
  ivec2 I = texel();
#else
  ivec2 I = point_at(texel(), COARSE);
#endif
  if (outside(I, POINTS)) {
    result = vec4(0);
    return;
  }
  ivec2 x = ivec2(1, 0), y = ivec2(0, 1);
#if PART == 2
  vec4 here = cell(weights0, I);
  result = vec4(cell(weights0, I - x).y, here.x, cell(weights0, I - y).w, here.z);
#else
  result = vec4(cell(weights1, I - 1).w, cell(weights1, I - y).z, cell(weights1, I - x).y, cell(weights1, I).x);
#endif
}
#endif
