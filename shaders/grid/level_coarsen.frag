// The composition of stencils A_2h = P A_h S with P = S^T / 4 (Bolz et al. 2003, 4.2), plain coefficients:
//   A_2h^d[I] = 1/4 sum over e, g in {-1, 0, 1}^2 of w(2 I + e, I) A_h^g[2 I + e] w(2 I + e + g, I + d)
// where w(i, I) is what fine point i takes of coarse point I. Writes the centre, the axis and the diagonal couplings into three
// targets, all 0 where there is no equation.
// Reads the fine coefficients and the weights of cells (weights0, weights1; see level_prolong.frag).
#include "include/exact.glsl"
#include "include/level.glsl"

uniform sampler2D stencil_sides, stencil_corners, weights0, weights1;
layout(location = 0) out vec4 coarse_centre;
layout(location = 1) out vec4 coarse_sides;
layout(location = 2) out vec4 coarse_corners;

#define IS_FIVE_POINT (p[7].z != 0)

float centre_of(ivec2 i) { return fetch_texel(stencil_centre, i).r; }

// What fine point i takes of the four coarse points around it, south-western first; those that it does not lie between
// count 0.
vec4 weights_of(ivec2 i) {
  ivec2 odd = i & 1, I = i >> 1;
  if (odd == ivec2(0)) return vec4(1, 0, 0, 0);
  if (odd == ivec2(1)) return fetch_texel(weights1, I);
  vec4 side = fetch_texel(weights0, I);
  return odd.y == 0 ? vec4(side.xy, 0, 0) : vec4(side.z, 0, side.w, 0);
}

vec2 sums[9];
float largest = 0.0;

// Adds v to sum number `at`, chosen by comparisons: where the fragments of a quad write different elements of an array,
// softpipe writes the one that the first of them chose. Compilers unroll the loops.
void add_to(int at, float v) {
  vec2 sum = vec2(0);
  for (int k = 0; k < 9; k++) sum = k == at ? sums[k] : sum;
  add_exactly(sum, v);
  for (int k = 0; k < 9; k++) sums[k] = k == at ? sum : sums[k];
}

// Adds up what coarse point I takes from the fine points around it; `own` is the point that it is.
void compose(ivec2 I, ivec2 own) {
  // A count that compilers do not know: unrolled, 81 bodies would take seconds to compile.
  int count = 9 + p[7].w;
  for (int k = 0; k < count; k++) {
    ivec2 e = ivec2(k % 3 - 1, k / 3 - 1), i = wrap(2 * I + e, FINE);
    if (outside(i, FINE)) continue;
    float centre = centre_of(i);
    largest = max(largest, abs(centre));
    if (!find_fine(I, e, i)) continue;
    // Its weight for I: towards the other side from where it lies.
    vec4 w = weights_of(i);
    float weight = w[(e.x < 0 ? 1 : 0) + (e.y < 0 ? 2 : 0)];
    if (weight == 0.0) continue;
    vec4 side = fetch_texel(stencil_sides, i);
    vec4 corner = IS_FIVE_POINT ? vec4(0) : fetch_texel(stencil_corners, i);
    // From the south-western neighbour on.
    float a[9] = float[9](corner.x, side.z, corner.y, side.x, centre, side.y, corner.z, side.w, corner.w);
    for (int g = 0; g < count; g++) {
      if (a[g] == 0.0) continue;
      ivec2 j = wrap(i + ivec2(g % 3 - 1, g / 3 - 1), FINE);
      ivec2 d = (j >> 1) - I;
      vec4 v = weight * a[g] * weights_of(j);
      for (int q = 0; q < 4; q++) {
        if (v[q] == 0.0) continue;
        ivec2 to = d + ivec2(q & 1, q >> 1);
#ifdef PERIODIC
        to += COARSE.zw * POINTS.xy * (ivec2(lessThan(to, ivec2(-1))) - ivec2(greaterThan(to, ivec2(1))));
        // What leads to the point itself, as which it may count twice, belongs to its centre's column or row.
        ivec2 target = wrap(I + to, POINTS);
        target *= 1 - MERGED * ivec2(equal(target, COARSE.xy));
        to *= ivec2(notEqual(target, own));
#endif
        add_to(3 * to.y + to.x + 4, v[q]);
      }
    }
  }
}

// Whether coarse point I has no equation because of its fine point, or of those that are merged in it.
bool is_dead(ivec2 I) {
#ifdef PERIODIC
  int count = count_of(I);
  bool alive = false;
  for (int k = 0; k < count; k++) {
    ivec2 i = 2 * counted_as(I, k);
    if (outside(i, FINE)) return false;
    if (centre_of(i) == 0.0) continue;
    alive = true;
    for (int q = 0; q < count; q++) {
      ivec2 j = 2 * counted_as(I, q), d = sign(i - j); // the other way round, across the seam
      if (centre_of(j) != 0.0) continue;
      vec4 side = fetch_texel(stencil_sides, i);
      float a = d.x == 0 ? (d.y < 0 ? side.z : side.w) : (d.x < 0 ? side.x : side.y);
      vec4 corner = IS_FIVE_POINT ? vec4(0) : fetch_texel(stencil_corners, i);
      if (d.x != 0 && d.y != 0) a = d.y < 0 ? (d.x < 0 ? corner.x : corner.y) : (d.x < 0 ? corner.z : corner.w);
      if (a != 0.0) return true;
    }
  }
  return !alive;
#else
  return !outside(2 * I, FINE) && centre_of(2 * I) == 0.0;
#endif
}

void main() {
  ivec2 I = texel();
  for (int k = 0; k < 9; k++) sums[k] = vec2(0);
#ifdef PERIODIC
  int count = count_of(I);
  for (int k = 0; k < count; k++) compose(counted_as(I, k), I);
#else
  compose(I, I);
#endif
  float a[9];
  for (int k = 0; k < 9; k++) a[k] = 0.25 * (sums[k].x + sums[k].y);
  bool none = abs(a[4]) <= 1e-6 * largest || is_dead(I);
  coarse_centre = vec4(none ? 0.0 : a[4], 0, 0, 0);
  coarse_sides = none ? vec4(0) : vec4(a[3], a[5], a[1], a[7]);
  coarse_corners = none ? vec4(0) : vec4(a[0], a[2], a[6], a[8]);
}
