// The composition of stencils A_2h = P A_h S with P = S^T / 4 (Bolz et al. 2003, 4.2), for plain coefficients:
//   A_2h^d[I] = 1/4 sum over e, g in {-1, 0, 1}^2 of w(2 I + e, I) A_h^g[2 I + e] w(2 I + e + g, I + d)
// Here w(i, I) is the weight of coarse point I at fine point i. Writes the centre, the axis and the diagonal couplings
// to three targets; all are 0 at points without an equation.
// Reads the fine coefficients and the weights of cells (weights0, weights1; see level_prolong.frag).
#include "include/exact.glsl"
#include "include/level.glsl"

uniform sampler2D stencil_sides, stencil_corners, weights0, weights1;
layout(location = 0) out vec4 coarse_centre;
layout(location = 1) out vec4 coarse_sides;
layout(location = 2) out vec4 coarse_corners;

#define IS_FIVE_POINT (p[7].z != 0)

float centre_of(ivec2 i) { return fetch_texel(stencil_centre, i).r; }

// The weights of the four coarse points around fine point i, starting at the south-west. Those that i is not adjacent
// to are 0.
vec4 weights_of(ivec2 i) {
  ivec2 odd = i & 1, I = i >> 1;
  if (odd == ivec2(0)) return vec4(1, 0, 0, 0);
  if (odd == ivec2(1)) return fetch_texel(weights1, I);
  vec4 side = fetch_texel(weights0, I);
  return odd.y == 0 ? vec4(side.xy, 0, 0) : vec4(side.z, 0, side.w, 0);
}

vec2 sums[9];
float largest = 0.0;

// Adds v to the sum with index `at`, selected by comparisons. If the fragments of a quad write different array
// elements, softpipe writes the one that the first fragment selects. Compilers unroll the loops.
void add_to(int at, float v) {
  vec2 sum = vec2(0);
  for (int k = 0; k < 9; k++) sum = k == at ? sums[k] : sum;
  add_exactly(sum, v);
  for (int k = 0; k < 9; k++) sums[k] = k == at ? sum : sums[k];
}

// Adds up the contributions to coarse point I from the fine points around it; `own` is the point that it represents.
void compose(ivec2 I, ivec2 own) {
  // Compilers do not know this count. Unrolled, 81 loop bodies would take seconds to compile.
  int count = 9 + p[7].w;
  for (int k = 0; k < count; k++) {
    ivec2 e = ivec2(k % 3 - 1, k / 3 - 1), i = wrap(2 * I + e, FINE);
    if (outside(i, FINE)) continue;
    float centre = centre_of(i);
    largest = max(largest, abs(centre));
    if (!find_fine(I, e, i)) continue;
    // The fine point's weight for I: I is in the opposite direction.
    vec4 w = weights_of(i);
    float weight = w[(e.x < 0 ? 1 : 0) + (e.y < 0 ? 2 : 0)];
    if (weight == 0.0) continue;
    vec4 side = fetch_texel(stencil_sides, i);
    vec4 corner = IS_FIVE_POINT ? vec4(0) : fetch_texel(stencil_corners, i);
    // Starts at the south-western neighbour.
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
        // Coefficients towards the point itself, or its other representation, are added to the centre column or row.
        ivec2 target = wrap(I + to, POINTS);
        target *= 1 - MERGED * ivec2(equal(target, COARSE.xy));
        to *= ivec2(notEqual(target, own));
#endif
        add_to(3 * to.y + to.x + 4, v[q]);
      }
    }
  }
}

// Whether coarse point I has no equation because of its fine point or of the points merged with it.
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
      ivec2 j = 2 * counted_as(I, q), d = sign(i - j); // the opposite direction, across the seam
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
