// coarse b[I] = 1/4 sum over e in {-1, 0, 1}^2 of w^e[I] r[2 I + e] for four coarse points of parity p[7].xy, 0 at
// points without an equation. ZERO: bits of the parities with r = 0, which are not fetched.
// Reads r (input0), a fine field, and the weights of coarse points as in level_restrict.frag, but plain (weights0,
// weights1; with BILINEAR 1/2 and 1/4). Also reads the centres of the coarse coefficients.
#include "include/level.glsl"

uniform sampler2D weights0, weights1, coarse_centre;
out vec4 result;

vec4 r_at(ivec2 t, ivec2 parity) { return fetch_texel(input0, t + 1 + parity * pitch(FINE) + INPUT0_ORIGIN); }

// Four points share two texels of each fine parity: every second channel.
vec4 every_second(vec4 a, vec4 b, int first) { return first == 0 ? vec4(a.xz, b.xz) : vec4(a.yw, b.yw); }

// r at the points above and below, or at the coarse points.
vec4 fetch_here(ivec2 t, int parity_y) {
  return every_second(r_at(t, ivec2(0, parity_y)), r_at(t + ivec2(1, 0), ivec2(0, parity_y)), p[7].x);
}

// r at the points to the west and to the east.
void fetch_beside(ivec2 t, int parity_y, out vec4 west, out vec4 east) {
  vec4 a = r_at(t, ivec2(1, parity_y)), b = r_at(t + ivec2(1, 0), ivec2(1, parity_y));
  east = every_second(a, b, p[7].x);
  west = p[7].x == 0 ? vec4(r_at(t - ivec2(1, 0), ivec2(1, parity_y)).w, a.yw, b.y) : vec4(a.xz, b.xz);
}

void main() {
  ivec2 T = texel(), first = ivec2(8, 2) * T + p[7].xy, t = ivec2(2 * T.x, first.y), below = t - ivec2(0, 1);
  vec4 centre = fetch_texel(coarse_centre, T + 1 + p[7].xy * pitch(COARSE)), sum = vec4(0);
  vec4 west = vec4(0), east = vec4(0), south = vec4(0), north = vec4(0);
  vec4 southwest, southeast, northwest, northeast;
#if (ZERO & 1) == 0
  sum += fetch_here(t, 0);
#endif
#if (ZERO & 2) == 0
  fetch_beside(t, 0, west, east);
#endif
#if (ZERO & 4) == 0
  south = fetch_here(below, 1);
  north = fetch_here(t, 1);
#endif
#if (ZERO & 8) == 0
  fetch_beside(below, 1, southwest, southeast);
  fetch_beside(t, 1, northwest, northeast);
#endif
#ifdef BILINEAR
  sum += 0.5 * (west + east + south + north);
#if (ZERO & 8) == 0
  sum += 0.25 * (southwest + southeast + northwest + northeast);
#endif
#else
  for (int k = 0; k < 4; k++) {
    ivec2 I = min(point_of(first, k), COARSE.xy - 1);
    sum[k] += dot(fetch_texel(weights0, I), vec4(west[k], east[k], south[k], north[k]));
#if (ZERO & 8) == 0
    sum[k] += dot(fetch_texel(weights1, I), vec4(southwest[k], southeast[k], northwest[k], northeast[k]));
#endif
  }
#endif
  result = mix(0.25 * sum, vec4(0), equal(centre, vec4(0)));
}
